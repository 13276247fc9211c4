package bt

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/snapshot"
)

// Automaton defines a task of the family Script: a small automaton over its children's judgements. In each state, the
// judgement of one child decides:
//
//	undecided     the task is undecided; it wants the child if the child asks
//	good or bad   its move: the task returns, the automaton changes its state, or the child is run again
//	skipped       the task is skipped, unless the state has a move
//
// A child that has ended and is to be run again is deactivated without its result being held; it asks again when its
// request is Accept. With a limit, the last run decides. A child that is judged without being activated cannot be run:
// with a limit, all runs end in the same way at this instant; without one, the task waits for a change.
//
// A task with memory stores the automaton's state at each down visit in which it passes activity on and wants a child,
// and keeps it until it is deactivated: the judgements up to there are final.
//
// A state may have a timer. It starts in the down visit in which the task passes activity on in this state, and stops
// when the task stores another state or loses activity. The engine reports both, and receives [Elapsed] when the
// time, the task's only parameter of the type Duration, is over: it knows no clock.
type Automaton struct {
	states []state // the first one is the initial state; moves lead only to later states
	keeps  bool    // the state reached when a child has ended is stored, and survives the task's deactivation
}

type state struct {
	child int8    // the child whose judgement decides: its place, or one of the names below
	on    [2]move // by the judgement
	says  Status  // the task's verdict if it has no such child, or if it is to run 0 times
	after uint8   // the next state when its timer has elapsed; 0: it has no timer
	whole bool    // steps lead to the last child, too; after it the automaton starts again
	skip  *move   // by the judgement Skipped; nil: the task is skipped
}

// The children of states other than by their place.
const (
	nobody int8 = -1 - iota // none: the state depends on no child
	here                    // the child with the number Count
	behind                  // the child after that one
	last                    // the last child
)

type move struct {
	says  Status // Success, Failure, Skipped: the task returns; Accept: the automaton moves on
	to    uint8  // the next state; after a return, the one that is kept
	step  int32  // go on this number of children further, unless that is the last child or none (see whole)
	then  uint8  // the state in which a step goes on; 0: the same
	again bool   // run the child again, unless this was the last run
}

// asJudged are the moves of a task that returns as its child does.
var asJudged = [2]move{Success: {says: Success}, Failure: {says: Failure}}

// fault returns what an automaton lacks, "" if it is complete.
func (a *Automaton) fault(children arity, params []Param) string {
	if len(a.states) == 0 {
		return "states"
	}
	later := func(from int, to uint8) bool { return int(to) > from && int(to) < len(a.states) }
	for i := range a.states {
		s := &a.states[i]
		if children == childless && s.child != nobody {
			return "states that depend on no child, as it has none"
		}
		if s.child != nobody && s.on[Failure] == (move{}) { // it would mean success
			return "a move for a bad child (success goes through a state that says so)"
		}
		moves := s.on[:]
		if s.skip != nil {
			moves = append(moves, *s.skip)
		}
		for _, m := range moves {
			if s.child != nobody && (m.says == Accept && !later(i, m.to) || m.then > 0 && !later(i, m.then)) {
				return "a later state after a move that does not return"
			}
		}
		if s.after > 0 && (!later(i, s.after) ||
			!slices.ContainsFunc(params, func(p Param) bool { return p.Type == Duration })) {
			return "a later state and a duration for its timer"
		}
	}
	return ""
}

// At is the state of a task's automaton.
type At struct {
	State uint8
	Timed bool  // its timer runs
	Waits bool  // its child is run again only after RunAgain (see Engine.StepLoops)
	Count int32 // how often its child was run again, counted only if there is a limit; or the place of a child
}

// move returns the move for the judgement of the state's child.
func (s *state) move(judgement Status) move {
	switch {
	case judgement != Skipped:
		return s.on[judgement]
	case s.skip != nil:
		return *s.skip
	}
	return move{says: Skipped}
}

// place returns the place of the child on which a state of a task with n children depends; -1: none.
func (s *state) place(at At, n int) int {
	place := int(s.child)
	switch s.child {
	case here:
		place = int(at.Count)
	case behind:
		place = int(at.Count) + 1
	case last:
		place = n - 1
	}
	if place >= n {
		return -1
	}
	return max(-1, place)
}

// Pass passes the state of an automaton to the codec; nil: of a task that has none.
func (at *At) Pass(c *snapshot.Codec, a *Automaton) {
	if a == nil {
		a = &Automaton{states: make([]state, 1)}
	}
	snapshot.Within(c, &at.State, 0, uint8(len(a.states)-1))
	snapshot.Bool(c, &at.Timed)
	snapshot.Bool(c, &at.Waits)
	snapshot.Within(c, &at.Count, 0, math.MaxInt32-1)
	if c.Loading() && !c.Failed() && at.Timed && a.states[at.State].after == 0 {
		c.Fail(snapshot.ErrMismatch)
	}
}

// Automaton returns the automaton of a task, and the maximum number of runs of a child; -1: no limit. It panics if the
// task belongs to another family.
func (t *Tree) Automaton(task Task) (a *Automaton, limit int32) {
	if t.nodes[task].family != Script {
		panic("bt: only a Script has an automaton")
	}
	limit = -1
	if n, ok := t.param(task, Times); ok {
		limit = int32(n)
	}
	r := &kinds[t.kinds[task]]
	if n, ok := t.param(task, Choice); ok {
		return &r.variants[n-1], limit
	}
	if ms, ok := t.param(task, Duration); ok && ms == 0 {
		return &untimed[t.kinds[task]], limit
	}
	return &r.script, limit
}

// untimed has the automata of the kinds with a timer whose time is 0: a task without a child does not wait for it, and
// one with a child has no limit.
var untimed = func() (all [len(kinds)]Automaton) {
	for k := range kinds {
		if !Kind(k).Timer() {
			continue
		}
		all[k] = kinds[k].script
		all[k].states = slices.Clone(all[k].states)
		for i := range all[k].states {
			all[k].states[i].after = 0
		}
		if first := kinds[k].script.states[0]; first.child == nobody {
			all[k].states = all[k].states[first.after:]
		}
	}
	return all
}()

// timed reports whether a state has a timer.
func (a *Automaton) timed() bool {
	return slices.ContainsFunc(a.states, func(s state) bool { return s.after > 0 })
}

// param returns the value of a task's first parameter of a type, if there is one.
func (t *Tree) param(task Task, of ParamType) (value int, ok bool) {
	i := slices.IndexFunc(t.kinds[task].Params(), func(p Param) bool { return p.Type == of })
	if i < 0 {
		return 0, false
	}
	return t.params[task][i], true
}

// Repeats reports whether a task can run a child again that has ended.
func (t *Tree) Repeats(task Task) bool {
	if t.nodes[task].family != Script {
		return false
	}
	_, limit := t.Automaton(task)
	return limit != 1 && t.kinds[task].Repeats()
}

// Timers returns all tasks that have a timer, in their order. The caller must not change the slice.
func (t *Tree) Timers() []Task { return t.timers }

// Timer returns the time [s] after which a task's timer elapses. It panics if the task has none.
func (t *Tree) Timer(task Task) float64 {
	ms, ok := t.param(task, Duration)
	if !ok {
		panic("bt: a task without a timer")
	}
	return float64(ms) / 1000
}

// Timing reports that the timer of a task was started, or stopped before it elapsed.
type Timing struct {
	Task  Task
	Start bool
}

// Judge returns the judgement of a child, and whether the child has ended: it is Finished or Aborted, and its result is
// not held.
type Judge func(child int) (judgement Status, ended bool)

// Decide returns the verdict of a task of n children (Success, Failure, Skipped, or Accept while undecided), the state
// that is reached, and the child that this state depends on, -1 for none.
func (a *Automaton) Decide(at At, n int, limit int32, judge Judge) (says Status, child int32, reached At) {
	for {
		s := &a.states[at.State]
		place := s.place(at, n)
		if place < 0 || limit == 0 {
			return s.says, -1, at
		}
		judgement, ended := judge(place)
		if judgement == Accept || at.Waits { // what the child says before its next run does not count
			return Accept, int32(place), at
		}
		m := s.move(judgement)
		switch {
		case m.again && !a.last(at, limit, ended):
			return Accept, -1, at
		case m.step > 0 && s.whole && at.Count+m.step >= int32(n):
			return m.says, -1, At{}
		case m.step > 0 && (s.whole || at.Count+m.step < int32(n-1)):
			at.Count += m.step
			at.State = max(at.State, m.then)
			continue
		}
		at.State, at.Timed = max(at.State, m.to), false
		if m.says != Accept {
			return m.says, -1, at
		}
	}
}

// GoesOn reports whether a state's child can lead to another child.
func (a *Automaton) GoesOn(at At) bool {
	return slices.ContainsFunc(a.states[at.State].on[:], func(m move) bool {
		return m.step > 0 || m.says == Accept && a.states[m.to].child != nobody
	})
}

// Store returns the state that a task stores in a down visit, given the state that it has reached.
func (a *Automaton) Store(at, reached At, active, passing, wants, memory bool) At {
	if passing && memory && (wants || a.states[reached.State].after > 0) {
		at = reached
		at.Timed = a.states[at.State].after > 0
	}
	at.Timed = at.Timed && active
	return at
}

// Time appends what a down visit that changes the state of a task's automaton means for its timer.
func (at At) Time(t Task, next At, log []Timing) []Timing {
	if at.Timed && (!next.Timed || next.State != at.State) {
		log = append(log, Timing{Task: t})
	}
	if next.Timed && (!at.Timed || next.State != at.State) {
		log = append(log, Timing{Task: t, Start: true})
	}
	return log
}

// Elapse returns the state after the timer has elapsed, and whether it ran.
func (a *Automaton) Elapse(at At) (next At, ran bool) {
	if !at.Timed {
		return at, false
	}
	at.State, at.Timed = a.states[at.State].after, false
	return at, true
}

// last reports whether the run that ends is the last one.
func (a *Automaton) last(at At, limit int32, ended bool) bool {
	return limit >= 0 && (!ended || at.Count+1 >= limit)
}

// Leave returns the state after activity is taken from a child that has ended, and whether the child is run again. A
// task that does not pass activity on runs no child again.
func (a *Automaton) Leave(at, reached At, limit int32, child int, judgement Status, passing bool) (At, bool) {
	s := &a.states[at.State]
	switch {
	case int(s.child) == child && s.on[judgement].again && passing && !a.last(at, limit, true):
		if limit >= 0 {
			at.Count++
		}
		return at, true
	case a.keeps:
		at = reached
	}
	return at, false
}

// Deactivated returns the automaton's state after its task is deactivated.
func (a *Automaton) Deactivated(at At) At {
	if at.Waits = false; a.keeps {
		return at
	}
	return At{}
}

// scriptTask is the engine's view of a task of the family Script.
type scriptTask struct {
	*Automaton
	limit int32
}

// decide runs the automaton of a task.
func (e *Engine) decide(n *node) (says Status, child int32, reached At) {
	s := &e.tree.scripts[n.script]
	return s.Decide(e.at[n.script], int(n.n), s.limit, func(child int) (Status, bool) {
		e.look(n, int32(child))
		return e.judgement(n, child)
	})
}

// judgement returns the judgement of a child, and whether it has ended.
func (e *Engine) judgement(n *node, child int) (Status, bool) {
	c := e.child(n, int32(child))
	return judgement[c.effective], c.hold == free && c.status.in(ended)
}

// passScript passes on the activity of a task with an automaton: it wants the child that its state depends on.
func (e *Engine) passScript(t Task, n *node) {
	c := &e.composites[n.composite]
	says, want, reached := e.decide(n)
	task := e.task(t)
	passing := task.active && task.status.in(wanted) && says == Accept
	stay := n.n
	if passing && want >= 0 && e.waitsFor(n, want) && e.tree.scripts[n.script].GoesOn(reached) {
		stay = want + 1
	}
	if !passing || want < 0 || !e.child(n, want).effective.in(wanted) || n.shared > 0 && e.granted[n.shared-1] != t {
		want = -1
	}
	at := e.at[n.script]
	if at.Waits {
		want = -1
	}
	if next := e.tree.scripts[n.script].Store(at, reached, task.active, passing, want >= 0, n.memory); next != at {
		e.timings = at.Time(t, next, e.timings)
		e.at[n.script] = next
		e.changed = true
		e.moves(t)
	}
	e.handOver(n, c, want, stay, reached, passing)
	if c.held > 0 && !n.memory {
		e.forget(n, c, stay)
	}
	if task.judge(e.verdict(n, c)) {
		e.up.add(t)
	}
}

// forget drops the held results at which an automaton without memory does not look, up to the place stay.
func (e *Engine) forget(n *node, c *composite, stay int32) {
	for place := range stay {
		if child := e.child(n, place); child.hold != free && !e.looks(n, place) {
			child.hold, child.effective = free, child.status
			c.held--
			e.changed = true
			e.moves(e.tree.kids[n.kids+place])
		}
	}
}

// looks reports whether the automaton of a task looks at a child.
func (e *Engine) looks(n *node, place int32) (looks bool) {
	s := &e.tree.scripts[n.script]
	s.Decide(e.at[n.script], int(n.n), s.limit, func(child int) (Status, bool) {
		looks = looks || child == int(place)
		return e.judgement(n, child)
	})
	return looks
}

// StepLoops sets whether a task that would run a child again waits until RunAgain, so that the child's conditions can
// be told before what the last run has written.
func (e *Engine) StepLoops(step bool) { e.stepping = step }

// Reran returns the tasks that have run a child again, or have begun to wait with that, since the last Settle began. It
// is valid until the next one.
func (e *Engine) Reran() []Task { return e.reran }

// LoopsWait reports whether a task waits before it runs its child again.
func (e *Engine) LoopsWait() bool {
	return slices.ContainsFunc(e.at, func(at At) bool { return at.Waits })
}

// RunAgain lets the tasks that wait run their children again, in the next Settle.
func (e *Engine) RunAgain() {
	for t := range e.tree.nodes {
		e.again(Task(t))
	}
}

// again lets a task that waits run its child again.
func (e *Engine) again(t Task) {
	if n := &e.tree.nodes[t]; n.family == Script && e.at[n.script].Waits {
		e.at[n.script].Waits = false
		e.down.add(t)
		e.moves(t)
	}
}

// elapse applies the input that a task's timer has elapsed.
func (e *Engine) elapse(t Task) {
	n := &e.tree.nodes[t]
	if n.family != Script {
		panic("bt: a timer elapsed of a task that has none")
	}
	next, ran := e.tree.scripts[n.script].Elapse(e.at[n.script])
	if ran {
		e.moves(t)
		e.at[n.script] = next
		e.task(t).judge(e.verdict(n, &e.composites[n.composite]))
		e.up.add(t)
		e.down.add(t)
	}
}

// leave takes activity from the active child of a chain or of a task with an automaton.
func (e *Engine) leave(n *node, place int32, reached At, passing bool) {
	t, s := e.tree.kids[n.kids+place], e.child(n, place)
	if n.family == Script && s.hold == free && s.status.in(ended) {
		a, again := &e.tree.scripts[n.script], false
		e.at[n.script], again = a.Leave(e.at[n.script], reached, a.limit, int(place), judgement[s.status], passing)
		if again {
			loop := e.tree.Parent(t)
			e.at[n.script].Waits = e.stepping || slices.Contains(e.waits, loop)
			e.reran = append(e.reran, loop)
			e.order(t, s, false)
			return
		}
	}
	e.setActive(t, s, false)
}
