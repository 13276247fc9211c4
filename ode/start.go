package ode

import (
	"math"
	"slices"
)

// remember stores the derivative at the end t of the last step, if the step reaches t and y was smooth, so that the
// first step after a restart can detect a change of the derivative.
func (in *Integrator) remember(t float64, y []float64) {
	if !in.began { // restarted twice at one instant
		in.smooth = in.smooth && t == in.t && slices.Equal(y, in.y)
		return
	}
	in.smooth = in.from < in.t && t >= in.from && t <= in.t
	if !in.smooth {
		return
	}
	in.Interpolate(t, in.stage)
	for i, v := range y {
		w := in.options.RelTol*math.Abs(v) + in.atol[i] + smallest
		if !(math.Abs(v-in.stage[i]) <= w) {
			in.smooth = false
			return
		}
	}
	if t == in.t && !in.multi.on {
		last := in.stepped.stages() - 1
		copy(in.before, in.k[last*in.n:])
		return
	}
	in.slope(t, in.before)
}

// begin evaluates the first stage and chooses the method and size of the first step.
func (in *Integrator) begin(limit float64) error {
	k := in.knew[:in.n]
	in.eval(in.t, in.y, k)
	if i := notFinite(k); i >= 0 {
		return &NotFiniteError{T: in.t, Index: i}
	}
	in.began = true
	if in.resume(k) {
		return nil
	}
	if in.next > 0 && in.smooth && in.unchanged(k) {
		return nil
	}
	guess := in.options.InitialStep
	if guess == 0 {
		guess = in.initialStep(limit, k)
	}
	if in.next > 0 {
		guess = min(guess, in.next)
	}
	in.next, in.last = guess, 1e-4
	return nil
}

// unchanged reports whether replacing the previous derivative by k makes no difference to a step of the proposed size.
// Stiff components, whose derivatives are never accurate, are measured by their effect in the implicit method.
func (in *Integrator) unchanged(k []float64) bool {
	const tolerated = 10
	for i, v := range k {
		in.stage[i] = in.next * (v - in.before[i])
	}
	if nw := in.newton; in.method.gamma != 0 && nw.lu.ready {
		nw.lu.solve(in.stage)
	}
	return in.norm(in.stage) <= tolerated
}

// initialStep follows Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, section II.4: from the sizes
// of the first derivative k and of a difference quotient for the second.
func (in *Integrator) initialStep(limit float64, k []float64) float64 {
	most := min(limit-in.t, in.options.MaxStep)
	d0, d1 := in.norm(in.y), in.norm(k)
	h0 := min(1e-6, most)
	if d0 >= 1e-5 && d1 >= 1e-5 {
		h0 = min(0.01*d0/d1, most)
	}
	copy(in.stage, in.y)
	kernel.axpy(in.stage, h0, k)
	ahead := in.ynew
	in.eval(in.t+h0, in.stage, ahead)
	kernel.axpy(ahead, -1, k)
	d2 := in.norm(ahead) / h0
	h1 := max(1e-6, h0*1e-3)
	if d := max(d1, d2); d > 1e-15 {
		h1 = math.Pow(0.01/d, 1/float64(in.method.order))
	}
	if !(h1 > 0) {
		return h0
	}
	return max(min(100*h0, h1, most), 64*ulp(in.t))
}
