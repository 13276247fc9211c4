package sim

import (
	"math"
	"slices"

	"canopy/ode"
)

// search finds events on the dense output of the integrator's current step. Samples divide the step into gaps; the
// quantities at a sample are evaluated when first needed, and kept. Each indicator is searched independently, with
// brackets that depend only on the step, so that the other watched indicators have no influence.
type search struct {
	gaps     int
	coarse   []int       // samples that decide whether an indicator comes near zero
	part     []float64   // position of each sample in the step, from 0 to 1
	rows     [][]float64 // quantities by sample
	have     []bool      // of each sample, whether it has been evaluated
	watched  []int32     // by line: number of watched indicators
	watching int32       // number of watched indicators

	now  []float64 // quantities at T, or at an event,
	here bool      // those at T with the states in now,
	old  bool      // except that inputs or sides have changed since
	cut  []float64 // those at the end of the searched part, if that is not a sample
	left []float64 // those just before the first crossing found so far
	q    []float64 // scratch

	committed []float64 // quantities when Iterate last committed all sides,
	strays    []int     // and indicators whose sides were committed since

	bias      []float64 // of each indicator: what is added to its value while it touches zero, see touch.go
	zone      []float64 // of each indicator, the half-width of the zone at its last change of side
	touching  []int     // indicators with a bias
	fine      []fine    // indicators that are judged at smaller tolerances than those given,
	halved    int       // which are halved this many times
	unsettled []int     // scratch: indicators that seem to touch zero
	touched   []int     // those that began to touch in the last segment

	near []int     // watched indicators that come near zero in this step, in declared order
	side []bool    // of each indicator, at the start of the searched gap: as in Above, unless it is near
	dip  []float64 // time of an unwatched change of side before it crosses; +Inf: none

	known    []bool          // by quantity: there are bounds of it over this step
	crowded  []int           // lines with many levels that may be passed in this step
	skip     []int           // by function: steps in which it is left to samples
	boxes    []box           // by function
	changes  int             // how often inputs or sides, on which functions may depend, have changed
	sample   scope           // the functions without bounds
	ranges   []ode.Enclosure // by state
	enclosed bool            // ranges are those of this step
	wide     []ode.Enclosure // scratch: by state, of other stretches
	single   [1]int          // scratch
	proof    proof

	kept
	some, one scope // quantities of near indicators, that of the one that root evaluates

	index int  // the indicator that root evaluates
	above bool // the side that it leaves
	root  func(t float64) float64
	list  []int // scratch
}

// scope is a set of quantities to evaluate.
type scope struct {
	all       bool // states that the system reads; else those listed
	states    []int
	functions []int
}

func newSearch(x *levels, indicators, samples int) search {
	gaps := samples + 1
	vector := func() []float64 { return make([]float64, x.quantities) }
	q := search{
		gaps: gaps, have: make([]bool, gaps+1), watched: make([]int32, len(x.lines)),
		now: vector(), cut: vector(), left: vector(), q: vector(), committed: vector(),
		side: make([]bool, indicators), dip: make([]float64, indicators), bias: make([]float64, indicators),
		zone: make([]float64, indicators),
		kept: newKept(x), known: make([]bool, x.quantities), skip: make([]int, x.quantities-x.states),
		boxes: make([]box, x.quantities-x.states), ranges: make([]ode.Enclosure, x.states),
		wide: make([]ode.Enclosure, x.states), sample: scope{all: true},
	}
	for i := range q.boxes {
		q.boxes[i] = box{until: math.Inf(-1), reach: firstReach}
	}
	for range gaps + 1 {
		q.rows = append(q.rows, vector())
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
	copy(q.now, o.now)
	copy(q.resting, o.resting)
	q.here, q.old = o.here, o.old
	copy(q.committed, o.committed)
	q.strays = append(q.strays[:0], o.strays...)
	copy(q.bias, o.bias)
	copy(q.zone, o.zone)
	q.fine, q.halved = append(q.fine[:0], o.fine...), o.halved
	copy(q.skip, o.skip)
	q.enclosed = false
	q.changes++
}

// step begins a new step. If known, q.now holds the quantities at its start.
func (s *Simulator) step(known bool) {
	q := &s.search
	clear(q.have)
	q.enclosed = false
	if known {
		s.copyKept(q.rows[0], q.now)
		q.have[0] = true
	}
}

// copyKept copies the quantities that are kept: the states and the functions of kept indicators.
func (s *Simulator) copyKept(to, from []float64) {
	n := copy(to, from[:len(s.Y)])
	for _, f := range s.kept() {
		to[n+f] = from[n+f]
	}
}

// kept returns the functions of kept indicators.
func (s *Simulator) kept() []int {
	if s.search.stale {
		s.search.scopes(s.levels)
	}
	return s.search.whole.functions
}

// forget drops the samples after a change of anything that indicators may depend on, and the boxes of these functions.
func (q *search) forget() {
	clear(q.have)
	q.changes++
}

// start begins to follow the sides from those committed.
func (s *Simulator) start() {
	q := &s.search
	for _, i := range q.near {
		q.side[i], q.dip[i] = s.Above[i], math.Inf(1)
	}
	q.near = q.near[:0]
}

// sideAt returns the previous side of indicator i when an event at t is judged.
func (q *search) sideAt(i int, t float64) bool { return q.side[i] != (q.dip[i] <= t) }

// evaluate writes quantities at t, within the current step, to v.
func (s *Simulator) evaluate(t float64, v []float64, which *scope) {
	y := v[:len(s.Y)]
	switch {
	case !which.all:
		s.integrator.InterpolateOf(which.states, t, y)
	case s.sys.Reads != nil:
		s.integrator.InterpolateOf(s.sys.Reads, t, y)
	default:
		s.integrator.Interpolate(t, y)
	}
	s.functions(t, v, which)
}

// functions evaluates functions from the states in v.
func (s *Simulator) functions(t float64, v []float64, which *scope) {
	s.kept() // one of these may be which
	if n := len(s.Y); len(which.functions) > 0 {
		s.sys.Zeros(t, v[:n], &s.Discrete, which.functions, v[n:])
	}
	s.stats.Samples++
	s.stats.Values += len(which.functions)
}

// limit sets a scope to the quantities of some indicators.
func (s *Simulator) limit(which *scope, indicators ...int) {
	which.states, which.functions = which.states[:0], which.functions[:0]
	for _, i := range indicators {
		if of, n := s.levels.thresholds[i].Of, len(s.Y); of < n {
			which.states = append(which.states, of)
		} else {
			which.functions = append(which.functions, of-n)
		}
	}
	slices.Sort(which.functions)
	which.functions = slices.Compact(which.functions)
	which.all = len(which.functions) > 0 // they may read any
}

// time returns the time of sample k of the current step.
func (s *Simulator) time(k int) float64 {
	a, b := s.integrator.From(), s.integrator.T()
	if k == s.search.gaps {
		return b
	}
	return a + (b-a)*s.search.part[k]
}

// row returns the quantities at sample k: those in the scope, or all that it has.
func (s *Simulator) row(k int, which *scope) []float64 {
	q := &s.search
	if !q.have[k] {
		s.evaluate(s.time(k), q.rows[k], which)
		q.have[k] = true
	}
	return q.rows[k]
}

// at returns the value of an indicator near zero at sample k.
func (s *Simulator) at(k, i int) float64 { return s.value(s.row(k, &s.search.some), i) }

// firstEvent returns the time at in (from, end] at which a watched indicator first changes side in a watched direction
// or ceases to be finite, and a time just before; at = +Inf if there is none. It updates the sides up to the gap that
// contains this time.
func (s *Simulator) firstEvent(from, end float64) (at, left float64) {
	q := &s.search
	at = math.Inf(1)
	if !s.screen() {
		return at, at
	}
	sampled := false
	prove := func(list []int, from, until float64) {
		for _, i := range list {
			if s.proved(i) {
				l, r, ok := s.firstChange(i, from, min(until, at))
				if !ok {
					s.giveUp(i)
				} else if r < at {
					at, left = r, l
				}
			}
			sampled = sampled || !s.proved(i)
		}
	}
	prove(q.near, from, end)
	for _, l := range q.crowded {
		for to := from; to < min(end, at); {
			first := len(q.near)
			begin := to
			to = s.part(l, begin, end)
			prove(q.near[first:], begin, to)
			for _, i := range q.near[first:] {
				if at > to && s.proved(i) {
					q.side[i], q.dip[i] = q.sideAt(i, to), math.Inf(1)
				}
			}
		}
	}
	if sampled {
		s.limit(&q.some, q.near...)
		at, left = s.sampledEvent(from, end, at, left)
	}
	if at > end {
		for _, i := range q.near {
			if s.proved(i) {
				q.side[i], q.dip[i] = q.sideAt(i, end), math.Inf(1)
			}
		}
	}
	return at, left
}

// sampledEvent is firstEvent for the indicators without bounds, if another one has an event at a time.
func (s *Simulator) sampledEvent(from, end, at, left float64) (float64, float64) {
	q := &s.search
	if at <= end {
		s.evaluate(left, q.left, &q.some)
	}
	for k := range q.gaps {
		lo, hi := max(s.time(k), from), min(s.time(k+1), end)
		if !(lo < hi) {
			continue
		}
		last := q.cut
		if hi == s.time(k+1) {
			last = s.row(k+1, &q.some)
		} else {
			s.evaluate(hi, q.cut, &q.some)
		}
		for _, i := range q.near {
			if s.proved(i) {
				continue
			}
			q.dip[i] = math.Inf(1)
			if l, r := s.crossing(i, k, lo, hi, s.value(last, i), at <= hi); r < at {
				at, left = r, l
				s.evaluate(left, q.left, &q.some)
			}
		}
		if at <= hi {
			return at, left
		}
		for _, i := range q.near {
			if !s.proved(i) {
				q.side[i] = s.value(last, i) >= 0
			}
		}
	}
	return at, left
}

// screen determines which watched indicators come near zero in this step, and whether any does. Thresholds of states
// need no evaluation if the state stays away from them. Another indicator does not come near zero if its distance from
// zero exceeds its variation over the coarse samples. For a polynomial of degree four this is proven: it leaves the
// range of five such samples by less than two thirds of the range.
//
// Both tests need only indicators with levels within, or not far from, the range of their quantity: every watched
// indicator that is no stray is on the side of its level on which the quantity is at the start of the search.
func (s *Simulator) screen() bool {
	q, n := &s.search, len(s.Y)
	list := q.list[:0]
	q.sample.functions, q.crowded = q.sample.functions[:0], q.crowded[:0]
	of, low, high, known, exact := -1, 0.0, 0.0, false, false
	for _, l := range q.lines {
		x := &s.levels.lines[l]
		if q.watched[l] == 0 {
			continue
		}
		if x.of != of { // a quantity has a line in each direction
			exact = false
			if of = x.of; of < n {
				low, high = s.integrator.Bounds(of)
				margin := 1e-11 * (math.Abs(low) + math.Abs(high))
				low, high, known, exact = low-margin, high+margin, true, true
				q.known[of] = true
			} else {
				if known = s.sys.Enclose != nil && q.skip[of-n] == 0; !known {
					q.skip[of-n] = max(q.skip[of-n]-1, 0)
				} else if low, high, known, exact = s.far(of - n); !known {
					q.skip[of-n] = recess
				}
				if q.known[of] = known; !known {
					q.sample.functions = append(q.sample.functions, of-n)
				}
			}
		}
		if !known {
			continue
		}
		places := x.within(q.places[l], low, high)
		if len(places) > 0 && !exact {
			q.boxes[of-n].drop()
			low, high, _ = s.over(of - n)
			places, exact = x.within(q.places[l], low, high), true
		}
		if len(places) > many {
			q.crowded = append(q.crowded, l)
			continue
		}
		for _, place := range places {
			if i := x.who[place]; s.watch[i] != 0 && !s.stays(i) {
				list = append(list, i)
			}
		}
	}
	for _, others := range [][]int{q.strays, q.touching} {
		for _, i := range others {
			if s.watch[i] != 0 && !s.stays(i) {
				list = append(list, i)
			}
		}
	}
	q.list = list
	if len(q.sample.functions) == 0 && len(list) == 0 && len(q.crowded) == 0 {
		return false
	}
	if s.T == s.integrator.From() && !s.slide.on {
		s.letGo()
	}
	if len(q.sample.functions) > 0 {
		for _, k := range q.coarse {
			s.row(k, &q.sample)
		}
	}
	for _, l := range q.lines {
		x := &s.levels.lines[l]
		if q.watched[l] == 0 || q.known[x.of] {
			continue
		}
		low, high := q.now[x.of], q.now[x.of]
		for _, k := range q.coarse {
			v := q.rows[k][x.of]
			low, high = min(low, v), max(high, v)
		}
		margin := 2 * (high - low)
		list = s.within(list, l, low-margin, high+margin)
	}
	q.list = s.ordered(list)
	for _, i := range q.list {
		if s.watch[i] != 0 && (s.proved(i) || s.comesNear(i)) {
			q.near = append(q.near, i)
		}
	}
	s.limit(&q.some, q.near...)
	return len(q.near) > 0 || len(q.crowded) > 0
}

// stays reports whether the indicator of the threshold of a state is known to stay on its side during this step,
// because the bounds of the state exclude the level.
func (s *Simulator) stays(i int) bool {
	h := &s.levels.thresholds[i]
	if h.Of >= len(s.Y) {
		return false
	}
	low, high := s.integrator.Bounds(h.Of)
	rounding := 1e-12 * (math.Abs(low) + math.Abs(high) + math.Abs(h.Level))
	if s.search.side[i] != h.Falls {
		return low-rounding > h.Level
	}
	return high+rounding < h.Level
}

// comesNear is the test of screen for one indicator, by the coarse samples.
func (s *Simulator) comesNear(i int) bool {
	q := &s.search
	low, high := math.Inf(1), math.Inf(-1)
	for _, k := range q.coarse {
		g := s.value(q.rows[k], i)
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
	s.limit(&q.one, i)
	side := q.side[i]
	if beyond(last, side) {
		if finite(last) && !s.wants(i, !side) || known && !beyond(s.value(q.left, i), side) {
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
	if a := s.time(k); a < lo && !beyond(s.at(k, i), above) {
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
	s.evaluate(t, q.q, &q.one)
	g := s.value(q.q, q.index)
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
		a, b, c := s.at(j-1, i), s.at(j, i), s.at(j+1, i)
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
		s.evaluate(x, q.q, &q.one)
		g := s.value(q.q, i)
		if beyond(g, above) {
			return x, true
		}
		v := math.Abs(g)
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
