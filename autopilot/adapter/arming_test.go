package adapter_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"canopy/autopilot/adapter"
	"canopy/autopilot/fake"
	"canopy/autopilot/frame"
	"canopy/vehicle/contract"
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

// fail puts a vehicle into failsafe: a plane at its boot, by a ground station that is not there; others by their battery.
// It returns what ends that.
func (f *flown) fail(name string) (end func()) {
	if name == "plane" {
		f.vehicle.Set("FS_GCS_ENABL", 1)
		f.vehicle.Set("FS_LONG_ACTN", 1)
		beat := f.beats()
		return func() { f.lose = func() bool { beat(); return false } }
	}
	f.vehicle.Set("BATT_LOW_VOLT", 11)
	f.vehicle.Inject(fake.Event{Kind: fake.Battery, Value: 0.05})
	return func() {
		f.vehicle.Inject(fake.Event{Kind: fake.Battery, Value: 1})
		f.vehicle.Inject(fake.Event{Kind: fake.Reboot})
	}
}

// A vehicle that is in failsafe on the ground is neither armed nor put into a mode that climbs, whatever the operator
// says; the operator is told once. When the failsafe ends, it takes off.
func TestNotArmedInFailsafe(t *testing.T) {
	for _, k := range vehicles {
		t.Run(k.name, func(t *testing.T) {
			f := fly(t, k.name)
			end := f.fail(k.name)
			f.want(60)
			f.pass(120*sec, func() {
				if f.signals["ready"] == 1 && f.vehicle.Now() > 45*sec {
					t.Fatalf("it is ready in failsafe\n%s", f.log.String())
				}
			})
			f.Resume(clockOf(f))
			f.pass(20*sec, nil)
			if log := f.log.String(); len(f.orders) > 0 || strings.Count(log, "in failsafe") != 1 ||
				k.name == "plane" && !strings.Contains(log, "it is in failsafe: GCS Failsafe On: RTL") {
				t.Fatalf("orders %v\n%s", f.orders, log)
			}
			end()
			f.pass(40*sec, nil)
			f.Resume(clockOf(f)) // those that rebooted
			f.run(90*sec, func() bool { return f.signals["h"] > 55 })
		})
	}
}

// The operator's resume excuses the failsafe of a vehicle in the air only: after a reboot in failsafe it is not armed.
func TestResumeExcusesNothingOnTheGround(t *testing.T) {
	f := fly(t, "plane")
	f.ready(90)
	f.fail("plane")
	f.vehicle.Inject(fake.Event{Kind: fake.Reboot})
	f.run(90*sec, func() bool { return f.Control() == adapter.Observing })
	f.pass(30*sec, nil)
	f.Resume(clockOf(f))
	f.want(60)
	f.pass(60*sec, nil)
	if len(f.orders) > 0 {
		t.Errorf("%v\n%s", f.orders, f.log.String())
	}
	// somebody else arms it, in a mode that climbs
	f.vehicle.Receive(raw(t, &mav.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: 176, Param1: 1, Param2: 13}))
	f.vehicle.Receive(raw(t, &mav.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: 400, Param1: 1}))
	f.run(60*sec, func() bool { return f.in("loiter") })
	if f.Control() != adapter.Taken {
		t.Errorf("%v\n%s", f.Control(), f.log.String())
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

// A failsafe that takes the vehicle in its take-off and changes nothing leaves it to nobody: it is told once to hold or to
// return. A pilot, and any other mode, win.
func TestAbandonedTakeOff(t *testing.T) {
	for _, k := range vehicles {
		for _, c := range []struct {
			name  string
			home  bool
			pilot bool
			ends  string
		}{{"hold", false, false, "loiter"}, {"return", true, false, "rtl"}, {"pilot", false, true, ""}} {
			t.Run(k.name+"/"+c.name, func(t *testing.T) {
				f := fly(t, k.name)
				f.options.Return = c.home
				f.begin()
				f.vehicle.Set("BATT_LOW_VOLT", 11) // it only warns
				f.ready(60)
				f.want(60)
				f.run(90*sec, func() bool { return f.signals["h"] > 5 })
				f.vehicle.Inject(fake.Event{Kind: fake.Battery, Value: 0.05})
				f.run(30*sec, func() bool { return f.Control() == adapter.Taken })
				n := len(f.orders)
				if c.pilot {
					f.vehicle.Inject(fake.Event{Kind: fake.PilotMode, Value: k.switched})
				}
				f.pass(60*sec, nil)
				if strings.HasPrefix(k.name, "px4") && !c.pilot { // the take-off ends in Hold before
					if f.vehicle.State().Mode != "HOLD" || len(f.orders) > n {
						t.Errorf("commands %v, %v", f.orders[n:], f.vehicle.State())
					}
					return
				}
				if c.pilot && len(f.orders) > n || !c.pilot && (len(f.orders) != n+1 || !f.in(c.ends) && !f.in("brake")) || f.Control() != adapter.Taken {
					t.Errorf("commands %v, %s, %v\n%s", f.orders[n:], f.Control(), f.vehicle.State(), f.log.String())
				}
				if told := strings.Count(f.log.String(), "told to go on in the mode "+c.ends); told != 1 && !c.pilot {
					t.Errorf("told %d times\n%s", told, f.log.String())
				}
			})
		}
	}
}

// A vehicle that stands armed on the ground is disarmed when that is wanted, also while the mission's fence is not in
// effect, or another mode is wanted that waits for a position: only what leads into the air is withheld.
func TestDisarmedWhateverWaits(t *testing.T) {
	for _, lost := range []bool{false, true} {
		f := fly(t, "copter")
		f.options.Fence = square
		f.begin()
		f.vehicle.Set("FENCE_TYPE", 4)
		f.ready(90)
		f.mode("guided")
		f.set("arm", 1)
		f.run(30*sec, func() bool { return f.signals["armed"] == 1 })
		if lost {
			f.vehicle.Inject(fake.Event{Kind: fake.GPSLost})
		}
		f.lose = func() bool { // somebody disables the fence again and again
			if !lost && f.vehicle.Now() > f.offAt+sec/5 {
				f.offAt = f.vehicle.Now()
				f.vehicle.Receive(raw(t, off))
			}
			return false
		}
		f.pass(3*sec, nil)
		if lost {
			f.run(7*sec, func() bool { return f.signals["estimator_ok"] == 0 })
			f.mode("rtl")
		}
		f.orders = nil
		f.set("arm", 0)
		f.run(3*sec, func() bool { return f.signals["armed"] == 0 })
		if !slices.Contains(f.orders, "400: 0") {
			t.Errorf("it disarmed by itself\n%s", f.log.String())
		}
	}
}
