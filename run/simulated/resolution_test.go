package simulated

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// A condition that needs more than the tolerance given gets it: an oscillation of 1 m about 1e6 m is seen, and a set
// point that is only approached is never reached, at any tolerance.
func TestToleranceFollowsConditions(t *testing.T) {
	plan := func(on string) string {
		return fmt.Sprintf(`<ReactiveSequence><Condition name="c" on="%s"/><Action name="a"/></ReactiveSequence>`, on)
	}
	for _, c := range []struct {
		name, states, on string
		horizon          float64
		changes          []float64 // nil: a change each half turn
	}{
		{"far away", `x: {initial: 1000001, derivative: "v * 1 [1/s]"}, v: {initial: 0, derivative: "(1000000 - x) * 1 [1/s]"}`,
			"x ge 1000000", 60, nil},
		{"function far away", `x: {initial: 1000001, derivative: "v * 1 [1/s]"}, v: {initial: 0, derivative: "(1000000 - x) * 1 [1/s]"}`,
			"2 * x ge 2000000", 60, nil},
		{"set point", `x: {initial: 0, derivative: "(1 - x) / 10 [s]"}`, "x ge 1", 1000, []float64{}},
		{"set point of a lag", `v: {initial: 0, derivative: "(1 - v) / 10 [s]"}, x: {initial: 0, derivative: "(v - x) / 7 [s]"}`,
			"x ge 1", 1000, []float64{}},
		{"empty tank", `x: {initial: 1, derivative: "-x / 20 [s]"}`, "x le 0", 2000, []float64{}},
		{"tank that empties", `x: {initial: 1, derivative: "-sqrt(max(x, 0)) / 20 [s]"}`, "x le 0.01", 39, []float64{36}},
		{"square", `x: {initial: 4, derivative: "-2 / 1 [s]"}`, "(x - 1)^2 le 0.000001", 3, []float64{1.4995, 1.5005}},
	} {
		for _, tolerance := range []float64{1e-3, 1e-4, 1e-6, 1e-9} {
			m := equationsMission(t, "\nstates: {"+c.states+"}\n", plan(c.on),
				fmt.Sprintf("horizon: %g\ntolerance: %g\nrecord: {interval: 100}\n", c.horizon, tolerance))
			_, l := flown(t, m)
			got := l.changes(m, "c")
			for k := 0.0; c.changes == nil && k < 19; k++ {
				if int(k) >= len(got) || math.Abs(got[int(k)]-(k+0.5)*math.Pi) > 60*tolerance {
					t.Errorf("%s at %g: %v", c.name, tolerance, got)
					break
				}
			}
			if c.changes != nil {
				near(t, fmt.Sprintf("%s at %g", c.name, tolerance), got, 400*tolerance+1e-9, c.changes...)
			}
		}
	}
}

// Conditions that stay away cost next to nothing: bounds over boxes of states hold over many steps.
func TestDistantConditionsCostLittle(t *testing.T) {
	var distances strings.Builder
	const count = 100
	for k := range count {
		fmt.Fprintf(&distances, `<ReactiveFallback><Condition name="c%d" on="sqrt((x - %.0f [m])^2 + (y - %.0f [m])^2) le 60 [m]"/>`+
			`<Action name="b%d"/></ReactiveFallback>`, k, 900*math.Sin(float64(k)*1.7), 900*math.Cos(float64(k)*2.3), k)
	}
	m := circuitMission(t, []string{`<ReactiveSequence name="circuit">`,
		`<ReactiveParallel success_count="-1" failure_count="-1">` + distances.String() + `<ReactiveSequence name="circuit">`,
		"</ReactiveSequence>\n  </BehaviorTree>\n\n  <BehaviorTree ID=\"round\">",
		"</ReactiveSequence></ReactiveParallel>\n  </BehaviorTree>\n\n  <BehaviorTree ID=\"round\">"})
	w, r := start(t, m)
	roundTrips(t, r)
	s := w.sim.Stats()
	t.Logf("%+v", s)
	if s.Steps < 500 || s.Enclosures > count*s.Steps/6 {
		t.Errorf("%d bounds of %d conditions in %d steps", s.Enclosures, count, s.Steps)
	}
}
