package verify

import (
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
)

// What is not proved of all runs is asked again of those that begin as a mission declares, and says so; a proof of all
// runs stays.
func TestStartIsAskedSecond(t *testing.T) {
	const text = `<ReactiveFallback>
		<ReactiveSequence><Condition ID="high" on="h ge 100"/><Action ID="fly"/></ReactiveSequence>
		<ReactiveSequence><Condition ID="low" on="h lt 50"/><Action ID="climb"/></ReactiveSequence></ReactiveFallback>`
	const declared = `{always: [fly -> h ge 100, h ge 10, h ge 200], properties: [always (h ge 10)], facts: [h ge `
	s := subjectOf(t, text, declared+"0]}")
	s.Start = func() declare.Subject { return subjectOf(t, text, declared+"100]}") }
	want := map[string][]Verdict{"complete": {Proved}, "always": {Proved, Proved, Refuted}, "property": {Proved},
		"dead": {Proved}}
	got := map[string][]Verdict{}
	for _, f := range Check(s) {
		if want[f.Question] == nil {
			continue
		}
		got[f.Question] = append(got[f.Question], f.Verdict)
		first := len(got[f.Question]) == 1 && f.Question != "complete" && f.Question != "property"
		if begins := slices.Contains(f.Assumes, Begins); begins == (f.Verdict != Proved || first) {
			t.Errorf("%s %s: from the start: %v", f.Question, f.Text, begins)
		}
	}
	for q, list := range want {
		if !slices.Equal(got[q], list) {
			t.Errorf("%s: %v, want %v", q, got[q], list)
		}
	}
}

// A task that is active in the mission's own flight is not dead, if the flight keeps the facts.
func TestFlownIsNotDead(t *testing.T) {
	s := subjectOf(t, `<Sequence><Action ID="a" done="x ge 2"/><Condition ID="c" on="x lt 0"/><Action ID="b"/></Sequence>`,
		`facts: [x ge 1]`)
	b, _ := s.Plan.Tree.Find("b")
	for _, lawful := range []bool{true, false} {
		s.Fly = func(func() bool) declare.Shown {
			return declare.Shown{Initial: make([]bt.Status, s.Plan.Tree.Len()), Lawful: lawful,
				Instants: []declare.Instant{{Changes: []bt.Change{{Task: b, To: bt.Activating}}}}}
		}
		if f := byQuestion(Check(s), "dead")[0]; (f.Verdict == Refuted) == lawful {
			t.Errorf("the flight keeps the facts: %v; %s %s", lawful, f.Verdict, f.Text)
		}
	}
}
