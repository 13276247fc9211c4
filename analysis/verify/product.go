package verify

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/temporal"
)

// limits limits the runs that a search visits.
type limits uint8

const (
	anyTime   limits = 0
	noTime    limits = 1 << iota // worlds in which no procedure or timer of known length is under way take next to no time
	atEnds                       // conditions are judged at the ends of instants only
	noJumps                      // each physical signal goes from one interval to a neighbouring one at most
	atRates                      // signals move at their rates
	joinTimes                    // the times at which one state is reached are joined: nothing is refuted
)

// product is the search of the product of a plan, as it is flown, and the monitor of a formula.
type product struct {
	*search[observed]
	*monitor
	m          *Model
	steps      *flown.Stepper
	limits     limits
	conditions []*expr.Logic
	lacks      []*expr.Logic // as of propertyModel
	signals    []signal      // that do not jump
	continuous []continuousSignal
	inside     bool // conditions are judged also within an instant

	flows  [][]flow // by number; 0: none is known before the run
	flowOf map[string]int
	why    string  // the formula cannot be followed
	until  float64 // the bound of what must happen without one [s]
}

// observed is what counts of a state, after a settling, beside that of the plan.
type observed struct {
	monitorState
	cell   string // the intervals of signals
	flows  int    // how signals move
	waits  bool   // a procedure or a timer of a known length is under way
	behind bool   // worlds that took next to no time came before: the clocks are behind, by next to nothing
}

// monitorState is what is to be met, -1: before a run, and the operations "for" that begin again as long as the state
// lasts.
type monitorState struct {
	state int
	again uint64
}

// outcome is the result of such a search.
type outcome struct {
	counterexample
	timed   bool // refuted: an operation "for" decides
	forever bool // refuted: what must happen never does from there on, whatever follows
	ended   bool // refuted: there the plan has ended
	after   bool // it had before
	lasts   bool // refuted: by a world that may last, for nothing is known of the rates of signals
}

// Bounds of such a search.
const (
	maxConditions  = 64
	maxWeak        = 12         // obligations are then at most 924 sets, the largest antichain
	maxTransitions = 50_000     // per effort
	maxFollowed    = 10_000_000 // transitions times tasks, per effort
	maxSmooth      = 1_000_000  // the same of runs without jumps
	maxEdges       = 2_000_000  // of a graph
)

// check searches for a run, with the minimum number of worlds, after whose beginning the formula cannot be met.
func (x *propertyModel) check(steps *flown.Stepper, f *temporal.Formula, p limits) outcome {
	l, why := newMonitor(f, x.conditions, steps.Clocks())
	if why != "" {
		return undecidedBy(why, memoryAdvice)
	}
	y := x.newProduct(steps, l, p)
	y.until, y.lacks = x.until, x.lacks
	for y.from < 0 && y.why == "" && y.more() {
	}
	switch {
	case y.from >= 0:
		return y.refuted()
	case y.why != "":
		return undecidedBy(y.why, monitorAdvice)
	case y.states.Short() != "":
		return undecidedBy(y.states.Short(), "reduce the limits of signals and the free conditions; "+memoryAdvice)
	case y.failed != nil || y.unsettled != nil:
		err := cmp.Or(y.failed, y.unsettled)
		return undecidedBy(untimed(err), flown.Remedy(err)+"; "+monitorAdvice)
	}
	if n := y.unmet(); n >= 0 {
		y.from, y.late = n, true
		c := y.refuted()
		c.forever = true
		return c
	}
	return outcome{counterexample: counterexample{verdict: Proved, how: y.visited()}}
}

// undecidedBy is the outcome where nothing is concluded for a reason.
func undecidedBy(why, advice string) outcome {
	return outcome{counterexample: counterexample{verdict: Undecided, why: why, advice: advice}}
}

func (m *Model) newProduct(steps *flown.Stepper, l *monitor, p limits) *product {
	x := &product{m: m, steps: steps, monitor: l, limits: p, inside: p&atEnds == 0, flows: [][]flow{nil},
		flowOf: map[string]int{}}
	merge := mergeCovered
	if p&joinTimes != 0 {
		merge = mergeJoined
	}
	start := state[observed]{mark: observed{monitorState: monitorState{state: -1}}}
	most := min(maxTransitions, maxFollowed/m.tree.Len())
	if p&noJumps != 0 { // there are many states, and a counterexample is known
		most = min(most, maxSmooth/m.tree.Len())
	}
	x.search = newSearch(steps, observer[observed](x), start, merge, m.bounds(most))
	x.edges, x.depart = true, x.leaveState
	x.skips = !slices.ContainsFunc(l.ops, func(f *temporal.Formula) bool { return f.Op == temporal.Until })
	if p&noTime != 0 {
		x.still = func(at observed) bool { return !at.waits }
	}
	m.plain(steps)
	for _, op := range l.ops {
		_, above := zone.Seconds(op.Bound)
		steps.Limits, steps.Most = append(steps.Limits, above), append(steps.Most, zone.Forever)
	}
	if p&atRates != 0 {
		x.continuous = m.continuousSignals(steps)
		steps.Limits = append(steps.Limits, make([]zone.Time, len(x.continuous))...)
		steps.Most = append(steps.Most, make([]zone.Time, len(x.continuous))...)
	}
	for i := range m.always {
		x.conditions = append(x.conditions, &m.always[i])
		x.inside = x.inside && aboutTasks(&m.always[i]) // others are judged at the ends of instants
	}
	if p&noJumps != 0 {
		x.signals = slices.DeleteFunc(slices.Clone(m.vocab.signals), func(s signal) bool {
			return steps.Follows(s.name) || !steps.Knows(s.name)
		})
	}
	return x
}

// visited describes a proof. Only states after which the formula is still to be met are visited.
func (x *product) visited() string {
	switch n := x.states.Len() - 1; {
	case n <= 1:
		return leftOpen(n)
	case x.limits&joinTimes != 0:
		return fmt.Sprintf("by visiting %d states, among them all that a run can reach", n)
	default:
		return fmt.Sprintf("by visiting all %d states that a run can reach", n)
	}
}

func aboutTasks(l *expr.Logic) bool {
	return l.Op != expr.LogicThreshold && l.Op != expr.LogicRelation &&
		!slices.ContainsFunc(l.Args, func(a expr.Logic) bool { return !aboutTasks(&a) })
}

// step follows the formula through a settling.
func (x *product) step(at *flown.Moment, now observed) (observed, event) {
	if at.Over || x.inside {
		if e := x.progressed(at, &now); e != nothing {
			return now, e
		}
	}
	if !at.Over {
		if x.inside && x.skips && x.satisfied(now.state) {
			return now, done
		}
		return now, nothing
	}
	if x.signals != nil {
		before := now.cell
		if now.cell = x.cell(at); !near(before, now.cell) {
			return now, impossible
		}
	}
	flows, possible := x.flowsAfter(at, now.flows)
	if now.flows = flows; !possible {
		return now, impossible
	}
	if x.limits&noTime != 0 {
		now.waits, now.behind = at.Waits(), now.behind || x.steps.Still
	}
	switch {
	case x.violated(now.state):
		return now, hit
	case x.satisfied(now.state):
		return now, done
	case at.Ended() && x.owes(now.state):
		return now, hit
	case at.Ended():
		return now, done
	}
	return now, nothing
}

// progressed leaves the last state and enters that of a settling.
func (x *product) progressed(at *flown.Moment, now *observed) event {
	z, begun := at.Zone(), now.state >= 0
	if begun {
		if x.violated(now.state) || x.satisfied(now.state) { // whatever follows
			return nothing
		}
		if x.endsBefore(now.state, x.flows[now.flows], z) || x.overdue(now.state, z) {
			return late
		}
		left, possible := x.monitor.leave(now.state, now.again, z, now.behind || x.steps.Still, at.Choose)
		if now.state = left; !possible {
			return impossible
		}
	}
	holds := uint64(0)
	for i, l := range x.conditions {
		if at.Holds(l) {
			holds |= 1 << i
		}
	}
	for i, l := range x.lacks {
		if at.Lacks(l) {
			holds |= 1 << (len(x.conditions) + i)
		}
	}
	known := false
	if now.state, now.again, known = x.enter(now.state, holds, z); !known {
		x.why, at.Stop = alternatives, true
		return impossible
	}
	return nothing
}

// leaveState prepares the transitions from a state.
func (x *product) leaveState(at observed) {
	x.steps.Still = x.limits&noTime != 0 && !at.waits && at.state >= 0
	for i, d := range x.flows[at.flows] {
		x.steps.Most[len(x.ops)+i] = x.continuous[i].longest(d)
	}
}

// successors returns the states that follow one.
func (x *product) successors(n int) []int {
	return slices.DeleteFunc(slices.Clone(x.search.next[n]), func(to int) bool { return to == finished })
}

// unmet returns the first state after which an "until" that is begun is never met, whatever follows; -1 if there is
// none. All states are visited.
func (x *product) unmet() int {
	first := -1
	for bit, op := range x.ops {
		if op.Op != temporal.Until {
			continue
		}
		met := leading(len(x.search.next), x.successors, func(n int) bool {
			state := x.states.Key(n).mark.state
			return state < 0 || slices.Contains(x.search.next[n], finished) ||
				slices.ContainsFunc(x.obligations[state], func(s uint64) bool { return s>>bit&1 == 0 })
		})
		if n := slices.Index(met, false); n >= 0 && (first < 0 || n < first) {
			first = n
		}
	}
	return first
}

// cell returns the intervals of the signals that do not jump, by the signs of their limits.
func (x *product) cell(m *flown.Moment) string {
	var cell []byte
	for i := range x.signals {
		k := cellAt(m, x.signals[i].name, x.signals[i].cuts)
		cell = append(cell, byte(k), byte(k>>8))
	}
	return string(cell)
}

// near reports whether each signal is in the same interval or in a neighbouring one.
func near(before, cell string) bool {
	for i := 0; i < len(before); i += 2 {
		k := int(before[i]) | int(before[i+1])<<8
		if d := int(cell[i]) | int(cell[i+1])<<8 - k; d < -1 || d > 1 {
			return false
		}
	}
	return true
}

// refuted returns the run to the violation.
func (x *product) refuted() outcome {
	run := x.hits()
	last := run[len(run)-1].from // of a state that lasts too long
	if x.late {
		run = run[:len(run)-1]
	}
	shown := x.instants(x.m, run, func(_ int, at *flown.Moment) string { return at.Text() })
	c := outcome{counterexample: counterexample{verdict: Refuted, where: "from the start"},
		timed: slices.ContainsFunc(x.ops, func(f *temporal.Formula) bool { return f.Op == temporal.For })}
	if n := len(shown); n > 0 {
		c.where, c.ended = shown[n-1].text, shown[n-1].ended
		c.after = c.ended && (x.late || n > 1 && shown[n-2].ended)
	}
	c.script = x.m.script(x.steps, shown)
	if x.late {
		c.why, c.advice = x.lasting(last)
		x.At(last.key, func(at *flown.Moment) { c.lasts = len(x.continuous) == 0 && at.Quiet() })
	}
	return c
}
