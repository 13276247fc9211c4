package ode

import "math"

// tryExplicit tries a step of size h.
func (in *Integrator) tryExplicit(h float64) (float64, outcome) {
	n, m := in.n, in.method
	last := m.stages() - 1
	for s := 1; s <= last; s++ {
		dst := in.stage
		if s == last {
			dst = in.ynew
		}
		copy(dst, in.y)
		for j, a := range m.a[s] {
			axpy(dst, h*a, in.knew[j*n:(j+1)*n])
		}
		in.eval(in.t+m.c[s]*h, dst, in.knew[s*n:(s+1)*n])
	}
	if in.automatic() {
		in.observe(h, in.knew[(last-1)*n:last*n], in.knew[last*n:])
	}
	err := in.errorNorm(h)
	if err-err == 0 {
		return err, stepped
	}
	for s, c := range m.c {
		if i := notFinite(in.knew[s*n : (s+1)*n]); i >= 0 {
			in.culprit = NotFiniteError{T: in.t + c*h, Index: i}
			return 0, unusable
		}
	}
	in.culprit = NotFiniteError{T: in.t + h, Index: max(notFinite(in.ynew), 0)}
	return 0, unusable
}

// observe estimates h times the dominant eigenvalue from the last two stages, which are at the same time, and counts
// the steps in which it is at the limit of stability: Shampine, Stiffness and nonstiff differential equation solvers
// II, ACM Transactions on Mathematical Software 3 (1977) 44-53, as in Hairer & Wanner II, section IV.2.
func (in *Integrator) observe(h float64, k, kend []float64) {
	num, den := 0.0, 0.0
	for i, w := range in.w {
		a, b := (kend[i]-k[i])/w, (in.ynew[i]-in.stage[i])/w
		num += a * a
		den += b * b
	}
	in.limited = den > 0 && h*math.Sqrt(num/den) > in.method.stiff
}
