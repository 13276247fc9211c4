package executive

import "slices"

// rewatch updates the indicators that the world watches. Those of actions depend on whether a loop waits.
func (x *Executive) rewatch() {
	if d := x.ordered; d != nil && d.loops.LoopsWait() != x.waiting {
		x.waiting = !x.waiting
		for i := range x.p.Leaves {
			if !x.p.Leaves[i].Condition {
				x.stale.add(i)
			}
		}
	}
	for _, i := range x.stale.take() {
		x.watch(int(i), x.decider.watches(x, int(i)))
	}
	if x.settled {
		return
	}
	x.settled = true // until then, all sides are kept
	if x.watcher == nil {
		return
	}
	for k, n := range x.watchers {
		if n == 0 {
			x.watcher.Watch(k, x.idle())
		}
	}
}

// heeds reports whether an indicator is watched for a leaf.
func (x *Executive) heeds(i, indicator int) bool {
	for f, code := range x.p.Leaves[i].Formulas {
		if code != nil && x.watching[i]>>f&1 == 1 && slices.Contains(code.Indicators(), indicator) {
			return true
		}
	}
	return false
}

// watch makes the world watch the indicators of these formulas of a leaf and, if it is active, of the values it writes.
func (x *Executive) watch(i int, m mask) {
	l := &x.p.Leaves[i]
	if m &^= writes; x.u[i] == Active {
		m |= writes
	}
	before := x.watching[i]
	x.watching[i] = m
	for f := range Criteria {
		if (m^before)>>f&1 == 1 && l.Formulas[f] != nil {
			x.seeAll(l.Formulas[f].Indicators(), m>>f&1 == 1)
		}
	}
	if (m^before)&writes != 0 {
		x.seeAll(l.Writes, m&writes != 0)
	}
}

func (x *Executive) seeAll(indicators []int, events bool) {
	by := int32(-1)
	if events {
		by = 1
	}
	for _, k := range indicators {
		x.see(k, by)
	}
}

// Release stops watching the indicators of what the run is judged by, as far as the plan does not need them. It reports
// whether it was the first time.
func (x *Executive) Release() bool {
	if x.released {
		return false
	}
	x.released = true
	x.seeAll(x.p.Judged, false)
	return true
}

// see counts the formulas that watch an indicator.
func (x *Executive) see(indicator int, by int32) {
	n := &x.watchers[indicator]
	was := *n > 0
	if *n += by; *n > 0 != was && x.watcher != nil {
		a := x.idle()
		if *n > 0 {
			a = Watched
		}
		x.watcher.Watch(indicator, a)
	}
}
