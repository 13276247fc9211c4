package region

import (
	"math"
	"slices"
	"testing"
)

const (
	courier = "../../examples/09-regression/courier.yaml"
	sliding = "../../examples/09-regression/sliding.yaml"
)

// The counterexample of Example 3. Flying leads to the goal and recharging to the charge, so that Definition 1 holds
// everywhere; but flying violates its own condition unless x + y >= 4, so that Definition 4 does not. A drift of 1 m/s
// then undoes each flight, and the goal is never reached; 0.5 m/s undoes half of it.
func TestExample3(t *testing.T) {
	for _, c := range []struct {
		drift string
		want  func(x, y float64) (Class, float64)
	}{
		{"1", func(x, y float64) (Class, float64) {
			switch {
			case x >= 3:
				return Success, 0
			case math.Abs(x+y-4) < 1e-9: // either way, by rounding
				return 0, 0
			case x+y < 4:
				return Late, 30
			case y >= 2:
				return Attracted, 3 - x
			}
			return Attracted, 2 - y + 3 - (x - (2 - y))
		}},
		{"0.5", func(x, y float64) (Class, float64) {
			time := 0.0
			if x >= 3 {
				return Success, 0
			}
			if y < 2 {
				time, x, y = 2-y, x-0.5*(2-y), 2
			}
			for {
				switch flight := y - 1; {
				case math.Abs(x+flight-3) < 1e-9:
					return 0, 0
				case x+flight > 3:
					return Attracted, time + 3 - x
				default:
					time, x, y = time+flight+1, x+flight-0.5, 2
				}
			}
		}},
	} {
		m := read(t, courier, nil, "drift="+c.drift)
		s := box(m, -2, 4, 0.01, 4)
		rules, err := NewRegression(s, m, m.Plan.Tree.Root())
		if err != nil {
			t.Fatal(err)
		}
		g := sampled(t, s, 16, 2, NewTrial(s, m, "courier"), rules)
		agree(t, g, 0, 1e-4, c.want)
		agree(t, g, 1, 1e-4, func(x, y float64) (Class, float64) {
			switch {
			case x >= 3:
				return Goal, 0
			case y < 2:
				return Strongly, 2 - y
			case x+y > 4:
				return Strongly, 3 - x
			}
			return Weakly, 3 - x
		})
		var holds []bool
		for _, statement := range g.Rules() {
			holds = append(holds, statement.Holds)
		}
		if want := []bool{true, true, false, c.drift != "1"}; !slices.Equal(holds, want) {
			t.Errorf("drift %s: complete, Definition 1, Definition 4, success: %v, want %v", c.drift, holds, want)
		}
		start, found := g.Counterexample(Start{0, 2})
		if found != (c.drift == "1") || found && start != (Start{0, 2}) {
			t.Errorf("drift %s: counterexample %v, %v", c.drift, start, found)
		}
		if away, _ := g.Counterexample(Start{-3, 2}); found && !(away[0] == -2) {
			t.Errorf("the counterexample nearest to a start outside the box is %v", away)
		}
	}
}

// The numbers of the program without Canopy that was given for the example: with hysteresis of 1, 999 switches within 1000 s
// at a drift of 1 m/s, none of which helps, and with 2.5 one each 2.5 s; at 0.5 m/s, the goal after 8 switches at 9 s.
func TestExample3InNumbers(t *testing.T) {
	m := read(t, courier, nil, "drift=1", "horizon=999.5")
	path := NewTrial(box(m, -2, 4, 0, 4), m, "").Path(0, 2)
	if n := len(path.Begins) - 1; n != 999 || path.Sample.Class != Late {
		t.Errorf("%d switches, %+v", n, path.Sample)
	}
	if last := path.Begins[999]; last.Name != "recharge" || math.Abs(last.T-999) > 1e-3 {
		t.Errorf("the last switch is %+v", last)
	}
	wider := map[string]string{"m.yaml": "plan: plan.xml\nvehicle: ../../examples/09-regression/courier.vehicle.yaml\nhorizon: 999",
		"plan.xml": `<root BTCPP_format="4"><BehaviorTree ID="main"><ReactiveFallback><Condition name="goal" on="x ge 3"/>
		<ReactiveSequence><Condition name="charged" on="y ge 3.5" off="y lt 1"/><Action name="fly" write="fly := 1"/></ReactiveSequence>
		<Action name="recharge" write="recharge := 1"/></ReactiveFallback></BehaviorTree></root>`}
	m = read(t, "m.yaml", wider, "drift=1")
	path = NewTrial(box(m, -2, 4, 0, 4), m, "").Path(-0.1, 3.5) // each flight and each recharge takes 2.5 s
	if n := len(path.Begins) - 1; n != 399 || path.Sample.Class != Late {
		t.Errorf("%d switches, %+v", n, path.Sample)
	}
	m = read(t, courier, nil, "drift=0.5")
	path = NewTrial(box(m, -2, 4, 0, 4), m, "").Path(0, 2)
	if n := len(path.Begins) - 1; n != 8 || path.Sample.Class != Attracted || math.Abs(path.Sample.Time-9) > 1e-6 {
		t.Errorf("%d switches, %+v", n, path.Sample)
	}
}

// Without hysteresis the example is a sliding mode: the run stops as chattering, or continues with an error of the
// order of a step. Continuous time gives x' = (1 - drift) / 2 along y = 1: the goal at 9 s for 0.5 m/s, never for 1
// m/s.
func TestExample3WithoutHysteresis(t *testing.T) {
	for _, c := range []struct {
		drift string
		class Class
		time  float64
	}{{"0.5", Attracted, 9}, {"1", Late, 30}} {
		m := read(t, sliding, nil, "drift="+c.drift)
		got := NewTrial(box(m, -2, 4, 0, 4), m, "").Sample(0, 2)
		if got.Class != c.class || math.Abs(got.Time-c.time) > 0.05 {
			t.Errorf("drift %s: %+v, want class %d at %g s", c.drift, got, c.class, c.time)
		}
	}
	m := read(t, sliding, nil)
	stops := *m
	stops.Chattering = 0
	if got := NewTrial(box(m, -2, 4, 0, 4), &stops, "").Sample(0, 2); got.Class != Broken || math.Abs(got.Time-1) > 1e-6 {
		t.Errorf("%+v, want chattering at 1 s", got)
	}
}

// Rules that do not lead on, end without, or do not cover the world.
func TestRulesThatAreNotUniversal(t *testing.T) {
	m := read(t, "m.yaml", tree(mass, `<ReactiveFallback>
		<Condition name="goal" on="x ge 4"/>
		<ReactiveSequence><Condition name="low" on="y lt 1"/><Action name="wrong way" write="vx := -1"/></ReactiveSequence>
		<ReactiveSequence><Condition name="middle" on="y lt 2"/><Action name="gives up" write="vx := 1" failed="x ge 2"/></ReactiveSequence>
		<ReactiveSequence><Condition name="high" on="y lt 3"/><Condition name="left" on="x lt 1"/><Action name="down" write="vy := -1"/></ReactiveSequence>
	</ReactiveFallback>`, "horizon: 20\n"))
	s := box(m, 0, 5, 0, 4)
	r, err := NewRegression(s, m, m.Plan.Tree.Root())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x, y float64
		want Sample
	}{
		{4.5, 3.5, Sample{Class: Goal}},
		{0.5, 0.5, Sample{Class: Astray, Time: 20}},
		{0.5, 1.5, Sample{Class: Astray, Time: 1.5}},
		{0.5, 2.5, Sample{Class: Strongly, Time: 0.5}},
		{1.5, 2.5, Sample{Class: Gap}},
	} {
		if got := r.Sample(c.x, c.y); got.Class != c.want.Class || math.Abs(got.Time-c.want.Time) > 1e-4 {
			t.Errorf("from %g, %g: %+v, want %+v", c.x, c.y, got, c.want)
		}
	}
	g := sampled(t, s, 8, 0, NewTrial(s, m, ""), r)
	if list := g.Rules(); list[0].Holds || list[1].Holds || list[2].Holds || list[3].Holds {
		t.Errorf("%+v", list)
	}
	if start, found := g.Counterexample(Start{}); found {
		t.Errorf("%v is a counterexample, although the rules are not universal", start)
	}
}
