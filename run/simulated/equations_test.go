package simulated

import (
	"reflect"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// A vehicle written as equations flies like the same one in Go: the same log, bit for bit.
func TestEquationsFlyLikeGo(t *testing.T) {
	const body = `<ReactiveFallback>
		<ReactiveSequence name="back"><Condition name="far" on="x ge 20 [m]" off="x lt 5 [m]"/>
			<Action name="return" write="v := -0.05 [1/s] * nearly; gear := 2" exit="gear := 3"/></ReactiveSequence>
		<Action name="go" write="v := 2 [m/s] * T / 300 [K]"/></ReactiveFallback>`
	files := cart.Files{"m/test.yaml": cart.Head, "m/plan.xml": cart.Plan(body), "m/sub/cart.vehicle.yaml": cart.Equations}
	inGo := read(t, "m/test.yaml", files.Open, model.Offers(cart.Vehicle), nil)
	files["m/test.yaml"] = strings.Replace(cart.Head, "vehicle: cart", "vehicle: sub/cart.vehicle.yaml", 1)
	written := read(t, "m/test.yaml", files.Open, nil, []string{"tau=100"})
	_, want := flown(t, inGo)
	run, got := flown(t, written)
	if len(want.events) < 4 || !reflect.DeepEqual(got, want) {
		t.Errorf("equations give\n%v\nGo gives\n%v", got, want)
	}
	if a := run.Header().Attachments; string(a[len(a)-1].Data) != cart.Equations {
		t.Errorf("the log does not hold the equations, but %q", a)
	}
}
