/* The law of the tree; see canopy.h. */
#include "canopy.h"

#include <stddef.h>

/* Reasons why a task's result is kept after activity was taken from it. */
enum { FREE, HELD, PINNED };

/* Place of an automaton, as it decides. */
typedef struct {
  uint8_t state;
  bool timed;
  bool waits;
  int32_t count;
} place_at;

/* What a task decides: its verdict, and the child that it looks at last, CANOPY_NONE if it depends on none. */
typedef struct {
  uint8_t says;
  uint16_t child;
  place_at reached;
} decision;

static uint8_t judgement(uint8_t status) {
  static const uint8_t of[] = {CANOPY_SUCCESS, CANOPY_FAILURE, CANOPY_ACCEPT, CANOPY_ACCEPT,  CANOPY_ACCEPT,
                               CANOPY_SUCCESS, CANOPY_FAILURE, CANOPY_ACCEPT, CANOPY_SKIPPED, CANOPY_SKIPPED};
  return of[status];
}

static bool transient(uint8_t status) { return status <= CANOPY_ACCEPT || status == CANOPY_SKIPPED; }

static bool asks(uint8_t status) { return status >= CANOPY_ACCEPT && status <= CANOPY_RUNNING; }

static bool ended(uint8_t status) { return status == CANOPY_FINISHED || status == CANOPY_ABORTED; }

static bool switching(uint8_t status) { return status == CANOPY_ACTIVATING || status == CANOPY_DEACTIVATING; }

static const canopy_node *node_of(const canopy_run *run, canopy_task task) { return &run->tree->nodes[task]; }

static bool has(const canopy_node *node, uint8_t flag) { return (node->flags & flag) != 0U; }

static canopy_task kid(const canopy_run *run, const canopy_node *node, uint16_t place) {
  return run->tree->kids[node->kids + place];
}

static canopy_told *child(const canopy_run *run, const canopy_node *node, uint16_t place) {
  return &run->tasks[kid(run, node, place)];
}

/* The held result if there is one, else the status. */
static uint8_t effective(const canopy_told *task) { return task->hold != FREE ? task->result : task->status; }

static uint8_t judged(const canopy_run *run, const canopy_node *node, uint16_t place) {
  return judgement(effective(child(run, node, place)));
}

/* Whether a child is prompt and undecided: meanwhile, no child behind it is activated. */
static bool waits_for(const canopy_run *run, const canopy_node *node, uint16_t place) {
  return has(node_of(run, kid(run, node, place)), CANOPY_PROMPT) && judged(run, node, place) == CANOPY_ACCEPT;
}

static decision decide_chain(const canopy_run *run, const canopy_node *node) {
  decision d = {CANOPY_ACCEPT, 0, {0, false, false, 0}};
  uint16_t first = 0;
  for (; first < node->n; first++) {
    const uint8_t is = judged(run, node, first);
    if (node->over == CANOPY_ACCEPT || (is != node->over && is != CANOPY_SKIPPED)) {
      break;
    }
  }
  d.child = first;
  if (first == node->n) {
    for (first--; first > 0 && judged(run, node, first) == CANOPY_SKIPPED; first--) {
    }
    d.child = CANOPY_NONE;
  }
  const uint8_t is = judged(run, node, first);
  d.says = is == CANOPY_SKIPPED ? is : node->verdict[is];
  return d;
}

/* The number of children at which a count looks: those up to the first prompt one that is undecided. */
static uint16_t seen_by(const canopy_run *run, const canopy_node *node) {
  for (uint16_t place = 0; has(node, CANOPY_PROMPTS) && place < node->n; place++) {
    if (waits_for(run, node, place)) {
      return (uint16_t)(place + 1);
    }
  }
  return node->n;
}

/* Which of two thresholds is reached first, if children are counted one by one, pinned ones first. */
static uint8_t race(const canopy_run *run, const canopy_node *node, uint16_t seen) {
  uint16_t good = 0;
  uint16_t bad = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (uint16_t place = 0; place < node->n; place++) {
      const bool pinned = child(run, node, place)->hold == PINNED;
      if (pinned != (pass == 0) || (pass == 1 && place >= seen)) {
        continue;
      }
      const uint8_t is = judged(run, node, place);
      if (is == CANOPY_SUCCESS || (is == CANOPY_SKIPPED && has(node, CANOPY_LENIENT))) {
        good++;
      } else if (is == CANOPY_FAILURE) {
        bad++;
      }
      if (good >= node->enough) {
        return CANOPY_SUCCESS;
      }
      if (bad >= node->too_many) {
        return CANOPY_FAILURE;
      }
    }
  }
  return CANOPY_ACCEPT;
}

static uint8_t decide_count(const canopy_run *run, const canopy_node *node) {
  const uint16_t seen = seen_by(run, node);
  uint16_t good = 0;
  uint16_t bad = 0;
  uint16_t skipped = 0;
  for (uint16_t place = 0; place < node->n; place++) {
    if (place >= seen && child(run, node, place)->hold != PINNED) {
      continue;
    }
    switch (judged(run, node, place)) {
      case CANOPY_SUCCESS:
        good++;
        break;
      case CANOPY_FAILURE:
        bad++;
        break;
      case CANOPY_SKIPPED:
        skipped++;
        break;
      default:
        break;
    }
  }
  if (skipped == node->n && !has(node, CANOPY_LENIENT)) {
    return CANOPY_SKIPPED;
  }
  if (good + skipped + bad < node->quorum) {
    return CANOPY_ACCEPT;
  }
  if (has(node, CANOPY_LENIENT) || node->quorum != 0U) {
    good = (uint16_t)(good + skipped);
  }
  if (good >= node->enough) {
    return bad >= node->too_many ? race(run, node, seen) : (uint8_t)CANOPY_SUCCESS;
  }
  return bad >= node->too_many ? CANOPY_FAILURE : CANOPY_ACCEPT;
}

/* The place of the child on which a state of an automaton depends, CANOPY_NONE if there is none. */
static uint16_t place_of(const canopy_node *node, const canopy_state *state, int32_t count) {
  int32_t place = state->child;
  switch (state->child) {
    case CANOPY_NOBODY:
      return CANOPY_NONE;
    case CANOPY_HERE:
      place = count;
      break;
    case CANOPY_BEHIND:
      place = count + 1;
      break;
    case CANOPY_LAST:
      place = (int32_t)node->n - 1;
      break;
    default:
      break;
  }
  return place >= 0 && place < (int32_t)node->n ? (uint16_t)place : CANOPY_NONE;
}

/* Whether the run of a child that ends is the last one. */
static bool last_run(const canopy_node *node, int32_t count, bool has_ended) {
  return node->limit >= 0 && (!has_ended || count + 1 >= node->limit);
}

/* Follows an automaton from its place. If looked is given, it records whether the automaton looks at that child. */
static decision follow(const canopy_run *run, const canopy_node *node, place_at at, uint16_t of, bool *looked) {
  decision d = {CANOPY_ACCEPT, CANOPY_NONE, at};
  /* Each move leads to a later state or child, so that this ends. */
  for (;;) {
    const canopy_state *state = &run->tree->states[node->states + d.reached.state];
    const uint16_t place = place_of(node, state, d.reached.count);
    if (place == CANOPY_NONE || node->limit == 0) {
      d.says = state->says;
      return d;
    }
    if (looked != NULL && place == of) {
      *looked = true;
    }
    const canopy_told *on = child(run, node, place);
    const uint8_t is = judged(run, node, place);
    if (is == CANOPY_ACCEPT || d.reached.waits) {
      d.child = place;
      return d;
    }
    const canopy_move *move = &state->on[is == CANOPY_SKIPPED ? 2 : is];
    const int32_t next = d.reached.count + (int32_t)move->step;
    if (move->again != 0U && !last_run(node, d.reached.count, on->hold == FREE && ended(on->status))) {
      return d;
    }
    if (move->step > 0U && state->whole != 0U && next >= (int32_t)node->n) {
      d.says = move->says;
      d.reached = (place_at){0, false, false, 0};
      return d;
    }
    if (move->step > 0U && (state->whole != 0U || next < (int32_t)node->n - 1)) {
      d.reached.count = next;
      if (move->then > d.reached.state) {
        d.reached.state = move->then;
      }
      continue;
    }
    if (move->to > d.reached.state) {
      d.reached.state = move->to;
    }
    d.reached.timed = false;
    if (move->says != CANOPY_ACCEPT) {
      d.says = move->says;
      return d;
    }
  }
}

static place_at at_of(const canopy_told *task) {
  return (place_at){task->state, task->timed, task->waits, task->count};
}

static void move_to(canopy_told *task, place_at at) {
  task->state = at.state;
  task->timed = at.timed;
  task->waits = at.waits;
  task->count = at.count;
}

static decision decide(const canopy_run *run, canopy_task task) {
  const canopy_node *node = node_of(run, task);
  decision d = {CANOPY_ACCEPT, CANOPY_NONE, {0, false, false, 0}};
  switch (node->family) {
    case CANOPY_CHAIN:
      return decide_chain(run, node);
    case CANOPY_COUNT:
      d.says = decide_count(run, node);
      return d;
    case CANOPY_SCRIPT:
      return follow(run, node, at_of(&run->tasks[task]), CANOPY_NONE, NULL);
    default:
      d.says = run->tasks[task].request;
      return d;
  }
}

/* The status that follows, by the cycle of section 1. */
static uint8_t cycle(uint8_t status, uint8_t verdict, bool active, bool busy) {
  switch (status) {
    case CANOPY_SUCCESS:
    case CANOPY_FAILURE:
    case CANOPY_SKIPPED:
      return verdict;
    case CANOPY_ACCEPT:
      return verdict != CANOPY_ACCEPT ? verdict : (uint8_t)(active ? CANOPY_ACTIVATING : CANOPY_ACCEPT);
    case CANOPY_ACTIVATING:
      return !active ? CANOPY_DEACTIVATING : (busy ? CANOPY_ACTIVATING : CANOPY_RUNNING);
    case CANOPY_RUNNING:
      if (!active) {
        return CANOPY_DEACTIVATING;
      }
      switch (verdict) {
        case CANOPY_SUCCESS:
          return CANOPY_FINISHED;
        case CANOPY_FAILURE:
          return CANOPY_ABORTED;
        case CANOPY_SKIPPED:
          return CANOPY_DROPPED;
        default:
          return CANOPY_RUNNING;
      }
    case CANOPY_DEACTIVATING:
      return busy ? (uint8_t)CANOPY_DEACTIVATING : verdict;
    default: /* Finished, Aborted, Dropped */
      return active ? status : (uint8_t)CANOPY_DEACTIVATING;
  }
}

/* Starts the procedure of a task that has become Activating or Deactivating. A composite that becomes Deactivating
 * drops all holds. */
static void start(canopy_run *run, canopy_task task) {
  const canopy_node *node = node_of(run, task);
  canopy_told *s = &run->tasks[task];
  const bool leaving = s->status == CANOPY_DEACTIVATING;
  if (node->family == CANOPY_LEAF) {
    s->outcome = CANOPY_ACCEPT;
    s->busy = leaving ? s->slow_exit : s->slow_entry;
    if (run->hooks->started != NULL) {
      run->hooks->started(run->context, task, leaving);
    }
    return;
  }
  if (!leaving) {
    return;
  }
  for (uint16_t place = 0; place < node->n; place++) {
    child(run, node, place)->hold = FREE;
  }
  s->waits = false;
  if (node->family == CANOPY_SCRIPT && !has(node, CANOPY_KEEPS)) {
    move_to(s, (place_at){0, false, false, 0});
  }
}

/* Drops the held results of the prompt tasks around a leaf whose judgement has changed. */
static void revise(canopy_run *run, canopy_task leaf) {
  for (canopy_task t = node_of(run, leaf)->parent; t != CANOPY_NONE && has(node_of(run, t), CANOPY_QUICK);
       t = node_of(run, t)->parent) {
    if (run->tasks[t].hold == HELD && has(node_of(run, t), CANOPY_REVISED)) {
      run->tasks[t].hold = FREE;
    }
  }
}

/* The up visit: applies the status cycle until the status is stable. */
static void visit(canopy_run *run, canopy_task task) {
  const canopy_node *node = node_of(run, task);
  canopy_told *s = &run->tasks[task];
  const uint8_t before = s->status;
  for (;;) {
    uint8_t verdict = s->outcome;
    bool busy = s->busy;
    if (node->family != CANOPY_LEAF) {
      verdict = decide(run, task).says;
      busy = false;
      for (uint16_t place = 0; switching(s->status) && place < node->n; place++) {
        busy = busy || switching(child(run, node, place)->status);
      }
    } else if (transient(s->status) || s->status == CANOPY_DEACTIVATING) {
      verdict = s->request;
    }
    const uint8_t to = cycle(s->status, verdict, s->active, busy);
    if (to == s->status) {
      break;
    }
    if (run->hooks->changed != NULL) {
      run->hooks->changed(run->context, task, (canopy_status)s->status, (canopy_status)to, run->iteration);
    }
    s->status = to;
    run->changes = true;
    if (switching(to)) {
      start(run, task);
    }
    s->ended = s->ended || ended(to) || to == CANOPY_DROPPED;
  }
  if (s->status != before && node->family == CANOPY_LEAF && has(node, CANOPY_QUICK) && transient(before) &&
      transient(s->status)) {
    revise(run, task);
  }
  if (s->hold == HELD && s->status != CANOPY_ACCEPT && transient(s->status)) {
    s->hold = FREE;
  }
}

static void keep(canopy_run *run, canopy_told *task, uint8_t hold) {
  task->result = judgement(effective(task));
  task->hold = hold;
  run->changes = true;
}

/* Grants or withdraws activity; the result of a task that has ended is held. */
static void set_active(canopy_run *run, canopy_told *task, bool active) {
  task->active = active;
  run->changes = true;
  if (!active && task->hold == FREE && ended(task->status)) {
    keep(run, task, HELD);
  }
}

/* Whether a task passes activity on that has this verdict. */
static bool passes(const canopy_told *task, uint8_t verdict) {
  return task->active && asks(task->status) && verdict == CANOPY_ACCEPT;
}

/* Takes activity from a child of a chain or a script. */
static void leave(canopy_run *run, canopy_task parent, uint16_t place, place_at reached, bool passing) {
  const canopy_node *node = node_of(run, parent);
  canopy_told *s = &run->tasks[parent];
  canopy_told *c = child(run, node, place);
  if (node->family == CANOPY_SCRIPT && c->hold == FREE && ended(c->status)) {
    const canopy_state *state = &run->tree->states[node->states + s->state];
    if (state->child == (int8_t)place && state->on[judgement(c->status)].again != 0U && passing &&
        !last_run(node, s->count, true)) {
      if (node->limit >= 0) {
        s->count++;
      }
      s->waits = s->wait;
      run->reran = true;
      c->active = false;
      run->changes = true;
      return;
    }
    if (has(node, CANOPY_KEEPS)) {
      move_to(s, reached);
    }
  }
  set_active(run, c, false);
}

/* Gives activity to the child that a chain or a script wants, CANOPY_NONE: none, once all others are transient. It
 * takes activity from the others, but not from those that ask from the place stay on. */
static void hand_over(canopy_run *run, canopy_task task, uint16_t want, uint16_t stay, place_at reached,
                      bool passing) {
  const canopy_node *node = node_of(run, task);
  bool free_to_go = true;
  for (uint16_t place = 0; place < node->n; place++) {
    canopy_told *c = child(run, node, place);
    if (place == want) {
      continue;
    }
    if (c->active && place >= stay && asks(effective(c))) {
      continue;
    }
    if (c->active) {
      leave(run, task, place, reached, passing);
    }
    free_to_go = free_to_go && transient(c->status);
  }
  if (want != CANOPY_NONE && free_to_go && !child(run, node, want)->active) {
    set_active(run, child(run, node, want), true);
  }
}

static void pass_chain(canopy_run *run, canopy_task task) {
  const canopy_node *node = node_of(run, task);
  decision d = {CANOPY_ACCEPT, CANOPY_NONE, {0, false, false, 0}};
  uint16_t want = CANOPY_NONE;
  uint16_t stay = node->n;
  if (passes(&run->tasks[task], CANOPY_ACCEPT)) {
    d = decide_chain(run, node);
  }
  if (d.says == CANOPY_ACCEPT && d.child != CANOPY_NONE) {
    if (waits_for(run, node, d.child)) {
      stay = (uint16_t)(d.child + 1);
    }
    if (asks(effective(child(run, node, d.child)))) {
      want = d.child;
      for (uint16_t place = 0; has(node, CANOPY_MEMORY) && place < want; place++) {
        if (child(run, node, place)->hold != PINNED) {
          keep(run, child(run, node, place), PINNED);
        }
      }
    }
  }
  hand_over(run, task, want, stay, d.reached, false);
}

static void pass_count(canopy_run *run, canopy_task task) {
  const canopy_node *node = node_of(run, task);
  const bool passing = passes(&run->tasks[task], CANOPY_ACCEPT) && decide_count(run, node) == CANOPY_ACCEPT;
  const uint16_t seen = passing ? seen_by(run, node) : 0U;
  for (uint16_t place = 0; place < node->n; place++) {
    canopy_told *c = child(run, node, place);
    const bool looks = passing && place < seen;
    if (looks && has(node, CANOPY_MEMORY) && c->hold != PINNED && judgement(effective(c)) <= CANOPY_FAILURE) {
      keep(run, c, PINNED);
    }
    const bool want = passing && (looks || c->active) && asks(effective(c));
    if (want != c->active) {
      set_active(run, c, want);
    }
  }
}

/* Whether a state's child can lead to another child. */
static bool goes_on(const canopy_run *run, const canopy_node *node, uint8_t at) {
  const canopy_state *states = &run->tree->states[node->states];
  for (int is = 0; is < 2; is++) {
    const canopy_move *move = &states[at].on[is];
    if (move->step > 0U || (move->says == CANOPY_ACCEPT && states[move->to].child != CANOPY_NOBODY)) {
      return true;
    }
  }
  return false;
}

/* Stores the state that a script has reached, and starts and stops its timer. */
static void store(canopy_run *run, canopy_task task, place_at reached, bool passing, bool wants) {
  const canopy_node *node = node_of(run, task);
  const canopy_state *states = &run->tree->states[node->states];
  canopy_told *s = &run->tasks[task];
  const place_at at = at_of(s);
  place_at next = at;
  if (passing && has(node, CANOPY_MEMORY) && (wants || states[reached.state].after > 0U)) {
    next = reached;
    next.timed = states[next.state].after > 0U;
  }
  next.timed = next.timed && s->active;
  if (next.state == at.state && next.timed == at.timed && next.waits == at.waits && next.count == at.count) {
    return;
  }
  move_to(s, next);
  run->changes = true;
  if (run->hooks->timer != NULL) {
    if (at.timed && (!next.timed || next.state != at.state)) {
      run->hooks->timer(run->context, task, false);
    }
    if (next.timed && (!at.timed || next.state != at.state)) {
      run->hooks->timer(run->context, task, true);
    }
  }
}

static void pass_script(canopy_run *run, canopy_task task) {
  const canopy_node *node = node_of(run, task);
  canopy_told *s = &run->tasks[task];
  const decision d = follow(run, node, at_of(s), CANOPY_NONE, NULL);
  const bool passing = passes(s, d.says);
  uint16_t want = d.child;
  uint16_t stay = node->n;
  if (passing && want != CANOPY_NONE && waits_for(run, node, want) && goes_on(run, node, d.reached.state)) {
    stay = (uint16_t)(want + 1);
  }
  if (!passing || s->waits || want == CANOPY_NONE || !asks(effective(child(run, node, want))) ||
      (node->shared > 0U && !s->granted)) {
    want = CANOPY_NONE;
  }
  store(run, task, d.reached, passing, want != CANOPY_NONE);
  hand_over(run, task, want, stay, d.reached, passing);
  for (uint16_t place = 0; !has(node, CANOPY_MEMORY) && place < stay; place++) {
    bool looks = false;
    if (child(run, node, place)->hold != FREE) {
      (void)follow(run, node, at_of(s), place, &looks);
      if (!looks) {
        child(run, node, place)->hold = FREE;
        run->changes = true;
      }
    }
  }
}

/* Conditions that last until a task has ended become false. */
static void spend(canopy_run *run) {
  for (uint16_t i = 0; i < run->tree->lastings; i++) {
    if (run->tasks[run->tree->lasting[i].until].ended) {
      run->tasks[run->tree->lasting[i].condition].request = CANOPY_FAILURE;
    }
  }
  for (canopy_task t = 0; t < run->tree->n; t++) {
    run->tasks[t].ended = false;
  }
}

/* Grants each shared resource to the guard that has it, or to the first one that needs it. */
static void grant(canopy_run *run) {
  for (uint16_t resource = 1; resource <= run->tree->resources; resource++) {
    canopy_task holder = CANOPY_NONE;
    canopy_task next = CANOPY_NONE;
    for (canopy_task t = 0; t < run->tree->n; t++) {
      const canopy_node *node = node_of(run, t);
      if (node->shared != resource) {
        continue;
      }
      const canopy_told *c = child(run, node, 0);
      run->tasks[t].granted = false;
      if (holder == CANOPY_NONE && (c->active || !transient(c->status))) {
        holder = t;
      }
      if (next == CANOPY_NONE && passes(&run->tasks[t], decide(run, t).says) && asks(effective(c))) {
        next = t;
      }
    }
    if (holder == CANOPY_NONE) {
      holder = next;
    }
    if (holder != CANOPY_NONE) {
      run->tasks[holder].granted = true;
    }
  }
}

/* The down visits: activity is passed on, parents first. */
static void down(canopy_run *run) {
  const canopy_task root = (canopy_task)(run->tree->n - 1U);
  canopy_told *s = &run->tasks[root];
  const bool want = !run->halted && asks(effective(s));
  if (want != s->active) {
    set_active(run, s, want);
    if (s->status == CANOPY_DROPPED) {
      keep(run, s, HELD);
    }
  }
  for (uint16_t i = run->tree->n; i > 0U; i--) {
    const canopy_task task = (canopy_task)(i - 1U);
    switch (node_of(run, task)->family) {
      case CANOPY_CHAIN:
        pass_chain(run, task);
        break;
      case CANOPY_COUNT:
        pass_count(run, task);
        break;
      case CANOPY_SCRIPT:
        pass_script(run, task);
        break;
      default:
        break;
    }
  }
}

static bool settle(canopy_run *run, uint16_t limit) {
  bool settled = false;
  run->reran = false;
  for (run->iteration = 1; !settled && run->iteration <= limit; run->iteration++) {
    run->changes = false;
    for (canopy_task t = 0; t < run->tree->n; t++) {
      visit(run, t);
    }
    spend(run);
    grant(run);
    down(run);
    settled = !run->changes;
  }
  for (canopy_task t = 0; t < run->tree->n; t++) {
    run->tasks[t].wait = false;
  }
  return settled;
}

void canopy_begin(canopy_run *run, const canopy_tree *tree, canopy_told *tasks, const canopy_hooks *hooks,
                  void *context) {
  *run = (canopy_run){tree, tasks, hooks, context, {0, 0}, 0, 0, false, false, false};
  for (canopy_task t = 0; t < tree->n; t++) {
    tasks[t] = (canopy_told){0}; /* CANOPY_SUCCESS, until it is judged */
    tasks[t].request = has(&tree->nodes[t], CANOPY_ACTS) ? CANOPY_ACCEPT : CANOPY_FAILURE;
    tasks[t].outcome = CANOPY_ACCEPT;
  }
}

void canopy_judge(canopy_run *run) {
  for (canopy_task t = 0; t < run->tree->n; t++) {
    run->tasks[t].status = decide(run, t).says;
  }
}

bool canopy_settle(canopy_run *run, uint16_t limit) { return settle(run, limit); }

void canopy_halt(canopy_run *run) {
  run->halted = true;
  (void)settle(run, UINT16_MAX - 1U); /* without activity no loop is possible */
}

canopy_status canopy_status_of(const canopy_run *run, canopy_task task) {
  return (canopy_status)run->tasks[task].status;
}

bool canopy_active(const canopy_run *run, canopy_task task) { return run->tasks[task].active; }

void canopy_set(canopy_run *run, canopy_task condition, bool value) {
  run->tasks[condition].request = value ? CANOPY_SUCCESS : CANOPY_FAILURE;
}

void canopy_request(canopy_run *run, canopy_task action, canopy_status request) {
  run->tasks[action].request = (uint8_t)request;
}

void canopy_end(canopy_run *run, canopy_task action, canopy_status outcome) {
  canopy_told *s = &run->tasks[action];
  if (s->status == CANOPY_ACTIVATING || s->status == CANOPY_RUNNING) {
    s->outcome = (uint8_t)outcome;
  }
}

void canopy_slow(canopy_run *run, canopy_task action, bool entry_too, bool exit_too) {
  run->tasks[action].slow_entry = entry_too;
  run->tasks[action].slow_exit = exit_too;
}

void canopy_entered(canopy_run *run, canopy_task action) {
  canopy_told *s = &run->tasks[action];
  s->busy = s->busy && s->status != CANOPY_ACTIVATING;
}

void canopy_exited(canopy_run *run, canopy_task action) {
  canopy_told *s = &run->tasks[action];
  s->busy = s->busy && s->status != CANOPY_DEACTIVATING;
}

void canopy_elapsed(canopy_run *run, canopy_task task) {
  canopy_told *s = &run->tasks[task];
  if (s->timed) {
    s->state = run->tree->states[node_of(run, task)->states + s->state].after;
    s->timed = false;
  }
}

void canopy_wait(canopy_run *run, canopy_task loop) { run->tasks[loop].wait = true; }

void canopy_again(canopy_run *run, canopy_task loop) { run->tasks[loop].waits = false; }

/* A number of units of time, rounded if these are whole; then it is at most what fits into 64 bits. */
static canopy_time units(double number) {
  const bool whole = (canopy_time)0.5 == (canopy_time)0;
  if (whole) {
    return (canopy_time)(number < 9e18 ? number + 0.5 : 9e18);
  }
  return (canopy_time)number;
}

canopy_time canopy_when(canopy_moment moment) {
  return moment.from + units((double)moment.ns / (1e9 / CANOPY_SECOND));
}

canopy_moment canopy_after(canopy_moment moment, double seconds) {
  const double most = 9007199254740992.0; /* whole numbers up to here are exact */
  const double exact = seconds * 1e9;
  int64_t ns = exact <= most ? (int64_t)exact : 0;
  if (exact - (double)ns >= 0.5) {
    ns++;
  }
  if ((double)ns / 1e9 != seconds || (double)ns + (double)moment.ns > most) {
    return (canopy_moment){canopy_when(moment) + units(seconds * CANOPY_SECOND), 0};
  }
  return (canopy_moment){moment.from, moment.ns + ns};
}

canopy_moment canopy_present(canopy_run *run, canopy_time now) {
  if (now != run->now) {
    run->now = now;
    run->present = (canopy_moment){now, 0};
    for (canopy_task t = run->tree->n; t > 0U; t--) { /* the first one counts */
      if (canopy_when(run->tasks[t - 1U].due) == now) {
        run->present = run->tasks[t - 1U].due;
      }
    }
  }
  return run->present;
}

void canopy_timer(canopy_run *run, canopy_task task, canopy_time now) {
  run->tasks[task].due = canopy_after(canopy_present(run, now), (double)node_of(run, task)->msec / 1000.0);
}

bool canopy_due(canopy_run *run, canopy_time now) {
  bool any = false;
  for (canopy_task t = 0; t < run->tree->n; t++) {
    if (run->tasks[t].timed && now >= canopy_when(run->tasks[t].due)) {
      canopy_elapsed(run, t);
      any = true;
    }
  }
  return any;
}

bool canopy_next(const canopy_run *run, canopy_time *next) {
  bool found = false;
  for (canopy_task t = 0; t < run->tree->n; t++) {
    const canopy_time due = canopy_when(run->tasks[t].due);
    if (run->tasks[t].timed && (!found || due < *next)) {
      *next = due;
      found = true;
    }
  }
  return found;
}

static void plan_changed(void *context, canopy_task task, canopy_status from, canopy_status to, uint16_t iteration) {
  const canopy_plan *plan = context;
  if (plan->hooks != NULL && plan->hooks->changed != NULL) {
    plan->hooks->changed(plan->context, task, from, to, iteration);
  }
}

static void plan_started(void *context, canopy_task leaf, bool leaving) {
  const canopy_plan *plan = context;
  const canopy_leaf *l = &plan->leaves[leaf];
  if (plan->hooks != NULL && plan->hooks->started != NULL) {
    plan->hooks->started(plan->context, leaf, leaving);
  }
  if (leaving && l->stop != NULL) {
    l->stop(l->context);
  } else if (!leaving && l->start != NULL) {
    l->start(l->context);
  }
}

static void plan_timer(void *context, canopy_task task, bool starts) {
  canopy_plan *plan = context;
  if (starts) {
    canopy_timer(&plan->run, task, plan->now);
  }
  if (plan->hooks != NULL && plan->hooks->timer != NULL) {
    plan->hooks->timer(plan->context, task, starts);
  }
}

static const canopy_hooks plan_hooks = {plan_changed, plan_started, plan_timer};

void canopy_plan_begin(canopy_plan *plan, const canopy_tree *tree, canopy_told *tasks, const canopy_leaf *leaves,
                       const canopy_hooks *hooks, void *context) {
  plan->leaves = leaves;
  plan->hooks = hooks;
  plan->context = context;
  plan->now = 0;
  plan->begun = false;
  canopy_begin(&plan->run, tree, tasks, &plan_hooks, plan);
}

/* Asks the leaves, and reports whether something is new. */
static bool ask(canopy_plan *plan) {
  bool news = canopy_due(&plan->run, plan->now);
  for (canopy_task t = 0; t < plan->run.tree->n; t++) {
    const canopy_node *node = node_of(&plan->run, t);
    const canopy_leaf *l = &plan->leaves[t];
    canopy_told *s = &plan->run.tasks[t];
    if (node->family != CANOPY_LEAF) {
      continue;
    }
    const bool active = s->status == CANOPY_ACTIVATING || s->status == CANOPY_RUNNING;
    if (!active && l->judge != NULL) {
      const uint8_t is = (uint8_t)l->judge(l->context);
      news = news || is != s->request;
      s->request = is;
    }
    if (active && l->poll != NULL) {
      const canopy_status is = l->poll(l->context);
      if ((is == CANOPY_SUCCESS || is == CANOPY_FAILURE) && (uint8_t)is != s->outcome) {
        canopy_end(&plan->run, t, is);
        news = true;
      }
    }
  }
  return news;
}

bool canopy_plan_step(canopy_plan *plan, canopy_time now, uint16_t rounds) {
  plan->now = now;
  bool news = ask(plan);
  if (!plan->begun) {
    canopy_judge(&plan->run);
    plan->begun = true;
    news = true;
  }
  for (uint16_t round = 0; round < rounds; round++) {
    /* What canopy_set and other inputs have changed since the last step is settled as well. */
    if (!news && round > 0U) {
      return true;
    }
    if (!canopy_settle(&plan->run, CANOPY_LIMIT)) {
      return false;
    }
    news = ask(plan);
  }
  return !news;
}

void canopy_plan_halt(canopy_plan *plan) { canopy_halt(&plan->run); }

bool canopy_plan_next(const canopy_plan *plan, canopy_time *next) { return canopy_next(&plan->run, next); }
