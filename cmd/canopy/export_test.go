package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The solar day becomes equations, the inspection a graph; the file is what standard output would be.
func TestExport(t *testing.T) {
	out := filepath.Join(t.TempDir(), "plan.smv")
	stdout, stderr, status := canopy("export", "smv", "../../missions/solar-day.yaml")
	if status != exitOK || !strings.Contains(stdout, "init(was_surplus) := FALSE;") ||
		!strings.Contains(stdout, "INVARSPEC NAME conflict_CL_cmd_climb_sink := !(active_climb & active_sink);") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	if _, stderr, status := canopy("export", "smv", "../../missions/solar-day.yaml", "--out", out); status != exitOK {
		t.Errorf("status %d: %s", status, stderr)
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != stdout {
		t.Errorf("the file differs from the output: %v", err)
	}
	stdout, stderr, status = canopy("export", "smv", "../../missions/inspection.yaml")
	if status != exitOK || !strings.Contains(stdout, "next(state) := case") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	folder := filepath.Join(t.TempDir(), "c")
	if _, stderr, status := canopy("export", "c", "../../missions/solar-day.yaml", "--out", folder); status != exitOK {
		t.Errorf("status %d: %s", status, stderr)
	}
	if text := fileText(t, filepath.Join(folder, "solar-day.h")); !strings.Contains(text, `SOLAR_DAY_CRITICAL = 5, `+
		`/* Condition, line 26: <Condition name="critical" on="soc lt 0.992" off="soc gt 0.993"/> */`) {
		t.Error(text)
	}
	if _, stderr, status := canopy("export", "c", "../../missions/solar-day.yaml"); status != exitInput ||
		!strings.Contains(stderr, "name their folder with --out") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if _, stderr, status := canopy("export", "tla", "../../missions/inspection.yaml"); status != exitInput ||
		!strings.Contains(stderr, `there is no format "tla"`) {
		t.Errorf("status %d: %s", status, stderr)
	}
}
