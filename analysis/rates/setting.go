package rates

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
)

// source is what gives a slot its value while a task is active: an expression, or a number that does not change.
type source struct {
	value  *expr.Expr
	frozen interval.Interval
}

// sources returns what may give a slot its value while a task is active, or none is. The first active writer in the
// order of the tree counts, then the held value. Without an active task, exit procedures write.
func (t *Table) sources(i int, task bt.Task) []source {
	p := t.m.Program
	s := &p.Slots[i]
	var list []source
	add := func(x source) {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	for _, w := range s.Writers {
		l := &p.Leaves[w.Leaf]
		own := w.Phase == executive.Active && l.Task == task
		_, slow := l.Slow()
		switch {
		case task == declare.Idle && w.Phase == executive.Active, w.Phase == executive.Leaving && !slow,
			task != declare.Idle && !own && !t.together(l.Task, task):
			continue
		case w.Value != nil:
			add(source{value: t.assigned(w, s.Name)[0]}) // a slot is written once
		default:
			add(source{frozen: t.captured(w, s.Name)})
		}
		if w.Known != nil { // while it is not, the slot keeps what it had
			add(source{frozen: t.slots[i]})
		}
		if own {
			return list
		}
	}
	if !s.Hold {
		add(source{frozen: interval.Point(s.Initial)})
		return list
	}
	for _, x := range t.held(i) {
		add(source{frozen: x})
	}
	return list
}

// together reports whether two different actions may be active for some time, or one while the other one's exit
// procedure runs: only below a parallel.
func (t *Table) together(a, b bt.Task) bool {
	tree := t.m.Plan.Tree
	var above []bt.Task
	for x := a; x != tree.Root(); {
		x = tree.Parent(x)
		above = append(above, x)
	}
	for x := b; x != tree.Root(); {
		x = tree.Parent(x)
		if slices.Contains(above, x) {
			return a != b && tree.Kind(x).Family() == bt.Count
		}
	}
	return false
}

// assigned returns the expressions that a writer gives a slot, one after the other; nil where it takes the value of an
// entry away.
func (t *Table) assigned(w executive.Writer, slot string) []*expr.Expr {
	l := &t.m.Plan.Leaves[w.Leaf]
	list := l.Write
	switch {
	case w.Phase == executive.Leaving:
		list = l.Exit
	case w.Value == nil:
		list = l.Entry
	}
	var values []*expr.Expr
	for _, a := range list {
		if a.Target == slot && a.Unset {
			values = append(values, nil)
		} else if a.Target == slot {
			values = append(values, a.Value)
		}
	}
	if len(values) == 0 {
		panic("rates: a writer without an assignment")
	}
	return values
}

// captured returns the values that a writer gives a slot, at any time: also those that only its next assignments read.
func (t *Table) captured(w executive.Writer, slot string) interval.Interval {
	var all interval.Interval
	for k, e := range t.assigned(w, slot) {
		x := none
		if e != nil {
			x = t.anytime().Evaluate(e, t.scope[slot]).Interval
		}
		if k == 0 {
			all = x
		} else {
			all = all.Join(x)
		}
	}
	return all
}

// none is the value of an entry that has none: a task that reads it stops the run.
var none = interval.Point(math.NaN())

// atStart returns the value of a slot at the start.
func atStart(s *executive.Slot) interval.Interval {
	if s.Empty {
		return none
	}
	return interval.Point(s.Initial)
}

// held returns the values that a slot may hold while no task writes it: its default, and those last written.
func (t *Table) held(i int) []interval.Interval {
	s := &t.m.Program.Slots[i]
	list := []interval.Interval{atStart(s)}
	for _, w := range s.Writers {
		if x := t.captured(w, s.Name); !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// steps is the number of rounds after which the values of slots that still grow are taken to be unbounded.
const steps = 30

// follow finds every value that slots may have: their defaults, and what tasks write, which may depend on slots.
func (t *Table) follow() {
	p := t.m.Program
	t.slots = make([]interval.Interval, len(p.Slots))
	for i, s := range p.Slots {
		t.slots[i] = atStart(&s)
	}
	for round := 0; ; round++ {
		next, same := slices.Clone(t.slots), true
		for i := range p.Slots {
			for _, w := range p.Slots[i].Writers {
				next[i] = next[i].Join(t.captured(w, p.Slots[i].Name))
			}
			if next[i] == t.slots[i] {
				continue
			}
			same = false
			if round >= steps {
				next[i] = next[i].Join(interval.All) // it may be undefined
			}
		}
		if t.slots = next; same {
			return
		}
	}
}

// names returns the meanings of all names, from those of the time and the states, of slots, and of outputs that are
// computed by a program. It keeps them in known.
func (t *Table) names(known map[string]interval.Value, variable func(name string) interval.Value,
	slotted, programmed func(i int, n interval.Names) interval.Value,
) interval.Names {
	var n interval.Names
	n = interval.Names{Scope: t.scope, Value: func(name string) interval.Value {
		if v, ok := known[name]; ok {
			return v
		}
		var v interval.Value
		switch d := t.signals[name]; {
		case d.kind == clock, d.kind == state:
			v = variable(name)
		case d.kind == slot:
			v = slotted(d.index, n)
		case d.value != nil:
			v = n.Evaluate(d.value, t.scope[name])
		default:
			v = programmed(d.index, n)
		}
		known[name] = v
		return v
	}}
	return n
}

// anything is the value of an output of which nothing is known.
func anything(int, interval.Names) interval.Value { return interval.Constant(interval.All) }

// anytime returns the meanings of names when nothing is known but the ranges.
func (t *Table) anytime() interval.Names { return t.within(nil) }

// within returns the meanings of names where some variables are in the given ranges.
func (t *Table) within(in map[string]interval.Interval) interval.Names {
	return t.names(map[string]interval.Value{},
		func(name string) interval.Value {
			x := t.ranges[name]
			if limit, limited := in[name]; limited {
				if both, ok := x.Meet(limit); ok {
					x = both
				}
			}
			return interval.Constant(x)
		},
		func(i int, _ interval.Names) interval.Value { return interval.Constant(t.slots[i]) }, anything)
}

// setting is what gives slots their values, for one of their sources each, or one of several: those that are numbers in
// an interval are variables, beside the time and the states.
type setting struct {
	t         *Table
	variables []string       // the time and states: the first
	place     map[string]int // of these, among the variables
	box       []interval.Interval
	sources   map[int][]source
	variable  map[int][]int // by slot and source: the variable; -1: none
}

// in returns the meanings of names with the variables in a box.
func (s *setting) in(box []interval.Interval) interval.Names {
	return s.t.names(map[string]interval.Value{}, func(name string) interval.Value {
		if i, ok := s.place[name]; ok {
			return interval.Variable(box[i], i, len(box))
		}
		return interval.Constant(s.t.ranges[name])
	}, func(i int, n interval.Names) interval.Value {
		var v interval.Value
		for k, x := range s.sources[i] {
			one := interval.Constant(x.frozen)
			switch at := s.variable[i][k]; {
			case x.value != nil:
				one = n.Evaluate(x.value, s.t.scope[s.t.m.Program.Slots[i].Name])
			case at >= 0:
				one = interval.Variable(box[at], at, len(box))
			}
			if k == 0 {
				v = one
			} else {
				v = v.Or(one)
			}
		}
		if len(s.sources[i]) == 0 { // not in the cone of what is asked: read by a fact
			return interval.Constant(s.t.slots[i])
		}
		return v
	}, anything)
}
