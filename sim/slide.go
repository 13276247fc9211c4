package sim

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/ode"
	"github.com/canopy-uav/canopy/snapshot"
)

// slide is a sliding motion (Filippov, Differential Equations with Discontinuous Righthand Sides, Kluwer 1988): where
// the derivatives on both sides of an indicator's zero lead back to it, the solution stays there. It follows the mean
// of both, weighted so that the indicator does not change:
//
//	y' = (1-a) f + a F    with    (1-a) g' + a G' = 0
//
// f and F are the derivatives with the discrete values below and above, g' and G' the rates of the indicator along
// them. The motion ends where one of the rates changes its sign: it then continues on that side.
type slide struct {
	modes     [2]Discrete // after the last events, by the count of these
	turn      int         // the older one
	alternate int         // events in succession after which the discrete values were those before the last event
	ready     bool        // the motion begins when the present instant is over
	on        bool
	slid      bool  // during the last segment
	who       []int // indicators on whose zero the solution stays; the first one is the guide

	below, above *Discrete // those of modes below and above zero
	f, g, y, v   []float64 // scratch: derivatives with these, states and quantities
}

func newSlide(discrete func() Discrete, states, quantities int) slide {
	return slide{modes: [2]Discrete{discrete(), discrete()}, f: make([]float64, states), g: make([]float64, states),
		y: make([]float64, states), v: make([]float64, quantities)}
}

func (m *slide) state(c *snapshot.Codec) {
	snapshot.Within(c, &m.turn, 0, 1)
	snapshot.Vars(c, &m.alternate, &m.ready, &m.on, &m.slid)
	for k := range m.modes {
		snapshot.Floats(c, m.modes[k].U)
		snapshot.Each(c, m.modes[k].Above, snapshot.Bool)
	}
	last := len(m.modes[0].Above) - 1
	snapshot.List(c, &m.who, func(c *snapshot.Codec, i *int) { snapshot.Within(c, i, 0, last) })
	if (m.ready || m.on) && len(m.who) == 0 {
		c.Fail(snapshot.ErrMismatch)
	}
	if !c.Failed() {
		m.order()
	}
}

// order tells the modes apart by the side of the guide.
func (m *slide) order() {
	m.below, m.above = &m.modes[0], &m.modes[1]
	if len(m.who) > 0 && m.below.Above[m.who[0]] {
		m.below, m.above = m.above, m.below
	}
}

// observe keeps the discrete values after an event.
func (m *slide) observe(d *Discrete) {
	old := &m.modes[m.turn]
	if slices.EqualFunc(old.U, d.U, Same) && slices.Equal(old.Above, d.Above) {
		m.alternate++
	} else {
		m.alternate = 0
	}
	copy(old.U, d.U)
	copy(old.Above, d.Above)
	m.turn = 1 - m.turn
}

// prepare makes the simulator slide after the present event on the zeros of indicators that chatter. It returns what
// prevents this, or "".
func (m *slide) prepare(s *Simulator, who []int) (obstacle string) {
	const settled = 8
	a, b := &m.modes[0], &m.modes[1]
	switch guide := who[0]; {
	case m.alternate < settled:
		return "the events do not alternate between two settings of the inputs"
	case a.Above[guide] == b.Above[guide]:
		return "the events do not leave " + s.sys.Indicators[guide].Name + " on two sides"
	}
	m.who = append(m.who[:0], who...)
	m.order()
	if up, down := m.rates(s, s.T, s.Y); !(up > 0 && down < 0) {
		return "the rate of " + s.sys.Indicators[who[0]].Name + " does not depend on its side"
	}
	m.ready = true
	return ""
}

// begin begins the motion, if the discrete values are those expected.
func (m *slide) begin(s *Simulator) bool {
	m.ready = false
	if expected := &m.modes[m.turn]; !slices.EqualFunc(expected.U, s.U, Same) || !slices.Equal(expected.Above, s.Above) {
		return false
	}
	m.on = true
	for _, i := range m.who {
		s.hold(i, s.search.zone[i], s.Above[i])
	}
	return true
}

// end ends the motion: the sides are those of the values again.
func (m *slide) end(s *Simulator) {
	m.on = false
	for _, i := range m.who {
		s.release(i)
	}
}

// derivatives writes the derivatives of the motion. They continue smoothly for a while beyond its end, which the search
// finds in the step.
func (m *slide) derivatives(s *Simulator, t float64, y, dydt []float64) {
	up, down := m.rates(s, t, y)
	share := 0.5 // of the derivatives above
	if up != down {
		share = min(max(up/(up-down), -1), 2)
	}
	for j, f := range m.f {
		dydt[j] = f + share*(m.g[j]-f)
	}
}

// Sliding returns the two settings between which the solution slides at (t, y), a place of the last segment, and the
// share of the second one in the derivatives; at T it is as after the segment or, if left, as on the way there. ok is
// false if it does not slide there.
func (s *Simulator) Sliding(t float64, y []float64, left bool) (below, above *Discrete, share float64, ok bool) {
	m := &s.slide
	if left = left || t < s.T; left && !m.slid || !left && (!m.on || s.leaves()) {
		return nil, nil, 0, false
	}
	if up, down := m.rates(s, t, y); up != down {
		return m.below, m.above, min(max(up/(up-down), 0), 1), true
	}
	return m.below, m.above, 0.5, true
}

// leaves reports whether an input on which the derivatives depend differs from both settings between which the solution
// slides: the owner has ended the motion.
func (s *Simulator) leaves() bool {
	for i, drives := range s.drives {
		if drives && !Same(s.U[i], s.slide.below.U[i]) && !Same(s.U[i], s.slide.above.U[i]) {
			return true
		}
	}
	return false
}

// rates evaluates the derivatives below and above at (t, y) and returns the rates of the guide along them.
func (m *slide) rates(s *Simulator, t float64, y []float64) (below, above float64) {
	s.sys.Derivatives(t, y, m.below, m.f)
	s.sys.Derivatives(t, y, m.above, m.g)
	return m.rate(s, t, y, m.f), m.rate(s, t, y, m.g)
}

// rate returns the rate of the guide at (t, y) along the derivatives f: for a function by a central difference.
func (m *slide) rate(s *Simulator, t float64, y, f []float64) float64 {
	const small = 6e-6 // cube root of the resolution of numbers
	h := &s.levels.thresholds[m.who[0]]
	if h.Of < len(y) {
		return h.sign() * f[h.Of]
	}
	step := small * max(1, math.Abs(t))
	for j, v := range f {
		scale := s.tolerance(j, y[j]) / min(s.options.RelTol, loose)
		if step*math.Abs(v) > small*scale {
			step = small * scale / math.Abs(v)
		}
	}
	which := scope{functions: []int{h.Of - len(y)}}
	value := func(by float64) float64 {
		for j, v := range f {
			m.v[j] = y[j] + by*v
		}
		s.functions(t+by, m.v, &which)
		return m.v[h.Of]
	}
	return h.sign() * (value(step) - value(-step)) / (2 * step)
}

// leave returns the time after from in this step at which the motion ends, and whether it does before the time to. The
// motion then continues above, or below.
func (m *slide) leave(s *Simulator, from, to float64) (at float64, above, ends bool) {
	outward := func(t float64) float64 { // the greater of the rates away from zero
		s.integrator.Interpolate(t, m.y)
		up, down := m.rates(s, t, m.y)
		above = down >= -up
		return max(-up, down)
	}
	for k := range looks + 1 {
		switch t := min(s.time(float64(k)/looks), to); {
		case t < from:
		case !(outward(t) >= 0):
			from = t
		default:
			if outward(from) < 0 {
				_, from = ode.Root(outward, from, t)
			}
			outward(from)
			return from, above, true
		}
	}
	return to, above, false
}
