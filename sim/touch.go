package sim

import (
	"math"
	"slices"
)

// A value is known only to its accuracy. A change of side on the trajectory is an event if the indicator goes on to
// leave the zone around zero in which the accuracy of its value leaves its side open; the event is then where the value
// is zero. If it returns from this zone, it touches zero: it keeps its side.
//
// The error of one state can be larger than its accuracy while the errors of the others are small. In the wide zone,
// that of such an error, an indicator that does not leave it on either side, as far as the search looks ahead, touches
// zero as well: it approaches it. While it touches zero, it keeps its side until it leaves the wide zone. Beyond zero
// this is an event; on its own side the touch has ended.
//
// An indicator that touches zero has a bias, the half-width of the wide zone with the sign of its side. With it added,
// the value changes sign where the wide zone ends.

const (
	accuracy = 4    // error of a state that is usual, in tolerances for one step
	loose    = 1e-6 // no relative tolerance is looser in this
	ahead    = 200  // steps that the search looks ahead
	finer    = 12   // halvings of a gap
)

// wide is the ratio of the two zones. The norm of errors, their root mean square, permits an error of one state that is
// the root of the number of states times its tolerance; of more than 16 states, such an error is hardly in one alone.
func (s *Simulator) wide() float64 { return 0.75 * math.Sqrt(float64(min(max(2, len(s.Y)), 16))) }

// value returns the value of an indicator from the quantities, with its bias.
func (s *Simulator) value(quantities []float64, i int) float64 {
	return s.levels.value(quantities, i) + s.search.bias[i]
}

// tolerance returns the tolerance of a state's error in one step at the value y.
func (s *Simulator) tolerance(state int, y float64) float64 {
	w := s.integrator.AbsTol(state)
	if s.options.AbsTol == nil {
		w = min(w, loose)
	} else {
		w *= min(1, loose/s.options.RelTol)
	}
	return w + min(s.options.RelTol, loose)*math.Abs(y)
}

// zone returns the half-width of the zone around zero in which the side of indicator i is open at (t, v): the change of
// its value if the states change by their accuracy. The states of a function are changed together, up or down by the
// binary digits of their numbers: any two of them are changed both in the same and in opposite directions.
func (s *Simulator) zone(i int, t float64, v []float64) float64 {
	n, of := len(s.Y), s.levels.thresholds[i].Of
	if of < n {
		return s.accuracy * s.tolerance(of, v[of])
	}
	changed, zone := s.search.q, 0.0
	s.limit(&s.search.one, i)
	for bit := -1; bit < 0 || n>>bit > 0; bit++ {
		for j := range n {
			w := s.accuracy * s.tolerance(j, v[j])
			if s.sys.Constant != nil && s.sys.Constant[j] { // it has no error
				w = 0
			}
			if bit >= 0 && j>>bit&1 == 1 {
				w = -w
			}
			changed[j] = v[j] + w
		}
		s.functions(t, changed, &s.search.one)
		if d := math.Abs(changed[of] - v[of]); finite(d) {
			zone = max(zone, d)
		}
	}
	return zone
}

// touches reports whether indicator i, found beyond zero at a time within the step and there with the quantities v,
// only touches it. The indicator then has its bias. It does not touch zero if its last event sent it back at once, as
// the impact of a ball does.
func (s *Simulator) touches(i int, at float64, side bool, v []float64) bool {
	q := &s.search
	if q.bias[i] != 0 || !finite(s.value(v, i)) || s.chatter.at[i] == s.restarted && s.narrow(i) {
		return false
	}
	q.zone[i] = s.zone(i, at, v)
	if q.zone[i] == 0 || s.crosses(i, at, side, q.zone[i]) {
		return false
	}
	s.hold(i, s.wide()*q.zone[i], side)
	q.touched = append(q.touched, i)
	return true
}

// hold keeps an indicator on a side as long as it is in the zone.
func (s *Simulator) hold(i int, zone float64, above bool) {
	q := &s.search
	s.release(i)
	if q.bias[i] = zone; !above {
		q.bias[i] = -zone
	}
	if zone != 0 {
		q.touching = append(q.touching, i)
	}
}

// crosses reports whether indicator i, found beyond zero at a time within the step, crosses it: it leaves the wide zone
// there, or leaves the zone there and the wide zone on the side where it was. It looks ahead beyond the step.
func (s *Simulator) crosses(i int, at float64, side bool, zone float64) bool {
	q, wide, most := &s.search, s.wide()*zone, 0.0
	s.limit(&q.one, i)
	beyond := func(v []float64) float64 { // by how much it is beyond zero
		x := s.levels.value(v, i)
		if side {
			x = -x
		}
		most = max(most, x)
		return x
	}
	within := func(t float64) float64 {
		s.evaluate(t, q.q, &q.one)
		return beyond(q.q)
	}
	decided := func(x float64) bool { return !finite(x) || most > wide || x < -wide || x <= 0 && most <= zone }
	from := at
	for k := range q.gaps {
		hi := s.time(k + 1)
		if hi <= at {
			continue
		}
		x := within(hi)
		for part := 0; x <= 0 && part < finer; part++ { // in between, it may have been farther beyond
			within(from + math.Ldexp(hi-from, part-finer))
		}
		if decided(x) {
			return !(most <= zone)
		}
		from = hi
	}
	if s.scout == nil {
		s.scout = s.newIntegrator()
	}
	s.scout.CopyFrom(s.integrator)
	defer func() { s.stats.Evaluations += s.scout.Stats().Evaluations - s.integrator.Stats().Evaluations }()
	rises, last := true, math.Inf(-1) // a value that goes on slowly leaves the zone some time
	for range ahead {
		if s.scout.Step(math.Inf(1)) != nil {
			return true
		}
		a, b := s.scout.From(), s.scout.T()
		for _, part := range q.part[1:] {
			t := a + (b-a)*part
			s.scout.Interpolate(min(t, b), q.q[:len(s.Y)])
			s.functions(t, q.q, &q.one)
			x := beyond(q.q)
			if decided(x) {
				return !(most <= zone)
			}
			rises, last = rises && x > last, x
		}
	}
	return rises
}

// letGo ends the touch of indicators that have left the zone on their side, by the quantities at the start of a step.
func (s *Simulator) letGo(v []float64) {
	for _, i := range slices.Backward(s.search.touching) {
		if g := s.value(v, i); math.Abs(g) > 2*math.Abs(s.search.bias[i]) && (g >= 0) == s.Above[i] {
			s.release(i)
		}
	}
}

// release takes an indicator's bias.
func (s *Simulator) release(i int) {
	q := &s.search
	if q.bias[i] == 0 {
		return
	}
	q.bias[i] = 0
	k := slices.Index(q.touching, i)
	q.touching = slices.Delete(q.touching, k, k+1)
}
