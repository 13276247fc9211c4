package rates

import (
	"maps"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
)

const (
	evaluations = 400 // of a rate, for its bounds in all settings
	settings    = 64  // of slots, that are distinguished
)

// cone is what signals depend on.
type cone struct {
	variables []string // the time and states
	slots     []int
	writes    bool // some slot is written by a task
	outputs   bool // some output is computed by a program
}

// coneOf returns what expressions depend on while a task is active.
func (t *Table) coneOf(task bt.Task, list ...*expr.Expr) cone {
	var c cone
	seen := map[string]bool{}
	var visit func(e *expr.Expr)
	visit = func(e *expr.Expr) {
		for _, name := range e.Names() {
			d, ok := t.signals[name]
			if !ok || seen[name] {
				continue
			}
			seen[name] = true
			switch {
			case d.kind == clock, d.kind == state:
				c.variables = append(c.variables, name)
			case d.kind == slot:
				c.slots = append(c.slots, d.index)
				c.writes = c.writes || len(t.m.Program.Slots[d.index].Writers) > 0
				for _, s := range t.sources(d.index, task) {
					if s.value != nil {
						visit(s.value)
					}
				}
			case d.value != nil:
				visit(d.value)
			default:
				c.outputs = true
			}
		}
	}
	for _, e := range list {
		visit(e)
	}
	return c
}

// coneOfSignal returns what a signal depends on while a task is active.
func (t *Table) coneOfSignal(task bt.Task, signal string) cone {
	at := key{task, signal, ""}
	c, known := t.cones[at]
	if !known {
		c = t.coneOf(task, named(signal))
		t.cones[at] = c
	}
	return c
}

// named returns a signal as an expression.
func named(signal string) *expr.Expr {
	e, err := expr.Parse(signal)
	if err != nil {
		panic("rates: a signal whose name is not one")
	}
	return e
}

// closed reports whether all that determines a rate is given as expressions.
func (t *Table) closed(task bt.Task, signal string) bool {
	c := t.coneOfSignal(task, signal)
	return !t.program || !c.outputs && !slices.ContainsFunc(c.variables, func(name string) bool {
		return t.signals[name].kind == state
	})
}

// needs returns what a rate depends on.
func (t *Table) needs(task bt.Task, signal string) cone {
	asked := named(signal)
	needs := []*expr.Expr{asked}
	for _, name := range t.coneOfSignal(task, signal).variables {
		if d := t.signals[name]; d.kind == state && !t.program {
			needs = append(needs, t.formulas.Derivatives[d.index])
		}
	}
	if t.signals[signal].kind == state && len(needs) > 1 {
		needs = needs[1:]
	}
	return t.coneOf(task, needs...)
}

// derive bounds a rate.
func (t *Table) derive(task bt.Task, signal string, in map[string]interval.Interval) answer {
	reads, all := t.coneOfSignal(task, signal), t.needs(task, signal)
	for name := range in { // a variable that is not needed may still exclude parts, by facts
		if k := t.signals[name].kind; (k == state || k == clock) && !slices.Contains(all.variables, name) {
			all.variables = append(all.variables, name)
		}
	}
	list := t.settings(task, all, in)
	a := answer{rate: declare.Rate{Low: math.Inf(1), High: math.Inf(-1), From: declare.Derived,
		Jumps: reads.writes || t.reset(reads)}}
	for _, s := range list {
		bounds, jumps, ok := interval.Range(s.function(signal, in), s.box, t.evaluations/len(list))
		if ok {
			a.rate.Low, a.rate.High = min(a.rate.Low, bounds.Low), max(a.rate.High, bounds.High)
			a.rate.Jumps, a.ok = a.rate.Jumps || jumps && t.signals[signal].kind != state, true
		}
	}
	if !a.ok && len(in) > 0 {
		return answer{rate: a.rate, ok: true} // impossible
	}
	if math.IsInf(a.rate.Low, 0) || math.IsInf(a.rate.High, 0) {
		for _, name := range all.variables {
			if !t.ranges[name].Bounded() {
				a.missing = append(a.missing, name)
			}
		}
		slices.Sort(a.missing)
	}
	return a
}

// reset reports whether signals depend on states that events of the vehicle change.
func (t *Table) reset(c cone) bool {
	return slices.ContainsFunc(t.m.Vehicle.Jumps, func(name string) bool {
		return c.outputs || slices.Contains(c.variables, name)
	})
}

// settings returns the settings of slots: one for each combination of their sources, unless these are too many.
func (t *Table) settings(task bt.Task, c cone, in map[string]interval.Interval) []*setting {
	first := &setting{t: t, place: map[string]int{}, sources: map[int][]source{}, variable: map[int][]int{}}
	for _, name := range c.variables {
		x := t.ranges[name]
		if limit, limited := in[name]; limited {
			if both, ok := x.Meet(limit); ok {
				x = both
			}
		}
		first.place[name] = len(first.box)
		first.variables = append(first.variables, name)
		first.box = append(first.box, x)
	}
	list := []*setting{first}
	for _, i := range c.slots {
		sources := t.sources(i, task)
		groups := [][]source{sources}
		if len(list)*len(sources) <= settings {
			groups = nil
			for _, s := range sources {
				groups = append(groups, []source{s})
			}
		}
		var next []*setting
		for _, s := range list {
			for _, g := range groups {
				next = append(next, s.with(i, g))
			}
		}
		list = next
	}
	return list
}

// with returns the setting in which a slot has one of the given sources.
func (s *setting) with(slot int, sources []source) *setting {
	n := &setting{t: s.t, variables: s.variables, place: s.place, box: slices.Clone(s.box), sources: maps.Clone(s.sources),
		variable: maps.Clone(s.variable)}
	n.sources[slot] = sources
	at := slices.Repeat([]int{-1}, len(sources))
	for k, x := range sources {
		if x.value == nil && !x.frozen.Point() {
			at[k] = len(n.box)
			n.box = append(n.box, x.frozen)
		}
	}
	n.variable[slot] = at
	return n
}

// function returns the rate of a signal as a function of the variables.
func (s *setting) function(signal string, in map[string]interval.Interval) interval.Function {
	return func(box []interval.Interval) (interval.Value, bool) {
		n := s.in(box)
		return s.rate(n, signal), s.t.possible(n, in)
	}
}

// rate returns the derivative of a state, or that of another signal by the chain rule.
func (s *setting) rate(n interval.Names, signal string) interval.Value {
	if d := s.t.signals[signal]; d.kind == state {
		return s.derivative(n, d.index)
	}
	v := n.Value(signal)
	sum := interval.Value{Jumps: v.Jumps}
	if v.Slope == nil {
		return sum
	}
	for i, name := range s.variables {
		by := v.Slope[i]
		if by.Low == 0 && by.High == 0 {
			continue
		}
		rate := interval.Point(1)
		if d := s.t.signals[name]; d.kind == state {
			rate = s.derivative(n, d.index).Interval
		}
		sum.Interval = sum.Plus(by.Times(rate))
	}
	return sum
}

func (s *setting) derivative(n interval.Names, i int) interval.Value {
	return n.Evaluate(s.t.formulas.Derivatives[i], expr.Variable{})
}

// possible reports whether facts and limits of signals may hold.
func (t *Table) possible(n interval.Names, in map[string]interval.Interval) bool {
	for name, x := range in {
		if _, ok := t.signals[name]; ok {
			if _, meet := n.Value(name).Meet(x); !meet {
				return false
			}
		}
	}
	for _, f := range t.facts {
		last := len(f.Parts) - 1
		holds := n.Truth(f.Parts[last]).True
		for _, e := range f.Parts[:last] {
			holds = holds || n.Truth(e).False
		}
		if !holds {
			return false
		}
	}
	return true
}
