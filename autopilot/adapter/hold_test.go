package adapter_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// TestHoldsItsHeight checks that a vehicle that is told to loiter keeps its height for a minute, wherever the pilot's
// throttle stick is, whatever it did before, and however often it was told otherwise. LOITER of an ArduCopter does not:
// it obeys the stick, whose place in the simulation is the lowest.
func TestHoldsItsHeight(t *testing.T) {
	each(t, func(t *testing.T, begin func() *flown) {
		for seed := range few(4) {
			f := begin()
			r := rand.New(rand.NewPCG(seed, 23))
			within := 1.0
			if f.contract == contract.Plane {
				within = 8 // it is commanded while it climbs, and settles
			}
			f.takeOff()
			for range 3 {
				stick := float64(1000 + 500*r.IntN(3))
				f.vehicle.Inject(fake.Event{Kind: fake.Throttle, Value: stick})
				before := []string{"guided", "rtl", "loiter"}[r.IntN(3)]
				f.mode(before)
				f.set("target_h", 50+20*r.Float64())
				f.set("target_north", 600*r.Float64()-300)
				f.pass(int64(1+r.IntN(8))*sec, nil)
				f.mode("loiter")
				f.run(10*sec, func() bool { return f.in("loiter") })
				f.pass(6*sec, nil)
				start := f.vehicle.State()
				f.pass(60*sec, nil)
				if s := f.vehicle.State(); !s.Flying || math.Abs(s.Height-start.Height) > within {
					t.Fatalf("seed %d: throttle stick at %g, after %s: from %.1f m to %.1f m in a minute\n%s", seed, stick, before,
						start.Height, s.Height, f.log.String())
				}
			}
		}
	})
}
