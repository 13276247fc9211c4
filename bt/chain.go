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
	want, stay := int32(-1), n.n
	if s.passes() {
		if e.waitsFor(n, c.first) {
			stay = c.first + 1
		}
		if e.child(n, c.first).effective.in(wanted) {
			want = c.first
			if n.memory {
				e.pinBefore(n, c)
			}
		}
	}
	e.handOver(n, c, want, stay, At{}, false)
}

// handOver gives the activity of a chain or of a task with an automaton, which has reached a state, to the child that
// it wants, -1: none, once all others are transient. It takes activity from the others, but not from those that ask
// from the place stay on.
func (e *Engine) handOver(n *node, c *composite, want, stay int32, reached At, passing bool) {
	if want >= 0 && e.withholds(e.tree.kids[n.kids+want]) {
		want = -1
	}
	var busy statuses // of those that keep it
	for place, left := int32(0), c.active; left > 0; place++ {
		s := e.child(n, place)
		if !s.active {
			continue
		}
		left--
		switch {
		case place == want:
		case place >= stay && s.effective.in(wanted) && !e.withholds(e.tree.kids[n.kids+place]):
			busy += inStatuses[s.status%room]
		default:
			e.leave(n, place, reached, passing)
		}
	}
	if want < 0 {
		return
	}
	if s := e.child(n, want); !s.active && c.statuses.engaged() == (busy+inStatuses[s.status%room]).engaged() {
		e.setActive(e.tree.kids[n.kids+want], s, true)
	}
}

// pinBefore pins the children that a chain with memory passes over.
func (e *Engine) pinBefore(n *node, c *composite) {
	for ; c.pinned < c.first; c.pinned++ {
		t := e.tree.kids[n.kids+c.pinned]
		e.keep(t, pinned, judgement[e.child(n, c.pinned).effective])
	}
}
