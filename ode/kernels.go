package ode

import "math"

// kernels are the loops over all components. There are two versions of them: portable, and one that processes four
// components per instruction. Both do the same operations in the same order and give the same bits (TestKernelsAlike);
// conversions keep the compiler from fusing multiplications and additions.
type kernels struct {
	// combine sets dst to base plus the weighted sum of rows, each stride after the one before; base may be nil.
	combine func(dst, base, rows []float64, stride int, weights []float64)

	// weigh sets w to the tolerances of y and per to their reciprocals. It returns how many components moved from y0.
	weigh func(y, y0, atol, w, per []float64, relative float64) float64

	// residual sets f to c f - psi - delta and reports whether that is finite.
	residual func(f, psi, delta []float64, c float64) bool

	// update adds relax times step to delta and sets y to base plus delta. It returns the sum of squares of what it
	// added, in units of 1/per.
	update func(step, delta, base, y, per []float64, relax float64) float64

	// shift updates the differences of orders 1 to q+2, each stride after those before, by the next ones of order q+1.
	shift func(rows []float64, stride int, next []float64, q int)

	// squares returns the sum of squares of x in units of 1/per.
	squares func(x, per []float64) float64

	// moments returns the sums of squares of u and of u-g, and that of their products, in units of 1/per.
	moments func(u, g, per []float64) (square, image, mixed float64)

	// axpy adds a x to y.
	axpy func(y []float64, a float64, x []float64)

	// substitute solves for the unknowns w of a triangle.
	substitute func(t *triangle, w []float64)

	// within reports whether every number of x is between those of low and high in its place.
	within func(x, low, high []float64) bool
}

var portable = kernels{combine, weigh, residual, update, shift, squares, moments, axpy, substitute, within}

// Within reports whether every number of x is at least the one of low and at most the one of high in its place. One
// that is not a number is not. The three have the same length.
func Within(x, low, high []float64) bool { return kernel.within(x, low, high) }

// smallest is the smallest tolerance of a component.
const smallest = 0x1p-900

// partial is a sum: of every eighth term up to a multiple of eight terms, and of the terms that remain.
type partial [9]float64

// add adds term i of n.
func (s *partial) add(i, n int, x float64) {
	k := 8
	if i < n&^7 {
		k = i & 7
	}
	s[k] += x
}

func (s *partial) total() float64 {
	return (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))) + s[8]
}

func combine(dst, base, rows []float64, stride int, weights []float64) {
	for i := range dst {
		sum := 0.0
		for k, w := range weights {
			sum += float64(w * rows[k*stride+i])
		}
		if base != nil {
			sum += base[i]
		}
		dst[i] = sum
	}
}

func weigh(y, y0, atol, w, per []float64, relative float64) float64 {
	var moved partial
	for i, v := range y {
		w[i] = float64(relative*math.Abs(v)) + atol[i] + smallest
		per[i] = 1 / w[i]
		moved.add(i, len(y), min(math.Abs(v-y0[i])*per[i], 1))
	}
	return moved.total()
}

func residual(f, psi, delta []float64, c float64) bool {
	finite := true
	for i, v := range f {
		v = float64(c*v) - psi[i] - delta[i]
		f[i] = v
		finite = finite && v-v == 0
	}
	return finite
}

func update(step, delta, base, y, per []float64, relax float64) float64 {
	var sum partial
	for i, d := range step {
		d = float64(d * relax)
		delta[i] += d
		y[i] = base[i] + delta[i]
		d *= per[i]
		sum.add(i, len(step), float64(d*d))
	}
	return sum.total()
}

func shift(rows []float64, stride int, next []float64, q int) {
	for i, v := range next {
		at := q*stride + i
		rows[at+stride] = v - rows[at]
		rows[at] = v
		for range q {
			at -= stride
			v += rows[at]
			rows[at] = v
		}
	}
}

func squares(x, per []float64) float64 {
	var sum partial
	for i, v := range x {
		v *= per[i]
		sum.add(i, len(x), float64(v*v))
	}
	return sum.total()
}

func moments(u, g, per []float64) (square, image, mixed float64) {
	var s, m, x partial
	for i, v := range u {
		w := (v - g[i]) * per[i]
		v *= per[i]
		s.add(i, len(u), float64(v*v))
		m.add(i, len(u), float64(w*w))
		x.add(i, len(u), float64(v*w))
	}
	return s.total(), m.total(), x.total()
}

func axpy(y []float64, a float64, x []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float64(a * v)
	}
}

func substitute(t *triangle, w []float64) {
	val, col, inv := t.val, t.col[:len(t.val)], t.inv
	at := 0
	for i := range t.bundles {
		b := &t.bundles[i]
		switch end := at + int(b.rows*b.count); {
		case b.rows == abreast:
			var x [abreast]float64
			for k, r := range b.row {
				x[k] = w[r]
			}
			for ; at < end; at += abreast {
				for k := range x {
					x[k] -= float64(val[at+k] * w[col[at+k]])
				}
			}
			for k, r := range b.row {
				w[r] = x[k] * inv[k]
			}
		case b.count < long:
			x := w[b.row[0]]
			for ; at < end; at++ {
				x -= float64(val[at] * w[col[at]])
			}
			w[b.row[0]] = x * inv[0]
		default:
			var s [4]float64
			for ; at+4 <= end; at += 4 {
				for k := range s {
					s[k] += float64(val[at+k] * w[col[at+k]])
				}
			}
			for ; at < end; at++ {
				s[0] += float64(val[at] * w[col[at]])
			}
			w[b.row[0]] = (w[b.row[0]] - ((s[0] + s[1]) + (s[2] + s[3]))) * inv[0]
		}
		inv = inv[b.rows:]
	}
}

func within(x, low, high []float64) bool {
	for i, v := range x {
		if !(low[i] <= v && v <= high[i]) {
			return false
		}
	}
	return true
}
