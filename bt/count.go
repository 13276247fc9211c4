package bt

// countVerdict counts the good and the bad children. Which threshold is reached first matters only if both are reached.
func (e *Engine) countVerdict(n *node, c *composite) Status {
	r := c.results
	if n.prompts {
		r = e.seenResults(n)
	}
	good, bad := r.good(), r.bad()
	if skipped := r.skipped(); skipped|n.Quorum != 0 {
		switch {
		case skipped == n.n && !n.Lenient:
			return Skipped
		case good+skipped+bad < n.Quorum:
			return Accept
		case n.Lenient || n.Quorum != 0:
			good += skipped
		}
	}
	switch {
	case good >= n.Enough:
		if bad >= n.TooMany {
			return e.raceVerdict(n)
		}
		return Success
	case bad >= n.TooMany:
		return Failure
	}
	return Accept
}

// seen returns at how many children a Count looks: those up to the first prompt one that is undecided.
func (e *Engine) seen(n *node) int32 {
	for place := int32(0); n.prompts && place < n.n; place++ {
		if e.look(n, place); e.waitsFor(n, place) {
			return place + 1
		}
	}
	return n.n
}

// waitsFor reports whether a child is prompt and undecided: meanwhile, no child behind it is activated.
func (e *Engine) waitsFor(n *node, place int32) bool {
	return e.tree.nodes[e.tree.kids[n.kids+place]].prompt && judgement[e.child(n, place).effective%room] == Accept
}

// seenResults counts the children at which a Count looks, and pinned ones.
func (e *Engine) seenResults(n *node) (r results) {
	seen := e.seen(n)
	for place := range n.n {
		if s := e.child(n, place); place < seen || s.hold == pinned {
			r += inResults[s.effective%room]
		}
	}
	return r
}

// raceVerdict counts the children one by one, pinned ones first: the first threshold reached decides.
func (e *Engine) raceVerdict(n *node) Status {
	var r results
	seen := e.seen(n)
	for _, first := range [...]bool{true, false} {
		for place := range n.n {
			s := e.child(n, place)
			if (s.hold == pinned) != first || !first && place >= seen {
				continue
			}
			r += inResults[s.effective]
			if r.good() >= n.Enough || n.Lenient && r.good()+r.skipped() >= n.Enough {
				return Success
			}
			if r.bad() >= n.TooMany {
				return Failure
			}
		}
	}
	return Accept
}

// passCount visits all children when a Count starts or stops passing activity on; children that change in between are
// scheduled individually.
func (e *Engine) passCount(n *node, s *task) {
	c := &e.composites[n.composite]
	passing := s.passes()
	if passing == c.passing && !n.prompts {
		return
	}
	c.passing = passing
	seen := e.seen(n)
	for place := range n.n {
		e.passCountChild(n, place, seen, passing)
	}
}

// passCountChild pins a child of a Count, withdraws its activity or grants it.
func (e *Engine) passCountChild(n *node, place, seen int32, passing bool) {
	child, s := e.tree.kids[n.kids+place], e.child(n, place)
	looks := passing && place < seen
	if looks && n.memory && s.hold != pinned && s.effective.in(good|bad) {
		e.keep(child, pinned, judgement[s.effective])
	}
	want := passing && (looks || s.active) && s.effective.in(wanted) && !e.withholds(child)
	if want != s.active {
		e.setActive(child, s, want)
	}
}
