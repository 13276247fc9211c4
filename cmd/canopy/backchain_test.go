package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
)

const hall = "../../examples/11-back-chaining/world.xml"

// The example shows what the commands print.
func TestBackchain(t *testing.T) {
	page := fileText(t, "../../examples/11-back-chaining/README.md")
	path := filepath.Join(t.TempDir(), "plan.xml")
	stdout, stderr, status := canopy("backchain", hall, "--goal", "inspected and at_hangar", "--out", path)
	if status != exitOK || stdout != "" {
		t.Fatalf("status %d, %s%s", status, stdout, stderr)
	}
	says(t, "the command", stderr, "[no-achiever]", "[cyclic-fact]",
		"door_open <- unlock <- at_door <- fly_out <- door_open", "\nchecked: ")
	check := stderr[strings.LastIndex(stderr, "checked: "):]
	tree, _, status := canopy("show", path)
	if status != exitOK {
		t.Fatalf("status %d", status)
	}
	says(t, "the example", page, "```text\n"+tree+"```", "```text\n"+check+"```")

	// On the standard output, the same plan.
	stdout, _, _ = canopy("backchain", hall, "--goal", "inspected and at_hangar")
	if text, err := os.ReadFile(path); err != nil || string(text) != stdout {
		t.Errorf("%v: the standard output has another plan:\n%s", err, stdout)
	}
}

// A plan that was built is played by a script: each fact comes true when its action has worked, and the next action is
// active. Every leaf of a fact has its own name.
func TestBackchainedPlanIsTraced(t *testing.T) {
	dir := t.TempDir()
	path, script := filepath.Join(dir, "plan.xml"), filepath.Join(dir, "script.txt")
	if _, stderr, status := canopy("backchain", hall, "--goal", "inspected and at_hangar", "--out", path); status != exitOK {
		t.Fatal(stderr)
	}
	p, _, err := readPlan(path, os.Stderr)
	must(t, err)
	active, lines := []string{"fly_home"}, []string{}
	for _, step := range []struct{ facts, active string }{
		{"at_hangar", "fetch_key"}, {"has_key", "fly_to_door"}, {"not at_hangar, at_door", "unlock"}, {"door_open", "fly_in"},
		{"inside, not at_door", "inspect"}, {"inspected", "fly_out"}, {"not inside, at_door", "fly_home"},
		{"not at_door, at_hangar", ""},
	} {
		var line []string
		for fact := range strings.SplitSeq(step.facts, ", ") {
			name, not := strings.CutPrefix(fact, "not ")
			for i, leaf := range p.Tree.Leaves() {
				if p.Leaves[i].ID == name {
					line = append(line, fmt.Sprintf("set %s %t", p.Tree.Name(leaf), !not))
				}
			}
		}
		active, lines = append(active, step.active), append(lines, strings.Join(line, "; "))
	}
	save(t, script, strings.Join(lines, "\n"))
	stdout, stderr, status := canopy("trace", path, script)
	if status != exitOK || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	begun := make([]string, len(active))
	for _, m := range regexp.MustCompile(`(?m)^(\d+) (\w+)( \d)?: Activating -> Running$`).FindAllStringSubmatch(stdout, -1) {
		n, _ := strconv.Atoi(m[1])
		if leaf, ok := p.Tree.Find(m[2] + m[3]); ok && p.Tree.Kind(leaf) == bt.Action {
			begun[n] += m[2]
		}
	}
	if !slices.Equal(begun, active) {
		t.Errorf("the actions begin as %q, want %q:\n%s", begun, active, stdout)
	}
	says(t, "the end", stdout, "\n8 goal: Running -> Finished\n")
}

// A plan that was built flies in a mission: the solar aircraft climbs and is then where it was to be.
func TestBackchainedPlanFlies(t *testing.T) {
	dir := write(t, map[string]string{"world.xml": `<root BTCPP_format="4"><TreeNodesModel>
		<Condition ID="high" on="h ge 6100 [m]"/><Condition ID="trimmed" on="h_hold gt 6000.5 [m]"/>
		<Action ID="trim" post="trimmed" write="h_hold := 6001 [m]"/>
		<Action ID="climb" pre="trimmed" post="high" write="CL_cmd := 0.95; h_cmd := 7000 [m]"/>
		</TreeNodesModel></root>`, "mission.yaml": `mission: Climb
plan: built.xml
vehicle: solar
horizon: 6 [h]
environment: {lat_deg: 28.1, lon_deg: -15.4, year: 2013, month: 9, day: 21, utc_offset_h: 1}
parameters: {battery.E_Wh: 6200}
signals:
  h_hold: {unit: m, default: 6000, hold: true}
`})
	built := filepath.Join(dir, "built.xml")
	_, stderr, status := canopy("backchain", filepath.Join(dir, "world.xml"), "--goal", "high", "--out", built)
	if status != exitOK || !strings.HasSuffix(stderr, "from 4 of 4 states of the world; the plan reaches it from 4 of these\n") {
		t.Fatalf("status %d, %s", status, stderr)
	}
	out := filepath.Join(dir, "out")
	stdout, stderr, status := canopy("run", filepath.Join(dir, "mission.yaml"), "--out", out)
	if status != exitOK {
		t.Fatalf("status %d, %s%s", status, stdout, stderr)
	}
	changes := fileText(t, filepath.Join(out, "status.csv"))
	trim, climb := strings.Index(changes, "trim,"), strings.Index(changes, "climb,")
	says(t, "the log", changes, "high,Failure,Success")
	if trim < 0 || climb < trim {
		t.Errorf("trim and climb do not follow each other:\n%s", changes)
	}
}
