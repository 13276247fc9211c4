package main

import (
	"path/filepath"
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
  z: {unit: m, derivative: "-z / 1 [s]", initial: 1}
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
			</ReactiveFallback></Parallel>`, "signals:\n  k: {unit: 1}\n", "not proved"},
		"memory": {`<ReactiveFallback>
			<ReactiveSequence><Condition name="c" on="x ge 2 [m]"/><Action name="a" write="u := -1 [m/s]"/></ReactiveSequence>
			<Sequence><Condition name="d" on="x lt 2 [m]"/><Action name="b" write="u := 1 [m/s]"/></Sequence>
			</ReactiveFallback>`, "", "REFUTED"},
	} {
		mission := cart(t, c.plan, c.keys)
		_, stderr, status := canopy("run", mission, "--out", t.TempDir())
		if status != 1 || !strings.Contains(stderr, "chattering") {
			t.Fatalf("%s: the flight does not chatter: %s", name, stderr)
		}
		if got := answers(t, mission, "chatter"); !strings.HasPrefix(got, c.verdict) {
			t.Errorf("%s: %q, not %s", name, got, c.verdict)
		}
	}
}

// TestSignalsWithoutRates: signals of a vehicle whose rates are not known do not rest.
func TestSignalsWithoutRates(t *testing.T) {
	got := answers(t, cart(t, `<ReactiveFallback><ReactiveSequence><Condition name="c" on="z ge 2 [m]"/><Action name="a"/>
		</ReactiveSequence><Action name="b" done="x ge 1 [m]"/></ReactiveFallback>`, ""), "chatter")
	if !strings.HasPrefix(got, "not proved") {
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
		<Action name="a" write="u := -1 [m/s]" done="y ge 1 [m]"/></ReactiveSequence><Action name="b"/></ReactiveFallback>`,
		"check:\n  properties:\n    - always (not c -> x le 0.3 [m])\n    - always (b -> x le 0.3 [m])\n")
	out, _, _ := canopy("check", mission)
	if !strings.Contains(out, "0.30000000000000004") || strings.Contains(out, "(0.3, 0.3]") {
		t.Error(out)
	}
}
