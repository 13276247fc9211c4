package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/diff"
)

// The extension of the 2014 paper, Figures 7 and 8: the plan's tree gets a subtree by one connection, the state graph
// eight transitions.
func TestDiffFuelCell(t *testing.T) {
	const missions = "../../missions/"
	stdout, stderr, status := canopy("diff", missions+"solar-day.xml", missions+"solar-day-fuelcell.xml")
	if status != exitRefute || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	says(t, "the difference of the plans", stdout, "  connections   14   19        0        0      5        1",
		"longitudinal -> fuel_cell", "new line 43")
	stdout, stderr, status = canopy("diff", "--json", missions+"solar-day.graph.yaml",
		missions+"solar-day-fuelcell.graph.yaml")
	if status != exitOK || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	var d diff.Difference
	must(t, json.Unmarshal([]byte(stdout), &d))
	want := diff.Count{Element: "transition", Old: 12, New: 20, Added: 8, Joining: 8}
	if d.Formalism != "state graph" || len(d.Counts) != 2 || d.Counts[1] != want {
		t.Errorf("%+v", d)
	}
}

func TestDiffChanged(t *testing.T) {
	dir := write(t, map[string]string{
		"old.xml": `<root BTCPP_format="4"><BehaviorTree><Condition name="a" on="x ge 1"/></BehaviorTree></root>`,
		"new.xml": `<root BTCPP_format="4"><BehaviorTree><Condition name="a" on="x ge 2"/></BehaviorTree></root>`,
	})
	stdout, _, status := canopy("diff", dir+"/old.xml", dir+"/new.xml")
	if status != 3 {
		t.Fatal(status)
	}
	says(t, "the difference", stdout, "the old plan has succeeded, the new one has failed", "changed  node  old line 1, new line 1  a", "- on: x >= 1", "+ on: x >= 2")
	stdout, _, _ = canopy("diff", dir+"/old.xml", dir+"/old.xml")
	if want := "         plan  old  new  removed  changed  added  joining\n" +
		"        nodes    1    1        0        0      0        0\n" +
		"  connections    0    0        0        0      0        0\n" +
		"\nthe behaviour is the same: the plans are equal\n"; stdout != want {
		t.Errorf("a plan differs from itself:\n%s", stdout)
	}
}

func TestDiffWrongInput(t *testing.T) {
	for _, c := range []struct {
		args  []string
		wants string
	}{
		{[]string{"diff", "a.xml"}, "NEW is missing"},
		{[]string{"diff", "b.yaml", "a.xml"}, "no such file"},
		{[]string{"diff", "a.xml", "b.xml"}, "no such file"},
		{[]string{"diff", "../../missions/solar-day.graph.yaml", "../../missions/solar-day.yaml"}, "give the plan first"},
	} {
		stdout, stderr, status := canopy(c.args...)
		if status != exitInput || stdout != "" {
			t.Errorf("%v: status %d, %s", c.args, status, stdout)
		}
		says(t, "the error", stderr, c.wants)
	}
}

// A comparison of behaviour that takes too long is undecided; the structure is compared anyway.
func TestDiffUndecided(t *testing.T) {
	stdout, stderr, status := canopy("diff", "../../missions/solar-day.xml",
		"../../missions/solar-day-fuelcell.xml", "--budget", "1e-9")
	if status != exitOK {
		t.Fatalf("status %d: %s", status, stderr)
	}
	says(t, "the output", stdout, "fuel_cell", "not concluded within 1e-9 s whether the behaviour is the same; "+
		"give it more time with --budget, or compare subtrees as separate plans")
}

// The same actions are active, but they do something else: that is not the same behaviour.
func TestDiffDeeds(t *testing.T) {
	plan := fileText(t, "../../missions/solar-day.xml")
	mission := fileText(t, "../../missions/solar-day.yaml")
	// solarDay has missions by their plans and documents.
	solarDay := func(inPlan, inMission [2]string) string {
		dir := write(t, map[string]string{
			"solar-day.xml": strings.Replace(plan, inPlan[0], inPlan[1], 1),
			"solar-day.yaml": strings.Replace(strings.Replace(mission, "graph: solar-day.graph.yaml\n", "", 1),
				inMission[0], inMission[1], 1),
		})
		return filepath.Join(dir, "solar-day.yaml")
	}
	for _, test := range []struct {
		name              string
		inPlan, inMission [2]string
		wants             []string
	}{
		{"a constant that is written", [2]string{`h_cmd := 13000`, `h_cmd := 1300`}, [2]string{},
			[]string{"the behaviour differs: the same actions are active in every state", "climb, write", "13000", "1300"}},
		{"a parameter", [2]string{}, [2]string{"battery.E_Wh: 6200", "battery.E_Wh: 5200"},
			[]string{"mission, battery.E_Wh\n     old: 6200 Wh\n     new: 5200 Wh\n"}},
		{"a slot", [2]string{}, [2]string{"default: 6000, hold: true", "default: 7000, hold: true"}, []string{"mission, h_hold", "default 7000"}},
		{"the horizon", [2]string{}, [2]string{"horizon: 24 [h]", "horizon: 25 [h]"}, []string{"mission, horizon", "90000 s"}},
		{"a table", [2]string{}, [2]string{"horizon: 24 [h]",
			"horizon: 24 [h]\ntables:\n  rise: {arguments: {x: {points: [0, 1]}}, values: [0, 4]}"},
			[]string{"mission, table rise", "[0 4] at"}},
		{"another spelling", [2]string{`13000`, `13000.0`}, [2]string{"horizon: 24 [h]", "horizon: 1 [d]"}, nil},
	} {
		stdout, stderr, status := canopy("diff", "../../missions/solar-day.yaml", solarDay(test.inPlan, test.inMission))
		if (status == exitRefute) != (test.wants != nil) || status == exitInput {
			t.Errorf("%s: status %d\n%s%s", test.name, status, stdout, stderr)
		}
		says(t, test.name, stdout, test.wants...)
	}
	leaf := func(attributes string) string {
		return `<root BTCPP_format="4"><BehaviorTree><ReactiveParallel name="p">` + attributes + `</ReactiveParallel></BehaviorTree></root>`
	}
	const a, b = `<Action name="a" write="u := 1"/>`, `<Action name="b" write="u := 2"/>`
	for _, test := range []struct {
		name, old, updated string
		wants              []string
	}{
		{"a value on entry", `<Action name="a" entry="u := 1; v := 2"/>`, `<Action name="a" entry="u := 1; v := 3"/>`,
			[]string{"a, entry", "u := 1; v := 3"}},
		{"an order on exit", `<Action name="a" exit="u := v; v := u"/>`, `<Action name="a" exit="v := u; u := v"/>`, []string{"a, exit"}},
		{"an order of what holds", `<Action name="a" write="u := 1; v := 2"/>`, `<Action name="a" write="v := 2; u := 1"/>`, nil},
		{"a duration", `<Action name="a" exit_time="5"/>`, `<Action name="a" exit_time="6"/>`, []string{"a, exit_time", "old: 5", "new: 6"}},
		{"the same duration", `<Action name="a" exit_time="60"/>`, `<Action name="a" exit_time="1 [min]"/>`, nil},
		{"a timer", `<Timeout msec="100" name="t"><Action name="a"/></Timeout>`, `<Timeout msec="200" name="t"><Action name="a"/></Timeout>`,
			[]string{"t, msec"}},
		{"the priority of two that write", a + b, b + a, []string{"u, priority of a and b", "old: a", "new: b"}},
	} {
		dir := write(t, map[string]string{"old.xml": leaf(test.old), "new.xml": leaf(test.updated)})
		stdout, stderr, status := canopy("diff", dir+"/old.xml", dir+"/new.xml")
		if (status == exitRefute) != (test.wants != nil) || status == exitInput {
			t.Errorf("%s: status %d\n%s%s", test.name, status, stdout, stderr)
		}
		says(t, test.name, stdout, test.wants...)
	}
}
