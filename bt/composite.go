package bt

// judgement is what an effective status says: Success if it is good, Failure if it is bad, Accept if it says nothing
// yet.
var judgement = [8]Status{
	Success: Success, Finished: Success,
	Failure: Failure, Aborted: Failure,
	Accept: Accept, Activating: Accept, Running: Accept, Deactivating: Accept,
}

// verdict joins the flags `returns` and `success` of a composite: Success or Failure if it returns, else Accept.
func (e *Engine) verdict(n *node, c *composite) Status {
	if n.kind.IsParallel() {
		return e.parallelVerdict(n, c)
	}
	return n.kind.verdict(judgement[c.front])
}

// verdict returns what a composite other than a parallel says if the child that decides says this.
func (k Kind) verdict(says Status) Status {
	switch {
	case k < Inverter || says == Accept:
		return says
	case k == ForceSuccess || k == Inverter && says == Failure:
		return Success
	}
	return Failure
}

// visitComposite applies the status cycle to a composite until it is stable.
func (e *Engine) visitComposite(t Task, n *node, s *task) {
	c := &e.composites[n.composite]
	for {
		to := cycle(s.status, e.verdict(n, c), s.active, uint32(c.statuses) != 0)
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

// child returns the child at a place.
func (e *Engine) child(n *node, place int32) *task {
	return &e.tasks[e.tree.kids[n.kids+place]]
}

// recount updates a composite's counts after a child's effective status has changed. It reports whether the verdict may
// be another one.
func (e *Engine) recount(n *node, c *composite, place int32, from, to Status) bool {
	c.results += inResults[to] - inResults[from]
	if n.kind.IsParallel() {
		return inResults[to] != inResults[from]
	}
	front := c.front
	switch {
	case place > c.first:
		return false
	case !to.in(n.over):
		c.first, c.front = place, to
	case place == c.first:
		e.skip(n, c)
	}
	return judgement[c.front] != judgement[front]
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
}

// pass visits a task on the way down: its parent's activity reaches it, or its own activity its children.
func (e *Engine) pass(t Task) {
	e.visits++
	n := &e.tree.nodes[t]
	switch {
	case n.parent < 0:
		e.passRoot(t)
	case e.tree.nodes[n.parent].kind.IsParallel():
		p := &e.tree.nodes[n.parent]
		e.passParallelChild(p, t, e.composites[p.composite].passing)
	}
	switch {
	case n.composite < 0:
	case n.kind.IsParallel():
		e.passParallel(t, n)
	default:
		e.passSequence(t, n)
	}
}

// passRoot treats the root as the only child of somebody who always passes activity on, until the tree is halted: it is
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

// setActive gives or takes activity; the result of a task that has ended is held.
func (e *Engine) setActive(t Task, active bool) {
	s := &e.tasks[t]
	s.active = active
	e.changed = true
	e.up.add(t)
	if e.tree.nodes[t].composite >= 0 {
		e.down.add(t)
	}
	if !active && s.hold == free && s.status.in(ended) {
		e.keep(t, held, judgement[s.status])
	}
}
