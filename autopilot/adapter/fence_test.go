package adapter_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/vehicle/earth"
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
