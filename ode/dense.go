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
		in.multi.combine(y, in.y, in.multi.values(t-in.t))
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
		m := &in.multi
		w := m.values(t - in.t)
		for _, i := range which {
			sum := 0.0
			for k, at := 0, i; k < m.order; k, at = k+1, at+in.n {
				sum += w[k] * m.d[at]
			}
			y[i] = sum + in.y[i]
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
		for k := range in.multi.order {
			widen(-in.multi.d[k*in.n+i] * farthest[k])
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
var farthest = weights{1, 0.125, 0.06416, 0.04167, 0.03027}

// slope writes the derivative of the dense output at t to dydt.
func (in *Integrator) slope(t float64, dydt []float64) {
	if in.multi.on {
		in.multi.combine(dydt, nil, in.multi.slopes(t-in.t))
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
func (m *multistep) values(after float64) (value weights) {
	x := after / m.h
	v := 1.0
	for k := range m.order {
		v *= (x + float64(k)) * inverse[k]
		value[k] = v
	}
	return value
}

// slopes returns the weights of the differences in the derivatives at a time after T.
func (m *multistep) slopes(after float64) (slope weights) {
	x := after / m.h
	v, s := 1.0, 0.0
	for k := range m.order {
		s = (s*(x+float64(k)) + v) * inverse[k]
		v *= (x + float64(k)) * inverse[k]
		slope[k] = s / m.h
	}
	return slope
}

// inverse is 1/k, from 1.
var inverse = weights{1, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5}
