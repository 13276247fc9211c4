/* Sets the first condition of a tree, and clears it, as many times as the argument says: what an event costs. With PLAN,
 * gives one input of a mission two values in turn instead. */
#include HEADER

#include <stdlib.h>

int main(int argc, char **argv) {
  const long n = argc > 1 ? atol(argv[1]) : 0;
  bool settles = true;
#ifdef PLAN
  static PLAN plan;
  BEGIN(&plan);
  for (long i = 0; i < n; i++) {
    plan.signals[INPUT] = i % 2 == 0 ? HIGH : LOW;
    settles = canopy_execution_step(&plan.x, (canopy_time)0, 100) == CANOPY_FINE && settles;
  }
#else
  static canopy_told tasks[TASKS];
  static const canopy_hooks hooks = {NULL, NULL, NULL};
  static canopy_run run;
  canopy_begin(&run, &TREE, tasks, &hooks, NULL);
  canopy_judge(&run);
  settles = canopy_settle(&run, CANOPY_LIMIT);
  for (long i = 0; i < n; i++) {
    canopy_set(&run, ON, i % 2 == 0);
    settles = canopy_settle(&run, CANOPY_LIMIT) && settles;
  }
#endif
  return settles ? 0 : 1;
}
