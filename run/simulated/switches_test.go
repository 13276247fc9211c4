package simulated

import (
	"math"
	"testing"

	"canopy/document/mission"
	"canopy/internal/cart"
)

// equationsMission reads a mission of a vehicle given as equations, whose plan has the given body.
func equationsMission(t testing.TB, vehicle, body, yaml string, set ...string) *mission.Mission {
	t.Helper()
	files := cart.Files{"m/test.yaml": "mission: test\nplan: plan.xml\nvehicle: v.vehicle.yaml\n" + yaml,
		"m/plan.xml": cart.Plan(body), "m/v.vehicle.yaml": vehicle}
	m, diags := mission.Read("m/test.yaml", files.Open, nil, set)
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

// idle is a plan that does nothing.
const idle = `<Action name="idle"/>`

// A pulse inside an equation is found at every tolerance, however short it is beside the steps.
func TestPulseInAnEquation(t *testing.T) {
	for _, tolerance := range []string{"1e-3", "1e-6", "1e-9"} {
		for _, equation := range []string{
			"if(t ge 5000 [s] and t lt 5100 [s], 1, 0) * 1 [1/s]",
			"pulse",
			"if(pulse gt 0.5 [1/s], 1, 0) * 1 [1/s]",
		} {
			m := equationsMission(t, `
states: {x: {derivative: "`+equation+`"}}
outputs: {pulse: {unit: 1/s, value: "if(t ge 5000 [s] and t lt 5100 [s], 1, 0) * 1 [1/s]"}}
`, idle, "horizon: 86400\nrecord: {interval: 3600}\ntolerance: "+tolerance+"\n")
			_, l, err := fly(t, m)
			if err != nil {
				t.Fatal(err)
			}
			near(t, equation+" at "+tolerance, []float64{l.last(m, "x")}, 1e-10, 100)
			if len(l.events) > 0 {
				t.Errorf("switches of the vehicle are logged: %v", l.events)
			}
		}
	}
}

// A condition that reads an output with a pulse holds exactly during the pulse.
func TestPulseInAnOutput(t *testing.T) {
	m := equationsMission(t, `
states: {x: {derivative: 0}}
outputs: {pulse: {value: "if(t ge 5000 [s] and t lt 5100 [s], 1, 0)"}}
`, `<ReactiveSequence name="s"><Condition name="up" on="pulse gt 0.5"/><Action name="go"/></ReactiveSequence>`,
		"horizon: 86400\nrecord: {interval: 3600}\n")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	var times []float64
	for _, s := range l.statuses {
		if m.Plan.Tree.Name(s.Task) == "up" && s.t > 0 {
			times = append(times, s.t)
		}
	}
	near(t, "changes", times, 0, 5000, 5100)
}

// The branch of min, max and abs is kept between events: a tracker that is saturated, and an absolute value, end at
// their closed forms within the tolerance of a smooth system.
func TestKinksAreEvents(t *testing.T) {
	m := equationsMission(t, `
states:
  a: {derivative: "abs(sin(t / 1 [s])) * 1 [1/s]", tolerance: 1e-9}
  b: {derivative: "min(t / 1 [s], 10, 25 - t / 1 [s]) * 1 [1/s]", tolerance: 1e-9}
  c: {derivative: "max(t / 1 [s] - 3, 0)^2 * 1 [1/s]", tolerance: 1e-9}
`, idle, "horizon: 20\nrecord: {interval: 1}\ntolerance: 1e-9\n")
	r, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	abs := 12 + 1 - math.Cos(20-6*math.Pi)
	near(t, "integrals", []float64{l.last(m, "a"), l.last(m, "b"), l.last(m, "c")}, 1e-7,
		abs, 137.5, 17*17*17/3.)
	if n := r.Summary().StateEvents; n != 6+2+1 {
		t.Errorf("%d state events, want 9", n)
	}
}

// A guard such as sqrt(max(h, 0)) works although the branch of max is kept: a tank empties at the time of Torricelli's
// law, and stays empty.
func TestGuardsHold(t *testing.T) {
	m := equationsMission(t, `
states: {h: {unit: m, initial: 1, derivative: "-0.01 [1/s] * sqrt(max(h, 0) * 1 [m])"}}
`, idle, "horizon: 300\nrecord: {interval: 10}\n")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "level", []float64{l.column(m, "h")[10], l.last(m, "h")}, 1e-5, 0.25, 0)
}

// An output that only the record reads costs no event; the record has its exact values.
func TestRecordedKinksCostNothing(t *testing.T) {
	m := equationsMission(t, `
states: {x: {derivative: "cos(t / 1 [s]) * 1 [1/s]", tolerance: 1e-9}}
outputs: {size: {value: "abs(x)"}, sense: {value: "if(x ge 0, 1, -1)"}}
`, idle, "horizon: 20\nrecord: {interval: 1}\ntolerance: 1e-9\n")
	r, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Summary().StateEvents; n != 0 {
		t.Errorf("%d state events", n)
	}
	for i, x := range l.column(m, "x") {
		if size, sense := l.column(m, "size")[i], l.column(m, "sense")[i]; size != math.Abs(x) || sense*x < 0 {
			t.Errorf("at %g s: x %g, size %g, sense %g", l.times[i], x, size, sense)
		}
	}
}

// A jump that drives its state back from both sides ends the run with the relation's name, or is followed.
func TestJumpThatChatters(t *testing.T) {
	vehicle := `
states: {x: {derivative: "if(x ge 1, -2, 1) * 1 [1/s]"}}
`
	_, _, err := fly(t, equationsMission(t, vehicle, idle, "horizon: 20\nrecord: {interval: 1}\n"))
	if err == nil {
		t.Fatal("the run does not stop")
	}
	contains(t, "the error", err.Error(), "chattering at t = 1", "x >= 1")
	m := equationsMission(t, vehicle, idle, "horizon: 20\nrecord: {interval: 1}\nchattering: continue\n")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the state that slides", []float64{l.last(m, "x")}, 0.05, 1)
	if len(l.kinds("chattering")) != 1 {
		t.Errorf("events %v", l.events)
	}
}

// A pulse of time alone is found, with and without a maximum step, although the integrator would step over it.
func TestPulseOfTimeAlone(t *testing.T) {
	for _, limit := range []string{"", "max_step: 10\n"} {
		m := equationsMission(t, `
states: {x: {derivative: 0}}
outputs: {peak: {value: "exp(-((t - 40000 [s]) / 2 [s])^2)"}}
`, `<ReactiveSequence name="s"><Condition name="up" on="peak gt 0.5"/><Action name="go"/></ReactiveSequence>`,
			"horizon: 86400\nrecord: {interval: 3600}\n"+limit)
		_, l, err := fly(t, m)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.kinds("state")) != 2 {
			t.Errorf("with %q: events %v", limit, l.events)
		}
	}
}
