package simulated

import (
	"math"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// away is an action that brings the cart back to its start when it is left, at 1 m/s.
const away = `<Action ID="a" write="v := 0.5" exit="v := -1" exit_until="x le 0 [m]"/>`

// A run that is interrupted runs exit procedures that take time to their end. The cart has gone 0.5 m/s until then and
// comes back at 1 m/s.
func TestExitsEnd(t *testing.T) {
	m, l := cartMission(t, away, "", "horizon=40", "tolerance=1e-9"), &log{}
	r := begin(t, m, run.Continuous{}, math.Inf(1), l)
	for r.T() < 20 {
		if _, err := r.Step(); err != nil {
			t.Fatal(err)
		}
	}
	stopped := r.T()
	if err := r.Stop("interrupted"); err != nil {
		t.Fatal(err)
	}
	s := r.Summary()
	near(t, "the exit procedure begins", l.at(m, "a", bt.Deactivating), 1e-6, stopped)
	near(t, "the end", []float64{s.Ended}, 1e-6, 1.5*stopped)
	near(t, "x at the end", l.ends(m, "x"), 1e-6, 0)
	if s.Outcome != record.Interrupted || !r.Statuses()[0].Transient() {
		t.Errorf("%v, %v", s.Outcome, r.Statuses())
	}
	if more, err := r.Step(); more || err != nil {
		t.Errorf("the run goes on: %v", err)
	}
}

// Without the tree there is no outcome of the plan.
func TestVerdict(t *testing.T) {
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
