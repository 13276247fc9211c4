package simulated

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/internal/cart"
	"canopy/run"
	"canopy/run/record"
	"canopy/sim"
	"canopy/vehicle/model"
)

// away is an action that brings the cart back to its start when it is left, at 1 m/s.
const away = `<Action ID="a" write="v := 0.5" exit="v := -1" exit_until="x le 0 [m]"/>`

// However a run ends, exit procedures that take time are run to their end. The cart has gone 0.5 m/s until then and
// comes back at 1 m/s.
func TestExitsEnd(t *testing.T) {
	const horizon = 40.0
	for name, test := range map[string]struct {
		yaml    string
		stop    float64 // s; 0: not
		ends    float64 // s: the run, before the stopping phase
		outcome record.Outcome
	}{
		"horizon":     {"", 0, horizon, record.Complete},
		"interrupted": {"", 20, 20, record.Interrupted},
		"plan's end":  {"ends_with_plan: true\n", 0, 30, record.Complete},
	} {
		body := away
		if name == "plan's end" {
			body = `<ReactiveFallback><Action ID="a" write="v := 0.5" done="t ge 30 [s]" exit="v := -1" exit_until="x le 0 [m]"/></ReactiveFallback>`
		}
		m := cartMission(t, body, test.yaml, "horizon=40", "tolerance=1e-9")
		l := &log{}
		r := begin(t, m, run.Continuous{}, math.Inf(1), l)
		for more := true; more; {
			var err error
			if more, err = r.Step(); err != nil {
				t.Fatal(err)
			}
			if test.stop > 0 && r.T() >= test.stop {
				test.ends = r.T()
				if err := r.Stop("interrupted"); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		s := r.Summary()
		near(t, name+": the exit procedure begins", l.at(m, "a", bt.Deactivating), 1e-6, test.ends)
		near(t, name+": the end", []float64{s.Ended}, 1e-6, 1.5*test.ends)
		near(t, name+": x at the end", l.ends(m, "x"), 1e-6, 0)
		if s.Outcome != test.outcome || !r.Statuses()[0].Transient() {
			t.Errorf("%s: %v, %v", name, s.Outcome, r.Statuses())
		}
		if more, err := r.Step(); more || err != nil {
			t.Errorf("%s: the run goes on: %v", name, err)
		}
	}
}

// After a failure of the plan, time advances until exit procedures have ended; after one of the world it cannot, and
// the log names what has not ended.
func TestExitsAfterFailure(t *testing.T) {
	m := cartMission(t, `<ReactiveParallel success_count="1" failure_count="2">`+away+`<ReactiveSequence><Condition ID="late" on="t ge 20 [s]"/><Action ID="b" entry_time="-1"/></ReactiveSequence></ReactiveParallel>`, "", "tolerance=1e-9")
	r, l, err := fly(t, m)
	if err == nil || r.Summary().Outcome != record.Failed {
		t.Fatalf("error %v", err)
	}
	near(t, "the end", []float64{r.T()}, 1e-6, 30)
	near(t, "x at the end", l.ends(m, "x"), 1e-6, 0)

	m = cartMission(t, away, "environment: {noon: 55}\n")
	r, l, err = fly(t, m)
	var bad *sim.NotFiniteError
	if !errors.As(err, &bad) || r.T() > 55 {
		t.Fatalf("error %v", err)
	}
	if got, want := l.kinds("stopping"), []string{"not ended: the exit procedure of a"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// An exit procedure whose condition never holds ends with the time of the stopping phase.
func TestExitsAreBounded(t *testing.T) {
	m := cartMission(t, `<Action ID="a" exit="v := 0" exit_until="x lt -1 [m]"/>`, "")
	r, l := flown(t, m)
	near(t, "the end", []float64{r.T()}, 1e-9, 100+run.MaxStopping)
	contains(t, "the log", strings.Join(l.kinds("stopping"), " "), "not ended", "a")
}

// The outcome of the run and that of the plan are two answers.
func TestVerdict(t *testing.T) {
	for body, want := range map[string]record.Verdict{
		`<Action ID="a" write="v := 1" done="x ge 5 [m]"/>`:                                           record.PlanSucceeded,
		`<Action ID="a" write="v := 1" failed="x ge 5 [m]"/>`:                                         record.PlanFailed,
		`<Action ID="a" write="v := 1" exit="v := 0"/>`:                                               record.PlanOpen,
		`<ReactiveSequence><Condition ID="c" on="t lt 20 [s]"/><Action name="a"/></ReactiveSequence>`: record.PlanFailed,
		`<RunOnce><Action ID="a" write="v := 1" done="x ge 5 [m]"/></RunOnce>`:                        record.PlanSucceeded,
		`<RunOnce><Action ID="a" write="v := 1" failed="x ge 5 [m]"/></RunOnce>`:                      record.PlanFailed,
		`<Action ID="a" write="v := 1" _skipIf="t ge 0 [s]"/>`:                                        record.PlanSkipped,
		`<Action ID="a" write="v := 1" _while="x lt 5 [m]"/>`:                                         record.PlanSkipped,
	} {
		for _, yaml := range []string{"", "ends_with_plan: true\n"} {
			r, _, err := fly(t, cartMission(t, body, yaml))
			if s := r.Summary(); err != nil || s.Plan != want || s.Outcome != record.Complete {
				t.Errorf("%s: the run is %s, the plan %s, want %s; %v", body, s.Outcome, s.Plan, want, err)
			}
		}
	}
	m := cartMission(t, `<Action name="a"/>`, "")
	r := begin(t, m, run.Recorded(nil), 1, &log{})
	if err := r.Fly(t.Context(), nil); err != nil || r.Summary().Plan != record.PlanAbsent {
		t.Errorf("without the tree the plan is %q", r.Summary().Plan)
	}
}

// A value that is not finite is never recorded: the run stops and names the signal, or the state, and the time.
func TestOnlyNumbersAreRecorded(t *testing.T) {
	for _, test := range []struct{ body, yaml, name string }{
		{`<Action ID="a" write="v := 1e306"/>`, "", "x"},
		{`<Action ID="a" write="v := 0.2"/>`, "signals: {pole: {unit: 1/s, value: '1 / (t - 20 [s])'}}\n", "pole"},
		{`<Action ID="a" write="v := 1"/>`, "signals: {root: {unit: m, value: 'sqrt(50 [m] - x) * sqrt(1 [m])'}}\n", "root"},
		{`<Action ID="a" write="v := 1 [m^2/s]/(2 [m] - x)"/>`, "", "x"},
	} {
		m := cartMission(t, test.body, test.yaml)
		r, l, err := fly(t, m)
		if err == nil || r.Summary().Outcome != record.Failed {
			t.Errorf("%s: no failure", test.body)
			continue
		}
		contains(t, "the error", err.Error(), test.name, "t = ")
		for k, row := range l.rows {
			for _, v := range row {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%s: at %g s recorded %v", test.body, l.times[k], row)
				}
			}
		}
	}
}

// A signal that is not recorded must be finite if something reads it, even if what is computed from it is. What nothing
// reads may be undefined.
func TestOnlyNumbersAreRead(t *testing.T) {
	const pole = "signals: {pole: {unit: 1/s, value: '1 / (t - 20 [s])'}"
	for _, test := range []struct{ body, yaml, name string }{
		{`<Action ID="a" write="v := min(max(pole * 1 [m], 0 [m/s]), 1 [m/s])"/>`, pole + "}\n", "pole is +Inf"},
		{`<Action ID="a" write="v := if(pole * 1 [s] gt 0, 1, 0)"/>`, pole + "}\n", "pole is +Inf"},
		{`<Fallback><Condition ID="c" on="min(pole, 1 [1/s]) gt 2 [1/s]"/><Action name="a"/></Fallback>`, pole + "}\n",
			"pole is +Inf"},
		{`<Action name="a"/>`, pole + ", more: {unit: 1/s, value: 'min(pole, 1 [1/s])'}}\n", "pole is +Inf"},
		{`<Action ID="a" entry="gear := 1 [m] / (x - x)"/>`, "", "gear is +Inf"},
		{`<Action name="a"/>`, pole + "}\n", ""},
	} {
		f := cart.Files{"m/test.yaml": strings.Replace(cart.Head, "interval: 10", "interval: 10, signals: [x]", 1) + test.yaml,
			"m/plan.xml": cart.Plan(test.body)}
		m := read(t, "m/test.yaml", f.Open, model.Offers(cart.Vehicle), nil)
		switch r, _, err := fly(t, m); {
		case test.name == "" && err != nil:
			t.Errorf("%s: %v", test.body, err)
		case test.name != "" && (err == nil || r.Summary().Outcome != record.Failed):
			t.Errorf("%s: %v, want %s", test.body, err, test.name)
		case test.name != "":
			contains(t, "the error", err.Error(), test.name, "t = ")
		}
	}
}

// A state that is outside its range between two points of the grid only is seen.
func TestRangeBetweenSamples(t *testing.T) {
	m := cartMission(t, `<Action ID="a" write="v := 2000 * cos(t * 0.6283185307179586 [1/s]) * 1 [m/s]"/>`, "", "tolerance=1e-9")
	_, l := flown(t, m)
	if len(l.kinds("range")) < 2 { // x goes to and fro between -3183 m and 3183 m, and is at 0 when it is sampled
		t.Errorf("range events: %v", l.kinds("range"))
	}
}
