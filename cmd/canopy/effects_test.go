package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
)

// The table of effects shows declared and derived rates, the ranges that are missing, and what the equations imply.
func TestEffects(t *testing.T) {
	stdout, stderr, status := canopy("check", "../../examples/08-finite-time/boat.yaml", "--effects")
	if status != exitOK || stderr != "" {
		t.Fatal(status, stderr)
	}
	want := `signal  task   low  high  from
x       ahead  1    1     derived
x       steer  0    0     derived
y       ahead  -    -     unknown; no range: y
y       steer  -    -     unknown; no range: y
from the declared start: x >= -0.0001 and x <= 20.023
`
	if stdout != want {
		t.Errorf("%s", stdout)
	}
	stdout, _, _ = canopy("check", "../../missions/solar-day.yaml", "--effects", "--json")
	var list []effect
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || len(list) < 10 {
		t.Fatal(err, stdout)
	}
	if e := list[0]; e.Signal != "h" || e.Task != "climb" || e.From != "declared" || e.High != nil || *e.Low <= 0 {
		t.Errorf("%+v", e)
	}
}

// A declared effect that contains the derived one is proved, one that contradicts it is refuted, any other is assumed.
func TestDeclaredEffects(t *testing.T) {
	for effect, want := range map[string]string{
		"[-1, 1]":    "proved    effects     the declared effects contain the derived rates: 1 of 1",
		"[0, 0.3]":   "not proved  effects     assumed, not proved: while a is active, the rate of x is declared as [0, 0.3], derived as [-0.1, 0.9]",
		"[1.5, 2]":   "REFUTED   effects     while a is active, the rate of x is declared as [1.5, 2], derived as [-0.1, 0.9]",
		"[0.95, 2]":  "REFUTED   effects",
		"down":       "not proved  effects",
		"[-0.1, 10]": "proved    effects",
	} {
		dir := write(t, map[string]string{
			"v.yaml": "parameters: {r: {unit: 1/s, default: 1}}\nstates: {x: {derivative: (u - x) * r, min: 0, max: 1}}\ncommands: {u: {}}\n",
			"p.xml":  `<root BTCPP_format="4"><BehaviorTree ID="p"><ReactiveFallback><Condition name="c" on="x ge 0.8"/><Action name="a" write="u := 0.9"/></ReactiveFallback></BehaviorTree></root>`,
			"m.yaml": "plan: p.xml\nvehicle: v.yaml\nhorizon: 9\ncheck:\n  effects:\n    a: {x: " + effect + "}\n",
		})
		stdout, stderr, _ := canopy("check", filepath.Join(dir, "m.yaml"))
		if !strings.Contains(strings.Join(strings.Fields(stdout), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%s: %s%s", effect, stdout, stderr)
		}
		if strings.HasPrefix(want, "REFUTED") && !strings.Contains(stdout, "m.yaml:6:9") {
			t.Errorf("no place: %s", stdout)
		}
	}
}

// A rate that is only known to be up, or that no bound is found for, is shown as such.
func TestEffectsWithoutNumbers(t *testing.T) {
	var out strings.Builder
	up := math.SmallestNonzeroFloat64
	down := -up
	list := []effect{{Signal: "x", Task: "a", Low: &up, From: "declared"}, {Signal: "x", Task: "b", High: &down, From: "declared"},
		{Signal: "y", Task: "a", From: unknownRate}}
	must(t, printEffects(&out, declare.Subject{}, list))
	says(t, "the table", out.String(), "a     above 0  -        declared\n", "b     -        below 0  declared\n",
		"unknown: no bound is known\n")
}

// What the time did not suffice for is neither accepted by a note nor said to need declarations.
func TestLate(t *testing.T) {
	src := &diag.Source{Name: "f", Text: "a: b"}
	found := []verify.Finding{{Question: "complete", Text: "not concluded within 1 s", Late: true,
		Place: declare.Place{Source: src}}}
	var out strings.Builder
	if err := printNotes(&out, declare.Subject{Plan: &plan.Plan{}}, found); err != nil || out.String() != "" {
		t.Errorf("%v %s", err, out.String())
	}
	must(t, printFindings(&out, declare.Subject{Plan: &plan.Plan{}}, "f", found, nil))
	if strings.Contains(out.String(), "not asked") {
		t.Errorf("%s", out.String())
	}
}

// What several questions are not concluded for is written once.
func TestOneReasonForManyQuestions(t *testing.T) {
	var found []verify.Finding
	at := declare.Place{Source: &diag.Source{}}
	for _, q := range []string{"complete", "dead", "goal"} {
		found = append(found, verify.Finding{Question: q, Verdict: verify.Undecided, Text: "not concluded: why", Place: at})
	}
	var out strings.Builder
	must(t, printFindings(&out, declare.Subject{Plan: &plan.Plan{}}, "f", found, nil))
	says(t, "the table", out.String(), "3 not proved\n", "also        dead, goal\n")
	if strings.Count(out.String(), "why") != 1 {
		t.Errorf("%s", out.String())
	}
}

// A leg is flown if the vehicle cannot be at its end before: after the climb of 16.7 s, in which x has two rates, it is
// at 33.3 m.
func TestLegsAreFlown(t *testing.T) {
	for limit, proved := range map[string]bool{"33 [m]": false, "34 [m]": true, "1500 [m]": true} {
		dir := write(t, map[string]string{"p.xml": `<root BTCPP_format="4"><BehaviorTree><Sequence>
			<Action name="climb" write="w := 3" done="h ge 50 [m]"/><Action name="go" write="v := 12" done="x ge ` + limit + `"/>
			<Action name="descend" write="w := -1"/></Sequence></BehaviorTree></root>`,
			"v.vehicle.yaml": "vehicle: v\ncommands: {v: {unit: m/s}, w: {unit: m/s}}\nstates:\n" +
				"  x: {unit: m, derivative: \"if(h gt 5 [m], v + 2 [m/s], 1 [m/s])\"}\n  h: {unit: m, derivative: w}\n",
			"m.yaml": "plan: p.xml\nvehicle: v.vehicle.yaml\nhorizon: 10 [min]\ncheck: {properties: [go before descend]}\n"})
		stdout, stderr, _ := canopy("check", filepath.Join(dir, "m.yaml"))
		if strings.Contains(stdout, "holds in every run: go before descend") != proved {
			t.Errorf("%s: proved is to be %t\n%s%s", limit, proved, stdout, stderr)
		}
	}
}

// From the declared start, the direction in which signals move proves properties without times, whatever decides the
// plan: a station keeper never drifts further than its limits, a heater with entry and exit times never overheats. A
// signal that turns where it enters an interval leaves it at once; one that approaches a value has rates of its own in
// parts of the interval. The same limits, moved to where the signals get, and shorter times, are not proved.
func TestMotionProves(t *testing.T) {
	const plan = `<root BTCPP_format="4"><BehaviorTree><ReactiveFallback><ReactiveSequence>
		<Condition name="low" on="x lt 45" off="x gt 50"/><Action name="go" write="u := 1"%s/></ReactiveSequence>
		<Action name="drift"/></ReactiveFallback></BehaviorTree></root>`
	for _, test := range []struct {
		times, initial, derivative string
		proved, open               []string
	}{
		{"", "50", "(u - 0.3) / 1 [s]",
			[]string{"x ge 44.9", "x le 50.1", "go -> within 7.2 [s] drift", "drift -> within 16.7 [s] go"},
			[]string{"x ge 45.1", "x le 49.9", "go -> within 7.1 [s] drift", "drift -> within 16.6 [s] go"}},
		{` entry_time="1 [s]" exit_time="1 [s]"`, "50", "u * 50 / 1 [s] + (20 - x) / 10 [s]",
			[]string{"x ge 40", "x le 100"}, []string{"x ge 45.1", "x le 49.9"}},
		{"", "0", "(100 - x) / 10 [s]", // x is 60 after 10 ln 2.5 = 9.16 s
			[]string{"x lt 60 -> within 10 [s] (x ge 60)", "x le 100.2"},
			[]string{"x lt 60 -> within 9.1 [s] (x ge 60)", "x le 99"}},
	} {
		section := ""
		for _, p := range slices.Concat(test.proved, test.open) {
			section += "    - always (" + p + ")\n"
		}
		dir := write(t, map[string]string{"p.xml": fmt.Sprintf(plan, test.times),
			"v.vehicle.yaml": fmt.Sprintf("vehicle: v\ncommands: {u: {default: 0}}\n"+
				"states: {x: {initial: %s, derivative: \"%s\"}}\n", test.initial, test.derivative),
			"m.yaml": "plan: p.xml\nvehicle: v.vehicle.yaml\nhorizon: 10 [min]\ncheck:\n  properties:\n" + section})
		stdout, stderr, _ := canopy("check", filepath.Join(dir, "m.yaml"), "--json")
		var found []object
		if err := json.Unmarshal([]byte(stdout), &found); err != nil {
			t.Fatal(err, stderr)
		}
		judged := 0
		for _, f := range found {
			if f.Question != "property" {
				continue
			}
			want := judged < len(test.proved)
			if judged++; want != (f.Verdict == "proved") {
				t.Errorf("%s: %s %s", test.derivative, f.Verdict, f.Text)
			}
		}
		if judged != len(test.proved)+len(test.open) {
			t.Errorf("%s: %d judged\n%s", test.derivative, judged, stdout)
		}
	}
}

// What must happen is proved by the time limits of actions, too: a take-off of the library ends in any case.
func TestTimeLimitsProve(t *testing.T) {
	dir := write(t, map[string]string{
		"p.xml": `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:copter"/>
			<BehaviorTree ID="m"><Fallback><take_off to_h="20 [m]"/><hold/></Fallback></BehaviorTree></root>`,
		"m.yaml": "plan: p.xml\nvehicle: copter\nhorizon: 10 [min]\ncheck:\n  properties:\n" +
			"    - eventually (not take_off)\n    - within 400 [s] (not take_off)\n    - within 100 [s] (not take_off)\n"})
	stdout, stderr, _ := canopy("check", filepath.Join(dir, "m.yaml"), "--json", "--budget", "10")
	var found []object
	if err := json.Unmarshal([]byte(stdout), &found); err != nil {
		t.Fatal(err, stderr)
	}
	var verdicts []string
	for _, f := range found {
		if f.Question == "property" {
			verdicts = append(verdicts, f.Verdict)
		}
	}
	if want := []string{"proved", "proved", "not_proved"}; !slices.Equal(verdicts, want) {
		t.Errorf("%v, want %v", verdicts, want)
	}
}
