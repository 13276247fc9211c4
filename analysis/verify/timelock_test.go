package verify

import (
	"strconv"
	"strings"
	"testing"
)

// A fact that every run comes to violate proves nothing: the runs end there, and what must happen has not happened. The
// finding says which fact ends them, and while what is active.
func TestFactsThatEndRunsProveNothing(t *testing.T) {
	never := `<ReactiveFallback><ReactiveSequence><Condition name="far" on="x ge 1000"/><Action name="home"/></ReactiveSequence>
		<Action name="survey"/></ReactiveFallback>`
	wrong := `<Sequence><Action name="out" done="x ge 10"/><Action name="back" done="x le 0"/><Action name="land"/></Sequence>`
	between := `<ReactiveFallback><ReactiveSequence><Condition name="low" on="h le 100" off="h ge 200"/><Action name="up"/>
		</ReactiveSequence><Action name="down"/></ReactiveFallback>`
	for name, test := range map[string]struct{ plan, declared, question, ends string }{
		"the plan never flies home": {never, "facts: [soc ge 0 and soc le 1]\nproperties: [eventually home]\n" +
			"effects: {survey: {soc: [-2e-5, -1e-5]}}", "property", "soc ge 0 and soc le 1"},
		"a bound on each side": {never, "facts: [soc ge 0, soc le 1]\nproperties: [eventually home]\n" +
			"effects: {survey: {soc: [-2e-5, -1e-5]}}", "property", "soc ge 0"},
		"within a time after the fact has ended all": {never, "facts: [t ge 0 and t le 1800]\n" +
			"properties: ['within 3000 [s] home']\neffects: {survey: {t: [1, 1]}}", "property", "t ge 0 and t le 1800"},
		"until": {never, "facts: [t ge 0 and t le 1800]\nproperties: [survey until home]\n" +
			"effects: {survey: {t: [1, 1]}}", "property", "t ge 0 and t le 1800"},
		"the sign of the way back is wrong": {wrong, "facts: [soc ge 0 and soc le 1]\nproperties: [eventually land]\n" +
			"effects: {out: {x: [1, 1], soc: [-0.1, -0.1]}, back: {x: [1, 1], soc: [-0.1, -0.1]}}", "property", "soc ge 0 and soc le 1"},
		"an altitude that oscillates": {between, "facts: [t ge 0 and t le 1800]\ngoal: h >= 1000\n" +
			"effects: {up: {h: [1, 1], t: [1, 1]}, down: {h: [-1, -1], t: [1, 1]}}", "reach", "t ge 0 and t le 1800"},
		"a sum of signals": {between, "facts: [x + h le 100]\ngoal: h >= 1000\n" +
			"effects: {up: {h: [1, 1], x: [2, 2]}, down: {h: [-1, -1], x: [3, 3]}}", "reach", "x + h le 100"},
		"a goal of two signals": {between, "facts: [soc ge 0, soc le 1]\ngoal: h >= 1000 and soc ge 0.5\n" +
			"effects: {up: {h: [1, 1], soc: [-1, -1]}, down: {h: [-1, -1], soc: [-1, -1]}}", "reach", "soc ge 0"},
	} {
		_, found := check(t, test.plan, test.declared)
		ends := false
		for _, f := range byQuestion(found, test.question) {
			if f.Verdict == Proved && !strings.Contains(f.Text, "from some states") {
				t.Errorf("%s: %v: %s", name, f.Verdict, f.Text)
			}
			ends = ends || strings.Contains(f.Text, test.ends) && strings.Contains(f.Text, "ends")
		}
		if !ends {
			t.Errorf("%s: no finding says that %s ends runs: %+v", name, test.ends, byQuestion(found, test.question))
		}
	}
}

// Facts that runs need not violate, and those that a run comes to only after what must happen, are no hindrance.
func TestFactsThatEndNoRunsHelp(t *testing.T) {
	climb := `<ReactiveFallback><Condition name="there" on="h ge 100"/><Action name="climb"/></ReactiveFallback>`
	for name, test := range map[string]struct{ plan, declared, question string }{
		"a state of charge that need not fall": {climb, "facts: [soc ge 0 and soc le 1, h ge 0]\n" +
			"properties: [eventually there]\neffects: {climb: {h: [1, 2], soc: [-0.1, 0.1]}}", "property"},
		"the same, for all states": {climb, "facts: [soc ge 0 and soc le 1, h ge 0]\n" +
			"goal: h ge 100\neffects: {climb: {h: [1, 2], soc: [-0.1, 0.1]}}", "reach"},
		"it is there before": {`<Sequence><Action name="wait" done="t ge 10"/><Action name="climb"/></Sequence>`,
			"facts: [t ge 0 and t le 1800]\nproperties: [eventually climb]\neffects: {wait: {t: [1, 1]}, climb: {t: [1, 1]}}",
			"property"},
	} {
		_, found := check(t, test.plan, test.declared)
		for _, f := range byQuestion(found, test.question) {
			if f.Verdict != Proved {
				t.Errorf("%s: %v: %s", name, f.Verdict, f.Text)
			}
		}
	}
}

// What must happen does so before the horizon of the mission, at which its runs end; what happens in runs without an end
// is another answer.
func TestWhatMustHappenDoesBeforeTheHorizon(t *testing.T) {
	climb := `<ReactiveFallback name="f"><Condition name="high" on="h ge 600"/><Action name="climb"/></ReactiveFallback>`
	for _, test := range []struct {
		property string
		horizon  float64
		assumes  bool
	}{{"eventually high", 0, false}, {"eventually high", 310, false}, {"eventually high", 290, true}, {"climb until high", 60, true},
		{"always (climb -> eventually high)", 1000, true}, {"always (climb -> within 301 [s] high)", 60, false},
		{"(eventually high) and (eventually (not climb))", 310, false}} {
		s := subjectOf(t, climb, "facts: [h >= 0]\nproperties: ["+strconv.Quote(test.property)+"]\neffects: {climb: {h: [2, 3]}}")
		s.Horizon = test.horizon
		f := byQuestion(Check(s), "property")[0]
		assumes := len(f.Unwatched()) > 0 && strings.Contains(f.Unwatched()[0].Text, "horizon")
		if f.Verdict != Proved || assumes != test.assumes {
			t.Errorf("%s, %v s: %v %s, %v", test.property, test.horizon, f.Verdict, f.Text, f.Assumes)
		}
	}
}
