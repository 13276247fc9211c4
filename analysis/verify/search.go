package verify

import (
	"fmt"
	"slices"
	"strings"

	"canopy/analysis/flown"
	"canopy/explore"
)

// counterexample is the result of the search for one.
type counterexample struct {
	verdict Verdict
	script  string       // "" if refuted: it cannot be spelled
	why     string       // undecided, or proved under assumptions only: the reason
	how     string       // proved, but not by the abstraction: the method
	assumes []Assumption // on which it rests
	where   string       // refuted by a search: what is known of the signals there
}

// show searches for a counterexample in a set that the abstraction does not exclude. A flight has the last word. It has
// also the first where the sets do not cover all states: a plan remembers, a task that ends during another procedure
// keeps its status, and a leaf may be told by older sides of relations.
func (m *Model) show(a set, violated violation) counterexample {
	settled := func(x situation) bool { return x.Quiet() && violated(x) }
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
	if told := m.guided(append(f.before, f.world), settled); told != nil {
		return counterexample{verdict: Refuted, script: m.spell(told)}
	}
	return m.search(settled)
}

// maxGuided is the maximum number of courses of one instant in a world.
const maxGuided = 1000

// guided flies from the start through worlds, one in each instant, and stays in the last one until an instant ends in
// which something is seen. It returns the instants, nil if it is not seen.
func (m *Model) guided(worlds [][]bool, seen violation) (instants []told) {
	s, key := m.stepper(), flown.Key("")
	defer s.Guide(nil)
	s.Limits, s.Still = nil, false
	for i := range len(worlds) + maxWait {
		s.Guide(m.guide(worlds[min(i, len(worlds)-1)]))
		found, goOn, courses := false, false, 0
		s.Steps(key, func(at *flown.Moment) {
			switch courses++; {
			case courses > maxGuided:
				at.Stop = true
				return
			case !at.Over || at.Err != nil:
				return
			}
			if found = i >= len(worlds)-1 && seen(at); !at.Possible() {
				found = false
				return
			}
			instants = append(instants, m.tell(at, ""))
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

// Bounds of the search with the engine, per effort.
const (
	maxMoves  = 20_000
	maxVisits = 2_000_000 // moves times tasks
	maxBytes  = 350_000_000
)

// most returns the maximum number of moves of the engine.
func (m *Model) most() int { return m.effort * min(maxMoves, maxVisits/m.tree.Len()) }

// bounds returns those of a search with a number of moves. [Answers] begins it again with more of them.
func (m *Model) bounds(most int) explore.Budget {
	moves := 0
	return explore.Budget{Bytes: maxBytes, Over: func(states int) string {
		if moves += 64; moves > most { // asked at every 64th move
			m.tired = true
			return fmt.Sprintf("%d moves did not find all states", most)
		}
		return m.ended(states)
	}}
}

// visited describes a proof by a search.
func visited(states int) string {
	if states == 1 {
		return "by visiting the only state that the engine can reach: the plan never leaves it"
	}
	return fmt.Sprintf("by visiting all %d states that the engine can reach", states)
}
