package bt

import (
	"math"

	"canopy/snapshot"
)

// TickEngine is the second engine of a tree, the tick formulation of A. Klöckner, Behavior Trees for UAV Mission
// Management, 2013, section 5, with the held results of docs/semantics.md, section 4. The root is ticked, and each task
// ticks its children, until a tick changes nothing. After every instant, tasks have the same statuses as an Engine's,
// and within it the same procedures are started in the same order. It is not safe for concurrent use.
//
//	tick(task):
//	    a composite acts on what its children answered last: it deactivates the child that it no longer wants,
//	        and, once no child is left active, activates the child that asks for it
//	    it ticks its children from left to right and judges by their answers
//	    the task goes on in its status cycle and answers
//
// So activity goes down and answers come up in one recursion. A composite acts on answers not at once but when it is
// ticked next: by then the whole tree has answered. Otherwise it might hand over to a task that asks although, further
// to the right, something has just made a parallel above fail.
//
// A tick visits every task, also those behind the one that decides; so all statuses are up to date after each instant.
// A task is idle or running, and in between while its procedures take time. With what it answers that makes the eight
// statuses:
//
//	phase     Success   Failure   Activating  Running     Deactivating
//	idle      Success   Failure   Accept
//	entering                                  Activating
//	running   Finished  Aborted               Running
//	leaving                                               Deactivating
type TickEngine struct {
	tree     *Tree
	tasks    []tickedTask
	changes  []Change
	commands []Command
	ticks    int32
	limit    int
	changed  bool // in this tick
	halted   bool
}

// tickedTask is what changes of a task.
type tickedTask struct {
	leaf    // of a composite: request and outcome are its verdict; it is busy while a child is entering or leaving
	phase   phase
	answer  Status // what it returned when it was ticked
	heard   Status // what its parent goes by: the held result if there is one, else the answer
	hold    hold
	active  bool  // as its parent has ordered
	decider int32 // composites but the parallels: the place of the first child that is not passed over
	current int32 // composites but the parallels: the place of the active child, -1: none
}

// phase tells where a task is between two ticks: idle or running, or in a procedure that takes time.
type phase uint8

const (
	idle phase = iota
	entering
	running
	leaving
)

// statusOf names phases and answers by the eight statuses.
var statusOf = [...][8]Status{
	idle:     {Success: Success, Failure: Failure, Activating: Accept},
	entering: {Running: Activating},
	running:  {Running: Running, Success: Finished, Failure: Aborted},
	leaving:  {Deactivating: Deactivating},
}

// asking are the answers of a task that is to be activated or to stay active.
const asking statusSet = 1<<Activating | 1<<Running

func (s *tickedTask) status() Status { return statusOf[s.phase][s.answer] }

// NewTickEngine returns a tick engine for a tree whose leaves start with the given inputs, as NewEngine does: all tasks
// have been judged once, silently. The limit bounds the ticks of an instant, 0 means 1,000.
func NewTickEngine(tree *Tree, initial []Input, limit int) *TickEngine {
	if limit < 0 {
		panic("bt: the limit of ticks is negative")
	}
	if limit == 0 {
		limit = defaultLimit
	}
	e := &TickEngine{tree: tree, tasks: make([]tickedTask, tree.Len()), limit: limit}
	for t := range e.tasks {
		e.tasks[t].leaf = newLeaf(tree.nodes[t].kind)
		e.tasks[t].current = -1
	}
	e.take(initial)
	e.tick(tree.Root())
	return e
}

// Tree returns the engine's tree.
func (e *TickEngine) Tree() *Tree { return e.tree }

// Status returns a task's status; TickEngine tells how its phase and its answer are named.
func (e *TickEngine) Status(t Task) Status { return e.tasks[t].status() }

// Active reports whether a task has been given activity: after an instant, whether it is Activating or Running.
func (e *TickEngine) Active(t Task) bool { return e.tasks[t].active }

// Held returns a task's held result, Success or Failure, if it has one.
func (e *TickEngine) Held(t Task) (result Status, ok bool) {
	return e.tasks[t].heard, e.tasks[t].hold != free
}

// Pinned reports whether a task has a held result that only its parent's deactivation releases.
func (e *TickEngine) Pinned(t Task) bool { return e.tasks[t].hold == pinned }

// CopyFrom makes the engine the same as another one of the same tree, but for the log of the last instant.
func (e *TickEngine) CopyFrom(o *TickEngine) {
	if e.tree != o.tree {
		panic("bt: a tick engine was copied from one of another tree")
	}
	copy(e.tasks, o.tasks)
	e.limit, e.halted = o.limit, o.halted
}

// Clone returns a copy that shares only the tree.
func (e *TickEngine) Clone() *TickEngine {
	c := &TickEngine{tree: e.tree, tasks: make([]tickedTask, len(e.tasks))}
	c.CopyFrom(e)
	return c
}

// State passes all that changes of the engine, but for the log of the last instant.
func (e *TickEngine) State(c *snapshot.Codec) {
	snapshot.Each(c, e.tasks, func(c *snapshot.Codec, s *tickedTask) {
		s.leaf.state(c)
		snapshot.Int(c, &s.phase)
		snapshot.Int(c, &s.answer)
		snapshot.Int(c, &s.heard)
		snapshot.Int(c, &s.hold)
		snapshot.Bool(c, &s.active)
		snapshot.Int(c, &s.decider)
		snapshot.Int(c, &s.current)
	})
	snapshot.Int(c, &e.limit)
	snapshot.Bool(c, &e.halted)
}

// Tick applies the inputs, which change at the same instant, in their order, and ticks the root until nothing changes.
// The instant's Iterations are the ticks that changed something, and a Change's Iteration is its tick. If there are as
// many as the limit, the error wraps ErrLoop and names the tasks that keep changing; the instant then holds the log so
// far, and Halt still starts all exit procedures.
func (e *TickEngine) Tick(inputs []Input) (Instant, error) {
	e.take(inputs)
	if !e.settle(e.limit) {
		return e.instant(), loopError(e.tree, e.changes, e.limit, "ticks")
	}
	return e.instant(), nil
}

// Halt withdraws activity from the root for ever and ticks it until nothing changes: every exit procedure is started.
// Actions whose exit procedure takes time stay Deactivating until a later Tick is told that it is complete.
func (e *TickEngine) Halt() Instant {
	e.halted = true
	e.settle(math.MaxInt) // as for Engine.Halt, no loop is possible
	return e.instant()
}

func (e *TickEngine) take(inputs []Input) {
	for i := range inputs {
		in := &inputs[i]
		s := &e.tasks[in.task]
		s.take(in, e.tree.nodes[in.task].kind, s.status())
	}
}

// settle ticks the root until a tick changes nothing, and counts those that change something. It reports whether that
// happened within the limit.
func (e *TickEngine) settle(limit int) bool {
	e.changes, e.commands, e.ticks = e.changes[:0], e.commands[:0], 0
	for {
		e.ticks++
		e.changed = false
		e.tickRoot()
		if !e.changed {
			return true
		}
		if int(e.ticks) == limit {
			return false
		}
	}
}

func (e *TickEngine) instant() Instant {
	iterations := int(e.ticks)
	if !e.changed {
		iterations--
	}
	return Instant{Changes: e.changes, Commands: e.commands, Iterations: iterations, Visits: int(e.ticks) * len(e.tasks)}
}

// tickRoot treats the root as the only child of somebody who always passes activity on, until the tree is halted.
func (e *TickEngine) tickRoot() {
	s := &e.tasks[e.tree.Root()]
	if want := !e.halted && s.heard.in(asking); want != s.active {
		e.setActive(s, want)
	}
	e.tick(e.tree.Root())
}

// tick ticks a task and the tasks below it. It reports whether a procedure of the task is running.
func (e *TickEngine) tick(t Task) bool {
	n, s := &e.tree.nodes[t], &e.tasks[t]
	if n.composite >= 0 {
		e.act(n, s)
		s.busy = false
		for _, child := range e.children(n) {
			if e.tick(child) {
				s.busy = true
			}
		}
		e.judge(n, s)
	}
	if s.phase == idle && s.answer == s.request { // most leaves at most times: nothing is new
		return false
	}
	e.advance(t, n, s)
	if s.hold == held && s.phase == idle && s.answer != Activating {
		s.hold = free
	}
	if s.hold == free {
		s.heard = s.answer
	}
	return s.phase == entering || s.phase == leaving
}

// advance takes a task through its status cycle as far as it goes. Idle, it says its verdict or asks to be activated,
// which only its parent can do; running, it says its verdict once it has one; deactivated, it becomes idle again.
func (e *TickEngine) advance(t Task, n *node, s *tickedTask) {
	if s.phase == idle {
		e.step(t, s, idle, s.idleAnswer())
		if !s.active || s.answer != Activating {
			return
		}
		e.enter(t, n, s)
	}
	if !s.active {
		if s.phase != leaving {
			e.leave(t, n, s)
		}
		if !s.busy {
			e.step(t, s, idle, s.idleAnswer())
		}
		return
	}
	if s.phase == entering && !s.busy {
		e.step(t, s, running, Running)
	}
	if s.phase == running && s.answer == Running && s.outcome != Accept {
		e.step(t, s, running, s.outcome)
	}
}

// idleAnswer is what an idle task answers: its verdict, without having been activated, or that it asks to be.
func (s *tickedTask) idleAnswer() Status {
	if s.request == Accept {
		return Activating
	}
	return s.request
}

// step takes a step of the status cycle, if it is one.
func (e *TickEngine) step(t Task, s *tickedTask, to phase, answer Status) {
	if s.phase == to && s.answer == answer {
		return
	}
	from := s.status()
	s.phase, s.answer = to, answer
	e.changes = append(e.changes, Change{Task: t, From: from, To: s.status(), Iteration: e.ticks})
	e.changed = true
}

// enter starts a task's entry procedure.
func (e *TickEngine) enter(t Task, n *node, s *tickedTask) {
	e.step(t, s, entering, Running)
	if n.composite < 0 {
		s.outcome = Accept
		s.busy = s.slow&entry != 0
		e.commands = append(e.commands, Command{Task: t})
	}
}

// leave starts a task's exit procedure. A composite forgets all held results and judges anew.
func (e *TickEngine) leave(t Task, n *node, s *tickedTask) {
	e.step(t, s, leaving, Deactivating)
	if n.composite < 0 {
		s.busy = s.slow&exit != 0
		e.commands = append(e.commands, Command{Task: t, Exit: true})
		return
	}
	for _, child := range e.children(n) {
		c := &e.tasks[child]
		c.hold, c.heard = free, c.answer
	}
	e.judge(n, s)
}

// children returns the children of a composite.
func (e *TickEngine) children(n *node) []Task { return e.tree.kids[n.kids : n.kids+n.n] }

// setActive activates a child or deactivates it; the child follows when it is ticked. The result of a child that has
// ended is held: its parent goes on hearing the last answer.
func (e *TickEngine) setActive(s *tickedTask, active bool) {
	s.active = active
	e.changed = true
	if !active && s.hold == free && s.phase == running && s.answer != Running {
		s.hold = held
	}
}

// pin makes the parent hear a child's last answer until the parent is deactivated.
func (e *TickEngine) pin(s *tickedTask) {
	if s.hold != pinned {
		s.hold = pinned
		e.changed = true
	}
}

// act gives and takes the activity of a composite's children by what they answered last. It has any to give only while
// it is active itself, has not ended and is still undecided.
func (e *TickEngine) act(n *node, s *tickedTask) {
	passing := s.active && s.answer.in(asking) && s.request == Accept
	if n.kind.IsParallel() {
		e.actParallel(n, passing)
		return
	}
	kids := e.children(n)
	want := int32(-1)
	if passing && e.tasks[kids[s.decider]].heard.in(asking) {
		want = s.decider
		if n.kind == Sequence || n.kind == Fallback {
			for _, child := range kids[:want] {
				e.pin(&e.tasks[child])
			}
		}
	}
	if s.current >= 0 && s.current != want {
		e.setActive(&e.tasks[kids[s.current]], false)
		s.current = -1
	}
	if want >= 0 && s.current < 0 && e.othersIdle(kids, want) {
		e.setActive(&e.tasks[kids[want]], true)
		s.current = want
	}
}

// othersIdle reports whether all children but the one at a place are idle, so that activity can be handed over to it.
func (e *TickEngine) othersIdle(kids []Task, place int32) bool {
	for i, child := range kids {
		if e.tasks[child].phase != idle && int32(i) != place {
			return false
		}
	}
	return true
}

// actParallel activates every child that asks and deactivates the others; none has to wait.
func (e *TickEngine) actParallel(n *node, passing bool) {
	for _, child := range e.children(n) {
		s := &e.tasks[child]
		if passing && n.kind == Parallel && s.heard.in(judged) {
			e.pin(s)
		}
		if want := passing && s.heard.in(asking); want != s.active {
			e.setActive(s, want)
		}
	}
}

// judge takes together what a composite's children answered: Success, Failure, or Accept, nothing yet.
func (e *TickEngine) judge(n *node, s *tickedTask) {
	if n.kind.IsParallel() {
		s.request = e.judgeParallel(n)
	} else {
		s.request = e.judgeSequence(n, s)
	}
	s.outcome = s.request
}

// judgeSequence goes by the first child that is not passed over, or by the last one.
func (e *TickEngine) judgeSequence(n *node, s *tickedTask) Status {
	var says Status
	for place, child := range e.children(n) {
		says = e.tasks[child].heard
		if !says.in(n.over) {
			s.decider = int32(place)
			break
		}
	}
	return n.kind.verdict(judgement[says])
}

// judgeParallel counts the children one by one, pinned ones first: the first threshold reached decides.
func (e *TickEngine) judgeParallel(n *node) Status {
	enough, tooMany := n.success, n.failingCount()
	for _, first := range [...]bool{true, false} {
		for _, child := range e.children(n) {
			s := &e.tasks[child]
			if (s.hold == pinned) != first {
				continue
			}
			switch s.heard {
			case Success:
				enough--
			case Failure:
				tooMany--
			}
			if enough == 0 {
				return Success
			}
			if tooMany == 0 {
				return Failure
			}
		}
	}
	return Accept
}
