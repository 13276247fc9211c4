/* What the functions of FMI 2.0 and 3.0 have in common. The file of a version includes it before its own functions, with
 * FMI(name) as the name of a function, the types status_code, boolean and byte, and names that differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define VISIBLE __declspec(dllexport)
#elif defined(__GNUC__)
#define VISIBLE __attribute__((visibility("default")))
#else
#define VISIBLE
#endif
#define FUNCTION(name) VISIBLE status_code FMI(name)
#define QUOTED(name) #name
#define SAYS(name) VERSION QUOTED(name)
#define UNUSED(x) (void)(x)

#define AT(modes, name)                                       \
  canopy_fmu *m = c;                                          \
  if (m == NULL || !canopy_fmu_allows(m, modes, SAYS(name))) { \
    return ERROR;                                             \
  }

typedef void *component;
typedef uint32_t reference;

enum {
  STARTED = CANOPY_INITIALIZING | CANOPY_IN_EVENT | CANOPY_CONTINUOUS | CANOPY_STEPPING | CANOPY_TERMINATED,
  ANY = STARTED | CANOPY_INSTANTIATED
};

static status_code status(bool fine) { return fine ? OK : ERROR; }

/* There is nothing to log but errors, which are always logged. */
FUNCTION(SetDebugLogging)(component c, boolean on, size_t n, const char *const categories[]) {
  UNUSED(on);
  UNUSED(n);
  UNUSED(categories);
  return status(c != NULL);
}

FUNCTION(Terminate)(component c) {
  AT(STARTED, Terminate)
  m->kept->mode = CANOPY_TERMINATED;
  return OK;
}

FUNCTION(Reset)(component c) {
  AT(ANY | CANOPY_FAULTY, Reset)
  canopy_fmu_reset(m);
  return OK;
}

FUNCTION(GET_STATE)(component c, void **state) {
  AT(ANY, GET_STATE)
  if (*state == NULL) {
    *state = malloc(m->size);
  }
  if (*state == NULL) {
    return ERROR;
  }
  canopy_fmu_save(m, *state);
  return OK;
}

FUNCTION(SET_STATE)(component c, void *state) {
  AT(ANY | CANOPY_FAULTY, SET_STATE)
  return status(state != NULL && canopy_fmu_restore(m, state, m->size));
}

FUNCTION(FREE_STATE)(component c, void **state) {
  if (c == NULL || state == NULL) {
    return ERROR;
  }
  free(*state);
  *state = NULL;
  return OK;
}

FUNCTION(STATE_SIZE)(component c, void *state, size_t *size) {
  AT(ANY, STATE_SIZE)
  *size = m->size;
  return status(state != NULL);
}

FUNCTION(SERIALIZE)(component c, void *state, byte bytes[], size_t size) {
  AT(ANY, SERIALIZE)
  if (state == NULL || size < m->size) {
    return ERROR;
  }
  memcpy(bytes, state, m->size);
  return OK;
}

FUNCTION(DESERIALIZE)(component c, const byte bytes[], size_t size, void **state) {
  AT(ANY, DESERIALIZE)
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

FUNCTION(EnterEventMode)(component c) {
  AT(CANOPY_CONTINUOUS | CANOPY_STEPPING | CANOPY_IN_EVENT, EnterEventMode)
  m->kept->mode = CANOPY_IN_EVENT;
  return OK;
}

FUNCTION(EnterContinuousTimeMode)(component c) {
  AT(CANOPY_IN_EVENT, EnterContinuousTimeMode)
  m->kept->mode = CANOPY_CONTINUOUS;
  return OK;
}

FUNCTION(CompletedIntegratorStep)(component c, boolean no_way_back, boolean *enter_event_mode, boolean *terminate) {
  AT(CANOPY_CONTINUOUS, CompletedIntegratorStep)
  UNUSED(no_way_back);
  *enter_event_mode = 0;
  *terminate = 0;
  return OK;
}

FUNCTION(SetTime)(component c, double t) {
  AT(CANOPY_CONTINUOUS | CANOPY_IN_EVENT, SetTime)
  m->v[0] = t;
  m->kept->stale = CANOPY_ALL;
  return OK;
}

FUNCTION(SetContinuousStates)(component c, const double x[], size_t n) {
  AT(CANOPY_CONTINUOUS, SetContinuousStates)
  if (n != m->model->states_n) {
    return status(canopy_fmu_fails(m, SAYS(SetContinuousStates) ": another number of states"));
  }
  canopy_fmu_move(m, m->v[0], x);
  return OK;
}

FUNCTION(GetNominalsOfContinuousStates)(component c, double x[], size_t n) {
  AT(ANY, GetNominalsOfContinuousStates)
  for (size_t i = 0; i < n && i < m->model->states_n; i++) {
    x[i] = m->model->nominals[i];
  }
  return status(n == m->model->states_n);
}

#define PART(name, parts, count, get)                                                      \
  FUNCTION(name)(component c, double x[], size_t n) {                               \
    AT(STARTED, name)                                                       \
    if (n != m->model->count) {                                                     \
      return status(canopy_fmu_fails(m, SAYS(name) ": another number of values")); \
    }                                                                               \
    canopy_fmu_evaluate(m, parts);                                                  \
    get;                                                                            \
    return OK;                                                                      \
  }

PART(GetContinuousStates, 0U, states_n, canopy_fmu_states(m, 0, x))
PART(DERIVATIVES, CANOPY_RATES, states_n, canopy_fmu_states(m, m->model->derivatives, x))
PART(GetEventIndicators, CANOPY_INDICATORS, indicators_n, memcpy(x, &m->v[m->model->indicators], n * sizeof(double)))
