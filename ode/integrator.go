package ode

import "math"

// Integrator is one integration of y' = f(t, y) under way. It owns all it needs, so that a step allocates nothing, and
// its state can be copied. It serves one goroutine.
type Integrator struct {
	f       Func
	n       int
	options Options
	atol    []float64
	method  *tableau // in use now
	stats   Stats

	t, from float64   // the end and the start of the last accepted step
	y, y0   []float64 // the values there
	k       []float64 // the last step's stages, one after the other
	next    float64   // step proposed for the next one; 0 before the first
	last    float64   // error of the last accepted step, for the PI control
	began   bool      // the first stage of the next step is known
	poly    []float64 // the dense output as a polynomial in theta; valid if dense
	dense   bool

	// Scratch of the step under trial.
	ynew, knew, stage []float64
}

// New makes an integrator of n components. It must be started with Restart. It panics if the options make no sense.
func New(f Func, n int, o Options) *Integrator {
	if f == nil || n < 1 {
		panic("ode: no function or no component")
	}
	if o.RelTol == 0 {
		o.RelTol = 1e-6
	}
	in := &Integrator{f: f, n: n, atol: make([]float64, n), method: tsitouras}
	switch {
	case len(o.AbsTol) == n:
		copy(in.atol, o.AbsTol)
	case len(o.AbsTol) <= 1:
		a := o.RelTol
		if len(o.AbsTol) == 1 {
			a = o.AbsTol[0]
		}
		for i := range in.atol {
			in.atol[i] = a
		}
	default:
		panic("ode: AbsTol has neither one value nor one per component")
	}
	for _, a := range in.atol {
		if !(a >= 0) {
			panic("ode: negative tolerance")
		}
	}
	if !(o.RelTol > 0) || !(o.InitialStep >= 0) || !(o.MaxStep >= 0) || o.Method > Implicit {
		panic("ode: bad options")
	}
	if o.MaxStep == 0 {
		o.MaxStep = math.Inf(1)
	}
	in.options = o
	s := in.method.stages()
	in.y, in.y0, in.ynew, in.stage = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	in.k, in.knew = make([]float64, s*n), make([]float64, s*n)
	in.poly = make([]float64, len(in.method.dense[0])*n)
	return in
}

// Restart begins anew at (t, y), as after a discontinuity.
func (in *Integrator) Restart(t float64, y []float64) {
	if len(y) != in.n {
		panic("ode: wrong number of components")
	}
	in.t, in.from = t, t
	copy(in.y, y)
	copy(in.y0, y)
	in.began, in.dense = false, false
}

// T returns the time reached.
func (in *Integrator) T() float64 { return in.t }

// From returns where the last step began: the dense output covers [From, T].
func (in *Integrator) From() float64 { return in.from }

// Y returns the values at T. They are the integrator's own: not to be changed, valid until the next step.
func (in *Integrator) Y() []float64 { return in.y }

// Stats returns the work done since New.
func (in *Integrator) Stats() Stats { return in.stats }

// Step makes one step that passes its error test, not past limit, and lands exactly on limit if it reaches it.
func (in *Integrator) Step(limit float64) error {
	if !(limit > in.t) {
		panic("ode: no way to go: limit is not after T")
	}
	n, m := in.n, in.method
	if !in.began {
		in.eval(in.t, in.y, in.knew[:n])
		if i := notFinite(in.knew[:n]); i >= 0 {
			return &NotFiniteError{T: in.t, Index: i}
		}
		in.began = true
		in.last = 1e-4
		in.next = in.options.InitialStep
		if in.next == 0 {
			in.next = in.initialStep(limit)
		}
	} else {
		copy(in.knew[:n], in.k[(m.stages()-1)*n:])
	}
	failed := false
	for {
		h, end := in.fit(limit)
		if !(end > in.t) || h < 16*ulp(in.t) {
			return ErrStepTooSmall
		}
		err := in.tryExplicit(h)
		q := float64(m.embedded + 1)
		if err <= 1 {
			fac := 0.9 * math.Pow(math.Max(err, 1e-10), -0.7/q) * math.Pow(in.last, 0.4/q)
			top := 10.0
			if failed {
				top = 1
			}
			in.last = math.Max(err, 1e-4)
			in.next = math.Max(h*min(max(fac, 0.2), top), 0)
			in.accept(end)
			return nil
		}
		in.stats.Rejected++
		failed = true
		if math.IsNaN(err) || math.IsInf(err, 0) {
			if i, t := in.culprit(h); i >= 0 && h < 64*ulp(in.t) {
				in.began = false
				return &NotFiniteError{T: t, Index: i}
			}
			in.next = h / 4
			continue
		}
		in.next = h * max(0.1, 0.9*math.Pow(err, -1/q))
	}
}

func (in *Integrator) accept(end float64) {
	in.from, in.t = in.t, end
	in.y0, in.y, in.ynew = in.y, in.ynew, in.y0
	in.k, in.knew = in.knew, in.k
	in.dense = false
	in.stats.Steps++
}

// fit returns the step to try and where it ends, so that the last two steps before limit are of a size.
func (in *Integrator) fit(limit float64) (h, end float64) {
	h = min(in.next, in.options.MaxStep)
	if left := limit - in.t; h >= left*0.999 {
		return left, limit
	} else if 2*h > left {
		h = left / 2
	}
	end = in.t + h
	return end - in.t, end // the step that the resolution of t allows: time does not drift
}

func (in *Integrator) tryExplicit(h float64) float64 {
	n, m := in.n, in.method
	for s := 1; s < m.stages(); s++ {
		dst := in.stage
		if s == m.stages()-1 {
			dst = in.ynew
		}
		copy(dst, in.y)
		for j, a := range m.a[s] {
			axpy(dst, h*a, in.knew[j*n:(j+1)*n])
		}
		in.eval(in.t+m.c[s]*h, dst, in.knew[s*n:(s+1)*n])
	}
	clear(in.stage)
	for j, e := range m.e {
		axpy(in.stage, h*e, in.knew[j*n:(j+1)*n])
	}
	return in.norm(in.stage, in.y, in.ynew)
}

func (in *Integrator) culprit(h float64) (index int, t float64) {
	n := in.n
	for s, c := range in.method.c {
		if i := notFinite(in.knew[s*n : (s+1)*n]); i >= 0 {
			return i, in.t + c*h
		}
	}
	return -1, in.t
}

func (in *Integrator) eval(t float64, y, dydt []float64) {
	in.stats.Evaluations++
	in.f(t, y, dydt)
}

// norm returns the root mean square of x, weighted with the tolerances at the larger of a and b.
func (in *Integrator) norm(x, a, b []float64) float64 {
	sum := 0.0
	for i, v := range x {
		w := in.options.RelTol*math.Max(math.Abs(a[i]), math.Abs(b[i])) + in.atol[i]
		v /= w
		sum += v * v
	}
	return math.Sqrt(sum / float64(in.n))
}

// initialStep is the choice of Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, section II.4.
func (in *Integrator) initialStep(limit float64) float64 {
	n := in.n
	k0, y1, k1 := in.knew[:n], in.ynew, in.knew[n:2*n]
	d0, d1 := in.norm(in.y, in.y, in.y), in.norm(k0, in.y, in.y)
	h0 := 1e-6
	if d0 >= 1e-5 && d1 >= 1e-5 {
		h0 = 0.01 * d0 / d1
	}
	h0 = min(h0, limit-in.t, in.options.MaxStep)
	copy(y1, in.y)
	axpy(y1, h0, k0)
	in.eval(in.t+h0, y1, k1)
	axpy(k1, -1, k0)
	d2 := in.norm(k1, in.y, in.y) / h0
	h1 := max(1e-6, h0*1e-3)
	if d := max(d1, d2); d > 1e-15 {
		h1 = math.Pow(0.01/d, 1/float64(in.method.order))
	}
	if !(h1 > 0) {
		return h0
	}
	return min(100*h0, h1)
}

// Interpolate writes the values at t, a time within [From, T], to y. At the ends they are exact.
func (in *Integrator) Interpolate(t float64, y []float64) {
	h := in.t - in.from
	switch t {
	case in.t:
		copy(y, in.y)
		return
	case in.from:
		copy(y, in.y0)
		return
	}
	n := in.n
	d := len(in.poly) / n
	if !in.dense {
		in.dense = true
		clear(in.poly)
		for s, w := range in.method.dense {
			for j, b := range w {
				if b != 0 {
					axpy(in.poly[j*n:(j+1)*n], b*h, in.k[s*n:(s+1)*n])
				}
			}
		}
	}
	theta := (t - in.from) / h
	copy(y, in.poly[(d-1)*n:])
	for j := d - 2; j >= 0; j-- {
		for i, v := range in.poly[j*n : (j+1)*n] {
			y[i] = y[i]*theta + v
		}
	}
	for i, v := range in.y0 {
		y[i] = y[i]*theta + v
	}
}

// CopyFrom takes over the whole state of o, an integrator of as many components with the same options, so that both go
// on alike. It does not take over o's function.
func (in *Integrator) CopyFrom(o *Integrator) {
	if in.n != o.n {
		panic("ode: wrong number of components")
	}
	f := in.f
	old := *in
	*in = *o
	in.f = f
	in.atol = append(old.atol[:0], o.atol...)
	in.y, in.y0 = append(old.y[:0], o.y...), append(old.y0[:0], o.y0...)
	in.k, in.poly = append(old.k[:0], o.k...), append(old.poly[:0], o.poly...)
	in.ynew, in.knew, in.stage = old.ynew, old.knew, old.stage
	copy(in.knew, o.knew)
}

// Clone returns an integrator in the same state, with the same function.
func (in *Integrator) Clone() *Integrator {
	c := New(in.f, in.n, in.options)
	c.CopyFrom(in)
	return c
}

func axpy(y []float64, a float64, x []float64) {
	for i, v := range x {
		y[i] += a * v
	}
}

// notFinite returns the index of the first component that is NaN or infinite, -1 if there is none.
func notFinite(x []float64) int {
	for i, v := range x {
		if v-v != 0 {
			return i
		}
	}
	return -1
}

func ulp(x float64) float64 {
	x = max(math.Abs(x), 0x1p-200)
	return math.Nextafter(x, math.Inf(1)) - x
}
