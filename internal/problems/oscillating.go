package problems

import (
	"fmt"
	"math"
	"math/cmplx"
)

// Oscillating returns linear problems that last a day and whose spectra have fast, hardly damped oscillations that only
// matter for a moment: multistep formulas of order three and more are not stable for them at the steps that their slow
// solutions permit. All have closed forms.
func Oscillating() []*Problem {
	var list []*Problem
	for _, zeta := range []float64{0.001, 0.005, 0.02, 0.05, 0.1, 0.5} {
		list = append(list, mode(zeta))
	}
	list = append(list, ring, upwind, central)
	for _, p := range list {
		p.CVODE = cvode[p.Name]
	}
	return list
}

// cvode has the evaluations of CVODE 6.4.1 with backward differentiation formulas of order 1 to 5 and dense matrices by
// difference quotients, at the tolerances of the problems. Those for Jacobians are included, four for each banded one.
// Stability limit detection multiplies the numbers above a million by 1.8. TestCVODESolvesTheSameEquations of ode
// measures those of 1e-4.
var cvode = map[string]map[float64]int{
	"mode-0.001": {1e-4: 134, 1e-6: 3496530, 1e-8: 3403526},
	"mode-0.005": {1e-4: 134, 1e-6: 3749861, 1e-8: 3790743},
	"mode-0.02":  {1e-4: 134, 1e-6: 3104098, 1e-8: 3106278},
	"mode-0.05":  {1e-4: 134, 1e-6: 4175, 1e-8: 11875},
	"mode-0.1":   {1e-4: 187, 1e-6: 468, 1e-8: 2000},
	"mode-0.5":   {1e-4: 135, 1e-6: 264, 1e-8: 816},
	"ring":       {1e-4: 754, 1e-6: 866, 1e-8: 1868},
	"upwind":     {1e-4: 159, 1e-6: 239, 1e-8: 486},
	"central":    {1e-4: 163, 1e-6: 250}, // 1e-8: not finished after a hundred seconds
}

const (
	day    = 86400.0
	slowly = 3.3 * 2 * math.Pi / day // rad/s of what drives the problems
	linear = "closed form of a linear system"
)

// mode is a damped oscillator of 20 rad/s that follows a slow sine, and a state that follows it with a lag of an hour,
// all of them at rest at the start.
func mode(zeta float64) *Problem {
	const om, lag = 20.0, 3600.0
	// q = Im(Q e^(iwt)) + Re(K e^(lambda t)), and the like for the other states.
	w := complex(0, slowly)
	q := complex(om*om, 0) / (w*w + complex(2*zeta*om, 0)*w + complex(om*om, 0))
	lambda := om * complex(-zeta, math.Sqrt(1-zeta*zeta))
	k := complex(-imag(q), 0)
	k += complex(0, (slowly*real(q)+real(lambda)*real(k))/imag(lambda))
	s, l := q/(1+w*lag), k/(1+lambda*lag)
	wave := cmplx.Exp(w * day)
	return &Problem{
		Name:   fmt.Sprintf("mode-%g", zeta),
		Text:   fmt.Sprintf("oscillator of 20 rad/s, damping %g, that follows a slow sine", zeta),
		Source: linear,
		Y0:     []float64{0, 0, 0}, End: day, Scale: []float64{1}, Stiff: true, Growth: 10,
		Want: []float64{
			imag(q * wave), imag(w * q * wave), imag(s*wave) - (imag(s)+real(l))*math.Exp(-day/lag),
		},
		Derivatives: func(t float64, y, _, d []float64) {
			d[0], d[1] = y[1], om*om*(math.Sin(slowly*t)-y[0])-2*zeta*om*y[1]
			d[2] = (y[0] - y[2]) / lag
		},
	}
}

// cells and rate are the number of the cells of a ring or a channel, and the rate at which each follows its neighbour.
const cells, rate = 40, 1000.0

// ring is a pulse that runs around a ring until it is spread, while a slow source fills one cell.
var ring = &Problem{
	Name: "ring", Text: "pulse that runs around a ring of 40 cells with a slow source", Source: linear,
	Y0: append([]float64{1}, make([]float64, cells-1)...), End: day, Scale: []float64{1}, Stiff: true, Growth: 10,
	Want: func() []float64 {
		// The source's part of each mode of the ring; the pulse has decayed but for its mean.
		w := complex(0, slowly)
		want := make([]float64, cells)
		for i := range want {
			x := complex(0, 0)
			for k := 1; k < cells; k++ {
				root := cmplx.Exp(complex(0, 2*math.Pi*float64(k)/cells))
				x += cmplx.Pow(root, complex(float64(i), 0)) / (w - rate*(root-1))
			}
			want[i] = (1 + 1 - math.Cos(slowly*day) + imag(x*complex(slowly, 0)*cmplx.Exp(w*day))) / cells
		}
		return want
	}(),
	Derivatives: func(t float64, y, _, d []float64) {
		for i := range d {
			d[i] = rate * (y[(i+1)%cells] - y[i])
		}
		d[0] += slowly * math.Sin(slowly*t)
	},
}

// upwind is a channel into which a slow wave flows, by differences against the flow: one eigenvalue of multiplicity 40.
var upwind = &Problem{
	Name: "upwind", Text: "slow wave through a channel of 40 cells, differences against the flow", Source: linear,
	Y0: make([]float64, cells), End: day, Scale: []float64{1}, Stiff: true, Growth: 10,
	Want: channel(func(u []complex128, w complex128) {
		for i := cells; i > 0; i-- {
			u[i-1] = (1 + w/rate) * u[i]
		}
	}),
	Derivatives: func(t float64, y, _, d []float64) {
		before := math.Sin(slowly * t)
		for i, v := range y {
			d[i] = rate * (before - v)
			before = v
		}
	},
}

// central is the same channel by central differences: waves that only the outlet damps.
var central = &Problem{
	Name: "central", Text: "slow wave through a channel of 40 cells, central differences", Source: linear,
	Y0: make([]float64, cells), End: day, Scale: []float64{1}, Stiff: true, Growth: 10,
	Want: channel(func(u []complex128, w complex128) {
		u[cells-1] = (1 + w/rate) * u[cells]
		for i := cells - 1; i > 0; i-- {
			u[i-1] = u[i+1] + 2*w/rate*u[i]
		}
	}),
	Derivatives: func(t float64, y, _, d []float64) {
		before := math.Sin(slowly * t)
		for i, v := range y[:cells-1] {
			d[i] = rate / 2 * (before - y[i+1])
			before = v
		}
		d[cells-1] = rate * (before - y[cells-1])
	},
}

// channel returns the cells at the end of a channel's day, long after its start, from the amplitudes that back finds
// upstream of the last one.
func channel(back func(u []complex128, w complex128)) []float64 {
	u := make([]complex128, cells+1)
	w := complex(0, slowly)
	u[cells] = 1
	back(u, w)
	want := make([]float64, cells)
	for i := range want {
		want[i] = imag(u[i+1] / u[0] * cmplx.Exp(w*day))
	}
	return want
}
