package main

import (
	"encoding/json"
	"testing"

	"github.com/canopy-uav/canopy/run/record"
)

// At an event the side of a relation decides, not the sign of a value that is rounded to the event's time: what `check`
// proves of the shipped mission, its flight does not violate, in flight and from the log.
func TestSidesDecideAtEvents(t *testing.T) {
	out := t.TempDir()
	if _, stderr, status := canopy("run", solarDay, "--out", out, "--quiet"); status != exitOK {
		t.Fatal(stderr)
	}
	touching := []string{"always (critical -> soc <= 0.993)", "always (surplus -> soc >= 0.994)",
		"always (not critical -> soc >= 0.992)", "always (not surplus -> soc <= 0.996)",
		"always (critical -> 1000 * soc <= 993)", "always (at_top -> h >= 12980 [m])", "always (not at_top -> h <= 12.98 [km])",
		"always (not critical -> abs(soc - 1) <= 0.008)"}
	beyond := []string{"always (critical -> soc <= 0.9929)", "always (not critical -> soc >= 0.9921)"}
	var flags []string
	for _, p := range append(touching, beyond...) {
		flags = append(flags, "--property", p)
	}
	for _, run := range []string{solarDay, out} {
		stdout, stderr, status := canopy(append([]string{"monitor", run, "--json"}, flags...)...)
		var rows []record.Property
		if err := json.Unmarshal([]byte(stdout), &rows); err != nil || status != exitRefute {
			t.Fatal(err, status, stderr)
		}
		for i, r := range rows {
			want := "satisfied"
			if i >= len(touching) {
				want = "violated"
			}
			if r.Verdict != want || want == "satisfied" && (r.Margin == nil || *r.Margin != 0) {
				t.Errorf("%s: %s is %s by %v", run, r.Property, r.Verdict, *r.Margin)
			}
		}
	}
}
