package simulated

import (
	"math"
	"testing"
)

// A condition on the other side of a pole changes there, also where the states lie exactly on it. One that is undefined
// beyond ends the run with its name.
func TestPolesAreCrossed(t *testing.T) {
	states := "\nstates: {x: {initial: -1, derivative: \"0.125 [1/s]\"}}\n"
	for on, want := range map[string][]float64{
		"1 / x ge 2": {8, 12}, "1 / x^2 ge 4": {4, 12}, "tan(x) ge 1": {8 * (1 + math.Pi/4)}, "x / x ge 2": {},
		"1 / (x - 1 / 3) le 30": {8 * (1 + 1./3), 8 * (1 + 1./3 + 1./30)}, "x / abs(x) ge 0": {8},
		"(x^2 - 1) / (x - 1) ge 1.5": {12},
	} {
		m := equationsMission(t, states, `<ReactiveSequence><Condition name="c" on="`+on+`"/><Action name="a"/></ReactiveSequence>`, "horizon: 20\nrecord: {interval: 20}\n")
		_, l, err := fly(t, m)
		if err != nil {
			t.Error(on, err)
			continue
		}
		near(t, on, l.changes(m, "c"), 1e-9, want...)
	}
	m := equationsMission(t, states, `<Condition name="c" on="sqrt(-x) le -1"/>`, "horizon: 20\nrecord: {interval: 20}\n")
	if _, _, err := fly(t, m); err == nil {
		t.Error("beyond the end of the domain the run goes on")
	} else {
		contains(t, "the error", err.Error(), "sqrt(-x)", "t = 8")
	}
}
