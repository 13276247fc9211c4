package driver

import (
	"context"
	"math"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/run/flight"
)

// The distance from the target follows what is wanted at once. A plan whose targets take turns because of it ends, and
// the vehicle is left in a hold: the loop of the flight goes on.
func TestTargetsThatTakeTurns(t *testing.T) {
	m := planeMission(t, `<Sequence>
  <Action name="prepare" done="ready gt 0.5 and home_known gt 0.5"/>
  <Action name="take_off" entry="arm := 1; wanted_mode := 7; target_h := 80 [m]" done="h ge 75 [m]"/>
  <ReactiveFallback>
    <ReactiveSequence>
      <Condition name="is_near" on="target_distance lt 1500 [m]"/>
      <Action name="far" write="wanted_mode := 3; target_north := 5000 [m]"/>
    </ReactiveSequence>
    <Action name="near" write="wanted_mode := 3; target_north := 100 [m]"/>
  </ReactiveFallback>
</Sequence>`, "")
	f := newFlight(t, m, flight.Options{Arm: true})
	mode := math.NaN()
	v := fake.New(fake.Options{Observe: func(r fake.Received) {
		if r.ID == 176 {
			mode = r.Params[1]
		}
	}})
	d := New(f, newWire(v), Options{})
	d.Attach(&page{names: make([]string, m.Plan.Tree.Len())})
	err := d.Fly(context.Background(), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "chattering") || mode != 12 {
		t.Errorf("%v; the last mode that was commanded is %v, want 12, loiter", err, mode)
	}
}
