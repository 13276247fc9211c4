package verify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"canopy/document/declare"
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

// TestReachedIsReached: on random plans with random rates, flights from where the goal is proved to be reached reach it,
// and from where it is refuted never do, whatever the rates in their ranges and however conditions change.
func TestReachedIsReached(t *testing.T) {
	r := &randomPlan{Rand: rand.New(rand.NewPCG(7, 2))}
	cases := 600
	if testing.Short() {
		cases = 200
	}
	flown := map[Verdict]int{}
	for range cases {
		s := r.subject(t)
		s.Declared.Facts = nil
		goal := r.conditionless()
		s.Declared.Goal = &goal
		s.Declared.Effects = declare.Effects{}
		for _, name := range r.actions {
			a, _ := s.Plan.Tree.Find(name)
			rates := map[string]declare.Rate{}
			for _, sig := range bruteNames {
				low := float64(r.IntN(7)-3) / 2
				if r.IntN(5) > 0 {
					rates[sig] = declare.Rate{Low: low, High: low + float64(r.IntN(3))/4}
				}
			}
			s.Declared.Effects[a] = rates
		}
		m := NewModel(s)
		x, why := m.newJourney(func(p *Player, world []bool) bool { return p.holds(m.goal, world) })
		if why != "" {
			continue
		}
		x.solve()
		b := newBrute(s)
		for range 4 {
			at := []float64{0.2 + 2.8*r.Float64(), 0.2 + 2.8*r.Float64()}
			stubs := []bool{r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0}
			verdict := Undecided
			for _, n := range x.starts {
				if x.matches(n, at, stubs) {
					switch {
					case x.reached[n]:
						verdict = Proved
					case !x.hopes[n]:
						verdict = Refuted
					}
				}
			}
			if verdict == Undecided || b.goal.holds(at, nil) {
				continue
			}
			flown[verdict]++
			margin := 0.0
			if verdict == Refuted {
				margin = 0.05 // a step goes over a limit that a signal only touches
			}
			if got := fliesToGoal(r, b, m, at, stubs, margin); got != (verdict == Proved) {
				t.Fatalf("%s\ngoal %s\n%v\nfrom %v %v: %s, but reached: %t", s.Plan.Source.Text, goal.Text, s.Declared.Effects, at, stubs,
					verdict, got)
			}
		}
	}
	t.Log(flown)
	if flown[Proved] < cases/10 || flown[Refuted] < cases/10 {
		t.Error(flown)
	}
}

// conditionless is a random goal over signals.
func (r *randomPlan) conditionless() declare.Statement {
	names := r.conditions
	r.conditions = nil
	defer func() { r.conditions = names }()
	return r.statement()
}

// matches reports whether a node's world is that of these values.
func (x *journey) matches(n int, at []float64, stubs []bool) bool {
	world := x.worlds[x.nodes[n].world]
	for i := range x.m.vocab.signals {
		sig := &x.m.vocab.signals[i]
		v := at[slices.Index(bruteNames, sig.name)]
		k := 0
		for k < len(sig.cuts) && (v > sig.cuts[k].limit || v == sig.cuts[k].limit && !sig.cuts[k].strict) {
			k++
		}
		if k != sig.interval(world) {
			return false
		}
	}
	stub := 0
	for v := range x.m.vocab.inputs {
		if x.m.vocab.inputs[v].kind == inputFree {
			if world[v] != stubs[stub] {
				return false
			}
			stub++
		}
	}
	return true
}

// fliesToGoal integrates with short steps until the goal holds by a margin; stubs change at random.
func fliesToGoal(r *randomPlan, b *brute, m *Model, at []float64, stubs []bool, margin float64) bool {
	const step = 0.01
	state := bruteState{truth: make([]bool, len(b.codes))}
	at = slices.Clone(at)
	for range 20_000 {
		w := bruteWorld{signals: at, stubs: stubs}
		if !b.enter(&state, w, nil) {
			panic(fmt.Sprint("does not settle: ", at))
		}
		there := true
		for corner := range 4 {
			near := []float64{at[0] + margin*float64(corner&1*2-1), at[1] + margin*float64(corner&2-1)}
			there = there && b.goal.holds(near, nil)
		}
		if there {
			return true
		}
		if r.IntN(50) == 0 {
			stubs[r.IntN(len(stubs))] = r.IntN(2) == 0
		}
		for i, sig := range bruteNames {
			low, high := math.Inf(-1), math.Inf(1)
			for _, a := range m.actions() {
				if rate, ok := b.Declared.Effects[a][sig]; ok && state.engine.Active(a) {
					low, high = max(low, rate.Low), min(high, rate.High)
				}
			}
			if low > high {
				low, high = math.Inf(-1), math.Inf(1)
			}
			share := float64(r.IntN(3)) / 2
			switch {
			case math.IsInf(low, -1): // nothing is known
				at[i] += step * float64(r.IntN(9)-4)
			default:
				at[i] += step * (low + share*(high-low))
			}
		}
	}
	return false
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
			Undecided, "set may run for ever", "[]"},
		{"a slot without effects", fmt.Sprintf(ready, `write="u := 5"`), "{fly: {x: [1, 1]}, set: {x: [0, 0]}}",
			Undecided, "set may run for ever", "[]"},
		{"an entry procedure", fmt.Sprintf(climb, `entry_time="5 [s]"`), "{fly: {x: [0.1, 2]}}", Proved, "from every state", "[]"},
		{"an entry until the impossible", fmt.Sprintf(climb, `entry_until="y ge 1"`), "{fly: {x: [0.1, 2]}}", Proved, "from every state", "[]"},
		{"an exit procedure", `<ReactiveFallback><Condition name="there" on="x ge 3"/><ReactiveSequence>
			<Condition name="low" on="x lt 1"/><Action name="lift" exit_time="5 [s]"/></ReactiveSequence><Action name="fly"/></ReactiveFallback>`,
			"{fly: {x: [1, 1]}, lift: {x: [1, 1]}}", Proved, "from every state", "[]"}, // then fly is active, even if x has fallen
		{"a plan that ends", `<Sequence><Action name="a" done="x ge 1"/><Action name="b" done="x ge 2"/></Sequence>`,
			"{a: {x: [1, 1]}, b: {x: [1, 1]}}", Undecided, "the plan has ended, and no task reacts any more", "[]"},
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
