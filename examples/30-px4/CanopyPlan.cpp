// A module of PX4 that steps the plan of the solar day: it reads the altitude and the charge, and publishes what the plan
// wants. Compile it with -DCANOPY_TIME=int64_t -DCANOPY_SECOND=1000000: the plan's time is that of PX4, in microseconds.
#include "solar-day.h"

#include <drivers/drv_hrt.h>
#include <px4_platform_common/module.h>
#include <px4_platform_common/px4_work_queue/ScheduledWorkItem.hpp>
#include <uORB/Publication.hpp>
#include <uORB/Subscription.hpp>
#include <uORB/topics/battery_status.h>
#include <uORB/topics/debug_vect.h>
#include <uORB/topics/vehicle_global_position.h>

#include <string.h>

class CanopyPlan : public ModuleBase<CanopyPlan>, public px4::ScheduledWorkItem {
public:
  CanopyPlan() : ScheduledWorkItem(MODULE_NAME, px4::wq_configurations::lp_default) { solar_day_begin(&_plan); }

  static int task_spawn(int, char *[]) {
    auto *module = new CanopyPlan();
    if (module == nullptr) {
      PX4_ERR("no memory");
      return PX4_ERROR;
    }
    _object.store(module);
    _task_id = task_id_is_work_queue;
    module->ScheduleNow();
    return PX4_OK;
  }

  static int custom_command(int, char *[]) { return print_usage("there is no such command"); }

  static int print_usage(const char *reason = nullptr) {
    if (reason != nullptr) {
      PX4_WARN("%s", reason);
    }
    PRINT_MODULE_USAGE_NAME("canopy_plan", "controller");
    PRINT_MODULE_USAGE_COMMAND("start");
    PRINT_MODULE_USAGE_DEFAULT_COMMANDS();
    return 0;
  }

private:
  static constexpr canopy_time period = 100000; // the longest time between two steps [us]

  void Run() override {
    if (should_exit()) {
      canopy_execution_halt(&_plan.x);
      publish();
      ScheduleClear();
      exit_and_cleanup();
      return;
    }
    const canopy_time now = static_cast<canopy_time>(hrt_absolute_time());
    canopy_time delay = period;
    if (inputs()) { // the plan begins when all inputs are known
      const canopy_fault fault = canopy_execution_step(&_plan.x, now, 100);
      if (fault != CANOPY_FINE) {
        PX4_ERR("the step fails: %d", static_cast<int>(fault));
      }
      publish();
      canopy_time next = 0;
      if (canopy_execution_next(&_plan.x, &next) && next - now < period) {
        delay = next > now ? next - now : 1;
      }
    }
    ScheduleDelayed(static_cast<uint32_t>(delay));
  }

  bool inputs() {
    vehicle_global_position_s position{};
    battery_status_s battery{};
    if (_position_sub.update(&position)) {
      _plan.signals[SOLAR_DAY_IN_H] = static_cast<double>(position.alt);
      _has_position = true;
    }
    if (_battery_sub.update(&battery)) {
      _plan.signals[SOLAR_DAY_IN_SOC] = static_cast<double>(battery.remaining);
      _has_battery = true;
    }
    return _has_position && _has_battery;
  }

  void publish() {
    debug_vect_s wanted{};
    wanted.timestamp = hrt_absolute_time();
    strncpy(wanted.name, "canopy", sizeof(wanted.name));
    wanted.x = static_cast<float>(_plan.signals[SOLAR_DAY_OUT_H_CMD]);
    wanted.y = static_cast<float>(_plan.signals[SOLAR_DAY_OUT_CL_CMD]);
    wanted.z = static_cast<float>(_plan.signals[SOLAR_DAY_OUT_PAYLOAD]);
    _wanted_pub.publish(wanted);
  }

  solar_day _plan{};
  bool _has_position{false};
  bool _has_battery{false};
  uORB::Subscription _position_sub{ORB_ID(vehicle_global_position)};
  uORB::Subscription _battery_sub{ORB_ID(battery_status)};
  uORB::Publication<debug_vect_s> _wanted_pub{ORB_ID(debug_vect)};
};

extern "C" __EXPORT int canopy_plan_main(int argc, char *argv[]);

int canopy_plan_main(int argc, char *argv[]) { return CanopyPlan::main(argc, argv); }
