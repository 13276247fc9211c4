package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/autopilot/adapter"
	"canopy/autopilot/fake"
	"canopy/autopilot/service"
	"canopy/bt"
	"canopy/document/mission"
	"canopy/internal/cart"
	"canopy/run/flight"
	"canopy/run/record"
	"canopy/vehicle/contract"
	"canopy/vehicle/model"
)

func plane() *model.Vehicle {
	v := &model.Vehicle{Name: contract.Plane.Name, New: func([]float64) (model.Instance, error) { return nil, nil },
		Sources: map[string]string{}}
	for _, s := range contract.Plane.Signals {
		v.Outputs = append(v.Outputs, model.Output{Variable: model.Variable{Name: s.Name, Unit: s.Unit}})
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

func planeMission(t testing.TB, body, yaml string) *mission.Mission {
	t.Helper()
	head := "mission: test\nplan: plan.xml\nvehicle: plane\nhorizon: 10000\nrecord: {interval: 1, signals: [h]}\n"
	f := cart.Files{"m/test.yaml": head + yaml, "m/plan.xml": cart.Plan(body)}
	offer := model.Offer{Name: "plane", Make: plane, Fenced: func(string) *model.Vehicle { return plane() }}
	m, diags := mission.Read("m/test.yaml", f.Open, []model.Offer{offer}, nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return m
}

var ends = service.Ends{Us: service.Address{System: 1, Component: 191}, Vehicle: service.Address{System: 1, Component: 1}}

// newFlight prepares a flight of a mission with the vehicle of ends.
func newFlight(t testing.TB, m *mission.Mission, o flight.Options) *flight.Flight {
	t.Helper()
	o.Ends = ends
	f, err := flight.New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// newDriver returns the driver of such a flight, without a black box, and its log.
func newDriver(t testing.TB, m *mission.Mission, o flight.Options, c FarEnd) (*Driver, *page) {
	t.Helper()
	d, p := New(newFlight(t, m, o), c, Options{}), newPage(m)
	d.Attach(p)
	return d, p
}

// newWire returns the wire of a fake vehicle that flies as fast as possible.
func newWire(v *fake.Autopilot) *simulated { return Fake("fake", v, 1e18, 0).(*simulated) }

// page is the log of a flight.
type page struct {
	names []string // of the tasks
	lines []string
	h     []float64
}

func newPage(m *mission.Mission) *page {
	p := &page{}
	for i := range m.Plan.Tree.Len() {
		p.names = append(p.names, m.Plan.Tree.Name(bt.Task(i)))
	}
	return p
}

func (p *page) Sample(t float64, v []float64) error {
	p.h = append(p.h, v[0])
	return nil
}

func (p *page) Event(e record.Event) error {
	p.lines = append(p.lines, fmt.Sprintf("%.3f %s: %s", e.T, e.Kind, e.Text))
	return nil
}

func (p *page) Status(t float64, _ int, c bt.Change) error {
	p.lines = append(p.lines, fmt.Sprintf("%.3f %s %v", t, p.names[c.Task], c.To))
	return nil
}

// course takes off, flies to a point in the north and ends there.
const course = `<Sequence name="mission">
  <Action name="prepare" done="ready gt 0.5 and home_known gt 0.5"/>
  <Action name="take_off" entry="arm := 1; wanted_mode := 7; target_h := 80 [m]" done="h ge 75 [m]"/>
  <Action name="go" entry="wanted_mode := 3; target_north := 800 [m]; target_h := 80 [m]" done="reached gt 0.5"
          exit="speed := 22 [m/s]"/>
</Sequence>`

// tape is a black box in memory.
type tape struct {
	inputs, sent, synced int
	commands             []string
	closed               bool
	last                 flight.Kind
}

func (b *tape) Append(in flight.Input) error {
	if b.inputs++; in.Kind == flight.Operator {
		b.commands = append(b.commands, string(in.Data))
	}
	b.last = in.Kind
	return nil
}

func (b *tape) Out(d [][]byte) error { b.sent += len(d); return nil }
func (b *tape) Sync() error          { b.synced++; return nil }
func (b *tape) Due() bool            { return false }
func (b *tape) Checkpoint([]byte) error {
	panic("a checkpoint that is not due")
}
func (b *tape) Close() error { b.closed = true; return nil }

// fly flies the course with a fake plane. The context may end it; o may change the options.
func fly(t *testing.T, o flight.Options, received func(fake.Received), observe func(d *Driver) error) (*Driver, *page, *tape, error) {
	t.Helper()
	m := planeMission(t, course, "ends_with_plan: true\n")
	p, b := newPage(m), &tape{}
	d := New(newFlight(t, m, o), newWire(fake.New(fake.Options{Observe: received})),
		Options{Box: func(flight.Input) (Box, error) { return b, nil }})
	d.Attach(p)
	err := d.Fly(context.Background(), func(bool) error {
		if observe != nil {
			return observe(d)
		}
		return nil
	})
	return d, p, b, err
}

// A plan flies a fake plane: it waits until the vehicle is ready, takes off and reaches a point. Then the vehicle holds.
// The same flight gives the same log.
func TestFlight(t *testing.T) {
	var modes []uint16
	d, p, b, err := fly(t, flight.Options{Arm: true}, func(r fake.Received) {
		if r.ID == 176 || r.ID == 400 {
			modes = append(modes, r.ID*100+uint16(r.Params[1]))
		}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := d.Summary(); s.Plan != record.PlanSucceeded || s.Ended < 40 || s.Ended > 70 {
		t.Errorf("%+v\n%s", s, strings.Join(p.lines, "\n"))
	}
	if top := slices.Max(p.h); top < 76 || top > 90 {
		t.Errorf("the plane climbed to %g m", top)
	}
	if want := []uint16{17613, 40000, 17615, 17612}; !slices.Equal(modes, want) { // take-off, arm, guided, loiter
		t.Errorf("the commands are %v, want %v", modes, want)
	}
	if b.inputs < 1000 || b.sent < 50 || b.synced < 4 || !b.closed || b.last != flight.End {
		t.Errorf("the black box: %+v", b)
	}
	_, again, _, _ := fly(t, flight.Options{Arm: true}, nil, nil)
	if !slices.Equal(p.lines, again.lines) {
		t.Error("two flights with the same vehicle differ")
	}
}

// Without permission the plan does not enable the motors: the vehicle stays on the ground until the mission's horizon.
func TestTheMotorsNeedPermission(t *testing.T) {
	armed := false
	d, _, _, err := fly(t, flight.Options{Until: 60}, func(r fake.Received) { armed = armed || r.ID == 400 }, nil)
	if err != nil || armed || d.Summary().Ended != 60 {
		t.Errorf("%v; armed %v; %+v", err, armed, d.Summary())
	}
}

// The operator stops in the air: the exit procedure of the action runs, then the vehicle returns.
func TestStopInTheAir(t *testing.T) {
	interrupted := errors.New("interrupted")
	var speeds, modes []float64
	d, p, _, err := fly(t, flight.Options{Options: adapter.Options{Return: true}, Arm: true}, func(r fake.Received) {
		switch r.ID {
		case 43000, 178:
			speeds = append(speeds, r.Params[1])
		case 176:
			modes = append(modes, r.Params[1])
		}
	}, func(d *Driver) error {
		if d.T() > 40 && !d.Over() {
			return interrupted
		}
		return nil
	})
	if !errors.Is(err, interrupted) {
		t.Fatal(err)
	}
	if err := d.Stop("Ctrl-C"); err != nil || !d.Over() {
		t.Fatal(err)
	}
	if s := d.Summary(); s.Outcome != record.Interrupted || len(modes) == 0 || modes[len(modes)-1] != 11 {
		t.Errorf("%+v, modes %v, speeds %v\n%s", s, modes, speeds, strings.Join(p.lines, "\n"))
	}
}
