package simulated

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
)

// TestUnknownIsProved: what is proved with sources that may be lost at any time is not violated by flights with outages.
func TestUnknownIsProved(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	r := rand.New(rand.NewPCG(25, 11))
	counts := map[verify.Verdict]int{}
	for range rounds {
		foreseen(t, r, counts)
	}
	if counts[verify.Proved] < rounds || counts[verify.Refuted] < rounds {
		t.Errorf("verdicts: %v", counts)
	}
}

// foreseen checks a random plan and flies it with random outages.
func foreseen(t *testing.T, r *rand.Rand, counts map[verify.Verdict]int) {
	condition := func() string {
		return []string{"x gt 2", "T lt 295", "not x gt 4", "known(x)", "x gt 1 and known(T)", "w gt 3", "w gt 3 or x gt 5",
			"age(x) gt 1", "T lt 290 or known(x)",
			"(x - 2)^2 lt 4", "(x - 3)^2 + (w - 2)^2 le 2", "(x - 6)^2 le 1 and known(T)"}[r.IntN(12)]
	}
	body := "<ReactiveFallback>"
	var names []string
	for i := range 3 {
		body += "<ReactiveSequence>"
		for range 1 + r.IntN(2) {
			body += fmt.Sprintf(`<Condition name="c%d" on="%s" unknown="%s"/>`, len(names), condition(),
				[]string{"failure", "hold", "success"}[r.IntN(3)])
			names = append(names, fmt.Sprint("c", len(names)))
		}
		body += fmt.Sprintf(`<Action name="a%d" write="v := 1; w := %s" done="%s"/></ReactiveSequence>`, i,
			[]string{"x", "2 [m]", "x + 0.1 [m/K] * (T - 290 [K])"}[r.IntN(3)], condition())
	}
	body += `<Action name="a3" write="v := 1; w := 4 [m]"/></ReactiveFallback>`
	names = append(names, "a0", "a1", "a2", "a3", "known(x)", "known(T)", "w gt 3")
	always := []string{"a0 -> c0"}
	for range 8 {
		a, b, c := names[r.IntN(len(names))], names[r.IntN(len(names))], names[r.IntN(len(names))]
		always = append(always, a+" -> "+b, "not ("+a+" and "+c+")")
	}
	yaml := "signals:\n  w: {unit: m, hold: true}\noutages:\n  - {source: x}\n  - {source: T}\n"
	for range 1 + r.IntN(4) {
		from := 10 * r.Float64()
		yaml += fmt.Sprintf("  - {source: %s, from: %g, to: %g}\n", []string{"x", "T"}[r.IntN(2)], from, from+5*r.Float64())
	}
	yaml += "check:\n  always: ['" + strings.Join(always, "', '") + "']\n"
	m, diags := cart.Read(body, yaml, "horizon=15")
	if m == nil {
		t.Fatalf("%v\n%s\n%s", diags, body, yaml)
	}
	w := &watcher{}
	x, err := New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	h := x.Header()
	w.names = map[string]int{}
	for i, s := range h.Signals {
		w.names[s.Name] = i
	}
	w.tasks = h.Tasks
	for _, s := range h.Tasks {
		w.status = append(w.status, s.Initial)
	}
	verdicts := verdictsOf(m)
	for _, s := range m.Declared.Always {
		verdict, ok := verdicts[s.Text]
		if !ok {
			continue // nothing is concluded about the plan
		}
		if counts[verdict]++; verdict == verify.Proved {
			w.proved = append(w.proved, s.Logic(func(name string) bool { return w.task(name) >= 0 }))
		}
	}
	x.Attach(w)
	for more := true; more; {
		if more, err = x.Step(); errors.Is(err, executive.ErrUnsettled) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if w.violated != "" {
		t.Fatalf("proved, but %s\n%s\n%s", w.violated, body, yaml)
	}
}

// verdictsOf returns the verdicts on the statements that must always hold, by their texts.
func verdictsOf(m *mission.Mission) map[string]verify.Verdict {
	all := map[string]verify.Verdict{}
	for q, found := range verify.Answers(m.Subject(), 60, nil) {
		if q.Name == "always" {
			for _, f := range found {
				all[f.About] = f.Verdict
			}
			break
		}
	}
	return all
}

// watcher evaluates statements that were proved on a run.
type watcher struct {
	record.Nothing
	proved   []expr.Logic
	names    map[string]int // of signals
	tasks    []record.Task
	status   []bt.Status
	violated string
}

func (w *watcher) Status(_ float64, _ int, c bt.Change) error {
	w.status[c.Task] = c.To
	return nil
}

func (w *watcher) Sample(t float64, values []float64) error {
	if math.Abs(values[w.names["w"]]-3) < 1e-9 { // the limit of the statements, at an event
		return nil
	}
	for _, l := range w.proved {
		if !w.holds(&l, values) {
			w.violated = fmt.Sprintf("%s is violated at t = %g", l.Identity(), t)
		}
	}
	return nil
}

func (w *watcher) task(name string) int {
	return slices.IndexFunc(w.tasks, func(t record.Task) bool { return t.Name == name })
}

func (w *watcher) holds(l *expr.Logic, values []float64) bool {
	switch l.Op {
	case expr.LogicNot:
		return !w.holds(&l.Args[0], values)
	case expr.LogicAnd:
		return w.holds(&l.Args[0], values) && w.holds(&l.Args[1], values)
	case expr.LogicOr:
		return w.holds(&l.Args[0], values) || w.holds(&l.Args[1], values)
	case expr.LogicProposition:
		s := w.status[w.task(l.Text)]
		return s == bt.Success || s == bt.Activating || s == bt.Running || s == bt.Finished && l.Text[0] == 'a'
	case expr.LogicThreshold:
		return values[w.names[l.Signal]] > l.Limit || !l.Strict && values[w.names[l.Signal]] == l.Limit
	case expr.LogicRelation:
		return values[w.names[l.Text]] != 0
	}
	panic("a statement of another kind")
}
