package bt

// verdict joins the flags `returns` and `success` of a composite: Success or Failure if it returns, else Accept.
func (e *Engine) verdict(n *node, c *composite) Status {
	switch n.family {
	case Chain:
		return n.verdict[judgement[c.front]]
	case Count:
		return e.countVerdict(n, c)
	case Script:
		says, _, _ := e.decide(n)
		return says
	}
	panic(unknownFamily)
}

const unknownFamily = "bt: a composite of an unknown family"

// visitComposite applies the status cycle to a composite until it is stable.
func (e *Engine) visitComposite(t Task, n *node, s *task) {
	c := &e.composites[n.composite]
	for {
		to := cycle(s.status, e.verdict(n, c), s.active, c.statuses.switching())
		if to == s.status {
			return
		}
		e.step(t, s, to)
		if to.in(judged) {
			return
		}
		if to == Deactivating {
			e.release(n, c)
		}
	}
}

// child returns the child with the given index.
func (e *Engine) child(n *node, place int32) *task {
	return &e.tasks[e.tree.kids[n.kids+place]]
}

// recount updates a composite's counts after a child's effective status has changed. It reports whether the verdict may
// have changed.
func (e *Engine) recount(n *node, c *composite, place int32, from, to Status) bool {
	switch n.family {
	case Chain:
		return e.recountChain(n, c, place, to)
	case Count:
		c.results += inResults[to] - inResults[from]
		return inResults[to] != inResults[from]
	case Script:
		return from != to
	}
	panic(unknownFamily)
}

// keep holds or pins a task's result.
func (e *Engine) keep(t Task, h hold, result Status) {
	s, n := &e.tasks[t], &e.tree.nodes[t]
	if s.hold == free && n.parent >= 0 {
		e.composites[n.above].held++
	}
	s.hold, s.effective = h, result
	e.changed = true
}

// release drops all holds of a composite that enters Deactivating.
func (e *Engine) release(n *node, c *composite) {
	for place := int32(0); c.held > 0; place++ {
		s := e.child(n, place)
		if s.hold == free {
			continue
		}
		from := s.effective
		s.hold, s.effective = free, s.status
		c.held--
		e.recount(n, c, place, from, s.effective)
	}
	c.pinned = 0
	if n.family == Script {
		e.at[n.script] = e.tree.scripts[n.script].Deactivated(e.at[n.script])
	}
}

// pass makes the down visit of a task: activity passes from its parent to it, or from it to its children.
func (e *Engine) pass(t Task) {
	e.visits++
	n := &e.tree.nodes[t]
	if n.parent < 0 {
		e.passRoot(t)
	} else if p := &e.tree.nodes[n.parent]; p.family == Count {
		e.passCountChild(p, t, e.composites[p.composite].passing)
	}
	switch n.family {
	case Leaf:
	case Chain:
		e.passChain(t, n)
	case Count:
		e.passCount(t, n)
	case Script:
		e.passScript(t, n)
	default:
		panic(unknownFamily)
	}
}

// passRoot treats the root as the only child of a parent that passes activity on until the tree is halted: the root is
// activated when it is Accept, deactivated when it has ended, and its result is held.
func (e *Engine) passRoot(t Task) {
	s := &e.tasks[t]
	if want := !e.halted && s.effective.in(wanted); want != s.active {
		e.setActive(t, want)
	}
}

// passes reports whether a composite passes activity on.
func (e *Engine) passes(t Task, n *node, c *composite) bool {
	s := &e.tasks[t]
	return s.active && s.status.in(wanted) && e.verdict(n, c) == Accept
}

// order grants or withdraws activity.
func (e *Engine) order(t Task, s *task, active bool) {
	s.active = active
	e.changed = true
	e.up.add(t)
	if e.tree.nodes[t].composite >= 0 {
		e.down.add(t)
	}
}

// setActive grants or withdraws activity; the result of a task that has ended is held.
func (e *Engine) setActive(t Task, active bool) {
	s := &e.tasks[t]
	e.order(t, s, active)
	if !active && s.hold == free && s.status.in(ended) {
		e.keep(t, held, judgement[s.status])
	}
}
