package rates

import (
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// Invariants are ranges of states that no run from the declared start leaves. They rest on the equations alone, not on
// declared facts and ranges.
//
// Each side of a box of states that contains the start is one of two kinds. Where the state is beyond it, up to a
// slack, and the others are in the box, its derivative does not lead further (M. Nagumo, Über die Lage der
// Integralkurven gewöhnlicher Differentialgleichungen, 1942); or the run ends before the state, at its greatest rate in
// the box, gets there. Rates are those of all tasks, and of none. No event sets a state to what is outside the box.
//
// The slack is what errors of the integration explain: steps near a side err by its tolerance. A flight that is beyond
// a side by an error is still where the derivative leads back, or is zero.

const (
	share     = 1e-3  // of the way from the start to a side, in its slack
	few       = 100   // tolerances, as in the ranges that runs watch
	patience  = 4     // rounds, after which ranges grow by more than they need
	forced    = 10    // rounds, after which they grow without bound
	trial     = 16    // evaluations of a rate
	steepest  = 30    // sizes of a range that are tried, each 4 times the one before
	halvings  = 12    // of the distance between a size that is too small and one that is not
	maxRates  = 6_000 // that are evaluated for all ranges
	maxStates = 100   // of a vehicle of which ranges are searched
	tightens  = 10    // rounds in which ranges are made smaller
)

// enclosure is a box of states. Ends of ranges are measured outwards: the lower one is negated.
type enclosure struct {
	t     *Table       // of the equations alone; its ranges are the box with its slacks
	start [][2]float64 // by state and end, outwards
	ends  [][2]float64 // of the box without slacks
	tasks [][]bt.Task  // by state: those in which its rate may differ
	until float64      // the end of every run [s]
	rates int          // that were evaluated
}

// enclose returns the table of the equations alone, with the ranges of the states that no run from the declared start
// leaves; nil: none is known.
func (t *Table) enclose() *Table {
	states := t.m.Vehicle.States
	if t.program || len(states) > maxStates {
		return nil
	}
	bare := *t
	bare.facts, bare.evaluations = nil, trial
	bare.found, bare.matters = map[key]answer{}, map[key][]string{}
	bare.ranges = map[string]interval.Interval{"t": t.ranges["t"]}
	e := &enclosure{t: &bare, until: t.until, tasks: make([][]bt.Task, len(states))}
	for i, x := range t.m.Starts(t.vehicle) {
		e.start = append(e.start, [2]float64{-x.Low, x.High})
		e.ends = append(e.ends, e.start[i])
		e.set(i)
	}
	if !e.grow() {
		return nil
	}
	for round, more := 0, true; more && round < tightens; round++ {
		more = e.tighten()
	}
	bare.follow()
	return &bare
}

// slack returns the slack of an end. States that only events set have none.
func (e *enclosure) slack(i, k int) float64 {
	m := e.t.m
	if d := m.Vehicle.Discrete; d != nil && d[i] != "" || math.IsInf(e.ends[i][k], 1) {
		return 0
	}
	end, start := e.ends[i][k], e.start[i][k]
	tolerance := m.Vehicle.States[i].AbsTol * m.Tolerance / mission.DefaultTolerance
	return share*(end-start) + few*(tolerance+m.Tolerance*max(math.Abs(end), math.Abs(start)))
}

// set widens the range of a state by its slacks.
func (e *enclosure) set(i int) {
	e.t.ranges[e.t.m.Vehicle.States[i].Name] = interval.Between(-e.ends[i][0]-e.slack(i, 0), e.ends[i][1]+e.slack(i, 1))
}

// try moves an end, and reports whether no run passes it.
func (e *enclosure) try(i, k int, end float64) bool {
	e.ends[i][k] = end
	e.set(i)
	return e.holds(i, k)
}

// holds reports whether no run passes an end of a range.
func (e *enclosure) holds(i, k int) bool {
	name, end := e.t.m.Vehicle.States[i].Name, e.ends[i][k]
	if math.IsInf(end, 1) {
		return true
	}
	limit, from := outwards(e.t.ranges[name], k), e.start[i][k]
	var set []interval.Interval // by events
	for _, r := range e.t.formulas.Resets {
		if r.State == i {
			set = append(set, e.t.anytime().Evaluate(r.Value, r.As).Interval)
			from = max(from, outwards(set[len(set)-1], k))
		}
	}
	if from > limit {
		return false
	}
	beyond := interval.Between(end, limit)
	if k == 0 {
		beyond = beyond.Negative()
	}
	with, sent := e.switched(i, beyond, append(set, interval.Between(-e.start[i][0], e.start[i][1])))
	return sent || e.slower(i, k, 0, with) || e.slower(i, k, (end-from)/e.until, nil)
}

// switched returns the ranges of signals where a state, which comes from certain values, is in a range: with it, the
// discrete values that events have set as the state came beyond a limit, and that no other event can set there. sent
// reports that such an event sends the state back at once.
func (e *enclosure) switched(i int, in interval.Interval, from []interval.Interval) (
	with map[string]interval.Interval, sent bool,
) {
	t, name := e.t, e.t.m.Vehicle.States[i].Name
	with = map[string]interval.Interval{name: in}
	for k, r := range t.formulas.Resets {
		beyond, ok := side(r.When, name)
		if !ok || !in.Within(beyond) || slices.ContainsFunc(from, func(x interval.Interval) bool {
			_, meets := x.Meet(beyond)
			return meets
		}) {
			continue
		}
		there := t.within(map[string]interval.Interval{name: beyond})
		others := slices.Delete(slices.Clone(t.formulas.Resets), k, k+1)
		switch d := t.m.Vehicle.Discrete; {
		case r.State == i:
			sent = true
		case d != nil && d[r.State] != "" && !slices.ContainsFunc(others, func(o equations.Reset) bool {
			return o.State == r.State && there.Truth(o.When).True
		}):
			with[t.m.Vehicle.States[r.State].Name] = t.anytime().Evaluate(r.Value, r.As).Interval
		}
	}
	return with, sent
}

// side returns the values of a state for which a condition holds that compares it with a constant; ok is false if the
// condition is another one.
func side(condition *expr.Expr, state string) (x interval.Interval, ok bool) {
	l, towards := condition.Logic(nil), math.Inf(1)
	if l.Op == expr.LogicNot {
		l, towards = l.Args[0], math.Inf(-1)
	}
	if l.Op != expr.LogicThreshold || l.Signal != state {
		return x, false
	}
	limit := l.Limit
	if l.Strict == (towards > 0) { // without the limit
		limit = math.Nextafter(limit, towards)
	}
	return interval.Between(min(limit, towards), max(limit, towards)), true
}

// outwards returns an end of an interval.
func outwards(x interval.Interval, k int) float64 {
	if k == 0 {
		return -x.Low
	}
	return x.High
}

// slower reports whether no rate of a state outwards is above a limit.
func (e *enclosure) slower(i, k int, limit float64, in map[string]interval.Interval) bool {
	for _, task := range e.tasks[i] {
		e.rates++
		r := e.t.derive(task, e.t.m.Vehicle.States[i].Name, in).rate
		if !(outwards(interval.Interval{Low: r.Low, High: r.High}, k) <= limit) {
			return false
		}
	}
	return true
}

// distinguish finds the tasks in which the rates of states may differ: by the values that slots may have.
func (e *enclosure) distinguish() {
	for i := range e.tasks {
		e.tasks[i] = nil
		known := map[string]bool{}
		for _, task := range append(e.t.actions(), declare.Idle) {
			var text []byte
			for _, slot := range e.t.needs(task, e.t.m.Vehicle.States[i].Name).slots {
				for _, s := range e.t.sources(slot, task) {
					text = fmt.Appendf(text, "%d %p %v\n", slot, s.value, s.frozen)
				}
			}
			if !known[string(text)] {
				known[string(text)] = true
				e.tasks[i] = append(e.tasks[i], task)
			}
		}
	}
}

// grow moves the ends outwards until no run passes any of them; it reports false if that takes too long.
func (e *enclosure) grow() bool {
	for round, again := 0, true; again; round++ {
		e.t.follow()
		e.distinguish()
		again = false
		for i := range e.ends {
			for k := range e.ends[i] {
				if e.rates > maxRates {
					return false
				}
				if e.holds(i, k) {
					continue
				}
				again = true
				if e.extend(i, k); round >= patience {
					e.ends[i][k] += (e.ends[i][k] - e.start[i][k]) * math.Exp2(float64(round-patience))
				}
				if round >= forced {
					e.ends[i][k] = math.Inf(1)
				}
				e.set(i)
			}
		}
	}
	return true
}

// extend moves an end to the nearest place known beyond which no run gets, as long as the other ranges stay.
func (e *enclosure) extend(i, k int) {
	from := e.ends[i][k]
	step, fails := max(e.slack(i, k), share*math.Abs(from)), from
	for range steepest {
		if e.try(i, k, from+step) {
			e.approach(i, k, fails)
			return
		}
		fails, step = from+step, 4*step
	}
	e.ends[i][k] = math.Inf(1)
	e.set(i)
}

// approach moves an end inwards, to a number with few digits if that holds, but not to one that fails.
func (e *enclosure) approach(i, k int, fails float64) {
	holds := e.ends[i][k]
	for range halvings {
		if middle := fails + (holds-fails)/2; e.try(i, k, middle) {
			holds = middle
		} else {
			fails = middle
		}
	}
	largest := max(math.Abs(holds), math.Abs(fails))
	for unit := math.Pow(10, math.Ceil(math.Log10(largest))); unit > (holds-fails)/10; unit /= 10 {
		if short := math.Ceil(fails/unit) * unit; short > fails && short <= holds && e.try(i, k, short) {
			return
		}
	}
	e.try(i, k, holds)
}

// tighten moves ends inwards: what leads into a box leads into the smaller one as well. It reports whether one has
// moved by more than its slack.
func (e *enclosure) tighten() (more bool) {
	for i := range e.ends {
		for k, end := range e.ends[i] {
			if e.rates > maxRates || end == e.start[i][k] {
				continue
			}
			switch from := e.start[i][k]; {
			case e.try(i, k, from):
			case math.IsInf(end, 1):
				e.extend(i, k)
			default:
				e.ends[i][k] = end
				e.approach(i, k, from)
			}
			more = more || end-e.ends[i][k] > e.slack(i, k)
		}
	}
	return more
}
