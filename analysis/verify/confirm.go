package verify

import (
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
)

// What a set of states allows is confirmed by a run: one that is guided through worlds that lead there, or by a search.

// setOf returns a set of states of a model.
type setOf func(m *Model) set

// show searches for a counterexample in a set that the abstraction does not exclude. A flight has the last word. It has
// also the first where the sets do not cover all states: a plan remembers, a task that ends during another procedure
// keeps its status, and a leaf may be judged by older sides of relations. The model that tells apart what the plan
// remembers may exclude the set.
func (m *Model) show(in setOf, violated violation) counterexample {
	if told := m.telling(); told != nil && told.empty(in(told)) {
		return counterexample{verdict: Proved}
	}
	a := in(m)
	settled := func(x view) bool { return x.Quiet() && violated(x) }
	if late := m.Remembers() || m.stepper().Lags(); late || m.slow() {
		c := m.search(settled)
		switch {
		case c.verdict != Undecided, late:
			return c
		case m.empty(a):
			return counterexample{verdict: Proved, why: c.why, assumes: []Assumption{NoDelay}}
		}
	}
	f, ok := m.find(a)
	if !ok {
		return counterexample{verdict: Proved}
	}
	if instants := m.guided(append(f.before, f.world), settled); instants != nil {
		return counterexample{verdict: Refuted, script: m.spell(instants)}
	}
	return m.search(settled)
}

// maxGuided is the maximum number of transitions of one instant in a world.
const maxGuided = 1000

// guided flies from the start through worlds, one in each instant, and stays in the last one until an instant ends in
// which something is seen. It returns the instants, nil if it is not seen.
func (m *Model) guided(worlds [][]bool, seen violation) (instants []instant) {
	s, key := m.stepper(), flown.Key("")
	defer s.Guide(nil)
	m.plain(s)
	for i := range len(worlds) + maxWait {
		s.Guide(m.guide(worlds[min(i, len(worlds)-1)]))
		found, goOn, tried := false, false, 0
		s.Steps(key, func(at *flown.Moment) {
			switch tried++; {
			case tried > maxGuided:
				at.Stop = true
				return
			case !at.Over || at.Err != nil:
				return
			}
			if found = i >= len(worlds)-1 && seen(at); !at.Possible() {
				found = false
				return
			}
			instants = append(instants, m.instant(at, ""))
			goOn, key, at.Stop = true, at.After(), true
		})
		switch {
		case found:
			return instants
		case !goOn:
			return nil
		}
	}
	return nil
}

// maxWait is the number of instants in which procedures may end, in the last world.
const maxWait = 2

// guide answers the questions about the signals and leaves of a world.
func (m *Model) guide(world []bool) func(name string, limit float64, strict bool) (is, known bool) {
	return func(name string, limit float64, strict bool) (is, known bool) {
		if strings.HasPrefix(name, proposition("").Key) {
			v, ok := m.vocab.byFree[name]
			return ok && world[v], ok
		}
		i, ok := m.vocab.bySig[name]
		if !ok {
			return false, false
		}
		s := &m.vocab.signals[i]
		k, found := slices.BinarySearchFunc(s.cuts, cut{limit, strict}, cut.compare)
		at := s.interval(world)
		return at > k, found || at != k
	}
}
