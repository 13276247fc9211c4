package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The largest plans can be read.
func TestLargest(t *testing.T) {
	for _, f := range families {
		if _, err := f.subject(f.sizes[len(f.sizes)-1]); err != nil {
			t.Error(err)
		}
	}
}

// The answers are known; their cost is not tested.
func TestAnswers(t *testing.T) {
	whole := families
	defer func() { families = whole }()
	families = nil
	for _, f := range whole {
		f.sizes = f.sizes[:2]
		families = append(families, f)
	}
	dir := t.TempDir()
	var b bytes.Buffer
	if err := run(&b, dir); err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(b.String()) {
		if words := strings.Fields(line); len(words) > 4 {
			time := len(words) - 4
			lines[strings.Join(append(words[:time:time], words[time+1:]...), " ")] = true
		}
	}
	for _, want := range []string{
		"checklist 152 3 1 0",        // all repairs done, the goal may fail: no action is left
		"binary tree 63 1 3 0",       // a sequence may fail; actions behind one that never ends are dead
		"priority list 202 3 0 0",    // the last action needs nothing
		"remembering list 152 2 0 0", // nor does the last one here
		"remembering list 302 2 0 0", // more worlds than can be searched, but no search is needed
	} {
		if !lines[want] {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "proof-time.svg")); err != nil || !bytes.Contains(text, []byte("<svg")) {
		t.Error("no picture", err)
	}
}
