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
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
	}
	stdout, stderr, status := canopy("compare", filepath.Join(dir, "solar-day.yaml"), "--repeat", "1", "--period", "600",
		"--json")
	if status != exitOK {
		t.Fatal(stderr)
	}
	var rows []row
	must(t, json.Unmarshal([]byte(stdout), &rows))
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
		must(t, err)
		text = []byte(strings.Replace(string(text), "solar-day.graph.yaml", "bad.graph.yaml", 1))
		must(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
	}
	for _, command := range []string{"run", "check", "compare"} {
		_, stderr, status := canopy(command, filepath.Join(dir, "solar-day.yaml"))
		if status != exitInput {
			t.Errorf("%s: status %d", command, status)
		}
		says(t, command, stderr, "bad.graph.yaml:3", "dive")
	}
}
