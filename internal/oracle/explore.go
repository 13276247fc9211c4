package oracle

import (
	"math"
	"slices"

	"canopy/bt"
)

// Space is what can be reached in any flight: every instant any signal takes any value, and each clock that runs may be
// over. Lengths of procedures and timers do not count, except that a length of zero is over at once.
type Space struct {
	Tree     *bt.Tree
	States   int
	Complete bool // all states were visited
	Unstable bool // some world does not settle: no state follows
}

// maxClocks is the maximum number of clocks of which all combinations are tried.
const maxClocks = 6

// Explore visits the states that can be reached, up to a limit, and calls visit with each flight at rest, and within
// instants after each settling of the tree.
func (m *Mission) Explore(limit int, visit func(f *Flight, rest bool)) Space {
	p := m.compile()
	p.round = func(f *Flight) { visit(f, false) }
	s := Space{Tree: p.Tree, Complete: true}
	never := func(now, duration float64) float64 {
		if duration == 0 {
			return now
		}
		return math.Inf(1)
	}
	var worlds [][2]float64
	for _, x := range m.points {
		for _, y := range m.points {
			w := [2]float64{x, y}
			if !slices.ContainsFunc(m.Facts, func(e *expression) bool { return e.in(outside(w), nil) == 0 }) {
				worlds = append(worlds, w)
			}
		}
	}
	seen := map[string]bool{}
	var todo []*Flight
	try := func(f *Flight, err error) {
		if err != nil {
			s.Unstable = true
			return
		}
		visit(f, true)
		if key := f.key(); !seen[key] {
			seen[key] = true
			todo = append(todo, f)
		}
	}
	for _, w := range worlds {
		try(p.begin(w[0], w[1], never))
	}
	for ; len(todo) > 0; todo = todo[1:] {
		f := todo[0]
		if s.States++; s.States > limit {
			s.Complete = false
			return s
		}
		clocks := f.clocks()
		if len(clocks) > maxClocks {
			s.Complete = false
			clocks = clocks[:maxClocks]
		}
		for set := range 1 << len(clocks) {
			for _, w := range worlds {
				next := f.clone()
				for i, c := range clocks {
					if set>>i&1 == 1 {
						*next.clock(c) = 0
					}
				}
				try(next, next.move(1, w[0], w[1]))
			}
		}
	}
	return s
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
