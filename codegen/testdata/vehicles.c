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

/* Returns an array as long as it must be, as all are here, so that a sanitizer finds what is beyond. */
static double *numbers(size_t n) {
  double *x = malloc(n * sizeof(double));
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
  bool *above = malloc(v->switches * sizeof(bool));
  for (size_t i = 0; held && i < v->switches; i++) {
    above[i] = number() > 0.0;
  }
  const bool *sides = held ? above : NULL;
  double *dydt = malloc(v->states * sizeof(double));
  double *out = malloc(v->outputs * sizeof(double));
  double *g = malloc(v->switches * sizeof(double));
  v->derivatives(self, t, y, commands, sides, memory, dydt);
  show(dydt, v->states);
  v->output(self, t, y, commands, sides, memory, out);
  show(out, v->outputs);
  v->zeros(self, t, y, commands, sides, memory, g);
  show(g, v->switches);
  printf("%d ", (int)v->react(self, t, y, commands, sides, memory, settled));
  show(y, v->states);
  show(memory, v->memory);
  free(g);
  free(out);
  free(dydt);
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
        double *y = malloc(v->states * sizeof(double));
        double *memory = malloc(v->memory * sizeof(double));
        v->initial(self, y);
        show(y, v->states);
        v->begin(self, memory);
        show(memory, v->memory);
        free(memory);
        free(y);
      }
    } else {
      point(v, self);
    }
  }
  free(self);
  return 0;
}
