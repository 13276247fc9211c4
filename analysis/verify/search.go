package verify

import (
	"fmt"
	"slices"

	"canopy/bt"
)

// counterexample is the result of the search for one.
type counterexample struct {
	verdict Verdict
	script  string       // may be "" if refuted: a script begins with all conditions false and may not reach the state
	why     string       // undecided, or proved under assumptions only: the reason
	how     string       // proved, but not by the abstraction: the method
	assumes []Assumption // on which it rests
	where   string       // refuted by a search: what is known of the signals there
}

// show searches for a counterexample in a set that the abstraction does not exclude. The engine has the last word.
// Where procedures take time it also has the first: a task that ends during another procedure keeps its status, which
// the abstraction, built for procedures that take no time, does not cover.
func (m *Model) show(a set, violated violation) counterexample {
	settled := func(x situation) bool { return x.Quiet() && violated(x) }
	if m.slow() || m.stepper().Lags() {
		c := m.search(settled)
		switch {
		case c.verdict != Undecided:
			return c
		case m.empty(a):
			return counterexample{verdict: Proved, why: c.why, assumes: []Assumption{NoDelay}}
		}
	}
	f, ok := m.find(a, &m.allowed)
	if !ok {
		return counterexample{verdict: Proved}
	}
	if m.stepper().Written() {
		return m.search(settled)
	}
	if m.Remembers() {
		if p, err := m.newPlayer(f.world); err == nil && p.lawful(f.world) && violated(p) { // without any past
			return counterexample{verdict: Refuted, script: m.retrace([]stage{{world: f.world}}, violated)}
		}
		return m.search(settled)
	}
	// Without memory the state is a function of the world and of what conditions with hysteresis remember: the worlds
	// before it lead to that.
	p := m.newTrace()
	for _, world := range append(f.before, f.world) {
		if p.Move(world) != nil || !p.lawful(world) {
			return m.search(settled)
		}
	}
	if !violated(p) {
		return m.search(settled)
	}
	return counterexample{verdict: Refuted, script: p.script()}
}

// Bounds of the search with the engine.
const (
	maxWorlds = 1 << 12
	maxMoves  = 200_000
	maxVisits = 20_000_000 // moves times tasks
	maxBytes  = 350_000_000
)

// stage is one move of a path: the world that comes, and the tasks whose procedures are over.
type stage struct {
	world []bool
	over  []bt.Task
}

// visited describes a proof by a search.
func (m *Model) visited(states int) string {
	how := fmt.Sprintf("by visiting all %d states that the engine can reach", states)
	if states == 1 {
		how = "by visiting the only state that the engine can reach: the plan never leaves it"
	}
	return how
}

// retrace returns a script that makes the moves, "" if it does not show the violation.
func (m *Model) retrace(path []stage, violated violation) string {
	p := m.newSlowTrace()
	for _, s := range path {
		if p.Move(s.world, s.over...) != nil {
			return ""
		}
	}
	if !violated(p) {
		return ""
	}
	return p.script()
}

// worlds returns an assignment for each combination of intervals and free inputs; ok is false if they are too many.
func (m *Model) worlds() (all [][]bool, ok bool) {
	all = [][]bool{make([]bool, len(m.vocab.inputs))}
	double := func(set func(w []bool)) {
		for _, w := range slices.Clone(all) {
			c := slices.Clone(w)
			set(c)
			all = append(all, c)
		}
	}
	for v := range m.vocab.inputs {
		if m.vocab.inputs[v].kind == inputFree {
			double(func(w []bool) { w[v] = true })
		}
		if len(all) > maxWorlds {
			return nil, false
		}
	}
	for i := range m.vocab.signals {
		s := &m.vocab.signals[i]
		before := all
		for k := range s.cuts {
			for _, w := range before {
				c := slices.Clone(w)
				s.put(c, k+1)
				all = append(all, c)
			}
		}
		if len(all) > maxWorlds {
			return nil, false
		}
	}
	return all, true
}
