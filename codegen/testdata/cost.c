/* Sets the first condition of a tree, and clears it, as many times as the argument says: what an event costs. */
#include HEADER

#include <stdlib.h>

int main(int argc, char **argv) {
  static canopy_told tasks[TASKS];
  static const canopy_hooks hooks = {NULL, NULL, NULL};
  static canopy_run run;
  const long n = argc > 1 ? atol(argv[1]) : 0;
  canopy_begin(&run, &TREE, tasks, &hooks, NULL);
  canopy_judge(&run);
  bool settles = canopy_settle(&run, CANOPY_LIMIT);
  for (long i = 0; i < n; i++) {
    canopy_set(&run, ON, i % 2 == 0);
    settles = canopy_settle(&run, CANOPY_LIMIT) && settles;
  }
  return settles ? 0 : 1;
}
