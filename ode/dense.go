package ode

// Interpolate writes the values at t, a time within [From, T], to y: a continuous approximation of order 4, of
// order 7 by the pair of order 8, or of the order of the multistep method. It is exact at both ends.
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
	in.polynomial()
	theta := (t - in.from) / (in.t - in.from)
	for i := range y {
		y[i] = in.inside(i, theta)
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
		in.polynomial()
		theta := (t - in.from) / (in.t - in.from)
		for _, i := range which {
			y[i] = in.inside(i, theta)
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
	in.polynomial()
	low, high = in.y0[i], in.y0[i]
	for k := range in.stepped.degree() {
		widen(in.poly[k*in.n+i])
	}
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
	in.polynomial()
	h := in.t - in.from
	theta := (t - in.from) / h
	for i := range dydt {
		sum := 0.0
		for k := in.stepped.degree(); k > 0; k-- {
			sum = sum*theta + float64(k)*in.poly[(k-1)*in.n+i]
		}
		dydt[i] = sum / h
	}
}

// inside returns the polynomial's value of component i after the share theta of the last step.
func (in *Integrator) inside(i int, theta float64) float64 {
	sum := 0.0
	for at := (in.stepped.degree()-1)*in.n + i; at >= 0; at -= in.n {
		sum = theta * (in.poly[at] + sum)
	}
	return in.y0[i] + sum
}

// polynomial computes the coefficients of theta, theta^2 ... of the last step's dense output on first use.
func (in *Integrator) polynomial() {
	if in.dense {
		return
	}
	in.dense = true
	n, m, h := in.n, in.stepped, in.t-in.from
	for s := m.stages(); s < len(m.c); s++ {
		k := in.k[s*n : (s+1)*n]
		copy(in.stage, in.y0)
		m.advance(s, in.stage, h, in.k)
		if in.eval(in.from+m.c[s]*h, in.stage, k); notFinite(k) >= 0 { // outside the function's domain
			for i, end := range in.k[(m.stages()-1)*n : m.stages()*n] {
				k[i] = in.k[i] + m.c[s]*(end-in.k[i])
			}
		}
	}
	clear(in.poly)
	for s, row := range m.dense {
		for j, w := range row {
			p, w := in.poly[j*n:(j+1)*n], h*w
			for i, k := range in.k[s*n : (s+1)*n] {
				p[i] += w * k
			}
		}
	}
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
