package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"canopy/vehicle/equations"
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

// What no flag gives is asked; mistakes in the answers are found before anything is written.
func TestNewAsks(t *testing.T) {
	dir := t.TempDir()
	answer := func(text string, args ...string) (stdout, stderr string, status int) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "answers")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		before := os.Stdin
		os.Stdin = in
		defer func() { os.Stdin = before; _ = in.Close() }()
		return canopy(append([]string{"new", "--out", dir}, args...)...)
	}
	stdout, stderr, status := answer("quad\n\nh > 10 [m] && t>=1\n\n20\n", "hop")
	if status != exitOK {
		t.Fatalf("%d\n%s", status, stderr)
	}
	says(t, "the questions", stderr, "Vehicle (solar, circuit, quad, plane, copter, or a file) [circuit]: ", "Write first [w_cmd := 2 [m/s]]: ")
	says(t, "the files", stdout, "hop.yaml", "hop.xml")
	text, err := os.ReadFile(filepath.Join(dir, "hop.xml"))
	if err != nil {
		t.Fatal(err)
	}
	says(t, "the plan", string(text), `done="h gt 10 [m] and t>=1"`)
	for _, c := range []struct{ answers, name, want string }{
		{"quad\nw_cmd := 2\nh > 10 [s]\n\n\n", "a", "unit-mismatch"},
		{"quad\nw_cmd := 2\n", "a", "not answered"},
		{"quadd\n", "a", `did you mean "quad"?`},
		{"quad\n", "../a", "cannot be the name"},
		{"", "a", "give --vehicle"},
	} {
		if _, stderr, status := answer(c.answers, c.name); status != exitInput || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: %d\n%s", c.answers, status, stderr)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
}
