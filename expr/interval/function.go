package interval

import (
	"math"

	"github.com/canopy-uav/canopy/expr"
)

// The functions of the library are not rounded correctly. Their results are widened by some units of the last place,
// which is more than the errors that their sources give (Cephes, FreeBSD msun).
const (
	relative = 8 * 0x1p-52
	absolute = 8 * 0x1p-52 // of sine and cosine, whose arguments are reduced
)

// widened returns the interval around computed bounds.
func widened(low, high, by float64, nan bool) Interval {
	grow := func(v float64) float64 { return math.Abs(v)*by + math.SmallestNonzeroFloat64 }
	z := Interval{low, high, nan}
	if !math.IsInf(low, 0) {
		z.Low = low - grow(low)
	} else if low > 0 {
		z.Low = math.MaxFloat64
	}
	if !math.IsInf(high, 0) {
		z.High = high + grow(high)
	} else if high < 0 {
		z.High = -math.MaxFloat64
	}
	return z
}

// clipped returns the part of an interval between two numbers that the function never leaves.
func (x Interval) clipped(low, high float64) Interval {
	return Interval{min(max(x.Low, low), high), max(min(x.High, high), low), x.NaN}
}

// rising returns bounds of a function that never falls, of the argument between two numbers. Beyond them it is not
// defined.
func (x Interval) rising(f func(float64) float64, from, to float64) Interval {
	nan := x.NaN || x.Low < from || x.High > to
	y := x.clipped(from, to)
	return widened(f(y.Low), f(y.High), relative, nan)
}

// Sqrt returns the square root.
func (x Interval) Sqrt() Interval {
	y := x.clipped(0, math.Inf(1))
	exact := func(v float64) (r float64, is bool) {
		r = math.Sqrt(v)
		return r, v == 0 || math.IsInf(v, 1) || math.FMA(r, r, -v) == 0 && v > tiny
	}
	return Interval{max(0, down(exact(y.Low))), up(exact(y.High)), x.NaN || x.Low < 0}
}

// Exp returns the exponential function.
func (x Interval) Exp() Interval {
	y := x.rising(math.Exp, math.Inf(-1), math.Inf(1))
	y.Low = max(y.Low, 0)
	return y
}

// Log returns the natural logarithm.
func (x Interval) Log() Interval { return x.rising(math.Log, 0, math.Inf(1)) }

// Atan returns the arc tangent.
func (x Interval) Atan() Interval { return x.rising(math.Atan, math.Inf(-1), math.Inf(1)) }

// Tanh returns the hyperbolic tangent.
func (x Interval) Tanh() Interval {
	return x.rising(math.Tanh, math.Inf(-1), math.Inf(1)).clipped(-1, 1)
}

// Asin returns the arc sine.
func (x Interval) Asin() Interval { return x.rising(math.Asin, -1, 1) }

// Acos returns the arc cosine.
func (x Interval) Acos() Interval {
	nan := x.NaN || x.Low < -1 || x.High > 1
	y := x.clipped(-1, 1)
	return widened(math.Acos(y.High)-absolute, math.Acos(y.Low)+absolute, relative, nan)
}

// Cos returns the cosine.
func (x Interval) Cos() Interval { return x.wave(math.Cos, 0) }

// Sin returns the sine.
func (x Interval) Sin() Interval { return x.wave(math.Sin, 0.5) }

// faraway is the magnitude beyond which arguments of functions of angles are not followed.
const faraway = 1e6

// holds reports whether x contains a number (k + offset) pi for an integer k that leaves a remainder by a divisor, or
// is too near to one to exclude it.
func (x Interval) holds(offset float64, remainder, divisor int) bool {
	near := 1e-14 * (1 + x.Abs().High)
	for k := math.Ceil(x.Low/math.Pi - offset - near); k <= x.High/math.Pi-offset+near; k++ {
		if m := int(k) % divisor; (m+divisor)%divisor == remainder {
			return true
		}
	}
	return false
}

// wave returns bounds of a function with its maxima at (2k + peak) pi and its minima at (2k + 1 + peak) pi.
func (x Interval) wave(f func(float64) float64, peak float64) Interval {
	nan := x.NaN || !x.Bounded()
	if !(x.Width() < 2*math.Pi) || x.Abs().High > faraway {
		return Interval{-1, 1, nan}
	}
	a, b := f(x.Low), f(x.High)
	z := Interval{min(a, b) - absolute, max(a, b) + absolute, nan}
	if x.holds(peak, 0, 2) {
		z.High = 1
	}
	if x.holds(peak, 1, 2) {
		z.Low = -1
	}
	return z.clipped(-1, 1)
}

// Tan returns the tangent; through a pole, any number.
func (x Interval) Tan() Interval {
	nan := x.NaN || !x.Bounded()
	if !(x.Width() < math.Pi) || x.Abs().High > faraway || x.holds(0.5, 0, 1) {
		return Interval{math.Inf(-1), math.Inf(1), nan}
	}
	// Near a pole, the error of the reduced argument counts.
	return widened(math.Tan(x.Low)-absolute, math.Tan(x.High)+absolute, 1e-12, nan)
}

// Atan2 returns the angle of a vector from its coordinates y = x and abscissa.
func (x Interval) Atan2(abscissa Interval) Interval {
	nan := x.NaN || abscissa.NaN
	if x.cut(abscissa) {
		return widened(-math.Pi, math.Pi, relative, nan)
	}
	z := Interval{math.Inf(1), math.Inf(-1), nan}
	for _, a := range [2]float64{x.Low, x.High} {
		for _, b := range [2]float64{abscissa.Low, abscissa.High} {
			v := math.Atan2(a, b)
			z.Low, z.High = min(z.Low, v), max(z.High, v)
		}
	}
	return widened(z.Low, z.High, relative, nan)
}

// cut reports whether Atan2 may jump.
func (x Interval) cut(abscissa Interval) bool { return x.Contains(0) && abscissa.Low <= 0 }

// Power returns x ^ y.
func (x Interval) Power(y Interval) Interval {
	switch {
	case y.Point() && y.Low == 0:
		return Point(1)
	case y.Point() && y.Low == 1:
		return x
	case y.Point() && y.Low == 2:
		return x.Square()
	case y.Point() && y.Low == math.Trunc(y.Low) && math.Abs(y.Low) < 1<<53:
		return x.whole(y.Low)
	case x.High < 0, x.Low <= 0 && y.Low < 0:
		return undefined()
	}
	nan, low := x.NaN || y.NaN || x.Low < 0, x.Low
	infinite := math.IsInf(x.Low, -1) // its powers are 0 or infinite
	x = x.clipped(0, math.Inf(1))
	z := Interval{math.Inf(1), math.Inf(-1), nan} // y log x is extreme at the corners
	for _, a := range [2]float64{x.Low, x.High} {
		for _, b := range [2]float64{y.Low, y.High} {
			p := power(a, b)
			z.Low, z.High = min(z.Low, p.Low), max(z.High, p.High)
		}
	}
	if x.Contains(0) { // y log x is not continuous there: 0^0 is 1
		z.Low = 0
		if y.Contains(0) {
			z = z.Join(Point(1))
		}
	}
	if !x.Bounded() && y.Contains(0) || nan {
		z = z.Join(Point(1)) // also of NaN
	}
	if infinite {
		z = z.Join(Between(0, math.Inf(1)))
	}
	z.Low = max(z.Low, 0)
	if low < 0 && math.Floor(y.High) >= y.Low { // a whole power of a negative number
		negative := Between(0, -low).Power(y)
		z = z.Join(negative).Join(negative.Negative())
	}
	return z
}

// whole returns x to the power of an integer.
func (x Interval) whole(n float64) Interval {
	if n < 0 && x.Contains(0) {
		return Interval{math.Inf(-1), math.Inf(1), x.NaN}
	}
	if math.Mod(n, 2) == 0 {
		x = x.Abs()
	}
	a, b := power(x.Low, n), power(x.High, n)
	z := a.Join(b)
	z.NaN = x.NaN
	return z
}

// power returns the interval around the computed power of two numbers. The library multiplies repeatedly: its errors
// grow with the exponent.
func power(a, b float64) Interval {
	p := math.Pow(a, b)
	if p != p {
		return undefined()
	}
	return widened(p, p, relative*(1+math.Min(math.Abs(b), 1e9)), false)
}

// bits returns the interval of an operation on the bits of two integers, which is within the next power of 2. It is
// undefined of fractions.
func (x Interval) bits(operation string, y Interval) Interval {
	if x.Point() && y.Point() {
		return Point(expr.Bits(operation, x.Low, y.Low))
	}
	most, power := max(x.Abs().High, y.Abs().High), 1.0
	if !(most <= expr.MaxInteger) || x.NaN || y.NaN {
		return undefined()
	}
	for power <= most {
		power *= 2
	}
	z := Interval{-power, power - 1, true}
	if x.Low >= 0 && y.Low >= 0 || operation == "bitand" && (x.Low >= 0 || y.Low >= 0) {
		z.Low = 0
	}
	return z
}
