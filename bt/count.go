package bt

// countVerdict counts the good and the bad children. Which threshold is reached first matters only if both are reached.
func (e *Engine) countVerdict(n *node, c *composite) Status {
	good, bad := c.results.good(), c.results.bad()
	if skipped := c.results.skipped(); skipped|n.Quorum != 0 {
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

// raceVerdict counts the children one by one, pinned ones first: the first threshold reached decides.
func (e *Engine) raceVerdict(n *node) Status {
	var r results
	for _, first := range [...]bool{true, false} {
		for place := range n.n {
			s := e.child(n, place)
			if (s.hold == pinned) != first {
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
	if passing == c.passing {
		return
	}
	c.passing = passing
	for place := range n.n {
		e.passCountChild(n, e.tree.kids[n.kids+place], e.child(n, place), passing)
	}
}

// passCountChild pins a child of a Count, withdraws its activity or grants it.
func (e *Engine) passCountChild(n *node, child Task, s *task, passing bool) {
	if passing && n.memory && s.hold != pinned && s.effective.in(good|bad) {
		e.keep(child, pinned, judgement[s.effective])
	}
	want := passing && s.effective.in(wanted) && (e.exchanging == nil || !e.withholds(child))
	if want != s.active {
		e.setActive(child, s, want)
	}
}
