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

// passChain passes on the activity of a composite that has at most one active child: it wants the first child that is
// not passed over, and hands over once all others are transient.
func (e *Engine) passChain(n *node, s *task) {
	c := &e.composites[n.composite]
	want := int32(-1)
	if s.passes() && e.child(n, c.first).effective.in(wanted) {
		want = c.first
		if n.memory {
			e.pinBefore(n, c)
		}
		if e.exchanging != nil && e.withholds(e.tree.kids[n.kids+want]) {
			want = -1
		}
	}
	if c.current == want {
		return
	}
	if c.current >= 0 {
		e.setActive(e.tree.kids[n.kids+c.current], e.child(n, c.current), false)
		c.current = -1
	}
	e.handOver(n, c, want)
}

// handOver makes the wanted child, if any, active when all others are transient.
func (e *Engine) handOver(n *node, c *composite, want int32) {
	if want < 0 || c.current >= 0 {
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
