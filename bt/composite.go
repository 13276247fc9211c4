package bt

// verdict joins the flags `returns` and `success` of a composite: Success, Failure or Skipped if it returns, else
// Accept.
func (e *Engine) verdict(n *node, c *composite) Status {
	switch n.family {
	case Chain:
		return e.chainVerdict(n, c)
	case Count:
		return e.countVerdict(n, c)
	case Script:
		says, _, _ := e.decide(n)
		return says
	}
	panic(unknownFamily)
}

// judge sets the verdict of a composite. It reports whether this is a change.
func (s *task) judge(verdict Status) bool {
	changed := verdict != s.Request
	s.Request, s.Outcome = verdict, verdict
	return changed
}

const unknownFamily = "bt: a composite of an unknown family"

// task returns the state of a task.
func (e *Engine) task(t Task) *task { return &e.tasks[e.tree.nodes[t].slot] }

// children returns the states of a composite's children.
func (e *Engine) children(n *node) []task { return e.tasks[n.kids : n.kids+n.n] }

// child returns the state of the child with the given index.
func (e *Engine) child(n *node, place int32) *task { return &e.tasks[n.kids+place] }

// recount updates a composite's counts after a child's effective status has changed. It returns the new verdict, given
// the one before.
func (e *Engine) recount(n *node, c *composite, place int32, from, to, verdict Status) Status {
	if !e.Hears(e.tree.kids[n.slot]) { // it is judged when it is heard
		if n.family == Count {
			c.results += inResults[to%room] - inResults[from%room]
		}
		return verdict
	}
	switch n.family {
	case Chain:
		if place > c.first {
			return verdict
		}
		if !to.in(n.over) {
			c.first = place
			return n.verdict[to%room]
		}
	case Count:
		c.results += inResults[to%room] - inResults[from%room]
	}
	return e.verdict(n, c)
}

// keep holds or pins a task's result.
func (e *Engine) keep(t Task, h hold, result Status) {
	n := &e.tree.nodes[t]
	s := &e.tasks[n.slot]
	if s.hold == free && n.up != nil {
		e.composites[n.up.composite].held++
	}
	s.hold, s.effective = h, result
	e.changed = true
	e.moves(t)
}

// revised reports whether a held result of a task ends when the judgement of a leaf below it changes: it is prompt, and
// has siblings that a task without memory judges as well.
func (n *node) revised() bool { return n.prompt && n.up != nil && !n.up.memory && n.up.n > 1 }

// revise drops the held results of the prompt tasks around a leaf whose judgement has changed: they are run again.
func (e *Engine) revise(n *node) {
	for n = n.up; n != nil && n.quick; n = n.up {
		s, t := &e.tasks[n.slot], e.tree.kids[n.slot]
		if s.hold != held || !n.revised() {
			continue
		}
		from, p := s.effective, n.up
		parent, c := &e.tasks[p.slot], &e.composites[p.composite]
		s.hold, s.effective = free, s.status
		c.held--
		e.moves(t)
		e.moves(n.parent)
		if parent.active {
			e.down.add(n.parent)
			if c.passing {
				e.down.add(t)
			}
		}
		if s.effective != from && parent.judge(e.recount(p, c, n.slot-p.kids, from, s.effective, parent.Request)) {
			e.up.add(n.parent)
		}
	}
}

// release drops all holds of a composite that enters Deactivating.
func (e *Engine) release(n *node, s *task) {
	c := &e.composites[n.composite]
	for place := int32(0); c.held > 0; place++ {
		child := e.child(n, place)
		if child.hold == free {
			continue
		}
		from := child.effective
		child.hold, child.effective = free, child.status
		c.held--
		t := e.tree.kids[n.kids+place]
		e.moves(t)
		if n.family == Chain && !e.Hears(t) {
			c.first = min(c.first, place)
			continue
		}
		e.recount(n, c, place, from, child.effective, s.Request)
		if n.family == Count && !n.prompts {
			e.look(n, place)
		}
	}
	c.pinned = 0
	e.moves(e.tree.kids[n.slot])
	if n.family == Script {
		e.at[n.script] = e.tree.scripts[n.script].Deactivated(e.at[n.script])
	}
	s.judge(e.verdict(n, c))
}

// pass makes the down visit of a task: activity passes from its parent to it, or from it to its children.
func (e *Engine) pass(t Task) {
	e.visits++
	n := &e.tree.nodes[t]
	s := &e.tasks[n.slot]
	if n.up == nil {
		if e.rootWants(s) != s.active {
			e.setActive(t, s, !s.active)
			if s.status == Dropped {
				e.keep(t, held, Skipped)
			}
		}
	} else if n.up.family == Count {
		e.passCountChild(n.up, n.slot-n.up.kids, e.seen(n.up), e.composites[n.up.composite].passing)
	}
	switch n.family {
	case Leaf:
	case Chain:
		e.passChain(n, s)
	case Count:
		e.passCount(n, s)
	case Script:
		e.passScript(t, n)
	default:
		panic(unknownFamily)
	}
}

// rootWants treats the root as the only child of a parent that passes activity on until the tree is halted: the root is
// activated when it is Accept, deactivated when it has ended, and its result is held, also that it is skipped.
func (e *Engine) rootWants(s *task) bool {
	return !e.halted && s.effective.in(wanted) && !e.withholds(e.tree.Root())
}

// passes reports whether a composite passes activity on.
func (s *task) passes() bool { return s.active && s.status.in(wanted) && s.Request == Accept }

// order grants or withdraws activity.
func (e *Engine) order(t Task, s *task, active bool) {
	s.active = active
	e.changed = true
	e.up.add(t)
	n := &e.tree.nodes[t]
	if n.up != nil {
		if c := &e.composites[n.up.composite]; active {
			c.active++
		} else {
			c.active--
		}
	}
	if n.composite >= 0 {
		e.down.add(t)
	}
}

// setActive grants or withdraws activity; the result of a task that has ended is held.
func (e *Engine) setActive(t Task, s *task, active bool) {
	e.order(t, s, active)
	if !active && s.hold == free && s.status.in(ended) {
		e.keep(t, held, judgement[s.status%room])
	}
}
