package mission

import (
	"reflect"
	"strings"
	"testing"

	"canopy/vehicle/model"
)

// A vehicle written as equations flies like the same one in Go: the same log, bit for bit.
func TestEquationsFlyLikeGo(t *testing.T) {
	const body = `<ReactiveFallback>
		<ReactiveSequence name="back"><Condition name="far" on="x ge 20 [m]" off="x lt 5 [m]"/>
			<Action name="return" write="v := -0.05 [1/s] * nearly; gear := 2" exit="gear := 3"/></ReactiveSequence>
		<Action name="go" write="v := 2 [m/s] * T / 300 [K]"/></ReactiveFallback>`
	files := files{"m/test.yaml": cartHead, "m/plan.xml": planXML(body), "m/sub/cart.vehicle.yaml": cartEquations}
	inGo, diags := Read("m/test.yaml", files.open, []*model.Vehicle{cart}, nil)
	if inGo == nil {
		t.Fatal(diags)
	}
	files["m/test.yaml"] = strings.Replace(cartHead, "vehicle: cart", "vehicle: sub/cart.vehicle.yaml", 1)
	written, diags := Read("m/test.yaml", files.open, nil, []string{"tau=100"})
	if written == nil {
		t.Fatal(diags)
	}
	_, want, err := fly(t, inGo)
	if err != nil {
		t.Fatal(err)
	}
	run, got, err := fly(t, written)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.events) < 4 || !reflect.DeepEqual(got, want) {
		t.Errorf("equations give\n%v\nGo gives\n%v", got, want)
	}
	if a := run.Header().Attachments; string(a[len(a)-1].Data) != cartEquations {
		t.Errorf("the log does not hold the equations, but %q", a)
	}
}

// Mistakes in a vehicle's file come with those of the mission and of the plan.
func TestMistakesOfEquations(t *testing.T) {
	wrong := strings.Replace(cartEquations, "-T / tau", "-T / tua", 1)
	f := files{"m.yaml": "plan: plan.xml\nvehicle: cart.vehicle.yaml\nhorizon: -1", "cart.vehicle.yaml": wrong,
		"plan.xml": planXML(`<Action on="x"/>`)}
	_, diags := Read("m.yaml", f.open, nil, nil)
	contains(t, "the list", diags.Error(), "m.yaml:3:10: error: horizon must be positive", `did you mean "tau"?`,
		"cart.vehicle.yaml:7:47: error: unknown signal", `no attribute "on"`)
	f["m.yaml"] = "plan: plan.xml\nvehicle: crat.vehicle.yaml\nhorizon: 1"
	f["plan.xml"] = planXML(idle)
	_, diags = Read("m.yaml", f.open, nil, nil)
	matches(t, "m.yaml", diags, `m.yaml:2:10 unreadable-file crat relative to the mission file`)
}
