package fake_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/autopilot/frame"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

func (s *station) said(text string) bool {
	return slices.ContainsFunc(s.texts, func(t string) bool { return strings.Contains(t, text) })
}

// upload sends items of a kind and returns the answer.
func (s *station) upload(kind byte, items ...*ardupilotmega.MessageMissionItemInt) common.MAV_MISSION_RESULT {
	s.t.Helper()
	n := len(s.heard)
	s.send(&ardupilotmega.MessageMissionCount{TargetSystem: 1, TargetComponent: 1, Count: uint16(len(items)),
		MissionType: common.MAV_MISSION_TYPE(kind)})
	give := func(seq uint16) {
		it := items[seq]
		it.TargetSystem, it.TargetComponent, it.Seq, it.MissionType = 1, 1, seq, common.MAV_MISSION_TYPE(kind)
		s.send(it)
	}
	for ; n < len(s.heard); n++ {
		switch m := s.heard[n].(type) {
		case *ardupilotmega.MessageMissionRequest:
			give(m.Seq)
		case *ardupilotmega.MessageMissionRequestInt:
			give(m.Seq)
		case *ardupilotmega.MessageMissionAck:
			return m.Type
		}
	}
	s.t.Fatal("no end of the upload")
	return 0
}

func (s *station) item(command uint16, p [4]float32, north, east, h float64) *ardupilotmega.MessageMissionItemInt {
	g := s.home.Global(north, east)
	return &ardupilotmega.MessageMissionItemInt{Command: common.MAV_CMD(command), Frame: 3, Param1: p[0], Param2: p[1],
		Param3: p[2], Param4: p[3], X: int32(math.Round(g.Lat * 1e7)), Y: int32(math.Round(g.Lon * 1e7)), Z: float32(h)}
}

func (s *station) stored(kind byte) (n int) {
	s.send(&ardupilotmega.MessageMissionRequestList{TargetSystem: 1, TargetComponent: 1,
		MissionType: common.MAV_MISSION_TYPE(kind)})
	m, _ := last[*ardupilotmega.MessageMissionCount](s)
	return int(m.Count)
}

func (s *station) parameter(name string) (float32, int) {
	n := 0
	for _, h := range s.heard {
		if _, ok := h.(*ardupilotmega.MessageParamValue); ok {
			n++
		}
	}
	if n == 0 {
		return 0, 0
	}
	m, _ := last[*ardupilotmega.MessageParamValue](s)
	return m.ParamValue, n
}

// traps are the measured and documented behaviours of ArduPlane, each on a vehicle of its own.
var traps = []struct {
	name string
	air  bool // the vehicle is at 50 m in TAKEOFF mode
	run  func(t *testing.T, s *station)
}{
	{"a take-off command fails", false, func(_ *testing.T, s *station) {
		s.pass(35)
		s.expect(4, s.long(22, 0, 0, 0, 0, 0, 0, 50))
		s.expect(0, s.long(400, 1))
		s.expect(4, s.long(22, 0, 0, 0, 0, 0, 0, 50))
	}},
	{"a target as COMMAND_LONG is not supported", true, func(_ *testing.T, s *station) { s.expect(3, s.long(192, -1, 1)) }},
	{"rates: denied with a third parameter, above 40 Hz, for unknown messages", false, func(t *testing.T, s *station) {
		s.pass(6)
		if m, ok := last[*ardupilotmega.MessageGlobalPositionInt](s); ok {
			t.Errorf("a message that nobody asked for: %+v", m)
		}
		s.expect(2, s.long(511, 33, 100000, 1))
		s.expect(2, s.long(511, 33, 20000))
		s.expect(2, s.long(511, 9999, 100000))
		s.expect(0, s.long(511, 33, 100000))
		n := len(s.heard)
		s.pass(10)
		got := 0
		for _, h := range s.heard[n:] {
			if _, ok := h.(*ardupilotmega.MessageGlobalPositionInt); ok {
				got++
			}
		}
		if got < 99 || got > 102 {
			t.Errorf("%d positions in 10 s", got)
		}
	}},
	{"disarming fails in flight", true, func(_ *testing.T, s *station) { s.expect(4, s.long(400, 0)) }},
	{"speed: ignored in targets, kept in guided mode", true, func(t *testing.T, s *station) {
		s.expect(4, s.long(43000, 0, 26))
		s.expect(0, s.place(192, [4]float32{18, 1, 60}, 800, 0, 80))
		s.pass(10)
		if v := s.v.State().Airspeed; math.Abs(v-22) > 0.5 {
			t.Errorf("%g m/s where 18 were in the target", v)
		}
		s.expect(2, s.long(43000, 0, 50))
		s.expect(0, s.long(43000, 0, 26))
		if took := s.until(6, func() bool { return s.v.State().Airspeed > 25.2 }); took > 4 {
			t.Errorf("4 m/s faster in %g s", took)
		}
		s.expect(0, s.long(178, 0, 20))
		s.pass(5)
		if v := s.v.State().Airspeed; v < 25 {
			t.Errorf("%g m/s: DO_CHANGE_SPEED beats GUIDED_CHANGE_SPEED", v)
		}
		s.expect(0, s.long(17))
		s.expect(4, s.long(178, 0, 20))
	}},
	{"height: the rate of 43001 is a trap", true, func(t *testing.T, s *station) {
		s.expect(0, s.place(192, [4]float32{-1, 1, 60}, 0, 0, 80))
		s.pass(30)
		s.expect(0, s.place(43001, [4]float32{0, 0, 5, 0}, 0, 0, 110))
		s.pass(20)
		if h := s.v.State().Height; h < 80 || h > 84 {
			t.Errorf("%g m after 20 s", h)
		}
		s.expect(0, s.place(192, [4]float32{-1, 1, 60}, 0, 0, 60))
		s.pass(20)
		if h := s.v.State().Height; h < 80 {
			t.Errorf("%g m: the next target's height counts", h)
		}
		s.expect(0, s.long(17))
		s.expect(0, s.place(192, [4]float32{-1, 1, 60}, 0, 0, 60))
		s.until(15, func() bool { return s.v.State().Height < 63 })
	}},
	{"a position target changes the height only", true, func(t *testing.T, s *station) {
		s.expect(0, s.place(192, [4]float32{-1, 1, 60}, 0, 0, 80))
		g := s.home.Global(2000, 0)
		s.send(&ardupilotmega.MessageSetPositionTargetGlobalInt{TargetSystem: 1, TargetComponent: 1, CoordinateFrame: 6,
			LatInt: int32(g.Lat * 1e7), LonInt: int32(g.Lon * 1e7), Alt: 120})
		s.pass(60)
		if a := s.v.State(); math.Abs(a.Height-120) > 2 || s.distance(0, 0) > 100 {
			t.Errorf("%+v", a)
		}
	}},
	{"a safe hold out of a take-off that was cut", false, func(t *testing.T, s *station) {
		s.pass(35)
		s.expect(0, s.long(176, 1, 13))
		s.expect(0, s.long(400, 1))
		s.until(10, func() bool { return s.v.State().Height > 10 })
		a := s.v.State()
		s.expect(0, s.place(192, [4]float32{-1, 1, 60}, a.North, a.East, 80))
		s.expect(0, s.long(43000, 0, 22))
		took := s.until(25, func() bool { a := s.v.State(); return a.Height > 77 && math.Abs(a.Airspeed-22) < 1.5 })
		if took < 10 || took > 21 {
			t.Errorf("80 m, 22 m/s after %g s", took)
		}
		s.sampled = func() {
			if a := s.v.State(); math.Abs(a.Height-80) > 3.5 || math.Abs(a.Airspeed-22) > 1.5 {
				t.Errorf("in the hold: %+v", a)
			}
		}
		s.pass(60)
	}},
	{"the ground station's loss: return after 5 s, by the number of the system", true, func(t *testing.T, s *station) {
		s.v.Set("FS_GCS_ENABL", 1)
		s.v.Set("FS_LONG_ACTN", 1)
		s.expect(0, s.place(192, [4]float32{-1, 1, 60}, 0, 0, 80))
		s.pass(2)
		s.mute = true
		took := s.until(10, func() bool { return s.v.State().Mode == "RTL" })
		if took < 3.9 || took > 5.2 { // the last heartbeat was up to a second before
			t.Errorf("return after %g s", took)
		}
		s.mute = false
		s.pass(5)
		if a := s.v.State(); a.Mode != "RTL" || !s.said("GCS Failsafe Off") {
			t.Errorf("%+v after the station is back; %q", a, s.texts)
		}
	}},
	{"without the parameter nobody notices the loss", true, func(t *testing.T, s *station) {
		s.expect(0, s.place(192, [4]float32{-1, 1, 60}, 0, 0, 80))
		s.mute = true
		s.pass(60)
		if a := s.v.State(); a.Mode != "GUIDED" {
			t.Errorf("%+v", a)
		}
	}},
	{"battery: return after 10 s below the limit", true, func(t *testing.T, s *station) {
		s.v.Set("BATT_LOW_VOLT", 11)
		s.v.Set("BATT_FS_LOW_ACT", 1)
		s.expect(0, s.place(192, [4]float32{-1, 1, 60}, 0, 0, 80))
		s.v.Inject(fake.Event{Kind: fake.Battery, Value: 0.2})
		if took := s.until(15, func() bool { return s.v.State().Mode == "RTL" }); took < 9.9 || took > 10.3 {
			t.Errorf("return after %g s", took)
		}
	}},
	{"fence: indexed late; then it refuses targets, returns, and refuses modes", true, func(t *testing.T, s *station) {
		s.expect(4, s.long(207, 1))
		var corners []*ardupilotmega.MessageMissionItemInt
		for _, c := range [][2]float64{{-600, -600}, {600, -600}, {600, 600}, {-600, 600}} {
			corners = append(corners, s.item(5001, [4]float32{4}, c[0], c[1], 0))
		}
		if r := s.upload(1, corners...); r != 0 {
			t.Fatalf("upload: %v", r)
		}
		s.expect(4, s.long(207, 1))
		s.expect(0, s.place(192, [4]float32{-1, 1, 60}, 1000, 0, 80)) // the race
		s.until(5, func() bool { return s.said("Fence Indexed OK") })
		s.expect(0, s.long(207, 1))
		s.expect(2, s.place(192, [4]float32{-1, 1, 60}, 1000, 0, 80))
		s.until(60, func() bool { return s.v.State().Mode == "RTL" })
		s.expect(4, s.long(176, 1, 15))
		s.until(30, func() bool { return s.v.State().North < 550 })
		s.expect(0, s.long(176, 1, 15))
	}},
	{"fence: without the option, a mode is accepted outside", true, func(_ *testing.T, s *station) {
		s.v.Set("FENCE_TYPE", 2)
		s.v.Set("FENCE_OPTIONS", 0)
		s.expect(0, s.place(192, [4]float32{-1, 1, 60}, 800, 0, 80))
		s.until(40, func() bool { return s.distance(0, 0) > 310 })
		s.expect(0, s.long(207, 1))
		s.until(0.2, func() bool { return s.v.State().Mode == "RTL" })
		s.expect(0, s.long(176, 1, 12))
	}},
	{"a return with RTL_AUTOLAND lands by the mission", true, func(t *testing.T, s *station) {
		s.v.Set("RTL_AUTOLAND", 1)
		s.expect(0, s.place(192, [4]float32{-1, 1, 60}, 800, 0, 80))
		s.until(40, func() bool { return s.distance(0, 0) > 400 })
		if r := s.upload(0, s.item(16, [4]float32{}, 0, 0, 0), s.item(189, [4]float32{}, 0, 0, 0),
			s.item(21, [4]float32{}, 0, 0, 0)); r != 0 {
			t.Fatal(r)
		}
		s.expect(0, s.long(20))
		s.pass(1)
		if a := s.v.State(); a.Mode != "RTL" {
			t.Errorf("%+v", a)
		}
		s.until(40, func() bool { return s.v.State().Mode == "AUTO" })
		s.until(200, func() bool { return !s.v.State().Armed })
	}},
	{"fence type 2 is a circle round home: return at once", true, func(_ *testing.T, s *station) {
		s.expect(0, s.place(192, [4]float32{-1, 1, 60}, 800, 0, 80))
		s.until(40, func() bool { return s.distance(0, 0) > 400 })
		s.v.Set("FENCE_TYPE", 2)
		s.expect(0, s.long(207, 1))
		s.until(0.2, func() bool { return s.v.State().Mode == "RTL" })
	}},
	{"parameters: rounded, answered later, silence for unknown names", false, func(t *testing.T, s *station) {
		s.pass(5)
		set := func(name string, x float32) (float32, int) {
			_, before := s.parameter(name)
			s.send(&ardupilotmega.MessageParamSet{TargetSystem: 1, TargetComponent: 1, ParamId: name, ParamValue: x})
			if _, at := s.parameter(name); at != before {
				t.Errorf("%s is answered at once", name)
			}
			s.pass(0.2)
			v, after := s.parameter(name)
			return v, after - before
		}
		if v, n := set("WP_LOITER_RAD", 79.6); v != 80 || n != 1 {
			t.Errorf("%g, %d answers", v, n)
		}
		if _, n := set("WP_LOITER_RADIUS", 80); n != 0 {
			t.Error("an unknown name is answered")
		}
		if _, n := set("TKOFF_ALT", float32(math.NaN())); n != 0 {
			t.Error("NaN is answered")
		}
	}},
	{"an upload truncates at once, continues after a wrong item, and is given up after 8 s", false,
		func(t *testing.T, s *station) {
			s.pass(5)
			way := func(n int) (l []*ardupilotmega.MessageMissionItemInt) {
				for i := range n {
					l = append(l, s.item(16, [4]float32{}, float64(i), 0, 50.123))
				}
				return l
			}
			if r := s.upload(0, way(7)...); r != 0 || s.stored(0) != 7 {
				t.Fatalf("%v, %d items", r, s.stored(0))
			}
			s.send(&ardupilotmega.MessageMissionRequestInt{TargetSystem: 1, TargetComponent: 1, Seq: 3})
			if m, _ := last[*ardupilotmega.MessageMissionItemInt](s); math.Abs(float64(m.Z)-50.12) > 1e-4 {
				t.Errorf("stored with height %v", m.Z)
			}
			s.send(&ardupilotmega.MessageMissionCount{TargetSystem: 1, TargetComponent: 1, Count: 3})
			it := way(6)[5]
			it.TargetSystem, it.TargetComponent, it.Seq = 1, 1, 5
			s.send(it)
			if m, _ := last[*ardupilotmega.MessageMissionAck](s); m.Type != 13 {
				t.Errorf("a wrong item: %v", m.Type)
			}
			n := len(s.heard)
			took := s.until(10, func() bool { return s.said("Mission upload timeout") })
			asked := 0
			for _, h := range s.heard[n:] {
				if _, ok := h.(*ardupilotmega.MessageMissionRequest); ok {
					asked++
				}
			}
			if took < 7.9 || took > 8.3 || asked != 7 || s.stored(0) != 3 {
				t.Errorf("given up after %g s, %d more requests, %d items left", took, asked, s.stored(0))
			}
		}},
	{"a mission: take-off, waypoints, a jump, then return", false, func(t *testing.T, s *station) {
		s.pass(35)
		s.expect(4, s.long(176, 1, 10)) // without a mission
		if r := s.upload(0, s.item(16, [4]float32{}, 0, 0, 0), s.item(22, [4]float32{}, 0, 0, 60),
			s.item(16, [4]float32{}, 600, 0, 80), s.item(16, [4]float32{}, 600, 500, 80),
			s.item(177, [4]float32{2, 1}, 0, 0, 0), s.item(18, [4]float32{1, 0, 80}, 0, 500, 80)); r != 0 {
			t.Fatal(r)
		}
		s.expect(0, s.long(176, 1, 10))
		s.expect(0, s.long(400, 1))
		s.until(300, func() bool { return s.v.State().Mode == "RTL" })
		var reached []uint16
		for _, h := range s.heard {
			if m, ok := h.(*ardupilotmega.MessageMissionItemReached); ok {
				reached = append(reached, m.Seq)
			}
		}
		if !slices.Equal(reached, []uint16{1, 2, 3, 2, 3, 5}) {
			t.Errorf("reached %d", reached)
		}
	}},
	{"without satellites the position stays as it was, without a flag in it", true, func(t *testing.T, s *station) {
		s.v.Inject(fake.Event{Kind: fake.GPSLost})
		s.pass(6)
		position := func() frame.Message {
			s.expect(0, s.long(512, 33))
			m, _ := last[*ardupilotmega.MessageGlobalPositionInt](s)
			return &ardupilotmega.MessageGlobalPositionInt{Lat: m.Lat, Lon: m.Lon, Alt: m.Alt}
		}
		a := *position().(*ardupilotmega.MessageGlobalPositionInt)
		s.pass(5)
		if b := *position().(*ardupilotmega.MessageGlobalPositionInt); a != b {
			t.Errorf("%+v, then %+v", a, b)
		}
		s.expect(0, s.long(512, 193))
		if m, _ := last[*ardupilotmega.MessageEkfStatusReport](s); m.Flags&16 != 0 {
			t.Error("the estimator reports a position")
		}
		s.v.Inject(fake.Event{Kind: fake.GPSBack})
		s.pass(1)
		if b := *position().(*ardupilotmega.MessageGlobalPositionInt); a == b {
			t.Error("the position does not come back")
		}
	}},
	{"reboot: silence for 4 s, a new clock, no streams", true, func(t *testing.T, s *station) {
		s.expect(0, s.long(511, 30, 100000))
		s.v.Inject(fake.Event{Kind: fake.Reboot})
		n := len(s.heard)
		s.pass(3.9)
		if len(s.heard) != n {
			t.Errorf("it sends %T", s.heard[n])
		}
		s.pass(6)
		for _, h := range s.heard[n:] {
			if _, ok := h.(*ardupilotmega.MessageAttitude); ok {
				t.Fatal("the stream survives")
			}
		}
		s.expect(0, s.long(512, 30))
		if m, _ := last[*ardupilotmega.MessageAttitude](s); m.TimeBootMs < 9000 || m.TimeBootMs > 11000 {
			t.Errorf("clock %d ms", m.TimeBootMs)
		}
	}},
	{"an accepted command that is not executed", true, func(t *testing.T, s *station) {
		s.v.Inject(fake.Event{Kind: fake.Lie, Value: 1})
		s.expect(0, s.long(20))
		if a := s.v.State(); a.Mode != "TAKEOFF" {
			t.Errorf("%+v", a)
		}
		s.expect(0, s.long(20))
		if a := s.v.State(); a.Mode != "RTL" {
			t.Errorf("%+v", a)
		}
	}},
	{"the pilot selects a mode: a heartbeat at once, the switch in RC_CHANNELS", true, func(t *testing.T, s *station) {
		n := s.beats
		s.v.Inject(fake.Event{Kind: fake.PilotMode, Value: 5})
		s.take()
		s.expect(0, s.long(512, 65))
		if m, _ := last[*ardupilotmega.MessageRcChannels](s); s.beats != n+1 || m.Chan8Raw != 1200 {
			t.Errorf("%d heartbeats, channel 8 at %d", s.beats-n, m.Chan8Raw)
		}
	}},
	{"home moves when it is armed", false, func(t *testing.T, s *station) {
		s.pass(35)
		s.expect(0, s.long(512, 242))
		s.expect(0, s.long(176, 1, 13))
		s.expect(0, s.long(400, 1))
		s.expect(0, s.long(400, 1)) // armed already
		s.pass(30)
		s.expect(0, s.long(400, 0, 21196))
		s.until(120, func() bool { return !s.v.State().Flying })
		s.pass(10)
		s.expect(0, s.long(400, 1))
		if d := s.distance(0, 0); d > 1 {
			t.Errorf("home is %g m away", d)
		}
	}},
}

func TestTrapsOfArduPlane(t *testing.T) {
	for _, c := range traps {
		t.Run(c.name, func(t *testing.T) {
			s := newStation(t, fake.Options{Seed: 7})
			if c.air {
				s.airborne()
			}
			c.run(t, s)
		})
	}
}

// The same calls give the same datagrams.
func TestDeterministic(t *testing.T) {
	run := func() []byte {
		v := fake.New(fake.Options{Seed: 3, Wind: [2]float64{3, -2}})
		w := frame.Writer{System: 255, Component: 190}
		var all []byte
		for i := range 600 {
			v.Step(sec / 7)
			if i%50 == 0 {
				raw, err := w.Write(&ardupilotmega.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: 511,
					Param1: float32([]int{1, 33, 74, 245}[i/50%4]), Param2: 100000}, 0)
				if err != nil {
					t.Fatal(err)
				}
				v.Receive(raw)
			}
			for _, d := range v.Out() {
				all = append(all, d...)
			}
		}
		return all
	}
	if a, b := run(), run(); !slices.Equal(a, b) || len(a) < 10000 {
		t.Errorf("%d and %d bytes", len(a), len(b))
	}
}
