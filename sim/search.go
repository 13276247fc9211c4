package sim

import (
	"math"

	"canopy/ode"
)

// search finds events on the dense output of the integrator's current step. Samples divide the step into gaps; the
// values at a sample are evaluated when first needed, and kept. Each indicator is searched independently, with brackets
// that depend only on the step, so that the other watched indicators have no influence.
type search struct {
	gaps    int
	coarse  []int     // samples that decide whether an indicator comes near zero
	part    []float64 // position of each sample in the step, from 0 to 1
	rows    []float64 // values by sample
	have    []bool    // of each sample, whether it has been evaluated
	watched []int     // indicators, in declared order

	now  []float64 // values at T, or at an event
	cut  []float64 // values at the end of the searched part, if that is not a sample
	left []float64 // values just before the first crossing found so far
	g, y []float64 // scratch

	side []bool    // of each watched indicator, at the start of the searched gap
	near []bool    // whether it comes near zero in this step
	dip  []float64 // time of an unwatched change of side before it crosses; +Inf: none

	index int  // the indicator that root evaluates
	above bool // the side that it leaves
	root  func(t float64) float64
}

func newSearch(states, indicators, samples int) search {
	gaps := samples + 1
	q := search{
		gaps: gaps, rows: make([]float64, (gaps+1)*indicators), have: make([]bool, gaps+1),
		watched: make([]int, 0, indicators),
		now:     make([]float64, indicators), cut: make([]float64, indicators), left: make([]float64, indicators),
		g: make([]float64, indicators), y: make([]float64, states),
		side: make([]bool, indicators), near: make([]bool, indicators), dip: make([]float64, indicators),
	}
	// Both ends and a third of the samples, evenly spaced; all of them if there are few.
	third := max(3, math.Round(float64(samples)/3))
	for k, j := 0, 1.0; k <= gaps; k++ {
		q.part = append(q.part, float64(k)/float64(gaps))
		next := math.Round(float64(gaps) * (j - 0.4) / (third + 0.2))
		if samples < 5 || k == 0 || k == gaps || float64(k) == next {
			q.coarse = append(q.coarse, k)
		}
		if float64(k) == next {
			j++
		}
	}
	return q
}

func (q *search) copyFrom(o *search) {
	copy(q.rows, o.rows)
	copy(q.have, o.have)
	q.watched = append(q.watched[:0], o.watched...)
	copy(q.now, o.now)
}

// watch records which indicators are watched.
func (q *search) watch(w []Direction) {
	q.watched = q.watched[:0]
	for i, d := range w {
		if d != 0 {
			q.watched = append(q.watched, i)
		}
	}
}

// step begins a new step. If known, q.now holds the indicators at its start.
func (q *search) step(known bool) {
	clear(q.have)
	if known {
		copy(q.rows, q.now)
		q.have[0] = true
	}
}

// forget drops the samples after a change of anything that indicators may depend on.
func (q *search) forget() { clear(q.have) }

// start begins to follow the sides from the given ones.
func (q *search) start(above []bool) {
	copy(q.side, above)
	for _, i := range q.watched {
		q.dip[i] = math.Inf(1)
	}
}

// sideAt returns the previous side of indicator i when an event at t is judged.
func (q *search) sideAt(i int, t float64) bool { return q.side[i] != (q.dip[i] <= t) }

// evaluate writes the values of all indicators at t, within the current step, to g.
func (s *Simulator) evaluate(t float64, g []float64) {
	if which := s.sys.Reads; which != nil {
		s.integrator.InterpolateOf(which, t, s.search.y)
	} else {
		s.integrator.Interpolate(t, s.search.y)
	}
	s.sys.Zeros(t, s.search.y, &s.Discrete, g)
	s.stats.Samples++
}

// time returns the time of sample k of the current step.
func (s *Simulator) time(k int) float64 {
	a, b := s.integrator.From(), s.integrator.T()
	if k == s.search.gaps {
		return b
	}
	return a + (b-a)*s.search.part[k]
}

// row returns the values at sample k.
func (s *Simulator) row(k int) []float64 {
	q, m := &s.search, len(s.Above)
	r := q.rows[k*m : (k+1)*m]
	if !q.have[k] {
		s.evaluate(s.time(k), r)
		q.have[k] = true
	}
	return r
}

// firstEvent returns the time at in (from, end] at which a watched indicator first changes side in a watched direction
// or ceases to be finite, and a time just before; at = +Inf if there is none. It updates the sides up to the gap that
// contains this time.
func (s *Simulator) firstEvent(from, end float64) (at, left float64) {
	q := &s.search
	at = math.Inf(1)
	if !s.screen() {
		return at, at
	}
	for k := range q.gaps {
		lo, hi := max(s.time(k), from), min(s.time(k+1), end)
		if !(lo < hi) {
			continue
		}
		last := q.cut
		if hi == s.time(k+1) {
			last = s.row(k + 1)
		} else {
			s.evaluate(hi, q.cut)
		}
		for _, i := range q.watched {
			if !q.near[i] {
				continue
			}
			q.dip[i] = math.Inf(1)
			if l, r := s.crossing(i, k, lo, hi, last[i], at <= hi); r < at {
				at, left = r, l
				s.evaluate(left, q.left)
			}
		}
		if at <= hi {
			return at, left
		}
		for _, i := range q.watched {
			if q.near[i] {
				q.side[i] = last[i] >= 0
			}
		}
	}
	return at, at
}

// screen determines which watched indicators come near zero in this step, and whether any does. Thresholds of states
// need no evaluation if the state stays away from them. Another indicator does not come near zero if its distance from
// zero exceeds its variation over the coarse samples. For a polynomial of degree four this is proven: it leaves the
// range of five such samples by less than two thirds of the range.
func (s *Simulator) screen() bool {
	some := false
	q, m := &s.search, len(s.Above)
	for _, i := range q.watched {
		q.near[i] = !s.stays(i)
		some = some || q.near[i]
	}
	if !some {
		return false
	}
	for _, k := range q.coarse {
		s.row(k)
	}
	some = false
	for _, i := range q.watched {
		if !q.near[i] {
			continue
		}
		first := q.rows[i]
		// Most stay far away: if all values are within a third of the first value around it, all are at least two
		// thirds of it from zero, and the variation is at most two thirds.
		far := (first >= 0) == q.side[i]
		for _, k := range q.coarse[1:] {
			far = far && 3*math.Abs(q.rows[k*m+i]-first) <= math.Abs(first)
		}
		q.near[i] = !far && s.comesNear(i)
		some = some || q.near[i]
	}
	return some
}

// stays reports whether the indicator of a threshold is known to stay on its side during this step, because the state's
// dense output stays away from the level.
func (s *Simulator) stays(i int) bool {
	h := s.sys.Indicators[i].Threshold
	if h == nil {
		return false
	}
	low, high := s.integrator.Bounds(h.State)
	rounding := 1e-12 * (math.Abs(low) + math.Abs(high) + math.Abs(h.Level))
	if s.search.side[i] != h.Falls {
		return low-rounding > h.Level
	}
	return high+rounding < h.Level
}

// comesNear is the test of screen for one indicator.
func (s *Simulator) comesNear(i int) bool {
	q := &s.search
	low, high := math.Inf(1), math.Inf(-1)
	for _, k := range q.coarse {
		g := q.rows[k*len(s.Above)+i]
		low, high = min(low, g), max(high, g)
	}
	distance := max(low, -high) // below zero if they lie on both sides
	// The negation also catches NaN.
	return !(distance >= high-low && (low >= 0) == q.side[i])
}

// crossing returns the first watched crossing of indicator i in gap k, or in its part from lo to hi, where its value is
// last: a bracket [l, r] of neighbouring times, r = +Inf if there is none. Becoming not finite also counts as a
// crossing. If another crossing is known, only an earlier one must be found.
func (s *Simulator) crossing(i, k int, lo, hi, last float64, known bool) (l, r float64) {
	q := &s.search
	side := q.side[i]
	if beyond(last, side) {
		if finite(last) && !s.wants(i, !side) || known && !beyond(q.left[i], side) {
			return 0, math.Inf(1)
		}
		return s.locate(i, k, side, lo, hi)
	}
	x, ok := s.turn(i, k, side, lo, hi)
	switch {
	case ok && s.wants(i, !side):
		return s.locate(i, k, side, lo, x)
	case ok:
		q.dip[i] = x
		q.index, q.above = i, !side
		return s.edge(x, hi)
	}
	return 0, math.Inf(1)
}

// beyond reports whether the value g is no longer on the given side.
func beyond(g float64, above bool) bool { return !finite(g) || (g >= 0) != above }

// locate returns the bracket of indicator i's change away from the side in gap k before hi, after lo. Where possible it
// starts at the sample, even if lo is after it: the result then does not depend on events at lo.
func (s *Simulator) locate(i, k int, above bool, lo, hi float64) (l, r float64) {
	s.search.index, s.search.above = i, above
	if a := s.time(k); a < lo && !beyond(s.row(k)[i], above) {
		if l, r = s.edge(a, hi); r > lo {
			return l, r
		}
	}
	return s.edge(lo, hi)
}

// edge narrows the bracket [a, b] of a change to neighbouring numbers.
func (s *Simulator) edge(a, b float64) (l, r float64) {
	q := &s.search
	left := func(t float64) bool { return (q.root(t) >= 0) != q.above }
	if left(a) {
		return a, math.Nextafter(a, b)
	}
	l, r = ode.Root(q.root, a, b)
	for range 4 { // enough after Root, except where numbers are closer than its resolution: next to zero
		m := math.Nextafter(r, l)
		if m <= l {
			break
		}
		if !left(m) {
			return m, r
		}
		r = m
	}
	return l, r
}

// probe is the function whose change of side ode.Root locates.
func (s *Simulator) probe(t float64) float64 {
	q := &s.search
	s.evaluate(t, q.g)
	g := q.g[q.index]
	if finite(g) {
		return g
	}
	if q.above {
		return -1
	}
	return 1
}

// turn searches gap k for a time in (lo, hi) at which indicator i, on one side at all samples around, is on the other
// side: where the parabola through three of them comes near zero, its minimum is followed.
func (s *Simulator) turn(i, k int, above bool, lo, hi float64) (x float64, ok bool) {
	for j := max(k, 1); j <= min(k+1, s.search.gaps-1); j++ {
		a, b, c := s.row(j - 1)[i], s.row(j)[i], s.row(j + 1)[i]
		if beyond(a, above) || beyond(b, above) || beyond(c, above) {
			continue
		}
		a, b, c = math.Abs(a), math.Abs(b), math.Abs(c)
		curve := a - 2*b + c
		if !(curve > 0) {
			continue
		}
		// The vertex, in gaps; a third derivative may shift it, and lower the minimum, by a fraction of these.
		v := float64(j) - (c-a)/(2*curve)
		if least := b - (c-a)*(c-a)/(8*curve); v < float64(k)-0.5 || v > float64(k)+1.5 || least > curve/8 {
			continue
		}
		x, ok = s.descend(i, above, [3]float64{s.time(j - 1), s.time(j), s.time(j + 1)}, [3]float64{a, b, c})
		if ok && lo < x && x < hi {
			return x, true
		}
	}
	return 0, false
}

// descend follows the minimum of |g| of indicator i by successive parabolas, from three times and the values there,
// until it finds a time beyond zero, or the parabola stays away from zero by far more than it erred last.
func (s *Simulator) descend(i int, above bool, t, p [3]float64) (x float64, ok bool) {
	q := &s.search
	miss := math.Inf(1)
	for range 12 {
		m := (p[1] - p[0]) / (t[1] - t[0])
		curve := ((p[2]-p[1])/(t[2]-t[1]) - m) / (t[2] - t[0])
		parabola := func(x float64) float64 { return p[0] + (x-t[0])*(m+(x-t[1])*curve) }
		x = min(max((t[0]+t[1])/2-m/(2*curve), t[0]), t[2])
		if parabola(x) > 4*miss {
			return 0, false
		}
		margin := (t[2] - t[0]) / 64
		x = min(max(x, t[0]+margin), t[2]-margin)
		if math.Abs(x-t[1]) < margin/2 { // do not stall
			x = t[1] + math.Copysign(margin/2, (t[2]-t[1])-(t[1]-t[0]))
		}
		if !(t[0] < x && x < t[2]) || x == t[1] {
			return 0, false
		}
		s.evaluate(x, q.g)
		if beyond(q.g[i], above) {
			return x, true
		}
		v := math.Abs(q.g[i])
		miss = math.Abs(parabola(x) - v)
		switch {
		case x < t[1] && v < p[1]:
			t, p = [3]float64{t[0], x, t[1]}, [3]float64{p[0], v, p[1]}
		case x < t[1]:
			t[0], p[0] = x, v
		case v < p[1]:
			t, p = [3]float64{t[1], x, t[2]}, [3]float64{p[1], v, p[2]}
		default:
			t[2], p[2] = x, v
		}
	}
	return 0, false
}
