// Sets the first condition of a tree, and clears it, as many times as the second argument says, and ticks each time: what
// an event costs. The first argument is the file of the plan.
#include <cstdlib>
#include "behaviortree_cpp/bt_factory.h"

struct Act : BT::StatefulActionNode
{
  Act(const std::string& name, const BT::NodeConfig& config) : StatefulActionNode(name, config) {}
  static BT::PortsList providedPorts() { return {}; }
  BT::NodeStatus onStart() override { return BT::NodeStatus::RUNNING; }
  BT::NodeStatus onRunning() override { return BT::NodeStatus::RUNNING; }
  void onHalted() override {}
};

int main(int, char** argv)
{
  bool on = false;
  BT::BehaviorTreeFactory factory;
  factory.registerNodeType<Act>("act");
  factory.registerSimpleCondition("on", [&](BT::TreeNode&) {
    return on ? BT::NodeStatus::SUCCESS : BT::NodeStatus::FAILURE;
  });
  factory.registerSimpleCondition("off", [](BT::TreeNode&) { return BT::NodeStatus::FAILURE; });
  auto tree = factory.createTreeFromFile(argv[1]);
  for(long i = 0; i < std::atol(argv[2]); i++)
  {
    on = i % 2 == 0;
    tree.tickExactlyOnce();
  }
}
