package ode

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/snapshot"
)

// Integrator is a running integration of y' = f(t, y). It owns all its memory, so that a step allocates nothing, and
// its state can be copied. It is not safe for concurrent use.
type Integrator struct {
	f       Func
	n       int
	options Options
	atol    []float64
	floats  *floating // nil if no absolute tolerance follows the values
	halved  int       // how many times the tolerances were halved, see Sharpen
	stats   Stats

	t, from float64   // the end and the start of the last accepted step
	y, y0   []float64 // the values there
	k       []float64 // the last step's stages, one after the other
	stepped *tableau  // its method
	poly    []float64 // the dense output as a polynomial: the coefficients of each power; valid if dense
	dense   bool

	first   *tableau // the explicit pair in use, or the only one
	method  *tableau // of the next step
	began   bool     // the first stage of the next step is known
	next    float64  // proposed size of the next step; 0 as long as there is no guess
	last    float64  // error of the last accepted step, for the PI control
	smooth  bool     // y is not known to have changed since the last restart; before is its derivative until then
	before  []float64
	limited bool // stability limits the explicit method, or a component that follows
	reduced bool // stiff components, for which the stages have a low order, dominate the error of the implicit method
	rings   bool // a fast, hardly damped oscillation does
	ringing int  // implicit steps of one size with such an error
	signs   int  // successive steps in favour of the other method
	against int  // successive steps in favour of this method
	newton  *newton
	multi   multistep
	w, per  []float64 // tolerance of each component at y, and its reciprocal
	moving  float64   // number of components over which norms are means

	copied []byte // scratch: the state of another one

	// Of the step under trial.
	ynew, knew, stage []float64
	fast              bool // fast components dominate the error of an explicit one
	culprit           NotFiniteError
}

// outcome is the result of trying a step.
type outcome uint8

const (
	stepped  outcome = iota // there is an error estimate
	unusable                // a derivative is not finite
	diverged                // the Newton iteration does not converge
)

// New returns an integrator of n components. It must be started with Restart. It panics if the options are invalid.
func New(f Func, n int, o Options) *Integrator {
	if f == nil || n < 1 {
		panic("ode: no function or no component")
	}
	if o.RelTol == 0 {
		o.RelTol = 1e-6
	}
	if o.MaxStep == 0 {
		o.MaxStep = math.Inf(1)
	}
	if !(o.RelTol > 0) || !(o.InitialStep >= 0) || !(o.MaxStep > 0) || int(o.Method) >= len(methods) {
		panic("ode: bad options")
	}
	if k := len(o.AbsTol); k > 1 && k != n {
		panic("ode: AbsTol has neither one value nor one per component")
	}
	atol := make([]float64, n)
	for i := range atol {
		switch len(o.AbsTol) {
		case 0:
			atol[i] = o.RelTol
		case 1:
			atol[i] = o.AbsTol[0]
		default:
			atol[i] = o.AbsTol[i]
		}
		if !(atol[i] >= 0) {
			panic("ode: negative tolerance")
		}
	}
	if o.Floating != nil && len(o.Floating) != n || o.Constant != nil && len(o.Constant) != n {
		panic("ode: Floating or Constant does not have one value per component")
	}
	in := &Integrator{f: f, n: n, options: o, atol: atol, floats: newFloating(o, atol), newton: newNewton(n),
		multi: newMultistep(n, methods[o.Method].switches)}
	in.first = methods[o.Method].first
	if in.first == tsitouras && o.RelTol <= tight {
		in.first = dormandPrince
	}
	in.method = in.first
	most := max(len(in.first.c), len(kennedyCarpenter.c))
	in.y, in.y0 = make([]float64, n), make([]float64, n)
	in.w, in.per = make([]float64, n), make([]float64, n)
	in.ynew, in.stage = make([]float64, n), make([]float64, n)
	in.k, in.knew = make([]float64, most*n), make([]float64, most*n)
	in.poly, in.before = make([]float64, in.first.degree()*n), make([]float64, n)
	in.moving = 1
	return in
}

// Restart restarts at (t, y), as at the start or after a discontinuity of y or of f. The method in use, the Jacobian,
// its factorisation and the step size remain as a first guess; Multistep also keeps its history, if y does not jump and
// f by so little that it hardly matters. If the derivative there is not finite, the next Step
// reports it.
func (in *Integrator) Restart(t float64, y []float64) {
	if len(y) != in.n {
		panic("ode: wrong number of components")
	}
	in.remember(t, y)
	m := &in.multi
	if m.held = in.options.Method == Multistep && in.smooth && (m.on || m.held); m.held {
		m.order = m.next
		m.move(t-in.t, m.h)
	}
	in.t, in.from = t, t
	copy(in.y, y)
	copy(in.y0, y)
	if in.floats != nil {
		in.floats.restart(y, in.atol)
	}
	in.began, in.dense, in.newton.history, in.newton.current = false, false, false, false
	if m.on {
		in.next = handover * m.wanted
	}
	m.on, m.wait, m.stuck, in.ringing = false, m.waits, 0, 0
}

// T returns the time reached.
func (in *Integrator) T() float64 { return in.t }

// From returns where the last step began: the dense output covers [From, T].
func (in *Integrator) From() float64 { return in.from }

// Y returns the values at T. The slice belongs to the integrator: it must not be changed and is valid until the next
// step.
func (in *Integrator) Y() []float64 { return in.y }

// Sharpen halves all tolerances of the options a number of times. The next step meets them.
func (in *Integrator) Sharpen(times int) {
	by := math.Ldexp(1, in.halved-times)
	in.halved = times
	in.options.RelTol *= by
	scale(in.atol, by)
	if f := in.floats; f != nil {
		f.relative *= by
		scale(f.given, by)
	}
}

// given returns the relative tolerance of the options.
func (in *Integrator) given() float64 { return math.Ldexp(in.options.RelTol, in.halved) }

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}

// AbsTol returns the absolute tolerance of component i, which may follow the values (Options.Floating).
func (in *Integrator) AbsTol(i int) float64 { return in.atol[i] }

// Stats returns the work done since New.
func (in *Integrator) Stats() Stats { return in.stats }

// Step makes one step that passes its error test, not past limit, and lands exactly on limit if it reaches it. After an
// error the integrator is still at its previous time. The error is a *NotFiniteError or ErrStepTooSmall.
func (in *Integrator) Step(limit float64) error {
	if !(limit > in.t) {
		panic("ode: limit is not after T")
	}
	in.weigh()
	if m := &in.multi; m.automatic() && !m.on && in.newton.history && m.wait <= 0 {
		in.takeOver()
	}
	for in.multi.on || !in.began {
		if in.multi.on {
			if in.stepMultistep(limit) {
				return nil
			}
		} else if err := in.begin(limit); err != nil {
			return err
		}
	}
	planned, failed, far := in.next, false, 1.0
	if in.multi.automatic() && in.ringing > patience { // over the oscillation, to where the method damps it
		far, in.ringing = leap, -patience
	}
	for {
		h, end := in.fit(far*in.next, limit)
		err, o := in.try(h)
		if o == stepped && err <= 1 {
			in.accept(end)
			in.propose(h, err, planned, failed)
			return nil
		}
		in.stats.Rejected++
		if far > 1 {
			far = 1
			continue
		}
		nw := in.newton
		switch q := 1 / float64(in.method.embedded+1); o {
		case stepped:
			in.next = h * max(0.1, 0.9*math.Pow(err, -q))
		case unusable:
			in.next = h / 4
		case diverged:
			nw.suspect = nw.current
			if nw.due = !nw.current; nw.due {
				continue // perhaps only the Jacobian is outdated
			}
			in.next = h / 4
		}
		failed = true
		if in.next < 4*ulp(in.t) {
			in.began, in.next = false, 0 // no guess for the next attempt
			if o == unusable {
				e := in.culprit
				return &e
			}
			return ErrStepTooSmall
		}
	}
}

// weigh computes the tolerances at y, and how many components move: one whose last step was as long as its tolerance or
// longer counts as one, a shorter step as its share. Components at rest do not dilute the errors of the others, nor do
// more than crowd components.
func (in *Integrator) weigh() {
	const crowd = 100
	if in.floats != nil {
		in.floats.follow(in.y, in.atol)
	}
	moving := kernel.weigh(in.y, in.y0, in.atol, in.w, in.per, in.options.RelTol)
	if in.t > in.from {
		in.moving = min(max(moving, 1), crowd)
	}
}

// try tries a step of size h from (t, y) and returns the norm of its error.
func (in *Integrator) try(h float64) (float64, outcome) {
	if in.method.gamma != 0 {
		return in.tryImplicit(h)
	}
	return in.tryExplicit(h)
}

// fit returns the step to try, of size h if possible, and its end. The last two steps before limit have the same size.
func (in *Integrator) fit(h, limit float64) (size, end float64) {
	h = min(h, in.options.MaxStep)
	left := limit - in.t
	if h >= 0.999*left {
		return left, limit
	}
	if 2*h > left {
		h = left / 2
	}
	end = in.t + h
	return end - in.t, end // h rounded to the resolution of t: time does not drift
}

// accept accepts the step under trial.
func (in *Integrator) accept(end float64) {
	in.from, in.t = in.t, end
	in.y0, in.y, in.ynew = in.y, in.ynew, in.y0
	in.k, in.knew = in.knew, in.k
	in.stepped, in.dense = in.method, false
	in.stats.Steps++
	nw := in.newton
	nw.history = in.method.gamma != 0
	if nw.history {
		nw.suspect = nw.rate > slow && nw.current
		nw.due = nw.rate > slow
	}
	nw.current = false
	n := in.n
	s := in.method.stages() - 1
	copy(in.knew[:n], in.k[s*n:(s+1)*n])
}

// propose chooses the size of the next step by PI control (Gustafsson, Control theoretic techniques for stepsize
// selection in explicit Runge-Kutta methods, ACM Transactions on Mathematical Software 17 (1991) 533-554) and, for
// automatic methods, its method. A step cut short by the limit does not shorten the next.
func (in *Integrator) propose(h, err, planned float64, failed bool) {
	q := 1 / float64(in.method.embedded+1)
	err = math.Max(err, 1e-8)
	fac := in.method.safety * math.Pow(err, -0.7*q) * math.Pow(in.last, 0.4*q)
	fac = min(max(fac, 0.2), 8)
	if failed {
		fac = min(fac, 1)
	}
	if in.method.gamma != 0 && fac > 0.95 && fac < 1.2 {
		fac = 1 // the factorisation is reused
	}
	if in.method.gamma == 0 || fac != 1 {
		in.ringing = 0
	} else if in.rings {
		in.ringing++
	}
	in.last = math.Max(err, 1e-4)
	in.next = h * fac
	if h < planned && !failed {
		in.next = max(in.next, planned)
	}
	if in.multi.automatic() {
		in.chooseMethod(h, fac < 2)
	}
}

// chooseMethod counts the steps for and against the method in use. The explicit one is replaced at its limit of
// stability, the implicit one where the explicit one could have made its steps as well. The multistep formulas follow
// the implicit method after steps that hardly grow, since theirs cost a sixth; with Auto, whose errors are smaller,
// only after steps whose order is reduced. Auto leaves the pair of order 8 for that of order 5, for good: at the limit
// of stability, that costs no more, and its errors are smaller.
func (in *Integrator) chooseMethod(h float64, smooth bool) {
	const relief, relieved = 6, 1.6 // steps; h times the spectral radius, half of what the explicit method bears
	m, implicit, against := &in.multi, in.method.gamma != 0, in.limited
	enough := m.explicit
	if implicit {
		enough, against = m.implicit, h*in.newton.rho < relieved
	}
	switch {
	case in.options.Method == Auto && !(implicit && in.reduced):
		m.wait = max(m.wait, m.waits)
	case smooth:
		m.wait--
	}
	if h > escaped*m.stuck {
		m.wait = min(m.wait, m.waits)
	}
	if !against {
		if in.against++; in.against == relief {
			in.signs = 0
		}
		return
	}
	in.against = 0
	if in.signs++; in.signs < enough {
		return
	}
	in.signs = 0
	switch {
	case in.options.Method == Auto && in.method == dormandPrince:
		in.first = tsitouras
		fallthrough
	case implicit:
		in.method = in.first
	default:
		in.method = kennedyCarpenter
	}
	in.newton.due = true
}

// eval evaluates the right-hand side.
func (in *Integrator) eval(t float64, y, dydt []float64) {
	in.stats.Evaluations++
	in.f(t, y, dydt)
}

// errorNorm returns the norm of the estimated error of the step under trial.
//
// The estimate of the implicit method is multiplied by the inverse of I - gamma h J, which keeps stiff components from
// dominating it with errors that the method damps anyway (Hairer & Wanner II, section IV.8). That alone would leave the
// dense output inside the step without control, so the plain estimate contributes too: with the weight below, errors
// inside the step are about those at the ends for HIRES, Robertson's problem and that of Prothero & Robinson.
//
// An estimate e of low order with a coarser one, c, is reduced to e^2 / sqrt(e^2 + 0.01 c^2), which is of the order of
// the pair where steps are small (Hairer, Norsett & Wanner I, section II.10).
func (in *Integrator) errorNorm(h float64) float64 {
	const inside, noise = 0.05, 0.001
	in.fast = false
	in.sum(in.stage, h, in.method.e)
	plain := in.normAcross(in.stage)
	if coarse := in.newton.fz; in.method.coarse != nil && plain > 0 {
		in.sum(coarse, h, in.method.coarse)
		plain /= math.Hypot(1, 0.1*in.normAcross(coarse)/plain)
		inner := in.normAcross(in.insideError(h, coarse))
		in.fast = inner > max(plain, noise)
		plain = math.Hypot(plain, inner)
	}
	if in.method.gamma == 0 {
		return plain
	}
	undamped := in.newton.fz
	copy(undamped, in.stage)
	in.newton.lu.solve(in.stage)
	damped := in.normAcross(in.stage)
	in.observeDamped(undamped, plain/damped)
	return math.Max(damped, inside*plain)
}

// insideError returns an estimate of the error of the dense output of the pair of order 8 inside the step under trial.
// For fast components, that is up to fifty times the error at the end, and both estimates of the latter vanish at some
// rates. It is made of the changes u of the values and w of the derivatives between the last two stages, both at the
// end of the step, and of the coarse estimate c: u (w/c)^2 / 50, of order 9 where steps are small. Together with the
// estimate at the end, it is at least a ninth of the error at all rates up to 12/h.
func (in *Integrator) insideError(h float64, coarse []float64) []float64 {
	n, last, x := in.n, in.method.stages()-1, in.newton.psi
	for i, f := range in.knew[last*n : (last+1)*n] {
		u, w, c := in.ynew[i]-x[i], h*(f-in.knew[(last-1)*n+i]), coarse[i]
		q := w / (math.Abs(c) + 1e-3*math.Abs(w) + 1e-200)
		x[i] = 0.02 * q * q * u
	}
	return x
}

// sum sets x to h times the weighted sum of the derivatives of the step under trial.
func (in *Integrator) sum(x []float64, h float64, weights []float64) {
	clear(x)
	for j, w := range weights {
		kernel.axpy(x, h*w, in.knew[j*in.n:(j+1)*in.n])
	}
}

// normAcross is norm with the tolerances at the larger of the values at the two ends of the step under trial.
func (in *Integrator) normAcross(x []float64) float64 {
	sum := 0.0
	for i, v := range x {
		v /= math.Max(in.w[i], in.options.RelTol*math.Abs(in.ynew[i])+in.atol[i])
		sum += v * v
	}
	return math.Sqrt(sum / in.moving)
}

// norm returns the root mean square of x in units of the tolerances at y, a mean over the components that move.
func (in *Integrator) norm(x []float64) float64 {
	return math.Sqrt(kernel.squares(x, in.per) / in.moving)
}

// CopyFrom copies the state of o, an integrator with the same number of components and the same options, so that both
// continue identically to the last bit. The integrator keeps its own function.
func (in *Integrator) CopyFrom(o *Integrator) {
	a, b := in.options, o.options
	if in.n != o.n || a.Method != b.Method || in.given() != o.given() || a.MaxStep != b.MaxStep {
		panic("ode: copy of an integrator of another kind")
	}
	in.copied = snapshot.Save(in.copied[:0], o)
	if err := snapshot.Load(in.copied, in); err != nil {
		panic("ode: " + err.Error())
	}
}

// State passes all mutable state of the integrator to the codec: one created with the same function and options and
// then restored continues identically to the last bit.
func (in *Integrator) State(c *snapshot.Codec) {
	st, halved := &in.stats, in.halved
	if snapshot.Within(c, &halved, 0, 60); c.Loading() {
		in.Sharpen(halved)
	}
	snapshot.Vars(c, &st.Steps, &st.Rejected, &st.Evaluations, &st.Jacobians, &st.Factorisations, &in.signs, &in.against,
		&in.ringing, &in.t, &in.from, &in.next, &in.last, &in.moving, &in.dense, &in.began, &in.smooth, &in.limited)
	if in.floats != nil {
		snapshot.Floats(c, in.atol, in.floats.seen, in.floats.most)
	}
	snapshot.Floats(c, in.y, in.y0, in.k, in.knew, in.poly, in.before)
	tableauState(c, &in.stepped)
	tableauState(c, &in.method)
	tableauState(c, &in.first)
	if in.method == nil || in.first == nil || in.stepped == nil && in.dense {
		c.Fail(snapshot.ErrMismatch)
	}
	in.newton.state(c)
	in.multi.state(c)
	if m := &in.multi; m.on && (m.order < 1 || m.next < 1) {
		c.Fail(snapshot.ErrMismatch)
	}
}

// tableauState passes a pair as its number in the table, from 1; 0 is none.
func tableauState(c *snapshot.Codec, p **tableau) {
	i := slices.Index(tableaus, *p) + 1
	switch snapshot.Int(c, &i); {
	case i < 0 || i > len(tableaus):
		c.Fail(snapshot.ErrMismatch)
	case i == 0:
		*p = nil
	default:
		*p = tableaus[i-1]
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

// ulp returns the distance from |x| to the next larger number.
func ulp(x float64) float64 {
	x = max(math.Abs(x), 0x1p-200)
	return math.Nextafter(x, math.Inf(1)) - x
}
