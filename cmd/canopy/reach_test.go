package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Example 3 of the 2016 paper: from derived or declared rates alone, the goal is proved to be reached at a drift of 0.5 m/s, with
// and without hysteresis, and not at 1 m/s, for which the script shows the possible endless cycle. Definition 4 is
// proved of recharging and cannot be concluded of flying, at either drift.
func TestReachExample(t *testing.T) {
	const folder = "../../examples/09-regression/"
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{folder + "courier.yaml"}, []string{"proved", "not_proved"}},
		{[]string{folder + "courier.xml", "--facts", folder + "half.yaml"}, []string{"proved"}},
		{[]string{folder + "sliding.xml", "--facts", folder + "half.yaml"}, []string{"proved"}},
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
			!strings.Contains(rules["not_proved"], "rule 2, charged -> fly; its own condition may fail") {
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
