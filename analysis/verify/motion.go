package verify

import (
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
)

// Motion: how signals change while tasks are active. An axis is a quantity that conditions compare with limits, and its
// cell is one of the intervals between these. A node is a state of the plan in some cells, an edge an instant.

// axis is a signal, a sum of multiples of signals, or an input that is true or false.
type axis struct {
	name   string
	signal int         // of the vocabulary; -1: none
	terms  []expr.Term // nil: its value is not such a sum
	cuts   []cut
	marks  []mark        // by cut, if it is no signal
	asks   []*expr.Logic // by cut: is it above it, or below if the mark is so
	motion motion
	steps  bool  // it only goes to neighbouring cells
	leaf   *leaf // its value is the truth of this condition; nil: of none
}

// mark is a variable that is true above a cut, or below it.
type mark struct {
	variable int
	below    bool
}

// motion is what is known of an axis.
type motion uint8

const (
	calm   motion = iota // no task has a known effect on it
	steady               // it moves with known rates
	wild                 // tasks change it in an unknown way, or write it
)

// axes returns the axes of all inputs.
func (m *Model) axes() []axis {
	var all []axis
	for i := range m.vocab.signals {
		sig := &m.vocab.signals[i]
		a := axis{name: sig.name, signal: i, terms: []expr.Term{{Signal: sig.name, Factor: 1}}, cuts: sig.cuts}
		for _, c := range sig.cuts {
			a.asks = append(a.asks, &expr.Logic{Op: expr.LogicThreshold, Signal: sig.name, Limit: c.limit, Strict: c.strict})
		}
		a.motion, a.steps = m.motion([]string{sig.name}, true)
		all = append(all, a)
	}
	of := map[string]int{}
	for v := range m.vocab.inputs {
		in := &m.vocab.inputs[v]
		if in.kind != inputFree {
			continue
		}
		a, c, at, ask := axis{name: in.text, signal: -1}, cut{}, mark{variable: v}, proposition(in.text)
		if in.relation != nil {
			var limit float64
			if a.terms, limit = in.relation.Linear(); a.terms != nil { // the first factor becomes 1; if it is negative: <=
				first := a.terms[0].Factor
				for i := range a.terms {
					a.terms[i].Factor /= first
				}
				c, at.below = cut{limit / first, first < 0}, first < 0
				a.name = sumText(a.terms)
			}
			ask = in.relation
			a.motion, a.steps = m.motion(in.relation.Relation.Names(), a.terms != nil)
		}
		i, known := of[a.name]
		if !known {
			i = len(all)
			of[a.name] = i
			all = append(all, a)
		}
		k, _ := slices.BinarySearchFunc(all[i].cuts, c, cut.compare)
		all[i].cuts, all[i].marks = slices.Insert(all[i].cuts, k, c), slices.Insert(all[i].marks, k, at)
		all[i].asks = slices.Insert(all[i].asks, k, ask)
	}
	return all
}

// sumText writes a sum of terms.
func sumText(terms []expr.Term) string {
	var b strings.Builder
	for i, t := range terms {
		switch {
		case i > 0 && t.Factor < 0:
			b.WriteString(" - ")
		case i > 0:
			b.WriteString(" + ")
		}
		if f := math.Abs(t.Factor); f != 1 {
			b.WriteString(flown.Figure(f) + "*")
		}
		b.WriteString(t.Signal)
	}
	return b.String()
}

// motion returns what is known of a quantity of some signals: of a sum of them, the rate. It steps if it never jumps.
func (m *Model) motion(signals []string, sum bool) (kind motion, steps bool) {
	if m.ofSources(signals) {
		return calm, false
	}
	moves, rests := false, false
	for _, name := range signals {
		if m.isWritten(name) || m.stepper().Follows(name) {
			return wild, false
		}
		known := false
		for _, a := range m.actions() {
			r, ok := m.subject.Rate(a, name, nil)
			if ok && r.Jumps {
				return wild, false
			}
			known = known || ok
		}
		moves, rests = moves || known, rests || !known
	}
	switch {
	case !moves && m.subject.Rates == nil: // of a plan alone: it has no effect
		return calm, false
	case !moves || !sum:
		return wild, false
	}
	return steady, !rests
}

// ofSources reports whether some signals are those of sources, perhaps with the time: tasks have no effect on them.
func (m *Model) ofSources(signals []string) bool {
	of := 0
	for _, name := range signals {
		is := func(s string) bool { return name == expr.Known(s) || name == expr.Stamp(s) }
		switch {
		case slices.ContainsFunc(m.subject.Sources, is):
			of++
		case name != "t":
			return false
		}
	}
	return of > 0
}

// isWritten reports whether some task writes a slot.
func (m *Model) isWritten(name string) bool {
	writes := func(a plan.Assignment) bool { return a.Target == name }
	return slices.ContainsFunc(m.plan.Leaves, func(l plan.Leaf) bool {
		return slices.ContainsFunc(l.Write, writes) || slices.ContainsFunc(l.Entry, writes) ||
			slices.ContainsFunc(l.Exit, writes)
	})
}

// span is a range of cells.
type span struct{ low, high int }

// look returns the cells of each axis at a moment; nil if no values of the signals lie in all of them.
func (x *graph) look(m *flown.Moment) []span {
	cells := make([]span, len(x.axes))
	for i := range x.axes {
		a := &x.axes[i]
		s := span{0, len(a.cuts)}
		for k, l := range a.asks {
			above, known := false, true
			if a.motion == steady || a.motion == calm && a.signal >= 0 {
				above = m.Holds(l)
			} else {
				above, known = m.Known(l)
			}
			if a.marks != nil {
				above = above != a.marks[k].below
			}
			switch {
			case known && above:
				s.low = k + 1
			case known:
				s.high = min(s.high, k)
			}
		}
		if s.low > s.high {
			return nil
		}
		cells[i] = s
	}
	if !x.possible(cells) {
		return nil
	}
	return cells
}

// bounds returns between which values an axis is in a cell.
func (a *axis) bounds(cell int) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if cell > 0 {
		low = a.cuts[cell-1].limit
	}
	if cell < len(a.cuts) {
		high = a.cuts[cell].limit
	}
	return low, high
}

// possible reports whether some values of the signals lie in all cells.
func (x *graph) possible(cells []span) bool {
	var box map[string]interval.Interval
	for i := range x.axes {
		if a := &x.axes[i]; a.signal < 0 && a.terms != nil {
			if box == nil {
				box = boxOf(x.axes, cells)
			}
			low, _ := a.bounds(cells[i].low)
			_, high := a.bounds(cells[i].high)
			sum := a.span(func(signal string) declare.Rate {
				if x, ok := box[signal]; ok {
					return declare.Rate{Low: x.Low, High: x.High}
				}
				return anyRate
			})
			if sum.Low > high || sum.High < low {
				return false
			}
		}
	}
	return true
}

// point reports whether a cell is one value.
func (a *axis) point(cell int) bool {
	low, high := a.bounds(cell)
	return low == high
}

// boxOf returns the ranges of the signals in some cells.
func boxOf(axes []axis, cells []span) map[string]interval.Interval {
	box := map[string]interval.Interval{}
	for i := range axes {
		if axes[i].signal >= 0 {
			low, _ := axes[i].bounds(cells[i].low)
			_, high := axes[i].bounds(cells[i].high)
			box[axes[i].name] = interval.Interval{Low: low, High: high}
		}
	}
	return box
}

var anyRate = declare.Rate{Low: math.Inf(-1), High: math.Inf(1)}

// span returns the range of a sum from those of its signals.
func (a *axis) span(of func(signal string) declare.Rate) declare.Rate {
	sum := declare.Rate{}
	for _, t := range a.terms {
		r := of(t.Signal)
		if t.Factor < 0 {
			r.Low, r.High = r.High, r.Low
		}
		sum.Low += t.Factor * r.Low
		sum.High += t.Factor * r.High
	}
	return sum
}
