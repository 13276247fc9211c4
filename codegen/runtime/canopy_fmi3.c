/* The functions of FMI 3.0.2, with its types. */
#include "canopy_fmu.h"

#define VERSION "fmi3"
#if defined(FMI3_FUNCTION_PREFIX) && !defined(FMI3_OVERRIDE_FUNCTION_PREFIX)
#define PASTED(prefix, name) prefix##name
#define PREFIXED(prefix, name) PASTED(prefix, name)
#define FMI(name) PREFIXED(FMI3_FUNCTION_PREFIX, fmi3##name)
#else
#define FMI(name) fmi3##name
#endif

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } status_code;
typedef enum { NOT_YET_KNOWN, UNCHANGED, CHANGED } interval_qualifier;
typedef enum { INDEPENDENT, CONSTANT, FIXED, TUNABLE, DISCRETE, DEPENDENT } dependency_kind;
typedef bool boolean;
typedef uint8_t byte;
#define GET_STATE GetFMUState
#define SET_STATE SetFMUState
#define FREE_STATE FreeFMUState
#define STATE_SIZE SerializedFMUStateSize
#define SERIALIZE SerializeFMUState
#define DESERIALIZE DeserializeFMUState
#define DERIVATIVES GetContinuousStateDerivatives
typedef void (*log_message)(void *environment, status_code status, const char *category, const char *message);
typedef void (*intermediate_update)(void *environment, double t, bool set, bool get, bool finished, bool can_return,
                                    bool *early, double *early_time);
typedef void (*clock_update)(void *environment);
typedef void (*preemption)(void);

/* The environment of an instance. */
typedef struct {
  void *environment;
  log_message log;
} listener;

#include "canopy_fmi.c"

static void log_error(void *environment, const char *name, const char *text) {
  const listener *l = environment;
  UNUSED(name);
  l->log(l->environment, ERROR, "logStatusError", text);
}

VISIBLE const char *FMI(GetVersion)(void) { return "3.0"; }

VISIBLE void FMI(FreeInstance)(component c) {
  canopy_fmu *m = c;
  if (m != NULL) {
    free(m->environment);
  }
  canopy_fmu_free(m);
}

static component instantiate(const char *name, const char *token, void *environment, log_message log) {
  if (name == NULL || token == NULL || strcmp(token, CANOPY_MODEL.token) != 0) {
    if (log != NULL) {
      log(environment, ERROR, "logStatusError", "the instantiationToken is not that of this FMU");
    }
    return NULL;
  }
  canopy_fmu *m = canopy_fmu_new(&CANOPY_MODEL, name);
  listener *l = calloc(1U, sizeof *l);
  if (m == NULL || l == NULL) {
    canopy_fmu_free(m);
    free(l);
    return NULL;
  }
  *l = (listener){environment, log};
  m->environment = l;
  m->log = log != NULL ? log_error : NULL;
  return m;
}

VISIBLE component FMI(InstantiateModelExchange)(const char *name, const char *token, const char *resources, bool visible,
                                                 bool logging, void *environment, log_message log) {
  UNUSED(resources);
  UNUSED(visible);
  UNUSED(logging);
  return instantiate(name, token, environment, log);
}

VISIBLE component FMI(InstantiateCoSimulation)(const char *name, const char *token, const char *resources, bool visible,
                                                bool logging, bool event_mode, bool early_return,
                                                const reference intermediate[], size_t intermediates, void *environment,
                                                log_message log, intermediate_update intermediate_called) {
  UNUSED(resources);
  UNUSED(visible);
  UNUSED(logging);
  UNUSED(intermediate);
  UNUSED(intermediates);
  UNUSED(intermediate_called);
  canopy_fmu *m = instantiate(name, token, environment, log);
  if (m != NULL) {
    m->co_simulation = true;
    m->event_mode = event_mode;
    m->stops = event_mode && early_return;
  }
  return m;
}

VISIBLE component FMI(InstantiateScheduledExecution)(const char *name, const char *token, const char *resources,
                                                      bool visible, bool logging, void *environment, log_message log,
                                                      clock_update clock, preemption lock, preemption unlock) {
  UNUSED(name);
  UNUSED(token);
  UNUSED(resources);
  UNUSED(visible);
  UNUSED(logging);
  UNUSED(environment);
  UNUSED(log);
  UNUSED(clock);
  UNUSED(lock);
  UNUSED(unlock);
  return NULL;
}

FUNCTION(EnterInitializationMode)(component c, bool has_tolerance, double tolerance, double start, bool has_stop,
                                  double stop) {
  AT(CANOPY_INSTANTIATED, EnterInitializationMode)
  UNUSED(has_stop);
  UNUSED(stop);
  m->v[0] = start;
  if (has_tolerance && tolerance > 0.0) {
    m->kept->tolerance = tolerance;
  }
  m->kept->mode = CANOPY_INITIALIZING;
  return OK;
}

FUNCTION(ExitInitializationMode)(component c) {
  AT(CANOPY_INITIALIZING, ExitInitializationMode)
  if (!canopy_fmu_initialize(m)) {
    return ERROR;
  }
  m->kept->mode = m->co_simulation && !m->event_mode ? CANOPY_STEPPING : CANOPY_IN_EVENT;
  return OK;
}

#define VALUES(name, type, is)                                                                             \
  FUNCTION(Get##name)(component c, const reference vr[], size_t n, type value[], size_t values) {           \
    AT(ANY, Get##name)                                                                               \
    if (values != n) {                                                                                     \
      return status(canopy_fmu_fails(m, SAYS(Get##name) ": each variable has one value"));                 \
    }                                                                                                      \
    for (size_t i = 0; i < n; i++) {                                                                       \
      double x = 0.0;                                                                                      \
      if (!canopy_fmu_get(m, vr[i], is, &x)) {                                                             \
        return ERROR;                                                                                      \
      }                                                                                                    \
      value[i] = (type)x;                                                                                  \
    }                                                                                                      \
    return OK;                                                                                             \
  }                                                                                                        \
  FUNCTION(Set##name)(component c, const reference vr[], size_t n, const type value[], size_t values) {     \
    AT(ANY, Set##name)                                                                               \
    bool fine = values == n || canopy_fmu_fails(m, SAYS(Set##name) ": each variable has one value");       \
    for (size_t i = 0; fine && i < n; i++) {                                                               \
      fine = canopy_fmu_set(m, vr[i], is, (double)value[i]);                                               \
    }                                                                                                      \
    return status(fine);                                                                                   \
  }

VALUES(Float64, double, CANOPY_REAL)
VALUES(Int64, int64_t, CANOPY_INTEGER) /* as which enumerations travel */
VALUES(Boolean, bool, CANOPY_BOOLEAN)

/* Types that no variable has. */
#define NO_VALUES(name, type)                                                                           \
  FUNCTION(Get##name)(component c, const reference vr[], size_t n, type value[], size_t values) {       \
    UNUSED(vr);                                                                                         \
    UNUSED(value);                                                                                      \
    return status(c != NULL && n == 0U && values == 0U);                                                \
  }                                                                                                     \
  FUNCTION(Set##name)(component c, const reference vr[], size_t n, const type value[], size_t values) { \
    UNUSED(vr);                                                                                         \
    UNUSED(value);                                                                                      \
    return status(c != NULL && n == 0U && values == 0U);                                                \
  }

NO_VALUES(Float32, float)
NO_VALUES(Int8, int8_t)
NO_VALUES(UInt8, uint8_t)
NO_VALUES(Int16, int16_t)
NO_VALUES(UInt16, uint16_t)
NO_VALUES(Int32, int32_t)
NO_VALUES(UInt32, uint32_t)
NO_VALUES(UInt64, uint64_t)
typedef const char *text;
NO_VALUES(String, text)

typedef const uint8_t *binary;

FUNCTION(GetBinary)(component c, const reference vr[], size_t n, size_t sizes[], binary value[], size_t values) {
  UNUSED(vr);
  UNUSED(sizes);
  UNUSED(value);
  return status(c != NULL && n == 0U && values == 0U);
}

FUNCTION(SetBinary)(component c, const reference vr[], size_t n, const size_t sizes[], const binary value[],
                    size_t values) {
  UNUSED(vr);
  UNUSED(sizes);
  UNUSED(value);
  return status(c != NULL && n == 0U && values == 0U);
}

FUNCTION(GetClock)(component c, const reference vr[], size_t n, bool value[]) {
  UNUSED(vr);
  UNUSED(value);
  return status(c != NULL && n == 0U);
}

FUNCTION(SetClock)(component c, const reference vr[], size_t n, const bool value[]) {
  UNUSED(vr);
  UNUSED(value);
  return status(c != NULL && n == 0U);
}

/* What the description does not offer: the arguments do not matter, and the caller removes them. */
#define REFUSED(name) \
  VISIBLE status_code FMI(name)(void) { return ERROR; }

REFUSED(GetNumberOfVariableDependencies)
REFUSED(GetVariableDependencies)
REFUSED(GetDirectionalDerivative)
REFUSED(GetAdjointDerivative)
REFUSED(EnterConfigurationMode)
REFUSED(ExitConfigurationMode)
REFUSED(GetIntervalDecimal)
REFUSED(GetIntervalFraction)
REFUSED(GetShiftDecimal)
REFUSED(GetShiftFraction)
REFUSED(SetIntervalDecimal)
REFUSED(SetIntervalFraction)
REFUSED(SetShiftDecimal)
REFUSED(SetShiftFraction)
REFUSED(GetOutputDerivatives)
REFUSED(ActivateModelPartition)

FUNCTION(EvaluateDiscreteStates)(component c) {
  AT(CANOPY_INITIALIZING | CANOPY_IN_EVENT, EvaluateDiscreteStates)
  canopy_fmu_evaluate(m, CANOPY_ALL);
  return OK;
}

FUNCTION(UpdateDiscreteStates)(component c, bool *needed, bool *terminate, bool *nominals_changed, bool *values_changed,
                               bool *next_defined, double *next) {
  AT(CANOPY_IN_EVENT, UpdateDiscreteStates)
  if (!canopy_fmu_event(m, values_changed)) {
    return ERROR;
  }
  *needed = false;
  *terminate = false;
  *nominals_changed = false;
  *next_defined = !isinf(m->kept->next);
  *next = *next_defined ? m->kept->next : 0.0;
  return OK;
}

FUNCTION(EnterStepMode)(component c) {
  AT(CANOPY_IN_EVENT, EnterStepMode)
  m->kept->mode = CANOPY_STEPPING;
  return OK;
}

FUNCTION(GetNumberOfEventIndicators)(component c, size_t *n) {
  AT(ANY, GetNumberOfEventIndicators)
  *n = m->model->indicators_n;
  return OK;
}

FUNCTION(GetNumberOfContinuousStates)(component c, size_t *n) {
  AT(ANY, GetNumberOfContinuousStates)
  *n = m->model->states_n;
  return OK;
}

FUNCTION(DoStep)(component c, double t, double h, bool no_way_back, bool *event, bool *terminate, bool *early,
                 double *last) {
  AT(CANOPY_STEPPING, DoStep)
  UNUSED(no_way_back);
  m->v[0] = t;
  *terminate = false;
  const bool fine = canopy_fmu_advance(m, t + h, event);
  *early = *event && m->v[0] < t + h;
  *last = m->v[0];
  return status(fine);
}
