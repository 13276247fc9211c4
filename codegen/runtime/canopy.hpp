// Behaviour trees in C++17, over canopy.h: leaves are objects. A leaf of BehaviorTree.CPP moves over by its callbacks:
//
//   ConditionNode::tick, SimpleConditionNode          Condition::holds
//   SyncActionNode::tick                              Action::poll, which ends at once
//   StatefulActionNode::onStart, onRunning, onHalted  Action::start, poll, stop
//
// Action::stop is called whenever an action stops, also when it has ended.
#ifndef CANOPY_HPP
#define CANOPY_HPP

#include "canopy.h"

#include <array>
#include <cstddef>
#include <stdexcept>

namespace canopy {

// A leaf that is only judged.
class Condition {
 public:
  virtual ~Condition() = default;
  virtual bool holds() = 0;
};

// What an action says while it is active.
enum class Result { Running, Success, Failure };

// A leaf that is activated.
class Action {
 public:
  virtual ~Action() = default;
  virtual void start() {}
  virtual Result poll() = 0;
  virtual void stop() {}
};

// An execution of a tree of N tasks. It refers to its leaves, which must outlive it.
template <std::size_t N>
class Plan {
 public:
  explicit Plan(const canopy_tree& tree, const canopy_hooks* hooks = nullptr, void* context = nullptr) {
    if (tree.n != N) {
      throw std::invalid_argument("the tree has another number of tasks");
    }
    canopy_plan_begin(&plan_, &tree, tasks_.data(), leaves_.data(), hooks, context);
  }
  Plan(const Plan&) = delete; // the C structures refer to each other
  Plan& operator=(const Plan&) = delete;

  void leaf(canopy_task task, Condition& condition) {
    canopy_leaf& l = at(task, false);
    l.context = &condition;
    l.judge = [](void* c) { return static_cast<Condition*>(c)->holds() ? CANOPY_SUCCESS : CANOPY_FAILURE; };
  }

  void leaf(canopy_task task, Action& action) {
    canopy_leaf& l = at(task, true);
    l.context = &action;
    l.start = [](void* c) { static_cast<Action*>(c)->start(); };
    l.poll = [](void* c) {
      switch (static_cast<Action*>(c)->poll()) {
        case Result::Success:
          return CANOPY_SUCCESS;
        case Result::Failure:
          return CANOPY_FAILURE;
        default:
          return CANOPY_RUNNING;
      }
    };
    l.stop = [](void* c) { static_cast<Action*>(c)->stop(); };
  }

  // Throws if the plan does not settle: its leaves say something new in each of so many rounds.
  void step(canopy_time now, std::uint16_t rounds = 100) {
    if (!canopy_plan_step(&plan_, now, rounds)) {
      throw std::runtime_error("the plan does not settle");
    }
  }

  void halt() { canopy_plan_halt(&plan_); }

  canopy_status status(canopy_task task) const { return canopy_status_of(&plan_.run, task); }

  bool next(canopy_time& time) const { return canopy_plan_next(&plan_, &time); }

 private:
  canopy_leaf& at(canopy_task task, bool acts) {
    const canopy_node& node = plan_.run.tree->nodes[task];
    if (node.family != CANOPY_LEAF || ((node.flags & CANOPY_ACTS) != 0) != acts) {
      throw std::invalid_argument(acts ? "the task is no action" : "the task is no condition");
    }
    return leaves_[task];
  }

  std::array<canopy_told, N> tasks_{};
  std::array<canopy_leaf, N> leaves_{};
  canopy_plan plan_{};
};

}  // namespace canopy

#endif
