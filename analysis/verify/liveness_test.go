package verify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/declare"
)

// TestExample3: example 3 of the 2016 paper as a flight. The goal is x >= 3; with charge y >= 1 the aircraft flies, else it
// recharges and drifts back. At a drift of 0.5 the sum x + y grows and the goal is reached; at 1 it need not be.
func TestExample3(t *testing.T) {
	for _, test := range []struct {
		name, recharge string
		want           []Verdict
		text           string
	}{
		{"drift 0.5", "{x: [-0.5, -0.5], y: [1, 1]}", []Verdict{Proved}, "reached from every state"},
		{"drift 0.5, roughly", "{x: [-0.6, 0.2], y: [0.9, 1.2]}", []Verdict{Proved}, "reached from every state"},
		{"drift 1", "{x: [-1, -1], y: [1, 1]}", []Verdict{Proved, Undecided}, "fly and recharge may take turns for ever"},
		{"signs only", "{x: down, y: up}", []Verdict{Proved, Undecided}, "fly and recharge may take turns for ever"},
		{"no charger", "{x: [-1, -1], y: [0, 0]}", []Verdict{Proved, Refuted, Undecided}, "the goal is never reached"},
		{"nothing known", "{x: [-1, -1]}", []Verdict{Proved, Undecided}, "for ever"},
	} {
		s, found := check(t, `<ReactiveFallback name="courier"><Condition name="there" on="x ge 3"/>
			<ReactiveSequence name="go"><Condition name="charged" on="y ge 1"/><Action name="fly"/></ReactiveSequence>
			<Action name="recharge"/></ReactiveFallback>`,
			"goal: x >= 3\neffects: {fly: {x: [1, 1], y: [-1, -1]}, recharge: "+test.recharge+"}")
		var verdicts []Verdict
		var texts string
		for _, f := range byQuestion(found, "reach") {
			verdicts = append(verdicts, f.Verdict)
			texts += f.Text + "\n"
			if f.Verdict == Proved {
				continue
			}
			if f.Script == "" {
				t.Errorf("%s: no script", test.name)
			}
			for _, state := range replayed(t, s.Plan.Tree, f.Script) {
				if state["there"] || !state["fly"] && !state["recharge"] {
					t.Errorf("%s: %v", test.name, state)
				}
			}
		}
		if !slices.Equal(verdicts, test.want) || !strings.Contains(texts, test.text) {
			t.Errorf("%s: %v\n%s", test.name, verdicts, texts)
		}
	}
}

// TestRanked: random rates; a sum that rises is found if and only if a dense grid of factors has one.
func TestRanked(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	found, open := 0, 0
	for range 2000 {
		var rows [][]declare.Rate
		for range 1 + r.IntN(4) {
			var row []declare.Rate
			for range 2 {
				low := float64(r.IntN(9) - 4)
				row = append(row, declare.Rate{Low: low, High: low + float64(r.IntN(3))})
			}
			rows = append(rows, row)
		}
		above, below := []bool{r.IntN(3) > 0, r.IntN(3) > 0}, []bool{r.IntN(3) > 0, r.IntN(3) > 0}
		want := 0.0 // the best sum's least rise; integer rates: at 720 directions a rise is seen if there is one
		for k := range 720 {
			f := []float64{math.Cos(math.Pi * float64(k) / 360), math.Sin(math.Pi * float64(k) / 360)}
			least := math.Inf(1)
			for _, row := range rows {
				sum := 0.0
				for i, rate := range row {
					switch {
					case math.Abs(f[i]) < 1e-12:
					case f[i] > 0 && !above[i] || f[i] < 0 && !below[i]:
						sum = math.Inf(-1)
					default:
						sum += min(f[i]*rate.Low, f[i]*rate.High)
					}
				}
				least = min(least, sum)
			}
			want = max(want, least)
		}
		switch got := ranked(rows, above, below); {
		case got != (want > 1e-9):
			t.Fatalf("%v %v %v: %t, on the grid %g", rows, above, below, got, want)
		case got:
			found++
		default:
			open++
		}
	}
	if found < 200 || open < 200 {
		t.Errorf("%d found, %d not", found, open)
	}
}

// TestReachRestsOn: what a proof that the goal is reached must assume, or cannot conclude.
func TestReachRestsOn(t *testing.T) {
	const climb = `<ReactiveFallback><Condition name="there" on="x ge 3"/><Action name="fly" %s/></ReactiveFallback>`
	const ready = `<ReactiveFallback><Condition name="there" on="x ge 3"/><ReactiveSequence>
		<Condition name="ready" on="u ge 1 and u le 2" off="u lt 0"/><Action name="fly"/></ReactiveSequence><Action name="set" %s/></ReactiveFallback>`
	for _, test := range []struct {
		name, plan, declared string
		want                 Verdict
		text, assumes        string
	}{
		{"a minimum rate", fmt.Sprintf(climb, ""), "{fly: {x: [0.1, 2]}}", Proved, "from every state", "[]"},
		{"x' = 2.9 - x rises and never reaches 3", fmt.Sprintf(climb, ""), "{fly: {x: up}}", Proved, "from every state",
			"[{the rates that are only known to be up or down do not die out: x false}]"},
		{"a signal that passes through the latch", fmt.Sprintf(ready, ""), "{fly: {x: [1, 1], u: [0, 0]}, set: {x: [0, 0], u: [1, 1]}}",
			Proved, "from some states", "[]"}, // u > 2 at first
		{"a slot that jumps over the latch", fmt.Sprintf(ready, `write="u := 5"`), "{fly: {x: [1, 1]}, set: {x: [0, 0], u: [1, 1]}}",
			Refuted, "set may run for ever", "[]"},
		{"a slot without effects", fmt.Sprintf(ready, `write="u := 5"`), "{fly: {x: [1, 1]}, set: {x: [0, 0]}}",
			Refuted, "set may run for ever", "[]"},
		{"an entry procedure", fmt.Sprintf(climb, `entry_time="5 [s]"`), "{fly: {x: [0.1, 2]}}", Proved, "from every state", "[]"},
		{"an entry until the impossible", fmt.Sprintf(climb, `entry_until="y ge 1"`), "{fly: {x: [0.1, 2]}}", Proved, "from every state", "[]"},
		{"an exit procedure", `<ReactiveFallback><Condition name="there" on="x ge 3"/><ReactiveSequence>
			<Condition name="low" on="x lt 1"/><Action name="lift" exit_time="5 [s]"/></ReactiveSequence><Action name="fly"/></ReactiveFallback>`,
			"{fly: {x: [1, 1]}, lift: {x: [1, 1]}}", Proved, "from every state", "[]"}, // then fly is active, even if x has fallen
		{"a plan that ends", `<Sequence><Action name="a" done="x ge 1"/><Action name="b" done="x ge 2"/></Sequence>`,
			"{a: {x: [1, 1]}, b: {x: [1, 1]}}", Undecided, "the plan has ended, and no task reacts any more", "[]"},
		{"a plan that ends in the goal", `<Sequence><Action name="a" done="x ge 1"/><Action name="b" done="x ge 3"/></Sequence>`,
			"{a: {x: [1, 1]}, b: {x: [1, 1]}}", Proved, "; the plan may end there, and no task reacts if the goal is lost later", "[]"},
		{"a plan that reacts when the goal is lost", fmt.Sprintf(climb, ""), "{fly: {x: [1, 1]}}", Proved, "from every state: x >= 3", "[]"},
	} {
		_, found := check(t, test.plan, "goal: x >= 3\neffects: "+test.declared)
		found = byQuestion(found, "reach")
		is := func(f Finding) bool { return f.Verdict == test.want && strings.Contains(f.Text, test.text) }
		i := slices.IndexFunc(found, is)
		if i < 0 || test.want != Proved && slices.ContainsFunc(found, func(f Finding) bool { return f.Verdict == Proved && f.Where == nil }) {
			t.Errorf("%s: %+v", test.name, found)
			continue
		}
		if got := fmt.Sprint(found[i].Unwatched()); got != test.assumes {
			t.Errorf("%s: assumes %s", test.name, got)
		}
	}
}
