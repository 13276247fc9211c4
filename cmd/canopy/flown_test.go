package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/run/box"
	"github.com/canopy-uav/canopy/run/folder"
)

// TestReplayOfTheCircuit: the circuit on the fake plane is replayed to the same status.csv; a byte of the black box that
// changes is found, with its place; another plan receives the same inputs.
func TestReplayOfTheCircuit(t *testing.T) {
	dir := t.TempDir()
	run, again := filepath.Join(dir, "run"), filepath.Join(dir, "again")
	missions := filepath.Join("..", "..", "missions")
	_, stderr, status := canopy("fly", filepath.Join(missions, "circuit-plane.yaml"), "--link", "fake:plane", "--out", run,
		"--report=false", "--set", "horizon=120")
	if status != exitOK {
		t.Fatal(status, stderr)
	}
	read := func(name ...string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(name...))
		must(t, err)
		return data
	}
	out, stderr, status := canopy("replay", run, "--out", again, "--report=false")
	if status != exitOK || !bytes.Equal(read(run, folder.StatusFile), read(again, folder.StatusFile)) {
		t.Errorf("%d\n%s%s", status, out, stderr)
	}
	says(t, "the replay", out, "the same datagrams and the same status.csv")

	plan := filepath.Join(dir, "other.xml")
	if err := os.WriteFile(plan, []byte(`<root BTCPP_format="4"><BehaviorTree ID="main">
  <Condition name="high" on="h &gt; 50 [m]"/></BehaviorTree></root>`), 0o666); err != nil {
		t.Fatal(err)
	}
	out, stderr, status = canopy("replay", run, "--out", again, "--report=false", "--plan", plan)
	if status != exitOK || !strings.Contains(string(read(again, folder.StatusFile)), "high") {
		t.Errorf("%d\n%s%s", status, out, stderr)
	}
	says(t, "the replay to another plan", out, "status.csv differs from line 2 on")

	data := read(run, box.File)
	data[len(data)/2] ^= 1
	must(t, os.WriteFile(filepath.Join(run, box.File), data, 0o666))
	out, stderr, status = canopy("replay", run, "--out", again, "--report=false")
	if status != exitFailed || strings.Contains(out, "\nthe same datagrams and the same status.csv\n") {
		t.Errorf("%d\n%s%s", status, out, stderr)
	}
	says(t, "the replay of a damaged box", stderr, "at byte")
	says(t, "the replay of a damaged box", stderr, "nothing after it was replayed or compared")
}
