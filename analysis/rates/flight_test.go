package rates

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
)

// flight compares the difference quotients of the recorded signals with the rates of the active tasks.
type flight struct {
	record.Nothing
	t        *testing.T
	table    *Table
	active   map[bt.Task]bool
	time     float64
	values   []float64
	compared int
	samples  int
	near     map[string]interval.Interval // where the signals are, now and then; nil: not looked at
}

// between notes between which values the signals are since the last sample.
func (f *flight) between(values []float64) {
	if f.near = nil; f.samples%10 != 1 {
		return
	}
	f.near = map[string]interval.Interval{}
	for i, name := range f.table.m.Record {
		slack := 1e-5 * (1 + math.Abs(values[i]))
		f.near[name] = interval.Between(min(values[i], f.values[i])-slack, max(values[i], f.values[i])+slack)
	}
}

func (f *flight) Status(_ float64, _ int, c bt.Change) error {
	f.active[c.Task] = c.To == bt.Activating || c.To == bt.Running
	return nil
}

func (f *flight) Sample(t float64, values []float64) error {
	if t > f.time+1e-6 && f.values != nil {
		f.samples++
		f.between(values)
		for i, name := range f.table.m.Record {
			f.compare(name, (values[i]-f.values[i])/(t-f.time), 1e-5*(1+math.Abs(values[i]))/(t-f.time))
		}
	}
	f.time, f.values = t, append(f.values[:0], values...)
	return nil
}

// compare fails if a quotient is outside the rate of an active task.
func (f *flight) compare(signal string, quotient, slack float64) {
	for _, l := range f.table.m.Plan.Leaves {
		if !f.active[l.Task] {
			continue
		}
		if r, ok := f.table.Rate(l.Task, signal, f.near); ok && r.Impossible() {
			f.t.Fatalf("at %g s a flight is at %v while %s is active, which is impossible\n%s\n%s", f.time, f.near,
				f.table.m.Plan.Tree.Name(l.Task), f.table.m.Equations.Text, f.table.m.Plan.Source.Text)
		}
		r, ok := f.table.Rate(l.Task, signal, nil)
		if !ok || r.Jumps {
			continue
		}
		if f.compared++; quotient < r.Low-slack || quotient > r.High+slack {
			f.t.Fatalf("at %g s %s changes by %g /s while %s is active, outside %+v\n%s\n%s", f.time, signal, quotient,
				f.table.m.Plan.Tree.Name(l.Task), r, f.table.m.Equations.Text, f.table.m.Plan.Source.Text)
		}
	}
}

// randomNumber writes a bounded function of the states, commands and the time.
func randomNumber(r *rand.Rand, depth int, names ...string) string {
	sub := func() string { return randomNumber(r, depth-1, names...) }
	if depth == 0 {
		if r.IntN(4) == 0 {
			return fmt.Sprintf("%.2f", r.NormFloat64())
		}
		return names[r.IntN(len(names))]
	}
	switch r.IntN(10) {
	case 0, 1:
		return "(" + sub() + " + " + sub() + ")"
	case 2:
		return "(" + sub() + " - " + sub() + ")"
	case 3:
		return "sin(" + sub() + ")"
	case 4:
		return "tanh(" + sub() + ")"
	case 5:
		return "min(" + sub() + ", " + sub() + ")"
	case 6:
		return "tanh(" + sub() + ") * cos(" + sub() + ")"
	case 7:
		return "abs(" + sub() + ") / (1 + (" + sub() + ")^2)"
	case 8:
		return "if(" + sub() + " > 0.3, " + sub() + ", " + sub() + ")"
	}
	return "sqrt(1 + (" + sub() + ")^2)"
}

// randomPlan writes a tree of actions that write the commands and slots, in all ways.
func randomPlan(r *rand.Rand, depth int, n *int) string {
	*n++
	value := func() string { return randomNumber(r, 1, "a", "b", "k", "t / 10 [s]") }
	limit := func() string {
		return fmt.Sprintf("%s %s %.2f", []string{"a", "b", "o"}[r.IntN(3)], []string{"gt", "lt"}[r.IntN(2)], r.NormFloat64())
	}
	if depth == 0 {
		if r.IntN(4) == 0 {
			c := limit()
			return fmt.Sprintf(`<Condition name="c%d" on="%s" off="not (%s) and abs(b) gt 0.1"/>`, *n, c, c)
		}
		attributes := ""
		add := func(name, text string) { attributes += fmt.Sprintf(` %s="%s"`, name, text) }
		if r.IntN(3) > 0 {
			add("write", "u := "+value())
		} else if r.IntN(2) == 0 {
			add("write", "v := "+value()+"; k := tanh("+randomNumber(r, 1, "a", "b")+")")
		}
		if r.IntN(3) == 0 {
			add("entry", []string{"v := ", "k := "}[r.IntN(2)]+"tanh("+value()+")")
			if strings.Contains(attributes, "v := ") && strings.Count(attributes, "v := ") > 1 || strings.Count(attributes, "k := ") > 1 {
				attributes = ""
			}
		}
		if r.IntN(3) == 0 {
			add("exit", "v := "+value())
			if r.IntN(2) == 0 {
				add("exit_time", "0.3")
			}
		}
		if r.IntN(3) == 0 {
			add("done", limit())
		}
		if r.IntN(4) == 0 {
			add("entry_time", "0.2")
		}
		return fmt.Sprintf(`<Action name="t%d"%s/>`, *n, attributes)
	}
	kind := []string{"ReactiveFallback", "ReactiveSequence", "Parallel", "ReactiveParallel", "Sequence", "Fallback"}[r.IntN(6)]
	text := "<" + kind + ">"
	for range 2 + r.IntN(2) {
		text += randomPlan(r, depth-1, n)
	}
	return text + "</" + kind + ">"
}

// TestFlightsStayWithinRates: in flights of random vehicles with random plans, no signal changes faster or slower than
// its rate allows while a task is active.
func TestFlightsStayWithinRates(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	flights, compared := 80, 0
	if testing.Short() {
		flights = 8
	}
	for range flights {
		vehicle := fmt.Sprintf(`
states:
  a: {derivative: "(%s - 0.5 * a + u) / 1 [s]", min: -6, max: 6}
  b: {derivative: "(%s - b + tanh(v)) / 1 [s]", min: -6, max: 6}
outputs:
  o: {value: "%s"}
  p: {value: "a + u"}
commands: {u: {hold: %t}, v: {hold: %t, default: 0.5}}
`, randomNumber(r, 2, "a", "b", "v"), randomNumber(r, 2, "a", "b", "o"), randomNumber(r, 2, "a", "b", "t / 5 [s]"),
			r.IntN(2) == 0, r.IntN(2) == 0)
		n := 0
		plan := "<ReactiveFallback><Condition name=\"out\" on=\"abs(a) gt 5.9 or abs(b) gt 5.9\"/>" + randomPlan(r, 2, &n) + "</ReactiveFallback>"
		x := tableOf(t, vehicle, plan, `
ends_with_plan: true
signals: {k: {default: 0.2, hold: true}, z: {value: "a * b + sin(a)"}}
record: {interval: 0.05}
`)
		w, err := simulated.New(x.m, run.Continuous{}, 8)
		if err != nil {
			t.Fatal(err)
		}
		f := &flight{t: t, table: x, active: map[bt.Task]bool{}}
		w.Attach(f)
		for step, more := 0, true; more && err == nil && step < 2000; step++ {
			more, err = w.Step()
			if f.values != nil && (math.Abs(f.values[0]) > 5.95 || math.Abs(f.values[1]) > 5.95) {
				break
			}
		}
		compared += f.compared
	}
	if compared < 100*flights {
		t.Errorf("only %d quotients were compared", compared)
	}
}
