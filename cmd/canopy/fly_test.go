package main

import (
	"path/filepath"
	"testing"
)

// While it attaches, the operator is told the steps and the findings of the checklist, each with its reason.
func TestFlyTells(t *testing.T) {
	mission := filepath.Join("..", "..", "missions", "circuit-plane.yaml")
	_, stderr, status := canopy("fly", mission, "--link", "fake:plane", "--out", t.TempDir(), "--report=false")
	if status != exitOK {
		t.Fatalf("%d\n%s", status, stderr)
	}
	for _, text := range []string{
		"attaching: checklist",
		"checked: grave: FS_GCS_ENABL = 0: the loss of the ground station has no effect",
		"attached: ArduPlane",
		"text: Throttle armed",
		"the plan is flown",
		"end: the vehicle goes on in the mode loiter",
	} {
		says(t, "the operator is told", stderr, text)
	}
}
