/* A plan with its expressions as a model. Its values are the signals of the plan, then the levels of its thresholds, the
 * statuses of its tasks, and its event indicators. */
#include "canopy_fmu.h"

#include <string.h>

static size_t plan_size(void) { return sizeof(PLAN); }

static void plan_attach(void *self, double *v) {
  PLAN *plan = self;
  canopy_execution_attach(&plan->x, v != NULL ? &PLAN_PROGRAM : NULL, plan->tasks, plan->leaves, v, plan->held,
                          plan->captured, plan->above);
}

static void plan_show(PLAN *plan, double *v) {
  for (canopy_task t = 0; t < PLAN_TASKS; t++) {
    v[PLAN_STATUS + t] = (double)canopy_status_of(&plan->x.run, t);
  }
}

static bool plan_begin(void *self, double *v) {
  PLAN *plan = self;
  memset(plan, 0, sizeof *plan);
  canopy_execution_begin(&plan->x, &PLAN_PROGRAM, plan->tasks, plan->leaves, plan->signals, plan->held, plan->captured,
                         plan->above);
  plan_attach(plan, v);
  return true;
}

static const char *plan_event(void *self, double *v, double *next) {
  static const char *const faults[] = {NULL, "the plan and its signals keep changing each other",
                                       "a procedure would take a time that is negative",
                                       "an assignment reads an entry of the blackboard that has no value"};
  PLAN *plan = self;
  const canopy_fault fault = canopy_execution_step(&plan->x, v[0], 100);
  (void)canopy_execution_next(&plan->x, next);
  plan_show(plan, v);
  return faults[fault];
}

static void plan_evaluate(void *self, double *v, unsigned parts) {
  PLAN *plan = self;
  (void)parts;
  canopy_execution_evaluate(&plan->x);
  for (unsigned i = 0; i < plan_indicators_n; i++) {
    v[PLAN_INDICATOR + i] = -plan_indicators[i](v);
  }
}

#define MODEL_FUNCTIONS plan_size, plan_begin, plan_event, plan_evaluate, plan_attach
