package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr/interval"
)

// Assumptions on which rates rest, by their origin.
var rateAssumptions = [...]Assumption{
	declare.Declared: EffectsHold,
	declare.Derived:  {declare.InRanges, true},
}

// rate returns a range of the rate of a signal while a task is active and signals are in the given ranges; ok is false
// if it may change at any rate. While no action is active, only a proved rate counts. The answer in progress rests on
// the origin of the rate.
func (m *Model) rate(task bt.Task, signal string, in map[string]interval.Interval) (r declare.Rate, ok bool) {
	r, ok = m.subject.Rate(task, signal, in)
	if !ok || task == declare.Idle && (r.From != declare.Derived || r.Jumps) {
		return anyRate, false
	}
	m.origins[r.From] = true
	return r, true
}

// rests reports whether a signal is taken to rest where no rate of it is known: unless its rates are derived. One that
// cannot be derived, for want of a range, may be any.
func (m *Model) rests(signal string) bool {
	return slices.ContainsFunc(m.actions(), func(t bt.Task) bool {
		r, known := m.subject.Rate(t, signal, nil)
		return known && r.From != declare.Derived
	})
}

// moving returns the tasks whose rates hold while actions are active.
func moving(active []bt.Task) []bt.Task {
	if len(active) == 0 {
		return []bt.Task{declare.Idle}
	}
	return active
}

// asksRates reports whether the rates of signals matter to a question: some are declared, or conditions read signals of
// a vehicle, or slots that tasks write from them.
func (m *Model) asksRates() bool {
	if m.subject.Rates == nil {
		return len(m.subject.Declared.Effects) > 0
	}
	moves := func(names ...string) bool {
		return !m.ofSources(names) && slices.ContainsFunc(names, func(name string) bool { return name != "t" })
	}
	return slices.ContainsFunc(m.vocab.signals, func(s signal) bool { return moves(s.name) }) ||
		slices.ContainsFunc(m.vocab.inputs, func(in input) bool {
			return in.relation != nil && moves(in.relation.Relation.Names()...)
		})
}

// rateRests returns the assumptions about the rates that were used since the last call.
func (m *Model) rateRests() []Assumption {
	var list []Assumption
	for i, a := range rateAssumptions {
		if m.origins[i] {
			list = append(list, a)
		}
	}
	if len(list) > 0 && m.subject.Slides {
		list = append(list, NoSliding)
	}
	m.origins = [len(rateAssumptions)]bool{}
	return list
}

// askEffects compares declared effects with the rates that are found.
func askEffects(m *Model) []Finding {
	if m.subject.Rates == nil {
		return nil
	}
	var found []Finding
	inside, unknown, missing := 0, 0, map[string]bool{}
	var first declare.Place
	for _, a := range m.actions() {
		for _, signal := range slices.Sorted(maps.Keys(m.subject.Declared.Effects[a])) {
			declared := m.subject.Declared.Effects[a][signal]
			r, ok := m.subject.Rates.Rate(a, signal, nil)
			switch {
			case !ok:
				if unknown++; unknown == 1 {
					first = declared.Place
				}
				for _, name := range m.subject.Rates.Missing(a, signal) {
					missing[name] = true
				}
			case contains(declared, r):
				inside++
			default:
				found = append(found, m.effectFinding(a, signal, declared, r))
			}
		}
	}
	if inside > 0 {
		found = append(found, Finding{Verdict: Proved, Assumes: []Assumption{rateAssumptions[declare.Derived]},
			Text: fmt.Sprintf("the declared effects contain the derived rates: %d of %d", inside, len(found)+unknown+inside)})
	}
	if unknown > 0 {
		f := Finding{Verdict: Undecided, Place: first,
			Text:   fmt.Sprintf("not concluded whether %d declared effects hold: no rates are found", unknown),
			Advice: "every run checks them"}
		if names := slices.Sorted(maps.Keys(missing)); len(names) > 5 {
			f.Advice = fmt.Sprintf("%d signals that matter have no range, see `--effects --json`; %s", len(names), f.Advice)
		} else if len(names) > 0 {
			f.Advice = "declare facts that limit " + strings.Join(names, ", ") + "; " + f.Advice
		}
		found = append(found, f)
	}
	return found
}

// contains reports whether a declared range contains another one, apart from errors of rounding.
func contains(declared, r declare.Rate) bool {
	slack := 1e-9 * max(math.Abs(declared.Low), math.Abs(declared.High))
	if math.IsInf(slack, 0) { // an open end has no size
		slack = 0
	}
	return declared.Low <= r.Low+slack && r.High-slack <= declared.High
}

// effectFinding reports a declared effect that the rates found contradict or exceed.
func (m *Model) effectFinding(a bt.Task, signal string, declared, r declare.Rate) Finding {
	f := Finding{Tasks: []bt.Task{a}, About: signal, Place: declared.Place}
	f.Text = fmt.Sprintf("while %s is active, the rate of %s is declared as %s, %s as [%s, %s]", m.tree.Name(a), signal,
		declared, r.From, diag.Number(r.Low, 4), diag.Number(r.High, 4))
	switch {
	case r.Low > declared.High, r.High < declared.Low:
		f.Verdict, f.Advice = Refuted, "omit the effect, or correct it"
		f.Assumes = []Assumption{rateAssumptions[r.From]}
	default:
		f.Verdict, f.Text = Undecided, "assumed, not proved: "+f.Text
		f.Advice = "omit the effect if the other one serves, or limit the states by facts; every run checks it"
	}
	return f
}
