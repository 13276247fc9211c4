// Package rates finds the rates at which a mission's signals change while a task is active.
//
// They are derived from a vehicle's equations: bounds of the derivatives, by interval arithmetic, over the ranges of
// the states and all values that slots may have while the task is active. Of a vehicle that is a program, nothing is
// known. docs/verification.md describes them.
package rates

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/vehicle/equations"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// Table finds the rates of a mission's signals. It implements [declare.Deriver] and keeps what it has found. It is for
// one goroutine.
type Table struct {
	m        *mission.Mission
	vehicle  model.Instance
	formulas equations.Formulas // of a vehicle given as equations
	program  bool               // it is Go code: there are none
	until    float64            // the end of every run that the rates are about [s]

	cascade     bool // see cascades
	evaluations int  // of a rate that is derived, for its bounds in all settings

	scope   expr.Scope
	signals map[string]definition
	ranges  map[string]interval.Interval // of the time, of states, and of signals that facts limit
	facts   []declare.Statement          // over signals alone
	slots   []interval.Interval          // every value that a slot may have
	found   map[key]answer
	matters map[key][]string // the signals that matter, by the names of the limited ones
	cones   map[key]cone     // what signals depend on
}

// definition is what determines the value of a signal.
type definition struct {
	kind  kind
	index int        // of a state, an output or a slot
	value *expr.Expr // of an output of equations, or of a computed signal
}

type kind uint8

const (
	clock    kind = iota // the simulated time
	state                // its derivative
	output               // the vehicle: its equation, or a program
	slot                 // the tasks that write it
	computed             // an expression of other signals
)

// answer is what was found of a rate.
type answer struct {
	rate    declare.Rate
	ok      bool
	missing []string // signals without a range
}

// stopping is the maximum time that exit procedures may take beyond the horizon [s].
const stopping = 3600

// Of returns the table of a mission. The error is that of the vehicle, which does not accept its parameters.
func Of(m *mission.Mission) (*Table, error) {
	until := m.Horizon
	for i := range m.Program.Leaves {
		if _, slow := m.Program.Leaves[i].Slow(); slow {
			until = m.Horizon + stopping
		}
	}
	return upTo(m, until)
}

// Endless returns the mission's table for runs that go on beyond its horizon.
func (t *Table) Endless() *Table {
	e, err := upTo(t.m, math.Inf(1))
	if err != nil {
		panic(err) // the vehicle has accepted its parameters
	}
	return e
}

// upTo returns the table of a mission for runs that end by a time [s].
func upTo(m *mission.Mission, until float64) (*Table, error) {
	vehicle, err := m.Vehicle.New(m.Parameters)
	if err != nil {
		return nil, err
	}
	t := &Table{m: m, vehicle: vehicle, scope: m.Scope(), signals: map[string]definition{},
		ranges: map[string]interval.Interval{}, found: map[key]answer{},
		matters: map[key][]string{}, cones: map[key]cone{}, evaluations: evaluations, until: until}
	var given bool
	t.formulas, given = equations.FormulasOf(vehicle)
	t.program = !given
	maps.Copy(t.scope, m.Tables)
	for name, table := range t.formulas.Tables {
		v := t.scope[name] // a signal of the mission may have the name
		v.Table = table
		t.scope[name] = v
	}
	t.signals["t"] = definition{kind: clock}
	t.ranges["t"] = interval.Between(0, until)
	for i, s := range m.Vehicle.States {
		t.signals[s.Name] = definition{kind: state, index: i}
		t.ranges[s.Name] = interval.Between(s.Range.Bounds())
	}
	for i, o := range m.Vehicle.Outputs {
		d := definition{kind: output, index: i}
		if given {
			d.value = t.formulas.Outputs[i]
		}
		t.signals[o.Name] = d
	}
	for i, s := range m.Program.Slots {
		t.signals[s.Name] = definition{kind: slot, index: i}
	}
	for name, value := range m.Subject().Computed {
		t.signals[name] = definition{kind: computed, value: value}
	}
	t.limit(m.Declared.Facts)
	t.follow()
	t.cascade = t.cascades()
	return t, nil
}

// limit takes the ranges of signals from facts.
func (t *Table) limit(facts []declare.Statement) {
	for _, f := range facts {
		known := func(e *expr.Expr) bool {
			return !slices.ContainsFunc(e.Names(), func(name string) bool { return t.signals[name] == definition{} })
		}
		if slices.ContainsFunc(f.Parts, func(e *expr.Expr) bool { return !known(e) }) {
			continue
		}
		t.facts = append(t.facts, f)
		if len(f.Parts) == 1 {
			t.narrow(f.Parts[0].Logic(nil))
		}
	}
}

// narrow takes limits of signals from a condition that always holds.
func (t *Table) narrow(l expr.Logic) {
	set := func(l *expr.Logic, low, high float64) {
		x, ok := t.ranges[l.Signal]
		if !ok {
			x = interval.All
		}
		if both, ok := x.Meet(interval.Between(low, high)); ok {
			t.ranges[l.Signal] = both
		}
	}
	switch {
	case l.Op == expr.LogicAnd:
		for _, a := range l.Args {
			t.narrow(a)
		}
	case l.Op == expr.LogicThreshold:
		set(&l, l.Limit, math.Inf(1))
	case l.Op == expr.LogicNot && l.Args[0].Op == expr.LogicThreshold:
		set(&l.Args[0], math.Inf(-1), l.Args[0].Limit)
	}
}

// Rate implements [declare.Deriver].
func (t *Table) Rate(task bt.Task, signal string, in map[string]interval.Interval) (declare.Rate, bool) {
	a := t.find(task, signal, in)
	if !a.ok {
		return declare.Rate{Jumps: t.reset(t.coneOfSignal(task, signal))}, false
	}
	return a.rate, true
}

// Resets implements [declare.Deriver].
func (t *Table) Resets(signal string, in map[string]interval.Interval) (to []interval.Interval, ok bool) {
	d := t.signals[signal]
	if t.program || d.kind != state || t.cascade {
		return nil, false
	}
	n := t.within(in)
	for _, r := range t.formulas.Resets {
		if r.State == d.index && n.Truth(r.When).True {
			to = append(to, n.Evaluate(r.Value, r.As).Interval)
		}
	}
	return to, true
}

// cascades reports whether what an event sets may set off another one at the same instant.
func (t *Table) cascades() bool {
	n := t.anytime()
	return slices.ContainsFunc(t.formulas.Resets, func(first equations.Reset) bool {
		name := t.m.Vehicle.States[first.State].Name
		set := t.within(map[string]interval.Interval{name: n.Evaluate(first.Value, first.As).Interval})
		return slices.ContainsFunc(t.formulas.Resets, func(then equations.Reset) bool {
			return slices.Contains(t.coneOf(declare.Idle, then.When).variables, name) && set.Truth(then.When).True
		})
	})
}

// Missing implements [declare.Deriver].
func (t *Table) Missing(task bt.Task, signal string) []string {
	return t.find(task, signal, nil).missing
}

// Row is the rate of a signal while a task is active.
type Row struct {
	Task     bt.Task
	Signal   string
	Declared *declare.Rate // nil: not declared
	Found    declare.Rate  // if Known
	Known    bool
	Missing  []string // signals without a range, for want of which no rate is found, or one without bounds
}

// Rows returns the rates of all real signals that the plan's conditions and the declarations read, for each action.
func (t *Table) Rows() []Row {
	var rows []Row
	signals := t.read()
	for _, task := range t.actions() {
		for _, s := range signals {
			a := t.find(task, s, nil)
			row := Row{Task: task, Signal: s, Found: a.rate, Known: a.ok, Missing: a.missing}
			if r, ok := t.m.Declared.Effects[task][s]; ok {
				row.Declared = &r
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// actions returns the plan's actions in the order of the tree.
func (t *Table) actions() []bt.Task {
	tree := t.m.Plan.Tree
	return slices.DeleteFunc(slices.Clone(tree.Leaves()), func(a bt.Task) bool { return !tree.Kind(a).Acts() })
}

// read returns the real signals that conditions and declarations read, or for which rates are declared, but the time.
func (t *Table) read() []string {
	return slices.DeleteFunc(t.named(), func(name string) bool { return t.scope[name].Type != expr.Real || name == "t" })
}

// named returns all signals that conditions and declarations read, or for which rates are declared.
func (t *Table) named() []string {
	var names []string
	add := func(list ...*expr.Expr) {
		for _, e := range list {
			if e != nil {
				names = append(names, e.Names()...)
			}
		}
	}
	for _, l := range t.m.Plan.Leaves {
		add(l.On, l.Off, l.Done, l.Failed, l.SuccessIf, l.FailureIf, l.EntryUntil, l.ExitUntil)
	}
	if g := t.m.Declared.Goal; g != nil {
		add(g.Parts...)
	}
	for _, list := range [...][]declare.Statement{t.m.Declared.Always, t.m.Declared.Facts} {
		for _, s := range list {
			add(s.Parts...)
		}
	}
	for _, p := range t.m.Declared.Properties {
		p.Formula.Conditions(func(e *expr.Expr) { add(e) })
	}
	for _, rates := range t.m.Declared.Effects {
		for name := range rates {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		_, ok := t.signals[name]
		return !ok
	})
}

// find returns what is known of a rate.
func (t *Table) find(task bt.Task, signal string, in map[string]interval.Interval) answer {
	if v, ok := t.scope[signal]; !ok || v.Type != expr.Real && t.signals[signal].kind != state {
		return answer{}
	}
	in = t.relevant(task, signal, in)
	at := key{task, signal, limitsText(in)}
	a, known := t.found[at]
	if !known && t.closed(task, signal) {
		a = t.derive(task, signal, in)
		a.ok = a.ok && (!math.IsInf(a.rate.Low, -1) || !math.IsInf(a.rate.High, 1))
		t.found[at] = a
	}
	return a
}

// key identifies a rate.
type key struct {
	task   bt.Task
	signal string
	limits string // of signals
}

// limitsText writes limits of signals.
func limitsText(in map[string]interval.Interval) string {
	var text []byte
	for _, name := range slices.Sorted(maps.Keys(in)) {
		text = append(append(text, name...), 0)
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(in[name].Low))
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(in[name].High))
	}
	return string(text)
}

// relevant returns the limits of the signals that matter for a rate: those that it depends on, and those that limits or
// facts relate to these.
func (t *Table) relevant(task bt.Task, signal string, in map[string]interval.Interval) map[string]interval.Interval {
	if len(in) == 0 || !t.closed(task, signal) {
		return nil
	}
	limited := slices.Sorted(maps.Keys(in))
	at := key{task, signal, strings.Join(limited, "\x00")}
	names, known := t.matters[at]
	if !known {
		variables := map[string]bool{}
		join := func(c cone) {
			for _, name := range c.variables {
				variables[name] = true
			}
		}
		join(t.needs(task, signal))
		type tie struct {
			name string // of a limited signal; "": a fact
			cone
		}
		var ties []tie
		for _, name := range limited {
			ties = append(ties, tie{name, t.coneOfSignal(task, name)})
		}
		for _, f := range t.facts {
			ties = append(ties, tie{cone: t.coneOf(task, f.Parts...)})
		}
		for again := true; again; {
			again = false
			ties = slices.DeleteFunc(ties, func(x tie) bool {
				meets := slices.ContainsFunc(x.variables, func(name string) bool { return variables[name] }) ||
					len(x.slots) > 0 || x.outputs
				if meets {
					join(x.cone)
					names, again = append(names, x.name), true
				}
				return meets
			})
		}
		t.matters[at] = names
	}
	less := map[string]interval.Interval{}
	for _, name := range names {
		if x, ok := in[name]; ok {
			less[name] = x
		}
	}
	return less
}
