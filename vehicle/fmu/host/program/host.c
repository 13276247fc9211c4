/* This program loads one FMU, makes one instance of it, and answers batches of calls.
 *
 * A message is two numbers of 32 bits, its size and its operation or status, and that many bytes: numbers of 32 and 64
 * bits, little-endian, and texts with their size. What the FMU prints goes to the standard error.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum operation { Load = 1, Evaluate, Event, Step, Completed, Save, Restore };
enum asked { Derivatives = 1, Indicators = 2, Outputs = 4, Unmoved = 8 };
enum status { OK, Warning, Discard, Error, Fatal, Crash };
enum told { Terminated = 1, StatesChanged = 2, WantsEvent = 4 };

/* ---- The functions of an FMU: those that both versions have with the same arguments, and the others. */

typedef void *instance;
typedef const char *text;

struct callbacks2 { /* must outlive the instance */
	void (*log)(void *, text, int, text, text, ...);
	void *(*allocate)(size_t, size_t);
	void (*release)(void *);
	void *finished, *environment;
};
struct events2 {
	int update, terminate, nominals, values, defined;
	double next;
};

static struct {
	int (*SetTime)(instance, double);
	int (*SetContinuousStates)(instance, const double *, size_t);
	int (*GetContinuousStates)(instance, double *, size_t);
	int (*GetDerivatives)(instance, double *, size_t);
	int (*GetEventIndicators)(instance, double *, size_t);
	int (*ExitInitializationMode)(instance);
	int (*EnterEventMode)(instance);
	int (*EnterContinuousTimeMode)(instance);
	int (*GetFMUState)(instance, void **);
	int (*SetFMUState)(instance, void *);
	int (*FreeFMUState)(instance, void **);
	int (*SerializedFMUStateSize)(instance, void *, size_t *);
	int (*SerializeFMUState)(instance, void *, char *, size_t);
	int (*DeserializeFMUState)(instance, const char *, size_t, void **);

	instance (*Instantiate)(text, int, text, text, const struct callbacks2 *, int, int);
	int (*SetupExperiment)(instance, int, double, double, int, double);
	int (*EnterInitializationMode2)(instance);
	int (*NewDiscreteStates)(instance, struct events2 *);
	int (*CompletedIntegratorStep2)(instance, int, int *, int *);
	int (*DoStep2)(instance, double, double, int);
	int (*GetBooleanStatus)(instance, int, int *);
	int (*GetRealStatus)(instance, int, double *);

	instance (*InstantiateModelExchange)(text, text, text, bool, bool, void *, void (*)(void *, int, text, text));
	instance (*InstantiateCoSimulation)(text, text, text, bool, bool, bool, bool, const uint32_t *, size_t, void *,
		void (*)(void *, int, text, text), void (*)(void));
	int (*EnterInitializationMode3)(instance, bool, double, double, bool, double);
	int (*UpdateDiscreteStates)(instance, bool *, bool *, bool *, bool *, bool *, double *);
	int (*CompletedIntegratorStep3)(instance, bool, bool *, bool *);
	int (*EnterStepMode)(instance);
	int (*DoStep3)(instance, double, double, bool, bool *, bool *, bool *, double *);
} fmi;

/* The types of variables; all values travel as double. */
static const struct { text name2, name3; } types[] = {
	{"Real", "Float64"}, {0, "Float32"}, {0, "Int8"}, {0, "UInt8"}, {0, "Int16"}, {0, "UInt16"}, {"Integer", "Int32"},
	{0, "UInt32"}, {0, "Int64"}, {0, "UInt64"}, {0, "Boolean"}, {"Boolean", 0},
};
#define TYPES (sizeof types / sizeof *types)
static void *getters[TYPES], *setters[TYPES];

static void convert(uint32_t type, void *list, size_t i, double *x, bool back)
{
	switch (type) {
#define CASE(number, type, of) \
	case number: \
		if (back) \
			((type *)list)[i] = (type)(of); \
		else \
			*x = (double)((type *)list)[i]; \
		break;
	CASE(0, double, *x) CASE(1, float, *x) CASE(2, int8_t, *x) CASE(3, uint8_t, *x) CASE(4, int16_t, *x)
	CASE(5, uint16_t, *x) CASE(6, int32_t, *x) CASE(7, uint32_t, *x) CASE(8, int64_t, *x) CASE(9, uint64_t, *x)
	CASE(10, bool, *x != 0) CASE(11, int, *x != 0)
	}
}

/* ---- Messages */

static int answers; /* the descriptor */
static char *in, *out; /* the request and the answer */
static size_t at, size, used, room;
static uint32_t operation;
static const char *volatile calling = "nothing"; /* for the message about a crash */
static text volatile verb = ""; /* Get or Set, before a type */
static char said[512]; /* by the FMU, last */
static jmp_buf failed;
static int failure;

static bool all(int descriptor, const char *where, size_t n, bool reading)
{
	char *data = (char *)where;
	while (n > 0) {
		ssize_t k = reading ? read(descriptor, data, n) : write(descriptor, data, n);
		if (k <= 0)
			return false;
		data += k;
		n -= (size_t)k;
	}
	return true;
}

/* What both processes see: messages that are small, each with its number, so that the one that waits can look for a while
 * before it sleeps. Who sleeps says so, and is woken by one byte in the pipe. Large messages go through the pipes. */
enum { SMALL = 1 << 15, LOOKS = 20000 };
#define LARGE UINT32_MAX
struct side {
	uint32_t number, sleeps, looks; /* sleeps: the one that waits for these messages; looks: it looks first */
	char unused[52];
};
static struct {
	struct side request, reply;
	char asked[SMALL], told[SMALL];
} *shared;
static uint32_t turn; /* the number of the request */

static void tell(struct side *to, int descriptor)
{
	__atomic_store_n(&to->number, turn, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(&to->sleeps, 0, __ATOMIC_SEQ_CST) && !all(descriptor, "", 1, false))
		_exit(1);
}

static bool wait_for(struct side *from, int descriptor)
{
	char byte;
	for (int i = 0; i < LOOKS && __atomic_load_n(&from->looks, __ATOMIC_RELAXED); i++) {
		if (__atomic_load_n(&from->number, __ATOMIC_SEQ_CST) == turn)
			return true;
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#endif
	}
	__atomic_store_n(&from->sleeps, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&from->number, __ATOMIC_SEQ_CST) == turn && __atomic_exchange_n(&from->sleeps, 0, __ATOMIC_SEQ_CST))
		return true;
	return all(descriptor, &byte, 1, true);
}

static void answer(int status)
{
	uint32_t head[2] = {(uint32_t)(used - 8), (uint32_t)status};
	bool large = used > SMALL;
	memcpy(out, head, 8);
	if (large)
		memcpy(shared->told, &(uint32_t){LARGE}, 4);
	else
		memcpy(shared->told, out, used);
	tell(&shared->reply, answers);
	if (large && !all(answers, out, used, false))
		_exit(1);
}

/* next waits for a request; false: there is none any more. */
static bool next(void)
{
	static size_t most;
	uint32_t head[2];
	turn++;
	if (!wait_for(&shared->request, 0))
		return false;
	memcpy(head, shared->asked, 8);
	bool large = head[0] == LARGE;
	if (large && !all(0, (char *)head, 8, true))
		return false;
	size = head[0], operation = head[1];
	if (size > most && !(in = realloc(in, most = 2 * size)))
		return false;
	if (large)
		return all(0, in, size, true);
	memcpy(in, shared->asked + 8, size);
	return true;
}

static void *need(size_t n) /* room in the answer, aligned if what is before is a multiple of eight */
{
	if (used + n > room && !(out = realloc(out, room = 2 * (used + n))))
		_exit(1);
	used += n;
	return out + used - n;
}

static double *numbers(size_t n) { return need(8 * n); }

/* name writes the function that is called, without the number of its version here. */
static int name(char *message, size_t room, text function, text more)
{
	size_t n = strlen(function);
	bool ours = n > 12 && (function[n - 1] == '2' || function[n - 1] == '3');
	return snprintf(message, room, "%s%.*s%s%s", verb, (int)(ours ? n - 1 : n), function, *more ? ": " : "", more);
}

static void fail(int status, text function)
{
	char *message = (used = 8, need(1024));
	int n = name(message, 1024, function, said);
	used = 8 + (size_t)(n < 1024 ? n : 1023);
	failure = status;
	longjmp(failed, 1);
}

static void *take(size_t n)
{
	if (n > size - at)
		fail(Error, "a message that is too short");
	at += n;
	return in + at - n;
}

static uint32_t word(void) { uint32_t x; memcpy(&x, take(4), 4); return x; }
static uint64_t flags(void) { uint64_t x; memcpy(&x, take(8), 8); return x; }
static double number(void) { double x; memcpy(&x, take(8), 8); return x; }

static text string(void)
{
	size_t n = word();
	char *s = calloc(n + 1, 1);
	memcpy(s, take(n), n);
	return s;
}

static void crashed(int sig)
{
	char message[160];
	used = 8;
	int n = name(message, sizeof message, calling, sig == SIGTERM ? "no answer in time" : strsignal(sig));
	memcpy(need((size_t)n), message, (size_t)n);
	answer(Crash);
	_exit(1);
}

static void check(int status)
{
	if (status > Warning)
		fail(status, calling);
}

#define CALL(f, ...) (*said = 0, calling = #f, check(fmi.f(fmu, __VA_ARGS__)), calling = "nothing")
#define ENTER(f) (*said = 0, calling = #f, check(fmi.f(fmu)), calling = "nothing")

static void logged2(void *e, text name, int status, text category, text format, ...)
{
	va_list list;
	(void)e, (void)name, (void)status, (void)category;
	va_start(list, format);
	vsnprintf(said, sizeof said, format ? format : "", list);
	va_end(list);
	said[strcspn(said, "\n")] = 0;
}

static void logged3(void *e, int status, text category, text message)
{
	(void)e, (void)status, (void)category;
	snprintf(said, sizeof said, "%s", message ? message : "");
}

/* ---- The instance */

struct list { /* of variables */
	uint32_t groups, values;
	struct group { uint32_t type, refs, values, *ref; } *group;
};

static instance fmu;
static text model; /* its identifier */
static int version, cosimulation;
static bool events; /* a co-simulation with event mode */
static size_t nx, nz;
static struct list continuous, discrete, outputs;

static struct list variables(void)
{
	struct list l = {word(), 0, 0};
	l.group = calloc(l.groups + 1, sizeof *l.group);
	for (uint32_t i = 0; i < l.groups; i++) {
		struct group *g = l.group + i;
		g->type = word() % TYPES, g->refs = word(), g->values = word();
		g->ref = malloc(4 * (size_t)g->refs + 1);
		memcpy(g->ref, take(4 * (size_t)g->refs), 4 * (size_t)g->refs);
		l.values += g->values;
	}
	return l;
}

/* pass gets or sets all variables of a list. */
static void pass(struct list *l, double *x, bool set)
{
	static void *scratch;
	static size_t most;
	for (struct group *g = l->group; g < l->group + l->groups; x += g++->values) {
		void *list = x, *f = (set ? setters : getters)[g->type];
		if (g->values == 0)
			continue;
		if (g->type != 0) {
			if (8 * (size_t)g->values > most)
				scratch = realloc(scratch, most = 8 * (size_t)g->values);
			list = scratch;
		}
		for (uint32_t i = 0; set && list != x && i < g->values; i++)
			convert(g->type, list, i, x + i, true);
		verb = set ? "Set" : "Get", calling = version == 2 ? types[g->type].name2 : types[g->type].name3;
		if (!f)
			fail(Error, calling ? calling : "a type of the other version");
		*said = 0;
		check(version == 2 ? ((int (*)(instance, uint32_t *, size_t, void *))f)(fmu, g->ref, g->refs, list)
				   : ((int (*)(instance, uint32_t *, size_t, void *, size_t))f)(fmu, g->ref, g->refs, list, g->values));
		for (uint32_t i = 0; !set && list != x && i < g->values; i++)
			convert(g->type, list, i, x + i, false);
	}
	verb = "", calling = "nothing";
}

static double *values(struct list *l)
{
	take((8 - at % 8) % 8); /* the sender aligns them */
	return take(8 * (size_t)l->values);
}

static void set(struct list *l) { pass(l, values(l), true); }

/* settle updates discrete states in event mode until that is no longer needed, and answers what it was told. */
static void settle(void)
{
	uint64_t told = 0;
	double next = HUGE_VAL;
	bool again = true;
	for (int n = 0; again; n++) {
		struct events2 e = {0, 0, 0, 0, 0, 0};
		bool update, terminate, nominals, values, defined;
		if (n == 1000)
			fail(Error, "1000 updates of discrete states, and another one is needed");
		if (version == 2) {
			CALL(NewDiscreteStates, &e);
			update = e.update, terminate = e.terminate, values = e.values, defined = e.defined;
		} else {
			CALL(UpdateDiscreteStates, &update, &terminate, &nominals, &values, &defined, &e.next);
		}
		told |= (terminate ? Terminated : 0) | (values ? StatesChanged : 0);
		next = defined ? e.next : HUGE_VAL;
		again = update && !terminate;
	}
	if (cosimulation)
		ENTER(EnterStepMode);
	else if (!(told & Terminated))
		ENTER(EnterContinuousTimeMode);
	memcpy(need(8), &told, 8);
	*numbers(1) = next;
}

static void states(void)
{
	if (nx > 0)
		CALL(GetContinuousStates, numbers(nx), nx);
	if (nz > 0)
		CALL(GetEventIndicators, numbers(nz), nz);
}

/* symbol finds a function; compiled of sources it may have the name of the model before its own. */
static void *symbol(void *library, text name, bool optional)
{
	char full[256];
	int n = snprintf(full, sizeof full, "%s_fmi%d%s", model, version, name);
	void *f = n > (int)sizeof full ? 0 : dlsym(library, full);
	snprintf(full, sizeof full, "fmi%d%s", version, name);
	f = f ? f : dlsym(library, full);
	if (!f && !optional) {
		snprintf(said, sizeof said, "the library has no %s", full);
		fail(Error, "dlsym");
	}
	return f;
}

/* A function pointer is copied through memory: C has no conversion of a pointer to an object. */
static void *found;
#define FIND(field, name, optional) (found = symbol(library, name, optional), memcpy(&fmi.field, &found, sizeof found))
#define BOTH(field) FIND(field, #field, false)

static void find(void *library)
{
	BOTH(ExitInitializationMode);
	if (!cosimulation) {
		BOTH(SetTime), BOTH(SetContinuousStates), BOTH(GetContinuousStates), BOTH(GetEventIndicators);
		BOTH(EnterContinuousTimeMode);
		FIND(GetDerivatives, version == 2 ? "GetDerivatives" : "GetContinuousStateDerivatives", false);
	}
	FIND(EnterEventMode, "EnterEventMode", cosimulation && !events);
	FIND(GetFMUState, version == 2 ? "GetFMUstate" : "GetFMUState", true);
	FIND(SetFMUState, version == 2 ? "SetFMUstate" : "SetFMUState", true);
	FIND(FreeFMUState, version == 2 ? "FreeFMUstate" : "FreeFMUState", true);
	FIND(SerializedFMUStateSize, version == 2 ? "SerializedFMUstateSize" : "SerializedFMUStateSize", true);
	FIND(SerializeFMUState, version == 2 ? "SerializeFMUstate" : "SerializeFMUState", true);
	FIND(DeserializeFMUState, version == 2 ? "DeSerializeFMUstate" : "DeserializeFMUState", true);
	if (version == 2) {
		BOTH(Instantiate), BOTH(SetupExperiment);
		FIND(EnterInitializationMode2, "EnterInitializationMode", false);
		FIND(NewDiscreteStates, "NewDiscreteStates", cosimulation);
		FIND(CompletedIntegratorStep2, "CompletedIntegratorStep", cosimulation);
		FIND(DoStep2, "DoStep", !cosimulation);
		FIND(GetBooleanStatus, "GetBooleanStatus", true);
		FIND(GetRealStatus, "GetRealStatus", true);
	} else {
		FIND(InstantiateModelExchange, "InstantiateModelExchange", cosimulation);
		FIND(InstantiateCoSimulation, "InstantiateCoSimulation", !cosimulation);
		FIND(EnterInitializationMode3, "EnterInitializationMode", false);
		FIND(UpdateDiscreteStates, "UpdateDiscreteStates", cosimulation && !events);
		FIND(CompletedIntegratorStep3, "CompletedIntegratorStep", cosimulation);
		FIND(EnterStepMode, "EnterStepMode", !cosimulation || !events);
		FIND(DoStep3, "DoStep", !cosimulation);
	}
	for (size_t i = 0; i < TYPES; i++) {
		text type = version == 2 ? types[i].name2 : types[i].name3;
		char name[32];
		if (!type)
			continue;
		snprintf(name, sizeof name, "Get%s", type);
		getters[i] = symbol(library, name, true);
		*name = 'S';
		setters[i] = symbol(library, name, true);
	}
}

static void load(void)
{
	static struct callbacks2 callbacks = {logged2, calloc, free, 0, 0};
	version = (int)word(), cosimulation = (int)word();
	uint32_t offers = word();
	bool early = offers & 2;
	events = offers & 1;
	nx = word(), nz = word();
	double start = number(), stop = number(), tolerance = number();
	text file = string(), called = string();
	model = string();
	text token = string(), resources = string();
	struct list parameters;
	calling = "dlopen";
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(said, sizeof said, "%s", dlerror());
		fail(Error, "dlopen");
	}
	find(library);
	*said = 0, calling = "Instantiate";
	if (version == 2)
		fmu = fmi.Instantiate(called, cosimulation, token, resources, &callbacks, 0, 0);
	else if (!cosimulation)
		fmu = fmi.InstantiateModelExchange(called, token, resources, false, false, 0, logged3);
	else do /* some promise an event mode that they do not have */
		fmu = fmi.InstantiateCoSimulation(called, token, resources, false, false, events, early, 0, 0, 0, logged3, 0);
	while (!fmu && events && !(events = false));
	if (!fmu)
		fail(Error, "Instantiate");
	parameters = variables();
	set(&parameters);
	continuous = variables(), discrete = variables(), outputs = variables();
	if (version == 2) {
		CALL(SetupExperiment, !cosimulation, tolerance, start, stop == stop, stop);
		ENTER(EnterInitializationMode2);
	} else {
		CALL(EnterInitializationMode3, !cosimulation, tolerance, start, stop == stop, stop);
	}
	ENTER(ExitInitializationMode);
	if (!cosimulation || events) {
		settle();
	} else {
		memset(need(8), 0, 8);
		*numbers(1) = HUGE_VAL;
	}
	states();
}

/* move sets time, states and inputs. */
static void move(void)
{
	CALL(SetTime, number());
	double *y = take(8 * nx);
	if (nx > 0)
		CALL(SetContinuousStates, y, nx);
	set(&continuous);
}

/* evaluate answers what is asked at each of some points. */
static void evaluate(void)
{
	uint64_t asked = flags();
	do {
		if (!(asked & Unmoved))
			move();
		if (asked & Derivatives && nx > 0)
			CALL(GetDerivatives, numbers(nx), nx);
		if (asked & Indicators && nz > 0)
			CALL(GetEventIndicators, numbers(nz), nz);
		if (asked & Outputs)
			pass(&outputs, numbers(outputs.values), false);
	} while (at < size);
}

/* completed tells the FMU that a step has ended, and returns what it was told. */
static uint64_t completed(void)
{
	int event = 0, end = 0;
	bool event3 = false, end3 = false;
	if (version == 2)
		CALL(CompletedIntegratorStep2, true, &event, &end);
	else
		CALL(CompletedIntegratorStep3, true, &event3, &end3);
	return (event || event3 ? WantsEvent : 0) | (end || end3 ? Terminated : 0);
}

static void event(void)
{
	bool steps = flags();
	move();
	if (steps)
		completed();
	ENTER(EnterEventMode);
	set(&discrete);
	settle();
	states();
}

static void step(void)
{
	uint64_t told = 0;
	bool other = flags(), more = true;
	double t = number(), end = t + number(), reached = end;
	set(&continuous);
	if (!events) {
		set(&discrete);
	} else if (other) {
		ENTER(EnterEventMode);
		set(&discrete);
		settle();
		used = 8;
	} else {
		values(&discrete);
	}
	for (int n = 0; more; n++) {
		bool happened = false, terminate = false, early = false;
		if (n == 1000000)
			fail(Error, "DoStep: a million early returns in one step");
		reached = end;
		*said = 0, calling = "DoStep";
		if (version == 2) {
			int status = fmi.DoStep2(fmu, t, end - t, true), ended = 0;
			if (status == Discard && fmi.GetBooleanStatus && fmi.GetRealStatus &&
			    fmi.GetBooleanStatus(fmu, 3, &ended) <= Warning && ended && fmi.GetRealStatus(fmu, 2, &reached) <= Warning)
				terminate = true;
			else
				check(status);
		} else {
			check(fmi.DoStep3(fmu, t, end - t, true, &happened, &terminate, &early, &reached));
		}
		if (happened && events) {
			ENTER(EnterEventMode);
			settle();
			memcpy(&told, out + 8, 8);
			used = 8;
			terminate = terminate || told & Terminated;
		}
		more = early && !terminate && end - reached > 1e-12 * (1 + (end < 0 ? -end : end));
		t = reached;
		told = terminate ? Terminated : 0;
	}
	memcpy(need(8), &told, 8);
	*numbers(1) = reached;
	pass(&outputs, numbers(outputs.values), false);
}

static void save(void)
{
	void *state = 0;
	size_t n = 0;
	if (!fmi.GetFMUState || !fmi.SerializedFMUStateSize || !fmi.SerializeFMUState || !fmi.FreeFMUState)
		fail(Error, "the library has no functions for its state");
	CALL(GetFMUState, &state);
	CALL(SerializedFMUStateSize, state, &n);
	CALL(SerializeFMUState, state, need(n), n);
	CALL(FreeFMUState, &state);
}

static void restore(void)
{
	void *state = 0;
	if (!fmi.SetFMUState || !fmi.DeserializeFMUState || !fmi.FreeFMUState)
		fail(Error, "the library has no functions for its state");
	CALL(DeserializeFMUState, take(size - at), size - at, &state);
	CALL(SetFMUState, state);
	CALL(FreeFMUState, &state);
}

int main(void)
{
	static char stack[1 << 16];
	struct rlimit none = {0, 0}, memory = {(rlim_t)8 << 30, (rlim_t)8 << 30};
	struct sigaction action;
	const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM};
	setrlimit(RLIMIT_CORE, &none);
#ifdef __linux__
	setrlimit(RLIMIT_AS, &memory);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	(void)memory;
	answers = dup(1);
	dup2(2, 1);
	shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
	if (shared == MAP_FAILED)
		return 1;
	close(3);
	memset(&action, 0, sizeof action);
	action.sa_handler = crashed;
	action.sa_flags = SA_ONSTACK;
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, 0);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, 0);
	signal(SIGINT, SIG_IGN); /* the parent decides */
	while (next()) {
		at = 0, used = 0, need(8);
		failure = OK, verb = "";
		if (!setjmp(failed)) {
			switch (operation) {
			case Load: load(); break;
			case Evaluate: evaluate(); break;
			case Event: event(); break;
			case Step: step(); break;
			case Completed: {
				move();
				uint64_t told = completed();
				memcpy(need(8), &told, 8);
				break;
			}
			case Save: save(); break;
			case Restore: restore(); break;
			default: return 1;
			}
		}
		answer(failure);
	}
}
