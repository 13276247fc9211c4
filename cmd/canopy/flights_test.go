package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// cart writes a mission of a cart on a plane, whose commands are its speeds.
func cart(t *testing.T, plan, keys string) string {
	t.Helper()
	dir := write(t, map[string]string{
		"cart.vehicle.yaml": `states:
  x: {unit: m, derivative: u, min: -1000, max: 1000}
  y: {unit: m, derivative: v, min: -1000, max: 1000}
  z: {unit: m, derivative: "z * cos(t / 1 [s]) / 1 [s]", initial: 1}
outputs:
  d: {unit: m, value: sqrt(x^2 + y^2)}
commands:
  u: {unit: m/s, default: 0}
  v: {unit: m/s, default: 0}
`,
		"plan.xml":     `<root BTCPP_format="4"><BehaviorTree ID="plan">` + plan + `</BehaviorTree></root>`,
		"mission.yaml": "plan: plan.xml\nvehicle: cart.vehicle.yaml\nhorizon: 10\n" + keys,
	})
	return filepath.Join(dir, "mission.yaml")
}

// answers returns the lines of a check that answer a question.
func answers(t *testing.T, mission, question string) string {
	t.Helper()
	out, stderr, _ := canopy("check", mission)
	if stderr != "" {
		t.Fatal(stderr)
	}
	var b strings.Builder
	for line := range strings.Lines(out) {
		if words := strings.Fields(line); len(words) > 2 && (words[1] == question || words[2] == question) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestFlightsThatChatter: no plan whose flight dies of chattering is proved not to chatter, or is not asked about it.
func TestFlightsThatChatter(t *testing.T) {
	for name, c := range map[string]struct{ plan, keys, verdict string }{
		"two signals": {`<ReactiveFallback>
			<ReactiveSequence><Condition name="c" on="x ge y"/><Action name="a" write="u := -1 [m/s]"/></ReactiveSequence>
			<Action name="b" write="u := 1 [m/s]"/></ReactiveFallback>`, "", "REFUTED"},
		"through a slot that follows a signal": {`<Parallel>
			<Action name="set" write="k := if(x ge 2 [m], -1, 1)"/>
			<ReactiveFallback><ReactiveSequence><Condition name="c" on="k gt 0"/>
			<Action name="a" write="u := 1 [m/s]"/></ReactiveSequence><Action name="b" write="u := -1 [m/s]"/>
			</ReactiveFallback></Parallel>`, "signals:\n  k: {unit: 1}\n", "REFUTED"},
		"memory": {`<ReactiveFallback>
			<ReactiveSequence><Condition name="c" on="x ge 2 [m]"/><Action name="a" write="u := -1 [m/s]"/></ReactiveSequence>
			<Sequence><Condition name="d" on="x lt 2 [m]"/><Action name="b" write="u := 1 [m/s]"/></Sequence>
			</ReactiveFallback>`, "", "REFUTED"},
		"a slot within an instant": {`<ReactiveFallback><Condition name="c" on="u gt 0"/>
			<ReactiveSequence><Condition name="d" on="x lt 2 [m]"/><Action name="a" write="u := 1 [m/s]"/></ReactiveSequence>
			</ReactiveFallback>`, "", "REFUTED"},
	} {
		mission := cart(t, c.plan, c.keys)
		_, stderr, status := canopy("run", mission, "--out", t.TempDir())
		if status != 1 || !strings.Contains(stderr, "chattering") && !strings.Contains(stderr, "do not settle") {
			t.Fatalf("%s: the flight does not chatter: %s", name, stderr)
		}
		if got := answers(t, mission, "chatter"); !strings.HasPrefix(got, c.verdict) {
			t.Errorf("%s: %q, not %s", name, got, c.verdict)
		}
	}
}

// TestTurnsEndWithThePlan: where runs end with the plan, no task is switched on again after that.
func TestTurnsEndWithThePlan(t *testing.T) {
	for ends, want := range map[string]string{"ends_with_plan: true\n": "proved", "": "REFUTED"} {
		mission := cart(t, `<ReactiveFallback><Condition name="c" on="z ge 1.5 [m]"/><Action name="a"/></ReactiveFallback>`, ends)
		if got := answers(t, mission, "chatter"); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, not %s", ends, got, want)
		}
	}
}

// TestPropertiesEndWithThePlan: what is still to happen when the plan ends, and the run with it, does not happen. The
// plan ends at 2 s.
func TestPropertiesEndWithThePlan(t *testing.T) {
	const plan = `<ReactiveSequence><Condition name="c" on="t lt 2"/><Action name="a"/></ReactiveSequence>`
	for property, want := range map[string][2]string{ // the run goes on, the run ends with the plan
		"eventually (t ge 5)": {"proved", "REFUTED"}, "a until (t ge 5)": {"REFUTED", "REFUTED"}, "within 6 (t ge 5)": {"proved", "not"},
		"t le 3 until (t ge 5)": {"REFUTED", "REFUTED"}, "not (t ge 2) until (t ge 1)": {"proved", "proved"}, "never (t ge 5)": {"REFUTED", "proved"},
		"t le 3": {"proved", "proved"}, "always (t le 3)": {"REFUTED", "proved"}, "eventually (t ge 1)": {"proved", "proved"},
		"for 5 [s] (t lt 3)": {"REFUTED", "proved"},
	} {
		for i, ends := range []string{"", "ends_with_plan: true\n"} {
			if got := answers(t, cart(t, plan, ends+"check: {properties: ["+strconv.Quote(property)+"]}\n"), "property"); !strings.HasPrefix(got, want[i]) {
				t.Errorf("%s, %q: %q, not %s", property, ends, got, want[i])
			}
		}
	}
}

// TestInstantsThatNoRunReaches: an instant without end matters only if some run comes to it. The cart moves when task a
// is active alone, and a waits for it to move.
func TestInstantsThatNoRunReaches(t *testing.T) {
	const plan = `<ReactiveFallback><Condition name="c" on="u gt 0"/>
		<ReactiveSequence><Condition name="d" on="x %s 2 [m]"/><Action name="a" write="u := 1 [m/s]"/></ReactiveSequence>
		</ReactiveFallback>`
	for relation, want := range map[string]string{"gt": "proved", "lt": "REFUTED"} {
		if got := answers(t, cart(t, fmt.Sprintf(plan, relation), ""), "chatter"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, not %s", relation, got, want)
		}
	}
}

// TestTurnsOnAnyRelation: chatter is proved only if every input on which tasks take turns was considered. The flights of
// these plans chatter at 2 m, whatever relation says that the cart is there.
func TestTurnsOnAnyRelation(t *testing.T) {
	const plan = `<ReactiveFallback><ReactiveSequence><Condition name="c" on="%s"/>
		<Action name="a" write="u := 1 [m/s]"/></ReactiveSequence><Action name="b" write="u := -1 [m/s]"/></ReactiveFallback>`
	for _, on := range []string{
		"x le 2 [m]", "sqrt(x^2 + y^2) le 2 [m]", "d le 2 [m]", "d + y le 2 [m]", "x*x le 4 [m^2]", "x*d le 4 [m^2]",
		"max(x, y) le 2 [m]", "max(d, y) le 2 [m]", "not min(x, d) gt 2 [m]", "floor(x / 1 [m]) le 1", "floor(d / 1 [m]) le 1",
		"far le 2 [m]", "late le 2 [m]", "near", "rise(x) le 2", "rise(d) le 2", "lift(x, d) le 2", "x + 0.1 [m] * sin(t / 1 [s]) le 2 [m]",
		"d + 0.1 [m] * sin(t / 1 [s]) le 2 [m]", "abs(d - 1 [m]) le 1 [m]", "if(y gt 1 [m], x, d) le 2 [m]",
	} {
		for _, start := range []float64{1.5, 2.5} {
			mission := cart(t, fmt.Sprintf(plan, on), fmt.Sprintf(`initial: {x: %g}
signals:
  far: {unit: m, value: "sqrt(x^2 + y^2)"}
  late: {unit: m, value: "d + 0 [m/s] * t"}
  near: {type: boolean, value: "far le 2 [m]"}
tables:
  rise: {arguments: {x: {unit: m, points: [0, 4]}}, values: [0, 4]}
  lift: {arguments: {x: {unit: m, points: [0, 4]}, d: {unit: m, points: [0, 4]}}, values: [[0, 0], [4, 4]]}
`, start))
			_, stderr, status := canopy("run", mission, "--out", t.TempDir())
			if status != exitFailed || !strings.Contains(stderr, "chattering") {
				t.Fatalf("%s: the flight does not chatter: %s", on, stderr)
			}
			got, _, status := canopy("check", mission, "--strict")
			if !strings.Contains(got, "REFUTED     chatter") && !strings.Contains(got, "not proved  chatter") {
				t.Errorf("%s: %q", on, got)
			}
			if status != exitRefute && status != exitOpen {
				t.Errorf("%s: status %d", on, status)
			}
		}
	}
}

// TestAdviceOnNonlinearRelations: what the finding about a distance advises leads to an answer.
func TestAdviceOnNonlinearRelations(t *testing.T) {
	const plan = `<ReactiveFallback><ReactiveSequence><Condition name="c" on="%[1]s le 2 [m]" off="%[1]s ge 100 [m]"/>
		<Action name="a" write="u := 1 [m/s]"/></ReactiveSequence><Action name="b" write="u := -1 [m/s]"/></ReactiveFallback>`
	far := cart(t, fmt.Sprintf(plan, "sqrt(x^2 + y^2)"), "")
	out, _, _ := canopy("check", far)
	if !strings.HasPrefix(answers(t, far, "chatter"), "not proved") || !strings.Contains(out, "compare an output of the vehicle instead") {
		t.Errorf("%s", out)
	}
	effects := "check:\n  effects: {a: {d: [-1, 1]}, b: {d: [-1, 1]}}\n"
	if got := answers(t, cart(t, fmt.Sprintf(plan, "d"), effects), "chatter"); !strings.HasPrefix(got, "proved") ||
		!strings.Contains(got, "a and b take turns on d no faster than every 196 s") {
		t.Errorf("%s", got)
	}
}

// TestReachThatIsNotAsked: that a declared goal cannot be followed is a finding, which counts with --strict.
func TestReachThatIsNotAsked(t *testing.T) {
	const plan = `<Action name="a" write="u := 1 [m/s]" done="x ge 5 [m]"/>`
	for goal, want := range map[string]string{"sqrt(x^2 + y^2) ge 5 [m]": "not asked", "x ge 5 [m]": "proved", "": ""} {
		keys := ""
		if goal != "" {
			keys = "check:\n  goal: " + goal + "\n"
		}
		keys += "# canopy: accept goal: it is not the matter here\n# canopy: accept complete: nor is this\n"
		mission := cart(t, plan, keys)
		if got := answers(t, mission, "reach"); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", goal, got)
		}
		out, _, _ := canopy("check", mission, "--json")
		if open := strings.Contains(out, `"question": "reach",
    "verdict": "not_asked",
    "text": "the goal is not moved`); open != (want == "not asked") {
			t.Errorf("%s: %s", goal, out)
		}
	}
}

// TestSignalsWithoutRates: signals of a vehicle whose rates are not known do not rest, as the flight shows.
func TestSignalsWithoutRates(t *testing.T) {
	got := answers(t, cart(t, `<ReactiveFallback><ReactiveSequence><Condition name="c" on="z ge 2 [m]"/><Action name="a"/>
		</ReactiveSequence><Action name="b" done="x ge 1 [m]"/></ReactiveFallback>`, ""), "chatter")
	if !strings.HasPrefix(got, "REFUTED") {
		t.Errorf("%q", got)
	}
}

// TestPlansThatNeverSettle: nothing is concluded about tasks that are active only in instants without an end.
func TestPlansThatNeverSettle(t *testing.T) {
	for name, plan := range map[string]string{
		"always": `<Repeat num_cycles="-1"><Action name="a" entry="n := 1 - n" done="true"/></Repeat>`,
		"for some signals": `<ReactiveFallback><KeepRunningUntilFailure><Sequence><Condition name="c" on="x ge 3 [m]"/>
			<Action name="a" entry="n := 1 - n" done="true"/></Sequence></KeepRunningUntilFailure><Action name="b"/></ReactiveFallback>`,
		"by a slot": `<Switch2 variable="n" case_1="0" case_2="1"><Action name="a" entry="n := 1"/>
			<Action name="b" entry="n := 0"/><Action name="d"/></Switch2>`,
	} {
		mission := cart(t, plan, "signals:\n  n: {type: integer}\n")
		if got := answers(t, mission, "dead"); !strings.Contains(got, "not proved") || strings.Contains(got, "never active") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestRegionsOfCloseLimits: a region between two limits that differ in their last digits shows both.
func TestRegionsOfCloseLimits(t *testing.T) {
	mission := cart(t, `<ReactiveFallback><ReactiveSequence><Condition name="c" on="x gt 0.1 [m] + 0.2 [m]"/>
		<Action name="a" write="u := -1 [m/s]" done="y ge 1 [m]"/></ReactiveSequence><Action name="b" write="u := 1 [m/s]"/></ReactiveFallback>`,
		"check:\n  properties:\n    - always (not c -> x le 0.3 [m])\n    - always (b -> x le 0.3 [m])\n")
	out, _, _ := canopy("check", mission)
	if !strings.Contains(out, "0.30000000000000004") || strings.Contains(out, "(0.3, 0.3]") {
		t.Error(out)
	}
}
