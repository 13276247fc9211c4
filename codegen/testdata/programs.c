/* Executes plans by the inputs on standard input, and prints what they do. missions.h includes the headers of the plans,
 * and defines PROGRAMS, their programs, and MOST, the largest size of an array. */
#include "missions.h"

#include <math.h>
#include <stdio.h>

static const canopy_program *const programs[] = {PROGRAMS};

uint16_t proved_limit;

static void changed(void *context, canopy_task task, canopy_status from, canopy_status to, uint16_t iteration) {
  (void)context;
  (void)iteration;
  printf("%d: %d -> %d\n", task, (int)from, (int)to);
}

int main(void) {
  static const canopy_hooks hooks = {changed, NULL, NULL};
  static canopy_execution x;
  static canopy_told tasks[MOST];
  static canopy_known leaves[MOST];
  static double signals[MOST];
  static canopy_stored held[MOST];
  static canopy_stored captured[MOST];
  static double inputs[MOST];
  static bool above[MOST];
  char word[16];
  int number = 0;
  double t = 0.0;
  unsigned n = 0;
  while (scanf("%15s", word) == 1) {
    switch (word[0]) {
      case 'p':
        if (scanf("%d %u %hu", &number, &n, &proved_limit) != 3) {
          return 1;
        }
        canopy_execution_begin(&x, programs[number], tasks, leaves, signals, held, captured, above);
        x.hooks = &hooks;
        printf("plan %d\n", number);
        break;
      case 's':
        if (scanf("%lf", &t) != 1) {
          return 1;
        }
        for (unsigned i = 0; i < n; i++) {
          if (scanf("%lf", &inputs[i]) != 1) {
            return 1;
          }
          signals[i + 1U] = inputs[i];
        }
        printf("step %d\n", (int)canopy_execution_step(&x, (canopy_time)(t * CANOPY_SECOND), 200));
        for (unsigned i = n + 1U; i < x.program->signals_n; i++) {
          printf("%.17g ", signals[i]);
        }
        printf("\n");
        break;
      case 'd': {
        canopy_time due = 0;
        union {
          double number;
          unsigned long long bits;
        } as = {INFINITY};
        if (canopy_execution_next(&x, &due)) {
          as.number = (double)due;
        }
        printf("due %016llx\n", as.bits);
        break;
      }
      default:
        canopy_execution_halt(&x);
        break;
    }
  }
  return 0;
}
