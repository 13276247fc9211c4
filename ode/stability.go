package ode

import (
	"math"
	"math/cmplx"
)

// observe finds out whether stability or a stiff component limits the explicit step of size h, whose estimated error is
// in stage and has the norm err.
//
// The error is h sum_i e_i k_i; where f is nearly linear with the Jacobian J, it is h J times the same sum of the
// stages' values. The quotient of both is therefore h times the eigenvalue of what dominates the error. Where that is a
// fast component of which only errors are left, step control keeps it near the border of stability; where it is the
// solution itself, h times its rate is small.
//
// At tight tolerances, steps are shorter than that, since the stages have a low order for a fast component that follows
// slow ones. A damped component with that eigenvalue that had the estimated error would then be far smaller than the
// change of the solution in the step, whereas a component that the solution consists of changes by its size.
//
// The dense output of the pair of order 8 also shows fast components (insideError).
func (in *Integrator) observe(h, err float64) {
	const margin, growing = 0.75, 1.001 // step control keeps some distance from the border
	const rounding = 0.01               // an error below is no limit, but perhaps that of rounding
	const damped, follows = 0.8, 0.001  // cosine of the eigenvalue's angle; share of the change
	n, m, values := in.n, in.method, in.newton.fz
	clear(values)
	for j := range m.e {
		weight := 0.0
		for s := j + 1; s < len(m.e); s++ {
			weight += m.e[s] * m.a[s][j]
		}
		kernel.axpy(values, h*weight, in.knew[j*n:(j+1)*n])
	}
	square, image, mixed, change := 0.0, 0.0, 0.0, 0.0
	for i, per := range in.per {
		u, w, d := values[i]*per, in.stage[i]*per, (in.ynew[i]-in.y[i])*per
		square += u * u
		image += w * w
		mixed += u * w
		change += d * d
	}
	re := min(mixed/square, 0)
	z := complex(re, math.Sqrt(max(image/square-re*re, 0)))
	growth, _ := m.response(z / margin)
	_, share := m.response(z)
	follower := -re > damped*cmplx.Abs(z) && math.Sqrt(image) < follows*math.Sqrt(change)*cmplx.Abs(share)
	in.limited = in.fast || err > rounding && square > 0 && (cmplx.Abs(growth) > growing || follower)
}

// observeDamped finds out what dominates the estimated error of the implicit step, from the error e before damping, the
// damped one d in stage, and the ratio of their norms. (I - gamma h J) d = e, so that d - e is gamma h J d.
func (in *Integrator) observeDamped(e []float64, ratio float64) {
	const stiff, fast, damping = 4, 2, 0.1
	square, image, mixed := kernel.moments(in.stage, e, in.per)
	in.reduced = ratio > stiff
	in.rings = math.Sqrt(image) > fast*in.method.gamma*math.Sqrt(square) && -mixed < damping*math.Sqrt(image*square)
}

// response returns the factor by which a step of an explicit pair multiplies a component whose eigenvalue is z/h, and
// the estimated error of such a component of size 1.
func (m *tableau) response(z complex128) (growth, share complex128) {
	var values [13]complex128
	for s, row := range m.a[:m.stages()] {
		sum := complex(0, 0)
		for j, a := range row {
			sum += complex(a, 0) * values[j]
		}
		values[s] = 1 + z*sum
		share += z * complex(m.e[s], 0) * values[s]
	}
	return values[m.stages()-1], share
}

// The multistep formulas up to the order stable are A-stable. Those of higher orders are stable within a wedge about
// the negative real axis, whose sides have this cosine (Shampine & Reichelt, table 1).
const (
	stable   = 2
	patience = 20  // steps that something unstable or ringing limits, unless to leave it was no use before
	escaped  = 32  // growth of the step at which nothing unstable is left
	leap     = 128 // growth that the one-step method tries at once: it damps what limited the step
)

var wedge = [highest + 1]float64{3: 0.17, 0.41, 0.63}

// observations are squared norms of steps of the multistep method: of the correction u of the prediction, of h J u, and
// the product of both; of the correction and of the difference of the order below; and the error, times caution.
type observations [6]float64

// image observes u, the first correction of the predicted values, which solves (I - c J) u = g.
func (in *Integrator) image(u, g []float64) {
	m := &in.multi
	square, image, mixed := kernel.moments(u, g, in.per)
	x := m.h / in.newton.scaled
	m.latest[0], m.latest[1], m.latest[2] = square, image*x*x, mixed*x
}

// observe counts the steps at the limit of stability.
//
// There the error consists of oscillations that grow until a shorter step damps them. Their differences do not fall
// with the order, as those of a solution do that the steps resolve, and h times their eigenvalues lies within the
// region in which the formula is not stable. A single step shows a phase of them only, hence the sums.
func (m *multistep) observe(err, below float64) {
	const memory, flat, inner, outer = 0.9, 0.16, 0.3, 8
	above := err / errorConst[m.order]
	m.latest[3], m.latest[4], m.latest[5] = above*above, below*below, m.caution*err
	s := &m.seen
	for i, x := range m.latest {
		s[i] = memory*s[i] + (1-memory)*x
	}
	z, re := math.Sqrt(s[1]/s[0]), s[2]/s[0]
	if s[5] > 0.1 && s[3] > flat*s[4] && z > inner && z < outer && -re < wedge[m.order]*z {
		m.unstable++
	} else {
		m.unstable = max(m.unstable-1, 0)
	}
}
