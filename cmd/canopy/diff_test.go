package main

import (
	"encoding/json"
	"testing"

	"canopy/analysis/diff"
)

// The extension of the 2014 paper, Figures 7 and 8: the plan's tree gets a subtree by one connection, the state graph
// eight transitions.
func TestDiffFuelCell(t *testing.T) {
	const missions = "../../missions/"
	stdout, stderr, status := canopy("diff", missions+"solar-day.xml", missions+"solar-day-fuelcell.xml")
	if status != exitOK || stderr != "" {
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
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
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
	if status != exitOK {
		t.Fatal(status)
	}
	says(t, "the difference", stdout, "changed  node  old line 1, new line 1  a", "- on: x >= 1", "+ on: x >= 2")
	stdout, _, _ = canopy("diff", dir+"/old.xml", dir+"/old.xml")
	if want := "         plan  old  new  removed  changed  added  joining\n" +
		"        nodes    1    1        0        0      0        0\n" +
		"  connections    0    0        0        0      0        0\n" +
		"\nthe behaviour is the same: each action is active in the same states\n"; stdout != want {
		t.Errorf("a plan differs from itself:\n%s", stdout)
	}
}

func TestDiffWrongInput(t *testing.T) {
	for _, c := range []struct {
		args  []string
		wants string
	}{
		{[]string{"diff", "a.xml"}, "takes OLD and NEW"},
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

// A plan does what its state graph does; where it does not, the way to the difference is shown.
func TestDiffBehaviour(t *testing.T) {
	const missions = "../../missions/"
	for _, name := range []string{"solar-day", "solar-day-fuelcell"} {
		stdout, stderr, status := canopy("diff", missions+name+".xml", missions+name+".graph.yaml")
		if status != exitOK || stderr != "" {
			t.Fatalf("%s: status %d, %s", name, status, stderr)
		}
		says(t, name, stdout, "the behaviour is the same")
	}
	stdout, stderr, status := canopy("diff", missions+"solar-day-fuelcell.xml", missions+"solar-day.graph.yaml", "--json")
	if status != exitOK || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	var d struct{ Behaviour jsonBehaviour }
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	if d.Behaviour.Verdict != "differs" || len(d.Behaviour.Steps) != 1 {
		t.Errorf("%+v", d.Behaviour)
	}
	stdout, _, status = canopy("diff", missions+"solar-day.xml", missions+"solar-day-fuelcell.xml")
	if status != exitOK {
		t.Fatal(status)
	}
	says(t, "the plans", stdout, "the behaviour differs", "old: ", "new: ")
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
