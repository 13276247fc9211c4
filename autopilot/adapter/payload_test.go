package adapter_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/fake"
)

// equipped is an attached vehicle of ArduPilot with a payload.
func equipped(t *testing.T, name string, lose func() bool) *flown {
	f := fly(t, name)
	f.options.Payload = true
	f.begin()
	f.vehicle.Equip()
	if lose != nil {
		f.lose = lose
	}
	f.ready(120)
	return f
}

// wantAll sets slots.
func (f *flown) wantAll(slots map[string]float64) {
	for name, v := range slots {
		f.set(name, v)
	}
}

// With losses and silences of the link, each photo that is wanted is taken exactly once, or refused: then it
// was taken once or not at all. What was seen is what happened.
func TestPhotosOnceOrRefused(t *testing.T) {
	seeds, refused := few(40), 0
	for seed := range seeds {
		fate := rand.New(rand.NewPCG(seed, 7))
		loss := 0
		f := equipped(t, []string{"plane", "copter"}[seed%2], func() bool { return fate.IntN(100) < loss })
		f.pass(3*sec, nil)
		for n := range 6 {
			before := f.vehicle.Payload().Photos
			loss = []int{0, 20, 40, 60}[fate.IntN(4)]
			f.set("wanted_photos", f.signals["photos"]+1)
			end := f.vehicle.Now() + 40*sec
			f.run(60*sec, func() bool {
				return f.signals["photos"] >= f.Wanted("wanted_photos") || f.signals["refused"] == 1 || f.vehicle.Now() >= end
			})
			seen := f.signals["photos"] >= f.Wanted("wanted_photos")
			f.set("wanted_photos", 0)
			loss = 0
			f.pass(15*sec, nil)
			if !seen {
				refused++
			}
			if taken := f.vehicle.Payload().Photos - before; taken > 1 || seen && taken != 1 {
				t.Fatalf("seed %d, photo %d: %d were taken, seen %t\n%s", seed, n, taken, seen, f.log.String())
			}
		}
		if got, want := f.signals["photos"], float64(f.vehicle.Payload().Photos); got != want {
			t.Errorf("seed %d: %v photos were seen, %v taken", seed, got, want)
		}
	}
	if all := 6 * int(seeds); refused > all/4 {
		t.Errorf("%d of %d photos were refused", refused, all)
	}
}

// With losses, everything else of the payload is as it is wanted when the link is good again.
func TestPayloadWithLoss(t *testing.T) {
	for seed := range few(6) {
		fate := rand.New(rand.NewPCG(seed, 8))
		lose := func() bool { return fate.IntN(3) == 0 }
		f := equipped(t, "copter", lose)
		for range 5 {
			pwm, on, grip := float64(1000+fate.IntN(1000))*1e-6, float64(fate.IntN(2)), float64(1+fate.IntN(2))
			pitch := -float64(fate.IntN(90)) * math.Pi / 180
			f.wantAll(map[string]float64{"wanted_servo": 9, "wanted_pwm": pwm, "wanted_relay": 1, "wanted_relay_on": on,
				"wanted_gripper": grip, "wanted_mount": 1, "wanted_pitch": pitch})
			f.run(60*sec, func() bool {
				p := f.vehicle.Payload()
				return math.Abs(float64(p.PWM[8])-pwm*1e6) < 1 && float64(p.Relays&1) == on && math.Abs(p.Pitch-pitch) < 0.03 &&
					p.Gripper == []string{"", "grabbed", "released"}[int(grip)]
			})
			f.pass(12*sec, nil)
			f.lose = func() bool { return false }
			f.pass(sec, nil)
			f.lose = lose
			unproved := f.signals["gripper"] == 0 && f.signals["refused"] == 1 // each text of the gripper was lost
			if f.signals["relay_on"] != on || f.signals["gripper"] != grip && !unproved {
				s := fmt.Sprint(f.signals["relay_on"], f.signals["gripper"])
				t.Errorf("seed %d: relay and gripper %s\n%s", seed, s, f.log.String())
			}
		}
	}
}

// After a reboot the signals of the payload have the vehicle's new time, not the old one, as all others.
func TestPayloadAfterAReboot(t *testing.T) {
	f := equipped(t, "plane", nil)
	f.wantAll(map[string]float64{"wanted_relay": 1, "wanted_relay_on": 1})
	f.run(5*sec, func() bool { return f.signals["relay_on"] == 1 })
	f.pass(100*sec, nil)
	f.vehicle.Inject(fake.Event{Kind: fake.Reboot})
	f.run(120*sec, func() bool { return f.Control() == adapter.Observing })
	f.set("wanted_relay", 2)
	f.Wake(clockOf(f))
	for _, s := range f.Samples() {
		if s.T > 60*sec {
			t.Errorf("%s has the time %d s", s.Source, s.T/sec)
		}
	}
}
