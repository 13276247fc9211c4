package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
)

// Guards of a resource that several need. In a settled state the child of a guard asks if it is not judged and the
// guard is active. It is active, and the guard has the resource, unless it waits, which it does only while another
// guard has the resource; no two have it.
//
// Guards wait for each other if each waits for a resource that a guard above the next one has, in a circle.

// guarded returns the child of a guard.
func (m *Model) guarded(guard bt.Task) bt.Task { return m.tree.Children(guard)[0] }

// below reports whether a task is below another one.
func (m *Model) below(t, above bt.Task) bool {
	for t = m.tree.Parent(t); t >= 0 && t != above; t = m.tree.Parent(t) {
	}
	return t >= 0
}

// wait is a guard that waits, and the one that has the resource.
type wait struct{ guard, holder bt.Task }

// waiting returns the guards that wait in a state.
func (m *Model) waiting(x view) []wait {
	var list []wait
	for _, guards := range m.tree.Shared() {
		holder := slices.IndexFunc(guards, func(g bt.Task) bool { return !x.Status(m.guarded(g)).Transient() })
		for _, g := range guards {
			if holder >= 0 && x.Status(g) == bt.Running && x.Status(m.guarded(g)) == bt.Accept {
				list = append(list, wait{g, guards[holder]})
			}
		}
	}
	return list
}

// circle returns guards that wait for each other in a state, each for a resource that one above the next has; nil if
// there are none.
func (m *Model) circle(x view) []wait {
	list := m.waiting(x)
	for range list { // a guard that waits for one above none that waits does not wait in a circle
		list = slices.DeleteFunc(list, func(w wait) bool {
			return !slices.ContainsFunc(list, func(next wait) bool { return m.below(next.guard, w.holder) })
		})
	}
	if len(list) == 0 {
		return nil
	}
	var chain []wait
	for w := list[0]; ; {
		if i := slices.Index(chain, w); i >= 0 {
			return chain[i:]
		}
		chain = append(chain, w)
		w = list[slices.IndexFunc(list, func(next wait) bool { return m.below(next.guard, w.holder) })]
	}
}

// deadlocks answers whether guards wait for each other.
func (m *Model) deadlocks() Finding {
	var seen []wait
	f := m.conclude(func(*Model) set { return always }, func(x view) bool {
		now := m.circle(x)
		if now != nil {
			seen = now
		}
		return now != nil
	}, Finding{Text: "no tasks wait for resources that each other's guards have"},
		Finding{Text: "tasks wait for each other", Advice: "take the resources in the same order everywhere, or all of them" +
			" by guards around each other before the first task"})
	if f.Verdict != Refuted {
		return f
	}
	texts := make([]string, len(seen))
	for i, w := range seen {
		f.Tasks = append(f.Tasks, w.guard)
		texts[i] = fmt.Sprintf("%s waits for %s, which %s has", m.tree.Name(w.guard), m.plan.Param(w.guard, 0),
			m.tree.Name(w.holder))
	}
	f.Text = strings.Join(texts, "; ") + m.until(seen)
	f.fault.text = f.Text
	f.About = m.plan.Param(seen[0].guard, 0)
	return f
}

// until returns whether guards that wait for each other do so for ever, in words, as far as a search finds out.
func (m *Model) until(circle []wait) string {
	x := m.flights()
	waits := func(s view) bool {
		list := m.waiting(s)
		return !slices.ContainsFunc(circle, func(w wait) bool { return !slices.Contains(list, w) })
	}
	n, _ := x.find(waits)
	if n < 0 {
		return ""
	}
	freed := observing(func(s *flown.Moment) bool { return !waits(s) })
	after := newSearch(x.system, freed, state[struct{}]{key: x.states.Key(n).key}, mergeCovered, m.bounds(m.allowance()))
	switch after.run(); {
	case after.from >= 0:
		return "; other tasks or signals may end this"
	case after.states.Short() != "":
		return ""
	}
	return "; for ever"
}
