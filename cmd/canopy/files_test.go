package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Each command that writes a file the user names makes the folder, and writes through a link instead of replacing it:
// a link may lead to a device.
func TestSave(t *testing.T) {
	for _, args := range [][]string{
		{"translate", "../../missions/solar-day.xml", "--out"},
		{"backchain", "../../examples/11-back-chaining/world.xml", "--goal", "has_key", "--out"},
		{"reaction", "../../missions/solar-day.yaml", "--script"},
		{"check", "../../missions/solar-day.yaml", "--sarif"},
		{"region", "../../examples/08-finite-time/boat.yaml", "--box", "x=0:5,y=-2:2", "--resolution", "2", "--out"},
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, "new", "deep", "file.svg")
		if _, stderr, status := canopy(append(args, name)...); status != exitOK {
			t.Fatalf("%s into a new folder: status %d, %s", args[0], status, stderr)
		}
		want, err := os.ReadFile(name)
		if err != nil || len(want) == 0 {
			t.Fatalf("%s: %d bytes, %v", args[0], len(want), err)
		}
		target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link.svg")
		must(t, os.WriteFile(target, []byte("old"), 0o600))
		if err := os.Symlink(target, link); err != nil {
			t.Skip("no symbolic links:", err)
		}
		if _, stderr, status := canopy(append(args, link)...); status != exitOK {
			t.Fatalf("%s through a link: status %d, %s", args[0], status, stderr)
		}
		if got, err := os.ReadFile(target); err != nil || string(got) != string(want) {
			t.Errorf("%s: the link was replaced: %v, %.60q", args[0], err, got)
		}
	}
}

// A long exploration is not lost because its script cannot be saved.
func TestReactionScriptNotSaved(t *testing.T) {
	stdout, stderr, status := canopy("reaction", "../../missions/solar-day.yaml", "--script", t.TempDir())
	if status != exitFailed {
		t.Errorf("status %d", status)
	}
	says(t, "a folder as script", stderr, "it is a folder")
	says(t, "the result", stdout, "proved: one input takes at most 3 event iterations")
}
