// Command 02-exit-procedure flies the circuit with and without the exit procedure of the take-off: Figure 9 of the 2013
// paper.
package main

import (
	"fmt"
	"io"
	"math"

	"github.com/canopy-uav/canopy/internal/flight"
	"github.com/canopy-uav/canopy/run"
)

func main() { flight.Main("02-exit-procedure", draw) }

func draw(w io.Writer, dir string) error {
	side := flight.New(flight.Axis{Label: "t [s]"}, flight.Axis{Label: "altitude [m]"})
	side.KeyLeft = true
	top := flight.New(flight.Axis{Label: "x [m]"}, flight.Axis{Label: "y [m]"})
	for i, c := range []struct {
		text  string
		edits []string
	}{
		{text: "with the exit procedure"},
		{"without", []string{` exit="V_cmd := 18 [m/s]; h_cmd := 250 [m]"`, ""}},
	} {
		m, err := flight.Read("missions/circuit.yaml", c.edits...)
		if err != nil {
			return err
		}
		f, err := flight.Fly(m, run.Continuous{}, math.Inf(1))
		if err != nil {
			return err
		}
		h := f.Signal("h")
		fmt.Fprintf(w, "%-24s %7.1f m at %g s\n", c.text, h[len(h)-1], f.Told)
		if err := side.Curve(i, c.text, f.T, h); err != nil {
			return err
		}
		if err := top.Curve(i, "", f.Signal("x"), f.Signal("y")); err != nil {
			return err
		}
	}
	return flight.Picture(w, dir, "trajectories.svg", 180, 80, side, top)
}
