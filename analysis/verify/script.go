package verify

import (
	"slices"

	"canopy/bt"
)

// Scripts. The sets of a task of the family Script follow from the steps of its automaton (bt.Course). A step is taken
// where the automaton is in the step's state, because that is stored or because other steps lead there, and the child
// is judged as in the step. The stored state is memory, represented like a signal's limits: a variable for each but the
// first is true in it and in those behind it. It is free, except for rules that hold in every settled state. It matters
// only how a child is judged, not how often it was run: at the limit the engine has the last word.

// stored returns where a state of a script's automaton is the stored one.
func (m *Model) stored(t bt.Task, state int) set {
	s, at := m.space, m.vars[t].at
	if !m.courses[t].Stored[state] {
		return s.none()
	}
	place := 0 // among those that can be stored
	for _, stored := range m.courses[t].Stored[:state] {
		place += btoi(stored)
	}
	in := s.all()
	if place > 0 {
		in = m.bit(at[place-1])
	}
	if place < len(at) {
		in = s.and(in, s.not(m.bit(at[place])))
	}
	return in
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

// follow returns where a script returns which judgement, and collects where it wants its children, and where it reaches
// which state that is not the stored one.
func (m *Model) follow(t bt.Task) (says judgements) {
	s, course := m.space, m.courses[t]
	says = judgements{s.none(), s.none(), s.none()}
	for _, k := range m.tree.Children(t) {
		m.wanted[k] = s.none()
	}
	arrived := slices.Repeat([]set{s.none()}, len(course.Stored))
	m.reached[t] = slices.Clone(arrived)
	for i := range course.Steps {
		c := &course.Steps[i]
		judged := m.meets(c)
		in := s.and(s.or(m.stored(t, c.From), arrived[c.From]), judged)
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
			if course.Stored[c.From] {
				m.reached[t][c.From] = s.and(arrived[c.From], judged)
			}
		}
	}
	if w := m.vars[t].waits; w >= 0 {
		k := m.guarded(t)
		m.wanted[k] = s.and(m.wanted[k], s.not(m.bit(w)))
	}
	return says
}

// restrictScript adds the rules of a script's stored state: some step leads to it; if the task is active it is the one
// that is reached, else the initial one, unless it is kept.
func (m *Model) restrictScript(t bt.Task) {
	s, course, at := m.space, m.courses[t], m.vars[t].at
	if at == nil {
		return
	}
	for i := range at[1:] {
		m.rule(m.bit(at[i+1]), m.bit(at[i]))
	}
	if !course.Keeps {
		m.rule(m.bit(at[0]), m.near[t])
	}
	for state, stored := range course.Stored {
		if !stored || state == 0 {
			continue
		}
		m.rule(m.near[t], s.not(m.reached[t][state]))
		ends := func(c bt.CourseStep) bool {
			return c.To == state && !s.empty(s.and(m.lawful, s.and(m.stored(t, c.From), m.meets(&c))))
		}
		if s.empty(s.and(m.lawful, m.reached[t][state])) && !slices.ContainsFunc(course.Ends, ends) {
			m.rule(m.stored(t, state), s.none())
		}
	}
}

// outlives reports whether a script can be undecided after one of its children has ended, without running it again.
func (m *Model) outlives(t, child bt.Task) bool {
	return slices.ContainsFunc(m.courses[t].Steps, func(c bt.CourseStep) bool {
		return c.Says == bt.Accept && c.Child == child && c.Is != bt.Accept && !c.Again
	})
}
