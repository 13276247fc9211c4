package fake_test

import (
	"math"
	"testing"

	"canopy/autopilot/fake"
	"canopy/autopilot/frame"
	"canopy/vehicle/earth"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

const sec = 1_000_000_000

// station is a client of a fake: it sends, lets time pass, and keeps what came.
type station struct {
	t       *testing.T
	v       *fake.Autopilot
	w       frame.Writer
	r       frame.Reader
	mute    bool // it sends no heartbeats
	heard   []frame.Message
	texts   []string
	modes   []uint32 // of heartbeats, where they change
	beats   int
	home    earth.Plane
	orders  []fake.Received
	sampled func() // is called every 0.1 s
}

func newStation(t *testing.T, o fake.Options) *station {
	s := &station{t: t, w: frame.Writer{System: 255, Component: 190}}
	o.Observe = func(a fake.Received) { s.orders = append(s.orders, a) }
	s.v = fake.New(o)
	s.home = earth.NewPlane(earth.Position{Lat: 48.0814, Lon: 11.2831})
	return s
}

func (s *station) send(m frame.Message) {
	s.t.Helper()
	raw, err := s.w.Write(m, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	s.v.Receive(raw)
	s.take()
}

func (s *station) take() {
	for _, d := range s.v.Out() {
		for _, f := range s.r.Read(d) {
			switch m := f.Message.(type) {
			case *ardupilotmega.MessageHeartbeat:
				s.beats++
				if n := len(s.modes); n == 0 || s.modes[n-1] != m.CustomMode {
					s.modes = append(s.modes, m.CustomMode)
				}
			case *ardupilotmega.MessageStatustext:
				s.texts = append(s.texts, m.Text)
			}
			s.heard = append(s.heard, f.Message)
		}
	}
}

// until lets time pass until a condition holds, at most for a time [s]; it returns the time that passed.
func (s *station) until(limit float64, done func() bool) float64 {
	s.t.Helper()
	begin := s.v.Now()
	for i := 0; ; i++ {
		passed := float64(s.v.Now()-begin) / sec
		if done() {
			return passed
		}
		if passed >= limit {
			s.t.Fatalf("not within %g s: %+v; texts %q", limit, s.v.State(), s.texts)
		}
		if i%10 == 0 && !s.mute {
			s.send(&ardupilotmega.MessageHeartbeat{Type: 6, Autopilot: 8})
		}
		s.v.Step(sec / 10)
		s.take()
		if s.sampled != nil {
			s.sampled()
		}
	}
}

func (s *station) pass(seconds float64) {
	begin := s.v.Now()
	s.until(seconds+1, func() bool { return float64(s.v.Now()-begin)/sec >= seconds })
}

// last returns the last message of a type.
func last[M frame.Message](s *station) (m M, ok bool) {
	for _, h := range s.heard {
		if x, is := h.(M); is {
			m, ok = x, true
		}
	}
	return m, ok
}

// long sends COMMAND_LONG and returns the answer.
func (s *station) long(id uint16, p ...float32) common.MAV_RESULT {
	s.t.Helper()
	var q [7]float32
	copy(q[:], p)
	return s.answer(id, &ardupilotmega.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: common.MAV_CMD(id),
		Param1: q[0], Param2: q[1], Param3: q[2], Param4: q[3], Param5: q[4], Param6: q[5], Param7: q[6]})
}

// place sends COMMAND_INT with a place [m] relative to home and returns the answer.
func (s *station) place(id uint16, p [4]float32, north, east, h float64) common.MAV_RESULT {
	s.t.Helper()
	g := s.home.Global(north, east)
	return s.answer(id, &ardupilotmega.MessageCommandInt{TargetSystem: 1, TargetComponent: 1, Command: common.MAV_CMD(id),
		Frame: 6, Param1: p[0], Param2: p[1], Param3: p[2], Param4: p[3],
		X: int32(math.Round(g.Lat * 1e7)), Y: int32(math.Round(g.Lon * 1e7)), Z: float32(h)})
}

func (s *station) answer(id uint16, m frame.Message) common.MAV_RESULT {
	s.t.Helper()
	n := len(s.heard)
	s.send(m)
	for _, h := range s.heard[n:] {
		if a, ok := h.(*ardupilotmega.MessageCommandAck); ok && a.Command == common.MAV_CMD(id) {
			return a.Result
		}
	}
	s.t.Fatalf("no acknowledgement of %d", id)
	return 0
}

// airborne lets an ArduPlane take off in TAKEOFF mode and returns when it has reached its height.
func (s *station) airborne() {
	s.t.Helper()
	s.pass(5)
	s.until(40, func() bool { return s.long(512, 1) == 0 && s.ready() })
	s.expect(0, s.long(176, 1, 13))
	s.expect(0, s.long(400, 1))
	s.until(20, func() bool { return s.v.State().Height > 48 })
}

func (s *station) ready() bool {
	m, ok := last[*ardupilotmega.MessageSysStatus](s)
	return ok && m.OnboardControlSensorsHealth&(1<<28) != 0
}

func (s *station) expect(want, got common.MAV_RESULT) {
	s.t.Helper()
	if got != want {
		s.t.Fatalf("result %v, want %v; texts %q", got, want, s.texts)
	}
}

func (s *station) distance(north, east float64) float64 {
	a := s.v.State()
	return math.Hypot(a.North-north, a.East-east)
}

func TestTakeOffAndFly(t *testing.T) {
	s := newStation(t, fake.Options{})
	s.until(5, func() bool { return s.beats > 0 })
	if s.v.Now() < 4*sec {
		t.Error("a heartbeat before the end of the boot")
	}
	s.expect(4, s.long(400, 1))
	wait := s.until(40, func() bool { return s.long(512, 1) == 0 && s.ready() })
	if at := float64(s.v.Now()) / sec; at < 22.6 || at > 23 {
		t.Errorf("ready after %g s (waited %g)", at, wait)
	}
	s.expect(0, s.long(176, 1, 13))
	s.expect(0, s.long(400, 1))
	if took := s.until(20, func() bool { return s.v.State().Height > 49 }); took < 7 || took > 11 {
		t.Errorf("50 m after %g s", took)
	}
	s.expect(4, s.place(192, [4]float32{-1, 0, 60}, 500, 0, 80))
	s.expect(0, s.place(192, [4]float32{-1, 1, 60}, 500, 0, 80))
	took := s.until(60, func() bool { return s.distance(500, 0) < 100 })
	t.Logf("500 m: %g s", took)
	s.pass(60)
	least, most := math.Inf(1), 0.0
	s.sampled = func() { least, most = min(least, s.distance(500, 0)), max(most, s.distance(500, 0)) }
	s.pass(40)
	if least < 74 || most > 82 {
		t.Errorf("circles between %g and %g m", least, most)
	}
	if a := s.v.State(); math.Abs(a.Height-80) > 1 || math.Abs(a.Airspeed-22) > 0.5 {
		t.Errorf("%+v", a)
	}
	s.expect(0, s.long(20))
	s.pass(22)
	if d := s.distance(0, 0); d > 220 {
		t.Errorf("%g m from home after 22 s", d)
	}
	s.pass(200)
	if a := s.v.State(); a.Mode != "RTL" || math.Abs(a.Height-100) > 1 || !a.Flying {
		t.Errorf("%+v", a)
	}
}

// The rate of a message holds for the channel on which it was asked for; commands, answers and texts are of all.
func TestChannels(t *testing.T) {
	v := fake.New(fake.Options{Channels: 2})
	w := frame.Writer{System: 255, Component: 190}
	v.Step(5 * sec)
	raw, err := w.Write(&ardupilotmega.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: 511, Param1: 33,
		Param2: 100000}, 0)
	if err != nil {
		t.Fatal(err)
	}
	v.ReceiveOn(1, raw)
	v.Step(10 * sec)
	for channel, want := range []int{0, 100} {
		var r frame.Reader
		positions, acks, beats := 0, 0, 0
		for _, d := range v.OutOn(channel) {
			for _, f := range r.Read(d) {
				switch f.Message.(type) {
				case *ardupilotmega.MessageGlobalPositionInt:
					positions++
				case *ardupilotmega.MessageCommandAck:
					acks++
				case *ardupilotmega.MessageHeartbeat:
					beats++
				}
			}
		}
		if positions < want || positions > want+1 || acks != 1 || beats < 11 {
			t.Errorf("channel %d: %d positions, %d answers, %d heartbeats", channel, positions, acks, beats)
		}
	}
}
