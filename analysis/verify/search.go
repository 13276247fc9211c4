package verify

import (
	"fmt"
	"slices"

	"canopy/bt"
	"canopy/explore"
)

// violation reports whether a state violates a property.
type violation func(p *Player, world []bool) bool

// counterexample is the result of the search for one.
type counterexample struct {
	verdict Verdict
	script  string       // may be "" if refuted: a script begins with all conditions false and may not reach the state
	why     string       // undecided, or proved under assumptions only: the reason
	how     string       // proved, but not by the abstraction: the method
	assumes []Assumption // on which it rests
	world   []bool       // refuted by a search: where
}

// show searches for a counterexample in a set that the abstraction does not exclude. The engine has the last word.
// Where procedures take time it also has the first: a task that ends during another procedure keeps its status, which
// the abstraction, built for procedures that take no time, does not cover.
func (m *Model) show(a set, violated violation) counterexample {
	settled := func(p *Player, w []bool) bool { return p.settled() && violated(p, w) }
	if m.slow() {
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
	if m.Remembers() {
		if p, err := m.newPlayer(f.world); err == nil && p.lawful(f.world) && violated(p, f.world) { // without any past
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
	if !violated(p, f.world) {
		return m.search(settled)
	}
	return counterexample{verdict: Refuted, script: p.script()}
}

// Bounds of the search with the engine.
const (
	maxWorlds = 1 << 12
	maxMoves  = 200_000
	maxVisits = 20_000_000 // moves times tasks
)

// exploration visits the states that a plan can reach with the real engine, the nearest first, when any world may
// follow any other. It continues only as far as a search needs it.
type exploration struct {
	*walker
	visits *explore.Search[[2]int, []bt.Task] // of states in worlds; a move is which procedures were over
	first  []int                              // visit, by state
}

// stage is one move of a path: the world that comes, and the tasks whose procedures are over.
type stage struct {
	world []bool
	over  []bt.Task
}

// leave makes all moves from a visit, -1: the first ones. A state that was met in another world before has no others.
func (x *exploration) leave(visit int) {
	state := -1
	if visit >= 0 {
		if state = x.visits.Key(visit)[0]; x.first[state] != visit {
			return
		}
	}
	endings := x.endings(state)
	for w := range x.worlds {
		for _, over := range endings {
			if !x.visits.Spend() {
				return
			}
			if next := x.step(state, w, over); next >= 0 {
				n, _ := x.visits.Arrive(visit, [2]int{next, w}, over)
				if next == len(x.first) {
					x.first = append(x.first, n)
				}
			}
		}
	}
}

// more makes the moves from the next visit; it reports false if there is none.
func (x *exploration) more() bool {
	for n := range x.visits.Leave() {
		x.leave(n)
		return true
	}
	return false
}

// search searches for a counterexample of a plan with memory.
func (m *Model) search(violated violation) counterexample {
	if m.reachable == nil {
		w, why := m.newWalker()
		if why != "" {
			return counterexample{verdict: Undecided, why: why}
		}
		m.reachable = &exploration{walker: w, visits: explore.New[[2]int, []bt.Task](explore.Budget{Moves: m.most()})}
		m.reachable.leave(-1)
	}
	x := m.reachable
	for i := 0; i < x.visits.Len() || x.more(); {
		if i == x.visits.Len() {
			continue
		}
		at := x.visits.Key(i)
		if world := x.worlds[at[1]]; violated(x.states[at[0]], world) {
			var path []stage
			for _, n := range x.visits.Path(i) {
				path = append(path, stage{x.worlds[x.visits.Key(n)[1]], x.visits.Move(n)})
			}
			return counterexample{verdict: Refuted, script: m.retrace(path, violated), world: world}
		}
		i++
	}
	switch why := x.blind(); {
	case x.visits.Short() != "":
		why = fmt.Sprintf("%d moves of the engine did not visit all states that it can reach", m.most())
		return counterexample{verdict: Undecided, why: why}
	case why != "":
		return counterexample{verdict: Undecided, why: why}
	}
	return counterexample{how: m.visited(len(x.states))}
}

// visited describes a proof by a search.
func (m *Model) visited(states int) string {
	how := fmt.Sprintf("by visiting all %d states that the engine can reach", states)
	if states == 1 {
		how = "by visiting the only state that the engine can reach: the plan never leaves it"
	}
	if m.slow() {
		how += " however long procedures take"
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
	if !violated(p, path[len(path)-1].world) {
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
