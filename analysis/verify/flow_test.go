package verify

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/temporal"
)

// A climb at 2 to 3 m/s from 0 to 600 m takes 200 to 300 s.
func TestRatesLimitTimes(t *testing.T) {
	const climb = `<ReactiveFallback name="f"><Condition name="high" on="h ge 600"/><Action name="climb"/></ReactiveFallback>`
	const stages = `<ReactiveFallback name="f"><ReactiveSequence name="s"><Condition name="low" on="h lt 300"/><Action name="fast"/>
		</ReactiveSequence><Condition name="high" on="h ge 600"/><Action name="slow"/></ReactiveFallback>`
	const latch = `<ReactiveFallback name="f"><ReactiveSequence name="s"><Condition name="empty" on="b le 1" off="b ge 9"/>
		<Action name="charge" entry_time="10 [s]"/></ReactiveSequence><Action name="fly"/></ReactiveFallback>`
	const fence = `<ReactiveFallback name="f"><ReactiveSequence name="s"><Condition name="far" on="h gt 300" off="h lt 200"/>
		<Action name="back"/></ReactiveSequence><Action name="go"/></ReactiveFallback>`
	const turns = "charge: {b: [0.5, 1]}, fly: {b: [-0.2, -0.1]}"
	for _, test := range []struct {
		plan, property, effects string
		want                    Verdict
		text                    string
	}{
		{climb, "climb -> within 301 [s] (not climb)", "climb: {h: [2, 3]}", Proved, "at the rates that are known"},
		{climb, "always (climb -> within 301 [s] high)", "climb: {h: [2, 3]}", Proved, ""},
		{climb, "climb -> within 300 [s] (not climb)", "climb: {h: [2, 3]}", Undecided, "it may take longer, while climb is active"},
		{climb, "climb -> within 199 [s] (not climb)", "climb: {h: [2, 3]}", Undecided, "it may take longer, while climb is active"},
		{climb, "climb -> within 199 [s] (not climb)", "climb: {h: [3.1, 4]}", Proved, ""},
		{climb, "climb -> within 301 [s] (not climb)", "climb: {h: [-3, -2]}", Undecided,
			"the fact h >= 0 ends every run: h leaves what it allows while climb is active"},
		{climb, "climb -> within 301 [s] (not climb)", "climb: {h: up}", Refuted, "while climb is active, no signal has to leave"},
		{climb, "climb -> within 301 [s] (not climb)", "climb: {x: [2, 3]}", Refuted, "no signal has to leave"},
		{climb, "eventually high", "climb: {h: [2, 3]}", Proved, ""},
		{climb, "climb until high", "climb: {h: [2, 3]}", Proved, ""},
		{climb, "eventually high", "climb: {h: [0, 3]}", Refuted, "no signal has to leave"},
		{climb, "eventually high", "climb: {h: up}", Refuted, "no signal has to leave"},
		// In two stages of 300 m: 100 to 150 s and 150 to 300 s.
		{stages, "always (fast -> within 451 [s] high)", "fast: {h: [2, 3]}, slow: {h: [1, 2]}", Proved, ""},
		{stages, "always (fast -> within 449 [s] high)", "fast: {h: [2, 3]}, slow: {h: [1, 2]}", Undecided, "while slow is active"},
		{stages, "always (fast -> within 451 [s] high)", "fast: {h: [2, 3]}, slow: {h: [0, 2]}", Undecided, "while slow is active"},
		{stages, "always (fast -> for 149 [s] (not high))", "fast: {h: [2, 3]}, slow: {h: [1, 2]}", Proved, ""},
		{stages, "always (fast -> for 151 [s] (not high))", "fast: {h: [2, 3]}, slow: {h: [1, 2]}", Refuted, ""},
		// A cycle of charging and flying that never ends: 8 to 16 s up, 40 to 80 s down, limits from 0 to 10.
		{latch, "always (charge -> within 19 [s] fly)", turns, Proved, ""},
		{latch, "always (charge -> within 15 [s] fly)", turns, Undecided, "while charge is active"},
		{latch, "always (fly -> within 101 [s] charge)", turns, Proved, ""},
		{latch, "always (charge -> eventually fly)", turns, Proved, ""},
		{latch, "always eventually charge", turns, Proved, ""},
		// What is turned back at a limit leaves it at once; at the start it may be anywhere beyond.
		{fence, "far or always (far -> within 12 [s] (not far))", "back: {h: [-10, -9]}, go: {h: [0, 5]}", Proved, ""},
		{fence, "far or always (far -> within 11 [s] (not far))", "back: {h: [-10, -9]}, go: {h: [0, 5]}", Undecided,
			"while back is active"},
		{fence, "always (far -> within 12 [s] (not far))", "back: {h: [-10, -9]}, go: {h: [0, 5]}", Undecided, "while back is active"},
	} {
		_, all := check(t, test.plan, fmt.Sprintf("facts: [h >= 0, b >= 0 and b <= 10]\nproperties: [%q]\neffects: {%s}\n", test.property, test.effects))
		f := byQuestion(all, "property")[0]
		if f.Verdict != test.want || !strings.Contains(f.Text, test.text) {
			t.Errorf("%s, %s: %s %s", test.property, test.effects, f.Verdict, f.Text)
		}
		if f.Verdict == Proved && f.Assumes[0] != EffectsHold {
			t.Errorf("%s: %v", test.property, f.Assumes)
		}
	}
}

// unset is a Deriver that knows nothing of events of the vehicle.
type unset struct{}

func (unset) Resets(string, map[string]interval.Interval) ([]interval.Interval, bool) {
	return nil, false
}

func (unset) Missing(bt.Task, string) []string { return nil }

// sheltered derives a rate of x that is not 0 only where y is at least 2; y rises.
type sheltered struct{ unset }

func (sheltered) Rate(_ bt.Task, signal string, in map[string]interval.Interval) (declare.Rate, bool) {
	r := declare.Rate{Low: 0, High: 1, From: declare.Derived}
	if y, known := in["y"]; signal == "y" || known && y.Low >= 2 {
		r.Low = 1
	}
	return r, true
}

// TestRatesFollowIntervals: what is known of the rate of a signal follows the intervals of the others.
func TestRatesFollowIntervals(t *testing.T) {
	for condition, want := range map[string]Verdict{"y ge 2": Proved, "y ge 1": Undecided} {
		s := subjectOf(t, `<ReactiveSequence name="s"><Condition name="c" on="`+condition+`"/><ReactiveFallback name="f">
			<Condition name="far" on="x ge 3"/><Action name="go"/></ReactiveFallback></ReactiveSequence>`,
			"facts: [x >= 0, y >= 0 and y <= 9]\nproperties: ['always (go -> within 3.1 [s] (not go))']\n")
		s.Rates = sheltered{}
		if f := askProperties(NewModel(s))[0]; f.Verdict != want {
			t.Errorf("%s: %s %s", condition, f.Word(), f.Text)
		}
	}
}

// leaping derives rates of 2 to 3 for climb, where the signal may also jump if it is in a bounded interval.
type leaping struct{ unset }

func (leaping) Rate(_ bt.Task, _ string, in map[string]interval.Interval) (declare.Rate, bool) {
	r := declare.Rate{Low: 2, High: 3, From: declare.Derived}
	for _, x := range in {
		r.Jumps = x.Bounded()
	}
	return r, true
}

// A signal that jumps in an interval may stay there for any time, and leave it for any other one.
func TestJumpsAreNotLimited(t *testing.T) {
	s, _ := check(t, `<ReactiveFallback name="f"><Condition name="high" on="h ge 600"/><Action name="climb"/></ReactiveFallback>`,
		"facts: [h >= 0]\nproperties: [\"eventually high\"]\n")
	s.Rates = leaping{}
	if f := askProperties(NewModel(s))[0]; f.Verdict != Refuted || !strings.Contains(f.Text, "no signal has to leave") {
		t.Errorf("%s %s", f.Verdict, f.Text)
	}
}

// bounded is a property of the form always (trigger -> within or for a time, answer), or eventually answer.
type bounded struct {
	text            string
	trigger, answer func(f *flight) bool
	within          bool
	eventually      bool
	time            float64
}

func (r *randomPlan) bounded(s declare.Subject) bounded {
	fact := func() (string, func(f *flight) bool) {
		if r.IntN(2) == 0 {
			i, limit := r.IntN(2), 1+r.IntN(2)
			return fmt.Sprintf("%s ge %d", bruteNames[i], limit), func(f *flight) bool { return f.at[i] >= float64(limit) }
		}
		name := r.actions[r.IntN(len(r.actions))]
		task, _ := s.Plan.Tree.Find(name)
		return name, func(f *flight) bool { return f.state.engine.Active(task) }
	}
	b := bounded{within: r.IntN(4) > 0, eventually: r.IntN(6) == 0, time: float64(1+r.IntN(20))/4 + 0.12}
	var p, q string
	p, b.trigger = fact()
	q, b.answer = fact()
	if r.IntN(2) == 0 {
		p, b.trigger = "true", func(*flight) bool { return true }
	}
	if r.IntN(2) == 0 {
		q, inner := "not ("+q+")", b.answer
		b.answer = func(f *flight) bool { return !inner(f) }
		b.text = q
	} else {
		b.text = "(" + q + ")"
	}
	switch {
	case b.eventually:
		b.within, b.text = true, "eventually ("+b.text+")"
	case b.within:
		b.text = fmt.Sprintf("always (%s -> within %g [s] (%s))", p, b.time, b.text)
	default:
		b.text = fmt.Sprintf("always (%s -> for %g [s] (%s))", p, b.time, b.text)
	}
	return b
}

// violated flies for a while and reports whether the property does not hold, by a margin for the flight's steps, which
// go a little beyond limits.
func (b *bounded) violated(f *flight) bool {
	const margin, outside = 0.1, 0.02
	open, last, met := -1.0, -1.0, false
	judge := func() bool {
		trigger, answer := b.trigger(f), b.answer(f)
		met = met || answer
		if open >= 0 && f.now-open > b.time+margin {
			return true
		}
		if answer {
			open = -1
		} else if trigger && open < 0 {
			open = f.now
		}
		if trigger {
			last = f.now
		}
		return false
	}
	for range 600 {
		if !f.settle() {
			return false
		}
		for _, x := range f.at { // the facts
			if x < -1+outside || x > 4-outside {
				return false
			}
		}
		if judge() && b.within && !b.eventually || !b.within && last >= 0 && !b.answer(f) && f.now-last < b.time-margin {
			return true
		}
		rates := [2]float64{}
		for i, sig := range bruteNames {
			if r, known := f.rate(sig); known {
				rates[i] = r.Low + float64(f.IntN(3))/2*(r.High-r.Low)
			} else if rates[i] = float64(f.IntN(9) - 4); f.jumps(sig) && f.IntN(5) == 0 {
				f.at[i] = 3 * f.Float64()
			}
		}
		if f.IntN(10) == 0 {
			f.stubs[f.IntN(len(f.stubs))] = f.IntN(2) == 0
		}
		from := f.now
		f.cross(rates, 0.001, 0.1+f.Float64())
		if b.trigger(f) && f.now > from { // the place before the instant
			last = f.now
		}
		if !b.eventually && b.within && open >= 0 && f.now-open > b.time+margin {
			return true
		}
	}
	return b.eventually && !met && f.now > 60 // tasks that take turns fast have no time
}

// TestTimesAreKept: no flight of a random plan with random rates violates a property with times that is proved at the
// rates that are known.
func TestTimesAreKept(t *testing.T) {
	count, flown, late := map[Verdict]int{}, 0, 0
	r := &randomPlan{Rand: rand.New(rand.NewPCG(12, 3))}
	cases := plansFlown(1200, 200)
	for range cases {
		s := r.switching(t)
		for _, sig := range bruteNames {
			for _, text := range []string{sig + " >= -1", sig + " <= 4"} {
				e, err := expr.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				s.Declared.Facts = append(s.Declared.Facts, declare.Statement{Text: text, Parts: []*expr.Expr{e}})
			}
		}
		b := r.bounded(s)
		var names []string
		for task := range s.Plan.Tree.Len() {
			names = append(names, s.Plan.Tree.Name(bt.Task(task)))
		}
		p, mistakes := temporal.Read(b.text, expr.TaskNames(names), nil)
		if len(mistakes) > 0 {
			t.Fatal(b.text, mistakes[0])
		}
		s.Declared.Properties = []declare.Property{{Property: p}}
		found := askProperties(NewModel(s))[0]
		count[found.Verdict]++
		if found.Verdict == Proved && !strings.Contains(found.Text, "at the rates") {
			continue
		}
		for range 6 {
			violated := b.violated(r.fly(newBrute(s)))
			switch {
			case found.Verdict == Proved && violated:
				t.Fatalf("%s\n%v\n%s: a flight violates it", s.Plan.Source.Text, s.Declared.Effects, found.Text)
			case found.Verdict == Proved:
				flown++
			case violated:
				late++
			}
		}
	}
	t.Logf("%v; %d flights keep what the rates prove, %d violate what is not proved", count, flown, late)
	if flown < cases/8 || late < cases/4 {
		t.Errorf("%v; %d flights keep what the rates prove, %d violate what is not proved", count, flown, late)
	}
}
