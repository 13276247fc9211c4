package ode

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
			kernel.axpy(dst, h*a, in.knew[j*n:(j+1)*n])
		}
		in.eval(in.t+m.c[s]*h, dst, in.knew[s*n:(s+1)*n])
	}
	err := in.errorNorm(h)
	if err-err == 0 {
		if in.multi.automatic() {
			in.observe(h, err)
		}
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
