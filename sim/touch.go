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
	accuracy = 4     // error of a state that is usual, in tolerances for one step
	loose    = 1e-6  // no relative tolerance is looser for an indicator that touches zero
	sharpest = 1e-11 // nor sharper to find out whether it does
	sharper  = 6     // halvings of the tolerances at a time
	ahead    = 200   // steps that the search looks ahead
	finer    = 12    // halvings of a gap
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
	return s.integrator.AbsTol(state) + math.Ldexp(s.options.RelTol, -s.search.halved)*math.Abs(y)
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

// touches returns those of the suspects, by the quantities v at T on the trajectory, that only touch zero.
func (s *Simulator) touches(suspects []int, v []float64) []int {
	q := &s.search
	q.unsettled = q.unsettled[:0]
	for _, i := range suspects {
		if s.watch[i] == 0 {
			continue
		}
		if side := q.sideAt(i, s.T); side != (s.value(v, i) >= 0) && s.onlyTouches(i, s.T, side, v) {
			q.unsettled = append(q.unsettled, i)
		}
	}
	return q.unsettled
}

// onlyTouches reports whether indicator i, found beyond zero at a time within the step and there with the quantities v,
// only touches it. It does not if its last event sent it back at once, as the impact of a ball does.
func (s *Simulator) onlyTouches(i int, at float64, side bool, v []float64) bool {
	q := &s.search
	coarse := math.Ldexp(s.options.RelTol, -q.halved) > loose // looser than any tolerance that decides a touch
	if q.bias[i] != 0 && !coarse || !finite(s.value(v, i)) || s.chatter.at[i] == s.restarted && s.narrow(i) {
		return false
	}
	q.zone[i] = s.zone(i, at, v)
	return q.zone[i] > 0 && !s.jumps(i, at, v) && !s.crosses(i, at, side, q.zone[i])
}

// A touch is judged at smaller tolerances: the step is repeated with them, until the indicator leaves the zone, which
// has become smaller, or until the tolerances are the sharpest. They stay until an indicator that has left the zone
// there is as far from zero as the zone at the given tolerances is wide.

// fine is an indicator that is judged at smaller tolerances.
type fine struct {
	who    int
	until  float64 // at least
	halved int     // how many times they are halved
	width  float64 // half-width of the wide zone at the given tolerances
}

// sharpen makes the tolerances smaller for indicators that seem to touch zero at a time, and reports whether it could.
func (s *Simulator) sharpen(touching []int) bool {
	q := &s.search
	halved := q.halved + sharper
	if s.slide.on || math.Ldexp(s.options.RelTol, -halved) < sharpest {
		return false
	}
	for _, i := range touching {
		if k := slices.IndexFunc(q.fine, func(f fine) bool { return f.who == i }); k >= 0 {
			q.fine[k].halved, q.fine[k].until = halved, s.T
		} else {
			q.fine = append(q.fine, fine{i, s.T, halved, s.wide() * math.Ldexp(q.zone[i], q.halved)})
		}
	}
	s.setTolerances()
	return true
}

// setTolerances sets the tolerances that the indicators which are judged at smaller ones need.
func (s *Simulator) setTolerances() {
	q := &s.search
	most := 0
	for _, f := range q.fine {
		most = max(most, f.halved)
	}
	if most != q.halved {
		q.halved = most
		s.integrator.Sharpen(most)
	}
}

// loosen leaves the smaller tolerances of indicators that are no longer near zero, at the start of a step.
func (s *Simulator) loosen() {
	q := &s.search
	q.fine = slices.DeleteFunc(q.fine, func(f fine) bool {
		if s.T < f.until {
			return false
		}
		s.limit(&q.one, f.who)
		s.evaluate(s.T, q.q, &q.one)
		return s.watch[f.who] == 0 || !(math.Abs(s.levels.value(q.q, f.who)) <= 2*f.width)
	})
	s.setTolerances()
}

// touch keeps an indicator on a side: it touches zero. It then needs no sharper tolerances than loose ones.
func (s *Simulator) touch(i int, side bool) {
	q, needed := &s.search, 0
	for math.Ldexp(s.options.RelTol, -needed) > loose {
		needed += sharper
	}
	width := s.wide() * math.Ldexp(q.zone[i], q.halved-needed)
	q.fine = slices.DeleteFunc(q.fine, func(f fine) bool { return f.who == i })
	if needed > 0 {
		q.fine = append(q.fine, fine{i, s.T, needed, width})
	}
	s.setTolerances()
	s.hold(i, width, side)
	q.touched = append(q.touched, i)
}

// jumps reports whether indicator i, of the quantities v at a time, jumps there: between this time and the number
// before it, its value changes by a good part of its zone.
func (s *Simulator) jumps(i int, at float64, v []float64) bool {
	q := &s.search
	before := math.Nextafter(at, s.integrator.From())
	if before == at {
		return false
	}
	s.limit(&q.one, i)
	s.evaluate(before, q.q, &q.one)
	return math.Abs(s.value(v, i)-s.value(q.q, i)) > q.zone[i]/16
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
	for k := range looks {
		hi := s.time(float64(k+1) / looks)
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
		for k := range looks {
			t := a + (b-a)*float64(k+1)/looks
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

// letGo ends the touch of indicators that have left the zone on their side, at the start of a step.
func (s *Simulator) letGo() {
	q := &s.search
	for _, i := range slices.Backward(q.touching) {
		s.limit(&q.one, i)
		s.evaluate(s.T, q.q, &q.one)
		if g := s.value(q.q, i); math.Abs(g) > 2*math.Abs(q.bias[i]) && (g >= 0) == s.Above[i] {
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
