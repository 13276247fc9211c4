package ode

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
)

// On any part of any step, the dense output and its differences stay within the bounds, which are tight on short parts.
func TestEnclose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, m := range Methods() {
		for _, p := range []*problems.Problem{problems.HIRES, problems.Pleiades} {
			in := started(p, Options{Method: m, RelTol: 1e-5})
			y, before, ranges := make([]float64, in.n), make([]float64, in.n), make([]Enclosure, in.n)
			all := make([]int, in.n)
			for i := range all {
				all[i] = i
			}
			run(t, in, p.End/3, func() {
				a, b := in.From(), in.T()
				if r.IntN(4) > 0 {
					h := (b - a) * math.Pow(10, -6*r.Float64())
					a += (b - a - h) * r.Float64()
					b = min(a+h, b)
				}
				in.Enclose(all, a, b, ranges)
				const parts = 16
				for k := range parts + 1 {
					at := min(a+(b-a)*float64(k)/parts, b)
					copy(before, y)
					in.Interpolate(at, y)
					for i, v := range y {
						x := ranges[i]
						if !(x.Low <= v && v <= x.High) {
							t.Fatalf("%v %s: component %d is %v at %v, bounds %+v from %v to %v", m, p.Name, i, v, at, x, a, b)
						}
						slope := (v - before[i]) / (b - a) * parts
						slack := (1e-13*math.Abs(v) + 1e-15*math.Abs(at*slope)) / (b - a) * parts
						if k > 0 && !(x.SlopeLow-slack <= slope && slope <= x.SlopeHigh+slack) {
							t.Fatalf("%v %s: component %d has the slope %v, bounds %+v from %v to %v", m, p.Name, i, slope, x, a, b)
						}
					}
				}
				if in.Interpolate(a, before); b-a < (in.T()-in.From())/1000 {
					for i, v := range y {
						change := math.Abs(v-before[i]) + (b-a)*(ranges[i].SlopeHigh-ranges[i].SlopeLow) + 1e-14*math.Abs(v)
						if width := ranges[i].High - ranges[i].Low; width > 2*change {
							t.Fatalf("%v %s: component %d: %v wide, change %v", m, p.Name, i, width, change)
						}
					}
				}
			})
		}
	}
}
