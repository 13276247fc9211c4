package fake_test

import (
	"math"
	"testing"

	"canopy/autopilot/fake"
	"canopy/autopilot/frame"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

// The times after the boot are those that were measured: home, the numbers of the origin, ready.
func TestBoot(t *testing.T) {
	for _, c := range []struct {
		firmware            fake.Firmware
		home, origin, ready float64
	}{{fake.ArduPlane, 10, 19.5, 22.7}, {fake.ArduCopter, 20, 20, 42.5}} {
		s := newStation(t, fake.Options{Firmware: c.firmware})
		home := func() (m *ardupilotmega.MessageHomePosition, ok bool) {
			s.heard = nil
			s.long(512, 242)
			return last[*ardupilotmega.MessageHomePosition](s)
		}
		near := func(what string, want float64) {
			t.Helper()
			if at := float64(s.v.Now()) / sec; math.Abs(at-want) > 0.2 {
				t.Errorf("%v: %s after %g s, want %g", c.firmware, what, at, want)
			}
		}
		s.pass(5)
		s.until(60, func() bool { _, ok := home(); return ok })
		near("home", c.home)
		s.until(60, func() bool { m, _ := home(); return m.X == 0 && m.Y == 0 && m.Z == 0 })
		near("the origin", c.origin)
		s.until(60, func() bool { return s.long(512, 1) == 0 && s.ready() })
		near("ready", c.ready)
	}
}

// An ArduPlane whose ground station is not there when it boots is in failsafe, disarmed, and can be armed all the same:
// then it climbs and circles, and does not return.
func TestFailsafeAtBoot(t *testing.T) {
	s := newStation(t, fake.Options{})
	s.mute = true
	s.v.Set("FS_GCS_ENABL", 1)
	s.v.Set("FS_LONG_ACTN", 1)
	s.v.Set("TKOFF_ALT", 80)
	s.pass(7)
	beat := func() byte {
		m, _ := last[*ardupilotmega.MessageHeartbeat](s)
		return byte(m.SystemStatus)
	}
	if a := s.v.State(); a.Mode != "RTL" || !s.said("GCS Failsafe On: RTL") || beat() != 5 {
		t.Fatalf("%+v, status %d, %q", a, beat(), s.texts)
	}
	s.until(40, func() bool { return s.long(512, 1) == 0 && s.ready() })
	s.expect(0, s.long(176, 1, 13))
	s.expect(0, s.long(400, 1))
	s.pass(190)
	if a := s.v.State(); a.Mode != "TAKEOFF" || math.Abs(a.Height-80) > 3 || beat() != 5 {
		t.Errorf("%+v, status %d", a, beat())
	}
	s.mute = false
	s.pass(3)
	if !s.said("GCS Failsafe Off") || beat() == 5 {
		t.Errorf("%q, status %d", s.texts, beat())
	}
	copter := newStation(t, fake.Options{Firmware: fake.ArduCopter})
	copter.mute = true
	copter.v.Set("FS_GCS_ENABLE", 1)
	copter.pass(60)
	if a := copter.v.State(); a.Mode != "STABILIZE" {
		t.Errorf("a copter: %+v", a)
	}
}

// A fence of areas is enabled only when the estimator has an origin, although it is indexed before. With a limit of the
// height it is enabled at once, without its areas.
func TestFenceNeedsAnOrigin(t *testing.T) {
	for _, c := range []struct {
		kinds, late float64
		from        float64
	}{{4, 0, 19.5}, {5, 0, 12}, {4, 40, 59.5}} {
		s := newStation(t, fake.Options{})
		s.v.Set("FENCE_TYPE", c.kinds)
		if c.late > 0 {
			s.v.Inject(fake.Event{Kind: fake.Late, Value: c.late})
		}
		s.pass(8)
		if r := s.upload(1, s.item(5001, [4]float32{3}, -600, -600, 0), s.item(5001, [4]float32{3}, 600, -600, 0),
			s.item(5001, [4]float32{3}, 0, 600, 0)); r != 0 {
			t.Fatal(r)
		}
		s.until(5, func() bool { return s.said("Fence Indexed OK") })
		s.until(60, func() bool { return s.long(207, 1) == 0 })
		if at := float64(s.v.Now()) / sec; math.Abs(at-c.from) > 2.1 {
			t.Errorf("FENCE_TYPE %g, %g s late: enabled after %g s, want %g", c.kinds, c.late, at, c.from)
		}
	}
}

// What is for everyone reaches the other links of the vehicle as it was sent, except heartbeats.
func TestForwards(t *testing.T) {
	v := fake.New(fake.Options{Channels: 2})
	v.Step(5 * sec)
	v.Out()
	v.OutOn(1)
	w := frame.Writer{System: 1, Component: 191}
	for _, m := range []frame.Message{&ardupilotmega.MessageHeartbeat{}, &ardupilotmega.MessageNamedValueInt{Name: "CANOPY", Value: 7},
		&ardupilotmega.MessageParamRequestRead{TargetSystem: 1, TargetComponent: 1}} {
		raw, err := w.Write(m, 0)
		if err != nil {
			t.Fatal(err)
		}
		v.ReceiveOn(1, raw)
	}
	var r frame.Reader
	n := 0
	for _, d := range v.Out() {
		for _, f := range r.Read(d) {
			if f.Component == 1 {
				continue
			}
			if m, ok := f.Message.(*ardupilotmega.MessageNamedValueInt); f.System != 1 || !ok || m.Value != 7 {
				t.Errorf("%+v", f)
			}
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d messages", n)
	}
}
