/* An FMU, apart from the names of its functions: canopy_fmi2.c and canopy_fmi3.c have those of FMI 2.0 and 3.0, and a
 * model is a plan, a tree or a vehicle. */
#ifndef CANOPY_FMU_H
#define CANOPY_FMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { CANOPY_REAL, CANOPY_INTEGER, CANOPY_BOOLEAN } canopy_type;

/* When a variable may be set. */
typedef enum {
  CANOPY_NEVER,
  CANOPY_AT_START, /* before the end of initialization: a parameter, a state */
  CANOPY_AT_EVENTS, /* and in event mode and between steps: a tunable parameter, a discrete input */
  CANOPY_ALWAYS    /* a continuous input */
} canopy_settable;

/* Variable. Its number is its value reference; its value is kept as a double. */
typedef struct {
  uint8_t type;
  uint8_t settable;
  double start;
} canopy_variable;

/* Parts of the values that a model evaluates. */
enum { CANOPY_RATES = 1, CANOPY_OUTPUTS = 2, CANOPY_INDICATORS = 4, CANOPY_ALL = 7 };

/* What a model is. All its values are v, by value reference; 0 is the time [s]. */
typedef struct {
  const char *token;
  const canopy_variable *variables;
  uint32_t n;
  const uint32_t *states; /* value references of the continuous ones */
  uint32_t derivatives;   /* what is added to these for the derivatives */
  uint32_t indicators;    /* value reference of the first one */
  uint16_t states_n;
  uint16_t indicators_n;
  const double *nominals; /* of the states */
  size_t (*size)(void);   /* of its own state */

  /* Gives its own state, and the values of which others are the start, the values that follow from parameters. */
  bool (*begin)(void *self, double *v);
  /* Settles an instant. It finds the time of the next one, if there is one. */
  const char *(*event)(void *self, double *v, double *next); /* NULL: fine; else what is wrong */
  /* Evaluates what changes between events: at least the parts that are asked for. */
  void (*evaluate)(void *self, double *v, unsigned parts);
  /* Lets pointers of its own state point to itself and v; v NULL: to nothing. */
  void (*attach)(void *self, double *v);
} canopy_model;

typedef enum {
  CANOPY_INSTANTIATED = 1,
  CANOPY_INITIALIZING = 2,
  CANOPY_IN_EVENT = 4,
  CANOPY_CONTINUOUS = 8,
  CANOPY_STEPPING = 16,
  CANOPY_TERMINATED = 32,
  CANOPY_FAULTY = 64
} canopy_mode;

/* What changes while it runs, apart from v, the sides and the model's own state, which follow it in memory. */
typedef struct {
  int32_t mode;
  uint8_t stale; /* parts of v that are to be evaluated */
  bool begun;    /* the model has begun, with the values that were set */
  bool news;     /* something was set since the last event */
  double next;   /* time of the next event [s]; INFINITY: none */
  double tolerance;
  double step;   /* of the integrator [s] */
} canopy_kept;

/* Instance. */
typedef struct {
  const canopy_model *model;
  void (*log)(void *environment, const char *name, const char *text); /* of an error */
  void *environment;
  char *name;
  bool co_simulation;
  bool event_mode;   /* co-simulation has an event mode, */
  bool stops;        /* and returns at each event */
  double *work;      /* of the integrator: CANOPY_WORK vectors of states */
  canopy_kept *kept; /* the beginning of what can be copied, */
  size_t size;       /* of this size: */
  double *v;         /* the values, */
  double *sides;     /* the event indicators at the last event, */
  void *self;        /* and the model's own state */
} canopy_fmu;

/* Creates an instance; NULL: no memory. */
canopy_fmu *canopy_fmu_new(const canopy_model *model, const char *name);
void canopy_fmu_free(canopy_fmu *m);
void canopy_fmu_reset(canopy_fmu *m);

/* Reports whether the mode is one of these, and says so if it is not. */
bool canopy_fmu_allows(canopy_fmu *m, unsigned modes, const char *function);
bool canopy_fmu_fails(canopy_fmu *m, const char *text); /* returns false */

/* Values, as doubles; false: there is no such variable of this type, or it may not be set now. */
bool canopy_fmu_get(canopy_fmu *m, uint32_t reference, canopy_type type, double *value);
bool canopy_fmu_set(canopy_fmu *m, uint32_t reference, canopy_type type, double value);

/* Begins at the start, unless it has done so with the present values. */
bool canopy_fmu_initialize(canopy_fmu *m);

/* Writes the continuous states or, with an offset, their derivatives, to x. */
void canopy_fmu_states(const canopy_fmu *m, uint32_t offset, double *x);

/* Moves to a time and states. */
void canopy_fmu_move(canopy_fmu *m, double t, const double *x);

/* Settles the present instant. */
bool canopy_fmu_event(canopy_fmu *m, bool *states_changed);

/* Brings parts of the values up to date. */
void canopy_fmu_evaluate(canopy_fmu *m, unsigned parts);

/* Co-simulation: simulates until a time, or an event if it stops there. */
bool canopy_fmu_advance(canopy_fmu *m, double until, bool *stopped);

/* Copies of the state as bytes, of the instance's size, without pointers. */
void canopy_fmu_save(const canopy_fmu *m, void *bytes);
bool canopy_fmu_restore(canopy_fmu *m, const void *bytes, size_t size);

#endif
