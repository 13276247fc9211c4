package declare

import (
	"maps"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/temporal"
)

// Proofs that rest on assumptions: the questions whose answers use facts, and effects.
var (
	onFacts   = slices.DeleteFunc(Questions(), func(q string) bool { return q == "reaction" })
	onEffects = []string{"reach", "regression", "property", "chatter"}
	onMotion  = []string{"reach", "regression", "property"}
)

// Assumptions of proofs that no author declares.
const (
	InRanges  = "the states stay in their ranges"
	NoSliding = "the motion does not slide"
)

// Watch returns what is judged on the runs of a mission with computed signals. Proofs may assume the ranges of the
// vehicle's states, if it is known to have some, and where the motion may slide, that it does not.
func (d *Declarations) Watch(tree *bt.Tree, computed map[string]*expr.Expr, ranges, slides bool) temporal.Watch {
	list := d.assertions(tree)
	asked := len(list) > 0 || d.Goal != nil
	if ranges || asked {
		list = append(list, temporal.Assertion{Kind: temporal.OfRange, Text: InRanges, Proofs: onEffects})
	}
	if slides && asked {
		list = append(list, temporal.Assertion{Kind: temporal.OfSliding, Text: NoSliding, Proofs: onMotion})
	}
	return temporal.Watch{Assertions: list, Computed: computed}
}

// Watch returns the assumption that the rate of a signal is in the range while a task is active.
func (r Rate) Watch(task, signal string) temporal.Assertion {
	return temporal.Assertion{Kind: temporal.OfEffect, Text: task + ": " + signal + " " + r.String(), Proofs: onEffects,
		Effect: temporal.Effect{Task: task, Signal: signal, Low: r.Low, High: r.High}}
}

// Reached returns the assertion that a run comes to a goal.
func (s Statement) Reached() temporal.Assertion {
	return temporal.Assertion{Text: "eventually (" + s.Text + ")", Formula: temporal.Eventually(s.Parts)}
}

// Computed returns the real signals that a mission document gives as expressions of others; signals may be nil.
func Computed(signals *yamldoc.Node) map[string]*expr.Expr {
	list := map[string]*expr.Expr{}
	if signals == nil {
		return list
	}
	for i, key := range signals.Keys {
		value, typ := signals.Items[i].Entry("value"), signals.Items[i].Entry("type")
		if value == nil || typ != nil && typ.Value != expr.Real.Name() {
			continue
		}
		if e, err := expr.Parse(value.Value); err == nil {
			list[key.Value] = e
		}
	}
	return list
}

// assertions returns what a run can contradict, about a tree: the properties and the statements that must hold in every
// state, then the facts and the effects that proofs assume.
func (d *Declarations) assertions(tree *bt.Tree) []temporal.Assertion {
	var list []temporal.Assertion
	for _, s := range d.Always {
		list = append(list, temporal.Assertion{Text: "always (" + s.Text + ")", Formula: temporal.Invariant(s.Parts)})
	}
	for _, p := range d.Properties {
		list = append(list, temporal.Assertion{Text: p.Text, Formula: p.Formula})
	}
	for _, s := range d.Facts {
		list = append(list, temporal.Assertion{Kind: temporal.OfFact, Text: s.Text, Formula: temporal.Invariant(s.Parts),
			Proofs: onFacts})
	}
	for _, t := range slices.Sorted(maps.Keys(d.Effects)) {
		rates := d.Effects[t]
		for _, signal := range slices.Sorted(maps.Keys(rates)) {
			list = append(list, rates[signal].Watch(tree.Name(t), signal))
		}
	}
	return list
}

// String writes the rate as in a document.
func (r Rate) String() string {
	switch {
	case r.Low == math.SmallestNonzeroFloat64 && math.IsInf(r.High, 1):
		return "up"
	case math.IsInf(r.Low, -1) && r.High == -math.SmallestNonzeroFloat64:
		return "down"
	}
	return "[" + diag.Number(r.Low, -1) + ", " + diag.Number(r.High, -1) + "]"
}

// ReadSection reads from a mission document, of which a run has recorded signals, what is judged on the run.
func ReadSection(src *diag.Source, p *plan.Plan, recorded expr.Scope) (Declarations, diag.List) {
	d := &declarer{Reader: yamldoc.NewReader(src), plan: p, scope: recorded}
	if n := d.Parse("").Entry("check"); n != nil {
		entries := d.entries()
		entries["goal"] = func(*yamldoc.Node) { d.d.Goal = &Statement{} } // its signals need not be recorded
		d.Fields(n, "check", entries)
	}
	return d.d, d.Diags
}
