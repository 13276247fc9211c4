package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFlyRefusesWrongInput: nothing is flown, and no folder is left.
func TestFlyRefusesWrongInput(t *testing.T) {
	mission := filepath.Join("..", "..", "missions", "circuit-plane.yaml")
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		text string
		args []string
	}{
		{"--link is missing: the address of a vehicle, or fake:plane, fake:copter", nil},
		{"not the address of a link: write udp:HOST:PORT", []string{"--link", "http:127.0.0.1:14550"}},
		{`did you mean "udp"?`, []string{"--link", "upd:127.0.0.1:14550"}},
		{"is not HOST:PORT, as in 127.0.0.1:14550", []string{"--link", "udp:14550"}},
		{`there is no fake vehicle "plan"; did you mean "plane"?`, []string{"--link", "fake:plan"}},
		{"the mission's vehicle is plane; fake:px4-copter is a copter", []string{"--link", "fake:px4-copter"}},
		{"there is no such device: this computer has", []string{"--link", "serial:" + filepath.Join(t.TempDir(), "ttyUSB0")}},
		{"no program waits there", []string{"--link", "tcp:127.0.0.1:1"}},
		{"--at-end is hold or return", []string{"--link", "fake:plane", "--at-end", "dance"}},
		{"--system is a number from 1 to 255", []string{"--link", "fake:plane", "--system", "0"}},
		{"write a multiple of real time", []string{"--link", "fake:plane", "--speed", "-1"}},
		{"write a multiple of real time", []string{"--link", "fake:plane", "--speed", "nan"}},
		{"--speed is for a fake:VEHICLE", []string{"--link", "udp:127.0.0.1:0", "--speed", "2"}},
		{"--resume needs a vehicle that flies on", []string{"--link", "fake:plane", "--resume"}},
	} {
		stdout, stderr, status := canopy(append([]string{"fly", mission, "--out", out}, c.args...)...)
		if status != exitInput || stdout != "" {
			t.Errorf("%v: status %d, %s", c.args, status, stdout)
		}
		says(t, "canopy fly", stderr, c.text)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a folder is left")
	}
	_, stderr, status := canopy("fly", filepath.Join("..", "..", "missions", "solar-day.yaml"), "--link", "fake:plane",
		"--out", out)
	if status != exitInput {
		t.Errorf("status %d", status)
	}
	says(t, "a vehicle without a contract", stderr, "its vehicle is solar; missions of plane and copter can be flown")
}

// A flight with a vehicle does not overwrite the black box of another one.
func TestFlyKeepsBlackBoxes(t *testing.T) {
	mission := filepath.Join("..", "..", "missions", "circuit-plane.yaml")
	for _, name := range []string{"run.box", "run.box.old", "run.box.stopped"} {
		out := t.TempDir()
		must(t, os.WriteFile(filepath.Join(out, name), []byte("kept"), 0o600))
		_, stderr, status := canopy("fly", mission, "--out", out, "--link", "udp:127.0.0.1:0")
		if data, err := os.ReadFile(filepath.Join(out, name)); status != exitInput || string(data) != "kept" {
			t.Errorf("%s: status %d, %q, %v", name, status, data, err)
		}
		says(t, name, stderr, "has the black box of an earlier flight")
	}
}
