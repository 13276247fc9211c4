package mission

import (
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/sim"
	"github.com/canopy-uav/canopy/temporal"
	"github.com/canopy-uav/canopy/vehicle/equations"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// WithPlan returns the mission with another plan, the document of one, which is read against the mission's signals, and
// without its state graph. The mission is nil if the list has errors.
func (m *Mission) WithPlan(src *diag.Source) (*Mission, diag.List) {
	return m.with(plan.Read(src, m.Vocabulary()))
}

// WithPlanWithin is WithPlan for a plan that has at most a number of tasks, as [plan.ReadWithin].
func (m *Mission) WithPlanWithin(src *diag.Source, tasks int) (*Mission, diag.List) {
	return m.with(plan.ReadWithin(src, m.Vocabulary(), tasks))
}

func (m *Mission) with(p *plan.Plan, diags diag.List) (*Mission, diag.List) {
	if p == nil {
		return nil, diags
	}
	n := *m
	n.Graph, n.Plan = nil, p
	if unexplained := n.Plan.Unexplained(m.Vocabulary()); len(unexplained) > 0 {
		return nil, append(diags, unexplained...)
	}
	b := n.builder(m)
	b.Diags = diags
	n.Record = slices.DeleteFunc(slices.Clone(m.Record), func(name string) bool { _, ok := b.names[name]; return !ok })
	if b.compile(); b.Diags.HasErrors() {
		return nil, b.Diags
	}
	return &n, b.Diags
}

// Exchange returns the change from the mission's plan to that of the mission with another plan.
func (m *Mission) Exchange(next *Mission) *bt.Exchange {
	return bt.NewExchange(m.Plan.Tree, next.Plan.Tree, plan.Same(m.Plan, next.Plan))
}

// From returns the mission with the numbered states starting at the given values, in SI units, recording the named
// signals at the interval [s]. Neither is checked against what Read would accept.
func (m *Mission) From(states []int, values []float64, record []string, interval float64) *Mission {
	n := *m
	n.initial = append([]initialValue(nil), m.initial...)
	for i, s := range states {
		n.initial = append(n.initial, startsAt(s, values[i]))
	}
	n.Record, n.Plots, n.Interval = record, nil, interval
	return &n
}

// Watch returns what is judged on every run of the mission.
func (m *Mission) Watch() temporal.Watch {
	return m.Declared.Watch(m.Plan.Tree, m.computed, slices.ContainsFunc(m.Vehicle.States, func(s model.State) bool {
		return s.Range.String() != ""
	}), m.Chattering == sim.Continue)
}

// Judging returns the mission that can be judged on its runs: it also records the signals that a watch reads, and those
// behind computed ones, attends to the tasks, and has the relations of the watch as events. The time is in all records.
func (m *Mission) Judging(w temporal.Watch) *Mission {
	n := m.judging(w)
	if len(n.judges) > len(m.judges) {
		n.builder(m).compile()
	}
	return n
}

// Condition compiles a condition whose relations are those of the plan, or of what is judged.
func (m *Mission) Condition(e *expr.Expr) *expr.Code {
	return m.compiler.Clone().CompileFor(e, expr.Variable{Type: expr.Boolean})
}

// AtOnce compiles a condition over the signals of the mission, whose relations are judged when it is.
func (m *Mission) AtOnce(e *expr.Expr) *expr.Code {
	return m.compiler.Clone().CompileAtOnce(e, expr.Variable{Type: expr.Boolean})
}

// judging is Judging before the relations are compiled.
func (m *Mission) judging(w temporal.Watch) *Mission {
	n := *m
	n.Record, n.judged, n.judges = slices.Clone(m.Record), slices.Clone(m.judged), slices.Clone(m.judges)
	isTask := func(name string) bool {
		_, ok := m.Plan.Tree.Find(name)
		return ok
	}
	for _, a := range w.Assertions {
		if a.Formula == nil {
			continue
		}
		a.Formula.Conditions(func(e *expr.Expr) {
			e = e.Judged(isTask)
			same := func(o *expr.Expr) bool { return o.String() == e.String() }
			if len(e.Names()) > 0 && !slices.ContainsFunc(n.judges, same) {
				n.judges = append(n.judges, e)
			}
		})
	}
	long := w.Expanded(func(string) bool { return true })
	for _, a := range slices.Concat(w.Assertions, long.Assertions) {
		for _, name := range a.Names() {
			if !slices.Contains(n.judged, name) {
				n.judged = append(n.judged, name)
			}
			known := slices.IndexFunc(m.signals, func(s signal) bool { return s.name == name })
			if known > 0 && !slices.Contains(n.Record, name) { // the first is the time
				n.Record = append(n.Record, name)
			}
		}
	}
	return &n
}

// Initial returns the states at the start, in SI units: where the vehicle puts them, or the mission.
func (m *Mission) Initial(vehicle model.Instance) []float64 {
	y := make([]float64, len(m.Vehicle.States))
	vehicle.Initial(y)
	for _, v := range m.initial {
		y[v.state] = v.value
	}
	return y
}

// Starts returns the ranges, in SI units, in which the states start in the runs that proofs are about: those of the
// mission, or where the vehicle puts them.
func (m *Mission) Starts(vehicle model.Instance) []interval.Interval {
	starts := make([]interval.Interval, len(m.Vehicle.States))
	for i, y := range m.Initial(vehicle) {
		starts[i] = interval.Point(y)
	}
	for _, v := range m.initial {
		starts[v.state] = v.among
	}
	return starts
}

// corners is how many states with ranges are varied by themselves at the corners of their ranges.
const corners = 3

// Corner returns the mission with each state that starts in a range at its least or its greatest value, and these as
// the mission writes them; ok is false if it has no such corner. The first corner has the least values. Of many states,
// each varies together with others.
func (m *Mission) Corner(k int) (n *Mission, start string, ok bool) {
	c := *m
	c.initial = slices.Clone(m.initial)
	var values []string
	for i := range c.initial {
		v := &c.initial[i]
		if v.among.Low == v.among.High {
			continue
		}
		if v.value = v.among.Low; k>>(len(values)%corners)&1 == 1 {
			v.value = v.among.High
		}
		values = append(values, m.Vehicle.States[v.state].Name+": "+diag.Number(v.value, -1))
	}
	return &c, "initial: {" + strings.Join(values, ", ") + "}", len(values) > 0 && k < 1<<min(len(values), corners)
}

// Implied returns, by state, the range that the equations of the vehicle imply for the mission's start; nil: nothing is
// known of the vehicle's equations.
func (m *Mission) Implied() []model.Range {
	if m.Equations == nil {
		return nil
	}
	vehicle, err := m.Vehicle.New(m.Parameters)
	if err != nil {
		return nil // no run of the mission can start
	}
	return equations.Implied(vehicle, m.Initial(vehicle))
}

// Holds reports whether a signal is a slot that keeps its last value while no task writes it.
func (m *Mission) Holds(signal string) bool {
	return slices.ContainsFunc(m.slots, func(s executive.Slot) bool { return s.Name == signal && s.Hold })
}

// Attended returns, by task, whether it is judged at all times, heard or not: a condition that an assertion names, a
// leaf with a relation that assertions may need, because they read all its signals, and the tasks above these.
func (m *Mission) Attended() []bool {
	tree := m.Plan.Tree
	attended := make([]bool, tree.Len())
	attend := func(t bt.Task) {
		for ; t >= 0 && !attended[t]; t = tree.Parent(t) {
			attended[t] = true
		}
	}
	other := func(signal int) bool { return !slices.Contains(m.judged, m.signals[signal].name) }
	needed := func(indicator int) bool { return !slices.ContainsFunc(m.Program.Indicators[indicator].Reads(), other) }
	for _, l := range m.Program.Leaves {
		if l.Condition && slices.Contains(m.judged, tree.Name(l.Task)) {
			attend(l.Task)
		}
		for _, code := range l.Formulas {
			if code != nil && slices.ContainsFunc(code.Indicators(), needed) {
				attend(l.Task)
			}
		}
	}
	return attended
}

// Texts returns the texts that signals have as numbers, by number.
func (m *Mission) Texts() []string { return m.texts }

// WithTexts returns the mission for [Mission.WithPlan], whose plan then gives these texts their numbers, as after the
// plans that have had them.
func (m *Mission) WithTexts(texts []string) *Mission {
	n := *m
	n.texts = texts
	return &n
}
