package verify

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/temporal"
)

// How long a world lasts. A signal that rises at a rate of at least r stays in an interval of length d for at most d/r.
// It leaves the interval through its upper end, and after it has entered through the lower one not before d/R, if R is
// the maximum rate; one that falls since it has entered there leaves it at once. Each signal has a clock that starts
// when the signal enters an interval or its rate changes. These clocks are part of the zone, so they limit together
// with those of procedures, timers and the property how long a world lasts.

// continuousSignal is one that never jumps while its rate is known, unless events of the vehicle set it.
type continuousSignal struct {
	axis
	rates map[rateAt]*knownRate // so far
	reset bool                  // events of the vehicle set it: it is known to which values
}

// knownRate is a rate, if one is known.
type knownRate struct {
	declare.Rate
	known  bool
	passes float64 // the maximum time in the interval, from the rates in parts of it [s]
}

// rateAt is a task and, as a text, the intervals of all continuous signals.
type rateAt struct {
	task  bt.Task
	cells string
}

// flow is how a signal moves in a state: from the end of an instant to the next one.
type flow struct {
	cell      int
	low, high float64    // of its rate
	slowing   *knownRate // that limits the time in the interval better than these do; nil: none
	from      int8       // it has entered through the lower end of its interval: 1; the upper: -1; not known: 0
	fact      string     // that it is forced to violate at the end of its interval; "": none
	reset     bool       // events may set it within its interval
}

// continuousSignals returns the signals whose rates limit how long they stay in some interval; of the runs from a
// declared start, also those whose rates limit only where they go.
func (m *Model) continuousSignals(steps *flown.Stepper) []continuousSignal {
	var list []continuousSignal
	for i := range m.vocab.signals {
		s := &m.vocab.signals[i]
		if len(s.cuts) < 2 && m.subject.Initial == nil || steps.Follows(s.name) || !steps.Knows(s.name) {
			continue
		}
		kind, _ := m.motion([]string{s.name}, true)
		if to, reset := m.resets(s.name, nil); kind == steady || reset {
			of := axis{name: s.name, signal: i, cuts: s.cuts}
			list = append(list, continuousSignal{of, map[rateAt]*knownRate{}, to != nil})
		}
	}
	all := slices.Clone(list)
	return slices.DeleteFunc(list, func(d continuousSignal) bool {
		return m.subject.Initial == nil && !d.leaves(m, all)
	})
}

// resets returns the values that events of the vehicle may give a signal where others are in the given ranges; ok is
// false if nothing is known of that.
func (m *Model) resets(signal string, in map[string]interval.Interval) (to []interval.Interval, ok bool) {
	if m.subject.Rates == nil {
		return nil, false
	}
	return m.subject.Rates.Resets(signal, in)
}

// jumps reports whether events may set the signal to values in an interval, where signals are in the given ranges.
func (d *continuousSignal) jumps(m *Model, cell int, in map[string]interval.Interval) bool {
	if !d.reset {
		return false
	}
	to, _ := m.resets(d.name, in)
	return slices.ContainsFunc(to, func(x interval.Interval) bool {
		_, meets := x.Meet(d.interval(cell))
		return meets
	})
}

// flows returns how the signal may move in an interval while a task is active: wherever the others are, and with each
// interval of another one.
func (d *continuousSignal) flows(m *Model, all []continuousSignal, cell int) iter.Seq[flow] {
	return func(yield func(flow) bool) {
		for _, t := range m.actions() {
			alone := func(u bt.Task) bool { return u == t }
			in := map[string]interval.Interval{d.name: d.interval(cell)}
			if !yield(d.rate(m, cell, in, "", alone)) {
				return
			}
			for i := range all {
				o := &all[i]
				for k := 0; k <= len(o.cuts) && o.name != d.name; k++ {
					in := map[string]interval.Interval{d.name: d.interval(cell), o.name: o.interval(k)}
					if !yield(d.rate(m, cell, in, "", alone)) {
						return
					}
				}
			}
		}
	}
}

// leaves reports whether some task makes the signal leave some interval.
func (d *continuousSignal) leaves(m *Model, all []continuousSignal) bool {
	for cell := range len(d.cuts) + 1 {
		for f := range d.flows(m, all, cell) {
			if f.low <= f.high && d.longest(f) < zone.Forever {
				return true
			}
		}
	}
	return false
}

// total returns the sum over all intervals of the times for which the signal may stay [s], if they are limited.
func (d *continuousSignal) total(m *Model, all []continuousSignal) float64 {
	sum := 0.0
	for cell := range len(d.cuts) + 1 {
		most := 0.0
		for f := range d.flows(m, all, cell) {
			if time := passes(d.interval(cell), f.low, f.high); !math.IsInf(time, 1) {
				most = max(most, time)
			}
		}
		sum += most
	}
	return sum
}

// interval returns the values of the signal in an interval.
func (d *continuousSignal) interval(cell int) interval.Interval {
	low, high := d.bounds(cell)
	return interval.Interval{Low: low, High: high}
}

// rate returns the flow in an interval while tasks are active: all of them limit the rate. The signals are in the given
// ranges, which cells names as a text; "": it is asked once.
func (d *continuousSignal) rate(m *Model, cell int, in map[string]interval.Interval, cells string,
	active func(bt.Task) bool,
) flow {
	now := flow{cell: cell, low: math.Inf(-1), high: math.Inf(1)}
	for _, t := range moving(slices.DeleteFunc(m.actions(), func(t bt.Task) bool { return !active(t) })) {
		r := d.knownRate(m, rateAt{t, cells}, in)
		if cells != "" {
			m.origins[r.From] = m.origins[r.From] || r.known
		}
		if r.Impossible() {
			return flow{cell: cell, low: r.Low, high: r.High}
		}
		if r.Jumps && !d.reset {
			return flow{cell: cell, low: math.Inf(-1), high: math.Inf(1)}
		}
		now.low, now.high = max(now.low, r.Low), min(now.high, r.High)
		if now.slowing == nil || r.passes < now.slowing.passes {
			now.slowing = r
		}
	}
	if now.low > now.high { // the rates exclude each other
		now.low, now.high = math.Inf(-1), math.Inf(1)
	}
	if now.slowing != nil && !(now.slowing.passes < 0.9*passes(in[d.name], now.low, now.high)) {
		now.slowing = nil
	}
	return now
}

// knownRate returns the rate while a task is active and signals are in the given ranges.
func (d *continuousSignal) knownRate(m *Model, at rateAt, in map[string]interval.Interval) *knownRate {
	if f, asked := d.rates[at]; asked && at.cells != "" {
		return f
	}
	f := d.rateIn(m, at.task, in)
	f.passes = math.Inf(1)
	if x := in[d.name]; !math.IsInf(passes(x, f.Low, f.High), 1) && f.From == declare.Derived && at.cells != "" {
		part, width := maps.Clone(in), (x.High-x.Low)/parts
		f.passes = 0
		for k := 0.0; k < parts; k++ {
			part[d.name] = interval.Interval{Low: x.Low + k*width, High: x.Low + (k+1)*width}
			r := d.rateIn(m, at.task, part)
			f.passes += width / max(r.Low, -r.High, f.Low, -f.High)
		}
	}
	d.rates[at] = f
	return f
}

// parts is the number of parts of an interval with rates of their own: towards what it approaches, a signal slows down.
const parts = 8

// rateIn returns the rate while a task is active and signals are in the given ranges.
func (d *continuousSignal) rateIn(m *Model, task bt.Task, in map[string]interval.Interval) *knownRate {
	r, known := anyRate, false
	if m.space.work.more() { // a rate takes time
		if r, known = m.subject.Rate(task, d.name, in); task == declare.Idle {
			known = known && r.From == declare.Derived && (!r.Jumps || d.reset)
		}
	}
	if !known {
		r = anyRate
	}
	return &knownRate{Rate: r.Firm(), known: known}
}

// passes returns the maximum time for which a signal stays in an interval at rates from low to high [s].
func passes(x interval.Interval, low, high float64) float64 {
	if speed := max(low, -high); speed > 0 && !math.IsInf(x.High-x.Low, 0) {
		return (x.High - x.Low) / speed
	}
	return math.Inf(1)
}

// known reports whether anything is known of the rate: then the signal does not jump.
func (d flow) known() bool { return !math.IsInf(d.low, -1) || !math.IsInf(d.high, 1) }

// rounding is the relative error of times that is allowed; located is the error of the time of an event [s].
const (
	rounding = 1e-9
	located  = 1e-6
)

// longest returns the maximum time for which a signal stays in its interval.
func (d *continuousSignal) longest(now flow) zone.Time {
	most := passes(d.interval(now.cell), now.low, now.high)
	switch {
	case now.from > 0 && now.high < 0, now.from < 0 && now.low > 0: // it turns back where it has entered
		most = located
	case now.slowing != nil:
		most = now.slowing.passes
	}
	if math.IsInf(most, 1) || now.fact != "" || now.reset { // what is beyond a fact is no way out
		return zone.Forever
	}
	_, above := zone.Seconds(most * (1 + rounding))
	if above < zone.Longest {
		above++ // it ends after the end of the interval
	}
	return above
}

// shortest returns the minimum time in which a signal crosses its interval; 0 if none is known.
func (d *continuousSignal) shortest(now flow) zone.Time {
	low, high := d.bounds(now.cell)
	speed := now.high
	if now.from < 0 {
		speed = -now.low
	}
	if now.from == 0 || now.reset || !(speed > 0) || math.IsInf(high-low, 0) || math.IsInf(speed, 1) {
		return 0
	}
	below, _ := zone.Seconds((high - low) / speed * (1 - rounding))
	return max(0, below-1)
}

// since returns the flow since a signal has entered its interval, with the rates before and after a change; ok is false
// if nothing follows for the time in which it crosses the interval.
func (d *continuousSignal) since(last, next flow) (both flow, ok bool) {
	both = flow{cell: last.cell, low: min(last.low, next.low), high: max(last.high, next.high), from: last.from}
	back := both.from > 0 && both.low < 0 || both.from < 0 && both.high > 0
	return both, !back && d.shortest(both) > 0
}

// leads reports whether a signal may be in an interval in the next state.
func (d *continuousSignal) leads(from flow, cell int) bool {
	if !from.known() || cell == from.cell {
		return true
	}
	if cell > from.cell && from.high <= 0 || cell < from.cell && from.low >= 0 {
		return false
	}
	for k := min(cell, from.cell) + 1; k < max(cell, from.cell); k++ {
		if !d.point(k) {
			return false
		}
	}
	return true
}

// flowsAfter returns the number of the flows in the state after an instant from those before it, and sets the clocks;
// possible is false if no signal moves so.
func (x *product) flowsAfter(m *flown.Moment, from int) (number int, possible bool) {
	if len(x.continuous) == 0 {
		return 0, true
	}
	z, before := m.Zone(), x.flows[from]
	now := make([]flow, len(x.continuous))
	in, cells := map[string]interval.Interval{}, make([]int, len(x.continuous))
	for i := range x.continuous {
		d := &x.continuous[i]
		cells[i] = cellAt(m, d.name, d.cuts)
		in[d.name] = d.interval(cells[i])
	}
	left := map[string]interval.Interval{} // where events have found them
	for i := range before {
		left[x.continuous[i].name] = x.continuous[i].interval(before[i].cell)
	}
	for i := range x.continuous {
		d, clock := &x.continuous[i], x.clock+len(x.ops)+i
		next := d.rate(x.m, cells[i], in, fmt.Sprint(cells), m.Active)
		if next.low > next.high {
			return 0, false
		}
		next.reset = d.jumps(x.m, cells[i], in)
		if before != nil {
			last := before[i]
			both, onwards := d.since(last, next)
			switch crossed := next.cell - last.cell; {
			case d.jumps(x.m, next.cell, left): // where it is in its interval is not known
			case !d.leads(last, next.cell):
				return 0, false
			case crossed == 0 && next.low == last.low && next.high == last.high && next.reset == last.reset:
				if now[i] = last; next.slowing != last.slowing {
					now[i].slowing = nil // its parts are not those of the time before
				}
				continue
			case crossed == 0 && (last.from > 0 && last.high <= 0 || last.from < 0 && last.low >= 0):
				next.from = last.from // it rests where it has entered
			case crossed == 0 && onwards && x.limits&sinceEntry != 0:
				now[i] = both
				continue
			case crossed != 0 && last.known():
				if int(last.from)*crossed > 0 && d.shortest(last) > 0 && !z.Restrict(clock, zone.AtLeast, d.shortest(last)) {
					return 0, false
				}
				next.from = 1
				if crossed < 0 {
					next.from = -1
				}
			}
		}
		if next.reset {
			next.from = 0
		}
		if now[i] = next; d.longest(next) < zone.Forever || d.shortest(next) > 0 {
			z.Start(clock)
		} else {
			z.Stop(clock)
		}
	}
	x.noteLocks(now, before, z)
	for i, n := range now {
		x.steps.Limits[len(x.ops)+i] = x.continuous[i].shortest(n)
		if t := x.continuous[i].longest(n); t < zone.Forever {
			x.steps.Limits[len(x.ops)+i] = t
		}
	}
	key := fmt.Sprint(now)
	number, ok := x.flowOf[key]
	if !ok {
		number = len(x.flows)
		x.flowOf[key] = number
		x.flows = append(x.flows, now)
	}
	return number, true
}

// cellAt returns the interval of a signal.
func cellAt(m *flown.Moment, signal string, cuts []cut) int {
	k := 0
	for k < len(cuts) &&
		m.Holds(&expr.Logic{Op: expr.LogicThreshold, Signal: signal, Limit: cuts[k].limit, Strict: cuts[k].strict}) {
		k++
	}
	return k
}

// soon returns a stronger formula than followed does: what must happen does so within a time [s].
func soon(f *temporal.Formula, time float64) *temporal.Formula {
	if f.Op != temporal.Until || !simple(f.Args[1]) {
		args := make([]*temporal.Formula, len(f.Args))
		for i, a := range f.Args {
			args[i] = soon(a, time)
		}
		return &temporal.Formula{Op: f.Op, Cond: f.Cond, Args: args, Bound: f.Bound}
	}
	before := soon(f.Args[0], time)
	return &temporal.Formula{Op: temporal.And, Args: []*temporal.Formula{
		{Op: temporal.Weak, Args: []*temporal.Formula{before, f.Args[1]}},
		{Op: temporal.Within, Args: f.Args[1:], Bound: time}}}
}

// longEnough returns a time [s] after which what must happen has happened, if the plan goes once through all intervals
// of its signals and all its procedures, timers and times since activations, with a reserve.
func (m *Model) longEnough(steps *flown.Stepper) float64 {
	list, sum := m.continuousSignals(steps), 1+steps.Measured()
	for i := range list {
		sum += list[i].total(m, list)
	}
	for i := range m.plan.Leaves {
		for _, e := range []*expr.Expr{m.plan.Leaves[i].EntryTime, m.plan.Leaves[i].ExitTime} {
			if e != nil {
				v, _ := e.Constant() // 0 if it is not constant
				sum += v
			}
		}
	}
	for _, t := range m.tree.Timers() {
		sum += m.tree.Timer(t)
	}
	return 2 * sum
}

// lasting explains why a state may last too long, and returns what would help.
func (x *product) lasting(in state[observed]) (why, advice string) {
	var active []string
	x.At(in.key, func(m *flown.Moment) { active = x.m.tree.Names(x.m.activeAt(m)) })
	flows := x.flows[in.mark.flows]
	if i := slices.IndexFunc(flows, func(f flow) bool { return f.fact != "" && f.fact != implied }); i >= 0 {
		return lock{x.continuous[i].name, flows[i].fact, active}.String(), lockAdvice
	}
	if len(active) == 0 {
		return "a world may last for any time: one in which no action is active",
			"declare a fact that excludes it, or give it an action; " + monitorAdvice
	}
	limited := false
	for i, d := range flows {
		limited = limited || x.continuous[i].longest(d) < zone.Forever
	}
	if limited {
		return "at the rates that are known it may take longer, " + while(active),
			"allow more time, or narrow the rates by `effects`; " + monitorAdvice
	}
	return "a world may last for any time: " + while(active) + ", no signal has to leave its interval",
		"give `effects` that keep the rate of a signal away from 0 " + while(active) + ", and facts that limit it on both" +
			" sides; " + monitorAdvice
}
