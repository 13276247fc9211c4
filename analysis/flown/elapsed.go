package flown

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/snapshot"
)

// The time since an action was activated is the clock less an entry with the time at which that was (plan.Leaf.Start).
// A relation of it with a constant is a question about a clock, which starts when the entry is set and stops when the
// action rests. Only one plan is measured: the clocks of unknown lengths of two are paired.

// timed is an indicator that compares such a time with a constant.
type timed struct {
	start  int     // of the entries, by number
	length float64 // [s]
	falls  bool    // above up to the length and at it, else from the length on
}

// ends returns the relations of a clock with the length while the time has passed, and while it has not.
func (x timed) ends() (yes, no zone.Relation) {
	if x.falls {
		return zone.After, zone.AtMost
	}
	return zone.AtLeast, zone.Before
}

// Measure makes the steps of one plan follow the times since activations, before the first step; else they are free.
func (s *Stepper) Measure(p *plan.Plan) {
	s.since, s.startOf = map[int]timed{}, map[string]int{}
	for i := range p.Leaves {
		if name := p.Leaves[i].Start; name != "" {
			s.startOf[name], s.started = len(s.started), append(s.started, i)
		}
	}
	s.longestSince = make([]float64, len(s.started))
	for k := range s.indicators {
		s.time(k)
	}
}

// time notes whether a new indicator compares a time since an activation with a constant.
func (s *Stepper) time(k int) {
	x := &s.indicators[k]
	if len(s.started) == 0 || !x.Alone() || len(x.Reads()) != 2 {
		return
	}
	e, err := expr.Parse(x.Text)
	if err != nil || len(e.Check(expr.Boolean, expr.AnyUnit, nil)) > 0 {
		return
	}
	l := e.Logic(nil)
	if l.Op == expr.LogicNot {
		l = l.Args[0]
	}
	terms, limit := l.Linear()
	if len(terms) != 2 || terms[0].Factor != -terms[1].Factor {
		return
	}
	clock := slices.IndexFunc(terms, func(t expr.Term) bool { return t.Signal == "t" })
	if clock < 0 {
		return
	}
	n, known := s.startOf[terms[1-clock].Signal]
	length := limit / terms[clock].Factor
	if !known || !(length >= 0) || math.IsInf(length, 0) {
		return
	}
	s.since[k] = timed{n, length, terms[clock].Factor < 0}
	s.timed = append(s.timed, k)
	s.longestSince[n] = max(s.longestSince[n], length)
}

// Times reports whether all that depends on the time since an activation, which an entry has, follows a clock: it is
// compared with constants only.
func (s *Stepper) Times(start string) bool {
	place := s.places[start]
	reads := func(c *expr.Code) bool { return c != nil && slices.Contains(c.Reads(), place) }
	for k := range s.indicators {
		if _, known := s.since[k]; !known && slices.Contains(s.indicators[k].Reads(), place) {
			return false
		}
	}
	return !slices.ContainsFunc(s.p.Leaves, func(l executive.Leaf) bool { return reads(l.EntryTime) || reads(l.ExitTime) })
}

// Measured returns the sum of the times since activations that limit what follows [s]: of each action the longest.
func (s *Stepper) Measured() float64 {
	sum := 0.0
	for _, length := range s.longestSince {
		sum += length
	}
	return sum
}

// clockOf returns the clock of the time since an activation.
func (w *world) clockOf(start int) int {
	return w.clocks + len(w.s.p.Leaves) + len(w.s.Tree.Timers()) + start
}

// passed reports whether the time since an activation has reached a length, or is beyond it.
func (w *world) passed(x timed) bool {
	c := w.clockOf(x.start)
	least, most := zone.Seconds(x.length)
	yes, no := x.ends()
	is := w.zone.Allows(c, yes, least)
	if is && w.zone.Allows(c, no, most) {
		is = w.choose(question{kind: ended, index: c, limit: x.length, open: x.falls})
	}
	if is {
		w.zone.Restrict(c, yes, least)
	} else {
		w.zone.Restrict(c, no, most)
	}
	return is
}

// split decides for each time since an activation whether it has reached the lengths with which it is compared: how
// long a state may last depends on that.
func (w *world) split() {
	for _, k := range w.s.timed {
		if x := w.s.since[k]; w.zone.Runs(w.clockOf(x.start)) {
			w.passed(x)
		}
	}
}

// awaits reports whether a time since an activation has not reached a length yet.
func (w *world) awaits(x timed) bool {
	c := w.clockOf(x.start)
	least, _ := zone.Seconds(x.length)
	yes, _ := x.ends()
	return w.zone.Runs(c) && !w.zone.Allows(c, yes, least)
}

// pending returns up to which time each clock may run until the next instant: an action whose time is not over yet is
// judged when it is.
func (w *world) pending() (list []limit) {
	for _, k := range w.s.timed {
		if x := w.s.since[k]; w.awaits(x) {
			_, most := zone.Seconds(x.length)
			if x.falls {
				most++ // the instant is just after it
			}
			list = append(list, limit{w.clockOf(x.start), most})
		}
	}
	return list
}

// limit is the latest reading of a clock at the next instant.
type limit struct {
	clock int
	most  zone.Time
}

// awaited passes which times have not reached their lengths. It follows from the readings of the clocks, and keeps
// states apart that may last for other times.
func (w *world) awaited(c *snapshot.Codec) {
	n := len(w.s.timed)
	snapshot.Int(c, &n)
	for i := range n {
		awaits := !c.Loading() && w.awaits(w.s.since[w.s.timed[i]])
		if snapshot.Bool(c, &awaits); c.Failed() {
			return
		}
	}
}
