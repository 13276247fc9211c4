/* The law of the leaves; see canopy_program.h. */
#include "canopy_program.h"

#include <math.h>
#include <stddef.h>

enum { NO_PROCEDURE, ENTERING, EXITING };

/* The writer whose value a slot has; NULL: none, it has its held value. */
static const canopy_writer *writer_of(const canopy_execution *x, const canopy_slot *slot) {
  for (uint16_t i = 0; i < slot->writers.n; i++) {
    const canopy_writer *w = &x->program->writers[slot->writers.first + i];
    if (x->leaves[w->leaf].phase == w->phase) {
      return w;
    }
  }
  return NULL;
}

/* Whether a captured value counts instead of the one that a writer gives. */
static bool captures(const canopy_execution *x, const canopy_writer *w) {
  return w->value == NULL || (w->known != NULL && x->captured[w->captured].none);
}

/* Whether one of these entries has no value. */
static bool unset(const canopy_execution *x, canopy_range reads) {
  for (uint16_t i = 0; i < reads.n; i++) {
    const uint16_t slot = x->program->reads[reads.first + i];
    const canopy_writer *w = writer_of(x, &x->program->slots[slot]);
    if (w == NULL ? x->held[slot].none : w->value == NULL && x->captured[w->captured].none) {
      return true;
    }
  }
  return false;
}

/* Whether a formula holds: none that reads an entry without a value does. */
static bool holds(const canopy_execution *x, const canopy_code *leaf, canopy_criterion criterion) {
  const canopy_test is = leaf->formulas[criterion];
  return is != NULL && !unset(x, leaf->reads[criterion]) && is(x->signals);
}

/* Evaluates all signals with the present inputs. */
static void evaluate(canopy_execution *x) {
  for (uint16_t i = 0; i < x->program->evaluations_n; i++) {
    const canopy_evaluation *e = &x->program->evaluations[i];
    if (e->value != NULL) {
      x->signals[e->signal] = e->value(x->signals);
      continue;
    }
    const canopy_writer *w = writer_of(x, &x->program->slots[e->slot]);
    if (w == NULL) {
      x->signals[e->signal] = x->held[e->slot].value;
    } else if (captures(x, w)) {
      x->signals[e->signal] = x->captured[w->captured].value;
    } else {
      x->signals[e->signal] = w->value(x->signals);
    }
  }
}

/* The present value of a slot. */
static canopy_stored present(const canopy_execution *x, uint16_t slot) {
  const canopy_slot *s = &x->program->slots[slot];
  const canopy_writer *w = writer_of(x, s);
  canopy_stored is = {x->signals[s->signal], false};
  if (w == NULL) {
    is.none = x->held[slot].none;
  } else if (w->value == NULL) {
    is.none = x->captured[w->captured].none;
  }
  return is;
}

/* Sets a leaf to a phase in which it writes the values of assignments, captured one after the other, each with the
 * effect of the earlier ones; before its turn, an assignment's slot keeps its value. */
static void assign(canopy_execution *x, uint16_t leaf, uint8_t phase, canopy_range these) {
  const canopy_assignment *list = &x->program->assignments[these.first];
  evaluate(x);
  for (uint16_t i = 0; i < these.n; i++) {
    x->captured[list[i].captured] = present(x, list[i].slot);
  }
  x->leaves[leaf].phase = phase;
  for (uint16_t i = 0; i < these.n; i++) {
    evaluate(x);
    if (list[i].known != NULL && !list[i].known(x->signals)) {
      continue; /* it keeps the value that it had */
    }
    if (unset(x, list[i].reads)) {
      x->unset = true;
      break;
    }
    x->captured[list[i].captured] = (canopy_stored){NAN, true};
    if (list[i].value != NULL) {
      x->captured[list[i].captured] = (canopy_stored){list[i].value(x->signals), false};
    }
  }
}

/* Lets slots whose written values are not known keep the values that they had, and the others follow again: before an
 * action becomes active, or of all that are. It reports whether one has changed. */
static bool keep_unknown(canopy_execution *x, uint16_t leaf, bool discrete) {
  const bool all = leaf == x->program->n;
  bool changed = false;
  for (uint16_t i = 0; i < x->program->slots_n; i++) {
    const canopy_range writers = x->program->slots[i].writers;
    for (uint16_t k = writers.first; k < writers.first + writers.n; k++) {
      const canopy_writer *w = &x->program->writers[k];
      const bool ours = all ? x->leaves[w->leaf].phase == w->phase && w->discrete == discrete : w->leaf == leaf;
      if (w->known == NULL || !ours) {
        continue;
      }
      evaluate(x);
      canopy_stored *captured = &x->captured[w->captured];
      const bool unknown = !w->known(x->signals);
      if (unknown && !all) {
        const canopy_stored now = present(x, i);
        captured->value = now.none ? NAN : now.value;
      } else if (unknown && !captured->none) {
        captured->value = w->value(x->signals);
      }
      changed = changed || (all && unknown != captured->none);
      captured->none = unknown;
    }
  }
  return changed;
}

/* Notes that an action makes assignments, at its start or at its end: leaves before it in the order of the tree that
 * judge by what it writes are judged in the next pass, at its end also itself. */
static void reach(canopy_execution *x, uint16_t leaf, canopy_range these, bool end) {
  const uint16_t place = x->program->leaves[leaf].place;
  for (uint16_t i = 0; i < these.n; i++) {
    const canopy_slot *slot = &x->program->slots[x->program->assignments[these.first + i].slot];
    for (uint16_t k = 0; slot->entry && k < slot->readers.n; k++) {
      const uint16_t reader = x->program->readers[slot->readers.first + k];
      const uint16_t at = x->program->leaves[reader].place;
      x->leaves[reader].passed = x->leaves[reader].passed || at < place || (at == place && end);
    }
  }
}

/* Lets the slots that keep their values have what an action writes now. */
static void keep_values(canopy_execution *x, uint16_t leaf) {
  evaluate(x);
  for (uint16_t i = 0; i < x->program->slots_n; i++) {
    const canopy_slot *slot = &x->program->slots[i];
    bool writes = false;
    for (uint16_t k = 0; k < slot->writers.n; k++) {
      const canopy_writer *w = &x->program->writers[slot->writers.first + k];
      writes = writes || (w->leaf == leaf && w->phase == CANOPY_WRITING);
    }
    if (writes && slot->hold) {
      x->held[i] = present(x, i);
    }
  }
}

/* Completes the exit procedure of an action. */
static void exited(canopy_execution *x, uint16_t leaf) {
  const canopy_code *code = &x->program->leaves[leaf];
  x->leaves[leaf].phase = CANOPY_RESTING;
  for (uint16_t i = 0; i < code->exit.n; i++) {
    const canopy_assignment *a = &x->program->assignments[code->exit.first + i];
    if (x->program->slots[a->slot].hold) {
      x->held[a->slot] = x->captured[a->captured];
    }
  }
}

/* The present as a moment: that at which a procedure or a timer ends, else one of its own. */
static canopy_moment present_moment(canopy_execution *x) {
  if (x->now != x->run.now) {
    (void)canopy_present(&x->run, x->now);
    for (uint16_t i = x->program->n; i > 0U; i--) { /* the first one counts */
      if (canopy_when(x->leaves[i - 1U].due) == x->now) {
        x->run.present = x->leaves[i - 1U].due;
      }
    }
  }
  return x->run.present;
}

/* Starts the clock of a procedure. */
static void start_clock(canopy_execution *x, canopy_known *leaf, canopy_value length) {
  leaf->timed = length != NULL;
  if (leaf->timed) {
    evaluate(x);
    double seconds = length(x->signals);
    if (!(seconds >= 0.0)) {
      x->impossible = true;
      seconds = 0.0;
    }
    leaf->due = canopy_after(present_moment(x), seconds);
  }
}

static bool slow(const canopy_code *leaf, bool leaving) {
  return leaving ? leaf->exit_time != NULL || leaf->formulas[CANOPY_EXITED] != NULL
                 : leaf->entry_time != NULL || leaf->formulas[CANOPY_ENTERED] != NULL;
}

/* The leaf of a task; program->n: none. */
static uint16_t leaf_of(const canopy_execution *x, canopy_task task) {
  uint16_t i = 0;
  while (i < x->program->n && x->program->leaves[i].task != task) {
    i++;
  }
  return i;
}

static void told_started(void *context, canopy_task task, bool leaving) {
  canopy_execution *x = context;
  const uint16_t i = leaf_of(x, task);
  if (x->hooks != NULL && x->hooks->started != NULL) {
    x->hooks->started(x->context, task, leaving);
  }
  if (i == x->program->n) {
    return;
  }
  const canopy_code *code = &x->program->leaves[i];
  canopy_known *leaf = &x->leaves[i];
  const bool takes_time = slow(code, leaving);
  leaf->procedure = NO_PROCEDURE;
  leaf->outcome = CANOPY_ACCEPT;
  leaf->timed = false;
  if (leaving) {
    reach(x, i, code->exit, true);
    keep_values(x, i);
    assign(x, i, CANOPY_LEAVING, code->exit);
    if (!takes_time) {
      exited(x, i);
    }
  } else {
    reach(x, i, code->entry, false);
    (void)keep_unknown(x, i, false);
    assign(x, i, CANOPY_WRITING, code->entry);
  }
  if (takes_time) {
    leaf->procedure = leaving ? EXITING : ENTERING;
    start_clock(x, leaf, leaving ? code->exit_time : code->entry_time);
  }
}

static void told_changed(void *context, canopy_task task, canopy_status from, canopy_status to, uint16_t iteration) {
  canopy_execution *x = context;
  const canopy_tree *tree = x->program->tree;
  if (x->hooks != NULL && x->hooks->changed != NULL) {
    x->hooks->changed(x->context, task, from, to, iteration);
  }
  const bool ends = to == CANOPY_FINISHED || to == CANOPY_ABORTED;
  for (uint16_t i = 0; ends && i < tree->lastings; i++) {
    if (tree->lasting[i].until == task) {
      canopy_known *leaf = &x->leaves[leaf_of(x, tree->lasting[i].condition)];
      leaf->value = false;
      leaf->spent = true;
    }
  }
  const bool interrupted = to == CANOPY_DEACTIVATING && from != CANOPY_FINISHED && from != CANOPY_ABORTED;
  for (uint16_t i = 0; interrupted && i < x->program->n; i++) {
    const canopy_code *code = &x->program->leaves[i];
    if (code->interrupted == task) {
      assign(x, i, CANOPY_WRITING, code->entry);
      keep_values(x, i);
      x->leaves[i].phase = CANOPY_RESTING;
    }
  }
}

static void told_timer(void *context, canopy_task task, bool starts) {
  canopy_execution *x = context;
  if (starts) {
    (void)present_moment(x);
    canopy_timer(&x->run, task, x->now);
  }
  if (x->hooks != NULL && x->hooks->timer != NULL) {
    x->hooks->timer(x->context, task, starts);
  }
}

static const canopy_hooks told = {told_changed, told_started, told_timer};

void canopy_execution_attach(canopy_execution *x, const canopy_program *program, canopy_told *tasks, canopy_known *leaves,
                             double *signals, canopy_stored *held, canopy_stored *captured, bool *above) {
  const bool any = program != NULL;
  x->program = program;
  x->hooks = NULL;
  x->context = NULL;
  x->leaves = any ? leaves : NULL;
  x->signals = any ? signals : NULL;
  x->held = any ? held : NULL;
  x->captured = any ? captured : NULL;
  x->above = any ? above : NULL;
  x->run.tree = any ? program->tree : NULL;
  x->run.tasks = any ? tasks : NULL;
  x->run.hooks = any ? &told : NULL;
  x->run.context = any ? x : NULL;
}

void canopy_execution_begin(canopy_execution *x, const canopy_program *program, canopy_told *tasks, canopy_known *leaves,
                            double *signals, canopy_stored *held, canopy_stored *captured, bool *above) {
  canopy_execution_attach(x, program, tasks, leaves, signals, held, captured, above);
  x->last = 0U;
  x->outside = false;
  x->reran = false;
  x->remembers = false;
  x->now = 0;
  x->begun = false;
  x->impossible = false;
  x->unset = false;
  canopy_begin(&x->run, program->tree, tasks, &told, x);
  for (uint16_t i = 0; i < program->signals_n; i++) {
    signals[i] = 0.0;
  }
  for (uint16_t i = 0; i < program->slots_n; i++) {
    const canopy_slot *slot = &program->slots[i];
    held[i] = (canopy_stored){slot->empty ? NAN : slot->initial, slot->empty};
  }
  for (uint16_t i = 0; i < program->captured_n; i++) {
    captured[i] = (canopy_stored){0.0, false};
  }
  for (uint16_t i = 0; i < program->relations_n; i++) {
    above[i] = false;
  }
  for (uint16_t i = 0; i < program->n; i++) {
    const canopy_code *code = &program->leaves[i];
    leaves[i] = (canopy_known){false, false, false, false, CANOPY_ACCEPT, CANOPY_ACCEPT, NO_PROCEDURE, CANOPY_RESTING, 0, {0, 0}};
    if (!code->condition) {
      canopy_slow(&x->run, code->task, slow(code, false), slow(code, true));
    }
  }
}

/* Judges a condition, and reports whether that is new. */
static bool judge(canopy_execution *x, const canopy_code *code, canopy_known *leaf) {
  const bool before = leaf->value;
  const bool on = holds(x, code, CANOPY_ON);
  const bool off = code->formulas[CANOPY_OFF] != NULL ? holds(x, code, CANOPY_OFF) : !code->lasts;
  leaf->value = (on || (before && !off)) && !leaf->spent;
  leaf->spent = leaf->spent && on;
  if (leaf->value != before) {
    canopy_set(&x->run, code->task, leaf->value);
  }
  return leaf->value != before;
}

/* Failure if the first formula holds, else success if the second does. */
static uint8_t verdict(const canopy_execution *x, const canopy_code *code, canopy_criterion failure,
                       canopy_criterion success) {
  if (holds(x, code, failure)) {
    return CANOPY_FAILURE;
  }
  return holds(x, code, success) ? CANOPY_SUCCESS : CANOPY_ACCEPT;
}

/* Tells the engine what is new of an action, and reports whether something is. */
static bool ask_action(canopy_execution *x, const canopy_code *code, canopy_known *leaf) {
  const canopy_status status = canopy_status_of(&x->run, code->task);
  bool news = false;
  uint8_t is = verdict(x, code, CANOPY_FAILURE_IF, CANOPY_SUCCESS_IF);
  if (is != leaf->request) {
    leaf->request = is;
    canopy_request(&x->run, code->task, (canopy_status)is);
    news = true;
  }
  if (status == CANOPY_ACTIVATING || status == CANOPY_RUNNING) {
    is = verdict(x, code, CANOPY_FAILED, CANOPY_DONE);
    if (is != CANOPY_ACCEPT && is != leaf->outcome) {
      leaf->outcome = is;
      canopy_end(&x->run, code->task, (canopy_status)is);
      news = true;
    }
  }
  if (leaf->procedure != NO_PROCEDURE) {
    const bool leaving = leaf->procedure == EXITING;
    if ((leaf->timed && x->now >= canopy_when(leaf->due)) || holds(x, code, leaving ? CANOPY_EXITED : CANOPY_ENTERED)) {
      leaf->procedure = NO_PROCEDURE;
      leaf->timed = false;
      if (leaving) {
        canopy_exited(&x->run, code->task);
      } else {
        canopy_entered(&x->run, code->task);
      }
      news = true;
    }
  }
  return news;
}

/* Tells the engine what is new, and reports whether something is. */
static bool inputs(canopy_execution *x) {
  bool news = canopy_due(&x->run, x->now);
  evaluate(x);
  for (uint16_t i = 0; i < x->program->n; i++) {
    const canopy_code *code = &x->program->leaves[i];
    const canopy_status status = canopy_status_of(&x->run, code->task);
    const bool transient = status <= CANOPY_ACCEPT || status == CANOPY_SKIPPED;
    if (!x->leaves[i].passed || !(code->condition || transient)) {
      const bool is = code->condition ? judge(x, code, &x->leaves[i]) : ask_action(x, code, &x->leaves[i]);
      news = news || is;
    }
  }
  for (uint16_t i = 0; i < x->program->n; i++) { /* exit procedures that are over, once all inputs are known */
    if (x->leaves[i].phase == CANOPY_LEAVING && x->leaves[i].procedure == NO_PROCEDURE) {
      exited(x, i);
    }
  }
  return news;
}

/* Ends a pass: what tasks write acts as in a tree that is ticked, on leaves after them at once, and on those before them
 * when there is nothing left to do after them. */
static void pass(canopy_execution *x) {
  for (uint16_t i = 0; i < x->program->n; i++) {
    x->leaves[i].passed = false;
  }
}

static bool loops_wait(const canopy_execution *x) {
  for (canopy_task t = 0; t < x->run.tree->n; t++) {
    if (x->run.tasks[t].waits) {
      return true;
    }
  }
  return false;
}

/* Adds a number to a hash (FNV-1a, by whole words). */
static uint64_t mixed(uint64_t hash, uint64_t with) { return (hash ^ with) * 1099511628211U; }

static uint64_t bits_of(canopy_stored value) {
  union {
    double number;
    uint64_t bits;
  } as = {value.value};
  return value.none ? 1U : as.bits;
}

/* A hash of all that decides how the step goes on. */
static uint64_t situation(const canopy_execution *x) {
  uint64_t hash = 14695981039346656037U;
  hash = mixed(hash, x->reran);
  for (canopy_task t = 0; t < x->run.tree->n; t++) {
    const canopy_told *s = &x->run.tasks[t];
    hash = mixed(hash, ((uint64_t)s->status << 8) | s->hold);
    hash = mixed(hash, s->hold != 0U ? s->result : 0U);
    hash = mixed(hash, ((uint64_t)s->request << 16) | ((uint64_t)s->outcome << 8) | s->state);
    hash = mixed(hash, ((uint64_t)s->active << 3) | ((uint64_t)s->busy << 2) | ((uint64_t)s->timed << 1) | s->waits);
    hash = mixed(hash, (uint64_t)s->count);
    hash = mixed(hash, s->timed ? bits_of((canopy_stored){(double)canopy_when(s->due), false}) : 0U);
  }
  for (uint16_t i = 0; i < x->program->n; i++) {
    const canopy_known *k = &x->leaves[i];
    hash = mixed(hash, ((uint64_t)k->value << 1) | k->spent);
    hash = mixed(hash, ((uint64_t)k->request << 16) | ((uint64_t)k->outcome << 8) | k->procedure);
    hash = mixed(hash, k->phase);
    hash = mixed(hash, k->timed ? bits_of((canopy_stored){(double)canopy_when(k->due), false}) : 0U);
  }
  for (uint16_t i = 0; i < x->program->slots_n; i++) {
    hash = mixed(hash, bits_of(x->held[i]));
  }
  for (uint16_t i = 0; i < x->program->captured_n; i++) {
    hash = mixed(hash, bits_of(x->captured[i]));
  }
  return hash;
}

/* Finds out whether a relation has changed that can change a leaf. */
static void look(canopy_execution *x) {
  evaluate(x);
  for (uint16_t i = 0; i < x->program->relations_n; i++) {
    const canopy_relation *r = &x->program->relations[i];
    const bool above = r->difference(x->signals) >= 0.0;
    for (uint16_t k = 0; above != x->above[i] && k < r->of.n; k++) {
      const canopy_heed *h = &x->program->heeds[r->of.first + k];
      x->outside = x->outside || (x->leaves[h->leaf].watched & h->criteria) != 0U;
    }
  }
}

/* Notes the sides of the relations, and which can change a leaf: of a condition those for becoming true while it is
 * false, and those for becoming false while it is true. */
static void watch(canopy_execution *x) {
  const bool waiting = loops_wait(x);
  for (uint16_t i = 0; i < x->program->relations_n; i++) {
    x->above[i] = x->program->relations[i].difference(x->signals) >= 0.0;
  }
  for (uint16_t i = 0; i < x->program->n; i++) {
    const canopy_code *code = &x->program->leaves[i];
    canopy_known *leaf = &x->leaves[i];
    unsigned mask = 0U;
    if (code->condition) {
      const bool latched = leaf->value && (code->formulas[CANOPY_OFF] != NULL || code->lasts);
      const bool off = code->formulas[CANOPY_OFF] != NULL ? holds(x, code, CANOPY_OFF) : !code->lasts;
      mask |= latched ? 1U << CANOPY_OFF : 0U;
      mask |= !latched || off ? 1U << CANOPY_ON : 0U;
    } else {
      mask = (1U << CANOPY_SUCCESS_IF) | (1U << CANOPY_FAILURE_IF);
      mask |= leaf->phase == CANOPY_WRITING || waiting ? (1U << CANOPY_DONE) | (1U << CANOPY_FAILED) : 0U;
      mask |= leaf->procedure == ENTERING ? 1U << CANOPY_ENTERED : 0U;
      mask |= leaf->procedure == EXITING ? 1U << CANOPY_EXITED : 0U;
    }
    leaf->watched = (uint8_t)mask;
  }
}

/* Tells the engine what is new in the present pass or, if nothing is, in the next one; with that, the next runs of loops
 * begin, which sets again, as slots do that are kept from now on, or not any more. A loop whose run has changed nothing
 * waits for a change. */
static bool in_passes(canopy_execution *x, bool first, bool *again) {
  const bool kept = keep_unknown(x, x->program->n, true);
  bool news = inputs(x);
  bool begins = news || x->outside;
  bool some = false;
  if (!first) {
    begins = !news;
    if (begins) {
      pass(x);
      news = inputs(x);
    }
  }
  *again = keep_unknown(x, x->program->n, false) || kept; /* the relations of leaves are compared before */
  if (!x->program->passes) {
    return news;
  }
  for (uint16_t i = 0; i < x->program->n; i++) {
    some = some || x->leaves[i].passed;
  }
  for (canopy_task t = 0; t < x->run.tree->n; t++) {
    x->run.tasks[t].wait = some || x->reran;
  }
  if (!begins || !loops_wait(x)) {
    return news;
  }
  if (!news && !first) {
    const uint64_t now = situation(x);
    if (x->remembers && now == x->last) {
      return news;
    }
    x->last = now;
    x->remembers = true;
  }
  *again = true;
  for (canopy_task t = 0; t < x->run.tree->n; t++) {
    canopy_again(&x->run, t);
  }
  return news;
}

canopy_fault canopy_execution_step(canopy_execution *x, canopy_time now, uint16_t rounds) {
  bool goes_on = true;
  x->now = now;
  x->signals[0] = (double)now / CANOPY_SECOND;
  x->impossible = false;
  x->unset = false;
  x->outside = false;
  if (x->begun && x->program->passes) {
    look(x);
  }
  if (!x->begun) {
    (void)inputs(x);
    canopy_judge(&x->run);
  }
  for (uint16_t round = 0; goes_on && round < rounds; round++) {
    bool again = false;
    const bool news = in_passes(x, round == 0U, &again);
    goes_on = news || again || !x->begun;
    x->outside = false;
    x->begun = true;
    if (goes_on && !canopy_settle(&x->run, CANOPY_LIMIT)) {
      break;
    }
    x->reran = x->reran || (goes_on && x->run.reran);
  }
  pass(x);
  x->reran = false;
  x->remembers = false;
  evaluate(x);
  if (x->program->passes) {
    watch(x);
  }
  if (x->unset) {
    return CANOPY_UNSET;
  }
  if (x->impossible) {
    return CANOPY_DURATION;
  }
  return goes_on ? CANOPY_UNSETTLED : CANOPY_FINE;
}

void canopy_execution_evaluate(canopy_execution *x) { evaluate(x); }

void canopy_execution_halt(canopy_execution *x) {
  canopy_halt(&x->run);
  evaluate(x);
}

bool canopy_execution_next(const canopy_execution *x, canopy_time *next) {
  bool found = canopy_next(&x->run, next);
  for (uint16_t i = 0; i < x->program->n; i++) {
    const canopy_time due = canopy_when(x->leaves[i].due);
    if (x->leaves[i].timed && (!found || due < *next)) {
      *next = due;
      found = true;
    }
  }
  return found;
}
