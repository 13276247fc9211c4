package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A task that was active in a flight of the plan can become active, whatever the search concludes; other flights are
// refused as evidence.
func TestFlownIsEvidence(t *testing.T) {
	var guards, legs strings.Builder
	for i := range 14 {
		fmt.Fprintf(&guards, `<Condition ID="c%d" on="x * y ge -%d [m^2]" off="x * y lt -%d [m^2]"/>`, i, i+1, i+2)
	}
	for i := range 6 {
		there := []string{"x ge 5 [m]", "x le 0 [m]"}[i%2]
		fmt.Fprintf(&legs, `<Action ID="leg%d" write="v := %d [m/s]" done="%s"/>`, i, 1-2*(i%2), there)
	}
	files := map[string]string{
		"v.yaml": "vehicle: v\nstates:\n  x: {unit: m, derivative: v}\n  y: {unit: m, derivative: v}\ncommands:\n  v: {unit: m/s}\n",
		"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="main"><ReactiveSequence>` + guards.String() + `<Sequence>` + legs.String() +
			`</Sequence></ReactiveSequence></BehaviorTree></root>`,
		"m.yaml":      "plan: p.xml\nvehicle: v.yaml\nhorizon: 60\ncheck: {facts: ['x >= -1 [m]']}\n",
		"broken.yaml": "plan: p.xml\nvehicle: v.yaml\nhorizon: 60\ncheck: {facts: ['x <= 3 [m]']}\n",
		"other.yaml":  "plan: other.xml\nvehicle: v.yaml\nhorizon: 60\n",
		"other.xml":   `<root BTCPP_format="4"><BehaviorTree ID="main"><Action ID="leg0" write="v := 1 [m/s]"/></BehaviorTree></root>`,
	}
	dir := write(t, files)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"m", "broken", "other"} {
		canopy("run", at(name+".yaml"), "--out", at(name), "--quiet")
	}
	if stdout, _, _ := canopy("check", at("m.yaml")); strings.Contains(stdout, "flown in") {
		t.Error(stdout)
	}
	stdout, stderr, status := canopy("check", at("m.yaml"), "--flown", at("m"))
	if status == exitInput {
		t.Fatal(stderr)
	}
	says(t, "the answer", stdout, "each of 8 tasks can become active; 8 were flown in "+at("m")+", leg5 last at t = ")
	for name, want := range map[string]string{"broken": "the fact `x <= 3 [m]` is violated", "other": "another one",
		"none": "no such file"} {
		stdout, stderr, status := canopy("check", at("m.yaml"), "--flown", at(name))
		if status != exitInput || stdout != "" {
			t.Errorf("%s: status %d, %s", name, status, stdout)
		}
		says(t, name, stderr, want)
	}
}
