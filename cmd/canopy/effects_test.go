package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// The table of effects shows declared and derived rates, and the ranges that are missing.
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
		"[0, 0.3]":   "unknown   effects     assumed, not proved: while a is active, the rate of x is declared as [0, 0.3], derived as [-0.1, 0.9]",
		"[1.5, 2]":   "REFUTED   effects     while a is active, the rate of x is declared as [1.5, 2], derived as [-0.1, 0.9]",
		"[0.95, 2]":  "REFUTED   effects",
		"down":       "unknown   effects",
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
