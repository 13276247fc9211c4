// Stub: what ModuleBase does for a module on a work queue.
#pragma once
#include <stdio.h>
#include <string.h>

#define MODULE_NAME "canopy_plan"
#define PX4_OK 0
#define PX4_ERROR (-1)
#define __EXPORT
#define PX4_ERR(...) (printf(__VA_ARGS__), printf("\n"))
#define PX4_WARN(...) (printf(__VA_ARGS__), printf("\n"))
#define PRINT_MODULE_USAGE_NAME(name, category) printf("%s <command>\n", name)
#define PRINT_MODULE_USAGE_COMMAND(name) printf("  %s\n", name)
#define PRINT_MODULE_USAGE_DEFAULT_COMMANDS() printf("  stop\n  status\n")

template <class T> class ModuleBase {
public:
  static int main(int argc, char *argv[]) {
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "start") == 0) {
      return T::task_spawn(argc, argv);
    }
    if (strcmp(command, "stop") == 0) {
      _object.load()->_exits = true;
      return PX4_OK;
    }
    return T::custom_command(argc, argv);
  }

protected:
  struct {
    T *object;
    void store(T *to) { object = to; }
    T *load() { return object; }
  } static inline _object{};
  static inline int _task_id = -1;
  static constexpr int task_id_is_work_queue = -2;

  bool should_exit() const { return _exits; }

  static void exit_and_cleanup() {
    delete _object.load();
    _object.store(nullptr);
    _task_id = -1;
  }

private:
  bool _exits = false;
};
