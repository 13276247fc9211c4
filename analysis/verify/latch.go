package verify

import (
	"slices"

	"canopy/expr"
)

// maxLatches bounds the conditions with hysteresis whose common past is enumerated.
const maxLatches = 8

// restrictLatches allows only the consistent memories of conditions with hysteresis. A condition's value follows
//
//	value = on or (before and not off)
//
// and is its next memory, initially false. Conditions that share a signal or a fact are treated together: for example,
// of two on the same signal, the one with the lower limit cannot be false while the other is still true.
func (m *Model) restrictLatches() {
	s, facts := m.space, m.allowed
	for _, group := range m.latchGroups() {
		if len(group) > maxLatches {
			continue // allows more than is possible
		}
		reached := map[string]bool{}
		var todo [][]bool
		visit := func(before []bool) {
			key := string(packed(before))
			if !reached[key] {
				reached[key] = true
				todo = append(todo, slices.Clone(before))
			}
		}
		visit(make([]bool, len(group)))
		possible := s.none()
		for len(todo) > 0 && !s.full() {
			before := todo[0]
			todo = todo[1:]
			here := s.all()
			for i, l := range group {
				here = s.and(here, m.literal(m.leaves[l].latch, before[i]))
			}
			possible = s.or(possible, here)
			m.split(s.and(facts, here), group, nil, visit)
		}
		if m.latches == nil {
			m.latches = s.all()
		}
		m.latches = s.and(m.latches, possible)
		m.allowed = s.and(m.allowed, possible)
	}
}

func packed(values []bool) []byte {
	b := make([]byte, len(values))
	for i, v := range values {
		b[i] = byte(btoi(v))
	}
	return b
}

// split visits the values that a group's conditions have somewhere in a set.
func (m *Model) split(a set, group []int, values []bool, visit func([]bool)) {
	if m.space.empty(a) {
		return
	}
	if len(values) == len(group) {
		visit(values)
		return
	}
	truth := m.truth[group[len(values)]]
	m.split(m.space.and(a, truth), group, append(slices.Clone(values), true), visit)
	m.split(m.space.and(a, m.space.not(truth)), group, append(slices.Clone(values), false), visit)
}

func (m *Model) literal(v int, value bool) set {
	if value {
		return m.space.variable(v)
	}
	return m.space.not(m.space.variable(v))
}

// latchGroups returns the leaves with hysteresis, one for each latch, grouped by shared signals and facts.
func (m *Model) latchGroups() [][]int {
	var groups [][]int
	uses := func(group []int) map[string]bool {
		names := map[string]bool{}
		for _, l := range group {
			m.leaves[l].formulas(func(f *expr.Logic) { mentions(f, names) })
			names["leaf "+m.leaves[l].name] = true
		}
		return names
	}
	var seen []int
	for i := range m.leaves {
		if v := m.leaves[i].latch; v >= 0 && !slices.Contains(seen, v) {
			seen = append(seen, v)
			groups = append(groups, []int{i})
		}
	}
	join := func(names map[string]bool) { // all groups that use one of the names become one
		var joined []int
		groups = slices.DeleteFunc(groups, func(g []int) bool {
			for name := range uses(g) {
				if names[name] {
					joined = append(joined, g...)
					return true
				}
			}
			return false
		})
		if joined != nil {
			groups = append(groups, joined)
		}
	}
	for _, g := range slices.Clone(groups) {
		join(uses(g))
	}
	for i := range m.facts {
		names := map[string]bool{}
		mentions(&m.facts[i], names)
		join(names)
	}
	for _, g := range groups {
		slices.Sort(g)
	}
	return groups
}

// mentions collects the signals, free relations and conditions of a formula.
func mentions(l *expr.Logic, names map[string]bool) {
	if l == nil {
		return
	}
	switch l.Op {
	case expr.LogicThreshold:
		names["signal "+l.Signal] = true
	case expr.LogicRelation:
		names[l.Key] = true
	case expr.LogicProposition:
		names["leaf "+l.Text] = true
	}
	for i := range l.Args {
		mentions(&l.Args[i], names)
	}
}
