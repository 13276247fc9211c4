// play plays plans in BehaviorTree.CPP 4 by scripts, and prints what it does.
//
//   play CASES
//
// A case of the file CASES is a plan on one line, then a line for each instant, `> INPUTS`, and an empty line:
//
//   start: set c1 true; set n 3   before the first tick; only as the first line
//   set c1 true|false             the truth value of all conditions c1, at first false
//   set n VALUE                   an entry of the main tree, by a script
//   end a1 success|failure        the result of an action that runs; ignored otherwise
//   end ?N success|failure        that of the N-th running action, modulo their number; else the line is left out
//
// Conditions are c0 to c9, actions a0 to a9. An action of a subtree that is used several times has the name of the use
// before its own, u1/a1. After each line the tree is ticked until some ticks have changed nothing. The output of a
// case has the lines of its script as they were played, and after each `= ANSWER`: the running actions, with * if they
// began in this instant, "waits" without one, or the root's result, with which the case ends; then the entries that
// have changed, those of a subtree with its use, u1.x=3. Other answers are "spins" and "! EXCEPTION". An empty line
// ends the output of a case.

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "behaviortree_cpp/bt_factory.h"

namespace {

constexpr int kQuiet = 8, kTicks = 80;  // ticks without a change, after which a tree rests; all, after which it spins

std::map<std::string, bool> truth;

class Condition : public BT::ConditionNode {
 public:
  using ConditionNode::ConditionNode;
  BT::NodeStatus tick() override {
    return truth[registrationName()] ? BT::NodeStatus::SUCCESS : BT::NodeStatus::FAILURE;
  }
};

class Action : public BT::StatefulActionNode {
 public:
  using StatefulActionNode::StatefulActionNode;
  std::string key;
  int starts = 0;
  bool active = false, fresh = false;
  BT::NodeStatus result = BT::NodeStatus::RUNNING;
  BT::NodeStatus onStart() override {
    starts++;
    active = fresh = true;
    return result = BT::NodeStatus::RUNNING;
  }
  BT::NodeStatus onRunning() override {
    active = result == BT::NodeStatus::RUNNING;
    return result;
  }
  void onHalted() override { active = false; }
};

// text writes a value; a text that is a number is written as one. An empty text is no value.
std::string text(const BT::Any& value) {
  if (!value.isNumber() && !value.isString()) {
    return "";
  }
  const std::string s = value.isString() ? value.cast<std::string>() : "";
  char* end = nullptr;
  const double number = value.isString() ? std::strtod(s.c_str(), &end) : value.cast<double>();
  if (end != nullptr && (s.empty() || *end != 0)) {
    return "'" + s + "'";
  }
  char digits[40];
  snprintf(digits, sizeof digits, "%.12g", number);
  return digits;
}

// entries returns the entries that have values, with the uses of subtrees before their names.
std::map<std::string, std::string> entries(const BT::Tree& tree) {
  std::map<std::string, std::string> all;
  std::set<const void*> seen;  // a port is the entry that it names
  for (const auto& subtree : tree.subtrees) {
    std::string path = subtree == tree.subtrees.front() ? "" : subtree->instance_name + ".";
    std::replace(path.begin(), path.end(), '/', '.');
    for (const auto key : subtree->blackboard->getKeys()) {
      const auto entry = subtree->blackboard->getEntry(std::string(key));
      if (entry && seen.insert(entry.get()).second && !text(entry->value).empty()) {
        all[path + std::string(key)] = text(entry->value);
      }
    }
  }
  return all;
}

class Player {
 public:
  Player(const std::string& plan, BT::BehaviorTreeFactory& factory) {
    static const std::regex form("<(Condition|Action) ID=\"(\\w+)\"");  // the other one is not read everywhere
    factory.registerBehaviorTreeFromText(std::regex_replace(plan, form, "<$2"));
    // The tree is never destroyed: that would run the scripts of "_onHalted".
    tree = new BT::Tree(factory.createTree("main"));
    std::map<std::string, int> count;
    tree->applyVisitor([&](BT::TreeNode* node) {
      if (auto action = dynamic_cast<Action*>(node)) {
        actions.push_back(action);
        count[node->registrationName()]++;
      }
    });
    for (auto action : actions) {
      const std::string path = action->fullPath();
      action->key = action->registrationName();
      if (count[action->key] > 1) {
        action->key = path.substr(0, path.rfind('/') + 1) + action->key;
      }
    }
  }

  void play(std::vector<std::string> script) {
    before = entries(*tree);
    if (!script.empty() && script[0].rfind("start:", 0) == 0) {
      std::cout << "> " << script[0] << "\n";
      inputs(script[0].substr(6));
      script.erase(script.begin());
    }
    bool on = instant();
    for (size_t i = 0; on && i < script.size(); i++) {
      if (name(script[i])) {
        std::cout << "> " << script[i] << "\n";
        inputs(script[i]);
        on = instant();
      }
    }
  }

 private:
  BT::Tree* tree;
  std::vector<Action*> actions;
  std::map<std::string, std::string> before;

  // name replaces ?N in a line by the names of actions; false: none runs.
  bool name(std::string& line) {
    std::vector<std::string> running;
    for (auto action : actions) {
      if (action->active) {
        running.push_back(action->key);
      }
    }
    size_t at = line.find('?');
    for (; at != std::string::npos && !running.empty(); at = line.find('?')) {
      line.replace(at, 2, running[(line[at + 1] - '0') % running.size()]);
    }
    return at == std::string::npos;
  }

  void inputs(const std::string& line) {
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, ';');) {
      std::istringstream words(part);
      std::string verb, name, value;
      words >> verb >> name;
      std::getline(words >> std::ws, value);
      if (verb == "end") {
        for (auto action : actions) {
          if (action->active && action->key == name) {
            action->result = value == "success" ? BT::NodeStatus::SUCCESS : BT::NodeStatus::FAILURE;
          }
        }
      } else if (std::regex_match(name, std::regex("c\\d"))) {
        truth[name] = value == "true";
      } else {
        BT::Ast::Environment environment{tree->rootBlackboard(), {}};
        BT::ParseScript(name + " := " + value).value()(environment);
      }
    }
  }

  // instant ticks the tree until it rests, and prints the answer; false: the case has ended.
  bool instant() {
    for (auto action : actions) {
      action->fresh = false;
    }
    std::string last;
    BT::NodeStatus status = BT::NodeStatus::RUNNING;
    for (int ticks = 0, quiet = 0; quiet < kQuiet && status == BT::NodeStatus::RUNNING; ticks++) {
      if (ticks > kTicks) {
        std::cout << "= spins\n";
        return false;
      }
      status = tree->tickExactlyOnce();
      std::ostringstream now;
      tree->applyVisitor([&](const BT::TreeNode* node) { now << int(node->status()); });
      for (const auto& [key, value] : entries(*tree)) {
        now << " " << key << "=" << value;
      }
      for (auto action : actions) {
        now << " " << action->starts;
      }
      quiet = now.str() == last ? quiet + 1 : 0;
      last = now.str();
    }
    answer(status);
    return status == BT::NodeStatus::RUNNING;
  }

  void answer(BT::NodeStatus status) {
    std::set<std::string> words;
    for (auto action : actions) {
      if (action->active) {
        words.insert(action->key + (action->fresh ? "*" : ""));
      }
    }
    if (status != BT::NodeStatus::RUNNING) {
      words = {BT::toStr(status)};
    } else if (words.empty()) {
      words = {"waits"};
    }
    std::map<std::string, std::string> changed, now = entries(*tree);
    for (const auto& [key, value] : before) {
      changed[key] = "unset";
    }
    for (const auto& [key, value] : now) {
      changed[key] = value;
      if (before.count(key) > 0 && before[key] == value) {
        changed.erase(key);
      }
    }
    std::cout << "=";
    for (const auto& word : words) {
      std::cout << " " << word;
    }
    for (const auto& [key, value] : changed) {
      std::cout << " " << key << "=" << value;
    }
    before = now;
    std::cout << "\n";
  }
};

// run plays a case in a process of its own, since a tree may spin for ever in one tick.
void run(const std::string& plan, const std::vector<std::string>& script, BT::BehaviorTreeFactory& factory) {
  std::cout << std::flush;
  const pid_t child = fork();
  if (child == 0) {
    itimerval limit{};
    limit.it_value.tv_sec = 1;
    setitimer(ITIMER_VIRTUAL, &limit, nullptr);
    try {
      Player(plan, factory).play(script);
    } catch (std::exception& e) {
      std::string text = e.what();
      std::replace(text.begin(), text.end(), '\n', ' ');
      std::cout << "= ! " << text << "\n";
    }
    std::cout << std::flush;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::cout << (WIFSIGNALED(status) ? "= spins\n\n" : "\n");
}

}  // namespace

int main(int argc, char** argv) {
  BT::BehaviorTreeFactory factory;
  for (char i = '0'; i <= '9'; i++) {
    factory.registerBuilder({BT::NodeType::CONDITION, std::string("c") + i, {}, {}},
                            [](const std::string& name, const BT::NodeConfig& config) {
                              return std::make_unique<Condition>(name, config);
                            });
    factory.registerBuilder({BT::NodeType::ACTION, std::string("a") + i, {}, {}},
                            [](const std::string& name, const BT::NodeConfig& config) {
                              return std::make_unique<Action>(name, config);
                            });
  }
  std::ifstream in(argc > 1 ? argv[1] : "");
  std::string plan;
  std::vector<std::string> script;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() && !plan.empty()) {
      run(plan, script, factory);
      plan.clear();
      script.clear();
    } else if (line.rfind("> ", 0) == 0) {
      script.push_back(line.substr(2));
    } else {
      plan = line;
    }
  }
}
