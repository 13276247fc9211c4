package verify

import (
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// What a plan remembers is followed by searches only (search.go). The sets of a task that remembers something are the
// states in which it may be judged so: any, if it ever can be. So a task that is active in no state is dead, and the
// causes of that can be told; nothing else is concluded from these sets.

// nature finds what tasks can be, and which remember something.
func (m *Model) nature() {
	m.natures, m.remembers = m.tree.Natures(), make([]bool, m.tree.Len())
	for t := range bt.Task(m.tree.Len()) {
		if i, ok := m.leafOf[t]; ok {
			l := &m.leaves[i]
			m.remembers[t] = len(m.plan.Leaves[i].Until) > 0 || l.done != nil || l.failed != nil ||
				l.successIf != nil || l.failureIf != nil
			continue
		}
		m.remembers[t] = m.natures[t].Pins ||
			slices.ContainsFunc(m.tree.Children(t), func(k bt.Task) bool { return m.remembers[k] })
	}
}

// Remembers reports whether the plan has memory other than hysteresis.
func (m *Model) Remembers() bool { return m.remembers[m.tree.Root()] || len(m.tree.Shared()) > 0 }

// keeps reports whether a task may have a judgement that it got earlier.
func (m *Model) keeps(t bt.Task) bool {
	p := m.tree.Parent(t)
	return m.remembers[t] && m.natures[t].Acts || p >= 0 && m.natures[p].Pins
}

// widen lets a task that keeps judgements have each of them in any state, if it can have it at all.
func (m *Model) widen(t bt.Task) {
	j := &m.judged[t]
	for _, in := range []*set{&j.Good, &j.Bad, &j.Skipped} {
		if !m.space.empty(*in) {
			*in = always
		}
	}
	if i, ok := m.leafOf[t]; ok && m.natures[t].Acts {
		if m.leaves[i].done != nil {
			j.Good = always
		}
		if m.leaves[i].failed != nil {
			j.Bad = always
		}
	}
	j.Open = always
}

// begin sets the states of a task's automaton that may be the stored one: the first, and those to which some step or
// the end of a child leads. A stored state is memory: it may be any of them.
func (m *Model) begin(rule *bt.Rule) {
	course := rule.Course
	if course == nil {
		return
	}
	reached := make([]bool, len(course.Stored))
	reached[0] = true
	for again := true; again; {
		again = false
		for _, c := range slices.Concat(course.Steps, course.Ends) {
			if reached[c.From] && !reached[c.To] && (c.Child < 0 || !m.space.empty(m.judged[c.Child].Of(c.Is))) {
				reached[c.To], again = true, true
			}
		}
	}
	for state, stored := range course.Stored {
		reached[state] = reached[state] && stored
	}
	rule.Begins = reached
}
