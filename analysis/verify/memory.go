package verify

import (
	"slices"

	"canopy/bt"
)

// The memory of a tree (docs/semantics.md, section 4) is in separate variables, free except for rules that hold in
// every settled state. The rules allow more states than can be reached: a proof with them is valid, a refutation must
// be confirmed by the engine (search.go).
//
//	kept[a]          action a continues although its request is success or failure: it is active
//	heldGood[t]      the result of t, which ended, is held: it has no judgement of its own, and its parent is active
//	heldBad[t]
//	heldSkip[t]      the same of the root, which is skipped
//	pinned[i]        a child of a Sequence or Fallback is pinned as passed over: those before it are, too, the parent is
//	                 active; a child that is passed over there is pinned if those before it are
//	pinnedSkip[i]    a child of a Sequence or Fallback is pinned as skipped, which also passes it over
//	pinnedGood[i]    a child of a Parallel is pinned: the parent is active
//	pinnedBad[i]
//	race[t]          the count of a Parallel that was reached first, if both are
//	at[t]            the stored state of a script's automaton; script.go
//	waits[g]         the child of guard g waits while another guard has the resource; wait.go
//
// An action with an outcome is not active where the outcome is due. A task that is not active remembers nothing.

// variables is the memory of one task; -1: it has none of the kind.
type variables struct {
	kept, race   int
	held, pinned [3]int // as good, bad, skipped
	at           []int  // by stored state after the initial one
	waits        int
}

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

// memorise gives a task its variables.
func (m *Model) memorise(t bt.Task) {
	never := [3]int{-1, -1, -1}
	v := variables{-1, -1, never, never, nil, -1}
	if m.remembers[t] && m.acts[t] {
		if i, ok := m.leafOf[t]; ok {
			l := &m.leaves[i]
			if l.successIf != nil || l.failureIf != nil {
				v.kept = m.remember()
			}
			if l.done != nil {
				v.held[isGood] = m.remember()
			}
			if l.failed != nil {
				v.held[isBad] = m.remember()
			}
		} else {
			v.held[isGood], v.held[isBad] = m.remember(), m.remember()
			if m.skips[t] && t == m.tree.Root() {
				v.held[isSkipped] = m.remember()
			}
			if m.tree.Kind(t).Family() == bt.Count && m.pins(t) {
				v.race = m.remember()
			}
			if m.courses[t] != nil {
				for _, stored := range m.courses[t].Stored[1:] {
					if stored {
						v.at = append(v.at, m.remember())
					}
				}
			}
		}
	}
	if p := m.tree.Parent(t); p >= 0 && m.pins(p) {
		kids := m.tree.Children(p)
		last := t == kids[len(kids)-1] // comes after all that a Sequence or Fallback pins
		switch kind := m.tree.Kind(p); {
		case kind.Family() == bt.Count:
			v.pinned[isGood], v.pinned[isBad] = m.remember(), m.remember()
		case kind.Over() != bt.Accept && !last:
			v.pinned[placeOf(kind.Over())] = m.remember()
			if m.skips[t] {
				v.pinned[isSkipped] = m.remember()
			}
		}
	}
	shared := func(guards []bt.Task) bool { return slices.Contains(guards, t) }
	if m.acts[t] && slices.ContainsFunc(m.tree.Shared(), shared) {
		v.waits = m.remember()
	}
	m.vars = append(m.vars, v)
}

// bit returns the states in which a variable is true; none if there is no such variable.
func (m *Model) bit(v int) set {
	if v < 0 {
		return m.space.none()
	}
	return m.space.variable(v)
}

// race returns the variable for the count of a Parallel that was reached first.
func (m *Model) race(t bt.Task) (v int, ok bool) {
	v = m.vars[t].race
	return v, v >= 0
}

// hold adds a task's memory to its judgement, and the rules of that memory.
func (m *Model) hold(t bt.Task) {
	s, v := m.space, &m.vars[t]
	judged, open := m.judged[t], m.open(t)
	apply := func(of [3]int, can func(j int) bool) (held set) {
		held, both := s.none(), s.none()
		var by [3]set
		for j := range by {
			if by[j] = s.none(); can(j) {
				by[j] = m.bit(of[j])
			}
			both = s.or(both, s.and(held, by[j]))
			held = s.or(held, by[j])
		}
		for j := range by {
			m.judged[t][j] = s.or(by[j], s.and(s.not(held), m.judged[t][j]))
		}
		m.rule(both, s.none())
		return held
	}
	if v.kept >= 0 {
		kept := m.bit(v.kept)
		for j := range m.judged[t] {
			m.judged[t][j] = s.and(m.judged[t][j], s.not(kept))
		}
		m.rule(kept, s.not(open))
	}
	if v.held[isGood] >= 0 || v.held[isBad] >= 0 {
		_, leaf := m.leafOf[t]                                         // an action's outcomes are not its judgement
		can := func(j int) bool { return leaf || !s.empty(judged[j]) } // a result that never comes is never held
		m.holds[t] = apply(v.held, can)
		m.rule(m.holds[t], open)
	}
	if v.pinned[isGood] >= 0 || v.pinned[isBad] >= 0 {
		pinned := apply(v.pinned, func(int) bool { return true })
		if m.holds[t] == nil {
			m.holds[t] = pinned
		} else {
			m.holds[t] = s.or(m.holds[t], pinned)
		}
	}
}

// rule adds that where a holds b does.
func (m *Model) rule(a, b set) { m.rules = append(m.rules, m.space.or(m.space.not(a), b)) }

// restrictMemory adds the rules about activity. Each relates tasks that are as close as possible: if a child of a
// Sequence or Fallback is pinned, so is the one before it; if the first is, the parent is active. Rules over the whole
// tree would make the diagrams quadratic.
func (m *Model) restrictMemory() {
	if !m.Remembers() {
		return
	}
	s := m.space
	for t := range m.vars {
		v, task := &m.vars[t], bt.Task(t)
		before := s.all() // the states in which a child can have been active
		if p := m.tree.Parent(task); p >= 0 {
			before = m.since(p, task)
		}
		for _, x := range slices.Concat(v.held[:], v.pinned[:]) {
			if x >= 0 {
				m.rule(m.bit(x), before)
			}
		}
		if v.kept >= 0 {
			m.rule(m.bit(v.kept), m.near[t])
		}
		m.restrictScript(task)
		for _, k := range m.tree.Children(task) {
			if m.pinsOver(task, k) {
				m.rule(s.and(m.since(task, k), m.passed(task, k)), m.pinnedOver(k))
			}
		}
	}
	m.restrictGuards()
}

// since returns where a child's turn has come in an active composite: where the child before it is pinned, if the
// composite pins, else where the composite is active. A script that never continues after a child has no such child.
func (m *Model) since(p, child bt.Task) set {
	kids := m.tree.Children(p)
	if i := slices.Index(kids, child); i > 0 && m.pinsOver(p, kids[i-1]) {
		return m.pinnedOver(kids[i-1])
	}
	if m.wanted[child] != nil && !m.outlives(p, child) {
		return m.space.none()
	}
	return m.near[p]
}

// pinsOver reports whether a composite pins a child when it passes it over.
func (m *Model) pinsOver(p, child bt.Task) bool {
	kids := m.tree.Children(p)
	return m.passes(p) && m.pins(p) && child != kids[len(kids)-1]
}

// pinnedOver returns where a child of a Sequence or Fallback is pinned.
func (m *Model) pinnedOver(t bt.Task) set {
	over := m.space.none()
	for _, v := range m.vars[t].pinned {
		over = m.space.or(over, m.bit(v))
	}
	return over
}
