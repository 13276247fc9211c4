package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
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

// Interrupted, the command prints its results so far and fails.
func TestRegionInterrupted(t *testing.T) {
	m, diags := mission.Read(boat, os.ReadFile, nil, nil)
	if m == nil {
		t.Fatal(diags)
	}
	a, err := newAnalysis(m, &regionFlags{box: []string{"x=0:5", "y=-2:2"}, resolution: 4, refine: 1, asJSON: true,
		until: 20, workers: 2})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out strings.Builder
	if err := a.finish(&out, a.sample(ctx, io.Discard)); err == nil {
		t.Error("complete in spite of the interruption")
	}
	says(t, "the result", out.String(), `"complete": false`)
}
