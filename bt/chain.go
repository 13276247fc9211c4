package bt

// recountChain updates which child decides after a child's effective status has changed. It reports whether the verdict
// may have changed.
func (e *Engine) recountChain(n *node, c *composite, place int32, to Status) bool {
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

// skip moves the index of the first child that is not passed over to the right.
func (e *Engine) skip(n *node, c *composite) {
	for c.first < n.n {
		c.front = e.child(n, c.first).effective
		if !c.front.in(n.over) {
			return
		}
		c.first++
	}
}

// passChain passes on the activity of a composite that has at most one active child: it wants the first child that is
// not passed over, and hands over once all others are transient.
func (e *Engine) passChain(t Task, n *node) {
	c := &e.composites[n.composite]
	want := int32(-1)
	if e.passes(t, n, c) && c.front.in(wanted) {
		want = c.first
		if n.memory {
			e.pinBefore(n, c)
		}
	}
	if c.current >= 0 && c.current != want {
		e.setActive(e.tree.kids[n.kids+c.current], false)
		c.current = -1
	}
	e.handOver(n, c, want)
}

// handOver makes the wanted child, if any, active when all others are transient.
func (e *Engine) handOver(n *node, c *composite, want int32) {
	if want >= 0 && c.current < 0 && c.statuses.engaged() == inStatuses[e.child(n, want).status].engaged() {
		e.setActive(e.tree.kids[n.kids+want], true)
		c.current = want
	}
}

// pinBefore pins the children that a chain with memory passes over.
func (e *Engine) pinBefore(n *node, c *composite) {
	for ; c.pinned < c.first; c.pinned++ {
		t := e.tree.kids[n.kids+c.pinned]
		e.keep(t, pinned, judgement[e.tasks[t].effective])
	}
}
