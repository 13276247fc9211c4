// Starts the module, publishes altitudes and charges as in a day, and prints each change of what the plan wants.
#include <drivers/drv_hrt.h>
#include <px4_platform_common/px4_work_queue/ScheduledWorkItem.hpp>
#include <uORB/Publication.hpp>
#include <uORB/topics/battery_status.h>
#include <uORB/topics/debug_vect.h>
#include <uORB/topics/vehicle_global_position.h>

#include <stdio.h>

extern "C" int canopy_plan_main(int argc, char *argv[]);

static hrt_abstime now = 1000000;

hrt_abstime hrt_absolute_time() { return now; }

static void command(const char *word) {
  char name[] = "canopy_plan", argument[8];
  snprintf(argument, sizeof(argument), "%s", word);
  char *argv[] = {name, argument, nullptr};
  canopy_plan_main(2, argv);
}

// Runs the work queue for a second.
static void second() {
  for (const hrt_abstime end = now + 1000000; px4::ScheduledWorkItem::item != nullptr && now < end;) {
    now += px4::ScheduledWorkItem::delay > 0U ? px4::ScheduledWorkItem::delay : 1U;
    px4::ScheduledWorkItem::item->Run();
  }
}

int main() {
  static const struct {
    float alt, remaining;
  } day[] = {{6000.0F, 0.5F}, {6000.0F, 0.999F}, {9000.0F, 0.999F}, {13000.0F, 0.999F}, {13000.0F, 0.98F}, {6010.0F, 0.98F}};
  uORB::Publication<vehicle_global_position_s> position{ORB_ID(vehicle_global_position)};
  uORB::Publication<battery_status_s> battery{ORB_ID(battery_status)};
  unsigned seen = 0;
  command("start");
  second();
  printf("without inputs, %u are published\n", orb_topic<debug_vect_s>::generation);
  for (const auto &is : day) {
    position.publish({is.alt});
    battery.publish({is.remaining});
    second();
    const debug_vect_s &w = orb_topic<debug_vect_s>::value;
    printf("%5.0f m, charge %.3f: fly at %5.0f m, CL %.2f, payload %.0f\n", static_cast<double>(is.alt),
           static_cast<double>(is.remaining), static_cast<double>(w.x), static_cast<double>(w.y), static_cast<double>(w.z));
    if (orb_topic<debug_vect_s>::generation - seen < 10U) {
      printf("only %u steps\n", orb_topic<debug_vect_s>::generation - seen);
    }
    seen = orb_topic<debug_vect_s>::generation;
  }
  command("stop");
  second();
  printf("the module has %s\n", px4::ScheduledWorkItem::item == nullptr ? "ended" : "not ended");
  return 0;
}
