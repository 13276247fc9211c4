package sim

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/ode"
)

// search finds events on the dense output of the integrator's current step. Where there are no bounds, samples of the
// quantities estimate them: those over the whole step are kept. Each indicator is searched independently, with brackets
// that depend only on the step, so that the other watched indicators have no influence.
type search struct {
	rows     [samples][]float64 // quantities without bounds at the ends of the quarters of the step
	have     [samples]bool      // of each of these times, whether they have been evaluated
	times    []float64          // scratch: of these, and the states there
	points   [][]float64
	watched  []int32 // by line: number of watched indicators
	watching int32   // number of watched indicators

	now  []float64 // quantities at T, or at an event,
	here bool      // those at T with the states in now,
	old  bool      // except that inputs or sides have changed since
	cut  []float64 // scratch
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
	side []bool    // of each indicator, at the start of the search: as in Above, unless it is near
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
	one scope // the quantity of the indicator that root evaluates

	index int  // the indicator that root evaluates
	above bool // the side that it leaves
	root  func(t float64) float64
	list  []int // scratch
}

const (
	samples = 5  // that estimate bounds
	looks   = 16 // parts of a step that are looked at in any case
)

// scope is a set of quantities to evaluate.
type scope struct {
	all       bool // states that the system reads; else those listed
	states    []int
	functions []int
}

func newSearch(x *levels, indicators int) search {
	vector := func() []float64 { return make([]float64, x.quantities) }
	q := search{
		watched: make([]int32, len(x.lines)),
		now:     vector(), cut: vector(), q: vector(), committed: vector(),
		side: make([]bool, indicators), dip: make([]float64, indicators), bias: make([]float64, indicators),
		zone: make([]float64, indicators),
		kept: newKept(x), known: make([]bool, x.quantities), skip: make([]int, x.quantities-x.states),
		boxes: make([]box, x.quantities-x.states), ranges: make([]ode.Enclosure, x.states),
		wide: make([]ode.Enclosure, x.states), sample: scope{all: true},
	}
	for i := range q.boxes {
		q.boxes[i] = box{until: math.Inf(-1), reach: firstReach}
	}
	for k := range q.rows {
		q.rows[k] = vector()
	}
	return q
}

// step begins a new step. If known, q.now holds the quantities at its start.
func (s *Simulator) step(known bool) {
	q := &s.search
	clear(q.have[:])
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
	clear(q.have[:])
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
	s.states(t, v, which)
	s.functions(t, v, which)
}

// states writes the states of a scope at t to v.
func (s *Simulator) states(t float64, v []float64, which *scope) {
	y := v[:len(s.Y)]
	switch {
	case !which.all:
		s.integrator.InterpolateOf(which.states, t, y)
	case s.sys.Reads != nil:
		s.integrator.InterpolateOf(s.sys.Reads, t, y)
	default:
		s.integrator.Interpolate(t, y)
	}
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

// time returns the time at a part of the current step, from 0 to 1.
func (s *Simulator) time(part float64) float64 {
	a, b := s.integrator.From(), s.integrator.T()
	if part == 1 {
		return b
	}
	return a + (b-a)*part
}

// row returns the quantities without bounds at sample k of the step.
func (s *Simulator) row(k int) []float64 {
	q := &s.search
	if !q.have[k] {
		s.evaluate(s.time(float64(k)/(samples-1)), q.rows[k], &q.sample)
		q.have[k] = true
	}
	return q.rows[k]
}

// prepare tells the system which rows follow.
func (s *Simulator) prepare() {
	q := &s.search
	q.times, q.points = q.times[:0], q.points[:0]
	for k := range samples {
		if t := s.time(float64(k) / (samples - 1)); !q.have[k] {
			s.states(t, q.rows[k], &q.sample)
			q.times, q.points = append(q.times, t), append(q.points, q.rows[k][:len(s.Y)])
		}
	}
	if len(q.times) > 0 {
		s.sys.Prepare(q.times, q.points, &s.Discrete)
	}
}

// firstEvent returns the time at in (from, end] at which a watched indicator first changes side in a watched direction
// or ceases to be finite, and a time just before; at = +Inf if there is none. Without one, it updates the sides.
func (s *Simulator) firstEvent(from, end float64) (at, left float64) {
	q := &s.search
	at = math.Inf(1)
	if !s.screen() {
		return at, at
	}
	look := func(list []int, from, until float64) {
		for _, i := range list {
			if l, r := s.firstChange(i, from, min(until, at)); r < at {
				at, left = r, l
			}
		}
	}
	pass := func(list []int, until float64) {
		for _, i := range list {
			q.side[i], q.dip[i] = q.sideAt(i, until), math.Inf(1)
		}
	}
	look(q.near, from, end)
	for _, l := range q.crowded {
		for to := from; to < min(end, at); {
			first, begin := len(q.near), to
			to = s.part(l, begin, end)
			if look(q.near[first:], begin, to); at > to {
				pass(q.near[first:], to)
			}
		}
	}
	if at > end {
		pass(q.near, end)
	}
	return at, left
}

// screen determines which watched indicators come near zero in this step, and whether any does: those with levels
// within the bounds of their quantity, or its estimated bounds, and strays. Every other watched indicator is on the
// side of its level on which the quantity is at the start of the search.
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
	q.list = s.ordered(s.sampled(list))
	for _, i := range q.list {
		if s.watch[i] != 0 {
			q.near = append(q.near, i)
		}
	}
	return len(q.near) > 0 || len(q.crowded) > 0
}

// sampled adds to a list the indicators that the samples of functions without bounds come near to.
func (s *Simulator) sampled(list []int) []int {
	q := &s.search
	if s.sys.Prepare != nil && len(q.sample.functions) > 0 {
		s.prepare()
	}
	for _, l := range q.lines {
		x := &s.levels.lines[l]
		if q.watched[l] == 0 || q.known[x.of] {
			continue
		}
		low, high := q.now[x.of], q.now[x.of]
		for k := range samples {
			v := s.row(k)[x.of]
			low, high = min(low, v), max(high, v)
		}
		margin := overshoot * (high - low)
		list = s.within(list, l, low-margin, high+margin)
	}
	q.list = s.ordered(list)
	return list
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

// beyond reports whether the value g is no longer on the given side.
func beyond(g float64, above bool) bool { return !finite(g) || (g >= 0) != above }

// edge narrows the bracket [a, b] of a change to neighbouring numbers.
func (s *Simulator) edge(a, b float64) (l, r float64) {
	q := &s.search
	left := func(t float64) bool { return (q.root(t) >= 0) != q.above }
	if left(a) {
		return a, math.Nextafter(a, b)
	}
	l, r = ode.Root(q.root, a, b)
	for range 32 { // enough after Root, except where numbers are closer than its resolution: next to zero
		m := l + (r-l)/2
		if !(l < m && m < r) {
			break
		}
		if left(m) {
			r = m
		} else {
			l = m
		}
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
