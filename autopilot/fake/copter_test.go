package fake_test

import (
	"math"
	"testing"

	"canopy/autopilot/fake"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

func TestCopter(t *testing.T) {
	s := newStation(t, fake.Options{Firmware: fake.ArduCopter})
	s.pass(45)
	s.expect(4, s.long(22, 0, 0, 0, 0, 0, 0, 20)) // not in GUIDED
	s.expect(0, s.long(176, 1, 4))
	s.expect(4, s.long(22, 0, 0, 0, 0, 0, 0, 20)) // not armed
	s.expect(0, s.long(400, 1))
	if took := s.until(12, func() bool { return !s.v.State().Armed }); took < 9.9 || took > 10.3 {
		t.Errorf("disarms on the ground after %g s", took)
	}
	s.expect(0, s.long(400, 1))
	s.expect(2, s.place(22, [4]float32{}, 0, 0, 20)) // frame 6
	s.expect(0, s.long(22, 0, 0, 0, 0, 0, 0, 20))
	s.until(15, func() bool { return s.v.State().Height > 19 })
	s.expect(0, s.long(512, 245))
	if m, _ := last[*ardupilotmega.MessageExtendedSysState](s); m.LandedState != 3 {
		t.Errorf("landed state %v", m.LandedState)
	}
	s.expect(0, s.place(192, [4]float32{-1, 1}, 60, 30, 25))
	s.expect(0, s.long(178, 1, 5))
	took := s.until(40, func() bool { return s.distance(60, 30) < 1 })
	if took < 12 {
		t.Errorf("67 m at 5 m/s in %g s", took)
	}
	s.pass(5)
	s.sampled = func() {
		if a := s.v.State(); s.distance(60, 30) > 0.5 || math.Abs(a.Height-25) > 0.3 || a.Airspeed > 0.3 {
			t.Errorf("it does not hover: %+v", a)
		}
	}
	s.pass(20)
	s.sampled = nil
	s.expect(0, s.long(176, 1, 5))
	s.expect(2, s.place(192, [4]float32{-1, 0}, 0, 0, 25)) // not in GUIDED, without the flag
	s.expect(0, s.long(20))
	s.until(90, func() bool { return !s.v.State().Armed })
	if a := s.v.State(); s.distance(0, 0) > 2 || a.Flying {
		t.Errorf("landed and disarmed at %+v", a)
	}
}

// A copter follows a mission and lands at its end; the loss of the ground station sends it home.
func TestCopterMission(t *testing.T) {
	s := newStation(t, fake.Options{Firmware: fake.ArduCopter})
	s.v.Set("FS_GCS_ENABLE", 1)
	s.pass(45)
	if r := s.upload(0, s.item(16, [4]float32{}, 0, 0, 0), s.item(22, [4]float32{}, 0, 0, 20),
		s.item(16, [4]float32{}, 50, 0, 20), s.item(21, [4]float32{}, 50, 50, 0)); r != 0 {
		t.Fatal(r)
	}
	s.expect(0, s.long(176, 1, 3))
	s.expect(0, s.long(400, 1))
	s.until(120, func() bool { return !s.v.State().Armed })
	if d := s.distance(50, 50); d > 3 || s.v.State().Flying {
		t.Errorf("landed %g m away", d)
	}
	s.expect(0, s.long(176, 1, 4))
	s.expect(0, s.long(400, 1))
	s.expect(0, s.long(22, 0, 0, 0, 0, 0, 0, 20))
	s.pass(10)
	s.mute = true
	s.until(7, func() bool { return s.v.State().Mode == "RTL" })
}
