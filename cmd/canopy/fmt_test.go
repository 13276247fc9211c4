package main

import (
	"path/filepath"
	"testing"
)

// The shipped plans are in the canonical layout.
func TestShippedPlansAreCanonical(t *testing.T) {
	for _, pattern := range []string{"../../missions/*.xml", "../../examples/*/*.xml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no plans (%v)", pattern, err)
		}
		if stdout, stderr, status := canopy(append([]string{"fmt", "--check"}, names...)...); status != exitOK {
			t.Errorf("%s%s", stdout, stderr)
		}
	}
}
