package ode

import "math"

// Root locates a change of side of g, its side being g >= 0 or not, within the bracket [a, b] at whose ends g must lie
// on different sides. It returns neighbouring times left < right, a few units in the last place apart, with g on a's side
// at left and on b's side at right: at right the change has really happened.
//
// The method is ITP (Oliveira & Takahashi, An enhancement of the bisection method average performance preserving minmax
// optimality, ACM Transactions on Mathematical Software 47 (2020) 5): superlinear on smooth functions, never more than two
// evaluations beyond bisection, whatever g is: flat, steep, discontinuous or NaN (which counts as below).
// It panics if both ends lie on the same side.
func Root(g func(t float64) float64, a, b float64) (left, right float64) {
	ga, gb := g(a), g(b)
	above := gb >= 0
	if !(a < b) || (ga >= 0) == above {
		panic("ode: no change of side in the bracket")
	}
	const slack = 2 // evaluations spent beyond bisection at most
	tol := 2 * max(ulp(a), ulp(b))
	width := b - a
	k1 := 0.2 / width
	budget := math.Ceil(math.Log2(max(width/tol, 1))) + slack
	for j := 0.0; b-a > tol; j++ {
		middle := a + (b-a)/2
		// Regula falsi, truncated towards the middle, projected onto what keeps bisection's bound.
		x := middle
		if f := a + (b-a)*(ga/(ga-gb)); f > a && f < b {
			toward := math.Copysign(1, middle-f)
			delta := k1 * (b - a) * (b - a)
			if delta <= math.Abs(middle-f) {
				x = f + toward*delta
			}
			radius := tol/2*math.Exp2(budget-j) - (b-a)/2
			if math.Abs(x-middle) > radius {
				x = middle - toward*max(radius, 0)
			}
		}
		// At least half the tolerance from the ends, so that every evaluation narrows the bracket to its purpose.
		x = min(max(x, a+tol/2), b-tol/2)
		gx := g(x)
		if (gx >= 0) == above {
			b, gb = x, gx
		} else {
			a, ga = x, gx
		}
	}
	return a, b
}
