/* Evaluates vehicles, for tests: standard input has what is asked, as numbers, and standard output the answers. */
#include "canopy_vehicle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DECLARATIONS;
static const canopy_vehicle *const vehicles[] = {VEHICLES};

static double number(void) {
  double x = 0.0;
  if (scanf("%lf", &x) != 1) {
    exit(2);
  }
  return x;
}

/* Returns an array that is as long as it says, so that a sanitizer finds a read beyond it. */
static double *numbers(size_t n) {
  double *x = malloc((n > 0U ? n : 1U) * sizeof(double));
  for (size_t i = 0; x != NULL && i < n; i++) {
    x[i] = number();
  }
  return x;
}

static void show(const double *x, size_t n) {
  for (size_t i = 0; i < n; i++) {
    printf("%.17g ", x[i]);
  }
  printf("\n");
}

/* Evaluates at a point: a time, states, commands, the memory, and the sides of switches if there are any. */
static void point(const canopy_vehicle *v, void *self) {
  const double t = number();
  double *y = numbers(v->states);
  double *commands = numbers(v->commands);
  double *memory = numbers(v->memory);
  const bool held = number() > 0.0;
  const bool settled = number() > 0.0;
  bool *above = malloc(v->switches > 0U ? v->switches : 1U);
  for (size_t i = 0; held && i < v->switches; i++) {
    above[i] = number() > 0.0;
  }
  const bool *sides = held ? above : NULL;
  const size_t most = (size_t)v->states + v->outputs + v->switches;
  double *x = calloc(most + 1U, sizeof(double));
  v->derivatives(self, t, y, commands, sides, memory, x);
  show(x, v->states);
  v->output(self, t, y, commands, sides, memory, x);
  show(x, v->outputs);
  v->zeros(self, t, y, commands, sides, memory, x);
  show(x, v->switches);
  printf("%d ", (int)v->react(self, t, y, commands, sides, memory, settled));
  show(y, v->states);
  show(memory, v->memory);
  free(x);
  free(above);
  free(memory);
  free(commands);
  free(y);
}

int main(void) {
  char word[16];
  const canopy_vehicle *v = NULL;
  void *self = NULL;
  while (scanf("%15s", word) == 1) {
    if (strcmp(word, "create") == 0) {
      v = vehicles[(size_t)number()];
      free(self);
      self = malloc(v->size);
      memset(self, 0xff, v->size);
      double *parameters = numbers(v->parameters);
      const bool possible = v->create(self, parameters);
      free(parameters);
      printf("%d\n", (int)possible);
      if (possible) {
        double *y = calloc((size_t)v->states + v->memory + 1U, sizeof(double));
        v->initial(self, y);
        show(y, v->states);
        v->begin(self, y);
        show(y, v->memory);
        free(y);
      }
    } else {
      point(v, self);
    }
  }
  free(self);
  return 0;
}
