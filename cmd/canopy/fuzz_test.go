package main

import (
	"math"
	"testing"

	"canopy/vehicle/model"
)

// FuzzBox: whatever stands in `--box`, `--from` and `--start`, its values are finite and in the state's range, or it is refused.
func FuzzBox(f *testing.F) {
	v := &model.Vehicle{Name: "boat", States: []model.State{
		{Variable: model.Variable{Name: "x", Unit: "m"}, Range: model.Between(-10, 10)},
		{Variable: model.Variable{Name: "heading.angle", Unit: "deg"}},
	}}
	for _, text := range []string{"x=0:5", "x=-2 [m]:2 [km]", "heading.angle=0:1 [rad]", "x", "x=", "=1", "x=1:2:3", "y=1",
		"x=1/0:2", "x=1e999", "x=0 [s]", "x=\xff", " x =1", "x=(((", "x=x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		state, values, err := stateValues(v, "--box", text, map[int]bool{})
		if err != nil {
			return
		}
		for _, x := range values {
			if s := v.States[state]; math.IsNaN(x) || math.IsInf(x, 0) || !s.Range.Contains(x) {
				t.Errorf("%q gives %s = %v", text, s.Name, x)
			}
		}
	})
}
