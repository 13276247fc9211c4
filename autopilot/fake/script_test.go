package fake_test

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/internal/golden"
	"github.com/canopy-uav/canopy/vehicle/earth"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

const sec = 1_000_000_000

// station is a ground station with a fake vehicle, as a script says:
//
//	fly VEHICLE [after=S] [air] [mute]   switches a vehicle on, and lets time pass, or flies it to a height, unseen
//
// The input has a step on each line:
//
//	pass S [NORTH EAST]           time passes; with a place: how far from it the vehicle is, how high and fast
//	climb H                       time passes until the vehicle is so high, at most a minute
//	sink H                        likewise, until it is so low, at most five minutes
//	do ID P...                    COMMAND_LONG
//	int FRAME ID P1 P2 P3 P4 NORTH EAST H          COMMAND_INT with a place relative to home
//	set NAME VALUE                changes a parameter as before the flight
//	write NAME VALUE [int]        PARAM_SET; int: as the bytes of an integer
//	read NAME                     PARAM_REQUEST_READ
//	upload LIST [| ID P1 P2 P3 P4 NORTH EAST H]... sends a list of items, which may follow on lines; nan: no place
//	offer LIST N                  MISSION_COUNT, without the items
//	give LIST SEQ                 an item nobody asked for
//	list LIST, fetch LIST SEQ     MISSION_REQUEST_LIST, MISSION_REQUEST_INT
//	inject FAULT                  what happens to the vehicle, as in --fault, now
//	show ID FIELD...              asks for a message and shows fields of it
//	count ID S                    how often a message arrives in a time
//	mute, beat                    the station's heartbeats
//	state                         where the vehicle is
//
// The answer is what the vehicle sends and does. Times are in s since power-on.
type station struct {
	t      *testing.T
	v      *fake.Autopilot
	w      frame.Writer
	r      frame.Reader
	quiet  bool                         // nothing is noted
	mute   bool                         // it sends no heartbeats
	list   uint64                       // of the upload under way
	items  []*mav.MessageMissionItemInt // likewise; nil: there is none
	state  fake.State
	mode   uint32 // of the last heartbeat
	heard  map[uint32]frame.Message
	counts map[uint32]int
	log    strings.Builder
}

// airborne is what lets each kind of vehicle fly.
var airborne = map[string]string{
	"plane":      "pass 35\ndo 176 1 13\ndo 400 1\nclimb 48",
	"copter":     "pass 50\ndo 176 1 4\ndo 400 1\ndo 22 0 0 0 0 0 0 20\nclimb 19",
	"px4-plane":  "pass 35\ndo 22 -1 0 0 nan nan nan 650\ndo 400 1\nclimb 57.9",
	"px4-copter": "pass 35\ndo 22 -1 0 0 nan nan nan 650\ndo 400 1\nclimb 59.9",
}

func (s *station) answer(t *testing.T, d golden.Directive) string {
	name := d.Args[0].Key
	firmware, ok := fake.FirmwareNamed(name)
	if d.Name != "fly" || !ok {
		t.Fatalf("%s: %s %s", d.At, d.Name, name)
	}
	*s = station{t: t, w: frame.Writer{System: 255, Component: 190}, v: fake.New(fake.Options{Firmware: firmware}),
		heard: map[uint32]frame.Message{}, counts: map[uint32]int{}, quiet: true}
	for _, a := range d.Args[1:] {
		switch a.Key {
		case "air":
			s.steps(airborne[name])
		case "mute":
			s.mute = true
		default:
			s.pass(number(t, a.Values[0]))
		}
	}
	s.quiet = false
	s.steps(d.Input)
	return s.log.String()
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (s *station) steps(lines string) {
	for line := range strings.Lines(strings.ReplaceAll(lines, "\n|", " |")) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		words := strings.Fields(rest)
		x := make([]float64, 10)
		for i, w := range words {
			if v, err := strconv.ParseFloat(w, 64); err == nil && i < len(x) {
				x[i] = v
			}
		}
		s.step(verb, rest, words, x)
	}
}

// step carries out a step with words after its verb, and the numbers among them.
func (s *station) step(verb, rest string, words []string, x []float64) {
	switch verb {
	case "pass":
		if s.pass(x[0], x[1:len(words)]...); len(words) > 1 {
			s.show()
		}
	case "climb", "sink":
		limit := map[string]int{"climb": 600, "sink": 3000}[verb]
		for n := 0; (verb == "climb") == (s.v.State().Height <= x[0]); n++ {
			if s.pass(0.1); n == limit {
				s.t.Fatalf("%s %s: %+v\n%s", verb, rest, s.v.State(), s.log.String())
			}
		}
	case "do":
		s.send(&mav.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: common.MAV_CMD(x[0]),
			Param1: float32(x[1]), Param2: float32(x[2]), Param3: float32(x[3]), Param4: float32(x[4]),
			Param5: float32(x[5]), Param6: float32(x[6]), Param7: float32(x[7])})
	case "int":
		it := item(x[1:])
		s.send(&mav.MessageCommandInt{TargetSystem: 1, TargetComponent: 1, Command: it.Command, Frame: mav.MAV_FRAME(x[0]),
			Param1: it.Param1, Param2: it.Param2, Param3: it.Param3, Param4: it.Param4, X: it.X, Y: it.Y, Z: it.Z})
	case "set":
		s.v.Set(words[0], x[1])
	case "write":
		m := &mav.MessageParamSet{TargetSystem: 1, TargetComponent: 1, ParamId: words[0], ParamValue: float32(x[1])}
		if m.ParamType = mav.MAV_PARAM_TYPE_REAL32; len(words) > 2 {
			m.ParamValue, m.ParamType = math.Float32frombits(uint32(x[1])), mav.MAV_PARAM_TYPE_INT32
		}
		s.send(m)
	case "read":
		s.send(&mav.MessageParamRequestRead{TargetSystem: 1, TargetComponent: 1, ParamId: words[0], ParamIndex: -1})
	case "upload", "offer", "give", "list", "fetch":
		s.transfer(verb, rest, x)
	case "inject":
		var p fake.Scenario
		if err := p.Add(rest + "@0"); err != nil {
			s.t.Fatal(err)
		}
		s.v.Inject(p.Events[0].Event)
		s.look()
	case "show":
		s.send(&mav.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: 512, Param1: float32(x[0])})
		for _, field := range words[1:] {
			s.note("%s: %v", field, reflect.ValueOf(s.heard[uint32(x[0])]).Elem().FieldByName(field))
		}
	case "count":
		clear(s.counts)
		s.pass(x[1])
		s.note("message %s: %d times", words[0], s.counts[uint32(x[0])])
	case "mute", "beat":
		s.mute = verb == "mute"
	case "state":
		s.show()
	default:
		s.t.Fatalf("there is no step %q", verb)
	}
}

// transfer carries out a step about a list of items.
func (s *station) transfer(verb, rest string, x []float64) {
	s.list, s.items = uint64(x[0]), nil
	kind := common.MAV_MISSION_TYPE(s.list)
	switch verb {
	case "upload":
		_, all, _ := strings.Cut(rest, "|")
		for text := range strings.SplitSeq(all, "|") {
			var p []float64
			for _, w := range strings.Fields(text) {
				p = append(p, number(s.t, w))
			}
			s.items = append(s.items, item(p))
		}
		s.send(&mav.MessageMissionCount{TargetSystem: 1, TargetComponent: 1, Count: uint16(len(s.items)), MissionType: kind})
	case "offer":
		s.send(&mav.MessageMissionCount{TargetSystem: 1, TargetComponent: 1, Count: uint16(x[1]), MissionType: kind})
	case "give":
		s.give(item([]float64{16, 0, 0, 0, 0, 0, 0, 50}), int(x[1]))
	case "list":
		s.send(&mav.MessageMissionRequestList{TargetSystem: 1, TargetComponent: 1, MissionType: kind})
	case "fetch":
		s.send(&mav.MessageMissionRequestInt{TargetSystem: 1, TargetComponent: 1, Seq: uint16(x[1]), MissionType: kind})
	}
}

// origin is where vehicles are switched on.
var origin = earth.NewPlane(earth.Position{Lat: 48.0814, Lon: 11.2831})

// item returns an item of a command, four parameters and a place [m]; no number is no place.
func item(p []float64) *mav.MessageMissionItemInt {
	it := &mav.MessageMissionItemInt{Command: common.MAV_CMD(p[0]), Frame: 3, Param1: float32(p[1]), Param2: float32(p[2]),
		Param3: float32(p[3]), Param4: float32(p[4]), Z: float32(p[7])}
	if p[5] == p[5] {
		g := origin.Global(p[5], p[6])
		it.X, it.Y = int32(math.Round(g.Lat*1e7)), int32(math.Round(g.Lon*1e7))
	}
	return it
}

func (s *station) give(it *mav.MessageMissionItemInt, seq int) {
	it.TargetSystem, it.TargetComponent, it.Seq, it.MissionType = 1, 1, uint16(seq), common.MAV_MISSION_TYPE(s.list)
	s.send(it)
}

func (s *station) note(format string, a ...any) {
	if !s.quiet {
		fmt.Fprintf(&s.log, "%6.1f  %s\n", float64(s.v.Now())/sec, fmt.Sprintf(format, a...))
	}
}

func (s *station) show() {
	a := s.v.State()
	s.note("%.0f m north, %.0f m east, %.1f m high, %.1f m/s, %s", a.North, a.East, a.Height, a.Airspeed, a.Mode)
}

// pass lets time [s] pass. With a place [m], it notes the least and the largest values of the motion.
func (s *station) pass(seconds float64, place ...float64) {
	least, most := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}, [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for range int(math.Round(10 * seconds)) {
		if s.v.Now()%sec == 0 && !s.mute {
			s.send(&mav.MessageHeartbeat{Type: 6, Autopilot: 8})
		}
		s.v.Step(sec / 10)
		s.look()
		if len(place) > 0 {
			a := s.v.State()
			for i, x := range []float64{math.Hypot(a.North-place[0], a.East-place[1]), a.Height, a.Airspeed} {
				least[i], most[i] = min(least[i], x), max(most[i], x)
			}
		}
	}
	if len(place) > 0 {
		s.note("%.0f to %.0f m from there, %.1f to %.1f m high, %.1f to %.1f m/s", least[0], most[0], least[1], most[1],
			least[2], most[2])
	}
}

func (s *station) send(m frame.Message) {
	raw, err := s.w.Write(m, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	s.v.Receive(raw)
	s.look()
}

// look takes what the vehicle has sent, and notes what it does.
func (s *station) look() {
	for _, d := range s.v.Out() {
		for _, f := range s.r.Read(d) {
			s.heard[f.Message.GetID()] = f.Message
			s.counts[f.Message.GetID()]++
			s.take(f.Message)
		}
	}
	a := s.v.State()
	if a.Mode != s.state.Mode {
		s.note("the mode is %s", a.Mode)
	}
	for _, c := range []struct {
		is, was bool
		yes, no string
	}{{a.Armed, s.state.Armed, "is armed", "is disarmed"}, {a.Flying, s.state.Flying, "flies", "is on the ground"},
		{a.Critical, s.state.Critical, "is in failsafe", "is in failsafe no more"}} {
		if text := map[bool]string{true: c.yes, false: c.no}[c.is]; c.is != c.was {
			s.note("it %s", text)
		}
	}
	s.state = a
}

func (s *station) take(m frame.Message) {
	short := func(prefix string, x fmt.Stringer) string {
		return strings.ToLower(strings.TrimPrefix(x.String(), prefix))
	}
	switch m := m.(type) {
	case *mav.MessageHeartbeat:
		if m.CustomMode != s.mode {
			s.note("heartbeat: mode %d", m.CustomMode)
		}
		s.mode = m.CustomMode
	case *mav.MessageCommandAck:
		s.note("%d: %s", m.Command, short("MAV_RESULT_", m.Result))
	case *mav.MessageStatustext:
		s.note("%q", m.Text)
	case *mav.MessageParamValue:
		x := float64(m.ParamValue)
		bytewise := s.heard[0].(*mav.MessageHeartbeat).Autopilot == mav.MAV_AUTOPILOT_PX4
		if bytewise && m.ParamType != mav.MAV_PARAM_TYPE_REAL32 {
			x = float64(int32(math.Float32bits(m.ParamValue)))
		}
		s.note("%s = %g, place %d", m.ParamId, x, m.ParamIndex)
	case *mav.MessageMissionAck:
		s.note("list %d: %s", m.MissionType, short("MAV_MISSION_", m.Type))
	case *mav.MessageMissionCount:
		s.note("list %d has %d items", m.MissionType, m.Count)
	case *mav.MessageMissionItemInt:
		s.note("item %d: %d %v %v %v %v, %v m", m.Seq, m.Command, m.Param1, m.Param2, m.Param3, m.Param4, m.Z)
	case *mav.MessageMissionItemReached:
		s.note("reached item %d", m.Seq)
	case *mav.MessageMissionRequest:
		s.asked(int(m.Seq))
	case *mav.MessageMissionRequestInt:
		s.asked(int(m.Seq))
	}
}

// asked gives the vehicle the item that it asks for.
func (s *station) asked(seq int) {
	if seq >= len(s.items) {
		s.note("it asks for item %d", seq)
		return
	}
	s.give(s.items[seq], seq)
}

// run flies the vehicles of a script.
func run(t *testing.T, name string) {
	golden.Run(t, func() golden.Machine { return (&station{}).answer }, "testdata/"+name+".txt")
}

// The scripts show what was measured of ArduPlane and ArduCopter, and what documentation and sources tell of PX4.

func TestTrapsOfArduPlane(t *testing.T)   { run(t, "plane") }
func TestLandingsAsMeasured(t *testing.T) { run(t, "landings") }
func TestCirclesAsMeasured(t *testing.T)  { run(t, "circles") }
func TestTrapsOfPX4(t *testing.T)         { run(t, "px4") }
func TestCopter(t *testing.T)             { run(t, "copter") }
func TestCopterMission(t *testing.T)      { run(t, "copter-mission") }
func TestBoot(t *testing.T)               { run(t, "boot") }
func TestTrapsOfThePayload(t *testing.T)  { run(t, "payload") }
func TestPayloadOfAMission(t *testing.T)  { run(t, "payload-mission") }
