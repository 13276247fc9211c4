package fake_test

import (
	"testing"

	"canopy/autopilot/fake"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// landed returns the landed state.
func (s *station) landed() common.MAV_LANDED_STATE {
	s.send(&ardupilotmega.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: 512, Param1: 245})
	m, _ := last[*ardupilotmega.MessageExtendedSysState](s)
	return m.LandedState
}

// touches lets a vehicle land, and checks how long it takes from the ground to the landed state and to disarming [s].
func (s *station) touches(limit float64, ground, disarmed [2]float64) {
	s.t.Helper()
	s.until(limit, func() bool { return !s.v.State().Flying })
	down := s.until(20, func() bool { return s.landed() == 1 })
	off := s.until(40, func() bool { return !s.v.State().Armed })
	if down < ground[0] || down > ground[1] || off < disarmed[0] || off > disarmed[1] {
		s.t.Errorf("from the ground to the landed state %.1f s, then %.1f s until it disarms; want %v and %v", down, off, ground,
			disarmed)
	}
}

// landingMission gives the plane a mission with a landing.
func (s *station) landingMission() {
	s.t.Helper()
	if r := s.upload(0, s.item(16, [4]float32{}, 0, 0, 0), s.item(189, [4]float32{}, 400, 0, 60),
		s.item(16, [4]float32{}, 400, 0, 60), s.item(21, [4]float32{}, 0, 0, 0)); r != 0 {
		s.t.Fatal(r)
	}
}

// The landings are those that were measured on ArduPlane and ArduCopter.
func TestLandingsAsMeasured(t *testing.T) {
	plane, copter := [2]float64{8.2, 9.2}, [2]float64{1.5, 1.8}
	planeOff, copterOff := [2]float64{19.5, 20}, [2]float64{0.2, 0.5}
	for _, c := range []struct {
		name     string
		firmware fake.Firmware
		run      func(t *testing.T, s *station)
	}{
		{"a landing sequence", fake.ArduPlane, func(t *testing.T, s *station) {
			s.expect(4, s.long(189))
			s.until(2, func() bool { return s.said("Unable to start landing sequence") })
			s.landingMission()
			s.expect(4, s.long(191)) // no approach
			s.expect(0, s.long(189))
			s.until(2, func() bool { return s.said("Landing sequence start") })
			s.until(120, func() bool { return s.landed() == 4 })
			s.until(60, func() bool { return s.v.State().Height < 25 })
			s.expect(4, s.long(400, 0)) // it flies
			s.expect(0, s.long(191))
			s.until(2, func() bool { return s.said("Landing aborted, climbing to 60m") })
			s.until(60, func() bool { return s.v.State().Height > 55 })
			s.touches(300, plane, planeOff)
		}},
		{"AUTOLAND", fake.ArduPlane, func(t *testing.T, s *station) {
			s.expect(3, s.long(21)) // unsupported
			s.expect(0, s.long(176, 1, 26))
			s.touches(300, plane, planeOff)
			s.pass(5)
			s.expect(4, s.long(176, 1, 12)*0+s.long(176, 1, 26))
			s.until(2, func() bool { return s.said("Must already be flying!") })
		}},
		{"a return that circles", fake.ArduPlane, func(t *testing.T, s *station) {
			s.landingMission()
			s.v.Set("RTL_AUTOLAND", 3)
			s.expect(0, s.long(20))
			s.pass(90)
			if a := s.v.State(); a.Mode != "RTL" {
				t.Errorf("%+v", a)
			}
		}},
		{"a landing copter", fake.ArduCopter, func(t *testing.T, s *station) {
			s.expect(0, s.place(192, [4]float32{-1, 1}, 100, 0, 20))
			s.pass(5)
			s.expect(0, s.long(21, 0, 0, 0, 0, 10, 10, 0)) // it lands here
			if s.landed() != 4 {
				t.Errorf("landed state %v", s.landed())
			}
			s.touches(60, copter, copterOff)
			if s.distance(0, 0) < 10 {
				t.Errorf("it landed at home")
			}
		}},
		{"a returning copter", fake.ArduCopter, func(t *testing.T, s *station) {
			s.expect(0, s.place(192, [4]float32{-1, 1}, 100, 0, 20))
			s.until(60, func() bool { return s.distance(100, 0) < 2 })
			s.expect(0, s.long(20))
			s.pass(5)
			if s.landed() != 2 {
				t.Errorf("landed state %v", s.landed())
			}
			s.until(60, func() bool { return s.landed() == 4 })
			s.touches(60, copter, copterOff)
		}},
		{"a copter in LOITER with the throttle stick at its lowest", fake.ArduCopter, func(t *testing.T, s *station) {
			s.expect(0, s.long(176, 1, 5))
			took := s.until(20, func() bool { return !s.v.State().Flying })
			if took < 7 || took > 11 {
				t.Errorf("20 m at 2.5 m/s in %g s", took)
			}
			s.until(15, func() bool { return !s.v.State().Armed })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStation(t, fake.Options{Firmware: c.firmware})
			if s.pass(50); c.firmware == fake.ArduPlane {
				s.airborne()
			} else {
				s.expect(0, s.long(176, 1, 4))
				s.expect(0, s.long(400, 1))
				s.expect(0, s.long(22, 0, 0, 0, 0, 0, 0, 20))
				s.until(20, func() bool { return s.v.State().Height > 19 })
			}
			c.run(t, s)
		})
	}
}

// A plane with a landing sequence that its return does not use is not armed. A plane that is armed and does not fly stays
// so; a copter disarms after 10 s (TestCopter).
func TestArmingWithALandingSequence(t *testing.T) {
	s := newStation(t, fake.Options{})
	s.pass(35)
	s.landingMission()
	s.expect(4, s.long(400, 1))
	s.until(2, func() bool { return s.said("Arm: DO_LAND_START set and RTL_AUTOLAND disabled") })
	s.v.Set("RTL_AUTOLAND", 2)
	s.expect(0, s.long(400, 1))
	s.pass(64)
	if !s.v.State().Armed {
		t.Error("it disarmed")
	}
}

// The lists of an ArduPilot cannot be transferred just after its start. A parameter that is asked for by its name comes
// without its place in the list.
func TestJustAfterTheStart(t *testing.T) {
	s := newStation(t, fake.Options{})
	s.until(6, func() bool { return s.beats > 0 })
	if r := s.upload(0, s.item(16, [4]float32{}, 0, 0, 0)); r != 4 {
		t.Errorf("%v", r)
	}
	s.pass(2)
	if r := s.upload(0, s.item(16, [4]float32{}, 0, 0, 0)); r != 0 {
		t.Errorf("%v", r)
	}
	s.send(&ardupilotmega.MessageParamRequestRead{TargetSystem: 1, TargetComponent: 1, ParamId: "TKOFF_ALT", ParamIndex: -1})
	if m, _ := last[*ardupilotmega.MessageParamValue](s); m.ParamId != "TKOFF_ALT" || m.ParamIndex != 65535 {
		t.Errorf("%+v", m)
	}
}
