package bt

// parallelVerdict counts the good and the bad children. Which count is reached first matters only if both are.
func (e *Engine) parallelVerdict(n *node, c *composite) Status {
	enough, tooMany := n.success, n.failingCount()
	isGood, isBad := int32(c.results>>32) >= enough, int32(uint32(c.results)) >= tooMany
	switch {
	case isGood && isBad:
		return e.raceVerdict(n, enough, tooMany)
	case isGood:
		return Success
	case isBad:
		return Failure
	}
	return Accept
}

// failingCount returns how many bad children make a parallel fail: its failure count, or so many that it cannot
// succeed.
func (n *node) failingCount() int32 { return min(n.failure, n.n-n.success+1) }

// raceVerdict counts the children one by one, pinned ones first: the first threshold reached decides.
func (e *Engine) raceVerdict(n *node, enough, tooMany int32) Status {
	var results uint64
	for _, first := range [...]bool{true, false} {
		for place := range n.n {
			s := e.child(n, place)
			if (s.hold == pinned) != first {
				continue
			}
			results += inResults[s.effective]
			if int32(results>>32) >= enough {
				return Success
			}
			if int32(uint32(results)) >= tooMany {
				return Failure
			}
		}
	}
	return Accept
}

// passParallel looks at all children if a parallel begins or ceases to pass activity on; those that change meanwhile
// are noted one by one.
func (e *Engine) passParallel(t Task, n *node) {
	c := &e.composites[n.composite]
	passing := e.passes(t, n, c)
	if passing == c.passing {
		return
	}
	c.passing = passing
	for _, child := range e.tree.Children(t) {
		e.passParallelChild(n, child, passing)
	}
}

// passParallelChild pins a child of a parallel, withdraws its activity or grants it.
func (e *Engine) passParallelChild(n *node, child Task, passing bool) {
	s := &e.tasks[child]
	if passing && n.kind == Parallel && s.hold != pinned && s.effective.in(good|bad) {
		e.keep(child, pinned, judgement[s.effective])
	}
	if want := passing && s.effective.in(wanted); want != s.active {
		e.setActive(child, want)
	}
}
