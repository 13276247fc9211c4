package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/temporal"
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

// implied stands for the facts that are derived: no run leaves what they allow, until it ends.
const implied = "derived"

// excluded returns the first declared fact that allows no state of a region, "" if there is a state.
func (m *Model) excluded(r region) string {
	if len(m.facts) == 0 {
		return ""
	}
	box := m.box(r)
	if !m.space.empty(m.space.and(m.lawful, box)) {
		return ""
	}
	declared := always
	for i := range m.facts {
		if f := m.subject.Declared.Facts[i]; !f.Derived && m.decides(&m.facts[i]) {
			if declared = m.space.and(declared, m.of(&m.facts[i])); m.space.empty(m.space.and(m.of(&m.facts[i]), box)) {
				return f.Text
			}
		}
	}
	if !m.space.empty(m.space.and(declared, box)) {
		return implied
	}
	return "of all together"
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

// locked returns the fact out of which the rates at a node force an axis, upwards or downwards; "" if there is none.
func (x *liveness) locked(n, i int, up bool) string {
	s, a := &x.nodes[n], &x.axes[i]
	r, cell := s.rates[i], s.cells[i].low
	if x.firm {
		r = r.Firm()
	}
	if up {
		cell = s.cells[i].high
	}
	if a.motion != steady || up && r.Low <= 0 || !up && r.High >= 0 {
		return ""
	}
	return x.m.locked(a, cell, up, func(cell int) region {
		cells := slices.Clone(s.cells)
		for k := range cells {
			if x.axes[k].motion != steady { // it may change as well
				cells[k] = span{0, len(x.axes[k].cuts)}
			}
		}
		cells[i] = span{cell, cell}
		return x.region(cells)
	})
}

// lock returns the first axis that the rates at a node force out of a fact; none if its signal is "".
func (x *liveness) lock(n int) lock {
	for i := range x.axes {
		if fact := cmp.Or(x.locked(n, i, true), x.locked(n, i, false)); fact != "" && fact != implied {
			return lock{x.axes[i].name, fact, x.m.tree.Names(x.plan[x.nodes[n].state].active)}
		}
	}
	return lock{}
}

// noteLocks notes which facts signals that move so are forced to violate. The clock of one that was not so before
// begins again, and where the signal is in its interval is not known.
func (x *product) noteLocks(now, before []flow, z *zone.Zone) {
	if len(x.m.facts) == 0 {
		return
	}
	for i := range now {
		d, f, fact := &x.continuous[i], &now[i], ""
		if f.low > 0 || f.high < 0 {
			fact = x.m.locked(&d.axis, f.cell, f.low > 0, func(cell int) region {
				r := region{}
				for k, o := range now {
					at := &x.m.vocab.signals[x.continuous[k].signal]
					if r[at.at] = (span{o.cell, o.cell}); k == i {
						r[at.at] = span{cell, cell}
					}
				}
				return r
			})
		}
		if fact == f.fact {
			continue
		}
		if before != nil && *f == before[i] {
			f.from = 0
		}
		clock := x.clock + len(x.ops) + i
		if f.fact = fact; d.longest(*f) < zone.Forever || d.shortest(*f) > 0 {
			if f.from == 0 {
				z.Start(clock)
			}
		} else {
			z.Stop(clock)
		}
	}
}

// endsBefore reports whether a declared fact may have ended the run before what must happen without a bound, that is,
// within the time until.
func (x *product) endsBefore(state int, flows []flow, z *zone.Zone) bool {
	within, _ := x.bounded(state, temporal.Within)
	awaited := func(op *temporal.Formula) bool {
		return op.Op == temporal.Within && op.Bound == x.until && within>>x.bit[op]&1 != 0
	}
	if !slices.ContainsFunc(x.ops, awaited) {
		return false
	}
	for i, f := range flows {
		clock := x.clock + len(x.ops) + i
		if f.fact != "" && f.fact != implied &&
			(!z.Runs(clock) || z.Allows(clock, zone.AtLeast, x.continuous[i].shortest(f))) {
			return true
		}
	}
	return false
}
