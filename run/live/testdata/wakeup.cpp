// The wake-up of BehaviorTree.CPP 4.10, measured as BenchmarkWakeUp measures that of package live: the time from a
// condition that is set in one thread to the start of the action that follows in the thread of the tree, which sleeps.
//
//   g++ -std=c++17 -O2 wakeup.cpp -lbehaviortree_cpp -lpthread -o wakeup && ./wakeup NODES COUNT
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>
#include "behaviortree_cpp/bt_factory.h"

using Clock = std::chrono::steady_clock;
static std::atomic<bool> on{ false }, stop{ false };
static std::atomic<long> followed{ 0 };  // [ns], 0: not yet

static long now() { return Clock::now().time_since_epoch().count(); }

struct Act : BT::StatefulActionNode
{
  Act(const std::string& name, const BT::NodeConfig& config) : StatefulActionNode(name, config) {}
  static BT::PortsList providedPorts() { return {}; }
  BT::NodeStatus onStart() override { followed = now(); return BT::NodeStatus::RUNNING; }
  BT::NodeStatus onRunning() override { return BT::NodeStatus::RUNNING; }
  void onHalted() override { followed = now(); }
};

int main(int, char** argv)
{
  BT::BehaviorTreeFactory factory;
  factory.registerNodeType<Act>("act");
  factory.registerSimpleCondition("on", [](BT::TreeNode&) {
    return on ? BT::NodeStatus::SUCCESS : BT::NodeStatus::FAILURE;
  });
  factory.registerSimpleCondition("off", [](BT::TreeNode&) { return BT::NodeStatus::FAILURE; });
  std::string branches;
  for(int nodes = 4; nodes < std::atoi(argv[1]); nodes += 3)
  {
    branches += "<ReactiveSequence><off/><act/></ReactiveSequence>";
  }
  auto tree = factory.createTreeFromText(R"(<root BTCPP_format="4"><BehaviorTree ID="main"><ReactiveFallback>)" + branches +
    "<ReactiveSequence><on/><act/></ReactiveSequence></ReactiveFallback></BehaviorTree></root>");
  std::thread loop([&] {
    while(!stop)
    {
      tree.tickExactlyOnce();
      tree.sleep(std::chrono::seconds(10));
    }
  });
  std::vector<long> latencies;
  for(int i = 0; i < std::atoi(argv[2]); i++)
  {
    for(bool value : { true, false })
    {
      long quiet = now();
      while(now() - quiet < 200000) {}  // the loop falls asleep
      followed = 0;
      long set = now();
      on = value;
      tree.emitWakeUpSignal();
      while(followed == 0) {}
      if(value) latencies.push_back(followed - set);
    }
  }
  stop = true;
  tree.emitWakeUpSignal();
  loop.join();
  std::sort(latencies.begin(), latencies.end());
  std::printf("median %ld ns, 99.9 %% %ld ns\n", latencies[latencies.size() / 2], latencies[latencies.size() * 999 / 1000]);
}
