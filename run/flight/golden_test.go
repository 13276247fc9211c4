package flight

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/internal/golden"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/vehicle/contract"
	"github.com/canopy-uav/canopy/vehicle/earth"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// plane is a vehicle that keeps the contract of planes and moves by samples only. Its only state that is measured is the
// charge of the battery.
func plane() *model.Vehicle {
	v := &model.Vehicle{Name: contract.Plane.Name, New: func([]float64) (model.Instance, error) { return still{}, nil },
		Sources: map[string]string{}, Parameters: []model.Parameter{{Name: "site.lat_deg", Unit: "deg", Min: -90, Max: 90},
			{Name: "site.lon_deg", Unit: "deg", Min: -180, Max: 180}}}
	v.States = []model.State{{Variable: model.Variable{Name: "simulated", Unit: "1"}, Range: model.Between(1, 2)}}
	for _, s := range contract.Plane.Signals {
		x := model.Variable{Name: s.Name, Unit: s.Unit}
		if s.Name == "battery" {
			v.States = append(v.States, model.State{Variable: x, Range: model.Between(-0.01, 1)})
		} else {
			v.Outputs = append(v.Outputs, model.Output{Variable: x})
		}
		if s.Source != contract.Clock {
			v.Sources[s.Name] = s.Source.String()
		}
	}
	for _, s := range contract.Plane.Slots {
		v.Commands = append(v.Commands, model.Command{Variable: model.Variable{Name: s.Name, Unit: s.Unit},
			Default: s.Default, Hold: true, Range: model.Between(s.Min, s.Max)})
	}
	return v
}

type still struct{}

func (still) Initial([]float64)                                    {}
func (still) Derivatives(float64, []float64, []float64, []float64) {}
func (still) Outputs(float64, []float64, []float64, []float64)     {}

func planeMission(t testing.TB, body, yaml string) *mission.Mission {
	t.Helper()
	head := "mission: test\nplan: plan.xml\nvehicle: plane\nhorizon: 1000\nrecord: {interval: 100, signals: [h]}\n"
	f := cart.Files{"m/test.yaml": head + yaml, "m/plan.xml": cart.Plan(body)}
	m, diags := mission.Read("m/test.yaml", f.Open, model.Offers(plane()), nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return m
}

// scripted is a vehicle that shows what a script says, and notes what it is told.
type scripted struct {
	shown   map[string]float64 // by the name of the signal
	wants   map[string]float64 // by the name of the slot
	heard   int64              // the wall time of the last sample
	home    *earth.Position
	state   adapter.State
	samples []adapter.Sample
	events  []adapter.Event
	told    func(text string)
}

// State implements snapshot.Stateful: a scripted vehicle remains.
func (v *scripted) State(*snapshot.Codec) {}

func (v *scripted) Receive(service.Clock, frame.Frame) {}
func (v *scripted) Wake(service.Clock)                 {}
func (v *scripted) Due() int64                         { return math.MaxInt64 }
func (v *scripted) Out() []frame.Message               { return nil }
func (v *scripted) Control() adapter.State             { return v.state }

// Heard reports whether the program of the script has shown something since.
func (v *scripted) Heard(since int64) bool { return v.heard >= since }

// Shows compares the mode and the arming with what is wanted of them.
func (v *scripted) Shows(slot int) bool {
	name := contract.Plane.Slots[slot].Name
	wanted, told := v.wants[name]
	shown, known := v.shown[map[string]string{wantedMode: presentMode, armSlot: "armed"}[name]]
	return v.state == adapter.Ready && (!told || known && shown == wanted)
}

func (v *scripted) Home() (earth.Position, bool) {
	if v.home == nil {
		return earth.Position{}, false
	}
	return *v.home, true
}

// Named gives the mode loiter another name.
func (v *scripted) Named(mode string) string {
	if mode == "loiter" {
		return "loiter (CIRCLE)"
	}
	return mode
}

// Takes reports that the vehicle takes all slots but one.
func (v *scripted) Takes(slot int) bool { return contract.Plane.Slots[slot].Name != "wanted_relay" }

func (v *scripted) Vehicle(wall int64) int64 { return boot + wall }

// boot is what the clock of the scripted vehicle shows before the clock of the wall.
const boot = 5 * second

func (v *scripted) Samples() []adapter.Sample {
	s := v.samples
	v.samples = nil
	return s
}

func (v *scripted) Events() []adapter.Event {
	e := v.events
	v.events = nil
	return e
}

func (v *scripted) Want(slot int, value float64) {
	s := &contract.Plane.Slots[slot]
	v.wants[s.Name] = value
	text := strconv.FormatFloat(value, 'g', 6, 64)
	if s.Values != nil {
		text = s.Values[int(value)]
	}
	v.told(fmt.Sprintf("want %s = %s", s.Name, text))
}

func (v *scripted) Resume(service.Clock) {
	v.told("resume")
	v.state = adapter.Ready
}

// page is the log of a flight as lines.
type page struct {
	record.Nothing
	names []string
	lines []string
}

func (p *page) Event(e record.Event) error {
	p.lines = append(p.lines, fmt.Sprintf("%.3f %s: %s", e.T, e.Kind, e.Text))
	return nil
}

func (p *page) Plan(t record.Takeover) error {
	h := record.Header{Tasks: make([]record.Task, len(p.names))}
	for i := range p.names {
		h.Tasks[i].Name = p.names[i]
	}
	h.Take(t)
	p.names = p.names[:0]
	for _, x := range h.Tasks {
		p.names = append(p.names, x.Name)
	}
	return nil
}

func (p *page) Status(t float64, _ int, c bt.Change) error {
	p.lines = append(p.lines, fmt.Sprintf("%.3f %s %v", t, p.names[c.Task], c.To))
	return nil
}

// flown runs a flight by a script:
//
//	fly [arm] [return] [ends] [site] [until=T]  begins a flight of the plan given as input, and whether it ends with it
//	at T                                 what happens at this time of the wall clock [s], a line each:
//	    sample SIGNAL=VALUE ...   a message of telemetry; SIGNAL alone becomes unknown
//	    event KIND: TEXT          an event of the adapter
//	    home LAT LON              the vehicle's home [deg]
//	    state STATE               who commands the vehicle
//	    operator COMMAND
//	    swap PLAN                 the operator exchanges the plan
//	    from ADDRESS COMMAND      an operator at an address commands
//	    start                     the program has started again
//	    open ADDRESS, close WHY   the link was opened, or closed
//
// The answer is the log with what the vehicle is told, and the flight's phase once it is over.
type flown struct {
	f       *Flight
	v       *scripted
	p       *page
	program func() // starts anew
}

func (s *flown) answer(t *testing.T, d golden.Directive) string {
	s.p.lines = s.p.lines[:0]
	switch d.Name {
	case "fly":
		o, yaml := Options{}, ""
		for _, a := range d.Args {
			switch a.Key {
			case "arm":
				o.Arm = true
			case "ends":
				yaml = "ends_with_plan: true\n"
			case "site":
				yaml = "environment: {lat_deg: 48.08, lon_deg: 11.28}\n"
			case "return":
				o.Return = true
			case "until":
				o.Until = number(t, a.Values[0])
			default:
				t.Fatalf("%s: %s", d.At, a.Key)
			}
		}
		m := planeMission(t, d.Input, yaml)
		s.v = &scripted{shown: map[string]float64{}, wants: map[string]float64{}, told: func(text string) { s.p.lines = append(s.p.lines, "      "+text) }}
		s.program = func() {
			var err error
			if s.f, err = newFlight(m, contract.Plane, s.v, o); err != nil {
				t.Fatal(err)
			}
			s.f.Attach(s.p)
		}
		s.program()
		s.p.names = nil
		for i := range m.Plan.Tree.Len() {
			s.p.names = append(s.p.names, m.Plan.Tree.Name(bt.Task(i)))
		}
	case "at":
		s.at(t, int64(number(t, d.Args[0].Key)*second), d.Input)
		state := snapshot.Save(nil, s.f) // another program goes on with it
		if s.program(); snapshot.Load(state, s.f) != nil || !bytes.Equal(snapshot.Save(nil, s.f), state) {
			t.Errorf("%s: the state is not restored", d.At)
		}
	default:
		t.Fatalf("%s: there is no directive %s", d.At, d.Name)
	}
	if s.f.Over() {
		summary := s.f.Summary()
		s.p.lines = append(s.p.lines, fmt.Sprintf("over: %s, %s; %s", summary.Outcome, summary.Reason, summary.Sortie))
		for _, text := range summary.Sortie.Faults() {
			s.p.lines = append(s.p.lines, "fault: "+text)
		}
	}
	return strings.Join(append(s.p.lines, ""), "\n")
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (s *flown) at(t *testing.T, wall int64, lines string) {
	in := Input{Kind: Wake, At: service.Clock{Wall: wall}}
	for line := range strings.Lines(lines) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "sample":
			s.v.samples = append(s.v.samples, sampleOf(t, boot+wall, rest))
			s.v.heard = wall
			for _, x := range s.v.samples[len(s.v.samples)-1].Values {
				s.v.shown[contract.Plane.Signals[x.Signal].Name] = x.V
			}
		case "home":
			s.v.home = &earth.Position{}
			if _, err := fmt.Sscan(rest, &s.v.home.Lat, &s.v.home.Lon); err != nil {
				t.Fatal(err)
			}
		case "event":
			kind, text, _ := strings.Cut(rest, ":")
			s.v.events = append(s.v.events, adapter.Event{Kind: kindOf(t, kind), Slot: -1, Text: strings.TrimSpace(text)})
		case "state":
			for s.v.state = 0; s.v.state.String() != rest; s.v.state++ {
			}
		case "operator":
			in.Kind, in.Data = Operator, []byte(rest)
		case "from":
			address, command, _ := strings.Cut(rest, " ")
			in.Kind, in.Data = Operator, []byte(From(address, command))
		case "start":
			in.Kind = Start
		case "open":
			in.Kind, in.Data = Open, []byte(rest)
		case "close":
			in.Kind, in.Data = Close, []byte(rest)
		case "swap", "swap-safely":
			in.Kind = Operator
			in.Data = []byte(Swap(&diag.Source{Name: "new.xml", Text: cart.Plan(rest)}, verb == "swap-safely"))
		default:
			t.Fatalf("%q", line)
		}
	}
	_, err := s.f.Step(in)
	if list, refused := s.f.Swapped(); in.Kind == Operator && (refused != nil || list.HasErrors()) {
		s.p.lines = append(s.p.lines, fmt.Sprintf("not begun: %v, %d mistakes", refused, len(list)))
	}
	if err != nil {
		s.p.lines = append(s.p.lines, "error: "+err.Error())
	}
}

func sampleOf(t *testing.T, at int64, text string) adapter.Sample {
	sample := adapter.Sample{T: at}
	for _, word := range strings.Fields(text) {
		name, value, known := strings.Cut(word, "=")
		i := contract.Plane.Signal(name)
		if i < 0 {
			t.Fatalf("there is no signal %s", name)
		}
		v := adapter.Value{Signal: i, Rate: math.NaN(), Known: known}
		if k := slices.Index(contract.Plane.Signals[i].Values, value); k >= 0 {
			v.V = float64(k)
		} else if known {
			v.V = number(t, value)
		}
		sample.Values = append(sample.Values, v)
	}
	return sample
}

func kindOf(t *testing.T, name string) adapter.Kind {
	for k := adapter.Attaching; k <= adapter.Text; k++ {
		if k.String() == name {
			return k
		}
	}
	t.Fatalf("there is no event %s", name)
	return 0
}

// Each policy of a flight has a script; the guide describes it.
func TestPolicies(t *testing.T) {
	golden.Run(t, func() golden.Machine { return (&flown{p: &page{}}).answer }, "testdata/*.txt")
}
