package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
)

// Example 3 of the 2016 paper: from derived or declared rates alone, the goal is proved to be reached at a drift of 0.5 m/s, with
// and without hysteresis, and not at 1 m/s, for which the flight shows the endless cycle. Definition 4 is proved of
// recharging and not of flying, at either drift.
func TestReachExample(t *testing.T) {
	const folder = "../../examples/09-regression/"
	for _, test := range []struct {
		args   []string
		want   []string
		flying string
	}{
		{[]string{folder + "courier.yaml"}, []string{"proved", "refuted"}, "refuted"},
		{[]string{folder + "courier.xml", "--facts", folder + "half.yaml"}, []string{"proved"}, "not_proved"},
		{[]string{folder + "sliding.xml", "--facts", folder + "half.yaml"}, []string{"proved"}, "not_proved"},
	} {
		dir := t.TempDir()
		stdout, stderr, _ := canopy(append([]string{"check", "--json", "--scripts", dir}, test.args...)...)
		var found []object
		if err := json.Unmarshal([]byte(stdout), &found); err != nil {
			t.Fatal(err, stderr)
		}
		var verdicts []string
		rules := map[string]string{}
		for _, f := range found {
			switch f.Question {
			case "reach":
				verdicts = append(verdicts, f.Verdict)
			case "regression":
				rules[f.Verdict] += f.Text
			}
		}
		if len(rules) != 2 || !strings.HasSuffix(rules["proved"], "keeps its own until then: rule 3, true -> recharge") ||
			!strings.Contains(rules[test.flying], "rule 2, charged -> fly") {
			t.Errorf("%v: %v", test.args, rules)
		}
		if !slices.Equal(verdicts, test.want) {
			t.Errorf("%v: %v", test.args, verdicts)
		}
		if len(test.want) > 1 {
			log, stderr, status := canopy("trace", folder+"courier.xml", filepath.Join(dir, "reach-1.txt"))
			if status != exitOK || strings.Count(log, "fly: ") < 4 || strings.Contains(log, "goal: ") {
				t.Errorf("status %d %s\n%s", status, stderr, log)
			}
		}
	}
}

// A cell in which the equations leave no value is not entered: tasks do not run there for ever.
func TestImpossibleCellsAreNotEntered(t *testing.T) {
	files := stopping(`<ReactiveFallback><Condition name="there" on="x ge 15 [m]"/>
		<ReactiveSequence><Condition name="odd" on="wave ge 2"/><Action name="back" write="u := -1 [m/s]"/></ReactiveSequence>
		<Action name="go" write="u := 1 [m/s]"/></ReactiveFallback>`)
	files["v.yaml"] += "outputs: {wave: {value: \"sin(x / 1 [m])\"}}\n"
	files["m.yaml"] += "check: {facts: [x ge -50 and x le 50], goal: \"x ge 15 [m]\"}\n"
	got := answers(t, filepath.Join(write(t, files), "m.yaml"), "reach")
	if !strings.HasPrefix(got, "proved") || !strings.Contains(got, "the goal is reached from every state") {
		t.Error(got)
	}
}

// What is reached where a run may stop because the plan does not settle is proved under the assumption that it does.
func TestReachedIfThePlanSettles(t *testing.T) {
	files := stopping(`<ReactiveFallback><Condition name="there" on="x ge 15 [m]"/>
		<ReactiveSequence><Condition name="ahead" on="y ge 0.5 [m]"/><Action name="fast" write="u := 1 [m/s]"/></ReactiveSequence>
		<Action name="slow" write="u := 0.5 [m/s]"/></ReactiveFallback>`)
	files["v.yaml"] += "outputs: {y: {unit: m, value: \"x + u * 1 [s]\"}}\n"
	files["m.yaml"] += "check: {facts: [x ge -50 and x le 50], goal: \"x ge 15 [m]\"}\n"
	stdout, _, _ := canopy("check", filepath.Join(write(t, files), "m.yaml"), "--json")
	var found []object
	if err := json.Unmarshal([]byte(stdout), &found); err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		settles := slices.ContainsFunc(f.Assumes, func(a verify.Assumption) bool { return a == verify.Settles })
		if f.Question == "reach" && (f.Verdict != "proved" || !settles) {
			t.Errorf("%+v", f)
		}
	}
}

// What is reached if the run goes on for long enough does not rest on what holds only up to the horizon, which is 20 s:
// signs of functions of the time, rates that turn later, and ranges that no run leaves before.
func TestReachedBeyondTheHorizon(t *testing.T) {
	for _, c := range []struct{ speed, goal, want string }{
		{"1", "x ge 60", "proved"},
		{"if(t lt 15 [s], 1, 2)", "x ge 60", "proved"},
		{"if(t lt 30 [s], 1, 2)", "x ge 60", "proved"},
		{"if(t lt 30 [s], 1, -1)", "x ge 60", "not proved"},
		{"if(t lt 30 [s], 1, 0)", "x ge 60", "not proved"},
		{"sin(t / 8 [s])", "x ge 30", "not proved"},
		{"cos(t / 20 [s])", "x ge 60", "not proved"},
		{"1 + 0.5 * cos(t / 20 [s])", "x ge 60", "proved"},
	} {
		files := stopping(`<ReactiveFallback><Condition name="there" on="` + c.goal + `"/>` +
			`<Action name="go" write="u := 1 [m/s]"/></ReactiveFallback>`)
		files["v.yaml"] = `states: {x: {unit: m, derivative: "u * (` + c.speed + `)", min: -1000, max: 1000}}` + "\ncommands: {u: {unit: m/s}}\n"
		files["m.yaml"] += "check: {goal: \"" + c.goal + "\"}\n"
		got := answers(t, filepath.Join(write(t, files), "m.yaml"), "reach")
		if proved := strings.HasPrefix(got, "proved") && strings.Contains(got, "from every state"); proved != (c.want == "proved") {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
