// A patrol with leaves in C++: the aircraft flies to a place in 5 s; the camera answers the second time it is asked.
#include "canopy.hpp"
#include "patrol.h"

#include <cstdio>

namespace {

double now = 0;

struct BatteryOK : canopy::Condition {
  bool holds() override { return now < 12; }
};

struct FlyTo : canopy::Action {
  double since = 0;
  void start() override { since = now; }
  canopy::Result poll() override { return now - since >= 5 ? canopy::Result::Success : canopy::Result::Running; }
};

struct TakePhoto : canopy::Action {
  int asked = 0;
  void start() override { asked++; }
  canopy::Result poll() override { return asked >= 2 ? canopy::Result::Success : canopy::Result::Running; }
  void stop() override { std::printf("%4.1f s: the camera is released\n", now); }
};

struct ReturnHome : canopy::Action {
  canopy::Result poll() override { return canopy::Result::Running; }
};

void changed(void*, canopy_task task, canopy_status, canopy_status to, std::uint16_t) {
  if (to == CANOPY_RUNNING || to == CANOPY_FINISHED || to == CANOPY_ABORTED) {
    std::printf("%4.1f s: %s %s\n", now, patrol_tree.names[task],
                to == CANOPY_RUNNING ? "runs" : to == CANOPY_FINISHED ? "succeeds" : "fails");
  }
}

}  // namespace

int main() {
  const canopy_hooks hooks = {changed, nullptr, nullptr};
  canopy::Plan<PATROL_TASKS> plan(patrol_tree, &hooks);
  BatteryOK battery;
  FlyTo fly;
  TakePhoto photo;
  ReturnHome home;
  plan.leaf(PATROL_BATTERYOK, battery);
  plan.leaf(PATROL_FLYTO, fly);
  plan.leaf(PATROL_TAKEPHOTO, photo);
  plan.leaf(PATROL_RETURNHOME, home);
  for (int tick = 0; tick <= 30; tick++) { // the leaves are asked twice a second
    now = tick * 0.5;
    plan.step(now);
  }
  plan.halt();
}
