package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The solar day flown with the graph that its plan is translated to is the day flown with the plan.
func TestTranslatedGraphFlies(t *testing.T) {
	dir := t.TempDir()
	graph := filepath.Join(dir, "solar-day.graph.yaml")
	if stdout, stderr, status := canopy("translate", "../../missions/solar-day.xml", "--out", graph); status != exitOK ||
		stdout+stderr != "" {
		t.Fatalf("status %d, %s%s", status, stdout, stderr)
	}
	for _, name := range []string{"solar-day.yaml", "solar-day.xml"} {
		text, err := os.ReadFile("../../missions/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr, status := canopy("compare", filepath.Join(dir, "solar-day.yaml"), "--repeat", "1", "--period", "600",
		"--json")
	if status != exitOK {
		t.Fatal(stderr)
	}
	var rows []row
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Configuration == "state graph" {
			if !r.Same || r.TimeDifference != 0 || r.SignalDifference != 0 || r.StateEvents < 10 {
				t.Errorf("%+v", r)
			}
			return
		}
	}
	t.Errorf("the mission was not flown with its graph:\n%s", stdout)
}

// The mistakes of the state graph that a mission names are found with the mission's.
func TestWrongGraph(t *testing.T) {
	dir := write(t, map[string]string{"bad.graph.yaml": "graph: bad\nsteps:\n  a: {initial: true, actions: [dive]}\n"})
	for _, name := range []string{"solar-day.yaml", "solar-day.xml"} {
		text, err := os.ReadFile("../../missions/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.Replace(string(text), "solar-day.graph.yaml", "bad.graph.yaml", 1))
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"run", "check", "compare"} {
		_, stderr, status := canopy(command, filepath.Join(dir, "solar-day.yaml"))
		if status != exitInput {
			t.Errorf("%s: status %d", command, status)
		}
		says(t, command, stderr, "bad.graph.yaml:3", "dive")
	}
}

func TestTranslate(t *testing.T) {
	dir := write(t, map[string]string{
		"bad.tr": "p:\n k -> p\n", "bad.andor": "or\n\ta\n",
		"wide.xml": `<root BTCPP_format="4"><BehaviorTree><Parallel>` +
			strings.Repeat(`<Condition/>`, 23) + `</Parallel></BehaviorTree></root>`,
	})
	for to, want := range map[string]string{"graph": "steps:", "scxml": "<scxml ", "dot": "digraph", "xml": "<root "} {
		stdout, stderr, status := canopy("translate", "../../missions/solar-day.xml", "--to", to)
		if status != exitOK || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("--to %s: status %d, %s, %s", to, status, stderr, stdout)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"06-teleo-reactive/goto.tr", `<Action ID="go-forwards"/>`},
		{"06-teleo-reactive/goto.tr --to graph", "when: not equal_pos_home and heading_towards_home"},
		{"07-and-or/door.andor", `<Condition ID="the keys are on the table"/>`},
		{"07-and-or/door.andor --actions", `<Action ID="find keys on table"/>`},
		{"07-and-or/door.andor --to solutions", "\n3: the keys are in the drawer + the keys can open the door\n"},
	} {
		stdout, stderr, status := canopy(append([]string{"translate"}, strings.Fields("../../examples/"+c.args)...)...)
		if status != exitOK || stderr != "" || !strings.Contains(stdout, c.want) {
			t.Errorf("%s: status %d, %s, %s", c.args, status, stderr, stdout)
		}
	}
	stdout, stderr, status := canopy("translate", filepath.Join(dir, "wide.xml"))
	if status != exitFailed || stdout != "" {
		t.Errorf("status %d, %s", status, stdout)
	}
	says(t, "a plan with many inputs", stderr, "too large", "23 inputs")
	for _, args := range [][]string{
		{"../../missions/solar-day.xml", "--to", "xlm"}, {"../../missions/solar-day.yaml"}, {"none.xml"}, {},
		{"../../missions/solar-day.xml", "--actions"}, {"../../missions/solar-day.xml", "--to", "solutions"},
		{filepath.Join(dir, "bad.tr")}, {filepath.Join(dir, "bad.andor")}, {filepath.Join(dir, "bad.andor"), "--to", "solutions"},
	} {
		if stdout, stderr, status := canopy(append([]string{"translate"}, args...)...); status != exitInput || stdout != "" ||
			stderr == "" {
			t.Errorf("%v: status %d, %s", args, status, stdout)
		}
	}
}
