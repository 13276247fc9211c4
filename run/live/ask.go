package live

import (
	"maps"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/expr"
)

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
		l.asked = true
		l.holds = x.answer(l)
	}
	return l.holds, true
}

func (x *Execution) answer(l *leaf) bool {
	defer x.catch(l.name, &x.failed)
	return l.query.holds(Leaf{x, l})
}

// show lets leaves read the values that their ports have now.
func (x *Execution) show() {
	for _, i := range x.named {
		v := x.world.signals.Values[x.world.p.Signal(i)]
		if v == x.told[i] || math.IsNaN(v) && math.IsNaN(x.told[i]) {
			continue
		}
		x.told[i] = v
		x.mu.Lock()
		x.shown[i] = x.decoded(i, v)
		x.mu.Unlock()
		for _, l := range x.leaves {
			if l.query != nil && l.names(i) {
				x.doubt(l)
			}
		}
	}
}

func (l *leaf) names(slot int) bool {
	for _, b := range l.ports {
		if b.entry != "" && b.slot == slot {
			return true
		}
	}
	return false
}

// decoded returns the value for which a number of the plan stands, numbers as they are; nil: none. The caller holds the
// lock.
func (x *Execution) decoded(i int, v float64) any {
	switch s := &x.signals[i]; {
	case math.IsNaN(v):
		return nil
	case s.Type == expr.Real:
		return v
	case s.value != nil:
		return s.value(v)
	case s.Type == expr.Boolean:
		return v != 0
	case s.Type == expr.Text:
		return x.code.Texts()[int(v)]
	}
	return x.kept[v]
}

// encoded returns the number for which an object stands that an action has set. The caller holds the lock.
func (x *Execution) encoded(i int) float64 {
	if x.signals[i].Type == expr.Text {
		text, _ := x.objects[i].(string)
		return x.code.Text(text)
	}
	x.versions++
	x.kept[x.versions] = x.objects[i]
	return x.versions
}

// forgetObjects forgets the objects for which no number stands any more.
func (x *Execution) forgetObjects() {
	if u := x.world.u; len(x.kept) > 2*len(u) {
		maps.DeleteFunc(x.kept, func(n float64, _ any) bool { return !slices.Contains(u, n) })
	}
}
