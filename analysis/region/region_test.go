package region

import (
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
)

// read reads a mission that the repository has, or one whose files are given.
func read(t *testing.T, name string, files map[string]string, set ...string) *mission.Mission {
	t.Helper()
	open := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return os.ReadFile(name)
	}
	m, diags := mission.Read(name, open, nil, set)
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

// box is the space of the first two states.
func box(m *mission.Mission, x0, x1, y0, y1 float64) *Space {
	s := m.Vehicle.States
	return &Space{Until: m.Horizon, Axes: [2]Axis{{0, s[0].Name, s[0].Unit, x0, x1}, {1, s[1].Name, s[1].Unit, y0, y1}}}
}

// all evaluates every start, one after the other.
func all(g *Grid) func([]Start) [][]Sample {
	return func(starts []Start) [][]Sample {
		answers := make([][]Sample, len(starts))
		for i, s := range starts {
			for _, q := range g.Questions {
				answers[i] = append(answers[i], q.Sample(s[0], s[1]))
			}
		}
		return answers
	}
}

func sampled(t *testing.T, s *Space, cells, depth int, questions ...Question) *Grid {
	t.Helper()
	g := NewGrid(s, questions, cells, depth)
	if !g.Refine(all(g)) {
		t.Fatal("not refined to the end")
	}
	return g
}

// agree compares the answers at every start with a closed form. Starts within a distance of a boundary, where the
// closed form gives class 0, may be of any class.
func agree(t *testing.T, g *Grid, question int, tolerance float64, want func(x, y float64) (Class, float64)) {
	t.Helper()
	wrong, judged := 0, 0
	for _, p := range g.known() {
		s, got := g.start(p), g.samples[p][question]
		class, time := want(s[0], s[1])
		if class == 0 {
			continue
		}
		judged++
		if got.Class != class || math.Abs(got.Time-time) > tolerance {
			if wrong++; wrong < 5 {
				t.Errorf("%s from %v: %+v, want class %d at %g s", g.Questions[question].Name(), s, got, class, time)
			}
		}
	}
	if judged < g.Len()*3/4 {
		t.Errorf("only %d of %d starts judged", judged, g.Len())
	}
}

// tree makes the files of a mission with a plan.
func tree(vehicle, body, more string) map[string]string {
	return map[string]string{
		"m.yaml":         "plan: plan.xml\nvehicle: v.vehicle.yaml\n" + more,
		"v.vehicle.yaml": vehicle,
		"plan.xml":       `<root BTCPP_format="4"><BehaviorTree ID="main">` + body + `</BehaviorTree></root>`,
	}
}

// An integrator with saturation and a constant wind y: x' = y - sat(2x). With |x| <= 0.1 as success it is attracted
// where the wind blows towards success or can be overcome; beyond saturation it drifts away or comes with y - 1.
func TestSaturatedIntegrator(t *testing.T) {
	files := tree(`
states:
  x: {unit: m, derivative: y - thrust}
  y: {unit: m/s, derivative: 0}
outputs: {speed: {unit: m/s, value: "2 * x / 1 [s]"}}
commands: {thrust: {unit: m/s}}
`, `<ReactiveFallback><Condition name="there" on="abs(x) le 0.1"/>
	<Action name="steer" write="thrust := max(-1, min(1, speed))"/></ReactiveFallback>`, "horizon: 100\ntolerance: 1e-9\n")
	m := read(t, "m.yaml", files)
	s := box(m, -2, 2.01, -0.77, 0.79)
	g := sampled(t, s, 12, 3, NewTrial(s, m, "steer"))
	agree(t, g, 0, 2e-4, func(x, y float64) (Class, float64) {
		if x < 0 {
			x, y = -x, -y
		}
		switch {
		case x <= 0.1:
			return Success, 0
		case math.Abs(y-0.2) < 2e-3: // slower than any horizon
			return 0, 0
		case y > 0.2:
			return Late, 100
		}
		time := 0.0
		if x > 0.5 {
			time, x = (x-0.5)/(1-y), 0.5
		}
		return Attracted, time + math.Log((x-y/2)/(0.1-y/2))/2
	})
}

// A plan that is skipped gives neither success nor failure, and its run ends then.
func TestSkippedTrial(t *testing.T) {
	m := read(t, "m.yaml", tree(`states: {x: {derivative: "-1 / 1 [s]"}, y: {derivative: "0 / 1 [s]"}}`,
		`<Repeat num_cycles="2"><RunOnce><Action name="sink" done="x le 1"/></RunOnce></Repeat>`, "horizon: 10\n"))
	s := box(m, 0, 3, 0, 1)
	agree(t, sampled(t, s, 6, 1, NewTrial(s, m, "twice")), 0, 1e-6, func(x, _ float64) (Class, float64) {
		return Passed, max(0, x-1)
	})
}

// Lemma 4: a plan whose state converges exponentially to a point succeeds in finite time near it, from everywhere. The
// time solves exp(-2 t) x^2 + exp(-4 t) y^2 = eps^2.
func TestLemma4(t *testing.T) {
	files := tree(`states: {x: {derivative: "-x / 1 [s]"}, y: {derivative: "-2 * y / 1 [s]"}}`,
		`<ReactiveFallback><Condition name="near" on="x * x + y * y le 0.01"/><Action name="wait"/></ReactiveFallback>`,
		"horizon: 100\n")
	m := read(t, "m.yaml", files)
	s := box(m, -3, 2, -2, 3)
	g := sampled(t, s, 10, 3, NewTrial(s, m, "near"))
	agree(t, g, 0, 1e-4, func(x, y float64) (Class, float64) {
		if x*x+y*y <= 0.01 {
			return Success, 0
		}
		low, high := 0.0, 10.0
		for range 60 {
			middle := (low + high) / 2
			if a, b := x*math.Exp(-middle), y*math.Exp(-2*middle); a*a+b*b > 0.01 {
				low = middle
			} else {
				high = middle
			}
		}
		return Attracted, low
	})
	if b := g.Bound(0); !b.Seen || b.Time > math.Log(3*math.Sqrt2/0.1) {
		t.Errorf("the bound %+v is beyond that of the slower state", b)
	}
}

const boat = "../../examples/08-finite-time/boat.yaml"

// Lemmas 3 and 5 on the boat of examples/08-finite-time, whose regions and times have closed forms.
func TestLemmaOfFallback(t *testing.T) {
	m := read(t, boat, nil)
	s := box(m, 0, 5, -2, 2)
	root := m.Plan.Tree.Root()
	whole, err := Of(s, m, root)
	if err != nil {
		t.Fatal(err)
	}
	first, second, err := Parts(s, m, root)
	if err != nil {
		t.Fatal(err)
	}
	g := sampled(t, s, 16, 3, whole, first, second)
	funnel := func(x float64) float64 { return math.Exp(-0.4 * (4 - x)) }
	agree(t, g, 0, 1e-4, func(x, y float64) (Class, float64) {
		if x >= 4 {
			return Success, 0
		}
		return Attracted, 4 - x + max(0, math.Abs(y)-funnel(x))/0.5
	})
	agree(t, g, 1, 1e-4, func(x, y float64) (Class, float64) {
		switch {
		case x >= 4:
			return Success, 0
		case math.Abs(y) <= funnel(x):
			return Attracted, 4 - x
		}
		return Failure, 0
	})
	agree(t, g, 2, 1e-4, func(_, y float64) (Class, float64) {
		if math.Abs(y) <= 0.1 {
			return Success, 0
		}
		return Attracted, (math.Abs(y) - 0.1) / 0.5
	})
	for _, statement := range g.Lemma(bt.ReactiveFallback) {
		if !statement.Holds || statement.Starts < 100 {
			t.Errorf("%+v", statement)
		}
	}
	for k, want := range []float64{4 + (2-funnel(0))/0.5, 4, 3.8} {
		if b := g.Bound(k); math.Abs(b.Time-want) > 1e-4 {
			t.Errorf("tau%d = %g, want %g", k, b.Time, want)
		}
	}
}

// A corridor in which the current pushes the boat out: the lemma's premise holds as printed, its conclusion does not,
// for T1 fails from some of the starts that the lemma leaves to T2.
func TestLemmaTakesMoreThanItPrints(t *testing.T) {
	m := read(t, "../../examples/08-finite-time/corridor.yaml", nil)
	s := box(m, 0, 5, -2, 2)
	whole, _ := Of(s, m, m.Plan.Tree.Root())
	first, second, err := Parts(s, m, m.Plan.Tree.Root())
	if err != nil {
		t.Fatal(err)
	}
	g := sampled(t, s, 8, 1, whole, first, second)
	var holds []bool
	for _, statement := range g.Lemma(bt.ReactiveFallback) {
		holds = append(holds, statement.Holds)
	}
	if want := []bool{true, false, true, false, true}; !slices.Equal(holds, want) {
		t.Errorf("statements hold: %v, want %v", holds, want)
	}
}

const mass = "states: {x: {unit: m, derivative: vx}, y: {unit: m, derivative: vy}}\ncommands: {vx: {unit: m/s}, vy: {unit: m/s}}\n"

// The lemma's argument for a Sequence: first |y| <= 1, then, as long as that holds, on to x >= 4. Of three children, T2
// is the composition of the last two.
func TestLemmaOfSequence(t *testing.T) {
	files := tree(mass, `<ReactiveSequence name="both">
		<ReactiveFallback><Condition name="near" on="abs(y) le 1"/><Action name="in" write="vy := if(y > 0, -1, 1)"/></ReactiveFallback>
		<Condition name="still near" on="abs(y) le 1"/>
		<ReactiveFallback><Condition name="far" on="x ge 4"/><Action name="on" write="vx := 1"/></ReactiveFallback>
	</ReactiveSequence>`, "horizon: 20\n")
	m := read(t, "m.yaml", files)
	s := box(m, 0, 5, -3, 3)
	whole, _ := Of(s, m, m.Plan.Tree.Root())
	first, second, err := Parts(s, m, m.Plan.Tree.Root())
	if err != nil {
		t.Fatal(err)
	}
	if second.Name() != "both without both/ReactiveFallback" {
		t.Errorf("T2 is called %q", second.Name())
	}
	g := sampled(t, s, 10, 2, whole, first, second)
	agree(t, g, 0, 1e-4, func(x, y float64) (Class, float64) {
		time := max(0, math.Abs(y)-1) + max(0, 4-x)
		if time == 0 {
			return Success, 0
		}
		return Attracted, time
	})
	for _, statement := range g.Lemma(bt.ReactiveSequence) {
		if !statement.Holds || statement.Starts < 20 {
			t.Errorf("%+v", statement)
		}
	}
	if b := g.Bound(0); math.Abs(b.Time-6) > 1e-4 || g.Bound(1).Time+g.Bound(2).Time < b.Time-1e-4 {
		t.Errorf("tau0 = %g", b.Time)
	}
}

// A task that fails at once, later, or never: the other regions.
func TestFailures(t *testing.T) {
	files := tree(mass, `<ReactiveSequence><Condition name="inside" on="x le 4"/><Condition name="low" on="y lt 2"/>
		<Action name="on" write="vx := 1; vy := if(x ge 1 and y gt 0.5, log(-1) * 1 [m/s], 0)" done="x ge 3"/></ReactiveSequence>`, "horizon: 20\n")
	m := read(t, "m.yaml", files)
	s := box(m, 0, 5, 0, 1)
	q := NewTrial(s, m, "on")
	for _, c := range []struct {
		x, y float64
		want Class
	}{{4.5, 0, Failure}, {0, 0.8, Broken}, {3.5, 0.2, Success}, {2, 0.2, Attracted}} {
		if got := q.Sample(c.x, c.y); got.Class != c.want || (got.Text != "") != (c.want == Broken) {
			t.Errorf("from %g, %g: %+v, want class %d", c.x, c.y, got, c.want)
		}
	}
	files = tree("states: {x: {unit: m, derivative: 1, max: 3}, y: {derivative: 0}}",
		`<ReactiveSequence><Condition name="inside" on="x le 2 + 1 [m] * y"/><Action name="wait"/></ReactiveSequence>`, "horizon: 20\n")
	m = read(t, "m.yaml", files)
	s = box(m, 0, 5, 0, 1)
	q = NewTrial(s, m, "wait")
	if got := q.Sample(1, 0); got.Class != Failing || math.Abs(got.Time-1) > 1e-6 {
		t.Errorf("%+v, want a failure at 1 s", got)
	}
	if got := q.Sample(1, 5); got.Class != Broken || !strings.Contains(got.Text, "outside its range") {
		t.Errorf("%+v, want a run that leaves the model's range", got)
	}
}

// Only compositions have parts, only lists of rules have rules; names are found or guessed.
func TestWrongTasks(t *testing.T) {
	m := read(t, boat, nil)
	s := box(m, 0, 5, -2, 2)
	steer, err := Find(m.Plan, "steer")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Parts(s, m, steer); !errors.Is(err, ErrParts) {
		t.Errorf("parts of an action: %v", err)
	}
	if _, err := NewRegression(s, m, steer); !errors.Is(err, plan.ErrRules) {
		t.Errorf("rules of an action: %v", err)
	}
	if _, err := NewRegression(s, m, m.Plan.Tree.Root()); !errors.Is(err, plan.ErrRules) ||
		!strings.Contains(err.Error(), "run in, has no condition") {
		t.Errorf("rules without a goal: %v", err)
	}
	if _, err := Find(m.Plan, "stear"); !errors.Is(err, ErrTask) || !strings.Contains(err.Error(), `"steer"`) {
		t.Errorf("an unknown task: %v", err)
	}
	if list := Memory(m, m.Plan.Tree.Root()); list != nil {
		t.Errorf("the boat's plan has a memory: %v", list)
	}
	c := read(t, "../../examples/09-regression/courier.yaml", nil)
	if list := Memory(c, c.Plan.Tree.Root()); !slices.Equal(list, []string{"hysteresis"}) {
		t.Errorf("the courier's memory: %v", list)
	}
}
