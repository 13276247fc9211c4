package ode

import "math"

// Root locates a change of side of g (its side is whether g >= 0) within the bracket [a, b], at whose ends g must be on
// different sides. It returns neighbouring times left < right, at most four units in the last place of the larger of
// |a| and |b| apart, with g on a's side at left and on b's side at right: at right the change has happened.
//
// The method is ITP (Oliveira & Takahashi, An enhancement of the bisection method average performance preserving minmax
// optimality, ACM Transactions on Mathematical Software 47 (2020) 5): superlinear where g is smooth, and at most four
// evaluations more than bisection for any g: flat, steep, kinked, discontinuous, or NaN, which counts as below. It
// panics if both ends are on the same side.
func Root(g func(t float64) float64, a, b float64) (left, right float64) {
	ga, gb := g(a), g(b)
	above := gb >= 0
	if !(a < b) || (ga >= 0) == above {
		panic("ode: no change of side in the bracket")
	}
	const slack = 2 // extra evaluations compared with bisection that are allowed on the way
	unit := max(ulp(a), ulp(b))
	tol := 4 * unit
	truncation := 0.2 / (b - a)
	bound := tol / 2 * math.Exp2(math.Ceil(math.Log2((b-a)/tol))+slack) // on half the bracket, halved with each round
	for ; b-a > tol; bound /= 2 {
		middle := a + (b-a)/2
		x := middle
		if f := a + (b-a)*(ga/(ga-gb)); f >= a && f <= b {
			// Regula falsi, moved towards the middle so that the far end moves next: by little while that converges,
			// but by enough at the resolution of time to pass the root.
			toward := math.Copysign(1, middle-f)
			x = f + toward*min(max(truncation*(b-a)*(b-a), unit), math.Abs(middle-f))
		}
		// Never at the ends, nor so far from the middle that bisection from here would exceed its bound.
		radius := max(bound-(b-a)/2, 0)
		x = min(max(x, middle-radius), middle+radius)
		x = min(max(x, a+unit), b-unit)
		if gx := g(x); (gx >= 0) == above {
			b, gb = x, gx
		} else {
			a, ga = x, gx
		}
	}
	return a, b
}
