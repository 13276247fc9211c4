package ode

import (
	"math"

	"github.com/canopy-uav/canopy/snapshot"
)

// multistep is the stiff method for long smooth stretches: numerical differentiation formulas of order 1 to 5 in
// backward differences, with a spacing that is constant over several steps and one stage per step (Shampine & Reichelt,
// The MATLAB ODE suite, SIAM Journal on Scientific Computing 18 (1997) 1-22). It starts from the dense output of a step
// of the one-step method, hence never at a low order. The one-step method takes over again where the history is
// useless: at a restart with a jump and after repeated failures. It never hands over to the explicit method, whose
// steps cost as much as several of its own.
//
// From order 3 on the formulas are not A-stable: a fast, weakly damped oscillation limits their steps even after it has
// decayed. Where observe finds that, the one-step method takes over as well, until its steps are far longer, where the
// formulas damp the oscillation, or for a number of steps that doubles each time.
type multistep struct {
	switches
	on    bool // this method made the last step
	held  bool // it made the last step before a restart: the differences may still serve
	order int
	h     float64   // the spacing
	d     []float64 // backward differences at T of orders 1 to highest+2, those of all components one after the other
	delta []float64 // correction of the predicted values in the step under trial
	moved []float64 // scratch: differences for another spacing
	w     weights   // scratch: of combine, so that nothing escapes to the heap

	wanted float64 // size of the next step
	next   int     // order of the next step
	age    int     // steps since size and order were chosen
	equal  int     // steps at the current spacing
	wait   int     // non-growing steps of the one-step method before this one takes over

	latest, seen observations // of the step under trial, and decaying sums over the steps
	unstable     int          // steps at the limit of stability, less those that are not
	patience     int          // unstable steps after which the one-step method takes over
	stuck        float64      // wanted when that happened; 0: it did not happen since the last restart or takeover
}

// weights are factors of the differences of order 1 and up.
type weights [highest]float64

const (
	highest  = 5   // order
	handover = 4   // order at the takeover from the dense output of the one-step method
	drift    = 0.1 // relative change of h up to which the factorised matrix is reused
)

// The formula of order k, with the differences d at the end of the step of size h, is
//
//	sum_(j=1..k) d_j/j - kappa gamma_k (y - predicted y) = h f,  gamma_k = sum_(j=1..k) 1/j,
//
// its error is the next difference times errorConstant.
var (
	kappa                       = [highest + 1]float64{0, -0.1850, -1.0 / 9, -0.0823, -0.0415, 0}
	harmonic, alpha, errorConst = func() (gamma, alpha, err [highest + 2]float64) {
		for k := 1; k <= highest; k++ {
			gamma[k] = gamma[k-1] + 1/float64(k)
			alpha[k] = (1 - kappa[k]) * gamma[k]
			err[k] = kappa[k]*gamma[k] + 1/float64(k+1)
		}
		return
	}()
)

func newMultistep(n int, s switches) multistep {
	return multistep{d: make([]float64, (highest+2)*n), delta: make([]float64, n), moved: make([]float64, highest*n),
		switches: s, wait: s.waits, patience: patience}
}

// differences returns those of order k at T.
func (m *multistep) differences(k int) []float64 {
	n := len(m.delta)
	return m.d[(k-1)*n : k*n]
}

// combine sets y to base plus the weighted sum of the differences up to the order; base may be nil.
func (m *multistep) combine(y, base []float64, w weights) {
	m.w = w
	kernel.combine(y, base, m.d, len(m.delta), m.w[:m.order])
}

func (m *multistep) state(c *snapshot.Codec) {
	for _, n := range []*int{&m.order, &m.next} {
		snapshot.Within(c, n, 0, highest)
	}
	snapshot.Vars(c, &m.on, &m.held, &m.age, &m.equal, &m.wait, &m.unstable, &m.patience, &m.h, &m.wanted, &m.stuck)
	snapshot.Floats(c, m.seen[:], m.d)
}

// takeOver starts the multistep method from the last step of the implicit method.
func (in *Integrator) takeOver() {
	m := &in.multi
	in.newton.history, in.method, in.signs = false, kennedyCarpenter, 0
	if in.t-in.from > escaped*m.stuck {
		m.patience = patience
	}
	m.stuck, m.unstable, m.seen = 0, 0, observations{}
	m.on, m.order, m.h = true, handover, (in.t-in.from)/handover
	m.wanted, m.next, m.age, m.equal = m.h, handover, 0, 0
	in.polynomial()
	clear(m.d)
	for i := range m.delta {
		var v [handover + 1]float64
		for k := 1; k < len(v); k++ { // backwards from T
			theta := 1 - float64(k)/handover
			v[k] = in.inside(i, theta)
		}
		v[0] = in.y[i]
		for k := 1; k < len(v); k++ {
			for j := range len(v) - k {
				v[j] -= v[j+1]
			}
			m.differences(k)[i] = v[0]
		}
	}
}

// resume continues with the differences after a restart at which the derivatives jumped to k, if that makes hardly any
// difference to a step, or to one of up to an eighth of its size.
//
// The history is changed to one with the new derivative: its first difference by u = (I - c J)^-1 h (k - old k), which
// is the jump for a slow component and what it adds to a step for a stiff one. The history is then wrong by the second
// derivative of a slow component, which contributes u - h (k - old k) to a step, and by u for a stiff one.
func (in *Integrator) resume(k []float64) bool {
	const bearable = 0.15
	m, nw := &in.multi, in.newton
	if !m.held {
		return false
	}
	m.held = false
	jump, u := nw.fz, in.stage
	for range 4 {
		for i, v := range k {
			jump[i] = m.h * (v - in.before[i])
		}
		if copy(u, jump); !in.prepare(m.h/alpha[m.next], m.h, drift) {
			return false
		}
		nw.lu.solve(u)
		for i, v := range jump {
			if d := v - u[i]; math.Abs(d) < math.Abs(u[i]) {
				jump[i] = d
			} else {
				jump[i] = u[i]
			}
		}
		effect := in.norm(jump)
		if effect > 64*bearable {
			return false
		}
		if effect <= bearable {
			kernel.axpy(m.differences(1), 1, u)
			m.on, m.age = true, 0
			return true
		}
		m.space(m.h / 2)
		m.wanted = m.h
	}
	return false
}

// giveWay hands over to the one-step method at T.
func (in *Integrator) giveWay() {
	m := &in.multi
	in.slope(in.t, in.before)
	m.on, m.wait = false, m.waits
	in.began, in.smooth, in.next, in.last = false, true, m.wanted, 1e-4
	in.from, in.dense = in.t, false
}

// stepMultistep makes one step of the multistep method, or reports that it hands over.
func (in *Integrator) stepMultistep(limit float64) bool {
	m, nw := &in.multi, in.newton
	if limit-in.t < m.wanted/8 {
		in.giveWay()
		return false
	}
	if m.unstable >= m.patience {
		in.giveWay()
		m.patience *= 2
		m.wait, m.stuck = m.patience/4, m.wanted
		in.next = leap * m.wanted
		return false
	}
	m.order = m.next
	for range 4 {
		h, end := in.fit(m.size(ulp(in.t)), limit)
		if h < 64*ulp(in.t) {
			break
		}
		if math.Abs(h-m.wanted) <= 1e-6*h {
			m.wanted = h
		}
		m.space(h)
		err, o := in.tryMultistep(end)
		if o == stepped && err <= 1 {
			in.acceptMultistep(end, err)
			return true
		}
		in.stats.Rejected++
		switch o {
		case stepped:
			m.wanted = h * max(0.2, m.factor(err, m.order))
		case unusable:
			m.wanted = h / 4
		case diverged:
			nw.suspect, nw.due = nw.current, !nw.current
			m.wanted = h / 2 // even if only the Jacobian is outdated: f is too far from linear for steps of this size
		}
		m.age = 0
	}
	in.giveWay()
	return false
}

// size returns the size of the next step: at most twice the current spacing, which keeps rounding errors in the
// differences small, and a multiple of the resolution u of time, so that equal steps stay equal.
func (m *multistep) size(u float64) float64 {
	h := min(m.wanted, 2*m.h)
	if h == m.h {
		return h
	}
	return math.Round(h/(8*u)) * (8 * u)
}

// factor returns the factor by which the step may grow for the estimated error of a formula.
func (m *multistep) factor(err float64, order int) float64 {
	return math.Pow(m.caution*max(err, 1e-10), -1/float64(order+1))
}

// space changes the spacing of the differences: those of the same polynomial at other points.
func (m *multistep) space(h float64) {
	if h != m.h {
		m.move(0, h)
	}
}

// move changes the time of the differences, by so much after T, and their spacing.
func (m *multistep) move(after, h float64) {
	shift, factor, q := after/m.h, h/m.h, m.order
	m.h, m.equal = h, 0
	// The transformation to another spacing, and that for an unchanged one, which is its own inverse.
	var r, u [highest + 1][highest + 1]float64
	var c [highest + 1]weights
	for j := range q + 1 {
		r[0][j], u[0][j] = 1, 1
	}
	for i := 1; i <= q; i++ {
		for j := range q + 1 {
			r[i][j] = r[i-1][j] * (float64(i-1) + shift - factor*float64(j)) / float64(i)
			u[i][j] = u[i-1][j] * (float64(i-1) - float64(j)) / float64(i)
		}
	}
	for i := 1; i <= q; i++ {
		for j := 1; j <= q; j++ {
			for k := range q + 1 {
				c[j][i-1] += r[i][k] * u[k][j]
			}
		}
	}
	n := len(m.delta)
	for j := 1; j <= q; j++ {
		m.combine(m.moved[(j-1)*n:j*n], nil, c[j])
	}
	copy(m.d, m.moved[:q*n])
}

// tryMultistep tries a step to end and returns the norm of its error. It solves
//
//	delta = c f(end, predicted + delta) - psi,  c = h/alpha,  psi = sum_k gamma_k/alpha d_k
//
// by simplified Newton iteration.
func (in *Integrator) tryMultistep(end float64) (float64, outcome) {
	m, nw, q := &in.multi, in.newton, in.multi.order
	c := m.h / alpha[q]
	if !in.prepare(c, m.h, drift) {
		return 0, diverged
	}
	var ahead, g weights
	for k := range q {
		ahead[k], g[k] = 1, harmonic[k+1]/alpha[q]
	}
	m.combine(nw.z, in.y, ahead)
	m.combine(nw.psi, nil, g)
	clear(m.delta)
	if o := in.correct(end, c); o != stepped {
		return 0, o
	}
	return errorConst[q] * in.norm(m.delta), stepped
}

// correct solves for delta, from zero, and leaves the values in ynew.
func (in *Integrator) correct(t, c float64) outcome {
	const rounds, enough = 4, 0.02
	m, nw := &in.multi, in.newton
	// The matrix may belong to another c: this factor corrects its inverse for stiff components.
	relax := 2 / (1 + c/nw.scaled)
	nw.eta = math.Pow(math.Max(nw.eta, 1e-15), 0.8)
	before, y := 0.0, nw.z
	for round := range rounds {
		in.eval(t, y, nw.fz)
		if !kernel.residual(nw.fz, nw.psi, m.delta, c) {
			in.culprit = NotFiniteError{T: t, Index: notFinite(nw.fz)}
			return unusable
		}
		if round == 0 {
			copy(in.stage, nw.fz)
		}
		nw.lu.solve(nw.fz)
		if round == 0 && m.order > stable {
			in.image(nw.fz, in.stage)
		}
		size := math.Sqrt(kernel.update(nw.fz, m.delta, nw.z, in.ynew, in.per, relax) / in.moving)
		if round > 0 {
			theta := size / before
			if !(theta < 0.9) {
				break
			}
			nw.eta = theta / (1 - theta)
		}
		if nw.eta*size <= max(enough, 0x1p-49/in.options.RelTol) || size == 0 {
			return stepped
		}
		before, y = size, in.ynew
	}
	nw.eta = 1
	return diverged
}

// acceptMultistep accepts the step under trial, and chooses the size and order of the next.
func (in *Integrator) acceptMultistep(end, err float64) {
	m, nw, q := &in.multi, in.newton, in.multi.order
	in.from, in.t = in.t, end
	in.y0, in.y, in.ynew = in.y, in.ynew, in.y0
	in.stats.Steps++
	nw.current = false
	kernel.shift(m.d, in.n, m.delta, q)
	m.age++
	m.equal++
	if q > stable {
		m.observe(err, in.norm(m.differences(q)))
	}
	if m.age <= q {
		return
	}
	m.age = 0
	best := m.factor(err, q)
	if m.equal > q {
		if q > 1 {
			if f := m.factor(errorConst[q-1]*in.norm(m.differences(q)), q-1); f > best {
				best, m.next = f, q-1
			}
		}
		if q < highest {
			if f := m.factor(errorConst[q+1]*in.norm(m.differences(q+2)), q+1); f > best {
				best, m.next = f, q+1
			}
		}
	}
	if best < 0.9 || best > 1.25 || m.next != q {
		m.wanted = m.h * min(best, 8)
	}
}
