package ode

import (
	"math"

	"github.com/canopy-uav/canopy/snapshot"
)

// newton is the state of the implicit method between steps: the Jacobian, the factorised matrix of the simplified
// Newton iteration, and data on its convergence.
type newton struct {
	jac     *jacobian
	lu      lu
	scaled  float64 // gamma h of the factorised matrix
	size    float64 // step for which the Jacobian was evaluated
	current bool    // the Jacobian was evaluated at the start of the step
	due     bool    // the Jacobian is outdated
	suspect bool    // convergence is poor even with a new Jacobian: its pattern may have grown
	wait    int     // refreshes left before the pattern is probed again
	pause   int     // refreshes to wait after a probe without result
	eta     float64 // theta / (1 - theta) of the last stage, theta the rate of convergence
	rate    float64 // largest theta of the step
	history bool    // the last accepted step was implicit too: its stages predict the first of the next
	rho     float64 // spectral radius of the Jacobian, estimated for Auto
	psi     []float64
	z       []float64
	fz      []float64
	nodes   [4]float64
}

const (
	newtonLimit = 8    // iterations per stage
	newtonError = 0.03 // of an iteration, in units of the tolerance
	slow        = 0.2  // rate of convergence above which a new Jacobian pays off
	outgrown    = 1000 // growth of the step after which a Jacobian is outdated: it may be that of a faster motion
	firstPause  = 8    // refreshes between two probes without result, doubled each time
)

func newNewton(n int) *newton {
	return &newton{
		jac: newJacobian(n), eta: 1, pause: firstPause,
		psi: make([]float64, n), z: make([]float64, n), fz: make([]float64, n),
	}
}

// prepare prepares the matrix I - g J for a step of size h, with a new Jacobian if the old one is outdated. A matrix
// for a g within the given relative difference is reused.
func (in *Integrator) prepare(g, h, part float64) bool {
	nw := in.newton
	if nw.jac.pattern == nil || nw.suspect && nw.wait <= 0 {
		grown := nw.jac.probe(in, in.t, in.y, in.w, h)
		nw.pause *= 2
		if grown {
			nw.pause = firstPause
		}
		nw.wait = nw.pause
		nw.lu.plan = nil
		in.jacobianDone(h)
	} else if nw.due || h > outgrown*nw.size {
		nw.jac.refresh(in, in.t, in.y, in.w, h)
		nw.wait--
		in.jacobianDone(h)
	}
	if nw.lu.ready && math.Abs(g-nw.scaled) <= part*g {
		return true
	}
	nw.scaled = g
	in.stats.Factorisations++
	if nw.lu.plan != nil && nw.lu.factorise(nw.jac.val, g) {
		return true
	}
	p := plan(&nw.jac.pattern.sparsity, nw.jac.val, g, in.w)
	if p == nil {
		nw.lu.plan, nw.lu.ready = nil, false
		return false
	}
	nw.lu.adopt(p)
	return nw.lu.factorise(nw.jac.val, g)
}

// jacobianDone records that the Jacobian is new, for a step of size h.
func (in *Integrator) jacobianDone(h float64) {
	nw := in.newton
	nw.size = h
	in.stats.Jacobians++
	nw.current, nw.due, nw.suspect, nw.lu.ready = true, false, false, false
	if in.multi.automatic() {
		nw.rho = nw.jac.radius(in.w)
	}
}

// tryImplicit tries a step of size h. Each stage solves
//
//	z = h gamma f(t + c_i h, psi + z),  psi = y + h sum_(j<i) a_ij k_j,  k_i = z / (h gamma)
//
// by simplified Newton iteration (Hairer & Wanner, Solving Ordinary Differential Equations II, section IV.8). The
// derivatives k_i come from z and not from f: for a stiff component f would amplify the iteration error.
func (in *Integrator) tryImplicit(h float64) (float64, outcome) {
	n, m, nw := in.n, in.method, in.newton
	g := m.gamma * h
	if !in.prepare(g, h, 0.01) { // steps to equidistant limits differ by rounding
		return 0, diverged
	}
	nw.rate = 0
	nw.eta = math.Pow(math.Max(nw.eta, 1e-15), 0.8)
	for s := 1; s < m.stages(); s++ {
		copy(nw.psi, in.y)
		for j, a := range m.a[s] {
			kernel.axpy(nw.psi, h*a, in.knew[j*n:(j+1)*n])
		}
		in.predict(s, h, g)
		if o := in.iterate(in.t+m.c[s]*h, g); o != stepped {
			return 0, o
		}
		k := in.knew[s*n : (s+1)*n]
		for i, z := range nw.z {
			k[i] = z / g
		}
	}
	for i, z := range nw.z {
		in.ynew[i] = nw.psi[i] + z
	}
	return in.errorNorm(h), stepped
}

// iterate solves for z from its prediction.
func (in *Integrator) iterate(t, g float64) outcome {
	nw := in.newton
	before := 0.0
	enough := max(newtonError, 0x1p-49/in.options.RelTol) // rounding error cannot be iterated away
	for round := range newtonLimit {
		for i, z := range nw.z {
			in.stage[i] = nw.psi[i] + z
		}
		in.eval(t, in.stage, nw.fz)
		if i := notFinite(nw.fz); i >= 0 {
			in.culprit = NotFiniteError{T: t, Index: i}
			return unusable
		}
		for i, z := range nw.z {
			nw.fz[i] = g*nw.fz[i] - z
		}
		nw.lu.solve(nw.fz)
		sum := 0.0
		for i, d := range nw.fz {
			nw.z[i] += d
			d *= in.per[i]
			sum += d * d
		}
		size := math.Sqrt(sum / in.moving)
		if round > 0 {
			theta := size / before
			nw.rate = max(nw.rate, theta)
			left := float64(newtonLimit - 1 - round)
			if !(theta < 0.95) || math.Pow(theta, left)*size > enough*(1-theta) {
				nw.eta = 1
				return diverged
			}
			nw.eta = theta / (1 - theta)
		}
		if nw.eta*size <= enough || size == 0 {
			return stepped
		}
		before = size
	}
	return diverged
}

// predict sets z to g times the derivative expected at stage s: the value at s of the polynomial through the
// derivatives of the method's predictor stages, of this step and, if it was implicit, of the last one.
func (in *Integrator) predict(s int, h, g float64) {
	n, m, nw := in.n, in.method, in.newton
	ratio := (in.t - in.from) / h
	from := m.predictors[s]
	own := from.own
	count := len(own)
	for i, j := range own {
		nw.nodes[i] = m.c[j]
	}
	if nw.history {
		for _, j := range from.before {
			nw.nodes[count] = (m.c[j] - 1) * ratio
			count++
		}
	}
	clear(nw.z)
	for i, node := range nw.nodes[:count] {
		w := g
		for j, other := range nw.nodes[:count] {
			if j != i {
				w *= (m.c[s] - other) / (node - other)
			}
		}
		if i < len(own) {
			kernel.axpy(nw.z, w, in.knew[own[i]*n:(own[i]+1)*n])
		} else {
			j := from.before[i-len(own)]
			kernel.axpy(nw.z, w, in.k[j*n:(j+1)*n])
		}
	}
}

func (nw *newton) state(c *snapshot.Codec) {
	nw.jac.state(c)
	nw.lu.state(c, len(nw.jac.delta), len(nw.jac.val))
	snapshot.Vars(c, &nw.scaled, &nw.size, &nw.eta, &nw.rate, &nw.rho, &nw.current, &nw.due, &nw.suspect, &nw.history,
		&nw.wait, &nw.pause)
}
