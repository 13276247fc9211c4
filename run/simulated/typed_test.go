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

// Computed signals may be discrete: they change where an event inside their expressions happens, and nowhere else. What
// reads them is judged again in the same instant.
func TestComputedDiscreteSignals(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback>
		<ReactiveSequence><Condition ID="halfway" on="label == 'half way' and level == 2"/><Action ID="through" write="v := 2"/></ReactiveSequence>
		<ReactiveSequence><Condition ID="gone" on="zone == away and not steep and counted"/><Action name="rest"/></ReactiveSequence>
		<Action ID="go" write="v := 1; laps := level"/></ReactiveFallback>`, `signals:
  counted: {type: boolean, value: "laps != 1 or t gt 3 [s]"}
  zone: {type: enumeration, values: [close, between, away], value: "if(x lt 5 [m], close, if(x lt 10 [m], between, away))"}
  level: {type: integer, value: "if(steep, 2, 1)"}
  label: {type: text, value: "if(steep, 'half way', 'elsewhere')"}
  steep: {type: boolean, value: "zone == between"}
  laps: {type: integer}
`, "tolerance=1e-10", "horizon=20")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "half way", l.at(m, "halfway", bt.Success), 1e-8, 5)
	near(t, "gone", l.at(m, "gone", bt.Success), 1e-8, 7.5)
	near(t, "rest", l.at(m, "rest", bt.Running), 1e-8, 7.5)
	zone, level := l.column(m, "zone"), l.column(m, "level")
	for i, x := range l.column(m, "x") {
		if z := zone[i]; z != 0 && x < 5-1e-6 || z != 1 && x > 5+1e-6 && x < 10-1e-6 || z != 2 && x > 10+1e-6 {
			t.Errorf("the zone is %v at %v m", z, x)
		}
		if level[i] == 2 != (zone[i] == 1) {
			t.Errorf("level %v in zone %v", level[i], zone[i])
		}
	}
	if d, _ := m.Signal("zone"); d.Type.Name() != "enumeration" || len(d.Values) != 3 {
		t.Errorf("the log describes the zone as %+v", d)
	}
	if d, _ := m.Signal("label"); d.Type.Name() != "text" || len(d.Values) != 2 {
		t.Errorf("the log describes the label as %+v", d)
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

// Statements about computed enumerations are compared with their values: the signal is replaced by its expression.
func TestComputedEnumerationsInChecks(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback><Condition ID="there" on="zone == away"/><Action ID="go" write="v := 1"/></ReactiveFallback>`,
		`signals:
  zone: {type: enumeration, values: [close, between, away], value: "if(x lt 5 [m], close, if(x lt 10 [m], between, away))"}
check:
  goal: "zone == away"
  always: ["go -> zone != away", "go -> zone == close"]
`)
	want := []verify.Verdict{verify.Proved, verify.Proved, verify.Proved, verify.Refuted}
	for _, f := range verify.Check(m.Subject()) {
		if f.Question == "goal" || f.Question == "always" {
			if f.Verdict != want[0] {
				t.Errorf("%s: %s", f.Text, f.Verdict)
			}
			want = want[1:]
		}
	}
	if len(want) > 0 {
		t.Errorf("%d answers are missing", len(want))
	}
}

// An exit procedure that ends while leaves are visited changes slots, whose readers are visited in the next settling;
// the other leaves that are due are still visited in this one.
func TestExitEndsDuringVisits(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback>
		<Action ID="go" write="v := 1; mode := transit" done="x ge 5 [m]" exit_until="x ge 5 [m]"/>
		<Condition ID="slow" on="v lt 0.5 [m/s]"/>
		<Condition ID="away" on="mode != survey"/><Condition ID="off" on="mode == transit"/></ReactiveFallback>`,
		typed+"\ncheck: {properties: [eventually slow]}\n", "tolerance=1e-10", "horizon=20")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slow", l.at(m, "slow", bt.Success), 1e-8, 5)
}
