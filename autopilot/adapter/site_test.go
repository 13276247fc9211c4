package adapter_test

import (
	"math"
	"testing"

	"github.com/canopy-uav/canopy/vehicle/contract"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// Where a mission sets its site, its positions count from there, although the vehicle estimates home elsewhere: the
// fence, the rally points and the targets stay at their places on the earth.
func TestPlacesStayOnTheEarth(t *testing.T) {
	home := earth.NewPlane(earth.Position{Lat: 48.0814, Lon: 11.2831})
	site := home.Global(25, -30)
	each(t, func(t *testing.T, fly func() *flown) {
		f := fly()
		f.vehicle.Set("GF_ACTION", 3)
		limits := func(north, east float64) (earth.Fence, []earth.Refuge) {
			at := func(n, e float64) earth.Coordinates { return earth.Coordinates{North: n + north, East: e + east} }
			return earth.Fence{Areas: []earth.Area{{Corners: []earth.Coordinates{at(-900, -900), at(-900, 900), at(900, 900), at(900, -900)}}}},
				[]earth.Refuge{{Coordinates: at(10, 20), H: 30}}
		}
		f.options.Site = &site
		f.attach(limits(0, 0))
		if f.lists != 2 {
			t.Fatalf("%d lists are written, not 2", f.lists)
		}
		f.options.Site = nil
		if log := f.attach(limits(25, -30)); f.lists != 0 {
			t.Errorf("in metres from home, the vehicle has others:\n%s", log)
		}
		f.options.Site = &site
		f.attach(limits(0, 0))
		f.takeOff()
		target := earth.NewPlane(site).Global(150, 100)
		f.set("target_north", 150)
		f.set("target_east", 100)
		f.mode("guided")
		f.run(300e9, func() bool { return f.signals["reached"] == 1 })
		north, east := earth.NewPlane(target).Local(earth.Position{Lat: f.signals["lat"] * 180 / math.Pi, Lon: f.signals["lon"] * 180 / math.Pi})
		within := 4.0
		if f.contract == contract.Plane { // it circles the target
			within = 110
		}
		if d := math.Hypot(north, east); d > within {
			t.Errorf("the target is reached %.1f m away", d)
		}
	})
}
