package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
)

// TestRegression: lists of rules whose answers were derived manually.
func TestRegression(t *testing.T) {
	const example = `<ReactiveFallback name="courier"><Condition name="there" on="x ge 3"/>
		<ReactiveSequence name="go"><Condition name="charged" on="%s"/><Action name="fly"%s/></ReactiveSequence>
		<Action name="recharge"/></ReactiveFallback>`
	const flies, drifts = "fly: {x: [1, 1], y: [-1, -1]}", "recharge: {x: [-1, -1], y: [1, 1]}"
	for _, c := range []struct {
		name, charged, fly, effects string
		proved                      string   // the rules
		open                        []string // what is said of the others
		where, last                 string   // of the first open one: where, and what is active at the end of the script
	}{
		{name: "Example 3, which flies until the charge is spent", charged: "y ge 1", effects: flies + "," + drifts,
			proved: "3", open: []string{"rule 2, charged -> fly; its own condition may fail"}, where: "x < 3 and y >= 1",
			last: "recharge"},
		{name: "half the drift", charged: "y ge 1", effects: flies + ", recharge: {x: [-0.5, -0.5], y: [1, 1]}",
			proved: "3", open: []string{"rule 2, charged -> fly; its own condition may fail"}, where: "x < 3 and y >= 1",
			last: "recharge"},
		{name: "flying costs nothing", charged: "y ge 1", effects: "fly: {x: [1, 1], y: [0, 0]}," + drifts, proved: "2 3"},
		{name: "roughly", charged: "y ge 1", effects: "fly: {x: [0.5, 2], y: [0, 1]}, recharge: {x: down, y: up}", proved: "2 3"},
		{name: "with hysteresis", charged: `y ge 2" off="y lt 1`, effects: "fly: {x: [1, 1], y: [0, 0]}," + drifts, proved: "2 3"},
		{name: "no wind", charged: "y ge 1", effects: "fly: {x: [0, 1], y: [0, 0]}," + drifts,
			proved: "3", open: []string{"rule 2, charged -> fly; fly may run for ever"}, where: "x < 3 and y >= 1", last: "fly"},
		{name: "no charger", charged: "y ge 1", effects: flies + ", recharge: {x: [-1, -1], y: [0, 0]}",
			open:  []string{"rule 2, charged -> fly; its own", "rule 3, true -> recharge; recharge may run for ever"},
			where: "x < 3 and y >= 1", last: "recharge"},
		{name: "an action that has nothing to do at times", charged: "y ge 1", fly: ` _failureIf="x ge 2"`,
			effects: "fly: {x: [1, 1], y: [0, 0]}," + drifts, proved: "3",
			open: []string{"rule 2, charged -> fly; its action is not active"}, where: "x in [2, 3) and y >= 1", last: "recharge"},
		{name: "a relation of two signals", charged: "y ge x", effects: flies + "," + drifts,
			proved: "3", open: []string{"rule 2, charged -> fly; its own"}},
		{name: "a condition that may change at any time", charged: "y * x ge 1", effects: flies + "," + drifts,
			open: []string{"rule 2, charged -> fly; its own", "rule 3, true -> recharge; recharge may run for ever"}},
		{name: "nothing known of the charge", charged: "y ge 1", effects: "fly: {x: [1, 1]}, recharge: {x: [-1, -1]}"},
	} {
		s, found := check(t, fmt.Sprintf(example, c.charged, c.fly), "effects: {"+c.effects+"}")
		found = byQuestion(found, "regression")
		var open []Finding
		proved := ""
		for _, f := range found {
			switch f.Verdict {
			case Proved:
				for part := range strings.SplitSeq(f.Text, "rule ") {
					if number, _, ok := strings.Cut(part, ","); ok && len(number) == 1 {
						proved += " " + number
					}
				}
			case Undecided:
				open = append(open, f)
			case Refuted:
				t.Errorf("%s: a sufficient property is refuted: %s", c.name, f.Text)
			}
		}
		if strings.TrimSpace(proved) != c.proved || len(open) != len(c.open) {
			t.Errorf("%s: proved %s, %+v", c.name, proved, open)
			continue
		}
		for i, f := range open {
			if !strings.Contains(f.Text, c.open[i]) || f.Script == "" {
				t.Errorf("%s: %s\n%s", c.name, f.Text, f.Script)
			}
		}
		if c.where == "" {
			continue
		}
		if got := strings.Join(open[0].Where, ", "); got != c.where {
			t.Errorf("%s: where %s", c.name, got)
		}
		states := replayed(t, s.Plan.Tree, open[0].Script)
		if last := states[len(states)-1]; !last[c.last] || slices.ContainsFunc(states, func(s map[string]bool) bool { return s["there"] }) {
			t.Errorf("%s: %v", c.name, states)
		}
	}
}

// TestRegressionNeedsRules: a plan that is no list of rules is not asked.
func TestRegressionNeedsRules(t *testing.T) {
	for _, text := range []string{
		`<ReactiveSequence><Condition name="a" on="x ge 3"/><Action name="b"/></ReactiveSequence>`,
		`<ReactiveFallback><Action name="b"/><Condition name="a" on="x ge 3"/></ReactiveFallback>`,
		`<Fallback><Condition name="a" on="x ge 3"/><Action name="b"/></Fallback>`,
	} {
		if _, found := check(t, text, "effects: {b: {x: [1, 1]}}"); byQuestion(found, "regression")[0].Verdict != NotAsked {
			t.Errorf("%s: %v", text, found)
		}
	}
}

// ruled writes a random list of rules with random rates of x and y while their actions are executed.
func (r *randomPlan) ruled(t *testing.T) declare.Subject {
	r.stubs, r.actions = 3, nil
	n, text := 2+r.IntN(3), `<ReactiveFallback name="rules">`
	for i := range n {
		text += "<ReactiveSequence>"
		for j := range 1 + r.IntN(2) {
			if i == n-1 && r.IntN(3) == 0 {
				break // it always holds
			}
			text += fmt.Sprintf(`<Condition name="k%d.%d" on="`, i, j) + strings.ReplaceAll(
				r.pick(`S ge 1"`, `S ge 2"`, `S ge 2" off="S lt 1"`, `S lt 1"`, `S lt 2"`, `S lt 1" off="S ge 2"`),
				"S", r.pick(bruteNames...)) + "/>"
		}
		text += fmt.Sprintf(`<Action name="a%d"/></ReactiveSequence>`, i)
	}
	goal := r.conditionless()
	s := declare.Subject{Plan: readPlan(t, text+`</ReactiveFallback>`)}
	s.Declared.Goal, s.Declared.Effects = &goal, declare.Effects{}
	for i := range n {
		a, _ := s.Plan.Tree.Find(fmt.Sprintf("a%d", i))
		rates := map[string]declare.Rate{}
		for _, sig := range bruteNames {
			low := float64(r.IntN(7)-3) / 2
			rates[sig] = declare.Rate{Low: low, High: low + float64(r.IntN(4)/3)/2}
		}
		s.Declared.Effects[a] = rates
	}
	return s
}

// first returns the first rule whose conditions hold.
func (f *flight) first(rules []plan.Rule) int {
	holds := func(r plan.Rule) bool {
		return !slices.ContainsFunc(r.Conditions, func(c bt.Task) bool { return f.state.engine.Status(c) != bt.Success })
	}
	if i := slices.IndexFunc(rules, holds); i >= 0 {
		return i
	}
	return len(rules)
}

// TestRulesLeadOn: on random lists of rules with random rates, no flight leaves a proved rule except for an earlier
// one, and none stays in it forever; if all are proved and the last holds always, the flight reaches the first. Flights
// do go astray with rules that are not proved.
func TestRulesLeadOn(t *testing.T) {
	r := &randomPlan{Rand: rand.New(rand.NewPCG(4, 4))}
	cases := 1000
	if testing.Short() {
		cases = 200
	}
	led, whole, proved, open, seen := 0, 0, 0, 0, 0
	for range cases {
		s := r.ruled(t)
		m := NewModel(s)
		rules, err := plan.Rules(m.tree, m.tree.Root())
		if err != nil {
			t.Fatal(err)
		}
		x, why := m.newProgram(rules)
		if why != "" {
			t.Fatal(why)
		}
		leads, astray := make([]bool, len(rules)), make([]bool, len(rules))
		for i := 1; i < len(rules); i++ {
			_, doubt := x.doubt(x.rule(i), i)
			leads[i] = !doubt
		}
		all := len(rules[len(rules)-1].Conditions) == 0 && !slices.Contains(leads[1:], false)
		for range 5 {
			f := r.fly(newBrute(s))
			i, since := -1, 0.0
			for range 150 {
				if !f.settle() {
					t.Fatal("it does not settle")
				}
				next := f.first(rules)
				switch {
				case i > 0 && (next > i || f.now > since+100):
					if astray[i] = true; leads[i] {
						t.Fatalf("%s\n%v\nrule %d is proved, at %v follows %d", s.Plan.Source.Text, s.Declared.Effects, i+1, f.at, next+1)
					}
				case i > 0 && next < i && leads[i]:
					led++
				}
				if next != i {
					i, since = next, f.now
				}
				if i == 0 || i == len(rules) || f.now > since+100 {
					break
				}
				rates := [2]float64{}
				for k, sig := range bruteNames {
					rate, _ := f.rate(sig)
					rates[k] = rate.Low + (rate.High-rate.Low)*float64(f.IntN(3))/2
				}
				f.cross(rates, 1e-7, 1e6)
			}
			if all {
				if whole++; i > 0 {
					t.Fatalf("%s\n%v\nall rules are proved, at %v still %d", s.Plan.Source.Text, s.Declared.Effects, f.at, i+1)
				}
			}
		}
		for i := 1; i < len(rules); i++ {
			if leads[i] {
				proved++
				continue
			}
			open++
			seen += btoi(astray[i])
		}
	}
	summary := fmt.Sprintf("%d rules proved, left upwards %d times, in %d flights of lists of which all are; %d not, of which"+
		" %d were seen to go astray", proved, led, whole, open, seen)
	t.Log(summary)
	if proved < cases/4 || led < cases/2 || whole < cases/5 || seen < cases/4 {
		t.Error(summary)
	}
}

// TestRulesWithoutProof: of a rule that is never the first this is said, and rates that die out are an assumption.
func TestRulesWithoutProof(t *testing.T) {
	const rules = `<ReactiveFallback><Condition name="there" on="x ge 3"/>
		<ReactiveSequence><Condition name="low" on="x lt 3"/><Action name="fly"/></ReactiveSequence>
		<ReactiveSequence><Condition name="dry" on="x lt 1"/><Action name="wait"/></ReactiveSequence></ReactiveFallback>`
	for effect, assumes := range map[string]string{"[0.1, 1]": "[]",
		"up": "[{the rates that are only known to be up or down do not die out: x false}]"} {
		_, found := check(t, rules, "effects: {fly: {x: "+effect+"}, wait: {x: [0, 0]}}")
		found = byQuestion(found, "regression")
		first, last := found[0], found[len(found)-1]
		if first.Verdict != Proved || len(first.Unwatched()) > 0 || last.Verdict != Proved ||
			!strings.HasSuffix(first.Text, "rule 3, dry -> wait, because it is never the first that holds") ||
			!strings.Contains(last.Text, "rule 2, low -> fly") || fmt.Sprint(last.Unwatched()) != assumes {
			t.Errorf("%s: %+v", effect, found)
		}
	}
}

// TestRulesAfterTheGoal: a rule that is the first only after the goal was lost need not lead back.
func TestRulesAfterTheGoal(t *testing.T) {
	const rules = `<ReactiveFallback><Condition name="there" on="x ge 3"/>
		<ReactiveSequence><Condition name="near" on="x ge 3" off="x lt 1"/><Action name="stay"/></ReactiveSequence>
		<Action name="fly"/></ReactiveFallback>`
	for effect, verdict := range map[string]Verdict{"[1, 2]": Proved, "[-2, -1]": Undecided} {
		_, found := check(t, rules, "effects: {stay: {x: "+effect+"}, fly: {x: [1, 1]}}")
		for _, f := range byQuestion(found, "regression") {
			if strings.Contains(f.Text, "near") && (f.Verdict != verdict || strings.Contains(f.Text, "never the first")) {
				t.Errorf("%s: %s", effect, f.Text)
			}
		}
	}
}

// A rule may be the first that holds only where the goal was reached before.
func TestRulesBeyondTheGoal(t *testing.T) {
	s := subjectOf(t, `<ReactiveFallback><Condition ID="high" on="x gt 1.5"/>
		<ReactiveSequence><Condition ID="was" on="x ge 1.67" off="x lt 1.33"/><Action ID="down"/></ReactiveSequence>
		<Action ID="stay"/></ReactiveFallback>`, `{goal: x lt 5, effects: {down: {x: [-1, -1]}, stay: {x: [-1, 1]}}}`)
	found := askRegression(NewModel(s))
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.Verdict == Undecided && f.Script != "" }) {
		t.Errorf("%+v", found)
	}
}
