/* Behaviour trees in C99. The law of the tree is that of docs/semantics.md of Canopy: an instant settles by sweeps over
 * all tasks, up and down, until nothing changes. There is no heap, no recursion and no global state; the loops of an
 * instant are bounded by the number of tasks and a limit of iterations.
 *
 * A tree is constant and may be shared. The owner of an execution gives each leaf its inputs, settles the tree, and
 * carries out the procedures that the hooks report. */
#ifndef CANOPY_H
#define CANOPY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Status of a task. With the first three and CANOPY_SKIPPED it was judged without being activated. */
typedef enum {
  CANOPY_SUCCESS,
  CANOPY_FAILURE,
  CANOPY_ACCEPT,       /* asks to be activated; as a verdict: undecided */
  CANOPY_ACTIVATING,   /* its entry procedure runs */
  CANOPY_RUNNING,
  CANOPY_FINISHED,     /* succeeded */
  CANOPY_ABORTED,      /* failed */
  CANOPY_DEACTIVATING, /* its exit procedure runs */
  CANOPY_SKIPPED,
  CANOPY_DROPPED       /* what was left to do is skipped */
} canopy_status;

/* Number of a task: children come before their parent, the root is the last. */
typedef uint16_t canopy_task;

#define CANOPY_NONE UINT16_MAX

/* Time, and how many of its units are a second, as -DCANOPY_TIME=int64_t -DCANOPY_SECOND=1000000. */
#ifndef CANOPY_TIME
#define CANOPY_TIME double
#define CANOPY_SECOND 1
#endif
typedef CANOPY_TIME canopy_time;

/* A time that is so many nanoseconds after another one. Lengths add up exactly: 0.7 s and 0.1 s are 0.8 s. */
typedef struct {
  canopy_time from;
  int64_t ns;
} canopy_moment;

typedef enum { CANOPY_LEAF, CANOPY_CHAIN, CANOPY_COUNT, CANOPY_SCRIPT } canopy_family;

/* Properties of a task, one bit each. */
enum {
  CANOPY_ACTS = 1,     /* a leaf that can be activated: an action */
  CANOPY_MEMORY = 2,   /* keeps what has been passed over, counted or reached until it is deactivated */
  CANOPY_PROMPT = 4,   /* has scripts below it, and nothing that waits */
  CANOPY_PROMPTS = 8,  /* has a prompt child */
  CANOPY_REVISED = 16, /* its held result ends when the judgement of a leaf below it changes */
  CANOPY_QUICK = 32,   /* ends within the instant of its activation */
  CANOPY_LENIENT = 64, /* count: skipped children count as good ones */
  CANOPY_KEEPS = 128   /* script: the state survives the task's deactivation */
};

/* Constant description of a task. */
typedef struct {
  uint8_t family;
  uint8_t flags;
  uint8_t over;       /* chain: the judgement that is passed over; CANOPY_ACCEPT: none */
  uint8_t verdict[3]; /* chain: by the judgement of the child that decides */
  canopy_task parent; /* CANOPY_NONE: the root */
  uint16_t kids;      /* index of its first child in kids */
  uint16_t n;         /* number of children */
  uint16_t enough;    /* count: so many good children make it succeed */
  uint16_t too_many;  /* count: so many bad children make it fail */
  uint16_t quorum;    /* count: it returns only once so many are judged; 0: at once */
  uint16_t shared;    /* number of the resource that it shares, from 1; 0: none */
  uint16_t states;    /* script: index of its initial state in states */
  int32_t limit;      /* script: maximum number of runs of a child; -1: none */
  uint64_t msec;      /* script: time after which its timer elapses [ms] */
} canopy_node;

/* Step of an automaton by the judgement of the child of its state. */
typedef struct {
  uint8_t says;  /* the verdict; CANOPY_ACCEPT: it moves on */
  uint8_t to;    /* the next state, or the one that is kept after a verdict */
  uint8_t then;  /* the state in which a step goes on */
  uint8_t step;  /* it goes on so many children further */
  uint8_t again; /* it runs the child again */
} canopy_move;

/* Children of states other than by their place. */
enum { CANOPY_NOBODY = -1, CANOPY_HERE = -2, CANOPY_BEHIND = -3, CANOPY_LAST = -4 };

/* State of an automaton. */
typedef struct {
  int8_t child;      /* place of the child whose judgement decides, or one of the names above */
  uint8_t says;      /* the verdict if there is no such child */
  uint8_t after;     /* the next state when its timer has elapsed; 0: it has no timer */
  uint8_t whole;     /* steps lead to the last child, too */
  canopy_move on[3]; /* by the judgement: good, bad, skipped */
} canopy_state;

/* A condition that lasts until a task has ended. */
typedef struct {
  canopy_task condition;
  canopy_task until;
} canopy_lasting;

/* Constant description of a tree. */
typedef struct {
  const canopy_node *nodes;
  const canopy_task *kids;
  const canopy_state *states;
  const canopy_lasting *lasting;
  const char *const *names;
  uint16_t n; /* tasks */
  uint16_t lastings;
  uint16_t resources;
} canopy_tree;

/* Mutable state of a task. Its fields are for canopy.c only. */
typedef struct {
  uint8_t status;
  uint8_t hold;
  uint8_t result;
  uint8_t request;
  uint8_t outcome;
  uint8_t state;
  bool active;
  bool busy;
  bool slow_entry;
  bool slow_exit;
  bool timed;
  bool waits;
  bool wait;
  bool ended;
  bool granted;
  int32_t count;
  canopy_moment due; /* while its timer runs */
} canopy_told;

/* What an execution reports while it settles; each may be NULL. */
typedef struct {
  void (*changed)(void *context, canopy_task task, canopy_status from, canopy_status to, uint16_t iteration);
  void (*started)(void *context, canopy_task leaf, bool exit); /* a procedure: entry or exit */
  void (*timer)(void *context, canopy_task task, bool start);  /* starts or stops; its time is node.msec */
} canopy_hooks;

/* An execution of a tree. */
typedef struct {
  const canopy_tree *tree;
  canopy_told *tasks; /* tree->n */
  const canopy_hooks *hooks;
  void *context;
  canopy_moment present; /* at the time now */
  canopy_time now;       /* at which a timer was last started */
  uint16_t iteration;
  bool changes;
  bool halted;
  bool reran; /* a loop has run its child again in the last settling, or has begun to wait with that */
} canopy_run;

/* Begins an execution: conditions are false, actions ask to be activated, and procedures take no time. Inputs may
 * follow; canopy_judge judges all tasks before the first canopy_settle. */
void canopy_begin(canopy_run *run, const canopy_tree *tree, canopy_told *tasks, const canopy_hooks *hooks,
                  void *context);
void canopy_judge(canopy_run *run);

/* Settles an instant after its inputs. It returns false if the tree does not settle within a number of iterations. */
bool canopy_settle(canopy_run *run, uint16_t limit);

/* Withdraws activity from the root for ever, and starts all exit procedures. */
void canopy_halt(canopy_run *run);

canopy_status canopy_status_of(const canopy_run *run, canopy_task task);
bool canopy_active(const canopy_run *run, canopy_task task);

/* Inputs. A request is the verdict of an action that is not active: CANOPY_ACCEPT, CANOPY_SUCCESS or CANOPY_FAILURE. An
 * end is its outcome; it is ignored unless the action is Activating or Running. A slow procedure is complete only with
 * canopy_entered or canopy_exited. A loop that waits runs its child again only after canopy_again. */
void canopy_set(canopy_run *run, canopy_task condition, bool value);
void canopy_request(canopy_run *run, canopy_task action, canopy_status request);
void canopy_end(canopy_run *run, canopy_task action, canopy_status outcome);
void canopy_slow(canopy_run *run, canopy_task action, bool entry_too, bool exit_too);
void canopy_entered(canopy_run *run, canopy_task action);
void canopy_exited(canopy_run *run, canopy_task action);
void canopy_elapsed(canopy_run *run, canopy_task task);
void canopy_wait(canopy_run *run, canopy_task loop);
void canopy_again(canopy_run *run, canopy_task loop);

/* Timers, for an owner that has a time: canopy_timer starts the one of a task, canopy_due lets those elapse whose time is
 * over, and reports whether there are any, and canopy_next finds the time of the next one, false: none runs. */
void canopy_timer(canopy_run *run, canopy_task task, canopy_time now);
bool canopy_due(canopy_run *run, canopy_time now);
bool canopy_next(const canopy_run *run, canopy_time *next);

/* The present as a moment: that at which some timer elapses, else one of its own; a moment that is so many seconds, at
 * least 0, after another one; and the time of a moment. */
canopy_moment canopy_present(canopy_run *run, canopy_time now);
canopy_moment canopy_after(canopy_moment moment, double seconds);
canopy_time canopy_when(canopy_moment moment);

/* What a program does for a leaf; each function may be NULL. Without judge, a condition keeps what canopy_set says, and
 * an action what canopy_request says. Without poll, an action goes on until canopy_end. */
typedef struct {
  void *context;
  canopy_status (*judge)(void *context); /* a condition: CANOPY_SUCCESS or CANOPY_FAILURE; an action: its request */
  void (*start)(void *context);          /* the action becomes Activating */
  canopy_status (*poll)(void *context);  /* while it is active: CANOPY_SUCCESS, CANOPY_FAILURE or CANOPY_RUNNING */
  void (*stop)(void *context);           /* the action becomes Deactivating, for whatever reason */
} canopy_leaf;

/* A tree with its leaves: leaves has one for each task, of which those of leaves count. */
typedef struct {
  canopy_run run;
  const canopy_leaf *leaves;
  const canopy_hooks *hooks; /* also told; may be NULL */
  void *context;             /* of hooks */
  canopy_time now;
  bool begun;
} canopy_plan;

/* Begins an execution of a tree whose leaves are functions. */
void canopy_plan_begin(canopy_plan *plan, const canopy_tree *tree, canopy_told *tasks, const canopy_leaf *leaves,
                       const canopy_hooks *hooks, void *context);

/* Brings the plan up to date: asks all leaves, and settles until they say nothing new, in at most so many rounds, each
 * of at most CANOPY_LIMIT iterations. It returns false if that does not suffice. The time must not decrease. */
bool canopy_plan_step(canopy_plan *plan, canopy_time now, uint16_t rounds);

/* Stops the plan: all actions that are active are stopped. */
void canopy_plan_halt(canopy_plan *plan);

/* Finds the time at which the next timer elapses; it returns false if none runs. */
bool canopy_plan_next(const canopy_plan *plan, canopy_time *next);

/* Maximum number of iterations of a settling. */
#ifndef CANOPY_LIMIT
#define CANOPY_LIMIT 1000U
#endif

#ifdef __cplusplus
}
#endif

#endif
