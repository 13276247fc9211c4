package simulated

import (
	"math"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
)

// equationsMission reads a mission of a vehicle given as equations, whose plan has the given body.
func equationsMission(t testing.TB, vehicle, body, yaml string, set ...string) *mission.Mission {
	t.Helper()
	files := cart.Files{"m/test.yaml": "mission: test\nplan: plan.xml\nvehicle: v.vehicle.yaml\n" + yaml,
		"m/plan.xml": cart.Plan(body), "m/v.vehicle.yaml": vehicle}
	m := read(t, "m/test.yaml", files.Open, nil, set)
	return m
}

// idle is a plan that does nothing.
const idle = `<Action name="idle"/>`

// An output that only the record reads costs no event; the record has its exact values.
func TestRecordedKinksCostNothing(t *testing.T) {
	m := equationsMission(t, `
states: {x: {derivative: "cos(t / 1 [s]) * 1 [1/s]", tolerance: 1e-9}}
outputs: {size: {value: "abs(x)"}, sense: {value: "if(x ge 0, 1, -1)"}}
`, idle, "horizon: 20\nrecord: {interval: 1}\ntolerance: 1e-9\n")
	r, l := flown(t, m)
	if n := r.Summary().StateEvents; n != 0 {
		t.Errorf("%d state events", n)
	}
	for i, x := range l.column(m, "x") {
		if size, sense := l.column(m, "size")[i], l.column(m, "sense")[i]; size != math.Abs(x) || sense*x < 0 {
			t.Errorf("at %g s: x %g, size %g, sense %g", l.times[i], x, size, sense)
		}
	}
}
