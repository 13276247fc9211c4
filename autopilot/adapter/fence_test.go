package adapter_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"canopy/autopilot/adapter"
	"canopy/vehicle/earth"
)

// attach attaches a new adapter with other options to the vehicle, and returns its log.
func (f *flown) attach(limits earth.Fence, rally []earth.Refuge) string {
	f.t.Helper()
	f.options.Fence, f.options.Rally = limits, rally
	f.begin()
	f.log.Reset()
	f.lists = 0
	f.run(400*sec, func() bool { return f.Control() == adapter.Ready || f.Control() == adapter.Observing })
	return f.log.String()
}

// areas has all kinds of areas, with a dent, and a height that is the limit of a new ArduPilot.
var areas = earth.Fence{Top: 100, Areas: []earth.Area{
	{Corners: []earth.Coordinates{{North: -600, East: -600}, {North: -600, East: 700}, {North: 100, East: 500}, {North: 700, East: 700},
		{North: 650, East: -600}}},
	{Centre: earth.Coordinates{North: 10, East: 20}, Radius: 900},
	{Forbidden: true, Centre: earth.Coordinates{North: 500, East: -300}, Radius: 40},
	{Forbidden: true, Corners: []earth.Coordinates{{North: 300, East: 300}, {North: 350, East: 300}, {North: 300, East: 350}}},
}}

// The fence and the rally points of a mission reach each kind of vehicle, once: a second attachment finds them, one
// without a fence reads nothing, and one in the air changes nothing.
func TestFenceIsInTheVehicle(t *testing.T) {
	each(t, func(t *testing.T, fly func() *flown) {
		f := fly()
		contains := func(log string, lists int, parts ...string) {
			t.Helper()
			for _, p := range parts {
				if !strings.Contains(log, p) {
					t.Errorf("no %q", p)
				}
			}
			if f.lists != lists || t.Failed() {
				t.Fatalf("%d lists were replaced, not %d\n%s", f.lists, lists, log)
			}
		}
		f.vehicle.Set("FENCE_TYPE", 5)
		f.vehicle.Set("GF_ACTION", 3)
		f.vehicle.Set("GF_MAX_VER_DIST", 100)
		f.options.Unfenced = true // a PX4 keeps one of two areas of inclusion only
		log := f.attach(areas, refuge)
		contains(log, 2, "stored: fence: uploaded, read back and compared (10)", "stored: rally points: uploaded, read back and compared (1)")
		if strings.Contains(log, "FENCE") || strings.Contains(log, "GF_") ||
			strings.Contains(log, "grave: fence") != strings.Contains(log, "attached: PX4") || // two areas of inclusion
			strings.Count(log, "grave: fence") != strings.Count(log, "any area of inclusion") {
			t.Errorf("%s", log)
		}
		if strings.Contains(log, "fence enabled") == strings.Contains(log, "attached: PX4") {
			t.Errorf("the fence of a PX4 is enabled by its action, others by a command:\n%s", log)
		}
		contains(f.attach(areas, refuge), 0, "stored: fence: the vehicle has the same (10)", "stored: rally points: the vehicle has the same (1)")
		if log := f.attach(earth.Fence{}, nil); strings.Contains(log, "stored") || strings.Contains(log, "fence enabled") {
			t.Errorf("a mission without a fence reads one:\n%s", log)
		}
		contains(f.attach(areas, refuge), 0)
		f.takeOff()
		contains(f.attach(areas, refuge), 0, "stored: fence: the vehicle has the same", "observed")
		contains(f.attach(square, nil), 0, "grave: fence: the vehicle has another list, which is not changed now: 10 items instead of 4",
			"observed")
		contains(f.attach(areas, nil), 0, "stored: fence: the vehicle has the same")
	})
}

// Where a third of all frames is lost, and a third of the others arrives twice, the fence reaches the vehicle all the same
// or there is a grave finding: it is never believed to be there when it is not.
func TestFenceWithLoss(t *testing.T) {
	arrived := 0
	seeds := few(12)
	for seed := range seeds {
		f := fly(t, vehicles[seed%4].name)
		f.vehicle.Set("GF_ACTION", 3)
		fate := rand.New(rand.NewPCG(seed, 3))
		f.lose = func() bool { return fate.IntN(3) == 0 }
		f.twice = func() bool { return fate.IntN(3) == 0 }
		log := f.attach(square, refuge)
		claimed := strings.Contains(log, "stored: fence") && strings.Contains(log, "stored: rally")
		if !claimed && !strings.Contains(log, "grave: fence:") && !strings.Contains(log, "grave: rally points:") {
			t.Errorf("seed %d: neither a finding nor a fence\n%s", seed, log)
		}
		f.lose, f.twice = func() bool { return false }, func() bool { return false }
		if log := f.attach(square, refuge); claimed && f.lists > 0 {
			t.Errorf("seed %d: the vehicle did not have the lists\n%s", seed, log)
		}
		if claimed {
			arrived++
		}
	}
	if arrived < int(seeds)*5/6 {
		t.Errorf("the fence arrived in %d of %d attachments", arrived, seeds)
	}
}

// A vehicle that is not at the mission's site keeps its lists: the mission is not flown there.
func TestFenceElsewhere(t *testing.T) {
	for _, c := range []struct {
		site earth.Position
		want bool
	}{{earth.Position{Lat: 48.0814, Lon: 11.284}, false}, {earth.Position{Lat: 48.0814, Lon: 11.2833}, true}} {
		f := fly(t, "plane")
		f.options.Site = &c.site
		if log := f.attach(square, refuge); f.lists != map[bool]int{true: 2}[c.want] || strings.Contains(log, "grave: fence") ||
			strings.Contains(log, "fence enabled") != c.want {
			t.Errorf("%v: %d lists\n%s", c.site, f.lists, log)
		}
	}
}

// A link that is lost in the middle of the upload does not spoil it: it begins anew.
func TestFenceAfterALoss(t *testing.T) {
	f := fly(t, "plane")
	f.options.Fence = areas
	f.begin()
	f.run(60*sec, func() bool { return f.lists == 1 })
	f.lose = func() bool { return true }
	f.pass(90*sec, nil)
	f.lose = func() bool { return false }
	f.ready(60)
	if log := f.log.String(); !strings.Contains(log, "stored: fence: uploaded") || strings.Contains(log, "grave: fence") {
		t.Errorf("%s", log)
	}
}
