package simulated

import (
	"math"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/run/record"
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
		m := equationsMission(t, strings.Replace(reaction, "TOLERANCE", tolerance, 1), `<Condition name="never" on="y3 gt 2"/>`,
			"horizon: 4000000 [s]\nrecord: {interval: 1000, signals: [y1, y2, y3]}\n")
		_, l := flown(t, m)
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
	_, l := flown(t, m)
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
