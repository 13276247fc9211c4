package ode

import "math"

// Enclosure bounds a component of the dense output and its derivative by time.
type Enclosure struct{ Low, High, SlopeLow, SlopeHigh float64 }

// degree is the highest degree of a dense output.
const degree = 7

// expansion is a polynomial in a variable from -1 to 1.
type expansion [degree + 1]float64

// Enclose writes bounds of some components of the dense output from a to b, two times within [From, T] with a < b, to
// ranges, which has a place for each component. They are those of the Taylor polynomial about the middle (R. E. Moore,
// R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis, 2009, chapter 6), widened by more than all rounding,
// and those of the values at both ends of the step. A component that does not change has its value.
func (in *Integrator) Enclose(which []int, a, b float64, ranges []Enclosure) {
	base, coefficients, terms, scale, from := in.y, in.multi.d, in.multi.order, in.multi.h, in.t
	if !in.multi.on {
		in.polynomial()
		base, coefficients, terms, scale, from = in.y0, in.poly, in.stepped.degree(), in.t-in.from, in.from
	}
	middle, radius := ((a-from)+(b-from))/2/scale, (b-a)/2/scale
	var shapes [degree]expansion // of the polynomials by which the coefficients are multiplied
	last := expansion{1}
	for k := range terms {
		factor, shift := 1.0, middle
		if in.multi.on {
			factor, shift = inverse[k], middle+float64(k)
		}
		for j := k + 1; j >= 0; j-- {
			shapes[k][j] = last[j] * shift * factor
			if j > 0 {
				shapes[k][j] += last[j-1] * radius * factor
			}
		}
		last = shapes[k]
	}
	for _, i := range which {
		v, size := expansion{base[i]}, 0.0
		for k, at := 0, i; k < terms; k, at = k+1, at+in.n {
			d := coefficients[at]
			for j := range k + 2 {
				v[j] += d * shapes[k][j]
				size += math.Abs(d * shapes[k][j])
			}
		}
		if size > 0 {
			size += math.Abs(base[i])
		}
		r := &ranges[i]
		r.Low, r.High = v.bounds(0, size)
		if b == in.t {
			r.Low, r.High = min(r.Low, in.y[i]), max(r.High, in.y[i])
		}
		if a == in.from {
			r.Low, r.High = min(r.Low, in.y0[i]), max(r.High, in.y0[i])
		}
		r.SlopeLow, r.SlopeHigh = v.slope().bounds(1, size)
		r.SlopeLow, r.SlopeHigh = r.SlopeLow/(radius*scale), r.SlopeHigh/(radius*scale)
	}
}

// slope returns the derivative.
func (v expansion) slope() (d expansion) {
	for j := 1; j < len(v); j++ {
		d[j-1] = float64(j) * v[j]
	}
	return d
}

// bounds returns the bounds of the polynomial, whose terms were added from numbers that have a sum of this size.
func (v expansion) bounds(derivatives int, size float64) (low, high float64) {
	slack := size * float64(1+4*derivatives) * 0x1p-50
	low, high = v[0]-slack, v[0]+slack
	for j, c := range v[1:] {
		if j%2 == 0 || c < 0 {
			low -= math.Abs(c)
		}
		if j%2 == 0 || c > 0 {
			high += math.Abs(c)
		}
	}
	return low, high
}
