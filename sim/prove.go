package sim

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/ode"
)

// Unknown are the bounds of a value of which nothing is known.
var Unknown = ode.Enclosure{Low: math.Inf(-1), High: math.Inf(1), SlopeLow: math.Inf(-1), SlopeHigh: math.Inf(1)}

// wideness is the share of a step that a pole takes at most.
const wideness = 0x1p-30

// narrowest is the share of a step, or of the time since an event of the indicator at its start, below which a part is
// not divided: two changes within it are one touch.
const narrowest = 0x1p-34

// proof follows the side of one indicator through a step.
type proof struct {
	i           int
	from, until float64
	above       bool
	returns     bool    // it has changed at the start of the step
	dip         float64 // when it changed in a direction that is not watched
	l, r        float64 // the first watched change
	zone        float64 // of the indicator, once it is needed; negative before
	left        int     // bounds that may still be computed
}

// effort is the number of bounds after which a proof is given up for this step.
const effort = 1000

// bounds returns bounds of the value of indicator i from a to b; known is false if there are none.
func (s *Simulator) bounds(i int, a, b float64) (r ode.Enclosure, known bool) {
	q, h := &s.search, &s.levels.thresholds[i]
	r, known = s.enclose(h.Of, a, b)
	if h.Falls {
		r = ode.Enclosure{Low: h.Level - r.High, High: h.Level - r.Low, SlopeLow: -r.SlopeHigh, SlopeHigh: -r.SlopeLow}
	} else {
		r.Low, r.High = r.Low-h.Level, r.High-h.Level
	}
	r.Low, r.High = r.Low+q.bias[i], r.High+q.bias[i]
	return r, known
}

// enclose returns bounds of a quantity from a to b; known is false if there are none.
func (s *Simulator) enclose(of int, a, b float64) (r ode.Enclosure, known bool) {
	q, n := &s.search, len(s.Y)
	s.stats.Enclosures++
	if of < n {
		q.single[0] = of
		s.integrator.Enclose(q.single[:], a, b, q.wide)
		return q.wide[of], true
	}
	s.integrator.Enclose(s.reads, a, b, q.wide)
	r, _, known = s.sys.Enclose(a, b, q.wide, &s.Discrete, of-n)
	return r, known
}

// many is the number of levels of a line from which on they are searched in parts of a step.
const many = 4

// part appends the watched indicators of a line which may change in a part of the step to those near zero, and returns
// the end of this part, which begins at a time and ends at another one at most. Where a quantity passes many levels,
// each event would look at all of them again otherwise.
func (s *Simulator) part(line int, from, end float64) float64 {
	q, x := &s.search, &s.levels.lines[line]
	passed := func(to float64) []int32 {
		r, known := s.enclose(x.of, from, to)
		if !known {
			r = Unknown
		}
		return x.within(q.places[line], r.Low, r.High)
	}
	shortest, to := (s.integrator.T()-s.integrator.From())/4096, end
	all := passed(end)
	some := all
	for len(some) > many && to-from > shortest {
		to = from + (to-from)/2
		some = passed(to)
	}
	if 2*len(some) > len(all) {
		to, some = end, all
	}
	s.stats.Looks += len(some)
	for _, place := range some {
		if i := x.who[place]; s.watch[i] != 0 {
			q.near = append(q.near, i)
		}
	}
	return to
}

// Five evenly spaced samples of a polynomial of degree four: by how much it leaves their range, and its rate the range
// of the rates between them, in terms of the width of this range.
const (
	overshoot     = 0.61
	rateOvershoot = 2.17
)

// estimate returns what would be bounds of the value of indicator i over a part of the step, if this were a polynomial
// of degree four in time; known is false if it is not finite there.
func (s *Simulator) estimate(u, v float64) (r ode.Enclosure, known bool) {
	h := (s.time(v) - s.time(u)) / (samples - 1)
	r = ode.Enclosure{Low: math.Inf(1), High: math.Inf(-1), SlopeLow: math.Inf(1), SlopeHigh: math.Inf(-1)}
	last := 0.0
	for k := range samples {
		g := s.sampleAt(u + (v-u)*float64(k)/(samples-1))
		r.Low, r.High = min(r.Low, g), max(r.High, g)
		if rate := (g - last) / h; k > 0 {
			r.SlopeLow, r.SlopeHigh = min(r.SlopeLow, rate), max(r.SlopeHigh, rate)
		}
		last = g
	}
	by, rate := overshoot*(r.High-r.Low), rateOvershoot*(r.SlopeHigh-r.SlopeLow)
	return ode.Enclosure{Low: r.Low - by, High: r.High + by, SlopeLow: r.SlopeLow - rate, SlopeHigh: r.SlopeHigh + rate},
		finite(by) && finite(rate)
}

// firstChange returns the bracket [l, r] of the first watched change of indicator i after from and until a time,
// r = +Inf if there is none. Parts of the step, each half of a larger one, are divided until bounds exclude a change in
// them, or until a change is the only one. The brackets depend only on the step. Bounds that need too many parts are
// estimated instead.
func (s *Simulator) firstChange(i int, from, until float64) (l, r float64) {
	p := &s.search.proof
	*p = proof{i: i, from: from, until: until, above: s.search.side[i], dip: math.Inf(1), r: math.Inf(1), zone: -1,
		left: effort, returns: s.chatter.at[i] == s.integrator.From() && s.restarted == s.integrator.From()}
	s.limit(&s.search.one, i)
	s.divide(0, 1)
	if p.left < 0 && s.proved(i) {
		s.giveUp(i)
		return s.firstChange(i, from, until)
	}
	if s.search.dip[i] = p.dip; p.r > until {
		p.r = math.Inf(1)
	}
	return p.l, p.r
}

// divide follows the indicator through a part of the step, and through its halves where that is necessary.
func (s *Simulator) divide(u, v float64) {
	p, a, b := &s.search.proof, s.time(u), s.time(v)
	proved := s.proved(p.i)
	if b <= p.from || a >= p.until || p.r < math.Inf(1) || proved && p.left < 0 {
		return
	}
	p.left--
	var bounds ode.Enclosure
	var known bool
	if proved {
		bounds, known = s.bounds(p.i, a, b)
	} else {
		bounds, known = s.estimate(u, v)
	}
	if known && (p.above && bounds.Low >= 0 || !p.above && bounds.High < 0) {
		return
	}
	last := s.sampleAt(v)
	changes := beyond(last, p.above)
	if known && (bounds.SlopeLow >= 0 || bounds.SlopeHigh <= 0) {
		if changes {
			s.changed(a, b, last)
		}
		return
	}
	start := max(a, p.from)
	if known && !changes && excludes(s.valueAt(start), last, b-start, bounds) {
		return
	}
	m, width := u+(v-u)/2, narrowest
	if p.returns { // a ball may have bounced meanwhile, however low
		width *= v
	}
	if v-u <= width || !(a < s.time(m) && s.time(m) < b) || p.left < 0 && v-u <= 1.0/looks || s.touching(a, bounds) {
		switch {
		case changes:
			s.changed(a, b, last)
		case v-u <= width || p.left < 0:
			s.stats.Unproved++
		}
		return
	}
	s.divide(u, m)
	s.divide(m, v)
}

// touching reports whether the indicator stays in the zone of its accuracy at the sharpest tolerances in a part of the
// step. If its event at the start of the step has sent it back, as the impact of a ball does, it does not touch.
func (s *Simulator) touching(a float64, bounds ode.Enclosure) bool {
	q := &s.search
	p := &q.proof
	if p.returns {
		return false
	}
	if p.zone < 0 {
		s.integrator.Interpolate(a, q.cut[:len(s.Y)])
		s.functions(a, q.cut, &q.one)
		p.zone = s.zone(p.i, a, q.cut) * min(1, sharpest/math.Ldexp(s.options.RelTol, -q.halved))
		s.limit(&q.one, p.i)
	}
	return -p.zone <= bounds.Low && bounds.High <= p.zone
}

// valueAt returns the value of the indicator at a time within the step.
func (s *Simulator) valueAt(t float64) float64 {
	q := &s.search
	s.evaluate(t, q.q, &q.one)
	return s.value(q.q, q.proof.i)
}

// sampleAt returns the value of the indicator at a part of the step.
func (s *Simulator) sampleAt(part float64) float64 {
	p := &s.search.proof
	if k := part * (samples - 1); k == math.Trunc(k) && !s.proved(p.i) {
		return s.value(s.row(int(k)), p.i)
	}
	return s.valueAt(s.time(part))
}

// changed notes a change in a part of the step at whose end the value is last.
func (s *Simulator) changed(a, b, last float64) {
	p := &s.search.proof
	if finite(last) && !s.wants(p.i, !p.above) {
		p.above, p.dip = !p.above, b
		return
	}
	s.search.index, s.search.above = p.i, p.above
	if a < p.from && !beyond(s.valueAt(a), p.above) {
		p.l, p.r = s.edge(a, b)
	}
	if p.r <= p.from || math.IsInf(p.r, 1) {
		p.l, p.r = s.edge(max(a, p.from), b)
	}
	p.r = s.across(p.r, b)
}

// across returns the time at which the indicator is finite again, if it is not at a time only because its trajectory
// goes through a pole there, and otherwise that time. A pole on which the rounded states lie is a few numbers wide.
func (s *Simulator) across(at, b float64) float64 {
	for t, width := at, ulp(at); t < b && width < wideness*(b-s.integrator.From()); t, width = at+width, 2*width {
		if finite(s.valueAt(t)) {
			return t
		}
	}
	return at
}

// excludes reports whether a function between two values of one side, at a distance in time, cannot reach zero: it
// would have to change faster than it can.
func excludes(first, last, distance float64, bounds ode.Enclosure) bool {
	down, up := bounds.SlopeLow, bounds.SlopeHigh
	if first < 0 {
		first, last, down, up = -first, -last, -up, -down
	}
	// The lowest point of both lines, from the first value down and to the last one up.
	lowest := (up*first - down*last + down*up*distance) / (up - down)
	return lowest > 1e-9*(math.Abs(first)+math.Abs(last))
}

// box holds bounds of a function over more than a step: they hold as long as time and the states that the function
// reads stay within.
type box struct {
	until     float64
	of        []int           // states
	within    []ode.Enclosure // of each
	low, high float64         // of the function
	changes   int             // search.changes then
	reach     float64         // how far a new box reaches beyond a step, in ranges of this step
}

// Reach of a box: that of the first, by what it grows when the box is left, and shrinks when its bounds do not suffice.
const (
	firstReach = 8
	grows      = 2
	shrinks    = 4
	farthest   = 1e6
)

// holds reports whether the box holds over the present step.
func (b *box) holds(end float64, ranges []ode.Enclosure) bool {
	if end > b.until {
		return false
	}
	for k, i := range b.of {
		if r := &ranges[i]; r.Low < b.within[k].Low || r.High > b.within[k].High {
			return false
		}
	}
	return true
}

// far returns bounds of a function that hold over this step, from its box; exact, if they are those of the step itself.
func (s *Simulator) far(function int) (low, high float64, known, exact bool) {
	q, b, end := &s.search, &s.search.boxes[function], s.integrator.T()
	if !q.enclosed {
		s.integrator.Enclose(s.reads, s.integrator.From(), end, q.ranges)
		q.enclosed = true
	}
	if (b.changes == q.changes || !s.levels.loose[function]) && b.holds(end, q.ranges) {
		return b.low, b.high, true, false
	}
	if b.reach < 1 {
		b.reach *= grows
		low, high, known = s.over(function)
		return low, high, known, true
	}
	for _, i := range s.reads {
		r := q.ranges[i]
		by := b.reach * (r.High - r.Low)
		q.wide[i] = ode.Enclosure{Low: r.Low - by, High: r.High + by, SlopeLow: math.Inf(-1), SlopeHigh: math.Inf(1)}
	}
	from := s.integrator.From()
	b.until, b.changes = end+b.reach*(end-from), q.changes
	r, of, known := s.sys.Enclose(from, b.until, q.wide, &s.Discrete, function)
	s.stats.Enclosures++
	b.of = append(b.of[:0], of...)
	b.within = b.within[:0]
	for _, i := range of {
		b.within = append(b.within, q.wide[i])
	}
	if b.low, b.high, b.reach = r.Low, r.High, min(b.reach*grows, farthest); !known {
		b.drop()
	}
	return b.low, b.high, known, false
}

// drop ends a box whose bounds do not suffice.
func (b *box) drop() { b.until, b.reach = math.Inf(-1), max(b.reach/shrinks, 1.0/shrinks) }

// over returns bounds of a function over this step.
func (s *Simulator) over(function int) (low, high float64, known bool) {
	r, _, known := s.sys.Enclose(s.integrator.From(), s.integrator.T(), s.search.ranges, &s.Discrete, function)
	s.stats.Enclosures++
	return r.Low, r.High, known
}

// proved reports whether the changes of an indicator are proved in this step.
func (s *Simulator) proved(i int) bool {
	return s.search.known[s.levels.thresholds[i].Of]
}

// giveUp leaves the quantity of an indicator to samples, and that of a function in the next steps as well.
func (s *Simulator) giveUp(i int) {
	q, of, n := &s.search, s.levels.thresholds[i].Of, len(s.Y)
	q.known[of] = false
	if of >= n {
		q.skip[of-n] = recess
		q.sample.functions = append(q.sample.functions, of-n)
		slices.Sort(q.sample.functions)
	}
	q.forget()
	s.stats.Unproved++
}

// recess is the number of steps for which a function is left to samples after a proof was given up.
const recess = 30
