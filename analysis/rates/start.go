package rates

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
)

// FromStart returns the mission's subject with the declared start, and with what the vehicle's equations imply from
// there: ranges of signals, as facts, and rates over these ranges.
func (t *Table) FromStart(s declare.Subject) declare.Subject {
	s.Start, s.Initial = nil, t.initial()
	if with := t.conditions(); len(with) > 0 {
		x := t.m.Replacing(with).Subject()
		s.Program, s.Compiler, s.Computed = x.Program, x.Compiler, x.Computed
	}
	box := t.enclose()
	if box == nil {
		return s
	}
	s.Declared.Facts = append(slices.Clip(s.Declared.Facts), box.implied(t.named())...)
	narrow := *t
	narrow.ranges, narrow.found, narrow.matters = maps.Clone(t.ranges), map[key]answer{}, map[key][]string{}
	for name, x := range box.ranges {
		if both, ok := x.Meet(t.ranges[name]); ok {
			narrow.ranges[name] = both
		}
	}
	narrow.follow()
	narrow.cascade = narrow.cascades()
	s.Rates = &narrow
	return s
}

// conditions returns the expressions of the outputs that compare states and the time with constants. In a flight, such
// a relation and the same one of the plan are true at the same times.
func (t *Table) conditions() map[string]*expr.Expr {
	with := map[string]*expr.Expr{}
	for i, o := range t.m.Vehicle.Outputs {
		if t.scope[o.Name].Type != expr.Boolean || t.program {
			continue
		}
		if l := t.formulas.Outputs[i].Logic(nil); t.compares(&l) {
			with[o.Name] = t.formulas.Outputs[i]
		}
	}
	return with
}

// compares reports whether a condition compares only states and the time with constants.
func (t *Table) compares(l *expr.Logic) bool {
	if l.Op == expr.LogicThreshold {
		return t.signals[l.Signal].kind <= state
	}
	return l.Op != expr.LogicRelation && !slices.ContainsFunc(l.Args, func(a expr.Logic) bool { return !t.compares(&a) })
}

// initial returns where the signals are at the start of every run that nothing changes at once.
func (t *Table) initial() map[string]interval.Interval {
	y := t.m.Starts(t.vehicle)
	n := t.names(map[string]interval.Value{}, func(name string) interval.Value {
		if d := t.signals[name]; d.kind == state {
			return interval.Constant(y[d.index])
		}
		return interval.Constant(interval.Point(0))
	}, func(i int, _ interval.Names) interval.Value { return interval.Constant(t.slots[i]) }, anything)
	all := map[string]interval.Interval{}
	for name, d := range t.signals {
		direct := d.kind == output && len(t.m.Vehicle.Outputs[d.index].Direct) > 0
		if d.kind == clock || d.kind == state || d.kind == output && d.value != nil && !direct {
			all[name] = n.Value(name).Interval
		}
	}
	return all
}

// Unforced reports whether these are names of signals that no task changes, nor what they follow: they are the same in
// every run from the declared start, if that is one state. Those of sources may be lost.
func (t *Table) Unforced(names []string) bool {
	asked := make([]*expr.Expr, len(names))
	for i, name := range names {
		_, known := t.signals[name]
		if _, task := t.m.Plan.Tree.Find(name); task || !known || t.program || len(t.m.Sources()) > 0 {
			return false
		}
		asked[i] = named(name)
	}
	seen, starts := map[string]bool{}, t.m.Starts(t.vehicle)
	for len(asked) > 0 {
		reads := t.coneOf(declare.Idle, asked...)
		if asked = nil; len(reads.slots) > 0 {
			return false
		}
		for _, name := range reads.variables {
			d := t.signals[name]
			if d.kind != state || seen[name] {
				continue
			}
			if x := starts[d.index]; x.Low < x.High {
				return false
			}
			seen[name] = true
			asked = append(asked, t.formulas.Derivatives[d.index])
			for _, r := range t.formulas.Resets {
				if r.State == d.index {
					asked = append(asked, r.Value, r.When)
				}
			}
		}
	}
	return true
}

// implied returns the ranges of signals that follow from those of the states, as statements.
func (t *Table) implied(signals []string) []declare.Statement {
	var list []declare.Statement
	n := t.anytime()
	for _, name := range signals {
		var bounds []string
		switch x := n.Value(name); {
		case x.NaN || t.signals[name].kind == slot: // what tasks write, searches follow
		case t.scope[name].Type == expr.Boolean && x.Low > 0:
			bounds = []string{name}
		case t.scope[name].Type == expr.Boolean && x.High < 1:
			bounds = []string{"not " + name}
		case t.scope[name].Type == expr.Real:
			if low := -above(-x.Low); !math.IsInf(low, 0) {
				bounds = append(bounds, name+" >= "+strconv.FormatFloat(low, 'g', -1, 64))
			}
			if high := above(x.High); !math.IsInf(high, 0) && name != "t" {
				bounds = append(bounds, name+" <= "+strconv.FormatFloat(high, 'g', -1, 64))
			}
		}
		if bounds == nil {
			continue
		}
		text := strings.Join(bounds, " and ")
		e, err := expr.Parse(text)
		if err != nil {
			panic("rates: a range that is no condition")
		}
		list = append(list, declare.Statement{Text: text, Parts: []*expr.Expr{e}, Derived: true})
	}
	return list
}

// above returns a number with few digits that is not less.
func above(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return x
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-4)
	short, _ := strconv.ParseFloat(strconv.FormatFloat(math.Ceil(x/unit)*unit, 'g', 6, 64), 64)
	return max(x, short)
}
