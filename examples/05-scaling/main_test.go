package main

import (
	"fmt"
	"testing"

	"github.com/canopy-uav/canopy/internal/flight"
)

func TestNumbers(t *testing.T) {
	lines := []string{"solar plan               14     4          10\n", "with a fuel cell         17     5          16\n"}
	add := func(family string, k, tasks, steps, transitions int) {
		lines = append(lines, fmt.Sprintf("%-16s k=%2d %5d %5d %11d\n", family, k, tasks, steps, transitions))
	}
	for k := 1; k <= 8; k++ {
		add("sequence", k, k+1, k+2, k+1)
	}
	for k := 2; k <= 10; k++ {
		add("priority list", k, 3*k-1, k, k*(k-1))
	}
	for k := 1; k <= 6; k++ {
		add("parallel", k, 3*k+1, 1<<k, (1<<k)*(1<<k-1))
	}
	if err := flight.Try(run, t.TempDir(), "scaling.svg", lines...); err != nil {
		t.Error(err)
	}
}
