package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A plan of QGroundControl that is imported does the same on the simulated vehicle and on the fake one: the same tasks
// become active, in the same order.
func TestImportFlies(t *testing.T) {
	for _, c := range []struct{ plan, vehicle, says string }{
		{"survey", "plane", ""},
		{"copter", "copter", ""},
		{"payload", "copter", ""},
	} {
		if testing.Short() && c.plan == "copter" {
			continue // the payload is flown by one, too
		}
		t.Run(c.plan, func(t *testing.T) { importFlies(t, c.plan, c.vehicle, c.says) })
	}
}

func importFlies(t *testing.T, plan, vehicle, told string) {
	dir := t.TempDir()
	stdout, stderr, status := canopy("import", filepath.Join("..", "..", "document", "qgc", "testdata", plan+".plan"), "--out", dir)
	name := filepath.Join(dir, plan+".yaml")
	if status != exitOK {
		t.Fatalf("%d\n%s", status, stderr)
	}
	says(t, "what is next", stdout, "canopy run "+name)
	says(t, "what is left out", stderr, told)
	var active [2][]string
	for i, args := range [][]string{{"run", name}, {"fly", name, "--link", "fake:" + vehicle}} {
		out := filepath.Join(dir, args[0])
		stdout, stderr, status := canopy(append(args, "--out", out, "--report=false")...)
		if status != exitOK {
			t.Fatalf("%s: %d\n%s", args[0], status, stderr)
		}
		if !strings.Contains(stdout, " satisfied: the states stay in their ranges") {
			t.Errorf("%s does not judge ranges:\n%s", args[0], stdout)
		}
		log := fileText(t, filepath.Join(out, "status.csv"))
		for _, line := range strings.Split(log, "\n") {
			if fields := strings.Split(line, ","); len(fields) == 5 && fields[3] == "Accept" && fields[4] == "Activating" {
				active[i] = append(active[i], fields[2])
			}
		}
	}
	if len(active[0]) < 15 || !slices.Equal(active[0], active[1]) {
		t.Errorf("simulated: %v\nflown: %v", active[0], active[1])
	}
}

// What is imported is not refuted, and its notes have an effect.
func TestImportIsNotRefuted(t *testing.T) {
	for _, plan := range []string{"copter", "fence", "payload"} {
		if testing.Short() && plan == "payload" {
			continue // nine seconds
		}
		dir := t.TempDir()
		_, stderr, status := canopy("import", filepath.Join("..", "..", "document", "qgc", "testdata", plan+".plan"), "--out", dir)
		if status != exitOK {
			t.Fatalf("%s: %s", plan, stderr)
		}
		stdout, _, status := canopy("check", "--strict", filepath.Join(dir, plan+".yaml"))
		if status != exitOK || !strings.Contains(stdout, "an action that the autopilot refuses ends the plan") {
			t.Errorf("%s: status %d\n%s", plan, status, stdout)
		}
	}
}

// The contingency mission of the circuits is one take-off and two rounds of four legs.
func TestExportContingency(t *testing.T) {
	file := filepath.Join(t.TempDir(), "circuits.plan")
	_, stderr, status := canopy("export", "qgc", filepath.Join("..", "..", "missions", "circuit-plane.yaml"), "--out", file)
	if status != exitOK {
		t.Fatalf("%d\n%s", status, stderr)
	}
	says(t, "what is left out", stderr, "<Condition> altitude is left out")
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), `"command": 16`) != 4 || !strings.Contains(string(text), `"command": 177`) {
		t.Errorf("%v\n%s", err, text)
	}
	if _, stderr, status = canopy("export", "qgc", solarDay); status == exitOK ||
		!strings.Contains(stderr, "the vehicle solar belongs to no class") {
		t.Errorf("%d: %s", status, stderr)
	}
}
