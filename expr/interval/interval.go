// Package interval computes bounds of expressions: with each signal in an interval, the interval in which the value
// lies, and those of its partial derivatives.
//
// All bounds are rounded outwards (R. E. Moore, R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis, 2009),
// so they contain the exact real values as well as those that compiled code computes. Results that are exact stay
// exact: the sum of 1 and 2 is the interval from 3 to 3.
package interval

import (
	"math"
)

// Interval is a closed set of numbers. Its ends may be infinite. The zero value is the number 0.
type Interval struct {
	Low, High float64
	NaN       bool // the value may also be undefined
}

// All contains every number.
var All = Interval{Low: math.Inf(-1), High: math.Inf(1)}

// Point is the interval of one number; of NaN, it is All with NaN.
func Point(v float64) Interval {
	if v != v {
		return undefined()
	}
	return Interval{Low: v, High: v}
}

// Between returns the interval from low to high. It panics unless low <= high.
func Between(low, high float64) Interval {
	if !(low <= high) {
		panic("interval: empty interval")
	}
	return Interval{Low: low, High: high}
}

func undefined() Interval { return Interval{math.Inf(-1), math.Inf(1), true} }

// Contains reports whether the value lies in the interval.
func (x Interval) Contains(v float64) bool { return x.Low <= v && v <= x.High || v != v && x.NaN }

// Within reports whether all numbers of the interval lie in y.
func (x Interval) Within(y Interval) bool { return y.Low <= x.Low && x.High <= y.High }

// Point reports whether the interval is one number.
func (x Interval) Point() bool { return x.Low == x.High && !x.NaN }

// Bounded reports whether both ends are finite.
func (x Interval) Bounded() bool { return !math.IsInf(x.Low, 0) && !math.IsInf(x.High, 0) }

// Width returns the length of the interval.
func (x Interval) Width() float64 { return x.High - x.Low }

// Join returns the smallest interval that contains both.
func (x Interval) Join(y Interval) Interval {
	return Interval{min(x.Low, y.Low), max(x.High, y.High), x.NaN || y.NaN}
}

// Meet returns the common part; ok is false if there is none.
func (x Interval) Meet(y Interval) (both Interval, ok bool) {
	both = Interval{max(x.Low, y.Low), min(x.High, y.High), x.NaN && y.NaN}
	return both, both.Low <= both.High
}

// Middle returns a finite number inside a wide interval that divides it.
func (x Interval) Middle() float64 {
	switch below, above := math.IsInf(x.Low, -1), math.IsInf(x.High, 1); {
	case below && above:
		return 0
	case above:
		return max(2*x.Low, x.Low/2, 1)
	case below:
		return min(2*x.High, x.High/2, -1)
	}
	return min(max(x.Low/2+x.High/2, x.Low), x.High)
}

// tiny is the magnitude below which the remainder of a product may be lost.
const tiny = 1e-280

// down and up round outwards, unless the value is exact.
func down(v float64, exact bool) float64 {
	if exact {
		return v
	}
	if v != v {
		return math.Inf(-1)
	}
	return math.Nextafter(v, math.Inf(-1))
}

func up(v float64, exact bool) float64 {
	if exact {
		return v
	}
	if v != v {
		return math.Inf(1)
	}
	return math.Nextafter(v, math.Inf(1))
}

// sum returns a + b, and whether it is exact (D. Knuth, The Art of Computer Programming 2, 4.2.2, theorem B).
func sum(a, b float64) (s float64, exact bool) {
	s = a + b
	c := s - a
	return s, (a-(s-c))+(b-c) == 0
}

// product returns a * b, with 0 for a zero and an infinity, and whether it is exact.
func product(a, b float64) (p float64, exact bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	p = a * b
	return p, math.FMA(a, b, -p) == 0 && math.Abs(p) > tiny
}

// quotient returns a / b for b that is not 0, and whether it is exact.
func quotient(a, b float64) (q float64, exact bool) {
	if a == 0 {
		return 0, true
	}
	q = a / b
	return q, math.FMA(q, b, -a) == 0 && math.Abs(a) > tiny && math.Abs(q) > tiny
}

// Negative returns -x.
func (x Interval) Negative() Interval { return Interval{-x.High, -x.Low, x.NaN} }

// Plus returns x + y.
func (x Interval) Plus(y Interval) Interval {
	opposite := math.IsInf(x.High, 1) && math.IsInf(y.Low, -1) || math.IsInf(x.Low, -1) && math.IsInf(y.High, 1)
	nan := x.NaN || y.NaN || opposite
	return Interval{down(sum(x.Low, y.Low)), up(sum(x.High, y.High)), nan}
}

// Minus returns x - y.
func (x Interval) Minus(y Interval) Interval { return x.Plus(y.Negative()) }

// Times returns x * y.
func (x Interval) Times(y Interval) Interval {
	lost := x.Contains(0) && !y.Bounded() || y.Contains(0) && !x.Bounded()
	z := Interval{math.Inf(1), math.Inf(-1), x.NaN || y.NaN || lost}
	for _, a := range [2]float64{x.Low, x.High} {
		for _, b := range [2]float64{y.Low, y.High} {
			p, exact := product(a, b)
			z.Low, z.High = min(z.Low, down(p, exact)), max(z.High, up(p, exact))
		}
	}
	return z
}

// Over returns x / y; if y contains 0, any number.
func (x Interval) Over(y Interval) Interval {
	nan := x.NaN || y.NaN || !x.Bounded() && !y.Bounded()
	if y.Contains(0) {
		return Interval{math.Inf(-1), math.Inf(1), nan || x.Contains(0)}
	}
	z := Interval{math.Inf(1), math.Inf(-1), nan}
	for _, a := range [2]float64{x.Low, x.High} {
		for _, b := range [2]float64{y.Low, y.High} {
			if math.IsInf(a, 0) && math.IsInf(b, 0) { // any number of that sign
				z.Low, z.High = min(z.Low, 0), max(z.High, 0)
				continue
			}
			q, exact := quotient(a, b)
			z.Low, z.High = min(z.Low, down(q, exact)), max(z.High, up(q, exact))
		}
	}
	return z
}

// Square returns x * x, of the same number.
func (x Interval) Square() Interval {
	y := x.Abs()
	return Interval{max(0, down(product(y.Low, y.Low))), up(product(y.High, y.High)), x.NaN}
}

// Abs returns the magnitude.
func (x Interval) Abs() Interval {
	switch {
	case x.Low >= 0:
		return x
	case x.High <= 0:
		return x.Negative()
	}
	return Interval{0, max(-x.Low, x.High), x.NaN}
}

// Min returns the smaller of two values.
func (x Interval) Min(y Interval) Interval {
	return Interval{min(x.Low, y.Low), min(x.High, y.High), x.NaN || y.NaN}
}

// Max returns the larger of two values.
func (x Interval) Max(y Interval) Interval {
	return Interval{max(x.Low, y.Low), max(x.High, y.High), x.NaN || y.NaN}
}
