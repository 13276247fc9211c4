package service_test

import (
	"math"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/snapshot"
)

// stamps gives a clock map the times of an imaginary vehicle.
type stamps struct {
	t       *testing.T
	m       *service.ClockMap
	reader  frame.Reader
	vehicle *frame.Writer
}

func newStamps(t *testing.T) *stamps {
	return &stamps{t: t, m: service.NewClockMap(ends), vehicle: &frame.Writer{System: 1, Component: 1}}
}

// at gives it a time since boot in ms, received at a time in ms.
func (s *stamps) at(wall, boot int64) {
	saved := snapshot.Save(nil, s.m)
	s.m = service.NewClockMap(ends)
	if err := snapshot.Load(saved, s.m); err != nil {
		s.t.Fatal(err)
	}
	s.m.Receive(service.Clock{Wall: wall * ms}, frameOf(s.t, &s.reader, s.vehicle,
		&mav.MessageAttitude{TimeBootMs: uint32(boot)}))
}

// want checks the map at a reading of the wall clock, both in ms.
func (s *stamps) want(wall, vehicle, tolerance int64) {
	s.t.Helper()
	if got := s.m.Vehicle(wall * ms); got < (vehicle-tolerance)*ms || got > (vehicle+tolerance)*ms {
		s.t.Errorf("vehicle's time at %d ms: %.3f ms, want %d ± %d", wall, float64(got)/ms, vehicle, tolerance)
	}
}

// The delays of messages are 5 to 104 ms; the map follows the fastest ones.
func TestClockMapIgnoresDelays(t *testing.T) {
	s := newStamps(t)
	if s.m.Vehicle(1*sec) != 0 {
		t.Error("a time without a sample")
	}
	for i := range int64(300) {
		s.at(100*i+5+i*37%100, 60_000+100*i)
	}
	s.want(40_000, 100_000, 6)
	if !s.m.Stable() || s.m.Rate() != 1 {
		t.Errorf("stable %v, rate %v", s.m.Stable(), s.m.Rate())
	}
}

func TestClockMapFollowsSpeed(t *testing.T) {
	for _, speed := range []int64{10, 50} {
		s := newStamps(t)
		for i := range int64(400) {
			s.at(10*i, 1000+10*i*speed)
		}
		s.want(4000, 1000+4000*speed, 20*speed)
		if n, _ := s.m.Jumps(); n+s.m.Boots() > 0 {
			t.Errorf("speed %d: %d jumps, %d reboots", speed, n, s.m.Boots())
		}
	}
}

// Clocks drift by 50 ppm: in 30 h by 5 s.
func TestClockMapFollowsDrift(t *testing.T) {
	s := newStamps(t)
	for i := range int64(30 * 3600 / 2) {
		wall := 2000 * i
		s.at(wall, 1000+wall+wall/20_000)
	}
	wall := int64(30 * 3600 * 1000)
	s.want(wall, 1000+wall+wall/20_000, 2)
	if n, _ := s.m.Jumps(); n+s.m.Boots() > 0 {
		t.Errorf("%d jumps, %d reboots", n, s.m.Boots())
	}
}

// The time of messages wraps after 49.7 days; the vehicle's does not, and no reboot is seen.
func TestClockMapWraps(t *testing.T) {
	s := newStamps(t)
	first := int64(1)<<32 - 5000
	for i := range int64(100) {
		s.at(100*i, first+100*i)
	}
	s.want(9900, first+9900, 1)
	if s.m.Boots() != 0 {
		t.Error("the end of the range is a reboot")
	}
	got, ok := s.m.Stamp(frameOf(t, &s.reader, s.vehicle, &mav.MessageAttitude{TimeBootMs: 4800}))
	if want := (first + 9800) * ms; !ok || got != want {
		t.Errorf("a late message has time %d, want %d", got, want)
	}
}

func TestReboot(t *testing.T) {
	s := newStamps(t)
	for i := range int64(100) {
		s.at(100*i, 500_000+100*i)
	}
	s.at(10_000, 508_500) // overtaken
	s.at(10_050, 500_000) // overtaken by far
	s.at(10_100, 510_100)
	if s.m.Boots() != 0 {
		t.Fatal("a message that was overtaken is a reboot")
	}
	for i := range int64(20) {
		s.at(15_000+100*i, 4000+100*i)
	}
	if s.m.Boots() != 1 {
		t.Errorf("%d reboots, want 1", s.m.Boots())
	}
	s.want(17_000, 6000, 1)
}

// The vehicle reboots while nothing is heard, for so long that its new clock is later than the old one was. A simulator
// that stood still, or was slow, goes on where it was.
func TestRebootDuringASilence(t *testing.T) {
	for _, c := range []struct {
		name   string
		boot   int64
		reboot bool
	}{{"reboot", 95_000, true}, {"silence", 169_900, false}, {"standstill", 70_000, false}} {
		s := newStamps(t)
		for i := range int64(100) {
			s.at(100*i, 60_000+100*i)
		}
		for i := range int64(20) {
			s.at(109_900+100*i, c.boot+100*i)
		}
		if (s.m.Boots() == 1) != c.reboot || s.m.Boots() > 1 {
			t.Errorf("%s: %d reboots", c.name, s.m.Boots())
		}
		s.want(111_800, c.boot+1900, 1)
	}
}

// The vehicle's clock jumps by 30 s. Its time goes on as before, without the jump; one message is no jump.
func TestClockJumps(t *testing.T) {
	s := newStamps(t)
	for i := range int64(100) {
		s.at(100*i, 10_000+100*i)
	}
	s.at(9950, 910_000)
	s.want(9950, 19_950, 1)
	for i := range int64(100) {
		s.at(10_000+100*i, 50_000+100*i)
	}
	if n, by := s.m.Jumps(); n != 1 || by != 30_000*ms || s.m.Boots() != 0 {
		t.Errorf("%d jumps by %d ns, %d reboots; want one jump by 30 s", n, by, s.m.Boots())
	}
	s.want(20_000, 30_000, 1)
}

// While the vehicle is silent its time continues. It does not go back below a time that was received.
func TestClockMapWhileSilent(t *testing.T) {
	s := newStamps(t)
	for i := range int64(30) {
		s.at(100*i, 10_000+100*i)
	}
	s.want(60_000, 70_000, 1)
	s.want(0, 12_900, 0)
}

// Questions are answered with our time; the answer to ours removes the bias of the delays.
func TestTimesync(t *testing.T) {
	s := newStamps(t)
	now := service.Clock{Wall: 100 * ms}
	s.m.Receive(now, frameOf(t, &s.reader, s.vehicle, &mav.MessageTimesync{Ts1: 77}))
	var asked int64
	answered := false
	for _, m := range s.m.Out() {
		switch m := m.(*mav.MessageTimesync); {
		case m.Tc1 == 0:
			asked = m.Ts1
		case m.Ts1 == 77 && m.Tc1 == now.Wall:
			answered = true
		}
	}
	if !answered || asked != now.Wall {
		t.Errorf("the question is answered: %v; ours is %d, want %d", answered, asked, now.Wall)
	}
	s.at(110, 20_000) // 10 ms on the way
	s.want(110, 20_000, 0)
	s.m.Receive(service.Clock{Wall: 120 * ms}, frameOf(t, &s.reader, s.vehicle,
		&mav.MessageTimesync{Tc1: 20_010 * ms, Ts1: asked, TargetSystem: 1, TargetComponent: 191}))
	s.want(110, 20_010, 0)
	// The clock of a PX4 may be another one: its answer counts for nothing.
	s.m.Wake(service.Clock{Wall: 2200 * ms})
	s.m.Receive(service.Clock{Wall: 2210 * ms}, frameOf(t, &s.reader, s.vehicle,
		&mav.MessageTimesync{Tc1: 1790000000e9, Ts1: 2200 * ms}))
	s.want(2210, 22_110, 0)
}

func TestHeartbeats(t *testing.T) {
	var reader frame.Reader
	vehicle := &frame.Writer{System: 1, Component: 1}
	h := service.NewHeartbeat(ends, 18)
	if h.Due() != math.MinInt64 || h.Link() != service.Unheard {
		t.Error("the first heartbeat is not due")
	}
	beats := func(now service.Clock) int {
		saved := snapshot.Save(nil, h)
		h = service.NewHeartbeat(ends, 18)
		if err := snapshot.Load(saved, h); err != nil {
			t.Fatal(err)
		}
		h.Wake(now)
		n := 0
		for _, m := range h.Out() {
			if b := m.(*mav.MessageHeartbeat); b.Type == 18 && b.Autopilot == 8 && b.MavlinkVersion == 3 {
				n++
			}
		}
		return n
	}
	if beats(service.Clock{}) != 1 || beats(service.Clock{Wall: 999 * ms}) != 0 || beats(service.Clock{Wall: sec}) != 1 {
		t.Error("not one heartbeat a second")
	}
	// Ten times real time.
	if beats(service.Clock{Wall: sec + 1*ms, Vehicle: 10 * sec}) != 0 || beats(service.Clock{Wall: 2 * sec, Vehicle: 20 * sec}) != 1 ||
		beats(service.Clock{Wall: 2*sec + 99*ms, Vehicle: 20*sec + 990*ms}) != 0 ||
		beats(service.Clock{Wall: 2*sec + 100*ms, Vehicle: 21 * sec}) != 1 {
		t.Error("not one heartbeat a second of the vehicle")
	}

	armed := frameOf(t, &reader, vehicle, &mav.MessageHeartbeat{Type: 1, Autopilot: 3, BaseMode: 128 + 1, CustomMode: 15})
	h.Receive(service.Clock{Wall: 10 * sec}, frameOf(t, &reader, &frame.Writer{System: 1, Component: 154}, &mav.MessageHeartbeat{}))
	if h.Link() != service.Unheard {
		t.Error("the heartbeat of a camera counts")
	}
	h.Receive(service.Clock{Wall: 10 * sec}, armed)
	if h.Link() != service.Up {
		t.Error(h.Link())
	}
	h.Wake(service.Clock{Wall: 13 * sec})
	if h.Link() != service.Up {
		t.Error("lost after 3 s")
	}
	late := frameOf(t, &reader, vehicle, &mav.MessageHeartbeat{CustomMode: 10})
	late.Late = true
	h.Receive(service.Clock{Wall: 13 * sec}, late)
	if due := h.Due(); due > 16500*ms {
		t.Errorf("woken at %d ms, too late", due/ms)
	}
	h.Wake(service.Clock{Wall: 16500 * ms})
	if h.Link() != service.Lost || h.Link().String() != "lost" {
		t.Error("not lost after 3.5 s")
	}
	h.Receive(service.Clock{Wall: 20 * sec}, armed)
	if h.Link() != service.Up {
		t.Error("the link is not back")
	}
}
