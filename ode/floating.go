package ode

import (
	"math"
	"slices"
)

// floating lets absolute tolerances follow the values that are seen. It is nil where all of them are fixed.
type floating struct {
	relative float64
	on       []bool
	given    []float64 // absolute tolerances
	seen     []float64 // the size of each component, which fades
	most     []float64 // the largest size of each component
}

func newFloating(o Options, given []float64) *floating {
	if !slices.Contains(o.Floating, true) {
		return nil
	}
	n := len(given)
	return &floating{o.RelTol, o.Floating, slices.Clone(given), make([]float64, n), make([]float64, n)}
}

// restart takes the values at a start. What is zero is expected to become a hundredth of the largest component.
func (f *floating) restart(y, atol []float64) {
	const few = 0.01
	f.follow(y, atol)
	largest := size(f.most)
	if largest == 0 {
		largest = 1
	}
	for i, v := range f.most {
		if v == 0 {
			v = few * largest
		}
		f.seen[i] = v
	}
	f.follow(y, atol)
}

// follow lowers the absolute tolerances of small components. They stay above what rounding makes of the largest one.
func (f *floating) follow(y, atol []float64) {
	const fading, high, share, low, least = 0.7, 100, 1e-4, 0.01, 1e-8
	wide := max(min(high*f.relative, share), f.relative) // at loose tolerances, a hundredfold one hides the values
	for i, v := range y {
		v = math.Abs(v)
		f.seen[i], f.most[i] = max(v, fading*f.seen[i]), max(v, f.most[i])
	}
	floor := least * size(f.seen)
	for i, on := range f.on {
		if on {
			size := max(f.seen[i], floor)
			atol[i] = max(min(f.given[i], wide*size), low*f.relative*size)
		}
	}
}

// size returns the largest absolute value.
func size(x []float64) (largest float64) {
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	return largest
}
