package verify

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"canopy/analysis/rates"
	"canopy/document/mission"
)

// guards returns a mission of an aircraft with guards on signals of their own, over a sequence of legs.
func guards(t *testing.T, r *rand.Rand, period float64) (*mission.Mission, string) {
	var plan, states strings.Builder
	for i := range 1 + r.IntN(2) {
		low := 5 + r.IntN(4)
		high := low + r.IntN(4)
		fmt.Fprintf(&plan, `<ReactiveSequence><Condition name="c%d" on="s%d ge %d [m]" off="s%d lt %d [m]"/>`+
			`<Action name="g%d" exit_time="%d"/></ReactiveSequence>`, i, i, high, i, low, i, 1+r.IntN(3))
		fmt.Fprintf(&states, "  s%d: {unit: m, min: 0, max: 20, derivative: \"%d [m/s] * cos(0.1 [1/s] * t)\"}\n", i, 1+r.IntN(3))
	}
	rest := []string{`<Action name="stay"/>`, `<Sequence><Action name="leg1" entry="way := 1" done="x ge 5 [m]"/>` +
		`<Action name="leg2" entry="way := 2" done="x ge 7 [m]"/><Action name="stay"/></Sequence>`,
		`<Sequence><Condition name="far" on="x ge 3 [m]"/><Action name="back"/></Sequence><Action name="stay"/>`}[r.IntN(3)]
	files := map[string]string{
		"m.yaml": fmt.Sprintf("mission: m\nplan: p.xml\nvehicle: v.vehicle.yaml\nhorizon: 100\ncheck: {period: %g}\n", period),
		"p.xml": `<root BTCPP_format="4"><BehaviorTree><ReactiveFallback>` + plan.String() + rest +
			`</ReactiveFallback></BehaviorTree></root>`,
		"v.vehicle.yaml": "vehicle: v\nstates:\n  x: {unit: m, min: -100, max: 100, derivative: \"1 [m/s]\"}\n" +
			states.String() + "commands: {way: {unit: 1, default: 0}}\n",
	}
	m, list := mission.Read("m.yaml", func(name string) ([]byte, error) { return []byte(files[name]), nil }, nil, nil)
	if m == nil {
		t.Fatal(list, files)
	}
	return m, fmt.Sprint(files)
}

// What hysteresis alone shows of turns agrees with the graph of all signals.
func TestSlowTurnsAgreeWithTheGraph(t *testing.T) {
	plans, shown, refuted := 120, 0, 0
	if testing.Short() {
		plans = 40
	}
	for seed := range uint64(plans) {
		r := rand.New(rand.NewPCG(seed, 21))
		m, text := guards(t, r, 0.5+3*r.Float64())
		s := m.Subject()
		var err error
		if s.Rates, err = rates.Of(m); err != nil {
			t.Fatal(err)
		}
		found := NewModel(s).slowTurns()
		for _, f := range found {
			if f.Verdict != Proved {
				t.Errorf("seed %d: %v\n%s", seed, f, text)
			}
		}
		for _, f := range askChatter(NewModel(s)) {
			if f.Verdict != Proved {
				refuted++
				if found != nil {
					t.Errorf("seed %d: %v, but %v\n%s", seed, f.Text, found[len(found)-1].Text, text)
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
