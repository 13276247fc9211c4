package verify

import (
	"fmt"
	"strings"
)

// Time locks. Where the known rates force a signal out of what the declared facts allow, every run ends: time cannot
// pass any more (T. Henzinger, X. Nicollin, J. Sifakis and S. Yovine, Symbolic Model Checking for Real-Time Systems,
// 1994). What must happen is still open there; that no run goes on does not prove that it happens.

// lock is a signal that its rate forces out of a fact.
type lock struct {
	signal, fact string
	active       []string // tasks, while which it does
}

func (l lock) String() string {
	text := fmt.Sprintf("the fact %s ends every run: %s leaves what it allows", l.fact, l.signal)
	if l.active != nil {
		text += " " + while(l.active)
	}
	return text
}

// lockAdvice is what to do about one.
const lockAdvice = "let the plan act before, or declare no more than what is true of every flight; " + monitorAdvice

// while says which tasks are active.
func while(names []string) string {
	return "while " + strings.Join(names, " and ") + either(names, " is", " are") + " active"
}

// excluded returns the first declared fact that allows no state of a region, "" if there is a state.
func (m *Model) excluded(r region) string {
	if len(m.facts) == 0 {
		return ""
	}
	box := m.box(r)
	if !m.space.empty(m.space.and(m.lawful, box)) {
		return ""
	}
	text := "of all together"
	for i := range m.facts {
		if m.space.empty(m.space.and(m.of(&m.facts[i]), box)) {
			return m.subject.Declared.Facts[i].Text
		}
	}
	return text
}

// locked returns the fact that a quantity violates as it leaves a cell, upwards or downwards, "" if there is none. A
// cell that is a point is passed in no time. at returns the region in which it is in another cell.
func (m *Model) locked(a *axis, cell int, up bool, at func(cell int) region) string {
	for {
		if cell--; up {
			cell += 2
		}
		if cell < 0 || cell > len(a.cuts) {
			return ""
		}
		if fact := m.excluded(at(cell)); fact != "" || !a.point(cell) {
			return fact
		}
	}
}

// lock returns the first axis that the rates at a node force out of a fact; none if its signal is "".
func (x *liveness) lock(n int) (l lock) {
	s := &x.nodes[n]
	for i := range x.axes {
		a, r := &x.axes[i], s.rates[i]
		if x.firm {
			r = r.Firm()
		}
		cell := s.cells[i].high
		if r.High < 0 {
			cell = s.cells[i].low
		}
		if a.motion != steady || r.Low <= 0 && r.High >= 0 {
			continue
		}
		if l.fact = x.m.locked(a, cell, r.Low > 0, func(cell int) region {
			cells := make([]span, len(x.axes))
			for k := range cells {
				if cells[k] = s.cells[k]; x.axes[k].motion != steady { // it may change as well
					cells[k] = span{0, len(x.axes[k].cuts)}
				}
			}
			cells[i] = span{cell, cell}
			return x.region(cells)
		}); l.fact != "" {
			l.signal, l.active = a.name, x.m.tree.Names(x.plan[s.state].active)
			return l
		}
	}
	return lock{}
}

// lock returns the first signal that moves so and may have been forced out of a fact; none if its signal is "". leaves
// reports whether a signal may have reached the end of its interval.
func (x *product) lock(flows []flow, leaves func(i int) bool) (l lock) {
	for i, f := range flows {
		d := &x.continuous[i]
		if f.low <= 0 && f.high >= 0 || !leaves(i) {
			continue
		}
		if l.fact = x.m.locked(&d.axis, f.cell, f.low > 0, func(cell int) region {
			r := region{}
			for k, o := range flows {
				if k == i {
					o.cell = cell
				}
				at := &x.m.vocab.signals[x.continuous[k].signal]
				r[at.at] = span{o.cell, o.cell}
			}
			return r
		}); l.fact != "" {
			l.signal = d.name
			return l
		}
	}
	return lock{}
}
