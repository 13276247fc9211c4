package bt

// passedOver tells over which children a sequence or fallback passes to the next one.
var passedOver = [...]statusSet{
	Sequence: good, ReactiveSequence: good,
	Fallback: bad, ReactiveFallback: bad,
	ForceFailure: 0,
}

// skip moves the first child that is not passed over on to the right.
func (e *Engine) skip(n *node, c *composite) {
	for c.first < n.n {
		c.front = e.child(n, c.first).effective
		if !c.front.in(n.over) {
			return
		}
		c.first++
	}
}

// passSequence passes on the activity of a composite that has at most one active child: it wants the first child that
// is not passed over, and hands over only when all others are transient.
func (e *Engine) passSequence(t Task, n *node) {
	c := &e.composites[n.composite]
	want := int32(-1)
	if e.passes(t, n, c) && c.front.in(wanted) {
		want = c.first
		if n.kind == Sequence || n.kind == Fallback {
			e.pinBefore(n, c)
		}
	}
	if c.current >= 0 && c.current != want {
		e.setActive(e.tree.kids[n.kids+c.current], false)
		c.current = -1
	}
	if want >= 0 && c.current < 0 && c.statuses>>32 == inStatuses[e.child(n, want).status]>>32 {
		e.setActive(e.tree.kids[n.kids+want], true)
		c.current = want
	}
}

// pinBefore pins the children that a Sequence or Fallback passes over.
func (e *Engine) pinBefore(n *node, c *composite) {
	for ; c.pinned < c.first; c.pinned++ {
		t := e.tree.kids[n.kids+c.pinned]
		e.keep(t, pinned, judgement[e.tasks[t].effective])
	}
}
