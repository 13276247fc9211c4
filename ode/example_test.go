package ode_test

import (
	"fmt"

	"github.com/canopy-uav/canopy/ode"
)

// A ball is dropped from 1 m; the dense output gives the time at which it reaches the ground.
func ExampleRoot() {
	fall := func(_ float64, y, dydt []float64) { dydt[0], dydt[1] = y[1], -9.81 }
	ball := ode.New(fall, 2, ode.Options{})
	ball.Restart(0, []float64{1, 0})
	for ball.Y()[0] >= 0 {
		if err := ball.Step(10); err != nil {
			fmt.Println(err)
			return
		}
	}
	y := make([]float64, 2)
	_, impact := ode.Root(func(t float64) float64 {
		ball.Interpolate(t, y)
		return y[0]
	}, ball.From(), ball.T())
	ball.Interpolate(impact, y)
	fmt.Printf("impact at %.9f s with %.6f m/s\n", impact, y[1])
	// Output: impact at 0.451523641 s with -4.429447 m/s
}
