package monitor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/monitor"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/temporal"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// sameSides is a vehicle with drifts, decays, an oscillation, a ramp that jumps, and outputs of all kinds.
const sameSides = `vehicle: v
states:
  x: {initial: %s, derivative: "%s / 1 [s]"}
  y: {initial: %s, derivative: "(%s + pull) / 1 [s]"}
  z: {initial: %s, derivative: "(%s - z) / 3 [s]"}
outputs:
  w: {value: "if(x ge %s, y, z)"}
  near: {type: boolean, value: "abs(x - z) lt %s"}
  steps: {value: "floor(x) + sign(y)"}
commands:
  pull: {default: 0}
`

// A property that repeats a condition of the plan, in whatever notation, is judged as the plan judged it: the action that
// runs only while the condition holds never runs without it.
func TestPropertiesReadTheSidesOfThePlan(t *testing.T) {
	missions := 600
	if testing.Short() {
		missions = 100
	}
	changes := 0
	for seed := range missions {
		random := rand.New(rand.NewPCG(uint64(seed), 27))
		number := func() string { return fmt.Sprintf("%.1f", random.Float64()*6-3) }
		condition, same := sameCondition(random, number)
		files := map[string]string{
			"v.vehicle.yaml": fmt.Sprintf(sameSides, number(), number(), number(), number(), number(),
				[]string{number(), "3 * sin(t / 1 [s])", "x"}[random.IntN(3)], number(), number()),
			"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="m"><ReactiveFallback><ReactiveSequence><Condition ID="c" on="` +
				strings.ReplaceAll(condition, "<", "lt") + `"/><Action ID="a" write="pull := ` + number() +
				`"/></ReactiveSequence><Action ID="b" write="pull := 0"/></ReactiveFallback></BehaviorTree></root>`,
			"m.yaml": fmt.Sprintf("plan: p.xml\nvehicle: v.vehicle.yaml\nhorizon: 20\nchattering: continue\nrecord: {interval: %s}\n"+
				"check:\n  properties: [\"always (a -> %s)\", \"always (b -> not (%s))\"]\n",
				[]string{"0.3", "7", "60"}[random.IntN(3)], same, same),
		}
		m, diags := mission.Read("m.yaml", func(name string) ([]byte, error) { return []byte(files[name]), nil },
			model.Offers(), nil)
		if m == nil {
			t.Fatalf("%v\n%s", diags, files)
		}
		watch := m.Watch()
		r, err := simulated.New(m.Judging(watch), run.Continuous{}, math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		h := r.Header()
		judge := monitor.New(&h, watch)
		r.Attach(judge)
		if err := r.Fly(t.Context(), nil); err != nil {
			continue // an instant without end
		}
		summary := r.Summary()
		changes += summary.StateEvents
		if whole, parts := events(t, m, math.Inf(1)), events(t, m, random.Float64()*20); !slices.Equal(whole, parts) {
			t.Errorf("%d: %d events, %d if it is continued", seed, len(whole), len(parts))
		}
		list, err := judge.Judge(&record.End{Told: r.T(), Summary: &summary})
		if err != nil {
			t.Fatalf("%d: %v", seed, err)
		}
		for _, p := range list {
			if p.Verdict != "satisfied" && p.Kind != temporal.OfSliding.String() {
				t.Errorf("%d: %s: %s at %v, margin %v; the plan's condition is %s\n%s", seed, p.Verdict, p.Property, *p.At,
					*p.Margin, condition, files["v.vehicle.yaml"])
			}
		}
	}
	if changes < missions {
		t.Errorf("only %d events in %d missions", changes, missions)
	}
}

// logged keeps the texts of events.
type logged struct {
	record.Nothing
	texts []string
}

func (l *logged) Event(e record.Event) error {
	l.texts = append(l.texts, fmt.Sprint(e.T, e.Text))
	return nil
}

// events returns the events of a run that is continued in another one after a time.
func events(t *testing.T, m *mission.Mission, after float64) []string {
	t.Helper()
	l := &logged{}
	begin := func() *run.Run {
		r, err := simulated.New(m, run.Continuous{}, math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		r.Attach(l)
		return r
	}
	r, goOn := begin(), true
	for goOn && r.T() < after {
		goOn, _ = r.Step()
	}
	if goOn {
		next := begin()
		if err := snapshot.Load(snapshot.Save(nil, r), next); err != nil {
			t.Fatal(err)
		}
		for goOn {
			goOn, _ = next.Step()
		}
	}
	return l.texts
}

// sameCondition returns a condition and an equivalent one.
func sameCondition(random *rand.Rand, number func() string) (condition, same string) {
	signal := func() string { return []string{"x", "y", "z", "w", "steps"}[random.IntN(5)] }
	a, b, n := signal(), signal(), number()
	switch random.IntN(11) {
	case 0:
		return a + " ge " + n, "2 * " + a + " ge 2 * (" + n + ")"
	case 1:
		return a + " ge " + n + " + " + b, a + " - (" + n + ") ge " + b
	case 2:
		return "max(" + a + ", " + b + ") ge " + n, "max(" + b + ", " + a + ") ge " + n
	case 3:
		return "floor(" + a + ") ge " + n, "floor(" + a + ") ge " + n
	case 4:
		return "near", "near"
	case 5:
		return "abs(" + a + " - " + b + ") lt 1", "1 gt abs(" + a + " - " + b + ")"
	case 6:
		return a + " * " + b + " gt " + n, a + " * " + b + " gt " + n
	case 7:
		return "not near and " + a + " lt " + n, n + " gt " + a + " and not near"
	case 8:
		return "if(near, " + a + ", " + b + ") ge " + n, "if(near, " + a + ", " + b + ") ge " + n
	case 9:
		return "mod(" + a + ", 1) lt 0.3", "mod(" + a + ", 1) lt 0.3"
	}
	return "min(" + a + ", " + n + ") ge " + b + " or near", "near or min(" + a + ", " + n + ") ge " + b
}

// A property of a fast signal fills no disk: after many changes, its relations are no events any more, and samples show
// them.
func TestFastSignalsAreSampledAfterMuch(t *testing.T) {
	files := map[string]string{
		"v.vehicle.yaml": "vehicle: v\nstates: {x: {derivative: \"1 / 1 [s]\"}}\noutputs: {fast: {value: sin(1000 * x)}}\n",
		"p.xml":          `<root BTCPP_format="4"><BehaviorTree ID="m"><Action ID="a" done="x ge 500"/></BehaviorTree></root>`,
		"m.yaml": "plan: p.xml\nvehicle: v.vehicle.yaml\nhorizon: 1000\nrecord: {interval: 1}\ncheck:\n  properties:\n" +
			"    - always (fast lt 0.5)\n    - always (fast lt 1.1)\n    - eventually (x ge 900)\n",
	}
	m, diags := mission.Read("m.yaml", func(name string) ([]byte, error) { return []byte(files[name]), nil },
		model.Offers(), nil)
	if m == nil {
		t.Fatal(diags)
	}
	r, err := simulated.New(m.Judging(m.Watch()), run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	h := r.Header()
	judge := monitor.New(&h, m.Watch())
	r.Attach(judge)
	if err := r.Fly(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	summary := r.Summary()
	if n := summary.StateEvents; n < 10_000 || n > 10_010 {
		t.Errorf("%d events", n)
	}
	list, err := judge.Judge(&record.End{Told: r.T(), Summary: &summary})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"violated", "satisfied", "satisfied"} {
		if list[i].Verdict != want {
			t.Errorf("%s: %s", list[i].Property, list[i].Verdict)
		}
	}
}
