package adapter_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// pass lets time pass.
func (f *flown) pass(ns int64, each func()) {
	end := f.vehicle.Now() + ns
	f.run(ns+sec, func() bool {
		if each != nil {
			each()
		}
		return f.vehicle.Now() >= end
	})
}

// want wants a take-off to a height [m].
func (f *flown) want(h float64) {
	f.mode(map[bool]string{true: "takeoff", false: "guided"}[f.contract == contract.Plane])
	f.set("target_h", h)
	f.set("arm", 1)
}

// beats returns what sends the heartbeats of a ground station to the vehicle, one in a second.
func (f *flown) beats() func() {
	w := frame.Writer{System: 255, Component: 190}
	next := int64(0)
	return func() {
		if f.vehicle.Now() >= next {
			next = f.vehicle.Now() + sec
			raw, err := w.Write(&mav.MessageHeartbeat{Type: 6, Autopilot: 8}, 0)
			if err != nil {
				f.t.Fatal(err)
			}
			f.vehicle.Receive(raw)
		}
	}
}

func raw(t *testing.T, m frame.Message) []byte {
	w := frame.Writer{System: 250, Component: 190}
	data, err := w.Write(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A ground station that comes and goes at random: the vehicle is never armed, nor told to climb on the ground, while its
// last heartbeat was critical, and a plane that is left in the air ends in a hold or a return.
func TestStationThatComesAndGoes(t *testing.T) {
	for seed := range few(12) {
		fate := rand.New(rand.NewPCG(seed, 1))
		f := fly(t, "plane")
		f.options.Return = seed%2 == 1
		f.begin()
		f.vehicle = fake.New(fake.Options{Seed: seed, Observe: func(o fake.Received) {
			if s := f.vehicle.State(); o.ID == 400 || o.ID == 176 && o.Params[1] == 13 {
				if f.critical && !s.Armed {
					t.Errorf("seed %d: command %d in failsafe\n%s", seed, o.ID, f.log.String())
				}
			}
		}})
		f.vehicle.Set("FS_GCS_ENABL", 1)
		f.vehicle.Set("FS_LONG_ACTN", float64(fate.IntN(2)))
		beat := f.beats()
		here, until := false, int64(0)
		f.lose = func() bool {
			if now := f.vehicle.Now(); now >= until {
				here, until = !here && now < 200*sec, now+int64(1+fate.IntN(20))*sec
			}
			if here {
				beat()
			}
			return false
		}
		f.ready(90)
		f.want(80)
		f.pass(300*sec, nil)
		if s := f.vehicle.State(); s.Armed && !slices.Contains([]string{"LOITER", "RTL", "GUIDED"}, s.Mode) {
			t.Errorf("seed %d: it ends in %s, %s\n%s", seed, s.Mode, f.Control(), f.log.String())
		}
	}
}
