package main

import (
	"path/filepath"
	"strings"
	"testing"
)

const twoActions = "../../examples/10-reaction/two.xml"

// The example shows what the commands print, and the script, replayed, ends with the number that is proved.
func TestReaction(t *testing.T) {
	page := fileText(t, "../../examples/10-reaction/README.md")
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
	says(t, "the example", page, "```text\n"+solar+"```", "```text\n"+two+"```", "```text\n"+end+"```")
	text := fileText(t, script)
	says(t, "the script", text, "# 4 event iterations, 10 status changes, 12 visits.\n", "\nentered left\n")
}
