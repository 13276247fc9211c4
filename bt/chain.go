package bt

// chainVerdict moves the index of the first child that is not passed over to the right, and judges by this child; if
// there is none, by the last one that is not skipped.
func (e *Engine) chainVerdict(n *node, c *composite) Status {
	children, first := e.children(n), int(c.first)
	for ; first < len(children); first++ {
		e.look(n, int32(first))
		if !children[first].effective.in(n.over) {
			break
		}
	}
	c.first = int32(first)
	if first == len(children) {
		for first--; first > 0 && children[first].effective.in(skipped); first-- {
		}
	}
	return n.verdict[children[first].effective%room]
}

// passChain passes on the activity of a chain: it wants the first child that is not passed over.
func (e *Engine) passChain(n *node, s *task) {
	c := &e.composites[n.composite]
	want := int32(-1)
	if s.passes() && e.child(n, c.first).effective.in(wanted) {
		want = c.first
		if n.memory {
			e.pinBefore(n, c)
		}
	}
	e.handOver(n, c, want, At{}, false)
}

// handOver gives the activity of a composite that has at most one active child to the one that it wants, -1: none, once
// all others are transient. It takes it from the one that has it: of a task with an automaton, which has reached a
// state, after that has left.
func (e *Engine) handOver(n *node, c *composite, want int32, reached At, passing bool) {
	if e.exchanging != nil && want >= 0 && e.withholds(e.tree.kids[n.kids+want]) {
		want = -1
	}
	if c.current == want {
		return
	}
	if c.current >= 0 {
		e.leave(n, c.current, reached, passing)
		c.current = -1
	}
	if want < 0 {
		return
	}
	if s := e.child(n, want); c.statuses.engaged() == inStatuses[s.status%room].engaged() {
		e.setActive(e.tree.kids[n.kids+want], s, true)
		c.current = want
	}
}

// pinBefore pins the children that a chain with memory passes over.
func (e *Engine) pinBefore(n *node, c *composite) {
	for ; c.pinned < c.first; c.pinned++ {
		t := e.tree.kids[n.kids+c.pinned]
		e.keep(t, pinned, judgement[e.child(n, c.pinned).effective])
	}
}
