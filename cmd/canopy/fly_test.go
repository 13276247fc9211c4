package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
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
	order := regexp.MustCompile(`(?s)\(0:00:0\d\)  the plan waits until the vehicle is attached.*\(0:00:\d\d\)  attaching: heartbeat` +
		`.*\(0:00:[1-9]\d\)  attached: .* 0:00:00  the plan is flown`)
	if !order.MatchString(stderr) {
		t.Errorf("before the plan begins, the times are those since the start of the program:\n%s", stderr)
	}
}

// stuck is a writer that takes nothing until the other one is written to.
type stuck struct {
	bytes.Buffer
	open  chan struct{}
	first sync.Once
}

func (s *stuck) Write(text []byte) (int, error) {
	s.first.Do(func() { close(s.open) })
	return s.Buffer.Write(text)
}

type behind struct{ *stuck }

func (b behind) Write(text []byte) (int, error) {
	<-b.open
	return len(text), nil
}

// TestNobodyReads: a terminal that takes nothing, as after Ctrl-S, and a reader of the messages that has gone do not stop
// a flight.
func TestNobodyReads(t *testing.T) {
	mission := filepath.Join("..", "..", "missions", "circuit-plane.yaml")
	if out := os.Getenv(child); out != "" {
		os.Exit(execute([]string{"fly", mission, "--link", "fake:plane", "--out", out, "--report=false", "--set", "horizon=60"},
			os.Stdout, os.Stderr))
	}
	out := &stuck{open: make(chan struct{})}
	if status := execute([]string{"fly", mission, "--link", "fake:plane", "--out", t.TempDir(), "--report=false",
		"--set", "horizon=60"}, out, behind{out}); status != exitOK {
		t.Errorf("status %d", status)
	}
	says(t, "the table", out.String(), "plan     flight: still running at the end")
	r, w, err := os.Pipe()
	must(t, err)
	_ = r.Close()
	c := exec.Command(os.Args[0], "-test.run", "^TestNobodyReads$")
	c.Env, c.Stderr = append(os.Environ(), child+"="+t.TempDir()), w
	if table, err := c.Output(); err != nil || !strings.Contains(string(table), "plan     flight: still running at the end") {
		t.Errorf("%v\n%s", err, table)
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
			if vehicle == "px4-plane" { // whose Hold has the number of its guided mode
				says(t, "it loiters", out, "in the air: it is in the mode loiter (Hold)")
			}
			out, stderr, status = canopy("replay", filepath.Join(dir, "flight"), "--out", filepath.Join(dir, "again"))
			if status != exitOK {
				t.Fatalf("%d\n%s\n%s", status, out, stderr)
			}
			says(t, "the replay is the same", out, "the same datagrams and the same status.csv")
		})
	}
}
