package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/vehicle/equations"
)

// A new mission of each vehicle flies and passes the check; no file is replaced.
func TestNew(t *testing.T) {
	for _, v := range equations.Vehicles() {
		dir := t.TempDir()
		name := filepath.Join(dir, "first.yaml")
		stdout, stderr, status := canopy("new", "first", "--vehicle", v.Name, "--out", dir)
		if status != exitOK || stderr != "" {
			t.Fatalf("%s: %d\n%s", v.Name, status, stderr)
		}
		says(t, "what is next", stdout, "canopy run "+name)
		if stdout, stderr, status = canopy("check", name, "--strict"); status != exitOK {
			t.Errorf("%s: %d\n%s%s", v.Name, status, stdout, stderr)
		}
		if testing.Short() && v.Name == "solar" {
			continue
		}
		stdout, stderr, status = canopy("run", name, "--out", filepath.Join(dir, "out"))
		if status != exitOK {
			t.Errorf("%s: %d\n%s%s", v.Name, status, stdout, stderr)
		}
		log, err := os.ReadFile(filepath.Join(dir, "out", "status.csv"))
		if err != nil || !strings.Contains(string(log), "stay,Activating,Running") {
			t.Errorf("%s: %v\n%s", v.Name, err, log)
		}
		if _, stderr, status := canopy("new", "first", "--vehicle", v.Name, "--out", dir); status != exitInput ||
			!strings.Contains(stderr, "exists already") {
			t.Errorf("%d: %s", status, stderr)
		}
		if stdout, _, status := canopy("fmt", "--check", filepath.Join(dir, "first.xml")); status != exitOK {
			t.Errorf("not canonical: %s", stdout)
		}
	}
}
