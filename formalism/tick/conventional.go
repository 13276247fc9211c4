package tick

import (
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/snapshot"
)

// Conventional is the tick that A. Klöckner, Behavior Trees for UAV Mission Management, 2013, section 5, starts from:
// every task is activated before it is ticked, whatever its answer will be. It exists to show the chattering that
// transient tasks prevent; do not use it for anything else. It is not safe for concurrent use.
//
//	run(task):
//	    activate the task, unless it is active
//	    a composite runs its children from left to right until one decides; before it activates one, it deactivates
//	        the one that is active; a parallel runs all of them
//	    if that gives Success, Failure or Skipped, deactivate the task
//
// The differences from an [Engine]: no task is transient, so an idle one is bt.Accept, conditions included. An instant
// is one tick and is not repeated until nothing changes. No result is held, so an action that has ended is run again;
// Sequence and Fallback continue where they were, and Parallel leaves out the children that have ended. An action's
// request is taken as its outcome once it has been activated. Procedures take no time.
type Conventional struct {
	tree     *bt.Tree
	nodes    []node
	tasks    []conventionalTask
	changes  []bt.Change
	commands []bt.Command
	timings  []bt.Timing
	visits   int
	halted   bool
}

// conventionalTask is the state of a task.
type conventionalTask struct {
	bt.Told
	status  bt.Status
	current int32     // chains: the place of the child that was run last
	at      bt.At     // scripts
	ended   bt.Status // children of counts: how it has ended, Accept if it has not
}

// NewConventional returns an engine for a tree whose leaves start with the given inputs and whose tasks are idle.
func NewConventional(tree *bt.Tree, initial []bt.Input) *Conventional {
	e := &Conventional{tree: tree, nodes: describe(tree), tasks: make([]conventionalTask, tree.Len())}
	for i := range e.nodes {
		if r := e.nodes[i].rule; r != nil {
			r.Prompt = nil // all children are ticked
		}
	}
	for t := range e.tasks {
		e.tasks[t] = conventionalTask{Told: bt.NewTold(tree.Kind(bt.Task(t))), status: bt.Accept, ended: bt.Accept}
	}
	e.take(initial)
	return e
}

// Status returns a task's status: Accept if it is idle.
func (e *Conventional) Status(t bt.Task) bt.Status { return e.tasks[t].status }

// State passes the engine's state to the codec, except for the log of the last instant.
func (e *Conventional) State(c *snapshot.Codec) {
	place := 0 // of the task
	snapshot.Each(c, e.tasks, func(c *snapshot.Codec, s *conventionalTask) {
		n := &e.nodes[place]
		place++
		s.Told.State(c)
		if c.Loading() && (s.Slow(false) || s.Slow(true)) {
			c.Fail(snapshot.ErrMismatch)
		}
		s.status.State(c)
		snapshot.Within(c, &s.current, 0, int32(max(0, len(n.children)-1)))
		s.ended.State(c)
		s.at.Pass(c, n.script)
	})
	snapshot.Bool(c, &e.halted)
}

// Tick applies the inputs, which change at the same instant, in their order, and ticks the root once. It panics if a
// procedure is to take time.
func (e *Conventional) Tick(inputs []bt.Input) bt.Instant {
	e.clear()
	e.take(inputs)
	if !e.halted {
		e.run(e.tree.Root())
	}
	return e.instant()
}

// Halt deactivates the root permanently.
func (e *Conventional) Halt() bt.Instant {
	e.clear()
	e.halted = true
	e.deactivate(e.tree.Root())
	return e.instant()
}

func (e *Conventional) clear() {
	e.changes, e.commands, e.timings, e.visits = e.changes[:0], e.commands[:0], e.timings[:0], 0
}

func (e *Conventional) take(inputs []bt.Input) {
	for i := range inputs {
		in := &inputs[i]
		s := &e.tasks[in.Task()]
		if in.Elapses() {
			s.at, _ = e.nodes[in.Task()].script.Elapse(s.at)
			continue
		}
		s.Take(in, e.tree.Kind(in.Task()), s.status)
		if s.Slow(false) || s.Slow(true) {
			panic("tick: a conventional engine has no procedures that take time")
		}
	}
}

func (e *Conventional) instant() bt.Instant {
	return bt.Instant{Changes: e.changes, Commands: e.commands, Timings: e.timings, Iterations: min(len(e.changes), 1),
		Visits: e.visits}
}

// run ticks a task, activating it before and deactivating it if it has ended. It returns Success, Failure, Skipped
// or, if the task continues, Accept.
func (e *Conventional) run(t bt.Task) bt.Status {
	e.visits++
	n, s := &e.nodes[t], &e.tasks[t]
	if s.status == bt.Accept {
		e.activate(t, n, s)
	}
	says := s.Outcome
	switch {
	case n.script != nil:
		says = e.runScript(t, n, s)
	case !n.leaf:
		says = e.runChildren(n, s)
	}
	if says != bt.Accept {
		e.step(t, [...]bt.Status{bt.Success: bt.Finished, bt.Failure: bt.Aborted, bt.Skipped: bt.Dropped}[says])
		e.deactivate(t)
	}
	return says
}

// runChildren runs all children, with memory those that have not ended; if only one can be active, those at which it
// looks, with memory from the one that was run last.
func (e *Conventional) runChildren(n *node, s *conventionalTask) bt.Status {
	place := int32(-1)
	return bt.Verdict(bt.Decide(bt.Truth{}, n.rule, func(child bt.Task, in bool) bt.Judgement[bool] {
		c := &e.tasks[child]
		switch place++; {
		case !in:
			return bt.Judgement[bool]{}
		case n.together:
			if !n.memory || c.ended == bt.Accept || c.ended == bt.Skipped {
				c.ended = e.run(child)
			}
			return bt.JudgedAs(c.ended)
		case n.memory && place < s.current:
			return bt.JudgedAs(n.kind.Over())
		case place != s.current:
			e.deactivate(n.children[s.current])
			s.current = place
		}
		return bt.JudgedAs(e.run(child))
	}))
}

// runScript runs the children that the automaton evaluates until it decides or a child is to be run again, which
// happens at the next tick.
func (e *Conventional) runScript(t bt.Task, n *node, s *conventionalTask) bt.Status {
	judgement := bt.Accept
	says, child, reached := n.script.Decide(s.at, len(n.children), n.limit, func(child int) (bt.Status, bool) {
		if place := int32(child); place != s.current {
			e.deactivate(n.children[s.current])
			s.current = place
		}
		judgement = e.run(n.children[child])
		return judgement, true
	})
	e.store(t, s, n.script.Store(s.at, reached, true, says == bt.Accept, true, n.memory))
	if child < 0 && (judgement == bt.Success || judgement == bt.Failure) {
		s.at, _ = n.script.Leave(s.at, reached, n.limit, int(s.current), judgement, says == bt.Accept)
	}
	return says
}

// store stores the state of a task's automaton.
func (e *Conventional) store(t bt.Task, s *conventionalTask, next bt.At) {
	e.timings = s.at.Time(t, next, e.timings)
	s.at = next
}

// activate starts a task and its entry procedure.
func (e *Conventional) activate(t bt.Task, n *node, s *conventionalTask) {
	e.step(t, bt.Activating)
	s.Outcome = s.Request
	if n.kind.Acts() {
		e.commands = append(e.commands, bt.Command{Task: t})
	}
	e.step(t, bt.Running)
}

// deactivate ends a task, if it is active, with all below it, and starts its exit procedure.
func (e *Conventional) deactivate(t bt.Task) {
	n, s := &e.nodes[t], &e.tasks[t]
	if s.status == bt.Accept {
		return
	}
	e.step(t, bt.Deactivating)
	for _, child := range e.tree.Children(t) {
		e.deactivate(child)
		e.tasks[child].ended = bt.Accept
	}
	s.current = 0
	if n.script != nil {
		e.store(t, s, n.script.Store(s.at, s.at, false, false, false, false))
		s.at = n.script.Deactivated(s.at)
	}
	if n.kind.Acts() {
		e.commands = append(e.commands, bt.Command{Task: t, Exit: true})
	}
	e.step(t, bt.Accept)
}

func (e *Conventional) step(t bt.Task, to bt.Status) {
	s := &e.tasks[t]
	e.changes = append(e.changes, bt.Change{Task: t, From: s.status, To: to, Iteration: 1})
	s.status = to
}
