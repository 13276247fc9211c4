/* A plan with its expressions: the leaves of a tree judge, and write, by functions of a vector of signals. The law of
 * the leaves is that of docs/semantics.md of Canopy. There is no heap, no recursion and no global state. */
#ifndef CANOPY_PROGRAM_H
#define CANOPY_PROGRAM_H

#include "canopy.h"
#include "canopy_functions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Function of the signals, of which the first is the time [s]. */
typedef bool (*canopy_test)(const double *s);

/* What the formulas of a leaf say. */
typedef enum {
  CANOPY_ON,         /* a condition becomes true */
  CANOPY_OFF,        /* a condition becomes false if CANOPY_ON does not hold */
  CANOPY_SUCCESS_IF, /* the request of an action */
  CANOPY_FAILURE_IF,
  CANOPY_DONE, /* its outcome while it is active */
  CANOPY_FAILED,
  CANOPY_ENTERED, /* its entry procedure is complete */
  CANOPY_EXITED,
  CANOPY_CRITERIA /* their number */
} canopy_criterion;

/* Effects of a leaf on slots. */
enum { CANOPY_RESTING, CANOPY_WRITING, CANOPY_LEAVING };

/* Part of a table. */
typedef struct {
  uint16_t first;
  uint16_t n;
} canopy_range;

/* Assignment: sets a slot to a value, once. */
typedef struct {
  uint16_t slot;
  uint16_t captured;  /* place of the value among those that procedures capture */
  canopy_range reads; /* entries of the blackboard */
  canopy_value value; /* NULL: none */
  canopy_test known;  /* else it is not made; NULL: it always is */
} canopy_assignment;

/* Leaf with its formulas; NULL: it has none. */
typedef struct {
  canopy_task task;
  bool condition;
  bool lasts;              /* a condition that stays true until a task has ended */
  canopy_task interrupted; /* a task whose interruption makes the assignments of the entry; CANOPY_NONE: none */
  uint16_t place;          /* in the order in which a tick reaches the leaves */
  canopy_range entry;      /* assignments */
  canopy_range exit;
  canopy_value entry_time; /* [s] */
  canopy_value exit_time;
  canopy_test formulas[CANOPY_CRITERIA];
  canopy_range reads[CANOPY_CRITERIA]; /* entries of the blackboard */
} canopy_code;

/* Writer of a slot: the first one in the order of the tree that is active counts. */
typedef struct {
  uint16_t leaf;
  uint8_t phase;
  bool discrete; /* a truth, or a word of an enumeration */
  uint16_t captured;
  canopy_value value; /* NULL: the captured one */
  canopy_test known;  /* while it is not, the captured one counts; NULL: it always is */
} canopy_writer;

/* Signal that leaves write. */
typedef struct {
  double initial;
  bool empty; /* it has no value at the start */
  bool entry; /* of a blackboard */
  bool hold;  /* it keeps the last value; else it returns to the initial one */
  uint16_t signal;
  canopy_range writers;
  canopy_range readers; /* leaves that judge by it, if it is an entry */
} canopy_slot;

/* Evaluation of a signal, in their order: of a slot, or of an expression. */
typedef struct {
  uint16_t slot;
  uint16_t signal;
  canopy_value value; /* NULL: the slot */
} canopy_evaluation;

/* Relation of the formulas of some leaves: of a plan with a loop and a blackboard. */
typedef struct {
  canopy_value difference; /* of its sides */
  canopy_range of;
} canopy_relation;

/* Leaf with a relation, by the bits of the criteria. */
typedef struct {
  uint16_t leaf;
  uint8_t criteria;
} canopy_heed;

/* Constant description of a plan. */
typedef struct {
  const canopy_tree *tree;
  const canopy_code *leaves;
  const canopy_assignment *assignments;
  const canopy_slot *slots;
  const canopy_writer *writers;
  const canopy_evaluation *evaluations;
  const uint16_t *reads;   /* slots */
  const uint16_t *readers; /* leaves */
  const canopy_relation *relations;
  const canopy_heed *heeds;
  uint16_t n; /* leaves */
  uint16_t slots_n;
  uint16_t evaluations_n;
  uint16_t signals_n;
  uint16_t captured_n;
  uint16_t relations_n;
  bool passes; /* it has a loop and a blackboard */
} canopy_program;

/* Mutable state of a leaf. Its fields are for canopy_program.c only. */
typedef struct {
  bool value;
  bool spent;
  bool timed;
  bool passed; /* what it judges by was written after it in the order of the tree: it is judged in the next pass */
  uint8_t request;
  uint8_t outcome;
  uint8_t procedure;
  uint8_t phase;
  uint8_t watched; /* criteria whose change can change it */
  canopy_moment due; /* while timed */
} canopy_known;

/* Value that is stored, or none. */
typedef struct {
  double value;
  bool none;
} canopy_stored;

/* An execution of a plan. */
typedef struct {
  canopy_run run;
  const canopy_program *program;
  const canopy_hooks *hooks; /* also told; may be NULL */
  void *context;             /* of hooks */
  canopy_known *leaves;      /* program->n */
  double *signals;           /* program->signals_n: the time, the inputs, slots and expressions */
  canopy_stored *held;       /* program->slots_n */
  canopy_stored *captured;   /* program->captured_n */
  bool *above;               /* program->relations_n */
  uint64_t last;             /* what had been reached when the loops ran last in this step, without inputs */
  canopy_time now;
  bool begun;
  bool impossible;
  bool unset;
  bool outside;  /* a relation that is watched has changed */
  bool reran;    /* a loop has run its child again in this step */
  bool remembers; /* last is known */
} canopy_execution;

/* How a step ends. */
typedef enum {
  CANOPY_FINE,
  CANOPY_UNSETTLED, /* the plan and its signals keep changing each other, or the tree is in an instantaneous loop */
  CANOPY_DURATION,  /* a procedure would take a time that is negative or NaN; it is over at once */
  CANOPY_UNSET      /* an assignment reads an entry of the blackboard that has no value; it is not made */
} canopy_fault;

/* Begins an execution, with the arrays that it works on. */
void canopy_execution_begin(canopy_execution *x, const canopy_program *program, canopy_told *tasks, canopy_known *leaves,
                            double *signals, canopy_stored *held, canopy_stored *captured, bool *above);

/* Brings the plan up to date with the inputs among its signals, at a time that must not decrease: it settles until
 * nothing new follows, in at most so many rounds, each of at most CANOPY_LIMIT iterations. */
canopy_fault canopy_execution_step(canopy_execution *x, canopy_time now, uint16_t rounds);

/* Evaluates the signals that follow from the inputs, between two steps: nothing is judged. */
void canopy_execution_evaluate(canopy_execution *x);

/* Lets an execution that was copied work on these arrays, with its own hooks only; program NULL: on nothing. */
void canopy_execution_attach(canopy_execution *x, const canopy_program *program, canopy_told *tasks, canopy_known *leaves,
                             double *signals, canopy_stored *held, canopy_stored *captured, bool *above);

/* Withdraws activity from the plan for ever, and starts all exit procedures. Those that take time end in later steps. */
void canopy_execution_halt(canopy_execution *x);

/* Finds the time at which a step is due if no input changes before; it returns false if there is none. */
bool canopy_execution_next(const canopy_execution *x, canopy_time *next);

#ifdef __cplusplus
}
#endif

#endif
