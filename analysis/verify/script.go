package verify

import (
	"slices"

	"canopy/bt"
)

// Scripts. The sets of a task of the family Script follow from the ways in which its automaton decides (bt.Courses): a
// way is taken in the states in which the automaton is in the stored state where the way begins, and its children are
// judged as they are on the way. The stored state is memory: free, except for rules that hold in every settled state.
// It matters only how a child is judged, not how often it was run: at the limit the engine has the last word.

// stored returns where the automaton of a script is in a stored state.
func (m *Model) stored(t bt.Task, state int) set {
	if state > 0 {
		return m.bit(m.vars[t].at[state-1])
	}
	initial := m.space.all()
	for _, v := range m.vars[t].at {
		initial = m.space.and(initial, m.space.not(m.bit(v)))
	}
	return initial
}

// on returns the states in which a script takes a way.
func (m *Model) on(t bt.Task, c *bt.Course) set {
	s := m.space
	in := m.stored(t, c.From)
	for _, j := range c.Judged {
		switch j.Is {
		case bt.Success:
			in = s.and(in, m.good[j.Child])
		case bt.Failure:
			in = s.and(in, m.bad[j.Child])
		default:
			in = s.and(in, s.not(s.or(m.good[j.Child], m.bad[j.Child])))
		}
	}
	return in
}

// follow returns where a script returns success and failure, and collects where it wants its children.
func (m *Model) follow(t bt.Task) (good, bad set) {
	s := m.space
	good, bad = s.none(), s.none()
	for _, k := range m.tree.Children(t) {
		m.wanted[k] = s.none()
	}
	m.steps[t] = s.none()
	for i := range m.courses[t].All {
		c := &m.courses[t].All[i]
		in := m.on(t, c)
		switch {
		case c.Says == bt.Success:
			good = s.or(good, in)
		case c.Says == bt.Failure:
			bad = s.or(bad, in)
		case c.Child >= 0:
			m.wanted[c.Child] = s.or(m.wanted[c.Child], in)
		}
		if c.To != c.From {
			m.steps[t] = s.or(m.steps[t], in)
		}
	}
	return good, bad
}

// restrictScript adds the rules of a script's stored state: it is one state, to which some way leads; if the task is
// active it is the one that is reached, else the initial one, unless it is kept.
func (m *Model) restrictScript(t bt.Task) {
	s, all := m.space, &m.courses[t]
	at := m.vars[t].at
	for i, v := range at {
		leads := func(c bt.Course) bool { return c.To == i+1 && c.From != c.To && !s.empty(s.and(m.lawful, m.on(t, &c))) }
		possible := slices.ContainsFunc(all.All, leads) || slices.ContainsFunc(all.Ends, leads)
		for _, w := range at[:i] {
			m.rule(m.bit(v), s.not(m.bit(w)))
		}
		switch {
		case !possible:
			m.rule(m.bit(v), s.none())
		case !all.Keeps:
			m.rule(m.bit(v), m.near[t])
		}
	}
	if at != nil {
		m.rule(m.near[t], s.not(m.steps[t]))
	}
}

// passed reports whether a script can be undecided after one of its children has ended, without running it again.
func (m *Model) passed(t, child bt.Task) bool {
	return slices.ContainsFunc(m.courses[t].All, func(c bt.Course) bool {
		return c.Says == bt.Accept && slices.ContainsFunc(c.Judged, func(j bt.Judged) bool {
			return j.Child == child && j.Is != bt.Accept && !j.Again
		})
	})
}
