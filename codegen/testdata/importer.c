/* Simulates the FMU of a plan or a tree whose inputs are functions of time, as plainly as possible, and prints each
 * change of a status. Model exchange: the indicators are looked at every STEP seconds, and a change of side is located by
 * bisection. Co-simulation: it communicates every STEP seconds.
 *
 * Arguments: the binary, 2 or 3, me or cs, the token, the end, the number of indicators; then for each input its kind and
 * value reference, and a, b, c, d of x = a + b t + c sin(d t): r is x, b whether x >= 0, and e 1 if x >= 0.5, 2 if
 * x <= -0.5, else 0; then -, and the value references of the statuses. */
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000, STATE = 1000000 };
static const double STEP = 1.0 / 128.0;

static void *library;
static void *c;
static bool three;
static bool me;
static unsigned inputs, outputs, indicators;
static uint32_t in[MOST], out[MOST];
static double a[MOST][4], sides[MOST], z[MOST];
static long before[MOST];
static char kind[MOST];

static void *find(const char *name) {
  char full[64];
  (void)snprintf(full, sizeof full, "%s%s", three ? "fmi3" : "fmi2", name);
  void *f = dlsym(library, full);
  if (f == NULL) {
    (void)fprintf(stderr, "no %s\n", full);
    exit(1);
  }
  return f;
}

/* The type of a function, which dlsym does not give. */
#define CALL(type, name) ((type)(uintptr_t)find(name))

static void need(int status, const char *what) {
  if (status != 0) {
    (void)fprintf(stderr, "%s: status %d\n", what, status);
    exit(1);
  }
}

static void told2(void *e, const char *name, int status, const char *category, const char *text, ...) {
  (void)e;
  (void)fprintf(stderr, "%s %d %s %s\n", name, status, category, text);
}

static void told3(void *e, int status, const char *category, const char *text) {
  (void)e;
  (void)fprintf(stderr, "%d %s %s\n", status, category, text);
}

static void set(double t) {
  for (unsigned i = 0; i < inputs; i++) {
    const double x = a[i][0] + a[i][1] * t + a[i][2] * sin(a[i][3] * t);
    const int64_t says = x >= 0.5 ? 1 : x <= -0.5 ? 2 : 0;
    const int says2 = kind[i] == 'b' ? x >= 0.0 : (int)says;
    const bool is = x >= 0.0;
    if (kind[i] == 'b' && three) {
      need(CALL(int (*)(void *, const uint32_t *, size_t, const bool *, size_t), "SetBoolean")(c, &in[i], 1, &is, 1), "set");
    } else if (kind[i] == 'e' && three) {
      need(CALL(int (*)(void *, const uint32_t *, size_t, const int64_t *, size_t), "SetInt64")(c, &in[i], 1, &says, 1), "set");
    } else if (kind[i] != 'r') {
      need(CALL(int (*)(void *, const uint32_t *, size_t, const int *), kind[i] == 'b' ? "SetBoolean" : "SetInteger")(
               c, &in[i], 1, &says2), "set");
    } else if (three) {
      need(CALL(int (*)(void *, const uint32_t *, size_t, const double *, size_t), "SetFloat64")(c, &in[i], 1, &x, 1), "set");
    } else {
      need(CALL(int (*)(void *, const uint32_t *, size_t, const double *), "SetReal")(c, &in[i], 1, &x), "set");
    }
  }
}

static void show(double t) {
  for (unsigned i = 0; i < outputs; i++) {
    int64_t x = 0;
    int y = 0;
    if (three) {
      need(CALL(int (*)(void *, const uint32_t *, size_t, int64_t *, size_t), "GetInt64")(c, &out[i], 1, &x, 1), "get");
    } else {
      need(CALL(int (*)(void *, const uint32_t *, size_t, int *), "GetInteger")(c, &out[i], 1, &y), "get");
      x = y;
    }
    if (x != before[i]) {
      printf("%.12g %u %ld\n", t, i, (long)x);
      before[i] = (long)x;
    }
  }
}

static bool at(double t, double *zeros) {
  need(CALL(int (*)(void *, double), "SetTime")(c, t), "SetTime");
  set(t);
  bool crosses = false;
  need(CALL(int (*)(void *, double *, size_t), "GetEventIndicators")(c, zeros, indicators), "GetEventIndicators");
  for (unsigned i = 0; i < indicators; i++) {
    if (zeros[i] == 0.0) {
      (void)fprintf(stderr, "an indicator is 0\n");
      exit(1);
    }
    crosses = crosses || (zeros[i] > 0.0) != (sides[i] > 0.0);
  }
  return crosses;
}

/* A copy of the instance by serialized states takes its place. */
static void exchange(void) {
  static char bytes[STATE];
  void *state = NULL;
  size_t size = 0;
  const char *names[2][5] = {{"GetFMUstate", "SerializedFMUstateSize", "SerializeFMUstate", "DeSerializeFMUstate", "SetFMUstate"},
                             {"GetFMUState", "SerializedFMUStateSize", "SerializeFMUState", "DeserializeFMUState", "SetFMUState"}};
  const char *const *name = names[three ? 1 : 0];
  need(CALL(int (*)(void *, void **), name[0])(c, &state), name[0]);
  need(CALL(int (*)(void *, void *, size_t *), name[1])(c, state, &size), name[1]);
  if (size > STATE) {
    exit(1);
  }
  need(CALL(int (*)(void *, void *, char *, size_t), name[2])(c, state, bytes, size), name[2]);
  need(CALL(int (*)(void *, void **), three ? "FreeFMUState" : "FreeFMUstate")(c, &state), "free");
  need(CALL(int (*)(void *), "Reset")(c), "Reset");
  need(CALL(int (*)(void *, const char *, size_t, void **), name[3])(c, bytes, size, &state), name[3]);
  need(CALL(int (*)(void *, void *), name[4])(c, state), name[4]);
  need(CALL(int (*)(void *, void **), three ? "FreeFMUState" : "FreeFMUstate")(c, &state), "free");
}

/* The instant, and the time of the next one. */
static double event(void) {
  struct {
    int flags[5];
    double next;
  } info;
  bool needed, terminate, nominals, values, defined;
  double next = 0.0;
  for (int k = 0; k < 2; k++) { /* the second changes nothing */
    if (three) {
      need(CALL(int (*)(void *, bool *, bool *, bool *, bool *, bool *, double *), "UpdateDiscreteStates")(
               c, &needed, &terminate, &nominals, &values, &defined, &next), "event");
    } else {
      need(CALL(int (*)(void *, void *), "NewDiscreteStates")(c, &info), "event");
      defined = info.flags[4] != 0;
      next = info.next;
    }
  }
  return defined ? next : INFINITY;
}

int main(int argc, char **argv) {
  static struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *rest[4];
  } callbacks = {told2, {NULL}};
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  three = argv[2][0] == '3';
  me = argv[3][0] == 'm';
  const double end = strtod(argv[5], NULL);
  indicators = (unsigned)atoi(argv[6]);
  int k = 7;
  for (; argv[k][0] != '-' || argv[k][1] != 0; k += 5) {
    kind[inputs] = argv[k][0];
    in[inputs] = (uint32_t)atoi(argv[k] + 1);
    for (int i = 0; i < 4; i++) {
      a[inputs][i] = strtod(argv[k + 1 + i], NULL);
    }
    inputs++;
  }
  for (k++; k < argc; k++) {
    before[outputs] = -1;
    out[outputs++] = (uint32_t)atoi(argv[k]);
  }
  if (library == NULL) {
    (void)fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  if (!three) {
    c = CALL(void *(*)(const char *, int, const char *, const char *, void *, int, int), "Instantiate")(
        "it", me ? 0 : 1, argv[4], "", &callbacks, 0, 0);
    need(c == NULL, "Instantiate");
    need(CALL(int (*)(void *, int, double, double, int, double), "SetupExperiment")(c, 0, 0, 0, 0, 0), "SetupExperiment");
    need(CALL(int (*)(void *), "EnterInitializationMode")(c), "EnterInitializationMode");
  } else {
    c = me ? CALL(void *(*)(const char *, const char *, const char *, bool, bool, void *, void *), "InstantiateModelExchange")(
                 "it", argv[4], NULL, false, false, NULL, (void *)(uintptr_t)told3)
           : CALL(void *(*)(const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *, size_t, void *,
                            void *, void *), "InstantiateCoSimulation")(
                 "it", argv[4], NULL, false, false, false, false, NULL, 0, NULL, (void *)(uintptr_t)told3, NULL);
    need(c == NULL, "Instantiate");
    need(CALL(int (*)(void *, bool, double, double, bool, double), "EnterInitializationMode")(c, false, 0, 0, false, 0),
         "EnterInitializationMode");
  }
  set(0.0);
  need(CALL(int (*)(void *), "ExitInitializationMode")(c), "ExitInitializationMode");
  show(0.0);
  double t = 0.0, next = INFINITY;
  if (me) {
    next = event();
    show(0.0);
    need(CALL(int (*)(void *), "EnterContinuousTimeMode")(c), "EnterContinuousTimeMode");
    need(CALL(int (*)(void *, double *, size_t), "GetEventIndicators")(c, sides, indicators), "GetEventIndicators");
  }
  for (unsigned n = 1; t < end; n++) {
    double to = STEP * n;
    if (n % 500U == 0U) {
      exchange();
    }
    if (!me) {
      set(to);
      if (three) {
        bool stopped = false, terminate = false, early = false;
        double last = 0.0;
        need(CALL(int (*)(void *, double, double, bool, bool *, bool *, bool *, double *), "DoStep")(
                 c, t, to - t, true, &stopped, &terminate, &early, &last), "DoStep");
      } else {
        need(CALL(int (*)(void *, double, double, int), "DoStep")(c, t, to - t, 1), "DoStep");
      }
      t = to;
      show(t);
      continue;
    }
    for (;;) {
      double here = next < to ? next : to;
      if (at(here, z)) {
        double low = t, high = here;
        while (high - low > 1e-12 * (1.0 + high)) {
          const double middle = (low + high) / 2.0;
          if (at(middle, z)) {
            high = middle;
          } else {
            low = middle;
          }
        }
        here = high;
      } else if (here < next) {
        t = here;
        break;
      }
      (void)at(here, z);
      t = here;
      need(CALL(int (*)(void *), "EnterEventMode")(c), "EnterEventMode");
      next = event();
      show(t);
      need(CALL(int (*)(void *), "EnterContinuousTimeMode")(c), "EnterContinuousTimeMode");
      need(CALL(int (*)(void *, double *, size_t), "GetEventIndicators")(c, sides, indicators), "GetEventIndicators");
    }
  }
  need(CALL(int (*)(void *), "Terminate")(c), "Terminate");
  CALL(void (*)(void *), "FreeInstance")(c);
  return 0;
}
