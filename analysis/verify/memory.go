package verify

import (
	"slices"

	"canopy/bt"
)

// What a plan remembers is followed by searches only (search.go). The sets of a task that remembers something are the
// states in which it may be judged so: any, if it ever can be. So a task that is active in no state is dead, and the
// causes of that can be told; nothing else is concluded from these sets.

// nature finds the tasks that can be active or skipped, how scripts decide, and the tasks with memory.
func (m *Model) nature() {
	n := m.tree.Len()
	m.acts, m.skips, m.remembers, m.courses = make([]bool, n), make([]bool, n), make([]bool, n), make([]*bt.Course, n)
	can := func(child bt.Task, be bt.Status) bool {
		return be == bt.Accept && m.acts[child] || be == bt.Skipped && m.skips[child]
	}
	for t := range n {
		task := bt.Task(t)
		if i, ok := m.leafOf[task]; ok {
			l := &m.leaves[i]
			m.acts[t] = !l.condition && !m.tree.Idle(task)
			m.remembers[t] = len(m.plan.Leaves[i].Until) > 0 || l.done != nil || l.failed != nil ||
				l.successIf != nil || l.failureIf != nil
			continue
		}
		switch m.tree.Kind(task).Family() { // all of its children, or what its script says
		case bt.Chain:
			m.skips[t] = true
		case bt.Count:
			m.skips[t] = !m.tree.Counts(task).Lenient
		}
		for _, k := range m.tree.Children(task) {
			m.acts[t] = m.acts[t] || m.acts[k]
			m.skips[t] = m.skips[t] && m.skips[k]
			m.remembers[t] = m.remembers[t] || m.remembers[k]
		}
		if m.tree.Kind(task).Family() == bt.Script {
			m.courses[t] = m.tree.Course(task, can)
			for _, c := range m.courses[t].Steps {
				m.acts[t], m.skips[t] = m.acts[t] || c.Waits(), m.skips[t] || c.Says == bt.Skipped
			}
		}
		m.remembers[t] = m.remembers[t] || m.pins(task)
	}
}

// pins reports whether a task is a composite with memory that can be active after it has pinned a child or stored a
// state.
func (m *Model) pins(t bt.Task) bool {
	kids := m.tree.Children(t)
	acts := func(k bt.Task) bool { return m.acts[k] }
	kind := m.tree.Kind(t)
	if !kind.Memory() {
		return false
	}
	switch kind.Family() {
	case bt.Chain:
		return slices.ContainsFunc(kids[1:], acts)
	case bt.Count:
		return len(kids) > 1 && slices.ContainsFunc(kids, acts)
	case bt.Script:
		return slices.Contains(m.courses[t].Stored[1:], true)
	}
	panic("verify: a composite with memory of an unknown family")
}

// Remembers reports whether the plan has memory other than hysteresis.
func (m *Model) Remembers() bool { return m.remembers[m.tree.Root()] || len(m.tree.Shared()) > 0 }

// keeps reports whether a task may have a judgement that it got earlier.
func (m *Model) keeps(t bt.Task) bool {
	p := m.tree.Parent(t)
	return m.remembers[t] && m.acts[t] || p >= 0 && m.pins(p)
}

// widen lets a task that keeps judgements have each of them in any state, if it can have it at all.
func (m *Model) widen(t bt.Task) {
	if !m.keeps(t) {
		return
	}
	s := m.space
	for j, in := range m.judged[t] {
		if !s.empty(in) {
			m.judged[t][j] = s.all()
		}
	}
	if i, ok := m.leafOf[t]; ok && m.acts[t] {
		if m.leaves[i].done != nil {
			m.judged[t][isGood] = s.all()
		}
		if m.leaves[i].failed != nil {
			m.judged[t][isBad] = s.all()
		}
	}
}
