package main

import (
	"testing"

	"github.com/canopy-uav/canopy/internal/flight"
)

func TestNumbers(t *testing.T) {
	dir := t.TempDir()
	t.Chdir("../..")
	err := flight.Try(draw, dir, "lanes.svg",
		"altitude ok         100.1 s\n",
		"waypoint reached    119.4 s   157.3 s   245.9 s   283.9 s\n",
		"advance failed      283.9 s\n",
		"reset               283.9 s\n",
	)
	if err != nil {
		t.Error(err)
	}
}
