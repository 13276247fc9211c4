/* A bouncing ball as an FMU, for tests: in FMI 2 and FMI 3, for model exchange and co-simulation, with ways to fail.
 * FMI_VERSION is 2 or 3. The declarations are those that an importer finds in a library: no header is needed. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK, Warning, Discard, Error, Fatal };
enum { /* value references */
	Time, H, DerH, V, DerV, G, E, Thrust, Lamp, Bounces, Lit, Mood, Ticks, Fault, At, R, Energy, Power, Altitude, Level
};
enum { /* faults, from the time At on */
	None, Errors, Fatals, Crashes, Hangs, Exits, Ends, Refuses, Shallow, Prints, Endless, Stops, Points, Asks, Gusts, Differs
};

#if FMI_VERSION == 2
typedef int boolean;
#define F(name) fmi2##name
#else
typedef bool boolean;
#define F(name) fmi3##name
#endif

struct ball {
	struct ball *self; /* with Points, what is serialised goes through it */
	double t, h, v, g, e, thrust, gust, at, next, completed;
	int lamp, lit, bounces, ticks, fault, level, printed;
	bool cosimulation, events, early, dead;
	void (*log)(void *, int, const char *, const char *);
	void (*log2)(void *, const char *, int, const char *, const char *, ...);
};

static int say(struct ball *b, int status, const char *text)
{
	if (b->log)
		b->log(0, status, "error", text);
	if (b->log2)
		b->log2(0, "ball", status, "error", "%s %s\n", "told:", text);
	return status;
}

static double acceleration(const struct ball *b) { return b->dead ? 0 : b->thrust + b->gust - b->g; }

/* fails does what is to go wrong. */
static int fails(struct ball *b)
{
	if (b->fault == Prints && !b->printed++)
		printf("the ball prints what looks like an answer\n"), fflush(stdout);
	if (b->fault == Shallow && b->h < -0.001)
		return say(b, Discard, "below the floor");
	if (b->t < b->at)
		return OK;
	switch (b->fault) {
	case Errors: return say(b, Error, "the ball is broken");
	case Fatals: return say(b, Fatal, "the ball is gone");
	case Crashes: *(volatile int *)8 = 0; break;
	case Hangs: for (volatile int i = 0;; i++) ;
	case Exits: exit(3);
	case Refuses: return say(b, Discard, "no values here");
	}
	return OK;
}

static void *make(bool cosimulation)
{
	struct ball *b = calloc(1, sizeof *b);
	b->self = b, b->h = 1, b->g = 9.81, b->e = 0.7, b->at = 1e9, b->next = 0.25, b->cosimulation = cosimulation;
	return b;
}

static void bounce(struct ball *b)
{
	b->h = DBL_MIN, b->v *= -b->e, b->bounces++;
	if (b->v < 0.01)
		b->v = 0, b->dead = true;
}

/* event updates the discrete states. */
static int event(struct ball *b, bool *again, bool *end, bool *changed)
{
	*changed = b->h <= 0 && b->v < 0;
	if (*changed)
		bounce(b);
	if (b->t >= b->next - 1e-9)
		b->ticks++, b->next += 0.25, b->gust = b->fault == Gusts ? b->g + (b->ticks % 2 ? 3 : -3) : 0;
	if (b->level == 1)
		b->level = 2, b->ticks += 10;
	b->lit = b->lamp;
	*again = b->fault == Endless && b->t >= b->at;
	*end = b->fault == Ends && b->t >= b->at;
	return OK;
}

static int completed(struct ball *b, bool *wants, bool *end)
{
	b->completed = b->t;
	*wants = b->fault == Asks && b->t >= b->at && b->level == 0;
	if (*wants)
		b->level = 1;
	*end = b->fault == Stops && b->t >= b->at;
	return OK;
}

static int get(struct ball *b, uint32_t r, double *x, int *size)
{
	*size = 1;
	switch (r) {
	case Time: *x = b->t; break;
	case H: *x = b->h; break;
	case DerH: case V: *x = b->v; break;
	case DerV: *x = acceleration(b); break;
	case G: *x = b->g; break;
	case E: *x = b->e; break;
	case Thrust: *x = b->thrust; break;
	case Lamp: *x = b->lamp; break;
	case Bounces: *x = b->bounces; break;
	case Lit: *x = b->lit; break;
	case Mood: *x = b->dead ? 30 : b->v < 0 ? 10 : 20; break;
	case Ticks: *x = b->ticks; break;
	case Fault: *x = b->fault; break;
	case At: *x = b->at; break;
	case R: x[0] = b->h, x[1] = b->v, *size = 2; break;
	case Energy: *x = b->v * b->v / 2 + b->g * b->h + (b->fault == Differs ? getpid() : 0); break;
	case Power: *x = b->thrust * b->v; break;
	case Altitude: *x = b->h / 1000; break;
	case Level: *x = b->level; break;
	default: return say(b, Error, "no such variable");
	}
	return OK;
}

static int set(struct ball *b, uint32_t r, double x)
{
	switch (r) {
	case H: b->h = x; break;
	case V: b->v = x; break;
	case G: b->g = x; break;
	case E: b->e = x; break;
	case Thrust: b->thrust = x; break;
	case Lamp: b->lamp = (int)x; break;
	case Fault: b->fault = (int)x; break;
	case At: b->at = x; break;
	default: return say(b, Error, "the variable cannot be set");
	}
	return OK;
}

/* advance follows the exact motion up to the time end, or to a bounce if it may return early. */
static int advance(struct ball *b, double end, bool *happened)
{
	*happened = false;
	while (b->t < end && !*happened) {
		double a = acceleration(b), h = end - b->t, hit = INFINITY;
		if (!b->dead && a < 0)
			hit = (-b->v - sqrt(b->v * b->v - 2 * a * b->h)) / a;
		bool bounces = hit <= h && hit > 0;
		h = bounces ? hit : h;
		b->h += b->v * h + a * h * h / 2, b->v += a * h;
		b->t = bounces ? b->t + h : end;
		if (bounces && b->events)
			b->h = 0, *happened = true;
		else if (bounces)
			bounce(b);
		if (fails(b) > Discard)
			return Error;
	}
	return OK;
}

#define GETTER(name, type) \
	int F(Get##name)(void *p, const uint32_t *r, size_t n, type *x, size_t values) \
	{ \
		double y[2]; \
		int size, status = OK; \
		(void)values; \
		for (size_t i = 0, k = 0; i < n && status == OK; i++) { \
			status = get(p, r[i], y, &size); \
			for (int j = 0; j < size; j++) \
				x[k++] = (type)y[j]; \
		} \
		return status; \
	} \
	int F(Set##name)(void *p, const uint32_t *r, size_t n, const type *x, size_t values) \
	{ \
		int status = OK; \
		(void)values; \
		for (size_t i = 0; i < n && status == OK; i++) \
			status = set(p, r[i], (double)x[i]); \
		return status; \
	}

int F(EnterEventMode)(void *p)
{
	struct ball *b = p;
	return b->cosimulation || b->completed == b->t ? OK : say(b, Error, "an event within a step");
}
int F(ExitInitializationMode)(void *p) { return fails(p); }
int F(EnterContinuousTimeMode)(void *p) { (void)p; return OK; }
int F(SetTime)(void *p, double t) { ((struct ball *)p)->t = t; return OK; }

int F(SetContinuousStates)(void *p, const double *x, size_t n)
{
	struct ball *b = p;
	(void)n;
	b->h = x[0], b->v = x[1];
	return OK;
}

int F(GetContinuousStates)(void *p, double *x, size_t n)
{
	struct ball *b = p;
	(void)n;
	x[0] = b->h, x[1] = b->v;
	return OK;
}

int F(GetEventIndicators)(void *p, double *z, size_t n)
{
	(void)n;
	z[0] = ((struct ball *)p)->h;
	return OK;
}

static int derivatives(void *p, double *x)
{
	struct ball *b = p;
	x[0] = b->v, x[1] = acceleration(b);
	return fails(b);
}

static int save(void *p, void **state)
{
	*state = memcpy(malloc(sizeof(struct ball)), p, sizeof(struct ball));
	return OK;
}

static int restore(void *p, void *state)
{
	struct ball *b = p, *s = state;
	if (s->fault == Points)
		s = s->self;
	struct ball now = *s;
	now.self = b, now.log = b->log, now.log2 = b->log2;
	*b = now;
	return OK;
}

static int unserialise(const char *bytes, size_t n, void **state)
{
	*state = memcpy(malloc(n), bytes, n);
	return OK;
}

#if FMI_VERSION == 2

struct events { int update, terminate, nominals, values, defined; double next; };
struct callbacks { void (*log)(void *, const char *, int, const char *, const char *, ...); };

void *fmi2Instantiate(const char *name, int kind, const char *guid, const char *resources, const struct callbacks *c,
	int visible, int logging)
{
	(void)name, (void)resources, (void)visible, (void)logging;
	struct ball *b = make(kind == 1);
	b->log2 = c->log;
	return strcmp(guid, "ball-2") ? 0 : b;
}
int fmi2SetupExperiment(void *p, int d, double tol, double start, int s, double stop)
{
	(void)p, (void)d, (void)tol, (void)s, (void)stop;
	return start == 0 ? OK : Error;
}
int fmi2EnterInitializationMode(void *p) { (void)p; return OK; }
GETTER(Real, double)
GETTER(Integer, int)
GETTER(Boolean, int)
int fmi2GetDerivatives(void *p, double *x, size_t n) { (void)n; return derivatives(p, x); }
int fmi2NewDiscreteStates(void *p, struct events *e)
{
	bool again, end, changed;
	int status = event(p, &again, &end, &changed);
	*e = (struct events){again, end, 0, changed, 1, ((struct ball *)p)->next};
	return status;
}
int fmi2CompletedIntegratorStep(void *p, int no, int *wants, int *end)
{
	bool w, e;
	(void)no;
	completed(p, &w, &e);
	*wants = w, *end = e;
	return OK;
}
int fmi2DoStep(void *p, double t, double h, int no)
{
	struct ball *b = p;
	bool happened;
	(void)no;
	if (b->fault == Ends && t + h >= b->at)
		return Discard;
	return advance(b, t + h, &happened);
}
int fmi2GetBooleanStatus(void *p, int kind, int *value) { (void)p; *value = kind == 3; return OK; }
int fmi2GetRealStatus(void *p, int kind, double *value) { (void)kind; *value = ((struct ball *)p)->t; return OK; }
int fmi2GetFMUstate(void *p, void **state) { return save(p, state); }
int fmi2SetFMUstate(void *p, void *state) { return restore(p, state); }
int fmi2FreeFMUstate(void *p, void **state) { (void)p; free(*state); *state = 0; return OK; }
int fmi2SerializedFMUstateSize(void *p, void *s, size_t *n) { (void)p, (void)s; *n = sizeof(struct ball); return OK; }
int fmi2SerializeFMUstate(void *p, void *s, char *x, size_t n) { (void)p; memcpy(x, s, n); return OK; }
int fmi2DeSerializeFMUstate(void *p, const char *x, size_t n, void **s) { (void)p; return unserialise(x, n, s); }

#else

void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible, bool logging,
	void *environment, void (*log)(void *, int, const char *, const char *))
{
	(void)name, (void)resources, (void)visible, (void)logging, (void)environment;
	struct ball *b = make(false);
	b->log = log;
	return strcmp(token, "ball-3") ? 0 : b;
}
void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible, bool logging,
	bool events, bool early, const uint32_t *refs, size_t n, void *environment,
	void (*log)(void *, int, const char *, const char *), void *update)
{
	(void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)refs, (void)n, (void)environment, (void)update;
	struct ball *b = make(true);
	b->log = log, b->events = events, b->early = early;
	return b;
}
int fmi3EnterInitializationMode(void *p, bool d, double tol, double start, bool s, double stop)
{
	(void)p, (void)d, (void)tol, (void)s, (void)stop;
	return start == 0 ? OK : Error;
}
GETTER(Float64, double)
GETTER(Float32, float)
GETTER(Int32, int32_t)
GETTER(Int64, int64_t)
GETTER(UInt8, uint8_t)
GETTER(Boolean, bool)
int fmi3GetContinuousStateDerivatives(void *p, double *x, size_t n) { (void)n; return derivatives(p, x); }
int fmi3UpdateDiscreteStates(void *p, bool *again, bool *end, bool *nominals, bool *changed, bool *defined, double *next)
{
	*nominals = false, *defined = true;
	int status = event(p, again, end, changed);
	*next = ((struct ball *)p)->next;
	return status;
}
int fmi3CompletedIntegratorStep(void *p, bool no, bool *wants, bool *end) { (void)no; return completed(p, wants, end); }
int fmi3EnterStepMode(void *p) { (void)p; return OK; }
int fmi3DoStep(void *p, double t, double h, bool no, bool *needed, bool *end, bool *early, double *last)
{
	struct ball *b = p;
	(void)no;
	int status = advance(b, t + h, needed);
	*early = *needed && b->t < t + h, *last = b->t;
	*end = b->fault == Ends && b->t >= b->at;
	return status;
}
int fmi3GetFMUState(void *p, void **state) { return save(p, state); }
int fmi3SetFMUState(void *p, void *state) { return restore(p, state); }
int fmi3FreeFMUState(void *p, void **state) { (void)p; free(*state); *state = 0; return OK; }
int fmi3SerializedFMUStateSize(void *p, void *s, size_t *n) { (void)p, (void)s; *n = sizeof(struct ball); return OK; }
int fmi3SerializeFMUState(void *p, void *s, char *x, size_t n) { (void)p; memcpy(x, s, n); return OK; }
int fmi3DeserializeFMUState(void *p, const char *x, size_t n, void **s) { (void)p; return unserialise(x, n, s); }

#endif
