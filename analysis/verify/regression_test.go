package verify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"canopy/diag"
	"canopy/document/declare"
	"canopy/document/plan"
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
	for _, text := range []string{ // no rules
		`<ReactiveSequence><Condition name="a" on="x ge 3"/><Action name="b"/></ReactiveSequence>`,
		`<ReactiveFallback><Action name="b"/><Condition name="a" on="x ge 3"/></ReactiveFallback>`,
		`<Fallback><Condition name="a" on="x ge 3"/><Action name="b"/></Fallback>`,
	} {
		if _, found := check(t, text, "effects: {b: {x: [1, 1]}}"); len(byQuestion(found, "regression")) > 0 {
			t.Errorf("%s: %v", text, found)
		}
	}
}

// ruled is a random list of rules and a flight of it, which has nothing in common with the check: signals are numbers,
// and from crossing to crossing they move straight on.
type ruled struct {
	*rand.Rand
	rules []ruledRule
	at    [2]float64
}

type ruledRule struct {
	when  []ruledCondition
	rates [2]declare.Rate // of x and y while its action is executed
}

type ruledCondition struct {
	signal  int
	above   bool
	on, off float64 // true at on, until beyond off
	was     bool
}

var ruledSignals = []string{"x", "y"}

func (r *ruled) condition() ruledCondition {
	c := ruledCondition{signal: r.IntN(2), above: r.IntN(2) == 0, on: float64(1 + r.IntN(2))}
	c.off = c.on
	if c.above && c.on == 2 && r.IntN(2) == 0 {
		c.off = 1
	}
	if !c.above && c.on == 1 && r.IntN(2) == 0 {
		c.off = 2
	}
	return c
}

// write makes new rules, as a plan and its effects.
func (r *ruled) write() (text, effects string) {
	r.rules = nil
	n := 2 + r.IntN(3)
	for i := range n {
		k := ruledRule{}
		for range 1 + r.IntN(2) {
			k.when = append(k.when, r.condition())
		}
		if i == n-1 && r.IntN(2) == 0 {
			k.when = nil
		}
		action := fmt.Sprintf(`<Action name="a%d"/>`, i)
		effects += fmt.Sprintf("a%d: {", i)
		for s := range k.rates {
			low := float64(r.IntN(7)-3) / 2
			k.rates[s] = declare.Rate{Low: low, High: low}
			if r.IntN(4) == 0 {
				k.rates[s].High += 0.5
			}
			effects += fmt.Sprintf("%s: [%g, %g],", ruledSignals[s], low, k.rates[s].High)
		}
		effects += "}, "
		text += "<ReactiveSequence>"
		for j, c := range k.when {
			on, off := "ge", "lt"
			if !c.above {
				on, off = "lt", "ge"
			}
			text += fmt.Sprintf(`<Condition name="k%d.%d" on="%s %s %g"`, i, j, ruledSignals[c.signal], on, c.on)
			if c.off != c.on {
				text += fmt.Sprintf(` off="%s %s %g"`, ruledSignals[c.signal], off, c.off)
			}
			text += "/>"
		}
		text += action + "</ReactiveSequence>"
		r.rules = append(r.rules, k)
	}
	return `<ReactiveFallback name="rules">` + text + `</ReactiveFallback>`, effects
}

// leading judges all conditions and returns the first rule that holds.
func (r *ruled) leading() int {
	first := len(r.rules)
	for i, k := range r.rules {
		holds := true
		for j := range k.when {
			c := &k.when[j]
			v := r.at[c.signal]
			if c.above {
				c.was = v >= c.on || c.was && v >= c.off
			} else {
				c.was = v < c.on || c.was && v < c.off
			}
			holds = holds && c.was
		}
		if holds {
			first = min(first, i)
		}
	}
	return first
}

// cross moves on at the rates to just beyond the next limit; ok is false if there is none on the way.
func (r *ruled) cross(rates [2]float64) (ok bool) {
	const beyond = 1e-9
	soonest, signal, limit := math.Inf(1), -1, 0.0
	for s, rate := range rates {
		for _, l := range []float64{1, 2} {
			if d := (l - r.at[s]) / rate; rate != 0 && d > 0 && d < soonest {
				soonest, signal, limit = d, s, l
			}
		}
	}
	if signal < 0 {
		return false
	}
	for s, rate := range rates {
		r.at[s] += soonest * rate
	}
	r.at[signal] = limit + math.Copysign(beyond, rates[signal])
	return true
}

// TestRulesLeadOn: on random lists of rules with random rates, no flight leaves a proved rule except for an earlier
// one, and none stays in it forever; if all are proved and the last holds always, the flight reaches the first. Flights
// do go astray with rules that are not proved.
func TestRulesLeadOn(t *testing.T) {
	r := &ruled{Rand: rand.New(rand.NewPCG(4, 4))}
	cases := 1000
	if testing.Short() {
		cases = 200
	}
	led, whole, proved, open, seen := 0, 0, 0, 0, 0
	for range cases {
		text, effects := r.write()
		s := declare.Subject{Plan: readPlan(t, text)}
		d, list := declare.ReadFile(&diag.Source{Name: "facts.yaml", Text: "effects: {" + effects + "}"}, s.Plan)
		if list.HasErrors() {
			t.Fatal(list)
		}
		s.Declared = d
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
		for range 10 {
			r.at = [2]float64{3 * r.Float64(), 3 * r.Float64()}
			for i := range r.rules {
				for j := range r.rules[i].when {
					r.rules[i].when[j].was = false
				}
			}
			i := r.leading()
			for range 60 {
				if i == 0 || i == len(r.rules) {
					break
				}
				var rates [2]float64
				for s, rate := range r.rules[i].rates {
					rates[s] = rate.Low + (rate.High-rate.Low)*float64(r.IntN(3))/2
				}
				moved := r.cross(rates)
				next := r.leading()
				switch {
				case !moved, next > i:
					if astray[i] = true; leads[i] {
						t.Fatalf("%s\n%s\nrule %d is proved, at %v follows %d", text, effects, i+1, r.at, next+1)
					}
				case next < i && leads[i]:
					led++
				}
				if !moved {
					break
				}
				i = next
			}
			if universal := r.rules[len(rules)-1].when == nil && !slices.Contains(leads[1:], false); universal {
				if whole++; i > 0 {
					t.Fatalf("%s\n%s\nall rules are proved, at %v still %d", text, effects, r.at, i+1)
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
	if proved < cases/4 || led < cases || whole < cases/4 || seen < cases/4 {
		t.Error(summary)
	}
}

// TestRulesWithoutProof: a rule that is never the first is not proved, and rates that die out are an assumption.
func TestRulesWithoutProof(t *testing.T) {
	const rules = `<ReactiveFallback><Condition name="there" on="x ge 3"/>
		<ReactiveSequence><Condition name="low" on="x lt 3"/><Action name="fly"/></ReactiveSequence>
		<ReactiveSequence><Condition name="dry" on="x lt 1"/><Action name="wait"/></ReactiveSequence></ReactiveFallback>`
	for effect, assumes := range map[string]string{"[0.1, 1]": "[]",
		"up": "[{the rates that are only known to be up or down do not die out: x false}]"} {
		_, found := check(t, rules, "effects: {fly: {x: "+effect+"}, wait: {x: [0, 0]}}")
		found = byQuestion(found, "regression")
		if len(found) != 2 || found[0].Verdict != Proved || fmt.Sprint(found[0].Unwatched()) != assumes ||
			found[1].Verdict != Undecided || !strings.Contains(found[1].Text, "rule 3, dry -> wait is never the first that holds") {
			t.Errorf("%s: %+v", effect, found)
		}
	}
}
