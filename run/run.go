// Package run connects a plan's executive, a world and a recorder: one run of a mission.
//
// The executive controls a [World]; package simulated has the simulated one. A [Configuration] decides which actions
// are active. [Run.Step] is the whole interaction.
package run

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// NotFiniteError reports a run in which a signal that is recorded or read is NaN or infinite.
type NotFiniteError struct {
	T     float64 // [s]
	Name  string  // of the signal
	Value string
}

func (e NotFiniteError) Error() string {
	return fmt.Sprintf("%s is %s at t = %.9g s", e.Name, e.Value, e.T)
}

// MaxStopping bounds the stopping phase of a run: the time that exit procedures may take after the run's end [s].
const MaxStopping = 3600.0

// InputRecorder is a [record.Recorder] that also records the discrete inputs of the world: those at the start, and
// those after every instant that changed them. It must not keep u. Recorded plays them back.
type InputRecorder interface {
	record.Recorder
	Inputs(t float64, u []float64) error
}

// SettledRecorder is a [record.Recorder] that also learns when the plan has settled at an instant, as long as it is not
// halted, and how its root is then judged: Success, Failure or Skipped, or Accept while it runs or waits.
type SettledRecorder interface {
	record.Recorder
	Settled(t float64, root bt.Status)
}

// World is the environment of a plan.
type World interface {
	executive.World
	executive.Watcher
	// Advance computes one stretch of trajectory, at most to the next event, to the alarm or to until. If an event or
	// the alarm ends it, the instant there lasts until the next call.
	Advance(until float64) (Segment, error)
	// Iterate commits the sides of the indicators and returns those that changed.
	Iterate() (changed []int, err error)
	// Memory returns what else decides, beside inputs, sides and the time, how the world goes on at an instant.
	Memory() []float64
	// SetAlarm sets the next time event [s], +Inf for none.
	SetAlarm(t float64)
	// States returns the vehicle's states at the current time, as far as it integrates or measures them.
	States() []float64
	// At returns the signal vector at a time of the last stretch, at its end with the current inputs.
	At(t float64) []float64
	// Left returns the signal vector at the end of the last stretch as it was before the instant there.
	Left() []float64
	// Changed reports whether the inputs differ from those before the instant.
	Changed() bool
	// Cost adds the world's cost so far to a summary.
	Cost(s *record.Summary)
	snapshot.Stateful
}

// Segment is a stretch of trajectory.
type Segment struct {
	To      float64 // [s]
	Events  []int   // watched indicators that change side there
	Touched []int   // watched indicators that begin to touch zero there, and keep their side
	Own     bool    // so does a switch of the world's own, of which the log has no entry
	Alarm   bool    // the time event is due there
	Chatter error   // chattering there, from which the solution slides; nil if none
	Slid    bool    // the solution slid on the way there

	// Dated are the times at which the events occurred, in their order, in a world that observes them later; nil: at To.
	Dated   []float64
	Told    []int // places of discrete signals of the world that change there
	Waiting bool  // nothing is known of the time after To: a world that observes waits for its input
}

// reasons are those of a run that reached its end, by whether the end was set before the horizon.
var reasons = map[bool]string{false: "horizon reached", true: "time limit reached"}

// Run is one run of a mission: all its mutable state. It is not safe for concurrent use.
type Run struct {
	m         *mission.Mission
	world     World
	executive *executive.Executive
	rec       record.Recorder
	signals   []record.Signal // that are recorded
	places    []int           // of these in the signal vector
	unset     []bool          // by recorded signal: it may be unset, and is then NaN
	needed    []int           // places of the signals that must be finite although they may not be recorded
	until     float64
	pause     float64       // at which a step ends; 0: none must
	point     int           // number of the next point of the recording grid
	sampled   float64       // time of the last sample
	low, high []float64     // range of each state, widened by what errors of the integration explain; or what is implied
	outside   []bool        // by state: it was outside of the declared range
	implied   []model.Range // by state: that the equations imply; nil: none
	slides    bool          // the solution slid in the last stretch
	wrong     []bool        // by state: it was outside of that
	peak      []float64     // by state: the largest magnitude recorded within the implied range
	storm     storm

	logged    record.Header // its tasks: those of the log so far
	numbers   []bt.Task     // by task of the plan: its number in the log
	exchanged bool          // another plan than that at the start has taken over
	next      *swap         // an exchange of the plan that is under way
	refusal   string        // why the last one did not take place

	summary  record.Summary
	tree     bool // the plan's tree decides
	begun    bool // the plan has settled for the first time
	stopping bool // exit procedures are running, nothing else may begin
	over     bool
	stuck    bool // the world has failed: time cannot advance
	waiting  bool // the world waits for its input

	fence    int     // the place of the signal that the vehicle is outside its fence; absent: it is simulated without one
	breached float64 // when the vehicle was first outside [s]; NaN: never

	sources []mission.Source
	lost    []bool          // by source: it is unknown, as last logged
	told    map[string]bool // by text: the truth of a relation by which the run is judged, as last logged
	judged  int             // changes of these in the log

	row []float64 // scratch
}

// Observer is a World that integrates nothing: of the vehicle's states it has those that are measured.
type Observer interface {
	// Measures reports whether a state of the vehicle is measured.
	Measures(state int) bool
}

// New prepares a run of a mission in a world. It ends at the horizon, or at the time until [s] if that comes first.
// Attach sets the recorder of the log.
func New(m *mission.Mission, w World, c Configuration, until float64) (*Run, error) {
	d, err := c.decider(m)
	if err != nil {
		return nil, err
	}
	r := &Run{m: m, world: w, executive: executive.New(m.Program, w, d), until: min(m.Horizon, until),
		sampled: math.NaN(), breached: math.NaN(), row: make([]float64, len(m.Record)),
		storm: storm{times: make([]float64, crowd), least: min(share*m.Horizon, brief),
			latest: make([]int, m.Plan.Tree.Len())}}
	for _, name := range m.Record {
		s, _ := m.Signal(name)
		signal := record.Signal{Name: name, Unit: s.Unit.String(), Text: s.Text, Values: s.Values, Entry: s.Entry}
		if s.Type != expr.Real {
			signal.Type = s.Type.Name()
		}
		r.signals = append(r.signals, signal)
	}
	r.locate()
	r.findFence()
	r.numbers = r.logged.Take(r.plan())
	observer, observes := w.(Observer)
	if !observes {
		r.implied = m.Implied()
	}
	for i := range w.States() {
		s := &m.Vehicle.States[i]
		low, high := s.Range.Bounds()
		low, high = low-few*s.AbsTol, high+few*s.AbsTol
		if observes && !observer.Measures(i) {
			low, high = math.Inf(-1), math.Inf(1)
		}
		if r.implied != nil {
			least, most := r.implied[i].Bounds()
			low, high = max(low, least), min(high, most)
		}
		r.low, r.high = append(r.low, low), append(r.high, high)
	}
	r.outside, r.peak = make([]bool, len(r.low)), make([]float64, len(r.low))
	r.wrong = make([]bool, len(r.low))
	switch c.(type) {
	case Continuous, Ticked:
		r.tree = true
	}
	return r, nil
}

// Attach sets the recorder of the run's log, before the first step.
func (r *Run) Attach(rec record.Recorder) { r.rec = rec }

// Step advances the run by one stretch of trajectory, and by the instant at its end if an event ends it. It reports
// whether the run continues; if not, Summary has the reason.
//
//	advance the world to the next event, alarm or end of a step
//	record the grid points in between
//	if an event ended the stretch:
//	    record the left limit
//	    repeat: one event iteration of the world commits the sides of the indicators
//	            the executive settles the plan, which changes the inputs; stop if it did nothing
//	    record the right limit
//
// The first step is the first settling of the plan. At the horizon, at the plan's end, at Stop and after a failure, the
// plan is halted; if exit procedures then take time, the run continues until they have ended, for at most MaxStopping.
func (r *Run) Step() (bool, error) {
	if r.over {
		return false, nil
	}
	if err := r.step(); err != nil {
		return false, r.fail(err)
	}
	return !r.over, nil
}

func (r *Run) step() error {
	r.executive.Begin()
	if !r.begun {
		r.begun = true
		return r.begin()
	}
	if r.told == nil { // it was restored
		_ = r.watched() // which logs nothing
	}
	from := r.world.T()
	until := r.until
	if r.pause > from {
		until = min(until, r.pause)
	}
	segment, err := r.world.Advance(until)
	r.stuck, r.waiting = err != nil, segment.Waiting
	if r.slides && !segment.Slid && err == nil {
		e := record.Event{T: from, Micro: r.executive.Micro(), Kind: record.KindChattering, Text: "the motion slides no more"}
		if err := r.rec.Event(e); err != nil {
			return err
		}
	}
	r.slides = segment.Slid
	lost := r.grid(segment.To) // the trajectory before a failure is recorded
	if err != nil {
		return r.chattering(err)
	}
	if lost != nil {
		return lost
	}
	if err := errors.Join(r.checkRanges(r.world.T(), r.world.States()), r.checkFence(from, segment.To)); err != nil {
		return err
	}
	_, above := r.world.Discrete()
	for _, i := range segment.Touched {
		x := &r.m.Program.Indicators[i]
		e := record.TouchEvent(r.world.T(), r.executive.Micro(), x.Text, x.Holds(above[i]))
		if err := r.rec.Event(e); err != nil {
			return err
		}
	}
	if len(segment.Events)+len(segment.Told) > 0 || segment.Alarm || segment.Own {
		if err := r.event(segment); err != nil {
			return err
		}
	}
	switch {
	case r.over:
	case r.stopping:
		return r.stopped()
	case r.world.T() >= r.until:
		return r.end(record.Complete, reasons[r.until < r.m.Horizon])
	}
	return nil
}

// begin is the instant at which the run starts.
func (r *Run) begin() error {
	if err := errors.Join(r.losses(), r.instant(), r.watched(), r.recordInputs()); err != nil {
		return err
	}
	if err := r.grid(0); err != nil {
		return err
	}
	return r.endWithPlan()
}

// Ending is a World that may end by itself.
type Ending interface {
	// Ended returns why the world has ended; "" if it goes on.
	Ended() string
}

// gone returns why the world has ended; "" if it goes on.
func (r *Run) gone() string {
	if w, ok := r.world.(Ending); ok {
		return w.Ended()
	}
	return ""
}

// endWithPlan ends the run after the end of the plan, if the mission requires it, or with the world.
func (r *Run) endWithPlan() error {
	if why := r.gone(); why != "" {
		if err := r.log(record.KindVehicle, why); err != nil || r.stopping {
			r.over = true
			return errors.Join(err, r.unended(r.executive.Leaving()))
		}
		return r.end(record.Complete, why)
	}
	if ended := r.executive.Ended(); r.m.EndsWithPlan && ended != bt.Accept && !r.stopping {
		return r.end(record.Complete, "the plan ended: "+ended.String())
	}
	return nil
}

// event handles the instant at the end of a stretch. Both of its sides are recorded, except for an alarm that has no
// log text and changed nothing.
func (r *Run) event(segment Segment) error {
	if err := r.count(); err != nil {
		return err
	}
	alarm := ""
	if segment.Alarm {
		alarm = r.executive.Alarm()
	}
	silent := len(segment.Events) == 0 && alarm == ""
	t := r.world.T()
	if !silent && r.sampled < t {
		if err := r.sample(t, r.world.Left()); err != nil {
			return err
		}
	}
	_, above := r.world.Discrete()
	for k, i := range segment.Events {
		x := &r.m.Program.Indicators[i]
		e := record.StateEvent(t, r.executive.Micro(), x.Text, x.Holds(!above[i]))
		if segment.Dated != nil {
			e.Since(segment.Dated[k])
		}
		if err := r.rec.Event(e); err != nil {
			return err
		}
		if _, judged := r.told[x.Text]; judged {
			r.told[x.Text] = e.Holds
			r.judged++
		}
	}
	if err := r.release(); err != nil {
		return err
	}
	if alarm != "" {
		if err := r.log("time", alarm); err != nil {
			return err
		}
	}
	if segment.Chatter != nil {
		text := r.chattering(segment.Chatter).Error() + "; from here on, the motion slides between them"
		if err := r.log(record.KindChattering, text); err != nil {
			return err
		}
	}
	if alarm != "" {
		if err := r.crowd(alarm); err != nil {
			return err
		}
	}
	world := r.world
	changed, err := r.react()
	if silent && (changed || err != nil) && r.sampled < t {
		err = also(err, r.sample(t, world.Left()))
	}
	if err != nil {
		return err
	}
	if silent && !changed {
		return r.endWithPlan()
	}
	return r.right()
}

// react commits the sides, settles the plan, and reports whether inputs have changed.
func (r *Run) react() (changed bool, err error) {
	world := r.world
	if _, err = r.iterate(); err == nil {
		err = r.losses()
	}
	if err == nil {
		err = r.settle()
	}
	if err == nil {
		err = r.watched()
	}
	if err != nil || !world.Changed() && r.world == world {
		return false, err
	}
	return true, r.recordInputs()
}

// right records the right limit of an instant, which ends the run if the plan has ended.
func (r *Run) right() error {
	if err := r.sample(r.world.T(), r.world.At(r.world.T())); err != nil {
		return err
	}
	return r.endWithPlan()
}

// iterate commits the sides of the indicators, and reports whether one has changed.
func (r *Run) iterate() (changed bool, err error) {
	indicators, err := r.world.Iterate()
	r.stuck = err != nil
	r.executive.Changed(indicators)
	return len(indicators) > 0, err
}

// recordInputs passes the discrete inputs to an InputRecorder.
func (r *Run) recordInputs() error {
	if rec, ok := r.rec.(InputRecorder); ok {
		u, _ := r.world.Discrete()
		return rec.Inputs(r.world.T(), u)
	}
	return nil
}

// instant settles the plan repeatedly until nothing is left to do: sides that follow from other sides change one
// settling later.
func (r *Run) instant() error {
	for {
		again, err := r.executive.Settle()
		if err := r.write(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		changed, err := r.iterate()
		if err != nil {
			return err
		}
		if !again && !changed {
			break
		}
		if err := r.executive.Endless(r.world.Memory()); err != nil {
			return err
		}
	}
	r.world.SetAlarm(r.executive.Rest())
	if err := r.write(); err != nil {
		return err
	}
	if rec, ok := r.rec.(SettledRecorder); ok && !r.stopping {
		rec.Settled(r.world.T(), r.executive.Judgement())
	}
	return nil
}

// write logs the executive's last entries.
func (r *Run) write() error {
	r.summary.MaxEventIterations = max(r.summary.MaxEventIterations, r.executive.Micro())
	for i := range r.executive.Log {
		e := &r.executive.Log[i]
		if e.Kind != "" {
			if err := r.rec.Event(record.Event{T: r.world.T(), Micro: e.Micro, Kind: e.Kind, Text: e.Text}); err != nil {
				return err
			}
			continue
		}
		r.summary.StatusChanges++
		r.storm.latest[e.Change.Task] = r.storm.instants
		c := e.Change
		c.Task = r.numbers[c.Task]
		if err := r.rec.Status(r.world.T(), e.Micro, c); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) log(kind, text string) error {
	return r.rec.Event(record.Event{T: r.world.T(), Micro: r.executive.Micro(), Kind: kind, Text: text})
}

// grid records the points of the recording grid up to the time to, from the last stretch.
func (r *Run) grid(to float64) error {
	for ; ; r.point++ {
		t := float64(r.point) * r.m.Interval
		if t > to {
			return nil
		}
		if err := r.sample(t, r.world.At(t)); err != nil {
			return err
		}
	}
}

// sample records all recorded signals at one point of the trajectory.
func (r *Run) sample(t float64, signals []float64) error {
	for i, s := range r.needed {
		if !finite(signals[s]) {
			return NotFiniteError{t, r.m.Needed[i], fmt.Sprint(signals[s])}
		}
	}
	for i, s := range r.places {
		if r.row[i] = math.NaN(); s != absent {
			r.row[i] = signals[s]
		}
		if !finite(r.row[i]) && !r.unset[i] {
			return NotFiniteError{t, r.signals[i].Name, fmt.Sprint(r.row[i])}
		}
	}
	r.sampled = t
	for i, y := range signals[1 : 1+len(r.peak)] {
		if a := math.Abs(y); a > r.peak[i] {
			if low, high := r.bounds(i); low <= y && y <= high {
				r.peak[i] = a
			}
		}
	}
	if err := r.rec.Sample(t, r.row); err != nil {
		return err
	}
	if _, observes := r.world.(Observer); observes {
		return nil // what is measured has been checked
	}
	return r.checkRanges(t, signals[1:])
}

func finite(x float64) bool { return x-x == 0 }

// Stop interrupts the run at the current time, for an external reason, and lets exit procedures end. Where the world
// must wait for its input, they end in the steps that follow.
func (r *Run) Stop(reason string) error {
	if r.over {
		return nil
	}
	if r.stopping { // a later reason to end does not matter
		r.summary.Outcome, r.summary.Reason = record.Interrupted, reason
	} else if err := r.end(record.Interrupted, reason); err != nil {
		return r.fail(err)
	}
	for r.waiting = false; !r.over && !r.waiting; {
		if err := r.step(); err != nil {
			return r.fail(err)
		}
	}
	return nil
}

// end begins the end of the run: it records the last point and, if exit procedures must run, halts the plan.
func (r *Run) end(outcome record.Outcome, reason string) error {
	r.judge(outcome, reason)
	if err := errors.Join(r.close(), r.doubt()); err != nil {
		return err
	}
	if !r.begun || !r.executive.Exits() {
		r.over = true
		return nil
	}
	u, _ := r.world.Discrete()
	before := slices.Clone(u)
	if err := errors.Join(r.halt(), r.settleExits()); err != nil {
		return err
	}
	if r.gone() != "" && !r.over { // they have no more time
		r.over = true
		if err := r.unended(r.executive.Leaving()); err != nil {
			return err
		}
	}
	if slices.Equal(before, u) {
		return nil
	}
	return errors.Join(r.recordInputs(), r.sample(r.world.T(), r.world.At(r.world.T())))
}

// judge records why the run ends and the verdict of the plan.
func (r *Run) judge(outcome record.Outcome, reason string) {
	r.summary.Outcome, r.summary.Reason = outcome, reason
	if r.stopping {
		return // the plan was judged before it was halted
	}
	r.summary.Stopped, r.summary.Planned = r.world.T(), r.summary.StatusChanges
	r.summary.Plan = record.PlanAbsent
	if r.tree {
		r.summary.Plan = map[bt.Status]record.Verdict{bt.Success: record.PlanSucceeded, bt.Failure: record.PlanFailed,
			bt.Skipped: record.PlanSkipped, bt.Accept: record.PlanOpen}[r.executive.Judgement()]
	}
}

// halt ends every action: the stopping phase begins.
func (r *Run) halt() error {
	r.stopping, r.until = true, r.world.T()+MaxStopping
	if r.next != nil {
		r.next = nil
		r.withhold()
	}
	var err error
	if !r.stuck {
		_, err = r.iterate() // sides that were not watched
	}
	return errors.Join(err, r.executive.Halt(), r.write())
}

// settleExits settles the plan after it was halted; the run is over if no exit procedure is running then.
func (r *Run) settleExits() error {
	var err error
	if len(r.executive.Leaving()) > 0 {
		if _, err = r.iterate(); err == nil { // what the actions wrote has ended
			err = r.instant()
		}
	}
	r.over = len(r.executive.Leaving()) == 0
	return err
}

// stopped ends the run when all exit procedures have ended, or their time is over.
func (r *Run) stopped() error {
	leaving := r.executive.Leaving()
	if len(leaving) > 0 && r.world.T() < r.until {
		return nil
	}
	r.over = true
	return errors.Join(r.close(), r.unended(leaving))
}

// unended logs exit procedures that have not ended.
func (r *Run) unended(leaving []bt.Task) error {
	if len(leaving) == 0 {
		return nil
	}
	var names []string
	for _, t := range leaving {
		names = append(names, r.m.Plan.Tree.Name(t))
	}
	return r.log("stopping", fmt.Sprintf("not ended: the exit procedure of %s", strings.Join(names, ", ")))
}

// close records the last point of the trajectory, unless it is already recorded.
func (r *Run) close() error {
	if r.sampled == r.world.T() {
		return nil
	}
	return r.sample(r.world.T(), r.world.At(r.world.T()))
}

// fail ends the run by an error: nothing recorded is lost, and every active task's exit procedure runs, to its end
// unless the world itself has failed, so that time cannot advance, or must wait for its input: then they end in the
// steps that follow.
func (r *Run) fail(err error) error {
	if unset := r.executive.Unwritten(); unset != nil && !errors.Is(err, executive.ErrUnset) {
		err = fmt.Errorf("%w; %w", unset, err)
	}
	r.judge(record.Failed, err.Error())
	again := r.stopping
	for _, more := range []error{r.close(), r.log("error", err.Error()), r.halt()} {
		err = also(err, more)
	}
	if !r.stuck && !again {
		more := r.settleExits()
		for r.waiting = false; more == nil && !r.over && !r.waiting; {
			more = r.step()
		}
		if err = also(err, more); more == nil && !r.over {
			return err
		}
	}
	if !r.over {
		err = also(err, r.unended(r.executive.Leaving()))
	}
	r.over = true
	return err
}

// also joins two errors. A failed recorder returns its error at every call, and a value that is not finite remains so:
// such an error counts once.
func also(err, more error) error {
	var bad NotFiniteError
	if more == nil || errors.Is(err, more) || errors.Is(more, err) || errors.As(more, &bad) {
		return err
	}
	return errors.Join(err, more)
}

// State passes all mutable state of the run, between two steps, to the codec: a restored run of the same mission and
// configuration continues identically, to the last bit of its log.
func (r *Run) State(c *snapshot.Codec) {
	r.passExchanges(c)
	s := &r.summary
	snapshot.Vars(c, &r.judged, &r.point, &r.sampled, &r.slides, &r.breached, &r.begun, &r.stopping, &r.over, &r.until,
		&s.StatusChanges, &s.MaxEventIterations, &s.Outcome, &s.Plan, &s.Reason, &s.Stopped, &s.Planned)
	snapshot.Each(c, r.outside, snapshot.Bool)
	snapshot.Each(c, r.wrong, snapshot.Bool)
	snapshot.Each(c, r.lost, snapshot.Bool)
	snapshot.Floats(c, r.peak)
	snapshot.Floats(c, r.storm.times)
	snapshot.Within(c, &r.storm.count, 0, 1<<60)
	snapshot.Within(c, &r.storm.instants, 0, 1<<60)
	snapshot.Float(c, &r.storm.at)
	snapshot.Within(c, &r.storm.still, 0, crowd)
	snapshot.Each(c, r.storm.latest, snapshot.Int)
	r.world.State(c)
	r.executive.State(c)
	t, grid := r.world.T(), r.m.Interval
	due := float64(r.point-1)*grid <= t && t < float64(r.point)*grid
	if c.Loading() && (t > r.until || r.begun && !due || !r.begun && r.point != 0) {
		c.Fail(snapshot.ErrMismatch)
	}
}

// Waiting reports whether the last step found nothing to do: the world waits for its input.
func (r *Run) Waiting() bool { return r.waiting }

// Over reports whether the run is over. One that has failed may still have to wait for its exit procedures.
func (r *Run) Over() bool { return r.over }

// Stopping reports whether the plan was halted: only exit procedures may be running.
func (r *Run) Stopping() bool { return r.stopping }

// T returns the time [s].
func (r *Run) T() float64 { return r.world.T() }

// PauseAt lets a step end at a time [s]; 0: at none. So does a step of the integrator, as at a time event: results stay
// within the tolerance.
func (r *Run) PauseAt(t float64) { r.pause = t }

// Until returns the time [s] at which the run ends.
func (r *Run) Until() float64 { return r.until }

// Summary returns the cost of the run so far.
func (r *Run) Summary() record.Summary {
	s := r.summary
	s.Ended = r.world.T()
	if s.Stopped == s.Ended {
		s.Stopped = 0
	}
	if s.Planned == s.StatusChanges {
		s.Planned = 0
	}
	if at := r.breached; !math.IsNaN(at) {
		s.Breached = &at
	}
	r.world.Cost(&s)
	return s
}

// StatusChanges returns the number of changes of statuses so far.
func (r *Run) StatusChanges() int { return r.summary.StatusChanges }

// Events returns the number of state and time events so far.
func (r *Run) Events() int { s := r.Summary(); return s.StateEvents + s.TimeEvents }

// Statuses returns the current status of every task, by task number.
func (r *Run) Statuses() []bt.Status {
	list := make([]bt.Status, r.m.Plan.Tree.Len())
	for i := range list {
		list[i] = r.executive.Status(bt.Task(i))
	}
	return list
}
