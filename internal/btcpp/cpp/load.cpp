// load loads plans into BehaviorTree.CPP 4, with a dummy for each leaf type, control and decorator that the plan's
// TreeNodesModel declares, and prints the tree of each: for each node its type and name, indented by depth. Then it
// ticks the tree up to TICKS times, until it ends, and prints the result. A dummy action runs for one tick and succeeds, a
// dummy condition succeeds, a dummy control or decorator does as its first child.
//
//   load TICKS PLAN.xml...
//
// A tree that spins in one tick never ends: TICKS 0 only loads. A line with "!" is the message of an exception. Exit status: 1 if a plan is not loaded, else 0.

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "behaviortree_cpp/bt_factory.h"

namespace {

// Tag is a start tag of an XML document.
struct Tag {
  std::string name;
  std::map<std::string, std::string> attributes;
};

// models returns the start tags inside the TreeNodesModel elements of a document that is well-formed.
std::vector<Tag> models(const std::string& text) {
  std::vector<Tag> all;
  bool inside = false;
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    if (text.compare(at, 4, "<!--") == 0) {
      at = text.find("-->", at);
      continue;
    }
    size_t end = text.find_first_of(" \t\r\n/>", at + 2);
    Tag tag{text.substr(at + 1, end - at - 1), {}};
    while (text[end = text.find_first_not_of(" \t\r\n", end)] != '>') {
      size_t quote = text.find_first_of("\"'>", end);
      if (text[quote] == '>') {  // "/>", "?>"
        end = quote;
        break;
      }
      size_t close = text.find(text[quote], quote + 1);
      std::string name = text.substr(end, text.find_first_of(" \t\r\n=", end) - end);
      tag.attributes[name] = text.substr(quote + 1, close - quote - 1);
      end = close + 1;
    }
    at = end;
    if (tag.name == "TreeNodesModel" || tag.name == "/TreeNodesModel") {
      inside = tag.name[0] != '/' && text[end - 1] != '/';
    } else if (inside && tag.name[0] != '/') {
      all.push_back(tag);
    }
  }
  return all;
}

class Action : public BT::StatefulActionNode {
 public:
  using StatefulActionNode::StatefulActionNode;
  BT::NodeStatus onStart() override { return BT::NodeStatus::RUNNING; }
  BT::NodeStatus onRunning() override { return BT::NodeStatus::SUCCESS; }
  void onHalted() override {}
};

class Condition : public BT::ConditionNode {
 public:
  using ConditionNode::ConditionNode;
  BT::NodeStatus tick() override { return BT::NodeStatus::SUCCESS; }
};

class Control : public BT::ControlNode {
 public:
  using ControlNode::ControlNode;
  BT::NodeStatus tick() override { return children_nodes_.front()->executeTick(); }
};

class Decorator : public BT::DecoratorNode {
 public:
  using DecoratorNode::DecoratorNode;
  BT::NodeStatus tick() override { return child()->executeTick(); }
};

template <class T>
void add(BT::BehaviorTreeFactory& factory, BT::NodeType type, const std::string& id, const BT::PortsList& ports) {
  factory.registerBuilder({type, id, ports, {}}, [](const std::string& name, const BT::NodeConfig& config) {
    return std::make_unique<T>(name, config);
  });
}

BT::PortInfo port(BT::PortDirection direction, const std::string& type) {
  if (type == "double") {
    return BT::PortInfo(direction, typeid(double), BT::GetAnyFromStringFunctor<double>());
  }
  if (type == "int") {
    return BT::PortInfo(direction, typeid(int), BT::GetAnyFromStringFunctor<int>());
  }
  if (type == "bool") {
    return BT::PortInfo(direction, typeid(bool), BT::GetAnyFromStringFunctor<bool>());
  }
  if (type == "std::string") {
    return BT::PortInfo(direction, typeid(std::string), BT::GetAnyFromStringFunctor<std::string>());
  }
  return BT::PortInfo(direction);
}

// message returns the message of an exception on one line.
std::string message(const std::exception& e) {
  std::string text = e.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void load(const std::string& file, int ticks) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const auto declared = models(text.str());
  BT::BehaviorTreeFactory factory;
  const std::set<std::string> forms = {"Action", "Condition", "Control", "Decorator", "SubTree"};
  const auto builtin = factory.builtinNodes();
  for (size_t i = 0; i < declared.size(); i++) {
    const std::string element = declared[i].name;
    const std::string id = declared[i].attributes.count("ID") > 0 ? declared[i].attributes.at("ID") : "";
    BT::PortsList ports;
    for (; i + 1 < declared.size() && forms.count(declared[i + 1].name) == 0; i++) {
      const auto& [name, attributes] = declared[i + 1];
      const std::string type = attributes.count("type") ? attributes.at("type") : "";
      if (name == "input_port") {
        ports.insert({attributes.at("name"), port(BT::PortDirection::INPUT, type)});
      } else if (name == "output_port") {
        ports.insert({attributes.at("name"), port(BT::PortDirection::OUTPUT, type)});
      } else if (name == "inout_port") {
        ports.insert({attributes.at("name"), port(BT::PortDirection::INOUT, type)});
      }
    }
    if (builtin.count(id) > 0) {
      continue;
    }
    if (element == "Action") {
      add<Action>(factory, BT::NodeType::ACTION, id, ports);
    } else if (element == "Condition") {
      add<Condition>(factory, BT::NodeType::CONDITION, id, ports);
    } else if (element == "Control") {
      add<Control>(factory, BT::NodeType::CONTROL, id, ports);
    } else if (element == "Decorator") {
      add<Decorator>(factory, BT::NodeType::DECORATOR, id, ports);
    }
  }
  // The tree is never destroyed: that would run the scripts of "_onHalted", and their exceptions end the program.
  BT::Tree& tree = *new BT::Tree(factory.createTreeFromFile(file));
  std::cout << file << "\n";
  const std::function<void(BT::TreeNode*, int)> print = [&](BT::TreeNode* node, int depth) {
    std::cout << std::string(2 * depth, ' ') << node->registrationName() << " " << node->name() << "\n";
    if (auto control = dynamic_cast<BT::ControlNode*>(node)) {
      for (auto child : control->children()) {
        print(child, depth + 1);
      }
    } else if (auto decorator = dynamic_cast<BT::DecoratorNode*>(node)) {
      print(decorator->child(), depth + 1);
    }
  };
  print(tree.rootNode(), 1);
  try {
    BT::NodeStatus status = BT::NodeStatus::RUNNING;
    for (int i = 0; i < ticks && status == BT::NodeStatus::RUNNING; i++) {
      status = tree.tickOnce();
    }
    std::cout << "= " << status << "\n";
  } catch (std::exception& e) {
    std::cout << "! " << message(e) << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  int failures = 0;
  for (int i = 2; i < argc; i++) {
    try {
      load(argv[i], std::stoi(argv[1]));
    } catch (std::exception& e) {
      failures++;
      std::cout << "! " << argv[i] << ": " << message(e) << "\n";
    }
  }
  return failures > 0;
}
