package adapter_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/internal/golden"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// flight is the flight of an adapter with a fake vehicle, as a script of testdata/flights says:
//
//	fly VEHICLE... [OPTION]...   the same with each vehicle, and options: fence=NAME top=M rally site=(NORTH,EAST) unfenced
//	                             payload return
//
// The input has a step on each line:
//
//	set NAME VALUE               changes a parameter of the vehicle
//	equip                        the vehicle has a payload
//	want SLOT=VALUE...           a wanted state
//	take-off H                   wants a take-off to a height
//	ready                        time passes until the vehicle is attached; what happens is not told
//	climb                        likewise a take-off to 60 m, until it is at 55 m
//	pass S                       time passes
//	until SIGNAL OP VALUE in S   likewise until this holds, at most S; OP is <, > or =
//	until lists = N in S         likewise until so many lists are sent
//	until STATE in S             likewise until the adapter is in this state
//	inject FAULT                 what happens to the vehicle, as in --fault, now
//	clock S                      the vehicle's clock jumps
//	other ID P...                another ground station sends COMMAND_LONG
//	landing                      the vehicle's mission gets a landing
//	says TEXT                    the vehicle sends a text
//	deaf, hear                   the vehicle receives nothing, or all
//	beat, mute                   the heartbeats of a ground station
//	resume                       the operator lets the plan go on
//	begin [OPTION]...            another adapter, with further options
//	attach [OPTION]...           likewise, until the vehicle is attached or observed
//	only WORD...                 from now on, only lines with one of the words are told
//	lose, find                   the link is silent; it carries all
//	show SIGNAL...               the values of signals
//	where                        what the vehicle really does
//	payload                      likewise its payload
//	asked ID...                  which messages the vehicle was asked for
//
// The answer is what the adapter commands, with the vehicle's answer, its log, its states and some signals. Times are in s
// since power-on.
type flight struct {
	*flown
	quiet, beats bool
	only         []string
	told         strings.Builder
	replaced     int
	orders       int
	logged       int
	state        adapter.State
	shown        map[string]float64
}

// watched are the signals whose changes are told.
var watched = strings.Fields("ready mode armed in_air refused failsafe pilot fence_breached")

// long are numbers with more digits than are told.
var long = regexp.MustCompile(`(\d+\.\d{5})\d+`)

// fences are the fences of the scripts.
var fences = map[string]earth.Fence{
	"square": square,
	"two":    {Areas: []earth.Area{square.Areas[0], {Radius: 400}}},
	"hole":   {Areas: []earth.Area{square.Areas[0], {Forbidden: true, Centre: earth.Coordinates{North: 300}, Radius: 50}}},
	"areas":  areas,
}

func answerFlight(t *testing.T, d golden.Directive) string {
	var answer strings.Builder
	var names, options []string
	for _, a := range d.Args {
		if slices.Contains(fake.FirmwareNames(), a.Key) {
			names = append(names, a.Key)
		} else {
			options = append(options, strings.TrimSuffix(a.Key+"="+strings.Join(a.Values, ","), "="))
		}
	}
	if d.Name != "fly" {
		t.Fatalf("%s: unknown directive %s", d.At, d.Name)
	}
	for _, name := range names {
		s := &flight{flown: fly(t, name), shown: map[string]float64{}}
		s.begins(options)
		beat := s.flown.beats()
		s.each = func() {
			if s.tell(); s.beats {
				beat()
			}
		}
		for line := range strings.Lines(d.Input) {
			verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			s.step(verb, rest, strings.Fields(rest))
			s.tell()
		}
		if len(names) > 1 {
			fmt.Fprintf(&answer, "%s:\n", name)
		}
		answer.WriteString(s.told.String())
	}
	return answer.String()
}

// begins begins with further options.
func (s *flight) begins(options []string) {
	for _, option := range options {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "fence":
			s.options.Fence = fences[value]
		case "top":
			s.options.Fence.Top = s.number(value)
		case "rally":
			if s.options.Rally = refuge; value == "none" {
				s.options.Rally = nil
			}
		case "site":
			north, east, _ := strings.Cut(value, ",")
			site := airfield.Global(s.number(north), s.number(east))
			s.options.Site = &site
		case "unfenced":
			s.options.Unfenced = true
		case "payload":
			s.options.Payload = true
		case "return":
			s.options.Return = true
		default:
			s.t.Fatalf("there is no option %q", option)
		}
	}
	s.begin()
}

func (s *flight) number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return x
}

// word returns a value, which may be a word of a list.
func (s *flight) word(values []string, text string) float64 {
	if i := slices.Index(values, text); i >= 0 {
		return float64(i)
	}
	return s.number(text)
}

// step carries out a step.
func (s *flight) step(verb, rest string, words []string) {
	switch verb {
	case "set":
		s.vehicle.Set(words[0], s.number(words[1]))
	case "equip":
		s.vehicle.Equip()
	case "want":
		for _, w := range words {
			name, value, _ := strings.Cut(w, "=")
			i := s.contract.Slot(name)
			s.Want(i, s.word(s.contract.Slots[i].Values, value))
		}
	case "take-off":
		s.flown.want(s.number(rest))
	case "ready", "climb":
		if s.quiet = true; verb == "ready" {
			s.ready(300)
		} else {
			s.climb()
		}
		s.tell()
		s.quiet = false
	case "pass":
		s.pass(int64(s.number(rest)*sec), nil)
	case "until":
		s.until(words)
	case "inject":
		var p fake.Scenario
		if err := p.Add(rest + "@0"); err != nil {
			s.t.Fatal(err)
		}
		s.vehicle.Inject(p.Events[0].Event)
	case "clock":
		s.vehicle.Inject(fake.Event{Kind: fake.ClockStep, Value: s.number(rest)})
	case "other":
		var x [8]float64
		for i, w := range words {
			x[i] = s.number(w)
		}
		s.vehicle.Receive(raw(s.t, &mav.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: common.MAV_CMD(x[0]),
			Param1: float32(x[1]), Param2: float32(x[2])}))
	case "landing":
		s.landing()
	case "says":
		data, err := (&frame.Writer{System: 1, Component: 1}).Write(&mav.MessageStatustext{Severity: 4, Text: rest}, 0)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, x := range new(frame.Reader).Read(data) {
			s.Receive(clockOf(s.flown), x)
		}
	case "deaf", "hear":
		s.deaf = verb == "deaf"
	case "beat", "mute":
		s.beats = verb == "beat"
	case "resume":
		s.Resume(clockOf(s.flown))
	case "begin":
		s.begins(words)
	case "attach":
		s.begins(words)
		s.run(400*sec, func() bool { return s.Control() == adapter.Ready || s.Control() == adapter.Observing })
	case "only":
		s.only = words
	case "lose", "find":
		s.lose = func() bool { return verb == "lose" }
	default:
		s.look(verb, words)
	}
}

// look tells what is asked for.
func (s *flight) look(verb string, words []string) {
	switch verb {
	case "show":
		for _, name := range words {
			s.note("%s = %.4g", name, s.signals[name])
		}
	case "where":
		v := s.vehicle.State()
		s.note("%s, %.0f m high, %.0f m north, %.0f m east, %.0f m/s, armed %t, flying %t", v.Mode, v.Height+0, v.North+0, v.East+0,
			v.Airspeed+0, v.Armed, v.Flying)
	case "asked":
		for _, w := range words {
			s.note("message %s is asked for: %t", w, s.vehicle.Asked(uint32(s.number(w))))
		}
	case "payload":
		p := s.vehicle.Payload()
		s.note("servo 9 at %d us, relays %d, gripper %q, %d photos, pitch %.3g", p.PWM[8], p.Relays, p.Gripper, p.Photos, p.Pitch)
	default:
		s.t.Fatalf("there is no step %q", verb)
	}
}

// until lets time pass until something holds.
func (s *flight) until(words []string) {
	limit := int64(s.number(words[len(words)-1])) * sec
	if len(words) == 3 {
		s.run(limit, func() bool { return s.Control().String() == words[0] })
		return
	}
	if words[0] == "lists" {
		s.run(limit, func() bool { return float64(s.lists) == s.number(words[2]) })
		return
	}
	value := s.word(s.contract.Signals[s.contract.Signal(words[0])].Values, words[2])
	s.run(limit, func() bool {
		x := s.signals[words[0]]
		return words[1] == "<" && x < value || words[1] == ">" && x > value || words[1] == "=" && x == value
	})
}

func (s *flight) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	told := len(s.only) == 0 || slices.ContainsFunc(s.only, func(word string) bool { return strings.Contains(text, word) })
	if !s.quiet && told {
		fmt.Fprintf(&s.told, "%6.1f  %s\n", float64(s.vehicle.Now())/sec, text)
	}
}

// tell tells what is new.
func (s *flight) tell() {
	for ; s.orders < len(s.flown.orders); s.orders++ {
		s.note("-> %s", s.flown.orders[s.orders])
	}
	for ; s.replaced < s.lists; s.replaced++ {
		s.note("-> a list is sent")
	}
	text := s.log.String()
	for line := range strings.Lines(text[s.logged:]) {
		s.note("%s", long.ReplaceAllString(strings.TrimSpace(line[8:]), "$1"))
	}
	s.logged = len(text)
	if is := s.Control(); is != s.state {
		s.state = is
		s.note("   state: %s", is)
	}
	for _, name := range watched {
		x := s.signals[name]
		if was := s.shown[name]; x != was && (x == x || was == was) {
			s.shown[name] = x
			if values := s.contract.Signals[s.contract.Signal(name)].Values; len(values) > 0 && x == x {
				s.note("   %s = %s", name, values[int(x)])
				continue
			}
			s.note("   %s = %g", name, x)
		}
	}
}

// flyScript flies the vehicles of a script.
func flyScript(t *testing.T, name string) {
	golden.Run(t, func() golden.Machine { return answerFlight }, "testdata/flights/"+name+".txt")
}

func TestFakeFlight(t *testing.T)           { flyScript(t, "flight") }
func TestAnswers(t *testing.T)              { flyScript(t, "answers") }
func TestNotArmedInFailsafe(t *testing.T)   { flyScript(t, "not-armed-in-failsafe") }
func TestAbandonedTakeOff(t *testing.T)     { flyScript(t, "abandoned-take-off") }
func TestFailsafesOfACopter(t *testing.T)   { flyScript(t, "failsafes-of-a-copter") }
func TestFakeLands(t *testing.T)            { flyScript(t, "lands") }
func TestUnfit(t *testing.T)                { flyScript(t, "unfit") }
func TestDisarmed(t *testing.T)             { flyScript(t, "disarmed") }
func TestNotArmedWithoutFence(t *testing.T) { flyScript(t, "not-armed-without-fence") }
func TestPayload(t *testing.T)              { flyScript(t, "payload") }
func TestFenceIsInTheVehicle(t *testing.T)  { flyScript(t, "fence-is-in-the-vehicle") }
func TestFenceIsBreached(t *testing.T)      { flyScript(t, "fence-is-breached") }
func TestPayloadRefused(t *testing.T)       { flyScript(t, "payload-refused") }
