package ode

// Interpolate writes the values at t, a time within [From, T], to y: a continuous approximation of order 4, or of the
// order of the multistep method. At the ends it is exact.
func (in *Integrator) Interpolate(t float64, y []float64) {
	if len(y) != in.n {
		panic("ode: wrong number of components")
	}
	switch t {
	case in.t:
		copy(y, in.y)
		return
	case in.from:
		copy(y, in.y0)
		return
	}
	if in.multi.on {
		w, _ := in.multi.weights(t - in.t)
		for i := range y {
			y[i] = in.y[i] + in.multi.d[i].dot(&w)
		}
		return
	}
	n := in.n
	theta := (t - in.from) / (in.t - in.from)
	p0, p1, p2, p3 := in.polynomial()
	for i, v := range in.y0[:n] {
		y[i] = v + theta*(p0[i]+theta*(p1[i]+theta*(p2[i]+theta*p3[i])))
	}
}

// InterpolateOf is Interpolate for some of the components alone, the others of y stay as they are.
func (in *Integrator) InterpolateOf(which []int, t float64, y []float64) {
	switch {
	case t == in.t:
		for _, i := range which {
			y[i] = in.y[i]
		}
	case t == in.from:
		for _, i := range which {
			y[i] = in.y0[i]
		}
	case in.multi.on:
		w, _ := in.multi.weights(t - in.t)
		for _, i := range which {
			y[i] = in.y[i] + in.multi.d[i].dot(&w)
		}
	default:
		theta := (t - in.from) / (in.t - in.from)
		p0, p1, p2, p3 := in.polynomial()
		for _, i := range which {
			y[i] = in.y0[i] + theta*(p0[i]+theta*(p1[i]+theta*(p2[i]+theta*p3[i])))
		}
	}
}

// slope writes the derivative of the dense output at t to dydt.
func (in *Integrator) slope(t float64, dydt []float64) {
	if in.multi.on {
		_, w := in.multi.weights(t - in.t)
		for i := range dydt {
			dydt[i] = in.multi.d[i].dot(&w)
		}
		return
	}
	h := in.t - in.from
	theta := (t - in.from) / h
	p0, p1, p2, p3 := in.polynomial()
	for i := range dydt {
		dydt[i] = (p0[i] + theta*(2*p1[i]+theta*(3*p2[i]+theta*4*p3[i]))) / h
	}
}

// polynomial returns the coefficients of theta ... theta^4 of the last step's dense output, which it computes at the
// first demand.
func (in *Integrator) polynomial() (p0, p1, p2, p3 []float64) {
	n := in.n
	p := in.poly
	p0, p1, p2, p3 = p[:n], p[n:2*n], p[2*n:3*n], p[3*n:4*n]
	if in.dense {
		return
	}
	in.dense = true
	clear(p)
	h := in.t - in.from
	for s, w := range in.stepped.dense {
		a, b, c, d := h*w[0], h*w[1], h*w[2], h*w[3]
		for i, k := range in.k[s*n : (s+1)*n] {
			p0[i] += a * k
			p1[i] += b * k
			p2[i] += c * k
			p3[i] += d * k
		}
	}
	return
}

// weights returns the weights of the differences in the values at a time after T, and in their derivatives.
func (m *multistep) weights(after float64) (value, slope differences) {
	x := after / m.h
	v, s := 1.0, 0.0
	for k := 1; k <= m.order; k++ {
		s = (s*(x+float64(k-1)) + v) / float64(k)
		v *= (x + float64(k-1)) / float64(k)
		value[k], slope[k] = v, s/m.h
	}
	return value, slope
}

// dot returns the sum of the differences with weights.
func (d *differences) dot(w *differences) float64 {
	return d[1]*w[1] + d[2]*w[2] + d[3]*w[3] + d[4]*w[4] + d[5]*w[5]
}
