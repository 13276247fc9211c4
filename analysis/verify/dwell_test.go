package verify

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr/interval"
)

// guards returns a plan with guards on signals of their own over a sequence of legs, and the rates of these signals.
func guards(r *rand.Rand, period float64) (plan, declared string) {
	var b strings.Builder
	var names, rates []string
	for i := range 1 + r.IntN(2) {
		low := 5 + r.IntN(4)
		high := low + r.IntN(4)
		fmt.Fprintf(&b, `<ReactiveSequence><Condition name="c%d" on="s%d ge %d" off="s%d lt %d"/>`+
			`<Action name="g%d" exit_time="%d"/></ReactiveSequence>`, i, i, high, i, low, i, 1+r.IntN(3))
		names = append(names, fmt.Sprintf("g%d", i))
		rates = append(rates, fmt.Sprintf("s%d: [-%d, %d]", i, 1+r.IntN(3), 1+r.IntN(3)))
	}
	rest := []string{`<Action name="stay"/>`, `<Sequence><Action name="leg1" entry="way := 1" done="x ge 5"/>` +
		`<Action name="leg2" entry="way := 2" done="x ge 7"/><Action name="stay"/></Sequence>`,
		`<Sequence><Condition name="far" on="x ge 3"/><Action name="back"/></Sequence><Action name="stay"/>`}
	more := [][]string{{"stay"}, {"leg1", "leg2", "stay"}, {"back", "stay"}}
	k := r.IntN(3)
	declared = fmt.Sprintf("period: %g\neffects:\n", period)
	for _, name := range append(names, more[k]...) {
		declared += fmt.Sprintf("  %s: {%s, x: [1, 1]}\n", name, strings.Join(rates, ", "))
	}
	return "<ReactiveFallback>" + b.String() + rest[k] + "</ReactiveFallback>", declared
}

// What hysteresis alone shows of turns agrees with the graph of all signals.
func TestSlowTurnsAgreeWithTheGraph(t *testing.T) {
	plans, shown, refuted := 120, 0, 0
	if testing.Short() {
		plans = 40
	}
	for seed := range uint64(plans) {
		r := rand.New(rand.NewPCG(seed, 21))
		plan, declared := guards(r, 0.5+3*r.Float64())
		s := subjectOf(t, plan, declared)
		found := NewModel(s).slowTurns()
		for _, f := range found {
			if f.Verdict != Proved {
				t.Errorf("seed %d: %v\n%s\n%s", seed, f, plan, declared)
			}
		}
		for _, f := range askChatter(NewModel(s)) {
			if f.Verdict != Proved {
				refuted++
				if found != nil {
					t.Errorf("seed %d: %v, but %v\n%s\n%s", seed, f.Text, found[len(found)-1].Text, plan, declared)
				}
			}
		}
		if found != nil {
			shown++
		}
	}
	if shown < plans/5 || refuted < plans/10 {
		t.Errorf("shown in %d of %d plans, not proved %d", shown, plans, refuted)
	}
}

// partly derives the rate of each signal while one task is active; while another one is, it may be any.
type partly struct {
	unset
	task bt.Task
}

func (p partly) Rate(t bt.Task, _ string, _ map[string]interval.Interval) (declare.Rate, bool) {
	return declare.Rate{Low: 2, High: 2, From: declare.Derived}, t == p.task
}

// A signal of which a rate cannot be derived does not rest.
func TestUnknownRatesAreNotZero(t *testing.T) {
	s := subjectOf(t, `<ReactiveFallback><ReactiveSequence><Condition name="c" on="x ge 6" off="x lt 2"/><Action name="a"/>
		</ReactiveSequence><Action name="b"/></ReactiveFallback>`, "period: 5\n")
	b, _ := s.Plan.Tree.Find("b")
	s.Rates = partly{task: b}
	if f := askChatter(NewModel(s)); len(f) != 1 || f[0].Verdict != Undecided || !strings.Contains(f[0].Text, "how tasks change x") {
		t.Errorf("%+v", f)
	}
	if f := NewModel(s).slowTurns(); f != nil {
		t.Errorf("%+v", f)
	}
}
