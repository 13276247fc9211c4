package simulated

import (
	"math"
	"strings"
	"testing"

	"canopy/document/mission"
	"canopy/internal/cart"
	"canopy/run/record"
)

// reaction is Robertson's (ode: TestRobertsonAtDefaultTolerances), whose second species is never above 4e-5.
const reaction = `
vehicle: reaction
states:
  y1: {initial: 1, derivative: "-0.04 [1/s] * y1 + 1e4 [1/s] * y2 * y3"}
  y2: {TOLERANCE derivative: "0.04 [1/s] * y1 - 1e4 [1/s] * y2 * y3 - 3e7 [1/s] * y2 * y2"}
  y3: {derivative: "3e7 [1/s] * y2 * y2"}
`

// Without a declared tolerance, a small state is as exact as others; with one that is too large, the log warns.
func TestToleranceOfASmallState(t *testing.T) {
	fly := func(tolerance string) (warnings, y1 float64) {
		files := cart.Files{
			"m.yaml": "plan: p.xml\nvehicle: v.yaml\nhorizon: 4000000 [s]\nrecord: {interval: 1000, signals: [y1, y2, y3]}\n",
			"p.xml":  cart.Plan(`<Condition name="never" on="y3 gt 2"/>`),
			"v.yaml": strings.Replace(reaction, "TOLERANCE", tolerance, 1),
		}
		m, diags := mission.Read("m.yaml", files.Open, nil, nil)
		if m == nil {
			t.Fatal(diags)
		}
		_, l, err := fly(t, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range l.events {
			if e.Kind == record.KindTolerance {
				if !strings.Contains(e.Text, "y2") {
					t.Error(e.Text)
				}
				warnings++
			}
		}
		return warnings, l.last(m, "y1")
	}
	warnings, y1 := fly("")
	if want := 5.167e-4; warnings > 0 || math.Abs(y1-want) > 0.001*want {
		t.Errorf("%g warnings, y1 = %g, want none and %g", warnings, y1, want)
	}
	if warnings, _ := fly("tolerance: 1e-5,"); warnings != 1 {
		t.Errorf("%g warnings, want one", warnings)
	}
}

// A solution that leaves the ranges that the equations imply is wrong, and the log warns.
func TestImpliedRangesAreLeft(t *testing.T) {
	vehicle := strings.ReplaceAll(strings.ReplaceAll(reaction, "TOLERANCE ", ""), "{", "{tolerance: 1e-5, ")
	m := equationsMission(t, vehicle, `<Condition name="never" on="y3 gt 2"/>`,
		"horizon: 4e8 [s]\nrecord: {interval: 1000000}\n")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range l.kinds(record.KindTolerance) {
		if strings.Contains(e, "is outside of 0 to 1, which the equations imply") {
			left = append(left, e[:2])
		}
	}
	if strings.Join(left, " ") != "y1 y3" {
		t.Errorf("%v left their ranges", left)
	}
}

// A state without a declared tolerance that has been zero until now has no scale: what rounding makes of it at a kink
// is no departure from its range.
func TestZeroHasNoScale(t *testing.T) {
	const vehicle = `vehicle: follower
states:
  x: {initial: 1, derivative: "1 [1/s] * v"}
  v: {derivative: "-1 [1/s] * x"}
  z: {derivative: "1e3 [1/s] * (abs(v) - z)"}
`
	_, l, err := fly(t, equationsMission(t, vehicle, `<Condition name="never" on="z gt 2"/>`, "horizon: 20 [s]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if left := l.kinds(record.KindTolerance); len(left) > 0 {
		t.Error(left)
	}
}
