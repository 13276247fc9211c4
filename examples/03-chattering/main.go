// Command 03-chattering ticks the circuit plan conventionally, which activates each task before it is ticked: Figure 10
// of the 2013 paper.
package main

import (
	"fmt"
	"io"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/flight"
	"github.com/canopy-uav/canopy/run"
)

func main() { flight.Main("03-chattering", draw) }

func draw(w io.Writer, dir string) error {
	m, err := flight.Read("missions/circuit.yaml")
	if err != nil {
		return err
	}
	const until, from, to = 99.5, 0, 20 // s; before the altitude is reached
	leaves := []string{"altitude", "take_off"}
	var plots []*flight.Plot
	fmt.Fprintf(w, "%-26s%9s%9s\n", fmt.Sprintf("activations in %g s", until), leaves[0], leaves[1])
	for _, c := range []run.Configuration{
		run.Ticked{Period: 1, Conventional: true}, run.Ticked{Period: 1}, run.Continuous{},
	} {
		f, err := flight.Fly(m, c, until)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%-26v", c)
		for _, leaf := range leaves {
			fmt.Fprintf(w, "%9d", len(f.Instants(leaf, bt.Activating)))
		}
		fmt.Fprintln(w)
		p := f.Lanes(from, to, leaves...)
		p.Title = c.String()
		plots = append(plots, p)
	}
	return flight.Picture(w, dir, "chattering.svg", 180, 55, plots...)
}
