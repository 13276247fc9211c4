package simulated

import (
	"strings"
	"testing"

	"canopy/document/mission"
	"canopy/internal/cart"
)

// An altitude that a critically damped controller captures never reaches its set point: no event, and one line of the
// log that tells why the plan waits. A limit below it is reached.
func TestTouchIsReported(t *testing.T) {
	const vehicle = `vehicle: v
states:
  h: {unit: m, initial: 500, derivative: w}
  w: {unit: m/s, derivative: "(h_cmd - h) / 400 [s^2] - w / 10 [s]"}
commands: {h_cmd: {unit: m}}
`
	const plan = `<Sequence><Action ID="climb" write="h_cmd := 1000 [m]" done="h ge 999 [m]"/>` +
		`<Action ID="hold" write="h_cmd := 1000 [m]" done="h ge 1000 [m]"/></Sequence>`
	for _, method := range []string{"multistep", "auto", "explicit"} {
		f := cart.Files{"m/plan.xml": cart.Plan(plan), "m/v.yaml": vehicle,
			"m/test.yaml": "mission: m\nplan: plan.xml\nvehicle: v.yaml\nhorizon: 86400\nmethod: " + method + "\n"}
		m, diags := mission.Read("m/test.yaml", f.Open, nil, nil)
		if m == nil {
			t.Fatal(diags)
		}
		r, l, err := fly(t, m)
		if err != nil || r.Summary().StateEvents != 1 {
			t.Errorf("%s: %v, %d events: %v", method, err, r.Summary().StateEvents, l.events)
		}
		touches := l.kinds("touch")
		if len(touches) != 1 || !strings.HasPrefix(touches[0], "h >= 1000 [m] stays false: ") {
			t.Errorf("%s: %q", method, touches)
		}
	}
}
