package adapter_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/fake"
)

// begin begins anew with other options.
func (f *flown) begin() { f.Adapter = adapter.New(f.contract, f.options) }

// A fence that somebody switches off in flight is a grave finding, once; lost frames are none.
func TestFenceOffInFlight(t *testing.T) {
	for _, k := range vehicles[:2] {
		f := fly(t, k.name)
		f.options.Fence = square
		f.begin()
		f.vehicle.Set("FENCE_TYPE", 4)
		f.takeOff()
		fate := rand.New(rand.NewPCG(1, 1))
		f.lose = func() bool { return fate.Float64() < 0.4 }
		f.pass(60*sec, nil)
		const text = "checked: grave: fence: it was switched off in flight"
		if strings.Contains(f.log.String(), text) {
			t.Errorf("%s: it is on\n%s", k.name, f.log.String())
		}
		f.vehicle.Receive(raw(t, off))
		f.pass(20*sec, nil)
		if n := strings.Count(f.log.String(), text); n != 1 {
			t.Errorf("%s: it is said %d times\n%s", k.name, n, f.log.String())
		}
	}
}

// off is the command that disables the fence.
var off = &mav.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: 207}

// A fence that somebody disables at random times before arming is enabled again: the vehicle is never armed while it is
// off.
func TestFenceThatGoesOff(t *testing.T) {
	for seed := range few(8) {
		fate := rand.New(rand.NewPCG(seed, 5))
		f := fly(t, vehicles[seed%2].name)
		f.options.Fence = square
		f.begin()
		f.vehicle.Set("FENCE_TYPE", 4)
		on := false
		f.vehicle = fake.New(fake.Options{Firmware: vehicles[seed%2].firmware, Seed: seed, Observe: func(o fake.Received) {
			switch {
			case o.ID == 207 && o.Result == 0:
				on = o.Params[0] == 1
			case o.ID == 400 && o.Result == 0 && !on && o.T > f.offAt+2*sec:
				t.Errorf("seed %d: armed without the fence\n%s", seed, f.log.String())
			}
		}})
		f.vehicle.Set("FENCE_TYPE", 4)
		next := int64(0)
		f.lose = func() bool {
			if now := f.vehicle.Now(); now >= next && now < 100*sec {
				next = now + int64(1+fate.IntN(15))*sec
				f.vehicle.Receive(raw(t, off))
				f.offAt = now
			}
			return false
		}
		f.ready(200)
		f.want(60)
		f.run(200*sec, func() bool { return f.signals["h"] > 55 })
	}
}
