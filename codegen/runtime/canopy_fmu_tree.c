/* A tree as a model, whose leaves are inputs: of a condition whether it holds, of an action how it ends. Its values are
 * the inputs and the statuses of its tasks. */
#include "canopy_fmu.h"

#include <string.h>

typedef struct {
  canopy_run run;
  canopy_told tasks[TREE_TASKS];
  double now;
  bool begun;
} tree_state;

enum { TREE_RUNNING, TREE_SUCCESS, TREE_FAILURE };

static void tree_timer(void *context, canopy_task task, bool starts) {
  tree_state *tree = context;
  if (starts) {
    canopy_timer(&tree->run, task, tree->now);
  }
}

static const canopy_hooks tree_hooks = {NULL, NULL, tree_timer};

static size_t tree_size(void) { return sizeof(tree_state); }

static void tree_attach(void *self, double *v) {
  tree_state *tree = self;
  tree->run.tree = v != NULL ? &TREE : NULL;
  tree->run.tasks = v != NULL ? tree->tasks : NULL;
  tree->run.hooks = v != NULL ? &tree_hooks : NULL;
  tree->run.context = v != NULL ? tree : NULL;
}

static bool tree_begin(void *self, double *v) {
  tree_state *tree = self;
  (void)v;
  memset(tree, 0, sizeof *tree);
  canopy_begin(&tree->run, &TREE, tree->tasks, &tree_hooks, tree);
  return true;
}

/* Tells the tree what the leaves say, and reports whether something is new. */
static bool tree_inputs(tree_state *tree, const double *v) {
  bool news = canopy_due(&tree->run, tree->now);
  for (unsigned i = 0; i < TREE_LEAVES; i++) {
    const canopy_task t = tree_leaves[i];
    const canopy_status status = canopy_status_of(&tree->run, t);
    const int says = (int)v[1U + i];
    if ((TREE.nodes[t].flags & CANOPY_ACTS) == 0U) {
      news = news || (status == CANOPY_SUCCESS) != (says != 0);
      canopy_set(&tree->run, t, says != 0);
    } else if (says != TREE_RUNNING && (status == CANOPY_ACTIVATING || status == CANOPY_RUNNING)) {
      canopy_end(&tree->run, t, says == TREE_SUCCESS ? CANOPY_SUCCESS : CANOPY_FAILURE);
      news = true;
    }
  }
  return news;
}

static const char *tree_event(void *self, double *v, double *next) {
  tree_state *tree = self;
  tree->now = v[0];
  bool news = tree_inputs(tree, v) || !tree->begun;
  if (!tree->begun) {
    canopy_judge(&tree->run);
    tree->begun = true;
  }
  for (unsigned round = 0; news; round++) {
    if (round == 100U || !canopy_settle(&tree->run, CANOPY_LIMIT)) {
      return "the tree does not settle";
    }
    news = tree_inputs(tree, v);
  }
  for (canopy_task t = 0; t < TREE_TASKS; t++) {
    v[1U + TREE_LEAVES + t] = (double)canopy_status_of(&tree->run, t);
  }
  (void)canopy_next(&tree->run, next);
  return NULL;
}

static void tree_evaluate(void *self, double *v, unsigned parts) {
  (void)parts;
  (void)self;
  (void)v;
}

#define MODEL_FUNCTIONS tree_size, tree_begin, tree_event, tree_evaluate, tree_attach
