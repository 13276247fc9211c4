package fake_test

import (
	"math"
	"slices"
	"testing"

	"canopy/autopilot/fake"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

var nan = float32(math.NaN())

// at returns a command with a place [m] relative to home, above mean sea level, as PX4 takes it.
func (s *station) at(id uint16, p [4]float32, north, east, h float64) common.MAV_RESULT {
	s.t.Helper()
	g := s.home.Global(north, east)
	return s.answer(id, &ardupilotmega.MessageCommandInt{TargetSystem: 1, TargetComponent: 1, Command: common.MAV_CMD(id),
		Frame: 5, Param1: p[0], Param2: p[1], Param3: p[2], Param4: p[3],
		X: int32(math.Round(g.Lat * 1e7)), Y: int32(math.Round(g.Lon * 1e7)), Z: float32(h + 590)})
}

// whole returns an integer as PX4 sends it, and as it is to be set: its bytes.
func whole(n int32) float32 { return math.Float32frombits(uint32(n)) }

func (s *station) setInt(name string, n int32) {
	s.send(&ardupilotmega.MessageParamSet{TargetSystem: 1, TargetComponent: 1, ParamId: name, ParamValue: whole(n),
		ParamType: ardupilotmega.MAV_PARAM_TYPE_INT32})
	s.pass(0.1)
}

// px4Traps are the behaviours of PX4 in which it differs from ArduPilot, as its documentation and its sources describe
// them, each on a vehicle of its own.
var px4Traps = []struct {
	name string
	kind fake.Firmware
	air  bool // it flies in Hold
	run  func(t *testing.T, s *station)
}{
	{"modes have two numbers", fake.PX4Copter, false, func(_ *testing.T, s *station) {
		s.pass(35)
		s.expect(1, s.long(176, 1, 4)) // AUTO is the mission: there is none
		s.expect(0, s.long(176, 1, 3)) // POSCTL
		s.until(1.1, func() bool { return slices.Contains(s.modes, 3<<16) })
		s.expect(0, s.long(176, 1, 4, 3))
		s.until(1.1, func() bool { return s.modes[len(s.modes)-1] == 4<<16|3<<24 })
	}},
	{"arming is refused temporarily", fake.PX4Plane, false, func(_ *testing.T, s *station) {
		s.pass(10)
		s.expect(1, s.long(400, 1))
		s.until(40, func() bool { return s.said("Preflight Fail: Need Position Estimate") })
	}},
	{"disarms on the ground after 10 s", fake.PX4Copter, false, func(t *testing.T, s *station) {
		s.pass(35)
		s.expect(0, s.long(400, 1))
		if took := s.until(12, func() bool { return !s.v.State().Armed }); took < 9.9 {
			t.Errorf("after %g s", took)
		}
	}},
	{"a take-off mode waits for arming, climbs by the parameter and ends in Hold", fake.PX4Plane, false,
		func(t *testing.T, s *station) {
			s.pass(35)
			s.expect(0, s.long(176, 1, 4, 2))
			s.expect(0, s.long(400, 1))
			s.until(20, func() bool { return s.v.State().Mode == "HOLD" })
			s.pass(20)
			if h := s.v.State().Height; math.Abs(h-30) > 2 {
				t.Errorf("holds at %g m", h)
			}
		}},
	{"an aeroplane that is to be thrown waits", fake.PX4Plane, false, func(t *testing.T, s *station) {
		s.v.Set("RWTO_TKOFF", 0)
		s.pass(35)
		s.expect(0, s.long(176, 1, 4, 2))
		s.expect(0, s.long(400, 1))
		s.pass(8)
		if a := s.v.State(); a.Airspeed > 0 || !a.Armed {
			t.Errorf("%+v", a)
		}
	}},
	{"a take-off command has an altitude above the sea, and waits for arming", fake.PX4Copter, false,
		func(t *testing.T, s *station) {
			s.pass(35)
			s.expect(0, s.long(22, -1, 0, 0, nan, nan, nan, 590+25))
			s.expect(0, s.long(400, 1))
			s.until(20, func() bool { return s.v.State().Mode == "HOLD" })
			s.pass(5)
			if h := s.v.State().Height; math.Abs(h-25) > 1 {
				t.Errorf("%g m", h)
			}
		}},
	{"a target is above the sea, its speed counts, its radius does not; Hold again does not stop it", fake.PX4Plane, true,
		func(t *testing.T, s *station) {
			s.expect(0, s.at(192, [4]float32{18, 1, 300, nan}, 800, 0, 60))
			s.pass(10)
			if v := s.v.State().Airspeed; math.Abs(v-18) > 0.5 {
				t.Errorf("%g m/s", v)
			}
			s.expect(0, s.long(176, 1, 4, 3))
			s.until(80, func() bool { return s.distance(800, 0) < 90 })
			s.pass(30)
			if d := s.distance(800, 0); d > 95 {
				t.Errorf("circles at %g m", d)
			}
		}},
	{"a target without numbers stops it", fake.PX4Copter, true, func(t *testing.T, s *station) {
		s.expect(0, s.at(192, [4]float32{-1, 1, 0, nan}, 500, 0, 30))
		s.until(40, func() bool { return s.v.State().North > 50 })
		s.expect(0, s.long(192, -1, 1, 0, nan, nan, nan, nan))
		s.pass(10)
		if a := s.v.State(); a.North > 60 || a.Airspeed > 0.5 {
			t.Errorf("%+v", a)
		}
	}},
	{"a target without the flag is refused and followed", fake.PX4Copter, true, func(_ *testing.T, s *station) {
		s.expect(3, s.at(192, [4]float32{-1, 0, 0, nan}, 50, 0, 30))
		s.until(40, func() bool { return s.distance(50, 0) < 1 })
	}},
	{"targets are accepted and not followed: disarmed, and outside the fence", fake.PX4Copter, false,
		func(t *testing.T, s *station) {
			s.pass(35)
			s.expect(0, s.at(192, [4]float32{-1, 1, 0, nan}, 50, 0, 30))
			s.v.Set("GF_MAX_HOR_DIST", 200)
			s.expect(0, s.long(400, 1))
			s.expect(0, s.long(22, -1, 0, 0, nan, nan, nan, 590+25))
			s.until(20, func() bool { return s.v.State().Mode == "HOLD" })
			s.expect(0, s.at(192, [4]float32{-1, 1, 0, nan}, 500, 0, 30))
			s.pass(20)
			if d := s.distance(0, 0); d > 1 || !s.said("Reposition is outside geofence") {
				t.Errorf("%g m away; %q", d, s.texts)
			}
		}},
	{"an orbit of an aeroplane is Hold with a radius", fake.PX4Plane, true, func(t *testing.T, s *station) {
		s.expect(0, s.at(34, [4]float32{-200, nan, nan, nan}, 0, 0, 60))
		s.pass(90)
		if d := s.distance(0, 0); math.Abs(d-200) > 10 || s.v.State().Mode != "HOLD" {
			t.Errorf("%g m, %s", d, s.v.State().Mode)
		}
	}},
	{"the radio's sticks take a copter", fake.PX4Copter, true, func(_ *testing.T, s *station) {
		s.v.Inject(fake.Event{Kind: fake.PilotStick, Value: 1})
		s.until(0.3, func() bool { return s.v.State().Mode == "POSCTL" })
	}},
	{"the ground station's loss: by the type of heartbeats, Hold first, then the action", fake.PX4Copter, true,
		func(t *testing.T, s *station) {
			s.setInt("NAV_DLL_ACT", 2)
			s.expect(0, s.at(192, [4]float32{-1, 1, 0, nan}, 500, 0, 30))
			s.mute = true
			s.until(11, func() bool { return s.said("Connection to ground station lost") })
			if a := s.v.State(); a.Mode != "HOLD" {
				t.Errorf("%+v", a)
			}
			if took := s.until(6, func() bool { return s.v.State().Mode == "RTL" }); took < 4.8 {
				t.Errorf("returns after %g s", took)
			}
		}},
	{"a critical battery returns", fake.PX4Plane, true, func(_ *testing.T, s *station) {
		s.setInt("COM_LOW_BAT_ACT", 3)
		s.v.Inject(fake.Event{Kind: fake.Battery, Value: 0.06})
		s.until(6, func() bool { return s.v.State().Mode == "RTL" })
	}},
	{"integers are sent as their bytes; another type is not set; an unknown name is answered by a text", fake.PX4Copter,
		false, func(t *testing.T, s *station) {
			s.pass(6)
			s.setInt("NAV_DLL_ACT", 3)
			if v, _ := s.parameter("NAV_DLL_ACT"); v != whole(3) {
				t.Errorf("%g", v)
			}
			s.send(&ardupilotmega.MessageParamSet{TargetSystem: 1, TargetComponent: 1, ParamId: "NAV_DLL_ACT", ParamValue: 1,
				ParamType: ardupilotmega.MAV_PARAM_TYPE_REAL32})
			s.send(&ardupilotmega.MessageParamRequestRead{TargetSystem: 1, TargetComponent: 1, ParamId: "NAV_DLL_ACT",
				ParamIndex: -1})
			if v, _ := s.parameter("NAV_DLL_ACT"); v != whole(3) {
				t.Errorf("%g", v)
			}
			s.send(&ardupilotmega.MessageParamRequestRead{TargetSystem: 1, TargetComponent: 1, ParamId: "FS_GCS_ENABL",
				ParamIndex: -1})
			s.until(1, func() bool { return s.said("[pm] unknown param ID: FS_GCS_ENABL") })
		}},
	{"telemetry comes unasked, and unknown messages are refused by another answer", fake.PX4Plane, false,
		func(t *testing.T, s *station) {
			s.pass(40)
			if _, ok := last[*ardupilotmega.MessageGlobalPositionInt](s); !ok {
				t.Error("no position")
			}
			if _, ok := last[*ardupilotmega.MessageHighresImu](s); !ok {
				t.Error("no sensors")
			}
			if _, ok := last[*ardupilotmega.MessageMissionCurrent](s); !ok {
				t.Error("no current item")
			}
			if m, ok := last[*ardupilotmega.MessagePositionTargetGlobalInt](s); ok {
				t.Errorf("a target of a vehicle that is not armed: %+v", m)
			}
			s.expect(4, s.long(511, 162, 1e6)) // FENCE_STATUS
			s.expect(4, s.long(511, 42, 1e6))
			s.expect(0, s.long(511, 33, 10000, 1)) // 100 Hz
		}},
	{"without satellites no position is sent", fake.PX4Copter, true, func(t *testing.T, s *station) {
		s.v.Inject(fake.Event{Kind: fake.GPSLost})
		s.pass(6)
		n := len(s.heard)
		s.pass(3)
		for _, m := range s.heard[n:] {
			if _, ok := m.(*ardupilotmega.MessageGlobalPositionInt); ok {
				t.Fatal("a position")
			}
		}
		if m, _ := last[*ardupilotmega.MessageEstimatorStatus](s); m.Flags&16 != 0 {
			t.Error("the estimator reports a position")
		}
	}},
	{"a mission without home as its first item, replaced as a whole, ends in Hold", fake.PX4Plane, true,
		func(t *testing.T, s *station) {
			if r := s.upload(0, s.item(16, [4]float32{}, 300, 0, 60), s.item(16, [4]float32{}, 300, 300, 60)); r != 0 {
				t.Fatal(r)
			}
			s.send(&ardupilotmega.MessageMissionCount{TargetSystem: 1, TargetComponent: 1, Count: 5})
			s.pass(10) // it is given up
			if n := s.stored(0); n != 2 {
				t.Errorf("%d items", n)
			}
			s.expect(0, s.long(300))
			s.until(90, func() bool { return s.said("Mission finished") })
			if a := s.v.State(); a.Mode != "HOLD" || s.distance(300, 300) > 100 {
				t.Errorf("%+v", a)
			}
		}},
	{"a landing on a circle, then it disarms", fake.PX4Plane, true, func(_ *testing.T, s *station) {
		s.expect(0, s.long(21))
		s.until(60, func() bool { return !s.v.State().Armed })
	}},
}

func TestTrapsOfPX4(t *testing.T) {
	for _, c := range px4Traps {
		t.Run(c.name, func(t *testing.T) {
			s := newStation(t, fake.Options{Firmware: c.kind, Seed: 7})
			if c.air {
				s.pass(35)
				s.expect(0, s.long(22, -1, 0, 0, nan, nan, nan, 590+60))
				s.expect(0, s.long(400, 1))
				s.until(60, func() bool { return s.v.State().Mode == "HOLD" && s.v.State().Height > 50 })
			}
			c.run(t, s)
		})
	}
}
