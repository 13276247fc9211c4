package flight

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/vehicle/contract"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// course is what a run did: the changes of statuses with their dates, and the recorded signals on the grid.
type course struct {
	record.Nothing
	names   []string
	changes []string
	dates   []float64
	times   []float64
	rows    [][]float64
}

func newCourse(m *mission.Mission) *course {
	c := &course{}
	for i := range m.Plan.Tree.Len() {
		c.names = append(c.names, m.Plan.Tree.Name(bt.Task(i)))
	}
	return c
}

func (c *course) Sample(t float64, values []float64) error {
	c.times, c.rows = append(c.times, t), append(c.rows, append([]float64(nil), values...))
	return nil
}

func (c *course) Status(t float64, _ int, x bt.Change) error {
	c.changes = append(c.changes, fmt.Sprintf("%s %v", c.names[x.Task], x.To))
	c.dates = append(c.dates, t)
	return nil
}

// simulate flies a mission with the simulated vehicle, and records all signals of its contract.
func simulate(t *testing.T, m *mission.Mission) *course {
	t.Helper()
	r, err := simulated.New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	c := newCourse(m)
	r.Attach(c)
	for more := true; more; {
		if more, err = r.Step(); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// observeCourse runs the plan of a mission in the world of telemetry, which is shown the signals of a course at the times
// of the grid, source by source.
func observeCourse(t *testing.T, m *mission.Mission, k *contract.Contract, of *course, period float64) *course {
	t.Helper()
	w := newWorld(m.Flown(), k)
	r, err := run.New(m.Flown(), w, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	c := newCourse(m)
	r.Attach(c)
	o := &observed{Run: r, w: w}
	column := map[string]int{}
	for i, name := range m.Record {
		column[name] = i
	}
	rates := map[string]string{"north": "v_north", "east": "v_east", "h": "climb", "alt": "climb"}
	next := 0
	for i, at := range of.times {
		if i+1 < len(of.times) && of.times[i+1] == at || math.Abs(at-float64(next)*period) > 1e-9 {
			continue // before an event, or no time of the grid
		}
		next++
		var samples []adapter.Sample
		for source := contract.Clock; source <= contract.Home; source++ {
			s := adapter.Sample{T: ns(at), Source: source, Period: ns(period)}
			for k, signal := range k.Signals {
				if signal.Source != source {
					continue
				}
				rate := math.NaN()
				if name, ok := rates[signal.Name]; ok {
					rate = of.rows[i][column[name]]
				}
				s.Values = append(s.Values, known(k, of.rows[i][column[signal.Name]], rate))
			}
			samples = append(samples, s)
		}
		for s := range samples {
			if at == 0 { // all is known before the plan begins
				w.see(&samples[s])
				w.show()
			} else if !r.Over() {
				o.show(t, samples[s])
			}
		}
		if at == 0 {
			w.start(0)
			o.react(t)
		}
	}
	return c
}

// A plan that is shown samples of a simulated flight does what it did in the simulation, in the same order, and each
// change at most one period of the samples later. What decides must last for a period: a copter that flies on from a point
// at once is at rest for less, so it waits for a second there.
func TestSampledSimulation(t *testing.T) {
	for name, c := range map[string]struct {
		contract *contract.Contract
		horizon  int // after the end of the plan [s]
		body     string
	}{
		"circuits of a plane": {contract: contract.Plane, horizon: 220, body: `<ReactiveSequence><ReactiveFallback>
			<Condition name="altitude" on="h ge 60 [m]" off="h lt 40 [m]"/><take_off/></ReactiveFallback>
			<SubTree ID="circuit" north_1="500 [m]" east_1="0 [m]" north_2="500 [m]" east_2="500 [m]" north_3="0 [m]"
			east_3="500 [m]" north_4="0 [m]" east_4="0 [m]" to_h="80 [m]" rounds="2"/></ReactiveSequence>`},
		"the library of planes": {contract: contract.Plane, horizon: 430, body: `<Sequence><take_off/>
			<fly_to to_north="600 [m]" to_east="-200 [m]" to_h="90 [m]"/><climb_to to_h="120 [m]"/><set_speed to_speed="26 [m/s]"/>
			<SubTree ID="loiter_turns" to_north="300 [m]" to_east="300 [m]" to_h="100 [m]" to_radius="150 [m]" turns="2"/>
			<SubTree ID="survey" polygon="300, 200; 300, 700; 600, 700; 600, 200" spacing="100 [m]" to_h="90 [m]"/>
			<wait duration="5 [s]"/><return_home/><land/></Sequence>`},
		"the library of copters": {contract: contract.Copter, horizon: 260, body: `<Sequence><take_off/>
			<fly_to to_north="60 [m]" to_east="-20 [m]" to_h="30 [m]"/><wait name="rest_1" duration="1 [s]"/><climb_to to_h="40 [m]"/>
			<set_speed to_speed="5 [m/s]"/>
			<SubTree ID="loiter_time" to_north="0 [m]" to_east="30 [m]" to_h="20 [m]" duration="30 [s]"/>
			<SubTree ID="loiter_turns" to_north="20 [m]" to_east="0 [m]" to_h="25 [m]" turns="1"/>
			<fly_to to_north="50 [m]" to_east="80 [m]" to_h="15 [m]"/><wait name="rest_2" duration="1 [s]"/><return_home/></Sequence>`},
	} {
		for _, period := range []float64{0.1, 0.25} {
			t.Run(fmt.Sprintf("%s every %g s", name, period), func(t *testing.T) {
				m := sampledMission(t, c.contract, c.horizon, c.body, period)
				flown := simulate(t, m)
				seen := observeCourse(t, m, c.contract, flown, period)
				seen.begin()
				if len(flown.changes) < 40 {
					t.Fatalf("%d changes", len(flown.changes))
				}
				for i, change := range flown.changes {
					if i >= len(seen.changes) || seen.changes[i] != change {
						t.Fatalf("simulated: %.4f s %s\nseen:      %v", flown.dates[i], change, lines(seen, i))
					}
					if late := seen.dates[i] - flown.dates[i]; late < -1e-6 || late > period+1e-6 {
						t.Errorf("%s at %.4f s in the simulation is seen %.4f s later", change, flown.dates[i], late)
					}
				}
			})
		}
	}
}

// begin drops what comes before the first task is active: in the world of telemetry nothing is known before the start, so
// that conditions which hold from the start on become true in an instant of their own.
func (c *course) begin() {
	for len(c.changes) > 0 && c.dates[0] == 0 && !strings.HasSuffix(c.changes[0], " Activating") {
		c.changes, c.dates = c.changes[1:], c.dates[1:]
	}
}

// lines returns a few changes.
func lines(c *course, at int) string {
	var b strings.Builder
	for i := max(0, at-2); i < min(len(c.changes), at+4); i++ {
		fmt.Fprintf(&b, "\n%.4f %s", c.dates[i], c.changes[i])
	}
	return b.String()
}

func sampledMission(t *testing.T, k *contract.Contract, horizon int, body string, period float64) *mission.Mission {
	t.Helper()
	var names []string
	for _, s := range k.Signals {
		names = append(names, s.Name)
	}
	yaml := fmt.Sprintf("plan: plan.xml\nvehicle: %s\nhorizon: %d\n"+
		"parameters: {wind.north: 2, wind.east: -3, battery.initial: 0.6}\nrecord: {interval: %g, signals: [%s]}\n", k.Name,
		horizon, period, strings.Join(names, ", "))
	plan := `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:` + k.Name + `"/><BehaviorTree ID="m">` +
		body + `</BehaviorTree></root>`
	m, list := mission.Read("m/test.yaml", cart.Files{"m/test.yaml": yaml, "m/plan.xml": plan}.Open, equations.Offers(), nil)
	if m == nil {
		t.Fatal(list)
	}
	return m
}
