package main

import (
	"testing"

	"github.com/canopy-uav/canopy/internal/flight"
)

func TestNumbers(t *testing.T) {
	dir := t.TempDir()
	t.Chdir("../..")
	err := flight.Try(draw, dir, "trajectories.svg",
		"with the exit procedure    250.0 m at 600 s\n",
		"without                   1334.7 m at 600 s\n",
	)
	if err != nil {
		t.Error(err)
	}
}
