package main

import (
	"testing"

	"github.com/canopy-uav/canopy/internal/flight"
)

func TestNumbers(t *testing.T) {
	dir := t.TempDir()
	t.Chdir("../..")
	err := flight.Try(draw, dir, "chattering.svg",
		"tick 1 s, conventional          100      100\n",
		"tick 1 s                          0        1\n",
		"continuous                        0        1\n",
	)
	if err != nil {
		t.Error(err)
	}
}
