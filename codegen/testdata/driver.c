/* Runs trees that it reads as numbers, for tests: standard input has trees, inputs and commands, one on a line, and
 * standard output what happens. */
#include "canopy.h"
#ifdef HEADER
#include HEADER
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long number(void) {
  long n = 0;
  if (scanf("%ld", &n) != 1) {
    exit(2);
  }
  return n;
}

static void *array(size_t n, size_t size) {
  void *p = calloc(n + 1U, size);
  if (p == NULL) {
    exit(2);
  }
  return p;
}

static void changed(void *context, canopy_task task, canopy_status from, canopy_status to, uint16_t iteration) {
  (void)context;
  printf("%u: %d -> %d (%u)\n", (unsigned)task, (int)from, (int)to, (unsigned)iteration);
}

static void started(void *context, canopy_task leaf, bool leaving) {
  (void)context;
  printf("%u: %s\n", (unsigned)leaf, leaving ? "exit" : "entry");
}

enum { MOST = 1000 };
static canopy_task timings[MOST];
static size_t timing_count;

static void timer(void *context, canopy_task task, bool starts) {
  (void)context;
  timings[timing_count] = (canopy_task)(2U * task + (starts ? 1U : 0U));
  timing_count = (timing_count + 1U) % MOST;
}

/* Writes the timers that have been started and stopped. */
static void write_timings(void) {
  for (size_t i = 0; i < timing_count; i++) {
    printf("%u: the timer %s\n", (unsigned)(timings[i] / 2U), timings[i] % 2U == 1U ? "starts" : "stops");
  }
  timing_count = 0;
}

static const canopy_hooks hooks = {changed, started, timer};

static canopy_tree tree;
static canopy_node *nodes;
static canopy_task *kids;
static canopy_state *states;
static canopy_lasting *lasting;
static canopy_told *tasks;
static canopy_run run;

static void read_tree(void) {
  free(nodes);
  free(kids);
  free(states);
  free(lasting);
  free(tasks);
  tree.n = (uint16_t)number();
  const size_t kid_count = (size_t)number();
  const size_t state_count = (size_t)number();
  tree.lastings = (uint16_t)number();
  tree.resources = (uint16_t)number();
  nodes = array(tree.n, sizeof *nodes);
  kids = array(kid_count, sizeof *kids);
  states = array(state_count, sizeof *states);
  lasting = array(tree.lastings, sizeof *lasting);
  tasks = array(tree.n, sizeof *tasks);
  for (size_t i = 0; i < tree.n; i++) {
    canopy_node *n = &nodes[i];
    n->family = (uint8_t)number();
    n->flags = (uint8_t)number();
    n->over = (uint8_t)number();
    for (int k = 0; k < 3; k++) {
      n->verdict[k] = (uint8_t)number();
    }
    n->parent = (canopy_task)number();
    n->kids = (uint16_t)number();
    n->n = (uint16_t)number();
    n->enough = (uint16_t)number();
    n->too_many = (uint16_t)number();
    n->quorum = (uint16_t)number();
    n->shared = (uint16_t)number();
    n->states = (uint16_t)number();
    n->limit = (int32_t)number();
    n->msec = (uint64_t)number();
  }
  for (size_t i = 0; i < kid_count; i++) {
    kids[i] = (canopy_task)number();
  }
  for (size_t i = 0; i < state_count; i++) {
    canopy_state *s = &states[i];
    s->child = (int8_t)number();
    s->says = (uint8_t)number();
    s->after = (uint8_t)number();
    s->whole = (uint8_t)number();
    for (int k = 0; k < 3; k++) {
      s->on[k].says = (uint8_t)number();
      s->on[k].to = (uint8_t)number();
      s->on[k].then = (uint8_t)number();
      s->on[k].step = (uint8_t)number();
      s->on[k].again = (uint8_t)number();
    }
  }
  for (size_t i = 0; i < tree.lastings; i++) {
    lasting[i].condition = (canopy_task)number();
    lasting[i].until = (canopy_task)number();
  }
  tree.nodes = nodes;
  tree.kids = kids;
  tree.states = states;
  tree.lasting = lasting;
  canopy_begin(&run, &tree, tasks, &hooks, NULL);
}

/* Writes each task's status, activity and held result. */
static void state(void) {
  for (size_t i = 0; i < tree.n; i++) {
    printf("%d%s", (int)canopy_status_of(&run, (canopy_task)i), canopy_active(&run, (canopy_task)i) ? "a" : "");
    if (tasks[i].hold != 0U) {
      printf("%c%d", tasks[i].hold == 1U ? 'h' : 'p', (int)tasks[i].result);
    }
    printf(" ");
  }
  printf("\n");
}

int main(void) {
  char word[16];
#ifdef TREE
  tree = TREE;
  tasks = array(tree.n, sizeof *tasks);
  canopy_begin(&run, &tree, tasks, &hooks, NULL);
#endif
  while (scanf("%15s", word) == 1) {
    if (strcmp(word, "tree") == 0) {
      read_tree();
    } else if (strcmp(word, "judge") == 0) {
      canopy_judge(&run);
    } else if (strcmp(word, "settle") == 0) {
      if (!canopy_settle(&run, (uint16_t)number())) {
        printf("loop\n");
      }
      write_timings();
    } else if (strcmp(word, "halt") == 0) {
      canopy_halt(&run);
      write_timings();
    } else if (strcmp(word, "state") == 0) {
      state();
    } else {
      const canopy_task task = (canopy_task)number();
      if (strcmp(word, "set") == 0) {
        canopy_set(&run, task, number() != 0);
      } else if (strcmp(word, "request") == 0) {
        canopy_request(&run, task, (canopy_status)number());
      } else if (strcmp(word, "end") == 0) {
        canopy_end(&run, task, (canopy_status)number());
      } else if (strcmp(word, "slow") == 0) {
        const bool entry_too = number() != 0;
        canopy_slow(&run, task, entry_too, number() != 0);
      } else if (strcmp(word, "entered") == 0) {
        canopy_entered(&run, task);
      } else if (strcmp(word, "exited") == 0) {
        canopy_exited(&run, task);
      } else if (strcmp(word, "elapsed") == 0) {
        canopy_elapsed(&run, task);
      } else if (strcmp(word, "wait") == 0) {
        canopy_wait(&run, task);
      } else if (strcmp(word, "again") == 0) {
        canopy_again(&run, task);
      } else {
        return 2;
      }
    }
  }
  return 0;
}
