/* The functions of FMI 2.0.5, with its types. */
#include "canopy_fmu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(FMI2_FUNCTION_PREFIX) && !defined(FMI2_OVERRIDE_FUNCTION_PREFIX)
#define CANOPY_PASTE(prefix, name) prefix##name
#define CANOPY_PREFIXED(prefix, name) CANOPY_PASTE(prefix, name)
#define FMI(name) CANOPY_PREFIXED(FMI2_FUNCTION_PREFIX, fmi2##name)
#define EXPORTED
#else
#define FMI(name) fmi2##name
#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif
#endif

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING } fmi2_status;
typedef enum { MODEL_EXCHANGE, CO_SIMULATION } fmi2_kind;
typedef enum { DO_STEP_STATUS, PENDING_STATUS, LAST_SUCCESSFUL_TIME, TERMINATED } fmi2_status_kind;
typedef void *component;
typedef uint32_t reference;
typedef int boolean;

typedef struct {
  void (*logger)(void *environment, const char *name, fmi2_status status, const char *category, const char *message, ...);
  void *(*allocate)(size_t n, size_t size);
  void (*release)(void *memory);
  void (*step_finished)(void *environment, fmi2_status status);
  void *environment;
} callbacks;

typedef struct {
  boolean needed;
  boolean terminate;
  boolean nominals_changed;
  boolean values_changed;
  boolean next_defined;
  double next;
} event_info;

#define AT(modes, name)                                 \
  canopy_fmu *m = c;                                    \
  if (m == NULL || !canopy_fmu_allows(m, modes, name)) { \
    return ERROR;                                       \
  }

#define UNUSED(x) (void)(x)

enum {
  STARTED = CANOPY_INITIALIZING | CANOPY_IN_EVENT | CANOPY_CONTINUOUS | CANOPY_STEPPING | CANOPY_TERMINATED,
  ANY = STARTED | CANOPY_INSTANTIATED
};

static fmi2_status status(bool fine) { return fine ? OK : ERROR; }

static void log_error(void *environment, const char *name, const char *text) {
  const callbacks *functions = environment;
  functions->logger(functions->environment, name, ERROR, "logStatusError", "%s", text);
}

#define FUNCTION(name) EXPORTED fmi2_status FMI(name)

EXPORTED const char *FMI(GetTypesPlatform)(void) { return "default"; }

EXPORTED const char *FMI(GetVersion)(void) { return "2.0"; }

/* There is nothing to log but errors, which are always logged. */
FUNCTION(SetDebugLogging)(component c, boolean on, size_t n, const char *const categories[]) {
  UNUSED(on);
  UNUSED(n);
  UNUSED(categories);
  return status(c != NULL);
}

EXPORTED component FMI(Instantiate)(const char *name, fmi2_kind kind, const char *guid, const char *resources,
                                    const callbacks *functions, boolean visible, boolean logging) {
  UNUSED(resources);
  UNUSED(visible);
  UNUSED(logging);
  const bool logs = functions != NULL && functions->logger != NULL;
  if (name == NULL || guid == NULL || strcmp(guid, CANOPY_MODEL.token) != 0) {
    if (logs) {
      functions->logger(functions->environment, name, ERROR, "logStatusError", "the guid is not that of this FMU");
    }
    return NULL;
  }
  canopy_fmu *m = canopy_fmu_new(&CANOPY_MODEL, name);
  if (m != NULL) {
    m->co_simulation = kind == CO_SIMULATION;
    m->log = logs ? log_error : NULL;
    memcpy(&m->environment, &functions, sizeof functions); /* it must outlive the instance */
  }
  return m;
}

EXPORTED void FMI(FreeInstance)(component c) { canopy_fmu_free(c); }

FUNCTION(SetupExperiment)(component c, boolean has_tolerance, double tolerance, double start, boolean has_stop,
                          double stop) {
  AT(CANOPY_INSTANTIATED, "fmi2SetupExperiment")
  UNUSED(has_stop);
  UNUSED(stop);
  m->v[0] = start;
  if (has_tolerance != 0 && tolerance > 0.0) {
    m->kept->tolerance = tolerance;
  }
  return OK;
}

FUNCTION(EnterInitializationMode)(component c) {
  AT(CANOPY_INSTANTIATED, "fmi2EnterInitializationMode")
  m->kept->mode = CANOPY_INITIALIZING;
  return OK;
}

FUNCTION(ExitInitializationMode)(component c) {
  AT(CANOPY_INITIALIZING, "fmi2ExitInitializationMode")
  if (!canopy_fmu_initialize(m)) {
    return ERROR;
  }
  m->kept->mode = m->co_simulation ? CANOPY_STEPPING : CANOPY_IN_EVENT;
  return OK;
}

FUNCTION(Terminate)(component c) {
  AT(STARTED, "fmi2Terminate")
  m->kept->mode = CANOPY_TERMINATED;
  return OK;
}

FUNCTION(Reset)(component c) {
  AT(ANY | CANOPY_FAULTY, "fmi2Reset")
  canopy_fmu_reset(m);
  return OK;
}

#define VALUES(name, type, is)                                                           \
  FUNCTION(Get##name)(component c, const reference vr[], size_t n, type value[]) {       \
    AT(ANY, "fmi2Get" #name)                                                             \
    for (size_t i = 0; i < n; i++) {                                                     \
      double x = 0.0;                                                                    \
      if (!canopy_fmu_get(m, vr[i], is, &x)) {                                           \
        return ERROR;                                                                    \
      }                                                                                  \
      value[i] = (type)x;                                                                \
    }                                                                                    \
    return OK;                                                                           \
  }                                                                                      \
  FUNCTION(Set##name)(component c, const reference vr[], size_t n, const type value[]) { \
    AT(ANY, "fmi2Set" #name)                                                             \
    bool fine = true;                                                                    \
    for (size_t i = 0; fine && i < n; i++) {                                             \
      fine = canopy_fmu_set(m, vr[i], is, (double)value[i]);                             \
    }                                                                                    \
    return status(fine);                                                                 \
  }

VALUES(Real, double, CANOPY_REAL)
VALUES(Integer, int, CANOPY_INTEGER)
VALUES(Boolean, boolean, CANOPY_BOOLEAN)

FUNCTION(GetString)(component c, const reference vr[], size_t n, const char *value[]) {
  UNUSED(vr);
  UNUSED(value);
  return status(c != NULL && n == 0U);
}

FUNCTION(SetString)(component c, const reference vr[], size_t n, const char *const value[]) {
  UNUSED(vr);
  UNUSED(value);
  return status(c != NULL && n == 0U);
}

FUNCTION(GetFMUstate)(component c, void **state) {
  AT(ANY, "fmi2GetFMUstate")
  if (*state == NULL) {
    *state = malloc(m->size);
  }
  if (*state == NULL) {
    return ERROR;
  }
  canopy_fmu_save(m, *state);
  return OK;
}

FUNCTION(SetFMUstate)(component c, void *state) {
  AT(ANY | CANOPY_FAULTY, "fmi2SetFMUstate")
  return status(state != NULL && canopy_fmu_restore(m, state, m->size));
}

FUNCTION(FreeFMUstate)(component c, void **state) {
  if (c == NULL || state == NULL) {
    return ERROR;
  }
  free(*state);
  *state = NULL;
  return OK;
}

FUNCTION(SerializedFMUstateSize)(component c, void *state, size_t *size) {
  AT(ANY, "fmi2SerializedFMUstateSize")
  *size = m->size;
  return status(state != NULL);
}

FUNCTION(SerializeFMUstate)(component c, void *state, char bytes[], size_t size) {
  AT(ANY, "fmi2SerializeFMUstate")
  if (state == NULL || size < m->size) {
    return ERROR;
  }
  memcpy(bytes, state, m->size);
  return OK;
}

FUNCTION(DeSerializeFMUstate)(component c, const char bytes[], size_t size, void **state) {
  AT(ANY, "fmi2DeSerializeFMUstate")
  if (size < m->size) {
    return status(canopy_fmu_fails(m, "a state of another FMU"));
  }
  *state = malloc(m->size);
  if (*state == NULL) {
    return ERROR;
  }
  memcpy(*state, bytes, m->size);
  return OK;
}

FUNCTION(GetDirectionalDerivative)(component c, const reference unknown[], size_t unknowns, const reference known[],
                                   size_t knowns, const double seed[], double sensitivity[]) {
  UNUSED(c);
  UNUSED(unknown);
  UNUSED(unknowns);
  UNUSED(known);
  UNUSED(knowns);
  UNUSED(seed);
  UNUSED(sensitivity);
  return ERROR;
}

FUNCTION(EnterEventMode)(component c) {
  AT(CANOPY_CONTINUOUS | CANOPY_IN_EVENT, "fmi2EnterEventMode")
  m->kept->mode = CANOPY_IN_EVENT;
  return OK;
}

FUNCTION(NewDiscreteStates)(component c, event_info *info) {
  AT(CANOPY_IN_EVENT, "fmi2NewDiscreteStates")
  bool changed = false;
  if (!canopy_fmu_event(m, &changed)) {
    return ERROR;
  }
  const bool next = !isinf(m->kept->next);
  *info = (event_info){0, 0, 0, changed ? 1 : 0, next ? 1 : 0, next ? m->kept->next : 0.0};
  return OK;
}

FUNCTION(EnterContinuousTimeMode)(component c) {
  AT(CANOPY_IN_EVENT, "fmi2EnterContinuousTimeMode")
  m->kept->mode = CANOPY_CONTINUOUS;
  return OK;
}

FUNCTION(CompletedIntegratorStep)(component c, boolean no_way_back, boolean *enter_event_mode, boolean *terminate) {
  AT(CANOPY_CONTINUOUS, "fmi2CompletedIntegratorStep")
  UNUSED(no_way_back);
  *enter_event_mode = 0;
  *terminate = 0;
  return OK;
}

FUNCTION(SetTime)(component c, double t) {
  AT(CANOPY_CONTINUOUS | CANOPY_IN_EVENT, "fmi2SetTime")
  m->v[0] = t;
  m->kept->stale = CANOPY_ALL;
  return OK;
}

FUNCTION(SetContinuousStates)(component c, const double x[], size_t n) {
  AT(CANOPY_CONTINUOUS, "fmi2SetContinuousStates")
  if (n != m->model->states_n) {
    return status(canopy_fmu_fails(m, "fmi2SetContinuousStates: another number of states"));
  }
  canopy_fmu_move(m, m->v[0], x);
  return OK;
}

#define PART(name, parts, count, get)                                                      \
  FUNCTION(name)(component c, double x[], size_t n) {                               \
    AT(STARTED, "fmi2" #name)                                                       \
    if (n != m->model->count) {                                                     \
      return status(canopy_fmu_fails(m, "fmi2" #name ": another number of values")); \
    }                                                                               \
    canopy_fmu_evaluate(m, parts);                                                  \
    get;                                                                            \
    return OK;                                                                      \
  }

PART(GetContinuousStates, 0U, states_n, canopy_fmu_states(m, 0, x))
PART(GetDerivatives, CANOPY_RATES, states_n, canopy_fmu_states(m, m->model->derivatives, x))
PART(GetEventIndicators, CANOPY_INDICATORS, indicators_n, memcpy(x, &m->v[m->model->indicators], n * sizeof(double)))

FUNCTION(GetNominalsOfContinuousStates)(component c, double x[], size_t n) {
  AT(ANY, "fmi2GetNominalsOfContinuousStates")
  for (size_t i = 0; i < n && i < m->model->states_n; i++) {
    x[i] = m->model->nominals[i];
  }
  return status(n == m->model->states_n);
}

FUNCTION(SetRealInputDerivatives)(component c, const reference vr[], size_t n, const int order[], const double value[]) {
  UNUSED(vr);
  UNUSED(order);
  UNUSED(value);
  return status(c != NULL && n == 0U);
}

FUNCTION(GetRealOutputDerivatives)(component c, const reference vr[], size_t n, const int order[], double value[]) {
  UNUSED(vr);
  UNUSED(order);
  UNUSED(value);
  return status(c != NULL && n == 0U);
}

FUNCTION(DoStep)(component c, double t, double h, boolean no_way_back) {
  AT(CANOPY_STEPPING, "fmi2DoStep")
  UNUSED(no_way_back);
  bool stopped = false;
  m->v[0] = t;
  return status(canopy_fmu_advance(m, t + h, &stopped));
}

FUNCTION(CancelStep)(component c) {
  UNUSED(c);
  return ERROR;
}

#define STATUS(name, type)                                                   \
  FUNCTION(name)(component c, const fmi2_status_kind kind, type *value) {    \
    UNUSED(c);                                                               \
    UNUSED(kind);                                                            \
    UNUSED(value);                                                           \
    return DISCARD;                                                          \
  }

STATUS(GetStatus, fmi2_status)
STATUS(GetIntegerStatus, int)
STATUS(GetStringStatus, const char *)

FUNCTION(GetRealStatus)(component c, const fmi2_status_kind kind, double *value) {
  AT(ANY, "fmi2GetRealStatus")
  *value = m->v[0];
  return kind == LAST_SUCCESSFUL_TIME ? OK : DISCARD;
}

FUNCTION(GetBooleanStatus)(component c, const fmi2_status_kind kind, boolean *value) {
  UNUSED(c);
  *value = 0;
  return kind == TERMINATED ? OK : DISCARD;
}
