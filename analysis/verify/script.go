package verify

import (
	"slices"

	"canopy/bt"
)

// Scripts. The sets of a task of the family Script follow from the steps of its automaton (bt.Course). A step is taken
// where the automaton is in the step's state, because that is stored or because other steps lead there, and the child
// is judged as in the step. A stored state is memory: it may be any.

// stored returns the states of a script's automaton that may be the stored one: the first, and those to which some step
// or the end of a child leads.
func (m *Model) stored(course *bt.Course) []bool {
	reached := make([]bool, len(course.Stored))
	reached[0] = true
	for again := true; again; {
		again = false
		for _, c := range slices.Concat(course.Steps, course.Ends) {
			if reached[c.From] && !reached[c.To] && !m.space.empty(m.meets(&c)) {
				reached[c.To], again = true, true
			}
		}
	}
	for state, stored := range course.Stored {
		reached[state] = reached[state] && stored
	}
	return reached
}

// meets returns where the child of a step is judged as in the step.
func (m *Model) meets(c *bt.CourseStep) set {
	switch {
	case c.Child < 0:
		return m.space.all()
	case c.Is == bt.Accept:
		return m.open(c.Child)
	}
	return m.judged[c.Child][placeOf(c.Is)]
}

// follow returns where a script returns which judgement, and collects where it wants its children.
func (m *Model) follow(t bt.Task) (says judgements) {
	s, course := m.space, m.courses[t]
	says = judgements{s.none(), s.none(), s.none()}
	for _, k := range m.tree.Children(t) {
		m.wanted[k] = s.none()
	}
	arrived := slices.Repeat([]set{s.none()}, len(course.Stored))
	for state, stored := range m.stored(course) {
		if stored {
			arrived[state] = s.all()
		}
	}
	for i := range course.Steps {
		c := &course.Steps[i]
		judged := m.meets(c)
		in := s.and(arrived[c.From], judged)
		switch {
		case c.Says != bt.Accept:
			j := placeOf(c.Says)
			says[j] = s.or(says[j], in)
		case c.To != c.From:
			arrived[c.To] = s.or(arrived[c.To], in)
		case c.Is == bt.Accept:
			if c.Child >= 0 {
				m.wanted[c.Child] = s.or(m.wanted[c.Child], in)
			}
		}
	}
	return says
}
