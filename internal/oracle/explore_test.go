package oracle

import (
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// Space is what can be reached in any flight: from one instant to the next some time passes, and any signal takes any
// value.
type Space struct {
	Tree     *bt.Tree
	States   int
	Complete bool // all states were visited
	Unstable bool // some world does not settle: no state follows
}

// Explore visits the states that can be reached, up to a limit, and calls visit with each flight at rest, and within
// instants after each settling of the tree.
func (m *Mission) Explore(limit int, visit func(f *Flight, rest bool)) Space {
	p := m.compile()
	p.round = func(f *Flight) { visit(f, false) }
	return p.from(limit, visit, func(try func(*Flight, error)) {
		for _, w := range m.worlds() {
			try(p.begin(w[0], w[1]))
		}
	})
}

// from visits the states that can be reached from those that begin tries.
func (p *program) from(limit int, visit func(f *Flight, rest bool), begin func(try func(*Flight, error))) Space {
	s := Space{Tree: p.Tree, Complete: true}
	worlds := p.worlds()
	seen := map[string]bool{}
	var todo []*Flight
	try := func(f *Flight, err error) {
		if err != nil {
			s.Unstable = true
			if errors.Is(err, errUnset) {
				visit(f, false)
			}
			return
		}
		visit(f, true)
		simplify(f)
		if key := f.key(); !seen[key] {
			seen[key] = true
			todo = append(todo, f)
		}
	}
	begin(try)
	for ; len(todo) > 0; todo = todo[1:] {
		f := todo[0]
		if s.States++; s.States > limit {
			s.Complete = false
			return s
		}
		for _, t := range times(f) {
			for _, w := range worlds {
				next := f.clone()
				try(next, next.move(t, w[0], w[1]))
			}
		}
	}
	return s
}

// worlds returns the values of x and y that the facts allow.
func (m *Mission) worlds() [][2]float64 {
	var worlds [][2]float64
	for _, x := range m.points {
		for _, y := range m.points {
			w := [2]float64{x, y}
			if !slices.ContainsFunc(m.Facts, func(e *expression) bool { return e.in(outside(w), nil) == 0 }) {
				worlds = append(worlds, w)
			}
		}
	}
	return worlds
}

// Clocks read their rest, the time until they are over. Lengths are whole seconds, so what can happen depends only on
// the whole seconds of the rests and on the order of their fractions (R. Alur and D. Dill, A theory of timed automata,
// 1994): simplify replaces the fractions by others in the same order.

// simplify lets the time of flights be 0 and the fractions of n rests be multiples of 1 / (n + 1) or less.
func simplify(flights ...*Flight) {
	fractions, grid := []float64{0}, 1.0
	for _, f := range flights {
		f.restart()
		for _, c := range f.clocks() {
			over := *f.clock(c)
			fractions = append(fractions, over-math.Floor(over))
		}
		for n := len(f.nodes) + len(f.timers) + 1; n > 1; n /= 2 {
			grid /= 4 // a power of 2, so that all sums are exact
		}
	}
	slices.Sort(fractions)
	fractions = slices.Compact(fractions)
	for _, f := range flights {
		for _, c := range f.clocks() {
			over := f.clock(c)
			rank := slices.Index(fractions, *over-math.Floor(*over))
			*over = math.Floor(*over) + float64(rank)*grid
		}
	}
}

// restart lets the time of a flight be 0.
func (f *Flight) restart() {
	for _, c := range f.clocks() {
		*f.clock(c) -= f.T
	}
	f.T = 0
}

// times returns the times of the next instant of flights between which there is a difference: up to when the first
// clock is over.
func times(flights ...*Flight) []float64 {
	first := math.Inf(1)
	for _, f := range flights {
		first = min(first, f.next())
	}
	if math.IsInf(first, 1) {
		return []float64{1}
	}
	rests := map[float64]bool{0: true, first: true}
	for _, f := range flights {
		for _, c := range f.clocks() {
			over := *f.clock(c)
			for at := over - math.Floor(over); at < first; at++ {
				rests[at] = true
			}
		}
	}
	var list []float64
	sorted := slices.Sorted(maps.Keys(rests))
	for i, at := range sorted[1:] {
		list = append(list, (sorted[i]+at)/2, at)
	}
	return list
}

// outside are values of x and y without a flight.
type outside [2]float64

func (w outside) signal(place int) float64 { return w[place] }

func (outside) holds(string) bool { panic("oracle: a fact about a task") }

// clocks returns the procedures with a duration and the timers that run.
func (f *Flight) clocks() []int {
	var list []int
	for i, n := range f.nodes {
		l := &f.leaves[i]
		if l.procedure == active && n.entryTime >= 0 || l.procedure == leaving && n.exitTime >= 0 {
			list = append(list, i)
		}
	}
	for i, over := range f.timers {
		if !math.IsNaN(over) {
			list = append(list, len(f.nodes)+i)
		}
	}
	return list
}

func (f *Flight) clock(i int) *float64 {
	if i < len(f.leaves) {
		return &f.leaves[i].over
	}
	return &f.timers[i-len(f.leaves)]
}
