// Stub: a queue of one item, which main.cpp runs.
#pragma once
#include <stdint.h>

namespace px4 {
namespace wq_configurations {
enum queue { lp_default };
}

class ScheduledWorkItem {
public:
  static inline ScheduledWorkItem *item = nullptr;
  static inline uint32_t delay = 0;

  ScheduledWorkItem(const char *, wq_configurations::queue) {}
  virtual ~ScheduledWorkItem() = default;
  virtual void Run() = 0;
  void ScheduleNow() { ScheduleDelayed(0); }
  void ScheduleDelayed(uint32_t us) {
    item = this;
    delay = us;
  }
  void ScheduleClear() { item = nullptr; }
};
} // namespace px4
