package main

import (
	"path/filepath"
	"testing"
)

// A counter among the entries of a plan stays below its limit: `check` proves the limit itself and refutes anything
// less, of the plan alone and of the plan with a vehicle.
func TestCheckCounter(t *testing.T) {
	dir := write(t, map[string]string{
		"plan.xml": `<root BTCPP_format="4"><BehaviorTree ID="legs"><Sequence name="s"><Script name="start" code="n := 0"/>
<KeepRunningUntilFailure name="keep"><Sequence name="leg"><ScriptCondition name="more" code="n &lt; 3"/>
<Action name="fly" write="u := 1 [m/s]" done="x ge 60 [m]"/><Script name="count" code="n += 1"/></Sequence>
</KeepRunningUntilFailure></Sequence></BehaviorTree></root>`,
		"v.yaml":    "states: {x: {unit: m, derivative: u, min: 0, max: 1000}}\ncommands: {u: {unit: m/s}}\n",
		"true.yml":  "always: [n <= 3]\n",
		"false.yml": "always: [n < 3]\n",
		"true.yaml": "mission: m\nplan: plan.xml\nvehicle: v.yaml\nhorizon: 100\ncheck: {always: [n <= 3]}\n",
		"bad.yaml":  "mission: m\nplan: plan.xml\nvehicle: v.yaml\nhorizon: 100\ncheck: {always: [n < 3]}\n",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"the plan alone", "proved     always", []string{at("plan.xml"), "--facts", at("true.yml")}},
		{"the plan alone, too low", "REFUTED    always", []string{at("plan.xml"), "--facts", at("false.yml")}},
		{"the mission", "proved     always", []string{at("true.yaml")}},
		{"the mission, too low", "REFUTED    always", []string{at("bad.yaml")}},
	} {
		stdout, stderr, _ := canopy(append([]string{"check"}, c.args...)...)
		says(t, c.name+stderr, stdout, c.want)
	}
}
