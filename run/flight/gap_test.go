package flight_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/vehicle/contract"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// interrupted is a flight of the circuit whose program stands still, or is killed and started again.
type interrupted struct {
	record.Nothing
	t       *testing.T
	m       *mission.Mission
	f       *flight.Flight
	v       *fake.Autopilot
	wall    int64
	waiting [][]byte // frames that the program has not received
	names   []string
	lines   []string
	old     string // a signal that was older than its staleness when the plan decided
}

func (x *interrupted) Event(e record.Event) error {
	x.lines = append(x.lines, fmt.Sprintf("%.3f %s: %s", e.T, e.Kind, e.Text))
	return nil
}

// staleness is the age [s] at which a source is unknown.
var staleness = map[string]float64{"h": 1, "north": 1, "groundspeed": 1, "airspeed": 1, "ready": 1.5, "in_air": 1.5,
	"estimator_ok": 1.5, "gps_ok": 1.5, "mode": 3, "armed": 3, "battery": 3}

func (x *interrupted) Status(t float64, _ int, c bt.Change) error {
	x.lines = append(x.lines, fmt.Sprintf("%.3f %s %v", t, x.names[c.Task], c.To))
	for i, s := range contract.Plane.Signals {
		if age, known := x.f.Age(i); known && staleness[s.Name] > 0 && age > staleness[s.Name]+0.1 {
			x.old += fmt.Sprintf("at %.3f s, %s %v is decided by %s, which is %.3f s old\n", t, x.names[c.Task], c.To,
				s.Name, age)
		}
	}
	return nil
}

func (x *interrupted) program() {
	var err error
	x.f, err = flight.New(x.m, flight.Options{Arm: true, Options: adapter.Options{Ends: service.Ends{
		Us: service.Address{System: 1, Component: 191}, Vehicle: service.Address{System: 1, Component: 1}}}})
	if err != nil {
		x.t.Fatal(err)
	}
	x.f.Attach(x)
}

func (x *interrupted) step(kind flight.Kind, data []byte) {
	out, err := x.f.Step(flight.Input{Kind: kind, At: service.Clock{Wall: x.wall, Unix: 1e18 + x.wall}, Data: data})
	if err != nil {
		x.t.Fatal(err)
	}
	for _, frame := range out {
		x.v.Receive(frame)
	}
}

// vehicle lets the vehicle fly, whose frames wait.
func (x *interrupted) vehicle(d int64) {
	for ; d > 0; d -= 20e6 {
		x.v.Step(20e6)
		x.wall += 20e6
		x.waiting = append(x.waiting, x.v.Out()...)
	}
}

// until flies to a time of the wall clock.
func (x *interrupted) until(wall int64) {
	for x.wall < wall && !x.f.Over() {
		x.vehicle(20e6)
		x.deliver()
		if x.f.Due() <= x.wall {
			x.step(flight.Wake, nil)
		}
	}
}

func (x *interrupted) deliver() {
	for _, frame := range x.waiting {
		x.step(flight.Frame, frame)
	}
	x.waiting = nil
}

// A program that stands still for any time, at any time, or is killed and started again after any time, never decides
// by a signal that is older than its staleness, and the plan goes on: no leg is lost, and no take-off is flown twice.
func TestGaps(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 23))
	m, diags := mission.Read("../../missions/circuit-plane.yaml", os.ReadFile, equations.Offers(), nil)
	if m == nil {
		t.Fatal(diags)
	}
	rounds := 60
	if testing.Short() {
		rounds = 16
	}
	for n := range rounds {
		x := &interrupted{t: t, m: m, v: fake.New(fake.Options{}), wall: 1}
		for i := range m.Plan.Tree.Len() {
			x.names = append(x.names, m.Plan.Tree.Name(bt.Task(i)))
		}
		x.program()
		x.step(flight.Start, nil)
		x.step(flight.Open, []byte("udp:"))
		at, gap, killed := int64(25e9+150e9*random.Float64()), int64(1e11*random.Float64()*random.Float64()), n%2 == 0
		x.until(at)
		state := snapshot.Save(nil, x.f)
		if x.vehicle(gap); killed {
			x.waiting = nil
			x.program()
			if err := x.f.Restore(state); err != nil {
				t.Fatal(err)
			}
			x.step(flight.Start, nil)
			x.step(flight.Open, []byte("udp:"))
		} else if random.IntN(2) == 0 {
			x.waiting = x.waiting[:min(len(x.waiting), 1000)] // a buffer that was full
		} else {
			x.step(flight.Wake, nil)
		}
		x.deliver()
		x.until(400e9)
		s, log := x.f.Summary(), strings.Join(x.lines, "\n")
		what := fmt.Sprintf("killed %v at %.3f s for %.3f s", killed, float64(at)/1e9, float64(gap)/1e9)
		if x.old != "" {
			t.Errorf("%s: %s", what, x.old)
		}
		if s.Plan != record.PlanSucceeded || strings.Count(log, "leg_1 Activating")+strings.Count(log, "leg_4 Activating") != 4 {
			t.Errorf("%s: %s %s\n%s", what, s.Plan, s.Reason, log)
		}
	}
}
