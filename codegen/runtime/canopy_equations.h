/* The law of a vehicle of equations. The file of the vehicle includes it once, and defines its tables, equations.
 *
 * The signals s are the time, the states, the commands, the outputs, the parameters and the memory, in this order. The
 * memory has of each event whether its condition held, and of each cell the bounds of a piece. */
#ifndef CANOPY_EQUATIONS_H
#define CANOPY_EQUATIONS_H

#include "canopy_functions.h"
#include "canopy_vehicle.h"

#include <float.h>

/* Expression of a vehicle. */
typedef struct {
  canopy_value plain;                                   /* evaluates relations directly */
  double (*held)(const double *s, const bool *above);   /* follows the sides of switches and the memory; NULL: as plain */
} canopy_formula;

/* Range, ends included. */
typedef struct {
  double least;
  double most;
} canopy_limits;

/* Parameter, whose value in SI is that in its own unit * scale / per. */
typedef struct {
  canopy_limits limits; /* in its own unit */
  double scale;
  double per;
} canopy_parameter;

/* Formulas, and the outputs that they read, each after those that it reads itself. */
typedef struct {
  const uint16_t *order;
  const canopy_formula *formulas;
  uint16_t order_n;
  uint16_t n;
} canopy_formulas;

/* What an event gives a state. */
typedef struct {
  uint16_t state;
  canopy_value value;
} canopy_reset;

/* Event: it occurs when its condition becomes true. */
typedef struct {
  canopy_formula condition;
  const canopy_reset *resets;
  uint16_t n;
} canopy_event;

/* Cell: remembers between which points, or whole numbers, an argument lies. */
typedef struct {
  canopy_formula argument;
  const double *points; /* of the axis of a table; NULL: whole numbers */
  uint16_t n;
  bool clamp;
} canopy_cell;

/* Constant description of the vehicle. */
typedef struct {
  const canopy_parameter *parameters;
  const canopy_limits *ranges;   /* of the states */
  const canopy_value *initial;   /* of the states; they read parameters */
  const canopy_formula *outputs;
  canopy_formulas derivatives;
  canopy_formulas all; /* outputs, no formulas */
  canopy_formulas switches;
  const canopy_event *events;
  const canopy_cell *cells;
  uint16_t parameters_n;
  uint16_t states_n;
  uint16_t commands_n;
  uint16_t outputs_n;
  uint16_t events_n;
  uint16_t cells_n;
} canopy_equations;

static const canopy_equations equations;

/* Places of signals. */
static inline size_t output_at(void) { return 1U + (size_t)equations.states_n + equations.commands_n; }
static inline size_t parameter_at(void) { return output_at() + equations.outputs_n; }
static inline size_t memory_at(void) { return parameter_at() + equations.parameters_n; }
static inline size_t memory_n(void) { return equations.events_n + 2U * (size_t)equations.cells_n; }

static inline void copy(double *to, const double *from, size_t n) {
  for (size_t i = 0; i < n; i++) {
    to[i] = from[i];
  }
}

static inline bool within(const canopy_limits *limits, double value) {
  return limits->least <= value && value <= limits->most && isfinite(value);
}

static inline double value_of(const canopy_formula *f, const double *s, const bool *above) {
  return above != NULL && f->held != NULL ? f->held(s, above) : f->plain(s);
}

/* Sets the signals that are given. */
static inline void give(double *s, double t, const double *y, const double *commands, const double *memory) {
  s[0] = t;
  copy(&s[1], y, equations.states_n);
  copy(&s[1U + equations.states_n], commands, equations.commands_n);
  copy(&s[memory_at()], memory, memory_n());
}

/* Evaluates outputs and formulas, and returns whether all are finite. */
static inline bool evaluate(const canopy_formulas *of, double *s, const bool *above, double *values) {
  bool finite = true;
  for (uint16_t i = 0; i < of->order_n; i++) {
    double *output = &s[output_at() + of->order[i]];
    *output = value_of(&equations.outputs[of->order[i]], s, above);
    finite = finite && isfinite(*output);
  }
  for (uint16_t i = 0; i < of->n; i++) {
    values[i] = value_of(&of->formulas[i], s, above);
    finite = finite && isfinite(values[i]);
  }
  return finite;
}

/* Evaluates with the sides that are held. Where that is undefined, as a root whose argument max keeps from being
 * negative, the equations switch. */
static inline void defined(const canopy_formulas *of, double *s, const bool *above, double *values) {
  if (above == NULL || !evaluate(of, s, above, values)) {
    (void)evaluate(of, s, NULL, values);
  }
}

static bool create(void *self, const double *parameters) {
  double *s = self;
  copy(&s[parameter_at()], parameters, equations.parameters_n);
  for (uint16_t i = 0; i < equations.parameters_n; i++) {
    const canopy_parameter *p = &equations.parameters[i];
    if (!within(&p->limits, parameters[i])) {
      return false;
    }
    s[parameter_at() + i] = parameters[i] * p->scale / p->per;
  }
  for (uint16_t i = 0; i < equations.states_n; i++) {
    if (!within(&equations.ranges[i], equations.initial[i](s))) {
      return false;
    }
  }
  return true;
}

static void initial(const void *self, double *y) {
  for (uint16_t i = 0; i < equations.states_n; i++) {
    y[i] = equations.initial[i](self);
  }
}

/* The condition of an event that has not been evaluated does not become true at the start. */
static void begin(const void *self, double *memory) {
  (void)self;
  for (size_t i = 0; i < memory_n(); i++) {
    memory[i] = i < equations.events_n ? -1.0 : 0.0;
  }
}

static void derivatives(void *self, double t, const double *y, const double *commands, const bool *above,
                        const double *memory, double *dydt) {
  give(self, t, y, commands, memory);
  defined(&equations.derivatives, self, above, dydt);
}

static void output(void *self, double t, const double *y, const double *commands, const bool *above, const double *memory,
                   double *out) {
  const double *s = self;
  give(self, t, y, commands, memory);
  defined(&equations.all, self, above, NULL);
  copy(out, &s[output_at()], equations.outputs_n);
}

static void zeros(void *self, double t, const double *y, const double *commands, const bool *above, const double *memory,
                  double *g) {
  give(self, t, y, commands, memory);
  defined(&equations.switches, self, above, g);
}

/* Finds the bounds of the piece on which a number lies, which is below the upper one. */
static inline void piece(const canopy_cell *cell, double x, double *low, double *high) {
  if (cell->points == NULL) {
    *low = floor(x);
    *high = fmax(*low + 1.0, nextafter(x, INFINITY));
    return;
  }
  const int32_t last = cell->n - 1;
  const int32_t i = canopy_below(cell->points, cell->n, x);
  const double end = cell->clamp ? cell->points[last] : nextafter(cell->points[last], INFINITY); /* it is defined there */
  *low = -DBL_MAX;
  *high = cell->points[0];
  if (x >= end) {
    *low = end;
    *high = DBL_MAX;
  } else if (i >= last - 1) {
    *low = cell->points[last - 1];
    *high = end;
  } else if (i >= 0) {
    *low = cell->points[i];
    *high = cell->points[i + 1];
  }
}

/* Sets the bounds of a cell to those of the piece on which the argument lies now, and returns whether they have changed.
 * An argument that is not finite changes nothing. */
static inline bool update(const canopy_cell *cell, const double *s, const bool *above, double *bounds) {
  const double x = value_of(&cell->argument, s, above);
  const double before[2] = {bounds[0], bounds[1]};
  if (!isfinite(x) || (bounds[0] <= x && x < bounds[1])) {
    return false;
  }
  piece(cell, x, &bounds[0], &bounds[1]);
  return before[0] != bounds[0] || before[1] != bounds[1];
}

/* Events occur together: the values that they give are those before all of them. Of several for one state, that of the
 * first event counts. */
static bool react(void *self, double t, double *y, const double *commands, const bool *above, double *memory, bool settled) {
  double *s = self;
  double *held = &s[memory_at()];
  bool changed = false;
  bool fired = false;
  give(s, t, y, commands, memory);
  (void)evaluate(&equations.all, s, above, NULL);
  for (uint16_t i = 0; i < equations.cells_n; i++) {
    changed = update(&equations.cells[i], s, above, &held[equations.events_n + 2U * (size_t)i]) || changed;
  }
  for (uint16_t i = equations.events_n; settled && !changed && i > 0U; i--) { /* first the equations must be right */
    const canopy_event *e = &equations.events[i - 1U];
    const bool false_before = held[i - 1U] == 0.0;
    held[i - 1U] = value_of(&e->condition, s, above);
    for (uint16_t k = e->n; false_before && held[i - 1U] != 0.0 && k > 0U; k--) {
      y[e->resets[k - 1U].state] = e->resets[k - 1U].value(s);
      fired = true;
    }
  }
  copy(memory, held, memory_n());
  return changed || fired;
}

#endif
