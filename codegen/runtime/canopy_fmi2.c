/* The functions of FMI 2.0.5, with its types. */
#include "canopy_fmu.h"

#define VERSION "fmi2"
#if defined(FMI2_FUNCTION_PREFIX) && !defined(FMI2_OVERRIDE_FUNCTION_PREFIX)
#define PASTED(prefix, name) prefix##name
#define PREFIXED(prefix, name) PASTED(prefix, name)
#define FMI(name) PREFIXED(FMI2_FUNCTION_PREFIX, fmi2##name)
#else
#define FMI(name) fmi2##name
#endif

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING } status_code;
typedef enum { MODEL_EXCHANGE, CO_SIMULATION } fmi2_kind;
typedef enum { DO_STEP_STATUS, PENDING_STATUS, LAST_SUCCESSFUL_TIME, TERMINATED } fmi2_status_kind;
typedef int boolean;
typedef char byte;
#define GET_STATE GetFMUstate
#define SET_STATE SetFMUstate
#define FREE_STATE FreeFMUstate
#define STATE_SIZE SerializedFMUstateSize
#define SERIALIZE SerializeFMUstate
#define DESERIALIZE DeSerializeFMUstate
#define DERIVATIVES GetDerivatives

typedef struct {
  void (*logger)(void *environment, const char *name, status_code status, const char *category, const char *message, ...);
  void *(*allocate)(size_t n, size_t size);
  void (*release)(void *memory);
  void (*step_finished)(void *environment, status_code status);
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

#include "canopy_fmi.c"

static void log_error(void *environment, const char *name, const char *text) {
  const callbacks *functions = environment;
  functions->logger(functions->environment, name, ERROR, "logStatusError", "%s", text);
}

VISIBLE const char *FMI(GetTypesPlatform)(void) { return "default"; }

VISIBLE const char *FMI(GetVersion)(void) { return "2.0"; }

VISIBLE component FMI(Instantiate)(const char *name, fmi2_kind kind, const char *guid, const char *resources,
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

VISIBLE void FMI(FreeInstance)(component c) { canopy_fmu_free(c); }

FUNCTION(SetupExperiment)(component c, boolean has_tolerance, double tolerance, double start, boolean has_stop,
                          double stop) {
  AT(CANOPY_INSTANTIATED, SetupExperiment)
  UNUSED(has_stop);
  UNUSED(stop);
  m->v[0] = start;
  if (has_tolerance != 0 && tolerance > 0.0) {
    m->kept->tolerance = tolerance;
  }
  return OK;
}

FUNCTION(EnterInitializationMode)(component c) {
  AT(CANOPY_INSTANTIATED, EnterInitializationMode)
  m->kept->mode = CANOPY_INITIALIZING;
  return OK;
}

FUNCTION(ExitInitializationMode)(component c) {
  AT(CANOPY_INITIALIZING, ExitInitializationMode)
  if (!canopy_fmu_initialize(m)) {
    return ERROR;
  }
  m->kept->mode = m->co_simulation ? CANOPY_STEPPING : CANOPY_IN_EVENT;
  return OK;
}

#define VALUES(name, type, is)                                                           \
  FUNCTION(Get##name)(component c, const reference vr[], size_t n, type value[]) {       \
    AT(ANY, Get##name)                                                             \
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
    AT(ANY, Set##name)                                                             \
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

FUNCTION(NewDiscreteStates)(component c, event_info *info) {
  AT(CANOPY_IN_EVENT, NewDiscreteStates)
  bool changed = false;
  if (!canopy_fmu_event(m, &changed)) {
    return ERROR;
  }
  const bool next = !isinf(m->kept->next);
  *info = (event_info){0, 0, 0, changed ? 1 : 0, next ? 1 : 0, next ? m->kept->next : 0.0};
  return OK;
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
  AT(CANOPY_STEPPING, DoStep)
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

STATUS(GetStatus, status_code)
STATUS(GetIntegerStatus, int)
STATUS(GetStringStatus, const char *)

FUNCTION(GetRealStatus)(component c, const fmi2_status_kind kind, double *value) {
  AT(ANY, GetRealStatus)
  *value = m->v[0];
  return kind == LAST_SUCCESSFUL_TIME ? OK : DISCARD;
}

FUNCTION(GetBooleanStatus)(component c, const fmi2_status_kind kind, boolean *value) {
  UNUSED(c);
  *value = 0;
  return kind == TERMINATED ? OK : DISCARD;
}
