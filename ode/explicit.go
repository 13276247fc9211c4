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
		m.advance(s, dst, h, in.knew)
		in.eval(in.t+m.c[s]*h, dst, in.knew[s*n:(s+1)*n])
	}
	copy(in.newton.psi, in.stage) // for insideError
	err := in.errorNorm(h)
	if err-err == 0 {
		if in.multi.automatic() {
			in.observe(h, err)
		}
		return err, stepped
	}
	for s, c := range m.c[:m.stages()] {
		if i := notFinite(in.knew[s*n : (s+1)*n]); i >= 0 {
			in.culprit = NotFiniteError{T: in.t + c*h, Index: i}
			return 0, unusable
		}
	}
	in.culprit = NotFiniteError{T: in.t + h, Index: max(notFinite(in.ynew), 0)}
	return 0, unusable
}

// advance adds the change of an explicit step of size h up to its stage s to y, from the stages before.
func (m *tableau) advance(s int, y []float64, h float64, k []float64) {
	for j, a := range m.a[s] {
		if a != 0 {
			kernel.axpy(y, h*a, k[j*len(y):(j+1)*len(y)])
		}
	}
}
