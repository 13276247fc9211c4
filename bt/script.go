package bt

import "canopy/snapshot"

// Automaton is what a task of the family Script does: a small automaton over its children's judgements. In each state
// it looks at one child, and the child's judgement decides:
//
//	nothing yet   the task says nothing yet; it wants the child if this asks
//	good or bad   the move for it: the task returns, goes on to another state, or runs the child again
//
// A child that is to be run again and has ended is deactivated without its result being held; it asks anew when its
// request says so. The last of a limited number of runs decides. A child that is judged without being activated cannot
// be run: with a limit, all runs end in the same way at this instant; without one, the task waits for a change.
//
// Where the automaton is, a task keeps from a down visit in which it passes activity on and wants a child, until it is
// deactivated: so far the judgements are done with.
type Automaton struct {
	states []state // the first one is where it begins; moves to other states go forward
	keeps  bool    // the state that a child's end leads to is kept also when the task is deactivated
}

type state struct {
	child int8    // whose judgement decides
	on    [2]move // by the judgement
	says  Status  // what the task says if it has no such child
}

// nobody is the child of a state that looks at none.
const nobody = -1

type move struct {
	says  Status // Success, Failure: the task returns; Accept: it goes on
	to    uint8  // the state where it goes on, or in which it is from then on
	again bool   // the child is run again, unless this was the last run
}

// At is where the automaton of a task is.
type At struct {
	State uint8
	Runs  int32 // how often its child was run again; it is counted if there is a limit
}

// Pass passes it.
func (at *At) Pass(c *snapshot.Codec) {
	snapshot.Int(c, &at.State)
	snapshot.Int(c, &at.Runs)
}

// Automaton returns the automaton of a task, and how often a child is run; -1: without limit. It panics if the task is
// of another family.
func (t *Tree) Automaton(task Task) (a *Automaton, limit int32) {
	if t.nodes[task].family != Script {
		panic("bt: only a Script has an automaton")
	}
	limit = -1
	if params := t.params[task]; len(params) > 0 {
		limit = int32(params[0])
	}
	return &kinds[t.kinds[task]].script, limit
}

// Judge tells how a child is judged, and whether it has ended: it is Finished or Aborted, and its result is not held.
type Judge func(child int) (judgement Status, ended bool)

// Decide returns what a task of n children says: Success, Failure, or nothing yet. It then looks at a child, -1 for
// none, in the state that is returned.
func (a *Automaton) Decide(at At, n int, limit int32, judge Judge) (says Status, child int32, reached At) {
	for {
		s := &a.states[at.State]
		if s.child == nobody || int(s.child) >= n {
			return s.says, -1, at
		}
		judgement, ended := judge(int(s.child))
		if judgement == Accept {
			return Accept, int32(s.child), at
		}
		m := s.on[judgement]
		switch {
		case m.again && !a.last(at, limit, ended):
			return Accept, -1, at
		case m.says != Accept:
			return m.says, -1, at
		}
		at.State = m.to
	}
}

// last reports whether a run that ends is the last one.
func (a *Automaton) last(at At, limit int32, ended bool) bool {
	return limit >= 0 && (!ended || at.Runs+1 >= limit)
}

// Leave returns where the automaton is when activity is taken from a child that has ended, and whether the child is run
// again. A task that does not pass activity on runs nothing again.
func (a *Automaton) Leave(at At, limit int32, child int, judgement Status, passing bool) (next At, again bool) {
	s := &a.states[at.State]
	if int(s.child) != child {
		return at, false
	}
	m := s.on[judgement]
	switch {
	case m.again && passing && !a.last(at, limit, true):
		if limit >= 0 {
			at.Runs++
		}
		return at, true
	case a.keeps:
		at.State = m.to
	}
	return at, false
}

// Deactivated returns where the automaton is when its task is deactivated.
func (a *Automaton) Deactivated(at At) At {
	if a.keeps {
		return at
	}
	return At{}
}

// scriptTask is what the engine must know of a task of the family Script.
type scriptTask struct {
	*Automaton
	limit int32
}

// decide lets the automaton of a task decide.
func (e *Engine) decide(n *node) (says Status, child int32, reached At) {
	s := &e.tree.scripts[n.script]
	return s.Decide(e.at[n.script], int(n.n), s.limit, func(child int) (Status, bool) {
		c := e.child(n, int32(child))
		return judgement[c.effective], c.hold == free && c.status.in(ended)
	})
}

// passScript passes on the activity of a task that has at most one active child: it wants the one that its automaton
// looks at, and hands over only when all others are transient.
func (e *Engine) passScript(t Task, n *node) {
	c := &e.composites[n.composite]
	says, child, reached := e.decide(n)
	task := &e.tasks[t]
	passing := task.active && task.status.in(wanted) && says == Accept
	want := int32(-1)
	if passing && child >= 0 && e.child(n, child).effective.in(wanted) {
		want = child
		if e.at[n.script] != reached {
			e.at[n.script] = reached
			e.changed = true
		}
	}
	if c.current >= 0 && c.current != want {
		e.leave(n, c.current, passing)
		c.current = -1
	}
	e.handOver(n, c, want)
}

// leave takes activity from a child of a task with an automaton.
func (e *Engine) leave(n *node, place int32, passing bool) {
	t, s := e.tree.kids[n.kids+place], e.child(n, place)
	if s.hold == free && s.status.in(ended) {
		a, again := &e.tree.scripts[n.script], false
		e.at[n.script], again = a.Leave(e.at[n.script], a.limit, int(place), judgement[s.status], passing)
		if again {
			e.order(t, s, false)
			return
		}
	}
	e.setActive(t, false)
}
