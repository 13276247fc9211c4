package simulated

import (
	"strings"
	"testing"

	"canopy/analysis/verify"
	"canopy/bt"
)

// typed is the signals of the tests of discrete slots.
const typed = `signals:
  mode: {type: enumeration, values: [survey, transit, home], default: survey, hold: true}
  armed: {type: boolean}
  legs: {type: integer, hold: true}
  laps: {type: integer}
  note: {type: text, default: idle, hold: true}
`

// Discrete slots change at instants: when a task starts, when an event inside a value that is written happens. What reads
// them is judged again in the same instant.
func TestDiscreteSlots(t *testing.T) {
	m := cartMission(t, `<ReactiveParallel>
		<Action ID="guard" write="armed := x ge 5 [m] and t lt 30 [s]"/>
		<ReactiveFallback>
			<ReactiveSequence><Condition ID="surveying" on="mode == survey"/><Condition ID="near" on="x lt 10 [m]"/>
				<Action ID="far" write="v := 1" entry="legs := legs + 1" exit="note := 'over there'; mode := if(armed, transit, home)"/></ReactiveSequence>
			<ReactiveSequence><Condition ID="counted" on="legs == 1 and mode != home and note == &quot;over there&quot;"/>
				<Condition ID="hot" on="armed"/><Action ID="back" write="v := -1"/></ReactiveSequence>
			<Action ID="wait" write="laps := 2 * legs + 5"/></ReactiveFallback></ReactiveParallel>`, typed, "tolerance=1e-10", "horizon=40")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "surveying is over", l.at(m, "surveying", bt.Failure), 1e-8, 10)
	near(t, "back starts", l.at(m, "back", bt.Running), 1e-8, 10)
	near(t, "back stops where it is armed no longer", l.at(m, "wait", bt.Running), 1e-8, 10, 15)
	near(t, "mode, armed, laps", []float64{l.last(m, "mode"), l.last(m, "armed"), l.last(m, "laps")}, 0, 1, 0, 7)
	for _, v := range l.column(m, "armed") {
		if v != 0 && v != 1 {
			t.Errorf("a Boolean is recorded as %v", v)
		}
	}
	if notes := l.column(m, "note"); notes[0] == l.last(m, "note") {
		t.Error("the note stays what it was")
	}
}

// What discrete signals do is free in a check: nothing is proved of it that a run refutes.
func TestDiscreteSlotsAreFreeInChecks(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback>
		<ReactiveSequence><Condition ID="surveying" on="mode == survey"/><Condition ID="near" on="x lt 10 [m]"/>
			<Action ID="far" write="v := 1" exit="mode := transit"/></ReactiveSequence>
		<ReactiveSequence><Condition ID="ready" on="armed or legs == 3"/><Action ID="back" write="v := -1"/></ReactiveSequence>
		<Action ID="wait" write="legs := 3"/></ReactiveFallback>`, typed+`check:
  properties:
    - always surveying
    - never wait
    - never back
    - always (back -> ready)
    - never both(far, back)
`)
	got := map[string]verify.Verdict{}
	for _, f := range verify.Check(m.Subject()) {
		for _, p := range []string{"always surveying", "never wait", "never back", "always (back -> ready)", "never both(far, back)"} {
			if strings.Contains(f.Text, p) {
				got[p] = f.Verdict
			}
		}
	}
	for _, p := range []string{"always surveying", "never wait", "never back"} {
		if v, ok := got[p]; !ok || v == verify.Proved {
			t.Errorf("%s: %v, %v", p, v, ok)
		}
	}
	for _, p := range []string{"always (back -> ready)", "never both(far, back)"} {
		if v, ok := got[p]; !ok || v != verify.Proved {
			t.Errorf("%s: %v, %v", p, v, ok)
		}
	}
}
