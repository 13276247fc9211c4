package mission

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/ode"
	"canopy/run/record"
	"canopy/sim"
	"canopy/snapshot"
)

// Failures of a run, besides those of the simulator, the tree engine and the recorder.
var (
	ErrDuration  = errors.New("impossible duration")                    // a procedure would take a negative time, or NaN
	ErrUnsettled = errors.New("the plan and the signals do not settle") // tasks go on switching each other at one instant
)

// maxSettlings bounds how often the tree settles at one instant: it bounds the loops through signals, which the tree
// engine cannot see.
const maxSettlings = 100

// InputRecorder is a [record.Recorder] that also takes the discrete inputs U of the simulated system: those at the
// start, and those after every instant that changed them. It must not keep u. Recorded plays them back.
type InputRecorder interface {
	record.Recorder
	Inputs(t float64, u []float64) error
}

// reasons are those of a run that came to its end, by whether that was set before the horizon.
var reasons = map[bool]string{false: "horizon reached", true: "time limit reached"}

// Run is one flight of a mission: all that changes. It is not safe for concurrent use.
type Run struct {
	m        *Mission
	world    *world
	sim      *sim.Simulator
	planner  planner
	rec      record.Recorder
	leaves   []leafState
	leafOf   []int // leaf by task, -1 for composites
	recorded []int // signals that are recorded
	until    float64
	next     int     // number of the next point of the recording grid
	sampled  float64 // time of the last sample
	outside  []bool  // by state: it was outside the vehicle's range there

	micro     int      // event iterations of the tree in the present instant
	conflicts []string // of each slot, the active writers that were reported last

	summary record.Summary
	begun   bool // the tree has settled for the first time
	over    bool

	changed []bt.Task    // whose status changed in the last settling
	before  sim.Discrete // at the beginning of the present instant

	y, row []float64 // scratch
}

// NewRun prepares a run of the plan's tree in continuous time that ends at the horizon, or at the simulated time
// until [s] if that comes first. The log goes to what Attach gives it.
func (m *Mission) NewRun(until float64) (*Run, error) { return m.Configure(Continuous{}, until) }

// Configure prepares a run like NewRun in which something else than the tree in continuous time decides.
func (m *Mission) Configure(c Configuration, until float64) (*Run, error) {
	w, err := newWorld(m)
	if err != nil {
		return nil, err
	}
	y, u := w.initial()
	tree := m.Plan.Tree
	r := &Run{m: m, world: w, until: min(m.Horizon, until), sampled: math.NaN(), outside: make([]bool, len(y)),
		leaves: make([]leafState, len(m.leaves)), leafOf: slices.Repeat([]int{-1}, tree.Len()),
		conflicts: make([]string, len(m.slots)), y: make([]float64, len(y)), row: make([]float64, len(m.Record))}
	for i, l := range m.leaves {
		r.leafOf[l.task] = i
		r.leaves[i] = leafState{request: bt.Accept, outcome: bt.Accept}
	}
	for _, name := range m.Record {
		r.recorded = append(r.recorded, slices.IndexFunc(m.signals, func(s signal) bool { return s.name == name }))
	}
	system := w.system()
	options := sim.Options{Options: ode.Options{Method: m.Method, RelTol: m.Tolerance}, Chattering: m.Chattering,
		MaxIterations: maxSettlings + 2}
	if r.sim, err = sim.New(system, 0, y, u, options); err != nil {
		return nil, err
	}
	r.before = sim.Discrete{U: slices.Clone(r.sim.U), Above: slices.Clone(r.sim.Above)}
	r.planner, err = c.planner(r)
	return r, err
}

// Attach gives the run the recorder of its log, before the first step.
func (r *Run) Attach(rec record.Recorder) { r.rec = rec }

// Step advances the run by one stretch of trajectory, and by the instant at its end if an event ends it. It reports
// whether the run goes on; Summary then says why not.
//
//	advance the simulator to the next event, alarm or end of a step
//	record the grid points on the way
//	if an event ended the stretch:
//	    record the left limit
//	    repeat: one event iteration of the simulator commits the sides of the indicators
//	            the planner settles the plan, which changes the discrete inputs; stop if it did nothing
//	    record the right limit
//
// The first step is the first settling of the tree.
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
	r.micro = 0
	segment, err := r.sim.Advance(r.until)
	lost := r.grid(segment.To) // what comes before a failure is recorded
	if err := r.explain(err); err != nil {
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
	if !r.over && r.sim.T >= r.until {
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
func (r *Run) event(segment sim.Segment) error {
	copy(r.before.U, r.sim.U)
	copy(r.before.Above, r.sim.Above)
	alarm := ""
	if segment.Alarm {
		alarm = r.planner.alarm()
	}
	silent := len(segment.Events) == 0 && alarm == ""
	if !silent && r.sampled < r.sim.T {
		if err := r.sample(r.sim.T, r.sim.Y, &r.before); err != nil {
			return err
		}
	}
	for _, i := range segment.Events {
		if err := r.log("state", r.m.program.becomes(i, !r.sim.Above[i])); err != nil {
			return err
		}
	}
	if alarm != "" {
		if err := r.log("time", alarm); err != nil {
			return err
		}
	}
	if segment.Chatter != nil {
		if err := r.log("chattering", segment.Chatter.Error()); err != nil {
			return err
		}
	}
	if _, err := r.sim.Iterate(); err != nil {
		return err
	}
	if err := r.instant(); err != nil {
		return err
	}
	changed := !slices.Equal(r.before.U, r.sim.U)
	if changed {
		if err := r.recordInputs(); err != nil {
			return err
		}
	}
	if silent && !changed {
		return nil
	}
	if silent && r.sampled < r.sim.T {
		if err := r.sample(r.sim.T, r.sim.Y, &r.before); err != nil {
			return err
		}
	}
	return r.sample(r.sim.T, r.sim.Y, &r.sim.Discrete)
}

// recordInputs gives the discrete inputs to a recorder that wants them.
func (r *Run) recordInputs() error {
	if rec, ok := r.rec.(InputRecorder); ok {
		return rec.Inputs(r.sim.T, r.sim.U)
	}
	return nil
}

// instant settles the plan again and again until nothing is left to do.
func (r *Run) instant() error {
	restless := map[bt.Task]bool{}
	for n := 0; ; n++ {
		again, err := r.planner.settle(r)
		if err != nil {
			return err
		}
		if !again {
			break
		}
		if _, err := r.sim.Iterate(); err != nil {
			return err
		}
		if n == maxSettlings {
			var names []string
			for _, task := range slices.Sorted(maps.Keys(restless)) {
				names = append(names, r.m.Plan.Tree.Name(task))
			}
			return fmt.Errorf("%w at t = %.9g s: %s keep changing", ErrUnsettled, r.sim.T, strings.Join(names, ", "))
		}
		if n >= maxSettlings/2 { // the tasks of the loop, not of the way into it
			for _, task := range r.changed {
				restless[task] = true
			}
		}
	}
	clear(r.sim.Watch)
	r.sim.Alarm = math.Inf(1)
	r.see(r.m.program.standing)
	for i := range r.m.leaves {
		if r.sim.U[i] == active {
			r.see(r.m.leaves[i].writes)
		}
	}
	r.planner.watch(r)
	return r.contention()
}

// status logs a status change in the event iteration micro of the present instant.
func (r *Run) status(micro int, c bt.Change) error {
	r.changed = append(r.changed, c.Task)
	r.summary.StatusChanges++
	return r.rec.Status(r.sim.T, micro, c)
}

// iterated counts event iterations of what decides.
func (r *Run) iterated(n int) {
	r.micro += n
	r.summary.MaxEventIterations = max(r.summary.MaxEventIterations, r.micro)
}

// contention logs slots that several tasks write: the first in the tree counts.
func (r *Run) contention() error {
	for i, writers := range r.m.program.writers {
		var names []string
		for _, w := range writers {
			if r.sim.U[w.leaf] == w.phase {
				names = append(names, r.m.Plan.Tree.Name(r.m.leaves[w.leaf].task))
			}
		}
		text := ""
		if len(names) > 1 {
			text = fmt.Sprintf("%s write %s at once; %s counts", strings.Join(names, " and "),
				r.m.signals[r.m.slots[i].signal].name, names[0])
		}
		if text != "" && text != r.conflicts[i] {
			if err := r.log("conflict", text); err != nil {
				return err
			}
		}
		r.conflicts[i] = text
	}
	return nil
}

func (r *Run) log(kind, text string) error {
	return r.rec.Event(record.Event{T: r.sim.T, Micro: r.micro, Kind: kind, Text: text})
}

// grid records the points of the recording grid up to the simulated time to, from the dense output of the last
// stretch.
func (r *Run) grid(to float64) error {
	for ; ; r.next++ {
		t := float64(r.next) * r.m.Interval
		if t > to {
			return nil
		}
		y := r.sim.Y
		if t < r.sim.T {
			y = r.y
			r.sim.Interpolate(t, y)
		}
		if err := r.sample(t, y, &r.sim.Discrete); err != nil {
			return err
		}
	}
}

// sample records all recorded signals at one point of the trajectory.
func (r *Run) sample(t float64, y []float64, d *sim.Discrete) error {
	r.sampled = t
	r.world.fill(r.m.program.all, t, y, d)
	for i, s := range r.recorded {
		r.row[i] = r.world.signals[s]
	}
	if err := r.rec.Sample(t, r.row); err != nil {
		return err
	}
	return r.checkRanges(t, y)
}

// checkRanges logs a state that has left the range in which the vehicle's model describes something, by more than
// errors of the integration explain.
func (r *Run) checkRanges(t float64, y []float64) error {
	for i := range r.m.Vehicle.States {
		s := &r.m.Vehicle.States[i]
		least, most := s.Range.Bounds()
		margin := 100 * s.AbsTol
		out := y[i] < least-margin || y[i] > most+margin
		if out && !r.outside[i] {
			text := fmt.Sprintf("%s = %.6g is outside its range, %v: the model describes nothing there", s.Name, y[i],
				s.Range)
			if err := r.rec.Event(record.Event{T: t, Micro: r.micro, Kind: "range", Text: text}); err != nil {
				return err
			}
		}
		r.outside[i] = out
	}
	return nil
}

// refresh evaluates the signal vector at the present instant.
func (r *Run) refresh() {
	r.world.fill(r.m.program.all, r.sim.T, r.sim.Y, &r.sim.Discrete)
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
	if r.sampled == r.sim.T {
		return nil
	}
	return r.sample(r.sim.T, r.sim.Y, &r.sim.Discrete)
}

func (r *Run) end(outcome record.Outcome, reason string) {
	r.over = true
	r.summary.Outcome, r.summary.Reason = outcome, reason
}

// fail ends the run by an error: every active task's exit procedure is run, nothing that was recorded is lost.
func (r *Run) fail(err error) error {
	r.end(record.Failed, err.Error())
	for _, more := range []error{r.close(), r.log("error", err.Error()), r.planner.halt(r)} {
		if more != nil && !errors.Is(err, more) { // a recorder that has failed says so at every call
			err = errors.Join(err, more)
		}
	}
	return err
}

// explain adds to the error of a derivative or an indicator that is not finite the slots that are not finite there:
// it is their value that a plan's author can mend.
func (r *Run) explain(err error) error {
	if err == nil {
		return nil
	}
	var bad *sim.NotFiniteError
	if !errors.As(err, &bad) {
		return err
	}
	r.world.fill(r.m.program.all, bad.T, r.sim.Y, &r.sim.Discrete)
	for _, s := range r.m.slots {
		if v := r.world.signals[s.signal]; v-v != 0 {
			err = fmt.Errorf("%w; %s is %v", err, r.m.signals[s.signal].name, v)
		}
	}
	return err
}

// State passes all that changes of the run, between two steps: a run of the same mission and configuration that is
// restored goes on alike, to the last bit of its log.
func (r *Run) State(c *snapshot.Codec) {
	snapshot.Each(c, r.leaves, func(c *snapshot.Codec, l *leafState) {
		snapshot.Bool(c, &l.value)
		snapshot.Int(c, &l.request)
		snapshot.Int(c, &l.outcome)
		snapshot.Int(c, &l.procedure)
		snapshot.Float(c, &l.deadline)
	})
	snapshot.Int(c, &r.next)
	snapshot.Float(c, &r.sampled)
	snapshot.Each(c, r.outside, snapshot.Bool)
	snapshot.Int(c, &r.micro)
	snapshot.Each(c, r.conflicts, snapshot.Text)
	snapshot.Int(c, &r.summary.StatusChanges)
	snapshot.Int(c, &r.summary.MaxEventIterations)
	snapshot.Bool(c, &r.begun)
	r.sim.State(c)
	r.planner.State(c)
}

// T returns the simulated time [s].
func (r *Run) T() float64 { return r.sim.T }

// Until returns the simulated time at which the run is to end [s].
func (r *Run) Until() float64 { return r.until }

// Summary returns what the run has cost so far.
func (r *Run) Summary() record.Summary {
	s := r.summary
	stats := r.sim.Stats()
	s.Steps, s.RejectedSteps, s.RHSEvaluations = stats.Steps, stats.Rejected, stats.Evaluations
	s.Jacobians, s.Factorisations, s.Ended = stats.Jacobians, stats.Factorisations, r.sim.T
	s.StateEvents, s.TimeEvents = stats.StateEvents, stats.TimeEvents
	return s
}

// Statuses returns the present status of every task, by task number.
func (r *Run) Statuses() []bt.Status {
	list := make([]bt.Status, r.m.Plan.Tree.Len())
	for i := range list {
		list[i] = r.planner.status(r, bt.Task(i))
	}
	return list
}

// Header describes the run for the record, with the documents it is made from. It is asked for before the first step.
func (r *Run) Header() record.Header {
	m := r.m
	h := record.Header{Mission: m.Name, Text: m.Text, Plan: m.Plan.Name, Vehicle: m.Vehicle.Name, Horizon: r.until,
		Method: m.Method.String(), RelTol: m.Tolerance, Interval: m.Interval, Plots: m.Plots}
	tree := m.Plan.Tree
	detail := make([]string, tree.Len())
	for _, l := range m.Plan.Leaves {
		detail[l.Task] = strings.Join(strings.Fields(m.Plan.Source.Text[l.Offset:l.Offset+l.Length]), " ")
	}
	for i := range tree.Len() {
		t := bt.Task(i)
		h.Tasks = append(h.Tasks, record.Task{Name: tree.Name(t), Kind: tree.Kind(t).String(), Parent: int(tree.Parent(t)),
			Detail: detail[i], Initial: r.planner.status(r, t)})
	}
	for _, name := range m.Record {
		s := m.signals[slices.IndexFunc(m.signals, func(s signal) bool { return s.name == name })]
		h.Signals = append(h.Signals, record.Signal{Name: s.name, Unit: s.unit.String(), Text: s.text})
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

// Events returns the number of state and time events so far.
func (r *Run) Events() int { s := r.sim.Stats(); return s.StateEvents + s.TimeEvents }
