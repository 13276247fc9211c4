package bt

import "canopy/snapshot"

// ConventionalEngine is the tick that A. Klöckner, Behavior Trees for UAV Mission Management, 2013, section 5, starts
// from: every task is activated before it is ticked, whatever it is going to answer. It exists to show the chattering
// that transient tasks cure; nothing else should fly with it. It is not safe for concurrent use.
//
//	run(task):
//	    activate the task, unless it is active
//	    a composite runs its children from left to right until one decides; before it activates one, it deactivates
//	        the one that is active; a parallel runs all of them
//	    if that gives Success or Failure, deactivate the task
//
// What differs from a TickEngine: no task is transient, so an idle one is Accept, be it a condition. An instant is one
// tick and is not repeated until nothing changes. No result is held, so an action that has ended is run again; Sequence
// and Fallback go on where they were, and Parallel leaves out who has ended. An action's request is heard as its
// outcome, when it has been activated. Procedures take no time.
type ConventionalEngine struct {
	tree     *Tree
	tasks    []conventionalTask
	changes  []Change
	commands []Command
	visits   int
	halted   bool
}

// conventionalTask is what changes of a task.
type conventionalTask struct {
	leaf
	status  Status
	current int32  // composites but the parallels: the place of the child that was run last
	ended   Status // children of parallels: how it has ended, Accept if it has not
}

// NewConventionalEngine returns an engine for a tree whose leaves start with the given inputs and whose tasks are idle.
func NewConventionalEngine(tree *Tree, initial []Input) *ConventionalEngine {
	e := &ConventionalEngine{tree: tree, tasks: make([]conventionalTask, tree.Len())}
	for t := range e.tasks {
		e.tasks[t] = conventionalTask{leaf: newLeaf(tree.nodes[t].kind), status: Accept, ended: Accept}
	}
	e.take(initial)
	return e
}

// Status returns a task's status: Accept if it is idle.
func (e *ConventionalEngine) Status(t Task) Status { return e.tasks[t].status }

// State passes all that changes of the engine, but for the log of the last instant.
func (e *ConventionalEngine) State(c *snapshot.Codec) {
	snapshot.Each(c, e.tasks, func(c *snapshot.Codec, s *conventionalTask) {
		s.leaf.state(c)
		snapshot.Int(c, &s.status)
		snapshot.Int(c, &s.current)
		snapshot.Int(c, &s.ended)
	})
	snapshot.Bool(c, &e.halted)
}

// Tick applies the inputs, which change at the same instant, in their order, and ticks the root once. It panics if a
// procedure is to take time.
func (e *ConventionalEngine) Tick(inputs []Input) Instant {
	e.changes, e.commands, e.visits = e.changes[:0], e.commands[:0], 0
	e.take(inputs)
	if !e.halted {
		e.run(e.tree.Root())
	}
	return e.instant()
}

// Halt deactivates the root for ever.
func (e *ConventionalEngine) Halt() Instant {
	e.changes, e.commands, e.visits = e.changes[:0], e.commands[:0], 0
	e.halted = true
	e.deactivate(e.tree.Root())
	return e.instant()
}

func (e *ConventionalEngine) take(inputs []Input) {
	for i := range inputs {
		in := &inputs[i]
		if in.slow != 0 {
			panic("bt: a conventional engine has no procedures that take time")
		}
		s := &e.tasks[in.task]
		s.take(in, e.tree.nodes[in.task].kind, s.status)
	}
}

func (e *ConventionalEngine) instant() Instant {
	return Instant{Changes: e.changes, Commands: e.commands, Iterations: min(len(e.changes), 1), Visits: e.visits}
}

// run ticks a task, activating it before and deactivating it if it has ended. It returns Success, Failure or, if the
// task goes on, Accept.
func (e *ConventionalEngine) run(t Task) Status {
	e.visits++
	n, s := &e.tree.nodes[t], &e.tasks[t]
	if s.status == Accept {
		e.activate(t, n, s)
	}
	says := s.outcome
	switch {
	case n.kind.IsParallel():
		says = e.runParallel(t, n)
	case n.composite >= 0:
		says = e.runSequence(t, n, s)
	}
	if says != Accept {
		e.step(t, [...]Status{Success: Finished, Failure: Aborted}[says])
		e.deactivate(t)
	}
	return says
}

// runSequence runs children until one is not passed over.
func (e *ConventionalEngine) runSequence(t Task, n *node, s *conventionalTask) Status {
	kids := e.tree.Children(t)
	place := int32(0)
	if n.kind == Sequence || n.kind == Fallback {
		place = s.current
	}
	for ; ; place++ {
		if place != s.current {
			e.deactivate(kids[s.current])
			s.current = place
		}
		if says := e.run(kids[place]); !says.in(n.over) || place == n.n-1 {
			return n.kind.verdict(says)
		}
	}
}

// runParallel runs all children, of a Parallel those that have not ended, and counts them from left to right: the first
// threshold reached decides.
func (e *ConventionalEngine) runParallel(t Task, n *node) Status {
	verdict, enough, tooMany := Accept, n.success, n.failingCount()
	for _, child := range e.tree.Children(t) {
		c := &e.tasks[child]
		if n.kind == ReactiveParallel || c.ended == Accept {
			c.ended = e.run(child)
		}
		switch c.ended {
		case Success:
			enough--
		case Failure:
			tooMany--
		}
		switch {
		case verdict != Accept:
		case enough == 0:
			verdict = Success
		case tooMany == 0:
			verdict = Failure
		}
	}
	return verdict
}

// activate starts a task and its entry procedure.
func (e *ConventionalEngine) activate(t Task, n *node, s *conventionalTask) {
	e.step(t, Activating)
	s.outcome = s.request
	if n.kind == Action {
		e.commands = append(e.commands, Command{Task: t})
	}
	e.step(t, Running)
}

// deactivate ends a task, if it is active, with all below it, and starts its exit procedure.
func (e *ConventionalEngine) deactivate(t Task) {
	n, s := &e.tree.nodes[t], &e.tasks[t]
	if s.status == Accept {
		return
	}
	e.step(t, Deactivating)
	for _, child := range e.tree.Children(t) {
		e.deactivate(child)
		e.tasks[child].ended = Accept
	}
	s.current = 0
	if n.kind == Action {
		e.commands = append(e.commands, Command{Task: t, Exit: true})
	}
	e.step(t, Accept)
}

func (e *ConventionalEngine) step(t Task, to Status) {
	s := &e.tasks[t]
	e.changes = append(e.changes, Change{Task: t, From: s.status, To: to, Iteration: 1})
	s.status = to
}
