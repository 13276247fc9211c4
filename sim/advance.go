package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/ode"
)

// Advance computes one segment of the trajectory: to the end of a step, to the next event, to Alarm or to until,
// whichever comes first. At an event Y is the left limit and Above still has the old sides; the owner must call Iterate
// before the next Advance. After an error T, Y and the segment up to T are valid. The error is a *NotFiniteError, a
// *ChatterError (with the segment that ends in its last event), one that wraps ErrEndless or ErrEventIteration, or one
// of the integrator.
func (s *Simulator) Advance(until float64) (Segment, error) {
	switch {
	case s.pending:
		panic("sim: Advance after an event without Iterate")
	case s.T != s.ran.t:
		panic("sim: T was changed from outside")
	case !(until >= s.T) || math.IsNaN(s.Alarm):
		panic("sim: Advance to the past or alarm not a number")
	}
	from := s.T
	s.search.touched = s.search.touched[:0]
	events, err := s.begin()
	s.slide.slid = s.slide.on
	if err != nil {
		return Segment{From: from, To: from}, err
	}
	if len(events) > 0 || s.Alarm <= s.T {
		if err := s.iterate(events); err != nil {
			return Segment{From: from, To: from}, err
		}
		return s.end(from, events, until)
	}
	if until == s.T {
		return Segment{From: from, To: from}, nil
	}
	limit := min(until, s.Alarm)
	for again := true; again; {
		if s.integrator.T() == s.T {
			if err := s.newStep(limit, until); err != nil {
				return Segment{From: from, To: from}, err
			}
		}
		events, again, err = s.travel(min(limit, s.integrator.T()))
	}
	s.ran.t = s.T
	copy(s.ran.y, s.Y)
	s.takeSides()
	if s.iterations > s.options.MaxIterations/2 {
		clear(s.looping)
	}
	s.iterations = 0
	if err != nil {
		return Segment{From: from, To: s.T}, err
	}
	return s.end(from, events, until)
}

// newStep makes a step of the integrator, to the limit at most, or beyond it if alarms end no step.
func (s *Simulator) newStep(limit, until float64) error {
	if len(s.search.fine) > 0 {
		s.loosen()
	}
	if s.options.Interpolate {
		limit = until
	}
	if err := s.integrator.Step(limit); err != nil {
		return s.named(err)
	}
	if err := s.stepped(); err != nil {
		return err
	}
	s.step(s.ran.fresh)
	return nil
}

// stepped checks the integrator's last step: its values must be finite, and time must advance.
func (s *Simulator) stepped() error {
	in, c := s.integrator, &s.crawl
	if y := in.Y(); !ode.Within(y, s.lowest, s.highest) {
		return &NotFiniteError{T: in.T(), Kind: "state", Name: s.sys.States[notFinite(y)]}
	}
	c.longest = max(c.longest, in.T()-in.From())
	if c.steps++; c.steps < crawling {
		return nil
	}
	span := in.T() - c.since
	c.steps, c.since = 0, in.T()
	if span >= crawled*c.longest {
		return nil
	}
	return fmt.Errorf("%w: t = %.9g s, %d steps within %.3g s; the state that moves fastest is %q", ErrCrawl, s.T,
		crawling, span, s.fastest())
}

// fastest returns the name of the state that moves most, in the integrator's norm.
func (s *Simulator) fastest() (name string) {
	slope, most := make([]float64, len(s.Y)), -1.0
	s.sys.Derivatives(s.T, s.Y, &s.Discrete, slope)
	for i, v := range slope {
		scale := math.Abs(s.Y[i]) * s.options.RelTol
		if len(s.options.AbsTol) > 0 {
			scale += s.options.AbsTol[min(i, len(s.options.AbsTol)-1)]
		}
		if v = math.Abs(v) / scale; v > most {
			most, name = v, s.sys.States[i]
		}
	}
	return name
}

// begin detects the owner's changes, restarts the integrator if necessary, and returns the watched indicators that have
// already changed side.
func (s *Simulator) begin() (events []int, err error) {
	r, m := &s.ran, &s.slide
	restart := r.anew || !ode.Within(s.Y, r.y, r.y) || s.driven()
	other := s.Changed() || slices.ContainsFunc(r.flipped, func(i int) bool { return s.Above[i] != r.before.Above[i] })
	for _, i := range r.rewatched {
		other = other || s.watch[i] != r.watch[i]
		r.watch[i] = s.watch[i]
	}
	r.rewatched = r.rewatched[:0]
	if m.on && (restart || s.watch[m.who[0]] == 0) {
		m.end(s)
		restart = true
	}
	if r.after && s.chatter.count >= crowd/2 && s.options.Chattering == Continue {
		m.observe(&s.Discrete)
	}
	r.after = false
	if m.ready && m.begin(s) {
		restart = true
	}
	if restart {
		if i := notFinite(s.Y); i >= 0 {
			return nil, &NotFiniteError{T: s.T, Kind: "state", Name: s.sys.States[i]}
		}
		s.integrator.Restart(s.T, s.Y)
		s.restarted = s.T
		r.anew = false
		s.stats.Restarts++
	}
	copy(r.y, s.Y)
	for _, i := range r.written {
		r.before.U[i] = s.U[i]
	}
	r.written = r.written[:0]
	events = s.events[:0]
	if (restart || other || !r.judged) && s.search.watching > 0 {
		s.search.forget()
		s.evaluateHere()
		if err := s.checkIndicators(s.search.now, s.T); err != nil {
			return nil, err
		}
		r.fresh, r.judged = true, true
		s.start()
		events = s.judge(s.suspects(s.search.now), s.search.now, s.T)
	}
	s.takeSides()
	return events, nil
}

// takeSides records the sides as known.
func (s *Simulator) takeSides() {
	for _, i := range s.ran.flipped {
		s.ran.before.Above[i] = s.Above[i]
	}
	s.ran.flipped = s.ran.flipped[:0]
}

// travel advances to the first event of the current step, at most to end, which lies within the step. If again, it has
// not advanced: a step with smaller tolerances must take the place of this one.
func (s *Simulator) travel(end float64) (events []int, again bool, err error) {
	q := &s.search
	s.ran.fresh, s.ran.judged = false, false
	from := s.T
	if q.watching == 0 {
		s.moveTo(end)
		return nil, false, nil
	}
	s.start()
	if s.slide.on {
		if at, above, ends := s.slide.leave(s, from, end); ends {
			defer func() {
				if err == nil && s.T == at && len(events) == 0 {
					events = s.leave(above)
				}
			}()
			end = at
		}
	}
	at, left := s.firstEvent(from, end)
	if at > end {
		for _, i := range q.near {
			s.stray(i, q.side[i]) // a change in a direction that is not watched
		}
		s.moveTo(end)
		s.ran.judged = end == s.integrator.T()
		if s.ran.fresh = s.ran.judged && q.have[samples-1] && len(q.sample.functions) == len(q.whole.functions); s.ran.fresh {
			s.copyKept(q.now, q.rows[samples-1])
		}
		return nil, false, nil
	}
	if end == s.Alarm && end-at <= 4*ulp(end) {
		at = end // one instant
	}
	s.evaluate(at, q.now, &q.whole)
	if err := s.checkIndicators(q.now, at); err != nil {
		s.moveTo(max(from, left))
		return nil, false, err
	}
	s.moveTo(at)
	suspects := s.suspects(q.now)
	touching := s.touches(suspects, q.now)
	if len(touching) > 0 && s.sharpen(touching) {
		s.moveTo(from)
		s.integrator.Restart(s.T, s.Y)
		s.stats.Restarts++
		return nil, true, nil
	}
	copy(q.now, s.Y)
	q.here, q.old = true, false
	for _, i := range touching {
		s.touch(i, q.sideAt(i, at))
	}
	return s.judge(suspects, q.now, at), false, nil
}

// moveTo sets time and states to t, within the current step.
func (s *Simulator) moveTo(t float64) {
	s.T, s.search.here = t, false
	s.integrator.Interpolate(t, s.Y)
}

// judge compares the indicators that are suspects at t, by the quantities v there, with their previous sides and
// returns the watched changes, with Above on the side that each leaves. Changes in an unwatched direction are committed
// immediately.
func (s *Simulator) judge(suspects []int, v []float64, t float64) (events []int) {
	events = s.events[:0]
	for _, i := range suspects {
		if s.watch[i] == 0 {
			continue
		}
		side, now := s.search.sideAt(i, t), s.value(v, i) >= 0
		if side != now && s.wants(i, now) {
			events = append(events, i)
			now = side
		}
		s.stray(i, now)
	}
	s.events = events
	return events
}

// suspects returns, in declared order, the indicators that may be on other sides by the quantities v than in Above or
// at the start of the search: those with a level between the quantity now and as last committed, those committed alone
// since, those near zero in the present search, and those that touch zero.
func (s *Simulator) suspects(v []float64) []int {
	q := &s.search
	list := append(append(append(q.list[:0], q.strays...), q.near...), q.touching...)
	list = slices.DeleteFunc(list, func(i int) bool { return q.resting[i] })
	for _, l := range q.lines {
		if of := s.levels.lines[l].of; q.committed[of] != v[of] {
			list = s.within(list, l, min(q.committed[of], v[of]), max(q.committed[of], v[of]))
		}
	}
	q.list = s.ordered(list)
	return q.list
}

// within appends the kept indicators of a line with levels from low to high.
func (s *Simulator) within(list []int, l int, low, high float64) []int {
	x := &s.levels.lines[l]
	for _, place := range x.within(s.search.places[l], low, high) {
		list = append(list, x.who[place])
	}
	return list
}

// ordered sorts a list of indicators to look at, without duplicates.
func (s *Simulator) ordered(list []int) []int {
	slices.Sort(list)
	list = slices.Compact(list)
	s.stats.Looks += len(list)
	return list
}

// commit sets the side of an indicator.
func (s *Simulator) commit(i int, above bool) {
	s.search.side[i] = above
	if s.Above[i] != above {
		s.Above[i] = above
		s.search.old = true
		s.search.changes++
		s.ran.flipped = append(s.ran.flipped, i)
		if s.search.bias[i] > 0 != above {
			s.release(i)
		}
	}
}

// stray commits the side of one indicator alone.
func (s *Simulator) stray(i int, above bool) {
	if s.Above[i] != above {
		s.search.strays = append(s.search.strays, i)
	}
	s.commit(i, above)
}

// leave ends a sliding motion, which continues on the given side: it returns the indicators whose committed side is the
// other one. Their values are still zero, within their accuracy.
func (s *Simulator) leave(above bool) (events []int) {
	s.slide.end(s)
	for _, i := range s.slide.who {
		s.hold(i, s.search.zone[i], above)
		if s.Above[i] != above {
			events = append(events, i)
		}
	}
	s.ran.anew = true
	return events
}

// wants reports whether indicator i's change to the given side is an event. An indicator that switches the derivatives
// is watched in both directions, if at all: between events the derivatives must not depend on a side that has changed.
func (s *Simulator) wants(i int, above bool) bool {
	w := s.watch[i]
	if w != 0 && s.sys.Indicators[i].Switches {
		return true
	}
	if above {
		return w&Rising != 0
	}
	return w&Falling != 0
}

// end creates the segment that ends at T with these events, and handles chattering.
func (s *Simulator) end(from float64, events []int, until float64) (Segment, error) {
	seg := Segment{From: from, To: s.T, Events: events, Touched: s.search.touched, Slid: s.slide.slid}
	if s.Alarm <= s.T {
		seg.Alarm, s.Alarm = true, math.Inf(1)
		s.stats.TimeEvents++
	}
	if len(events) == 0 {
		return seg, nil
	}
	s.stats.StateEvents++
	s.pending, s.ran.after = true, true
	if err := s.pace(until); err != nil {
		return seg, err
	}
	c := s.noteEvents(events, until)
	if c != nil && !s.slide.ready {
		return seg, c
	}
	seg.Chatter = c
	return seg, nil
}

// checkIndicators returns the error of the first watched indicator that is not finite.
func (s *Simulator) checkIndicators(v []float64, t float64) error {
	first := len(s.Above)
	for _, l := range s.search.lines {
		x := &s.levels.lines[l]
		if small(v[x.of]) || s.search.watched[l] == 0 {
			continue
		}
		for _, place := range s.search.places[l] {
			i := x.who[place]
			if i < first && s.watch[i] != 0 && !finite(s.levels.value(v, i)) {
				first = i
			}
		}
	}
	if first == len(s.Above) {
		return nil
	}
	return &NotFiniteError{T: t, Kind: "indicator", Name: s.sys.Indicators[first].Name}
}
