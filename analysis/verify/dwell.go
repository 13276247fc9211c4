package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
)

// Turns that are slow because of hysteresis alone. On a closed walk, a condition that becomes true becomes false again:
// its signal goes from one side of the hysteresis to the other one and back, at the maximum rates of all tasks. So if
// tasks take no turns while all conditions with hysteresis stay as they are, the shortest of these times bounds the
// period of all turns. The graph without the signals of these conditions is much smaller.

// slowTurns returns the findings of such a plan; nil if nothing follows.
func (m *Model) slowTurns() []Finding {
	s := m.abstract()
	freed := s.Freed()
	period, which := math.Inf(1), ""
	rests := map[string]bool{}
	var axes []axis
	for _, a := range m.axes() {
		if !slices.ContainsFunc(a.names(), func(name string) bool { return !s.Knows(name) }) {
			axes = append(axes, a)
		}
	}
	for _, input := range slices.Sorted(maps.Keys(freed)) {
		l := &m.leaves[m.leafOf[freed[input]]]
		dwell := m.dwell(l, rests)
		if dwell < m.subject.Declared.Period {
			return nil
		}
		if dwell < period {
			period, which = dwell, l.name
		}
		axes = append(axes, axis{name: l.name, signal: -1, cuts: []cut{{}}, marks: []mark{{}},
			asks: []*expr.Logic{proposition(input)}, leaf: l})
	}
	if len(freed) == 0 {
		return nil
	}
	g := m.newGraph(s, axes, mergeJoined)
	if g.turns = true; g.explore() != "" {
		return nil
	}
	t := g.findTurns()
	maps.Copy(t.rests, rests)
	var found []Finding
	for _, x := range t.distinct() {
		f := t.finding(x)
		if f.Verdict != Proved {
			return nil
		}
		found = append(found, f)
	}
	f := Finding{Verdict: Proved, Text: "no two tasks take turns on a signal"}
	if !math.IsInf(period, 1) {
		f.Text = fmt.Sprintf("no two tasks take turns on conditions with hysteresis faster than every %.3g s, that of %s",
			period, which)
		f.Period = period
	}
	found = append(found, f)
	for i := range found {
		found[i].Assumes = t.assumptions()
	}
	m.tired = false // the large graph is not needed
	return found
}

// names returns the signals of an axis.
func (a *axis) names() []string {
	var names []string
	for _, ask := range a.asks {
		names = append(names, ask.Signals()...)
	}
	return names
}

// dwell returns the minimum time [s] in which a condition with hysteresis becomes true and false again, 0 if none is
// known; a signal on which some task has no known effect rests then.
func (m *Model) dwell(l *leaf, rests map[string]bool) float64 {
	name := ""
	var named func(x *expr.Logic) bool
	named = func(x *expr.Logic) bool { // all of it is about one signal
		switch x.Op {
		case expr.LogicThreshold:
			same := name == "" || name == x.Signal
			name = x.Signal
			return same
		case expr.LogicRelation, expr.LogicProposition:
			return false
		}
		return !slices.ContainsFunc(x.Args, func(a expr.Logic) bool { return !named(&a) })
	}
	if !named(l.on) || !named(l.off) || name == "" {
		return 0
	}
	i := m.vocab.bySig[name]
	a := axis{name: name, signal: i, cuts: m.vocab.signals[i].cuts}
	switch a.motion, _ = m.motion([]string{name}, true); a.motion {
	case calm:
		return math.Inf(1)
	case wild:
		return 0
	}
	time, shortest := 0.0, math.Inf(1)
	const neither, isOn, isOff = 0, 1, 2
	last := neither // of the sides below, the nearest one
	for cell := range len(a.cuts) + 1 {
		on, off := a.holds(l.on, cell), a.holds(l.off, cell)
		side := neither
		switch {
		case on && off:
			return 0
		case on:
			side = isOn
		case off:
			side = isOff
		}
		if side != neither {
			if last != neither && last != side {
				shortest = min(shortest, time)
			}
			last, time = side, 0
			continue
		}
		low, high := a.bounds(cell)
		in := map[string]interval.Interval{name: {Low: low, High: high}}
		up, down := 0.0, 0.0
		for _, t := range append(m.actions(), declare.Idle) {
			r, known := m.rate(t, name, in)
			if known || !m.rests(name) {
				up, down = max(up, r.High), max(down, -r.Low)
			} else {
				rests[name] = true
			}
		}
		if high > low {
			time += (high-low)/up + (high-low)/down
		}
	}
	return shortest
}

// holds reports whether a formula about the signal of an axis holds in a cell.
func (a *axis) holds(l *expr.Logic, cell int) bool {
	switch l.Op {
	case expr.LogicTruth:
		return l.Value
	case expr.LogicThreshold:
		k, _ := slices.BinarySearchFunc(a.cuts, cut{l.Limit, l.Strict}, cut.compare)
		return cell > k
	case expr.LogicNot:
		return !a.holds(&l.Args[0], cell)
	case expr.LogicAnd:
		return !slices.ContainsFunc(l.Args, func(x expr.Logic) bool { return !a.holds(&x, cell) })
	case expr.LogicOr:
		return slices.ContainsFunc(l.Args, func(x expr.Logic) bool { return a.holds(&x, cell) })
	}
	panic("verify: a formula that is not about one signal")
}
