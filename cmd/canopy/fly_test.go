package main

import (
	"path/filepath"
	"strings"
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

// The fence of a mission is uploaded before the plan begins, and enabled. The black box replays that to the same bytes.
func TestFlyWithAFence(t *testing.T) {
	dir := t.TempDir()
	flight := filepath.Join(dir, "flight")
	out, stderr, status := canopy("fly", filepath.Join("..", "..", "missions", "patrol-copter.yaml"), "--link", "fake:copter",
		"--out", flight, "--report=false", "--set", "horizon=30")
	if status != exitOK {
		t.Fatalf("%d\n%s\n%s", status, out, stderr)
	}
	for _, text := range []string{"stored: fence: uploaded, read back and compared (5)", "text: Fence Indexed OK",
		"stored: rally points: uploaded, read back and compared (1)", "attached: ArduCopter"} {
		says(t, "the operator is told", stderr, text)
	}
	if strings.Contains(stderr, "grave: fence") {
		t.Error(stderr)
	}
	out, stderr, status = canopy("replay", flight, "--out", filepath.Join(dir, "again"), "--report=false")
	if status != exitOK {
		t.Fatalf("%d\n%s\n%s", status, out, stderr)
	}
	says(t, "the replay is the same", out, "the same datagrams and the same status.csv")
}

// The missions of the contracts fly on the vehicles of PX4, too, and are replayed to the same bytes.
func TestMissionsFlyPX4(t *testing.T) {
	for vehicle, file := range map[string]string{"px4-plane": "circuit-plane.yaml", "px4-copter": "patrol-copter.yaml"} {
		if testing.Short() && vehicle == "px4-copter" {
			continue // it flies until its battery is low
		}
		t.Run(vehicle, func(t *testing.T) {
			dir := t.TempDir()
			out, stderr, status := canopy("fly", filepath.Join("..", "..", "missions", file), "--link", "fake:"+vehicle,
				"--out", filepath.Join(dir, "flight"), "--report=false")
			if status != exitOK {
				t.Fatalf("%d\n%s\n%s", status, out, stderr)
			}
			says(t, "the plan ends well", out, "succeeded")
			out, stderr, status = canopy("replay", filepath.Join(dir, "flight"), "--out", filepath.Join(dir, "again"))
			if status != exitOK {
				t.Fatalf("%d\n%s\n%s", status, out, stderr)
			}
			says(t, "the replay is the same", out, "the same datagrams and the same status.csv")
		})
	}
}
