package live

import "github.com/canopy-uav/canopy/expr"

// query is the code of the conditions with one ID.
type query struct {
	ports Ports
	holds func(Leaf) bool
}

// Asked is the code of conditions that the plan asks.
type Asked struct {
	x  *Execution
	id string
}

// ConditionFunc registers a function that tells whether the conditions with an ID hold; each one has ports of its own.
// The plan calls it when it needs the answer, for the first time and when a port has changed or Changed was called
// since: the answer must depend on nothing else. The function must change nothing.
func (x *Execution) ConditionFunc(id string, ports Ports, holds func(Leaf) bool) Asked {
	if x.started || x.queries[id] != nil || x.actions[id] != nil {
		panic("live: a condition was registered twice, or while the plan runs")
	}
	x.checkUnits(id, ports)
	x.queries[id] = &query{ports, holds}
	return Asked{x, id}
}

// Changed tells the plan to ask the conditions again, at the next instant. It does not block.
func (a Asked) Changed() {
	a.x.Do(func() {
		for _, l := range a.x.leaves {
			if l.query == a.x.queries[a.id] {
				a.x.doubt(l)
			}
		}
	})
}

// doubt makes the plan ask a condition again.
func (x *Execution) doubt(l *leaf) {
	l.asked = false
	if x.exec != nil {
		x.exec.SlotChanged(l.signals[outcome])
	}
}

// truth returns the answer of a condition that the plan asks; ok is false if the formula is another one.
func (x *Execution) truth(formula *expr.Code) (holds, ok bool) {
	l := x.asked[formula]
	if l == nil {
		return false, false
	}
	if !l.asked {
		l.asked, l.holds = true, false
		x.safely(l.name, func() { l.holds = l.query.holds(Leaf{x, l}) })
	}
	return l.holds, true
}
