// Package run brings a plan's executive, a world and a recorder together: one run of a mission.
//
// A [World] answers the executive: the simulated one is in the room simulated. A [Configuration] says what decides which
// actions are active. The whole of their meeting is [Run.Step].
package run

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/document/mission"
	"canopy/executive"
	"canopy/run/record"
	"canopy/snapshot"
)

// ErrUnsettled is the failure of a run in which tasks go on switching each other at one instant.
var ErrUnsettled = errors.New("the plan and the signals do not settle")

// MaxSettlings bounds how often the plan settles at one instant: it bounds the loops through signals, which the tree
// engine cannot see.
const MaxSettlings = 100

// InputRecorder is a [record.Recorder] that also takes the discrete inputs of the world: those at the start, and those
// after every instant that changed them. It must not keep u. Recorded plays them back.
type InputRecorder interface {
	record.Recorder
	Inputs(t float64, u []float64) error
}

// World is what a plan runs in.
type World interface {
	executive.World
	// Advance makes one stretch of trajectory: to the next event, to the alarm, to until, or less far. If an event or the
	// alarm ends it, the instant there is under way until the next call.
	Advance(until float64) (Segment, error)
	// Iterate commits the sides of the indicators and returns those that changed.
	Iterate() (changed []int, err error)
	// SetAlarm sets the next time event [s], +Inf for none.
	SetAlarm(t float64)
	// At returns the signal vector at a time of the last stretch, at its end with the present inputs.
	At(t float64) []float64
	// Left returns the signal vector at the end of the last stretch as it was before the instant there.
	Left() []float64
	// Changed reports whether the inputs differ from those before the instant.
	Changed() bool
	// Cost adds what the world has cost so far to a summary.
	Cost(s *record.Summary)
	snapshot.State
}

// Segment is a stretch of trajectory.
type Segment struct {
	To      float64 // [s]
	Events  []int   // watched indicators that change side there
	Alarm   bool    // the time event is due there
	Chatter string  // chattering noticed there; "" if none was
}

// reasons are those of a run that came to its end, by whether that was set before the horizon.
var reasons = map[bool]string{false: "horizon reached", true: "time limit reached"}

// Run is one run of a mission: all that changes. It is not safe for concurrent use.
type Run struct {
	m         *mission.Mission
	world     World
	executive *executive.Executive
	rec       record.Recorder
	signals   []record.Signal // that are recorded
	places    []int           // of these in the signal vector
	until     float64
	next      int     // number of the next point of the recording grid
	sampled   float64 // time of the last sample
	outside   []bool  // by state: it was outside the vehicle's range there

	summary record.Summary
	begun   bool // the plan has settled for the first time
	over    bool

	row []float64 // scratch
}

// New prepares a run of a mission in a world. It ends at the horizon, or at the time until [s] if that comes first. The
// log goes to what Attach gives it.
func New(m *mission.Mission, w World, c Configuration, until float64) (*Run, error) {
	d, err := c.decider(m)
	if err != nil {
		return nil, err
	}
	r := &Run{m: m, world: w, executive: executive.New(m.Program, w, d), until: min(m.Horizon, until),
		sampled: math.NaN(), outside: make([]bool, len(m.Vehicle.States)), row: make([]float64, len(m.Record))}
	r.signals, r.places = m.Recorded()
	return r, nil
}

// Attach gives the run the recorder of its log, before the first step.
func (r *Run) Attach(rec record.Recorder) { r.rec = rec }

// Step advances the run by one stretch of trajectory, and by the instant at its end if an event ends it. It reports
// whether the run goes on; Summary then says why not.
//
//	advance the world to the next event, alarm or end of a step
//	record the grid points on the way
//	if an event ended the stretch:
//	    record the left limit
//	    repeat: one event iteration of the world commits the sides of the indicators
//	            the executive settles the plan, which changes the inputs; stop if it did nothing
//	    record the right limit
//
// The first step is the first settling of the plan.
func (r *Run) Step() (bool, error) {
	if r.over {
		return false, nil
	}
	if !r.begun {
		r.begun = true
		if err := r.begin(); err != nil {
			return false, r.fail(err)
		}
		return !r.over, nil
	}
	r.executive.Begin()
	segment, err := r.world.Advance(r.until)
	lost := r.grid(segment.To) // what comes before a failure is recorded
	if err != nil {
		return false, r.fail(err)
	}
	if lost != nil {
		return false, r.fail(lost)
	}
	if len(segment.Events) > 0 || segment.Alarm {
		if err := r.event(segment); err != nil {
			return false, r.fail(err)
		}
	}
	if !r.over && r.world.T() >= r.until {
		r.end(record.Complete, reasons[r.until < r.m.Horizon])
	}
	if r.over {
		if err := r.close(); err != nil {
			return false, r.fail(err)
		}
	}
	return !r.over, nil
}

// begin is the instant at which the run starts.
func (r *Run) begin() error {
	if err := errors.Join(r.instant(), r.recordInputs()); err != nil {
		return err
	}
	return r.grid(0)
}

// event handles the instant at the end of a stretch. Both of its sides are recorded, unless it was an alarm that is
// not worth a line and changed nothing.
func (r *Run) event(segment Segment) error {
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
	for _, i := range segment.Events {
		x := &r.m.Program.Indicators[i]
		if err := r.log("state", fmt.Sprintf("%s becomes %t", x.Text, x.Holds(!above[i]))); err != nil {
			return err
		}
	}
	if alarm != "" {
		if err := r.log("time", alarm); err != nil {
			return err
		}
	}
	if segment.Chatter != "" {
		if err := r.log("chattering", segment.Chatter); err != nil {
			return err
		}
	}
	if err := r.iterate(); err != nil {
		return err
	}
	if err := r.instant(); err != nil {
		return err
	}
	changed := r.world.Changed()
	if changed {
		if err := r.recordInputs(); err != nil {
			return err
		}
	}
	if silent && !changed {
		return nil
	}
	if silent && r.sampled < t {
		if err := r.sample(t, r.world.Left()); err != nil {
			return err
		}
	}
	return r.sample(t, r.world.At(t))
}

// iterate commits the sides of the indicators.
func (r *Run) iterate() error {
	changed, err := r.world.Iterate()
	r.executive.Changed(changed)
	return err
}

// recordInputs gives the discrete inputs to a recorder that wants them.
func (r *Run) recordInputs() error {
	if rec, ok := r.rec.(InputRecorder); ok {
		u, _ := r.world.Discrete()
		return rec.Inputs(r.world.T(), u)
	}
	return nil
}

// instant settles the plan again and again until nothing is left to do.
func (r *Run) instant() error {
	restless := map[bt.Task]bool{}
	for n := 0; ; n++ {
		again, err := r.executive.Settle()
		if err := r.write(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		if !again {
			break
		}
		if err := r.iterate(); err != nil {
			return err
		}
		if n == MaxSettlings {
			var names []string
			for _, task := range slices.Sorted(maps.Keys(restless)) {
				names = append(names, r.m.Plan.Tree.Name(task))
			}
			return fmt.Errorf("%w at t = %.9g s: %s keep changing", ErrUnsettled, r.world.T(), strings.Join(names, ", "))
		}
		if n >= MaxSettlings/2 { // the tasks of the loop, not of the way into it
			for _, e := range r.executive.Log {
				if e.Kind == "" {
					restless[e.Change.Task] = true
				}
			}
		}
	}
	r.world.SetAlarm(r.executive.Rest())
	if ended := r.executive.Ended(); r.m.EndsWithPlan && ended != bt.Accept {
		r.end(record.Complete, "the plan ended: "+ended.String())
	}
	return r.write()
}

// write logs what the executive did last.
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
		if err := r.rec.Status(r.world.T(), e.Micro, e.Change); err != nil {
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
	for ; ; r.next++ {
		t := float64(r.next) * r.m.Interval
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
	r.sampled = t
	for i, s := range r.places {
		r.row[i] = signals[s]
	}
	if err := r.rec.Sample(t, r.row); err != nil {
		return err
	}
	return r.checkRanges(t, signals)
}

// checkRanges logs a state that has left the range in which the vehicle's model describes something, by more than
// errors of the integration explain.
func (r *Run) checkRanges(t float64, signals []float64) error {
	for i := range r.m.Vehicle.States {
		s, y := &r.m.Vehicle.States[i], signals[1+i]
		least, most := s.Range.Bounds()
		margin := 100 * s.AbsTol
		out := y < least-margin || y > most+margin
		if out && !r.outside[i] {
			text := fmt.Sprintf("%s = %.6g is outside its range, %v: the model describes nothing there", s.Name, y, s.Range)
			e := record.Event{T: t, Micro: r.executive.Micro(), Kind: "range", Text: text}
			if err := r.rec.Event(e); err != nil {
				return err
			}
		}
		r.outside[i] = out
	}
	return nil
}

// Stop interrupts the run where it is, for a reason that is not the run's own.
func (r *Run) Stop(reason string) error {
	if r.over {
		return nil
	}
	r.end(record.Interrupted, reason)
	return r.close()
}

// close records the last point of the trajectory, if it has not been.
func (r *Run) close() error {
	if r.sampled == r.world.T() {
		return nil
	}
	return r.sample(r.world.T(), r.world.At(r.world.T()))
}

func (r *Run) end(outcome record.Outcome, reason string) {
	r.over = true
	r.summary.Outcome, r.summary.Reason = outcome, reason
}

// fail ends the run by an error: every active task's exit procedure is run, nothing that was recorded is lost.
func (r *Run) fail(err error) error {
	r.end(record.Failed, err.Error())
	for _, more := range []error{r.close(), r.log("error", err.Error()), r.executive.Halt(), r.write()} {
		if more != nil && !errors.Is(err, more) { // a recorder that has failed says so at every call
			err = errors.Join(err, more)
		}
	}
	return err
}

// State passes all that changes of the run, between two steps: a run of the same mission and configuration that is
// restored goes on alike, to the last bit of its log.
func (r *Run) State(c *snapshot.Codec) {
	snapshot.Int(c, &r.next)
	snapshot.Float(c, &r.sampled)
	snapshot.Each(c, r.outside, snapshot.Bool)
	snapshot.Int(c, &r.summary.StatusChanges)
	snapshot.Int(c, &r.summary.MaxEventIterations)
	snapshot.Bool(c, &r.begun)
	r.world.State(c)
	r.executive.State(c)
}

// T returns the time [s].
func (r *Run) T() float64 { return r.world.T() }

// Until returns the time at which the run is to end [s].
func (r *Run) Until() float64 { return r.until }

// Summary returns what the run has cost so far.
func (r *Run) Summary() record.Summary {
	s := r.summary
	s.Ended = r.world.T()
	r.world.Cost(&s)
	return s
}

// Events returns the number of state and time events so far.
func (r *Run) Events() int { s := r.Summary(); return s.StateEvents + s.TimeEvents }

// Statuses returns the present status of every task, by task number.
func (r *Run) Statuses() []bt.Status {
	list := make([]bt.Status, r.m.Plan.Tree.Len())
	for i := range list {
		list[i] = r.executive.Status(bt.Task(i))
	}
	return list
}

// Header describes the run for the record, with the documents it is made from. It is asked for before the first step.
func (r *Run) Header() record.Header {
	m := r.m
	h := record.Header{Mission: m.Name, Text: m.Text, Plan: m.Plan.Name, Vehicle: m.Vehicle.Name, Horizon: r.until,
		Method: m.Method.String(), RelTol: m.Tolerance, Interval: m.Interval, Plots: m.Plots, Signals: r.signals}
	tree := m.Plan.Tree
	detail := make([]string, tree.Len())
	for _, l := range m.Plan.Leaves {
		detail[l.Task] = strings.Join(strings.Fields(m.Plan.Source.Text[l.Offset:l.Offset+l.Length]), " ")
	}
	for i := range tree.Len() {
		t := bt.Task(i)
		h.Tasks = append(h.Tasks, record.Task{Name: tree.Name(t), Kind: tree.Kind(t).String(), Parent: int(tree.Parent(t)),
			Detail: detail[i], Initial: r.executive.Status(t)})
	}
	for i, p := range m.Vehicle.Parameters {
		h.Parameters = append(h.Parameters, record.Parameter{Name: p.Name, Unit: p.Unit, Value: m.Parameters[i],
			Default: p.Default, Tag: p.Tag.String(), Text: p.Text})
	}
	h.Attachments = []record.Attachment{
		{Name: "mission.yaml", MediaType: "application/yaml", Data: []byte(m.Source.Text)},
		{Name: "plan.xml", MediaType: "application/xml", Data: []byte(m.Plan.Source.Text)},
	}
	if m.Equations != nil {
		h.Attachments = append(h.Attachments,
			record.Attachment{Name: "vehicle.yaml", MediaType: "application/yaml", Data: []byte(m.Equations.Text)})
	}
	return h
}
