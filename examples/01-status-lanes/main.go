// Command 01-status-lanes draws the statuses of the circuit plan's leaves: Figure 8 of the 2013 paper.
package main

import (
	"fmt"
	"io"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/flight"
	"github.com/canopy-uav/canopy/run"
)

func main() { flight.Main("01-status-lanes", draw) }

func draw(w io.Writer, dir string) error {
	m, err := flight.Read("missions/circuit.yaml")
	if err != nil {
		return err
	}
	f, err := flight.Fly(m, run.Continuous{}, 300)
	if err != nil {
		return err
	}
	for _, line := range []struct {
		text, task string
		to         bt.Status
	}{
		{"altitude ok", "altitude", bt.Success},
		{"waypoint reached", "reached", bt.Success},
		{"advance failed", "advance", bt.Aborted},
		{"reset", "reset", bt.Finished},
	} {
		fmt.Fprintf(w, "%-17s", line.text)
		for _, t := range f.Instants(line.task, line.to) {
			fmt.Fprintf(w, "%8.1f s", t)
		}
		fmt.Fprintln(w)
	}
	return flight.Picture(w, dir, "lanes.svg", 220, 110, f.Lanes(0, f.Told))
}
