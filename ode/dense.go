package ode

// Interpolate writes the values at t, a time within [From, T], to y: a continuous approximation of order 4, or of the
// order of the multistep method. It is exact at both ends.
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
		var w differences
		in.multi.values(t-in.t, &w)
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

// InterpolateOf is Interpolate for some of the components only; the others of y are unchanged.
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
		var w differences
		in.multi.values(t-in.t, &w)
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

// Bounds returns bounds of the dense output of component i over [From, T]: not the tightest, but cheap.
func (in *Integrator) Bounds(i int) (low, high float64) {
	widen := func(v float64) {
		if v < 0 {
			low += v
		} else {
			high += v
		}
	}
	if in.multi.on {
		low, high = in.y[i], in.y[i]
		d := &in.multi.d[i]
		for k := 1; k <= in.multi.order; k++ {
			widen(-d[k&7] * farthest[k])
		}
		return low, high
	}
	low, high = in.y0[i], in.y0[i]
	p0, p1, p2, p3 := in.polynomial()
	widen(p0[i])
	widen(p1[i])
	widen(p2[i])
	widen(p3[i])
	return low, high
}

// farthest holds lower bounds of the weights of the differences within the last step, where none is positive: of x
// (x+1) ... (x+k-1) / k! for x from -1 to 0.
var farthest = [highest + 1]float64{1: 1, 0.125, 0.06416, 0.04167, 0.03027}

// slope writes the derivative of the dense output at t to dydt.
func (in *Integrator) slope(t float64, dydt []float64) {
	if in.multi.on {
		var w differences
		in.multi.slopes(t-in.t, &w)
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

// polynomial returns the coefficients of theta ... theta^4 of the last step's dense output, computed on first use.
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

// values returns the weights of the differences in the values at a time after T.
func (m *multistep) values(after float64, value *differences) {
	x := after / m.h
	v := 1.0
	for k := 1; k <= m.order; k++ {
		v *= (x + float64(k-1)) * inverse[k]
		value[k] = v
	}
}

// slopes returns the weights of the differences in the derivatives at a time after T.
func (m *multistep) slopes(after float64, slope *differences) {
	x := after / m.h
	v, s := 1.0, 0.0
	for k := 1; k <= m.order; k++ {
		s = (s*(x+float64(k-1)) + v) * inverse[k]
		v *= (x + float64(k-1)) * inverse[k]
		slope[k] = s / m.h
	}
}

// inverse is 1/k by k.
var inverse = [highest + 1]float64{1: 1, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5}

// dot returns the weighted sum of the differences.
func (d *differences) dot(w *differences) float64 {
	return d[1]*w[1] + d[2]*w[2] + d[3]*w[3] + d[4]*w[4] + d[5]*w[5]
}
