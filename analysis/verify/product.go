package verify

import (
	"cmp"
	"fmt"
	"slices"

	"canopy/analysis/flown"
	"canopy/analysis/zone"
	"canopy/expr"
	"canopy/temporal"
)

// limits limits the runs that a search visits.
type limits uint8

const (
	anyTime limits = 0
	noTime  limits = 1 << iota // worlds in which no procedure or timer of known length is under way take next to no time
	atEnds                     // conditions are judged at the ends of instants only
	noJumps                    // each physical signal goes from one interval to a neighbouring one at most
	atRates                    // signals move at their rates
	joined                     // the times at which one state is reached are joined: nothing is refuted
)

// product is the search of the product of a plan, as it is flown, and the monitor of a formula.
type product struct {
	*reach[observed]
	*monitor
	m          *Model
	limits     limits
	conditions []*expr.Logic
	signals    []signal // that do not jump
	continuous []continuousSignal
	always     bool // conditions are judged also within an instant: all of them are about tasks

	from      int // the state that is left; the visitor adds to the others
	partials  []partial
	flows     [][]flow // by number; 0: none is known before the run
	partialOf map[partial]int
	flowOf    map[string]int
	last      flown.Tape // of a course to a violation
	late      bool       // the violation is that a state is not left in time
	found     bool
	why       string  // the formula cannot be followed
	next      [][]int // by state: the states that follow; -1: nothing is left of the formula
	follows   bool    // the courses of one path
}

// observed is what counts of a state, after an instant, beside that of the plan.
type observed struct {
	monitorState monitorState
	cell         string // the intervals of signals
	flows        int    // how signals move
	waits        bool   // a procedure or a timer of known length is under way
	behind       bool   // worlds that took next to no time came before: the clocks are behind, by next to nothing
}

// monitorState is what is to be met, and the operations "for" that begin again as long as the state lasts.
type monitorState struct {
	state int
	again uint64
}

// partial is what is to be met after a moment within an instant.
type partial struct {
	monitorState
	lost bool // it cannot be met
}

// outcome is the result of such a search.
type outcome struct {
	verdict       Verdict
	script, where string
	quick         bool   // refuted: an operation "for" decides
	forever       bool   // refuted: what must happen never does from there on, whatever follows
	ended         bool   // refuted: there the plan has ended
	after         bool   // it had before
	lasts         bool   // refuted: by a world that may last, for nothing is known of the rates of signals
	how           string // proved: the method
	why, advice   string // undecided; refuted by a world that lasts too long
}

// Bounds of such a search.
const (
	maxConditions = 64
	maxWeak       = 12        // obligations are then at most 924 sets, the largest antichain
	maxCourses    = 50_000    // of instants, per effort
	maxEdges      = 2_000_000 // steps from a state to the next
)

// pursue searches for a run, with the minimum number of worlds, after whose beginning the formula cannot be met.
func (m *Model) checkProduct(steps *flown.Stepper, f *temporal.Formula, of map[*expr.Expr]int, p limits) outcome {
	l, why := newMonitor(f, of, steps.Clocks())
	if why != "" {
		return outcome{verdict: Undecided, why: why, advice: memoryAdvice}
	}
	x := &product{m: m, monitor: l, limits: p, partialOf: map[partial]int{}, always: p&atEnds == 0,
		reach: newReach[observed](steps, m.bounds(m.effort*maxCourses))}
	x.joined = p&joined != 0
	x.begin(observed{monitorState: monitorState{state: -1}})
	steps.Limits, steps.Most = nil, nil
	for _, op := range l.ops {
		_, above := zone.Seconds(op.Bound)
		steps.Limits, steps.Most = append(steps.Limits, above), append(steps.Most, zone.Forever)
	}
	x.flows, x.flowOf = [][]flow{nil}, map[string]int{}
	if p&atRates != 0 {
		x.continuous = m.continuousSignals(steps)
		steps.Limits = append(steps.Limits, make([]zone.Time, len(x.continuous))...)
		steps.Most = append(steps.Most, make([]zone.Time, len(x.continuous))...)
	}
	for i := range m.always {
		x.conditions = append(x.conditions, &m.always[i])
		x.always = x.always && aboutTasks(&m.always[i])
	}
	if p&noJumps != 0 {
		x.signals = slices.DeleteFunc(slices.Clone(m.vocab.signals), func(s signal) bool {
			return steps.Follows(s.name) || !steps.Knows(s.name)
		})
	}
	for n := range x.states.Leave() {
		x.next = append(x.next, nil)
		if by, covered := x.cover.Later(n); covered { // what follows it follows that one
			x.next[n] = []int{by}
			continue
		}
		x.depart(n)
		x.expand(n, ignore, x.visit)
		if x.found || x.why != "" {
			break
		}
	}
	switch {
	case x.found:
		return x.refuted()
	case x.why != "":
		return outcome{verdict: Undecided, why: x.why, advice: monitorAdvice}
	case x.states.Short() != "":
		return outcome{verdict: Undecided, why: x.states.Short(),
			advice: "reduce the limits of signals and the free conditions; " + memoryAdvice}
	case x.failed != nil || x.unsettled != nil:
		return outcome{verdict: Undecided, why: cmp.Or(x.failed, x.unsettled).Error(), advice: monitorAdvice}
	}
	if n := x.hopeless(); n >= 0 {
		x.from, x.late = n, true
		c := x.refuted()
		c.forever = true
		return c
	}
	return outcome{verdict: Proved, how: x.visited()}
}

// visited describes a proof. Only states after which the formula is still to be met are visited.
func (x *product) visited() string {
	switch n := x.states.Len() - 1; {
	case n == 0:
		return "which the first instant of a run decides"
	case n == 1:
		return "by visiting the only state in which a run leaves it open"
	case x.limits&joined != 0:
		return fmt.Sprintf("by visiting %d states, among them all that a run can reach", n)
	default:
		return fmt.Sprintf("by visiting all %d states that a run can reach", n)
	}
}

// ended returns the reason why a search ends early, "" if it need not: the sets of states ask whether there is time.
func (m *Model) ended(int) string {
	if m.space.or(m.space.none(), m.space.none()); m.space.full() {
		return "the search took too long"
	}
	return ""
}

func aboutTasks(l *expr.Logic) bool {
	return l.Op != expr.LogicThreshold && l.Op != expr.LogicRelation &&
		!slices.ContainsFunc(l.Args, func(a expr.Logic) bool { return !aboutTasks(&a) })
}

// visit follows the formula through a moment of a step.
func (x *product) visit(m *flown.Moment) {
	if !m.Over && !x.always {
		return
	}
	now := partial{monitorState: x.observed(x.from).monitorState}
	if m.Mark > 0 {
		now = x.partials[m.Mark-1]
	}
	now, possible := x.follow(m, now)
	if !possible {
		return
	}
	if !m.Over {
		m.Mark = x.partial(now)
		return
	}
	x.end(m, now)
}

// follow leaves the last state and enters the moment; possible is false if there is no such run.
func (x *product) follow(m *flown.Moment, now partial) (next partial, possible bool) {
	z, begun := m.Zone(), now.state >= 0
	if now.lost || begun && x.satisfied(now.state) {
		return now, true
	}
	if begun {
		if x.overdue(now.state, z) { // whatever follows
			x.violation(m, true)
			return now, false
		}
		if now.state, possible = x.leave(now.state, now.again, z, x.behind(), m.Choose); !possible {
			return now, false
		}
	}
	holds := uint64(0)
	for i, l := range x.conditions {
		if m.Holds(l) {
			holds |= 1 << i
		}
	}
	var known bool
	if now.state, now.again, known = x.enter(now.state, holds, z); !known {
		x.why, m.Stop = alternatives, true
		return now, false
	}
	now.lost = x.violated(now.state)
	return now, true
}

// observed returns what counts of a state beside that of the plan.
func (x *product) observed(n int) observed { return x.states.Key(n).mark }

// behind reports whether worlds took next to no time so far, up to the last state.
func (x *product) behind() bool { return x.observed(x.from).behind || x.Still && x.from > 0 }

// partial returns the number of what is to be met, from 1.
func (x *product) partial(t partial) int {
	n, ok := x.partialOf[t]
	if !ok {
		x.partials = append(x.partials, t)
		n = len(x.partials)
		x.partialOf[t] = n
	}
	return n
}

// end records the state after an instant.
func (x *product) end(m *flown.Moment, now partial) {
	cell := ""
	if x.signals != nil {
		before := x.observed(x.from).cell
		if cell = x.cell(m); !near(before, cell) {
			return
		}
	}
	flows, possible := x.flowsAfter(m)
	switch {
	case !possible, !m.Possible():
		return
	case now.lost:
		x.violation(m, false)
		return
	case x.satisfied(now.state):
		x.lead(-1)
		return
	}
	to := observed{monitorState: now.monitorState, cell: cell, flows: flows}
	if x.limits&noTime != 0 {
		to.waits, to.behind = m.Waits(), x.behind()
	}
	if x.follows {
		return
	}
	if n := x.arrive(m, m.Class(), x.from, to, x.limits&noTime == 0 || to.waits); n >= 0 {
		x.lead(n)
	}
}

// lead records that a state follows the one that is left.
func (x *product) lead(to int) {
	if !x.follows && !slices.Contains(x.next[x.from], to) {
		x.next[x.from] = append(x.next[x.from], to)
	}
}

// hopeless returns the first state after which an "until" that is begun is never met, whatever follows; -1 if there is
// none. All states are visited.
func (x *product) hopeless() int {
	first := -1
	for bit, op := range x.ops {
		if op.Op != temporal.Until {
			continue
		}
		pending := func(n int) bool {
			state := x.observed(n).monitorState.state
			return state >= 0 && !slices.ContainsFunc(x.obligations[state], func(s uint64) bool { return s>>bit&1 == 0 })
		}
		before := make([][]int, len(x.next))
		var hopeful []int
		met := make([]bool, len(x.next))
		for n, next := range x.next {
			for _, to := range next {
				if to >= 0 {
					before[to] = append(before[to], n)
				}
			}
			if met[n] = !pending(n) || slices.Contains(next, -1); met[n] {
				hopeful = append(hopeful, n)
			}
		}
		for len(hopeful) > 0 {
			n := hopeful[0]
			hopeful = hopeful[1:]
			for _, b := range before[n] {
				if !met[b] {
					met[b] = true
					hopeful = append(hopeful, b)
				}
			}
		}
		if n := slices.Index(met, false); n >= 0 && (first < 0 || n < first) {
			first = n
		}
	}
	return first
}

func (x *product) violation(m *flown.Moment, late bool) {
	if x.follows {
		return
	}
	x.found, x.late, x.last, m.Stop = true, late, m.Tape(), true
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

// refuted follows the path to the violation again, for a script.
func (x *product) refuted() outcome {
	path := x.states.Path(x.from)
	run := x.run(path, x.last)
	if x.late {
		run = run[:len(run)-1]
	}
	x.follows = true
	shown := x.m.witness(x.Stepper, run, func(i int) { x.depart(path[i]) }, func(m *flown.Moment) string {
		x.visit(m)
		return m.Text()
	})
	c := outcome{verdict: Refuted, where: "from the start",
		quick: slices.ContainsFunc(x.ops, func(f *temporal.Formula) bool { return f.Op == temporal.For })}
	if n := len(shown); n > 0 {
		c.where, c.ended = shown[n-1].text, shown[n-1].ended
		c.after = c.ended && (x.late || n > 1 && shown[n-2].ended)
	}
	c.script = x.m.spell(x.m.recalled(x.Stepper, shown))
	if x.late {
		c.why, c.advice = x.lasting(path[len(path)-1])
		x.At(x.states.Key(path[len(path)-1]).key, func(m *flown.Moment) { c.lasts = len(x.continuous) == 0 && m.Quiet() })
	}
	return c
}
