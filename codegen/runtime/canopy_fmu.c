/* An FMU, apart from the names of its functions; see canopy_fmu.h. */
#include "canopy_fmu.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANOPY_STAGES = 7, CANOPY_WORK = CANOPY_STAGES + 3, CANOPY_ALIGNMENT = 16 };

static size_t aligned(size_t size) { return (size + CANOPY_ALIGNMENT - 1U) / CANOPY_ALIGNMENT * CANOPY_ALIGNMENT; }

bool canopy_fmu_fails(canopy_fmu *m, const char *text) {
  m->kept->mode = CANOPY_FAULTY;
  if (m->log != NULL) {
    m->log(m->environment, m->name, text);
  }
  return false;
}

bool canopy_fmu_allows(canopy_fmu *m, unsigned modes, const char *function) {
  char text[128];
  if (((unsigned)m->kept->mode & modes) != 0U) {
    return true;
  }
  (void)snprintf(text, sizeof text, "%s is not allowed now", function);
  return canopy_fmu_fails(m, text);
}

void canopy_fmu_reset(canopy_fmu *m) {
  memset(m->kept, 0, m->size);
  m->kept->mode = CANOPY_INSTANTIATED;
  m->kept->tolerance = 1e-6;
  m->kept->next = INFINITY;
  for (uint32_t i = 0; i < m->model->n; i++) {
    m->v[i] = m->model->variables[i].start;
  }
}

canopy_fmu *canopy_fmu_new(const canopy_model *model, const char *name) {
  canopy_fmu *m = calloc(1U, sizeof *m);
  if (m == NULL) {
    return NULL;
  }
  const size_t values = aligned(sizeof(canopy_kept));
  const size_t sides = values + aligned(model->n * sizeof(double));
  const size_t self = sides + aligned(model->indicators_n * sizeof(double));
  m->model = model;
  m->size = self + model->size();
  m->kept = calloc(1U, m->size);
  m->work = calloc(CANOPY_WORK * (size_t)model->states_n + 1U, sizeof(double));
  m->name = calloc(1U, strlen(name) + 1U);
  if (m->kept == NULL || m->work == NULL || m->name == NULL) {
    canopy_fmu_free(m);
    return NULL;
  }
  memcpy(m->name, name, strlen(name));
  m->v = (double *)(void *)((char *)m->kept + values);
  m->sides = (double *)(void *)((char *)m->kept + sides);
  m->self = (char *)m->kept + self;
  canopy_fmu_reset(m);
  return m;
}

void canopy_fmu_free(canopy_fmu *m) {
  if (m != NULL) {
    free(m->kept);
    free(m->work);
    free(m->name);
    free(m);
  }
}

bool canopy_fmu_get(canopy_fmu *m, uint32_t reference, canopy_type type, double *value) {
  if (reference >= m->model->n || m->model->variables[reference].type != (uint8_t)type) {
    return canopy_fmu_fails(m, "a value reference of no variable of this type");
  }
  if (m->kept->mode == CANOPY_INITIALIZING && !canopy_fmu_initialize(m)) {
    return false;
  }
  if (m->kept->mode != CANOPY_INSTANTIATED) {
    canopy_fmu_evaluate(m, CANOPY_ALL);
  }
  *value = m->v[reference];
  return true;
}

bool canopy_fmu_set(canopy_fmu *m, uint32_t reference, canopy_type type, double value) {
  if (reference >= m->model->n || m->model->variables[reference].type != (uint8_t)type) {
    return canopy_fmu_fails(m, "a value reference of no variable of this type");
  }
  const uint8_t settable = m->model->variables[reference].settable;
  const int32_t mode = m->kept->mode;
  const bool start = mode == CANOPY_INSTANTIATED || mode == CANOPY_INITIALIZING;
  const bool event = start || mode == CANOPY_IN_EVENT || mode == CANOPY_STEPPING;
  if (!(settable == CANOPY_ALWAYS || (settable == CANOPY_AT_EVENTS && event) || (settable == CANOPY_AT_START && start))) {
    return canopy_fmu_fails(m, "a variable that may not be set now");
  }
  m->kept->begun = m->kept->begun && !start;
  m->kept->news = m->kept->news || m->v[reference] != value;
  m->kept->stale = CANOPY_ALL;
  m->v[reference] = value;
  return true;
}

bool canopy_fmu_initialize(canopy_fmu *m) {
  bool changed = false;
  if (m->kept->begun) {
    return true;
  }
  if (!m->model->begin(m->self, m->v)) {
    return canopy_fmu_fails(m, "parameters that are impossible");
  }
  m->kept->begun = true;
  return canopy_fmu_event(m, &changed);
}

/* An indicator is never 0 for importers: zero is on the side below, as at and above zero is one side here. */
static double side(double z) { return z == 0.0 ? -DBL_MIN : z; }

void canopy_fmu_evaluate(canopy_fmu *m, unsigned parts) {
  if ((m->kept->stale & parts) != 0U) {
    m->model->evaluate(m->self, m->v, parts);
    for (uint16_t i = 0; (parts & CANOPY_INDICATORS) != 0U && i < m->model->indicators_n; i++) {
      m->v[m->model->indicators + i] = side(m->v[m->model->indicators + i]);
    }
    m->kept->stale = (uint8_t)(m->kept->stale & ~parts);
  }
}

void canopy_fmu_states(const canopy_fmu *m, uint32_t offset, double *x) {
  for (uint16_t i = 0; i < m->model->states_n; i++) {
    x[i] = m->v[m->model->states[i] + offset];
  }
}

void canopy_fmu_move(canopy_fmu *m, double t, const double *x) {
  m->v[0] = t;
  for (uint16_t i = 0; i < m->model->states_n; i++) {
    m->v[m->model->states[i]] = x[i];
  }
  m->kept->stale = CANOPY_ALL;
}

bool canopy_fmu_event(canopy_fmu *m, bool *states_changed) {
  double *before = m->work;
  canopy_fmu_states(m, 0, before);
  if (m->v[0] < m->kept->next && m->v[0] >= m->kept->next - 1e-12 * fmax(1.0, fabs(m->v[0]))) {
    m->v[0] = m->kept->next; /* the importer has arrived, but for rounding */
  }
  m->kept->next = INFINITY;
  const char *wrong = m->model->event(m->self, m->v, &m->kept->next);
  if (wrong != NULL) {
    return canopy_fmu_fails(m, wrong);
  }
  *states_changed = false;
  for (uint16_t i = 0; i < m->model->states_n; i++) {
    *states_changed = *states_changed || before[i] != m->v[m->model->states[i]];
  }
  m->kept->news = false;
  m->kept->stale = CANOPY_ALL;
  canopy_fmu_evaluate(m, CANOPY_ALL);
  memcpy(m->sides, &m->v[m->model->indicators], m->model->indicators_n * sizeof(double));
  return true;
}

/* Reports whether an indicator is on another side than at the last event. */
static bool crossed(canopy_fmu *m) {
  canopy_fmu_evaluate(m, CANOPY_INDICATORS);
  for (uint16_t i = 0; i < m->model->indicators_n; i++) {
    if ((m->v[m->model->indicators + i] > 0.0) != (m->sides[i] > 0.0)) {
      return true;
    }
  }
  return false;
}

/* A step of the method of Dormand and Prince (J. Comput. Appl. Math. 6, 1980) from t: the states after it, and their
 * error in tolerances. */
static double attempt(canopy_fmu *m, double t, double h, const double *from, double *to) {
  static const double a[CANOPY_STAGES][CANOPY_STAGES - 1] = {
      {0.0},
      {1.0 / 5.0},
      {3.0 / 40.0, 9.0 / 40.0},
      {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
      {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
      {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
      {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0}};
  static const double c[CANOPY_STAGES] = {0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0};
  static const double difference[CANOPY_STAGES] = {71.0 / 57600.0,      0.0,           -71.0 / 16695.0, 71.0 / 1920.0,
                                                   -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};
  const uint16_t n = m->model->states_n;
  double *k = &m->work[3U * n];
  double worst = 0.0;
  memcpy(to, from, n * sizeof(double));
  for (unsigned s = 0; s < CANOPY_STAGES && n > 0U; s++) {
    for (uint16_t i = 0; i < n; i++) {
      double sum = 0.0;
      for (unsigned r = 0; r < s; r++) {
        sum += a[s][r] * k[r * n + i];
      }
      to[i] = from[i] + h * sum;
    }
    canopy_fmu_move(m, t + c[s] * h, to);
    canopy_fmu_evaluate(m, CANOPY_RATES);
    canopy_fmu_states(m, m->model->derivatives, &k[s * n]);
  }
  for (uint16_t i = 0; i < n; i++) {
    double error = 0.0;
    for (unsigned s = 0; s < CANOPY_STAGES; s++) {
      error += h * difference[s] * k[s * n + i];
    }
    error = fabs(error) / (m->kept->tolerance * fmax(m->model->nominals[i], fmax(fabs(from[i]), fabs(to[i]))));
    worst = error <= worst ? worst : error; /* also if it is not a number */
  }
  canopy_fmu_move(m, t + h, to);
  return worst;
}

bool canopy_fmu_advance(canopy_fmu *m, double until, bool *stopped) {
  const uint16_t n = m->model->states_n;
  double *from = &m->work[n];
  double *to = &m->work[2U * n];
  const double start = m->v[0];
  bool changed = false;
  *stopped = false;
  if (m->kept->news && !canopy_fmu_event(m, &changed)) {
    return false;
  }
  while (m->v[0] < until) {
    const double t = m->v[0];
    const double limit = fmin(until, m->kept->next);
    const double least = 1e-14 * fmax(1.0, fabs(t));
    double h = m->kept->step > 0.0 && n > 0U ? m->kept->step : (n > 0U ? 0.1 : 1.0) * (until - start);
    const bool whole = t + 1.01 * h >= limit;
    h = whole ? fmax(0.0, limit - t) : h;
    canopy_fmu_states(m, 0, from);
    const double error = attempt(m, t, h, from, to);
    if (!(error <= 1.0)) {
      canopy_fmu_move(m, t, from);
      m->kept->step = h * (error < 1e6 ? fmax(0.2, 0.9 * pow(error, -0.2)) : 0.1);
      if (m->kept->step < least) {
        return canopy_fmu_fails(m, "the derivatives are not finite, or time hardly advances");
      }
      continue;
    }
    bool event = whole && limit == m->kept->next;
    if (whole) {
      m->v[0] = limit;
    } else {
      m->kept->step = h * fmin(5.0, 0.9 * pow(fmax(error, 1e-10), -0.2));
    }
    if (crossed(m)) { /* the last point of the step that is not beyond, and the first known one that is */
      double low = 0.0;
      double high = h;
      while (high - low > least) {
        const double middle = low + (high - low) / 2.0;
        (void)attempt(m, t, middle, from, to);
        if (crossed(m)) {
          high = middle;
        } else if (middle > low) {
          low = middle;
        } else {
          break;
        }
      }
      (void)attempt(m, t, high, from, to);
      event = true;
    }
    if (event && m->stops) {
      *stopped = true;
      break;
    }
    if (event && !canopy_fmu_event(m, &changed)) {
      return false;
    }
  }
  canopy_fmu_evaluate(m, CANOPY_ALL);
  return true;
}

void canopy_fmu_save(const canopy_fmu *m, void *bytes) {
  memcpy(bytes, m->kept, m->size);
  m->model->attach((char *)bytes + ((char *)m->self - (char *)m->kept), NULL);
}

bool canopy_fmu_restore(canopy_fmu *m, const void *bytes, size_t size) {
  if (size != m->size) {
    return canopy_fmu_fails(m, "a state of another FMU");
  }
  memcpy(m->kept, bytes, size);
  m->model->attach(m->self, m->v);
  return true;
}
