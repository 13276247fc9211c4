package region

import (
	"cmp"
	"maps"
	"slices"
)

// Grid holds the answers to some questions over a box. It is refined like a quad-tree: cells whose corners have
// different answers are quartered, down to a depth.
type Grid struct {
	Space     *Space
	Questions []Question

	size    int // of the box, in units of the finest cells
	samples map[point][]Sample
	leaves  []cell
}

// point is a place on the grid of the finest cells.
type point struct{ i, j int }

// cell is a square of the grid.
type cell struct {
	point
	size int
}

// NewGrid returns a grid of cells by cells, each of which may be quartered depth times.
func NewGrid(s *Space, questions []Question, cells, depth int) *Grid {
	if cells < 1 || depth < 0 {
		panic("region: no cells")
	}
	g := &Grid{Space: s, Questions: questions, size: cells << depth, samples: map[point][]Sample{}}
	for j := range cells {
		for i := range cells {
			g.leaves = append(g.leaves, cell{point{i << depth, j << depth}, 1 << depth})
		}
	}
	return g
}

// Start is an initial state: a value of each of the two states.
type Start [2]float64

// Refine samples and refines until no cell is left to be quartered. Each time, evaluate receives the starts to sample
// next and returns the answers to all questions for each start, or nil for those it did not sample: then Refine stops
// and returns false. The result depends on the answers alone, not on the order in which evaluate computes them.
func (g *Grid) Refine(evaluate func([]Start) [][]Sample) bool {
	for {
		points := g.wanted()
		starts := make([]Start, len(points))
		for k, p := range points {
			starts[k] = g.start(p)
		}
		missing := false
		for k, s := range evaluate(starts) {
			if s == nil {
				missing = true
				continue
			}
			g.samples[points[k]] = s
		}
		if missing {
			return false
		}
		if !g.quarter() {
			return true
		}
	}
}

// start returns the initial state at a point.
func (g *Grid) start(p point) Start {
	return Start{g.Space.Axes[0].at(p.i, g.size), g.Space.Axes[1].at(p.j, g.size)}
}

// corners returns the corners of a cell, around it.
func (c cell) corners() [4]point {
	return [4]point{c.point, {c.i + c.size, c.j}, {c.i + c.size, c.j + c.size}, {c.i, c.j + c.size}}
}

// wanted returns the corners that have not been sampled, in the order of the rows.
func (g *Grid) wanted() []point {
	var list []point
	for _, c := range g.leaves {
		for _, p := range c.corners() {
			if _, known := g.samples[p]; !known {
				list = append(list, p)
			}
		}
	}
	slices.SortFunc(list, comparePoints)
	return slices.Compact(list)
}

func comparePoints(a, b point) int { return cmp.Or(cmp.Compare(a.j, b.j), cmp.Compare(a.i, b.i)) }

// quarter replaces the cells whose answers are mixed by their quarters, and reports whether there were any.
func (g *Grid) quarter() bool {
	var leaves []cell
	for _, c := range g.leaves {
		if c.size == 1 || !g.mixed(c) {
			leaves = append(leaves, c)
			continue
		}
		half := c.size / 2
		for _, d := range [4]point{{0, 0}, {half, 0}, {0, half}, {half, half}} {
			leaves = append(leaves, cell{point{c.i + d.i, c.j + d.j}, half})
		}
	}
	more := len(leaves) > len(g.leaves)
	g.leaves = leaves
	return more
}

// mixed reports whether the answers on the edges of a cell differ, those included that smaller neighbours asked for.
func (g *Grid) mixed(c cell) bool {
	around := c.corners()
	for k, p := range around {
		if g.changes(p, around[(k+1)%4]) {
			return true
		}
	}
	return false
}

// changes reports whether the answers known between two points differ.
func (g *Grid) changes(a, b point) bool {
	if !slices.EqualFunc(g.samples[a], g.samples[b], func(x, y Sample) bool { return x.Class == y.Class }) {
		return true
	}
	middle := point{(a.i + b.i) / 2, (a.j + b.j) / 2}
	if middle == a || middle == b {
		return false
	}
	if _, known := g.samples[middle]; !known {
		return false
	}
	return g.changes(a, middle) || g.changes(middle, b)
}

// known returns the sampled points in the order of the rows.
func (g *Grid) known() []point {
	return slices.SortedFunc(maps.Keys(g.samples), comparePoints)
}

// Len returns the number of starts that were sampled.
func (g *Grid) Len() int { return len(g.samples) }

// Extreme is an initial state with the time that its answer has.
type Extreme struct {
	Start Start   `json:"start"`
	Time  float64 `json:"time_s"`
	Text  string  `json:"text,omitempty"`
}

// Portion is the share of the box with one class of answers.
type Portion struct {
	Class   Class   `json:"class"`
	Text    string  `json:"text"`
	Share   float64 `json:"share"` // of the box's area: cells count for their corners' classes in equal parts
	Starts  int     `json:"starts"`
	First   Extreme `json:"first"`   // in the order of the rows
	Longest Extreme `json:"longest"` // the one with the maximum time
}

// Portions returns the classes that occur, and the share of the box in cells whose corners have different
// answers: the shares are uncertain by that much.
func (g *Grid) Portions(question int) (list []Portion, boundary float64) {
	texts := g.Questions[question].Classes()
	all := make([]Portion, len(texts))
	for k, text := range texts {
		all[k].Class, all[k].Text = Class(k+1), text
	}
	for _, p := range g.known() {
		s := g.samples[p][question]
		c := &all[s.Class-1]
		here := Extreme{g.start(p), s.Time, s.Text}
		if c.Starts == 0 {
			c.First, c.Longest = here, here
		}
		if c.Starts++; s.Time > c.Longest.Time {
			c.Longest = here
		}
	}
	whole := float64(g.size) * float64(g.size)
	for _, leaf := range g.leaves {
		area := float64(leaf.size) * float64(leaf.size) / whole
		same := true
		around := leaf.corners()
		for _, p := range around {
			samples, known := g.samples[p]
			if !known {
				same = false
				continue
			}
			all[samples[question].Class-1].Share += area / 4
			same = same && g.samples[around[0]] != nil && samples[question].Class == g.samples[around[0]][question].Class
		}
		if !same {
			boundary += area
		}
	}
	return slices.DeleteFunc(all, func(c Portion) bool { return c.Starts == 0 }), boundary
}
