package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const twoActions = "../../examples/10-reaction/two.xml"

// The example shows what the commands print, and the script, replayed, ends with the number that is proved.
func TestReaction(t *testing.T) {
	page, err := os.ReadFile("../../examples/10-reaction/README.md")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "worst.txt")
	solar, stderr, status := canopy("reaction", solarDay)
	if status != exitOK || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	two, _, _ := canopy("reaction", twoActions, "--script", script)
	trace, _, status := canopy("trace", "--count", twoActions, script)
	if status != exitOK || !strings.HasSuffix(trace, "\n7: 4 event iterations, 10 status changes, 12 visits\n") {
		t.Errorf("status %d, %s", status, trace)
	}
	_, end, _ := strings.Cut(trace, "\n6: ")
	_, end, _ = strings.Cut(end, "\n")
	says(t, "the example", string(page), "```text\n"+solar+"```", "```text\n"+two+"```", "```text\n"+end+"```")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	says(t, "the script", string(text), "# 4 event iterations, 10 status changes, 12 visits.\n", "\nentered left\n")
}

func TestReactionAsJSON(t *testing.T) {
	stdout, _, status := canopy("reaction", twoActions, "--json", "--worst", "visits")
	var result struct {
		Decided     bool
		States      int
		Most, Bound struct{ Iterations, Changes, Visits int }
		Leaves      []struct{ Leaf string }
		Script      []string
	}
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || status != exitOK {
		t.Fatalf("status %d: %v", status, err)
	}
	if !result.Decided || result.States != 780 || result.Most.Iterations != 4 || result.Bound.Iterations != 4 ||
		len(result.Leaves) != 2 || result.Leaves[1].Leaf != "right" || len(result.Script) == 0 {
		t.Errorf("%+v", result)
	}
}

// A search that is cut short reports this and still gives the bound.
func TestReactionUndecided(t *testing.T) {
	stdout, _, status := canopy("reaction", "../../missions/solar-day.xml", "--states", "500")
	if status != exitOK {
		t.Fatalf("status %d", status)
	}
	says(t, "the output", stdout, "not decided: 500 states found", "The largest so far: ",
		"proved by the structure alone: one input takes at most 8 event iterations, 178 status changes, 524 visits.", "all leaves")
	stdout, _, status = canopy("reaction", "../../missions/solar-day.xml", "--budget", "1e-9")
	if status != exitOK {
		t.Fatalf("status %d", status)
	}
	says(t, "the output", stdout, "not decided: 1 states found, but the search did not end within 1e-9 s.")
}
