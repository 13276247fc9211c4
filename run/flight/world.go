package flight

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/ode"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// world is the world of a vehicle that is observed. Its trajectory consists of the samples of telemetry: between two
// samples a signal is linear, or cubic where both carry its rate; without a new sample it keeps its value.
//
//	what a sample shows is decided at the time of the sample, or later if the world is already there
//	a change of side is dated by interpolation between the two samples around it
//	between samples only the time passes: up to the alarm, or to where a relation of the time changes
//
// Times are in seconds since the plan's start, by the clock of the vehicle.
type world struct {
	executive.Numbers
	c        *contract.Contract
	p        *executive.Program
	signals  *executive.Signals
	tracks   []track // by signal of the contract
	sources  []source
	given    []float64 // what the sources gave before the present sample: the last part of now
	discrete []bool    // by place in now: it is no real signal

	base      int64 // vehicle time at the plan's start [ns]
	t, from   float64
	now, then []float64 // states and outputs at present, in the order of the signal vector; and at another time
	u, before []float64 // the inputs, and those before the instant
	above     []bool
	watched   []bool
	alarm     float64
	timed     []int // the indicators that depend on the time

	next      float64 // up to this time the world is known
	sample    *adapter.Sample
	fresh     []int // the tracks that have a new value at the end of the last stretch
	suspended bool  // time passes, but nothing is an event
	resumed   bool  // what has changed while that was so is an event now

	events, told, changed []int // scratch
	dated                 []float64

	stateEvents, timeEvents int
}

// track is what is known of one signal of the contract.
type track struct {
	place   int  // in now; -1: it is no signal of the mission
	smooth  bool // its values may be interpolated
	known   bool
	was, is point   // the last two samples; equal if the second does not continue the first
	stamp   float64 // the time of the last value; -Inf: there was none
}

// source is a source of signals that the plan uses. It is known while all of its signals that the plan reads are known,
// or all that there are if the plan reads none; its stamp is that of the oldest.
type source struct {
	known, stamp int   // places in now
	tracks       []int // of its signals; none: it is unknown
}

// point is the value of a signal at a time.
type point struct{ t, v, rate float64 }

// newWorld returns the world of a mission with a vehicle that keeps a contract. It begins with take and start.
func newWorld(m *mission.Mission, c *contract.Contract) *world {
	p := m.Program
	n := p.Layout.Slots - 1
	w := &world{c: c, p: p, now: make([]float64, n), then: make([]float64, n), discrete: make([]bool, n),
		u: p.Initial(), before: p.Initial(), above: make([]bool, len(p.Indicators)),
		watched: make([]bool, len(p.Indicators)), alarm: math.Inf(1), timed: timed(p)}
	for i := range c.Signals {
		w.tracks = append(w.tracks, w.track(m, &c.Signals[i]))
	}
	for _, s := range m.Sources() {
		w.sources = append(w.sources, w.source(m, c, s))
	}
	w.given = make([]float64, 2*len(w.sources))
	w.signals = executive.NewSignals(p, func(float64, []float64, []float64, []float64) {}) // now has all outputs
	w.Numbers = executive.NewNumbers(w)
	return w
}

// Adopt implements run.Adopter.
func (w *world) Adopt(m *mission.Mission, u []float64, same []int) (run.World, error) {
	n := newWorld(m, w.c)
	n.base, n.t, n.from, n.alarm, n.next, n.sample = w.base, w.t, w.from, w.alarm, w.next, w.sample
	n.suspended, n.resumed = w.suspended, w.resumed
	n.Numbers.Follow(&w.Numbers)
	n.stateEvents, n.timeEvents = w.stateEvents, w.timeEvents
	copy(n.tracks, w.tracks)
	copy(n.now, w.now[:len(w.now)-len(w.given)])
	n.judge()
	copy(n.u, u)
	copy(n.before, u)
	n.Signals()
	for i, k := range same {
		if n.above[i] = n.side(i); k >= 0 {
			n.above[i] = w.above[k]
		}
	}
	return n, nil
}

// track returns the track of a signal before its first sample.
func (w *world) track(m *mission.Mission, s *contract.Signal) track {
	tr := track{place: -1, smooth: s.Type == contract.Real, is: point{t: math.Inf(-1)}, stamp: math.Inf(-1)}
	for i := range m.Vehicle.States {
		if m.Vehicle.States[i].Name == s.Name {
			tr.place = i
		}
	}
	for i := range m.Vehicle.Outputs {
		if m.Vehicle.Outputs[i].Name == s.Name {
			tr.place = w.p.Layout.Outputs - 1 + i
		}
	}
	if tr.place < 0 {
		return tr
	}
	d, _ := m.Signal(s.Name)
	w.discrete[tr.place] = d.Type != expr.Real
	return tr
}

// source returns a source that the mission uses.
func (w *world) source(m *mission.Mission, c *contract.Contract, s mission.Source) source {
	x := source{known: s.Known - 1, stamp: s.Stamp - 1}
	var others []int
	for i := range c.Signals {
		switch name := c.Signals[i].Name; {
		case w.tracks[i].place < 0 || m.Vehicle.Sources[name] != s.Name:
		case slices.Contains(m.Needed, name):
			x.tracks = append(x.tracks, i)
		default:
			others = append(others, i)
		}
	}
	if x.tracks == nil {
		x.tracks = others
	}
	return x
}

// timed returns the indicators that depend on the time.
func timed(p *executive.Program) []int {
	depends := make([]bool, p.Layout.Signals)
	depends[0] = true
	reads := func(c *expr.Code) bool {
		return c != nil && slices.ContainsFunc(c.Reads(), func(s int) bool { return depends[s] })
	}
	for _, x := range p.All { // each follows what it reads
		switch x.Kind {
		case executive.EvaluateOutputs, executive.EvaluateDirect:
		case executive.EvaluateSlot:
			for _, by := range p.Slots[x.Index].Writers {
				depends[p.Signal(x.Index)] = depends[p.Signal(x.Index)] || reads(by.Value)
			}
		case executive.EvaluateComputed:
			depends[p.Layout.Computed+x.Index] = reads(p.Computed[x.Index])
		}
	}
	var list []int
	for i := range p.Indicators {
		if slices.ContainsFunc(p.Indicators[i].Reads(), func(s int) bool { return depends[s] }) {
			list = append(list, i)
		}
	}
	return list
}

// seconds returns the time of the world at a time of the vehicle.
func (w *world) seconds(vehicle int64) float64 { return float64(vehicle-w.base) / second }

// start makes the present the plan's start.
func (w *world) start(vehicle int64) {
	w.fresh = w.fresh[:0]
	for i := range w.tracks {
		w.tracks[i].stamp -= w.seconds(vehicle)
	}
	w.move(vehicle)
	w.judge()
}

// move makes a time of the vehicle the present time of the world: the vehicle's clock has begun anew. No sample
// continues one before.
func (w *world) move(vehicle int64) {
	w.base = vehicle - int64(w.t*second)
	w.next = w.t
	for i := range w.tracks {
		tr := &w.tracks[i]
		tr.is.t = math.Inf(-1)
		tr.was = tr.is
	}
}

// suspend lets time pass without events, or ends that: what has changed meanwhile is then one instant.
func (w *world) suspend(suspended bool) {
	w.resumed = w.suspended && !suspended || w.resumed
	w.suspended = suspended
}

// pass lets the world be known up to a time of the vehicle.
func (w *world) pass(vehicle int64) { w.next = max(w.next, w.seconds(vehicle)) }

// see gives the world a sample, which the next Advance consumes. It reports whether it is in order: a sample with
// values that are older than those before is ignored; a loss never is. The world does not keep it.
func (w *world) see(s *adapter.Sample) bool {
	t := w.seconds(s.T)
	for _, v := range s.Values {
		if v.Known && t < w.tracks[v.Signal].is.t {
			return false
		}
	}
	w.sample, w.next = s, max(w.next, t)
	return true
}

// show makes the sample the present before and after the run.
func (w *world) show() {
	w.fresh, w.told = w.fresh[:0], w.told[:0]
	w.take(w.sample)
	w.sample = nil
}

// Advance implements run.World.
func (w *world) Advance(until float64) (run.Segment, error) {
	w.from = w.t
	w.fresh, w.told = w.fresh[:0], w.told[:0]
	copy(w.before, w.u)
	copy(w.given, w.now[len(w.now)-len(w.given):])
	due := max(w.t, w.due())
	known := max(w.t, w.next)
	end := min(known, due, max(w.t, until))
	if end == w.t && end < due && w.sample == nil && (w.suspended || !w.resumed) {
		return run.Segment{To: w.t, Waiting: true}, nil
	}
	if w.sample != nil && end == known {
		w.take(w.sample)
		w.sample = nil
	}
	w.t = end
	s := run.Segment{To: w.t}
	if w.suspended {
		return s, nil
	}
	s.Own, w.resumed = w.resumed, false
	if s.Alarm = w.alarm <= w.t; s.Alarm {
		w.timeEvents++
	}
	s.Events, s.Dated = w.compare()
	s.Told = w.told
	w.stateEvents += len(s.Events)
	return s, nil
}

// gap is the number of nominal periods without a sample that is not bridged.
const gap = 3

// take makes a sample the present.
func (w *world) take(s *adapter.Sample) {
	t := w.seconds(s.T)
	for _, v := range s.Values {
		tr := &w.tracks[v.Signal]
		if tr.place < 0 {
			continue
		}
		if !v.Known {
			tr.known = false
			continue
		}
		continues := tr.known && tr.smooth && !s.Break && (s.Period == 0 || t-tr.is.t <= gap*float64(s.Period)/second)
		tr.was, tr.is = tr.is, point{t, v.V, v.Rate}
		if !continues {
			tr.was = point{t, w.now[tr.place], math.NaN()}
		}
		if w.discrete[tr.place] && w.now[tr.place] != v.V {
			w.told = append(w.told, 1+tr.place)
		}
		tr.known, tr.stamp = true, t
		w.now[tr.place] = v.V
		w.fresh = append(w.fresh, v.Signal)
	}
	w.judge()
}

// judge determines which sources are known, and their stamps: the plan's start if there was never a value.
func (w *world) judge() {
	for _, s := range w.sources {
		known, stamp := 1.0, math.Inf(1)
		for _, i := range s.tracks {
			if stamp = min(stamp, w.tracks[i].stamp); !w.tracks[i].known {
				known = 0
			}
		}
		if len(s.tracks) == 0 {
			known = 0
		}
		if math.IsInf(stamp, 0) {
			stamp = 0
		}
		if w.now[s.known] != known {
			w.told = append(w.told, 1+s.known)
		}
		w.now[s.known], w.now[s.stamp] = known, stamp
	}
}

// at returns the value of a track at a time up to its last sample.
//
//	linear: v0 + s (v1 - v0),  s = (t - t0)/(t1 - t0)
//	cubic:  v0 (1 + 2s)(1 - s)^2 + h r0 s (1 - s)^2 + v1 s^2 (3 - 2s) + h r1 s^2 (s - 1),  h = t1 - t0
func (tr *track) at(t float64) float64 {
	a, b := tr.was, tr.is
	if t >= b.t && a.t < b.t {
		return b.v
	}
	if t <= a.t {
		return a.v
	}
	h := b.t - a.t
	s := (t - a.t) / h
	if a.rate-a.rate != 0 || b.rate-b.rate != 0 {
		return a.v + s*(b.v-a.v)
	}
	r := 1 - s
	return a.v*(1+2*s)*r*r + h*a.rate*s*r*r + b.v*s*s*(3-2*s) + h*b.rate*s*s*(s-1)
}

// around returns the states and outputs at a time up to the present: those of the last sample interpolated, the others
// as they are, and the sources as they were before the sample.
func (w *world) around(t float64) []float64 {
	copy(w.then, w.now)
	if t < w.t {
		w.unsee()
	}
	for _, i := range w.fresh {
		w.then[w.tracks[i].place] = w.tracks[i].at(t)
	}
	return w.then
}

// unsee takes what the present sample changed of the sources out of then.
func (w *world) unsee() { copy(w.then[len(w.then)-len(w.given):], w.given) }

// compare returns the watched indicators whose sides are not those of the present signals, in the order of the times at
// which they changed, and these times.
func (w *world) compare() (events []int, dated []float64) {
	w.events, w.dated = w.events[:0], w.dated[:0]
	w.Signals()
	for i, watched := range w.watched {
		if watched && w.side(i) != w.above[i] {
			w.events = append(w.events, i)
		}
	}
	for k, i := range w.events {
		t, at := w.date(i), k
		w.dated = append(w.dated, t)
		for ; at > 0 && w.dated[at-1] > t; at-- {
			w.dated[at], w.events[at] = w.dated[at-1], w.events[at-1]
		}
		w.dated[at], w.events[at] = t, i
	}
	return w.events, w.dated
}

// side returns the side of an indicator with the signals that were evaluated last.
func (w *world) side(i int) bool { return w.p.Indicators[i].Value(w.signals.Values, nil) >= 0 }

// date returns the time at which an indicator changed its side, of which the present sample is the first evidence: now,
// if the signals of the sample do not explain the change.
func (w *world) date(i int) float64 {
	from, to := math.Inf(1), math.Inf(-1)
	for _, k := range w.fresh {
		from, to = min(from, w.tracks[k].was.t), max(to, w.tracks[k].is.t)
	}
	g := func(t float64) float64 {
		w.fill(t, w.around(t), w.before)
		return w.p.Indicators[i].Value(w.signals.Values, nil)
	}
	if !(from < to) || (g(from) >= 0) != w.above[i] || (g(to) >= 0) == w.above[i] {
		return w.t
	}
	_, t := ode.Root(g, from, to)
	return min(t, w.t)
}

// due returns the next time at which something happens without a sample: the alarm, or a change of an indicator that
// depends on the time, as long as it is linear in it. Others change with the next sample.
func (w *world) due() float64 {
	if w.suspended {
		return math.Inf(1)
	}
	due := w.alarm
	for _, i := range w.timed {
		if w.watched[i] {
			due = min(due, w.changes(i))
		}
	}
	return due
}

// changes returns the time at which an indicator changes its side if only time passes, +Inf if that is not known.
func (w *world) changes(i int) float64 {
	g := func(t float64) float64 {
		w.fill(t, w.now, w.u)
		return w.p.Indicators[i].Value(w.signals.Values, nil)
	}
	g0 := g(w.t)
	if (g0 >= 0) != w.above[i] {
		return w.t
	}
	t := max(w.t, w.t-g0/(g(w.t+1)-g0))
	for _, later := range [...]float64{0, 1e-9, 1e-6} { // rounding, and relations that hold up to their limit
		if at := t + later; at < math.Inf(1) && (g(at) >= 0) != w.above[i] {
			return at
		}
	}
	return math.Inf(1)
}

// fill evaluates the signal vector.
func (w *world) fill(t float64, now, u []float64) []float64 {
	w.signals.Fill(w.p.All, t, now, u, nil)
	return w.signals.Values
}

// T implements run.World.
func (w *world) T() float64 { return w.t }

// Signals implements executive.Numeric.
func (w *world) Signals() []float64 { return w.fill(w.t, w.now, w.u) }

// Discrete implements run.World.
func (w *world) Discrete() (u []float64, above []bool) { return w.u, w.above }

// Set implements run.World.
func (w *world) Set(input int, value float64) { w.u[input] = value }

// Watch implements run.World: all sides are kept.
func (w *world) Watch(indicator int, a executive.Attention) {
	w.watched[indicator] = a == executive.Watched
}

// Look implements run.World.
func (w *world) Look([]int) {}

// Restart implements run.World.
func (w *world) Restart() {}

// Iterate implements run.World.
func (w *world) Iterate() ([]int, error) {
	w.changed = w.changed[:0]
	w.Signals()
	for i := range w.above {
		if side := w.side(i); side != w.above[i] {
			w.above[i] = side
			w.changed = append(w.changed, i)
		}
	}
	return w.changed, nil
}

// Memory implements run.World.
func (w *world) Memory() []float64 { return nil }

// SetAlarm implements run.World.
func (w *world) SetAlarm(t float64) { w.alarm = t }

// States implements run.World.
func (w *world) States() []float64 { return w.now[:w.p.Layout.Outputs-1] }

// Measures implements run.Observer.
func (w *world) Measures(state int) bool {
	return slices.ContainsFunc(w.tracks, func(tr track) bool { return tr.place == state })
}

// At implements run.World.
func (w *world) At(t float64) []float64 {
	if t >= w.t {
		return w.Signals()
	}
	return w.fill(t, w.around(t), w.before)
}

// Left implements run.World.
func (w *world) Left() []float64 {
	w.around(w.t)
	w.unsee()
	for _, i := range w.fresh {
		if tr := &w.tracks[i]; tr.was.t == tr.is.t {
			w.then[tr.place] = tr.was.v
		}
	}
	return w.fill(w.t, w.then, w.before)
}

// Changed implements run.World.
func (w *world) Changed() bool { return !slices.Equal(w.u, w.before) }

// Cost implements run.World.
func (w *world) Cost(s *record.Summary) { s.StateEvents, s.TimeEvents = w.stateEvents, w.timeEvents }

// State implements run.World.
func (w *world) State(c *snapshot.Codec) {
	snapshot.Vars(c, &w.base, &w.t, &w.next, &w.alarm, &w.suspended, &w.resumed, &w.stateEvents, &w.timeEvents)
	snapshot.Floats(c, w.now, w.u)
	w.Numbers.State(c)
	snapshot.Each(c, w.above, snapshot.Bool) // what is watched is the executive's state
	snapshot.Each(c, w.tracks, func(c *snapshot.Codec, tr *track) {
		snapshot.Vars(c, &tr.known, &tr.stamp)
		for _, p := range []*point{&tr.was, &tr.is} {
			snapshot.Vars(c, &p.t, &p.v, &p.rate)
		}
	})
	if c.Loading() && !w.p.Fits(w.u) {
		c.Fail(snapshot.ErrMismatch)
	}
}

const second = 1e9 // ns
