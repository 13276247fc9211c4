package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"canopy/document/mission"
)

const (
	boat    = "../../examples/08-finite-time/boat.yaml"
	courier = "../../examples/09-regression/courier.yaml"
)

// The same comes out for any number of workers, to the letter.
func TestRegionWorkers(t *testing.T) {
	var want string
	for _, workers := range []string{"1", "4", "7"} {
		stdout, stderr, status := canopy("region", boat, "--box", "x=0:5,y=-2:2", "--compose", "--resolution", "8", "--refine", "2",
			"--workers", workers, "--json")
		if status != exitOK || stderr != "" {
			t.Fatalf("status %d, %s", status, stderr)
		}
		if want == "" {
			want = stdout
		}
		if stdout != want {
			t.Errorf("%s workers give another result than 1", workers)
		}
	}
	var r regionResult
	if err := json.Unmarshal([]byte(want), &r); err != nil || !r.Complete || len(r.Questions) != 3 || len(r.Statements) != 5 {
		t.Errorf("%v: %+v", err, r)
	}
}

// The text contains the question, the note that it is no proof, and the conclusions; pictures are written.
func TestRegionText(t *testing.T) {
	dir := t.TempDir()
	small := []string{"--resolution", "6", "--refine", "1"}
	stdout, stderr, status := canopy(append([]string{"region", boat, "--box", "x=0:5 [m],y=-2:2", "--compose", "--out",
		filepath.Join(dir, "new", "boat.svg"), "--from", "x=1,y=1.5"}, small...)...)
	if status != exitOK || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	says(t, "the text", stdout, "not a proof", "T0 = harbour", "T1 = run in", "T2 = line up", "tau0 = 7.596", "tau2 = 3.8 s",
		"tau0 <= tau1 + tau2: seen at all", `S2 \ S1 is a subset of R'1: seen at all`)
	for drift, verdict := range map[string]string{
		"1":   "Counterexample to Lemma 1 (Example 3): the rules are universal, yet from x = 0, y = 2\nthey have not succeeded after 30 s",
		"0.5": "do not imply success",
	} {
		stdout, stderr, status := canopy(append([]string{"region", courier, "--box", "x=-2:4,y=0.01:4", "--regression", "--set",
			"drift=" + drift, "--out", filepath.Join(dir, "courier.svg")}, small...)...)
		if status != exitOK || stderr != "" {
			t.Fatalf("status %d, %s", status, stderr)
		}
		says(t, "the text", stdout, "the plan has memory (hysteresis)", "regression (Definition 1)", "NOT at", verdict)
	}
	stdout, stderr, status = canopy(append([]string{"region", "../../missions/circuit.yaml", "--task", "take_off", "--box",
		"h=0:300,V=0:20", "--until", "10"}, small...)...)
	if status != exitOK || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	says(t, "the text", stdout, "the plan has memory (entry and exit procedures, slots that hold their value)")
	for name, magic := range map[string]string{"new/boat.svg": "<?xml", "courier.svg": "<?xml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.HasPrefix(string(text), magic) {
			t.Errorf("%s: %v, begins with %.10q", name, err, text)
		}
	}
}

// Interrupted, the command prints its results so far and fails.
func TestRegionInterrupted(t *testing.T) {
	m, diags := mission.Read(boat, os.ReadFile, nil, nil)
	if m == nil {
		t.Fatal(diags)
	}
	f := &regionFlags{box: []string{"x=0:5", "y=-2:2"}, resolution: 4, refine: 1, asJSON: true}
	a, err := newAnalysis(m, f, 20)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out strings.Builder
	if err := a.finish(&out, f, a.sample(ctx, 2, io.Discard)); err == nil {
		t.Error("complete in spite of the interruption")
	}
	says(t, "the result", out.String(), `"complete": false`)
}
