package flight

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/vehicle/contract"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// Options are the settings of a flight.
type Options struct {
	adapter.Options // the fence and the rally points are the mission's

	Arm   bool    // the plan may enable the motors; otherwise it waits until somebody else does
	Until float64 // the plan ends at this time [s]; 0: at the mission's horizon
}

// Errors of a mission that cannot be flown, and of a flight.
var (
	ErrContract = errors.New("no contract for this mission")
	ErrSlot     = errors.New("the vehicle does not do what the plan wants")
	ErrSite     = errors.New("the vehicle is not at the mission's site")
	ErrInput    = errors.New("impossible input of a flight")
)

// Flight is a mission in flight: all its mutable state. It is not safe for concurrent use.
//
// It begins when the vehicle is attached and ready, on the ground; in the air, the operator's Resume begins it. While
// a pilot, a failsafe or another station has the vehicle, and after a reboot, the plan is suspended: nothing in it
// changes and nothing is commanded, until the operator resumes. While the link is lost, the plan goes on: its signals
// are unknown. After the plan's end, and after the operator's Stop, exit procedures run; then a vehicle in the air is
// told to hold or to return.
type Flight struct {
	c       *contract.Contract
	o       Options
	vehicle vehicle
	r       *run.Run
	rec     record.Recorder
	reader  frame.Reader
	writer  frame.Writer

	phase     phase
	slots     []slot // by slot of the contract
	sortie    sortie
	now       service.Clock
	left      int64  // wall time when the vehicle was told how to go on without the plan [ns]
	untaken   string // that it did not do so; "": it did, or there was no need
	restarted int64  // wall time when the program went on with the plan, until the vehicle is heard; 0: it does not wait
	slept     int64  // wall time until which nobody had woken the flight for long; 0: never
	decisions int
	err       error
	mistakes  diag.List // of the last exchange of the plan that was requested,
	refused   error     // and why it was not begun
	closed    bool      // the link

	compiled *mission.Mission // with the plan of the next exchange, if it is known
}

// vehicle is what a flight observes and commands: an adapter.
type vehicle interface {
	snapshot.Stateful
	Receive(now service.Clock, f frame.Frame)
	Wake(now service.Clock)
	Due() int64
	Out() []frame.Message
	Samples() []adapter.Sample
	Events() []adapter.Event
	Want(slot int, value float64)
	Control() adapter.State
	Shows(slot int) bool
	Heard(since int64) bool
	Resume(now service.Clock)
	Vehicle(wall int64) int64
	Home() (earth.Position, bool)
	Takes(slot int) bool
	Named(mode string) string
}

// phase is a part of a flight.
type phase uint8

const (
	waiting phase = iota // for the vehicle, or the operator
	flying               // the plan, with its exit procedures
	leaving              // the vehicle is told how to go on
	over
)

// slot is a slot of the contract.
type slot struct {
	command int     // of the mission's vehicle; -1: it does not have it
	wanted  float64 // the value that the vehicle was told last

	undefined bool // the plan's value is not finite now
}

// Contract returns the contract that the vehicle of a mission keeps.
func Contract(m *mission.Mission) (*contract.Contract, error) {
	for _, c := range []*contract.Contract{contract.Plane, contract.Copter} {
		if c.Name == m.Vehicle.Name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: its vehicle is %s; missions of plane and copter can be flown", ErrContract, m.Vehicle.Name)
}

// New prepares a flight of a mission with a vehicle that keeps the contract of the mission's. The error wraps
// ErrContract or is one of run.New.
func New(m *mission.Mission, o Options) (*Flight, error) {
	c, err := Contract(m)
	if err != nil {
		return nil, err
	}
	o.Fence, o.Rally = m.Fence, m.Rally
	_, place := m.Signal(c.Slots[c.Payload].Name)
	o.Payload = place >= 0
	if at, _, given := m.Site(); given {
		o.Site = &at
	}
	return newFlight(m, c, adapter.New(c, o.Options), o)
}

func newFlight(m *mission.Mission, c *contract.Contract, v vehicle, o Options) (*Flight, error) {
	m = m.Flown()
	w := newWorld(m, c)
	until := math.Inf(1)
	if o.Until > 0 {
		until = o.Until
	}
	r, err := run.New(m, w, run.Continuous{}, until)
	if err != nil {
		return nil, err
	}
	f := &Flight{c: c, o: o, vehicle: v, r: r,
		writer: frame.Writer{System: o.Ends.Us.System, Component: o.Ends.Us.Component}}
	received, sent := adapter.Messages()
	f.reader.Prepare(received...)
	f.writer.Prepare(sent...)
	for i := range c.Slots {
		s := slot{command: -1, wanted: c.Slots[i].Default}
		for k := range m.Vehicle.Commands {
			if m.Vehicle.Commands[k].Name == c.Slots[i].Name {
				s.command = k
			}
		}
		f.slots = append(f.slots, s)
	}
	return f, nil
}

// world returns the world of the present plan.
func (f *Flight) world() *world { return f.r.World().(*world) }

// Attach sets the recorder of the flight's log, before the first step.
func (f *Flight) Attach(rec record.Recorder) {
	f.rec = rec
	f.r.Attach(rec)
}

// Kinds of events of a flight.
const (
	Connection = "connection" // it was lost, or is there again
	Asked      = "operator"   // a command of the operator came over the network
	Undefined  = "undefined"  // the plan's value of a slot is not finite
)

// Step makes the flight react to an input, and returns the frames to be sent. The error is that of the recorder or
// wraps ErrInput. A plan that fails is none: its exit procedures run, and Err returns why.
func (f *Flight) Step(in Input) (out [][]byte, err error) {
	if err := f.catchUp(in); err != nil {
		return nil, err
	}
	f.now = in.At
	switch in.Kind {
	case Start, Close, Wake, End:
	case Open:
		f.reader.Open(in.Stream())
	case Frame:
		for _, x := range f.reader.Read(in.Data) {
			if f.slept != 0 && f.now.Wall-f.slept < flushed { // it has waited for a program that stood still: how old is it?
				continue
			}
			f.vehicle.Receive(in.At, x)
			if err := f.react(); err != nil {
				return nil, err
			}
		}
		return f.send()
	case Operator:
	default:
		return nil, fmt.Errorf("%w: kind %d", ErrInput, in.Kind)
	}
	if err = f.wake(); err == nil {
		err = f.connection(in)
	}
	if in.Kind == Operator && err == nil {
		if err = f.operate(string(in.Data)); err == nil {
			err = f.react()
		}
	}
	if err != nil {
		return nil, err
	}
	return f.send()
}

// wake lets the time pass until now.
func (f *Flight) wake() error {
	f.vehicle.Wake(f.now)
	if f.phase == flying {
		if t := f.vehicle.Vehicle(f.now.Wall); t != 0 {
			f.world().pass(t)
		}
	}
	return f.react()
}

// connection logs that the link was closed, and that it is open again.
func (f *Flight) connection(in Input) error {
	switch {
	case in.Kind == Close && !f.closed:
		f.closed = true
		return f.note(Connection, string(in.Data))
	case in.Kind == Open && f.closed:
		f.closed = false
		return f.note(Connection, string(in.Data)+": the connection is there again")
	}
	return nil
}

// send returns the frames of the messages that the vehicle's adapter has.
func (f *Flight) send() (out [][]byte, err error) {
	for _, m := range f.vehicle.Out() {
		raw, err := f.writer.Write(m, f.now.Unix)
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// operate carries out a command of the operator.
func (f *Flight) operate(command string) error {
	f.decisions++
	if from, rest, ok := strings.Cut(command, "\n"); ok && strings.HasPrefix(from, remote) {
		what, _, _ := strings.Cut(rest, "\n")
		if err := f.note(Asked, what+" "+from); err != nil {
			return err
		}
		command = rest
	}
	if head, document, ok := strings.Cut(command, "\n"); ok {
		return f.swap(head, document)
	}
	switch command {
	case Resume:
		f.vehicle.Resume(f.now)
		return nil
	case Stop:
		return f.stop()
	case Withdraw:
		return f.withdraw()
	}
	return fmt.Errorf("%w: the operator's command %q", ErrInput, command)
}

// swap requests another plan. What becomes of it is for Swapped; a mistake in it does not end the flight.
func (f *Flight) swap(head, document string) error {
	verb, name, _ := strings.Cut(head, " ")
	if verb != exchange && verb != exchangeSafely {
		return fmt.Errorf("%w: the operator's command %q", ErrInput, head)
	}
	next := f.compiled
	f.compiled, f.mistakes, f.refused = nil, nil, nil
	if f.world().suspended {
		f.refused = fmt.Errorf("%w: the plan is suspended", run.ErrSwap)
		return nil
	}
	if next == nil || next.Plan.Source.Name != name || next.Plan.Source.Text != document {
		if next, f.mistakes = f.r.Mission().WithPlan(&diag.Source{Name: name, Text: document}); next == nil {
			return nil
		}
	}
	if text := f.unserved(next); text != "" && f.Started() {
		f.refused = fmt.Errorf("%w: %s", run.ErrSwap, text)
		return nil
	}
	f.refused = f.r.Exchange(next, verb == exchangeSafely)
	f.keepSwap(f.refused)
	return nil
}

// withdraw ends an exchange that waits. While the plan is suspended, that is no instant.
func (f *Flight) withdraw() error {
	if f.world().suspended {
		return f.r.Withdraw()
	}
	f.keepSwap(f.r.Exchange(f.r.Mission(), true))
	return nil
}

// keepSwap keeps the error of an exchange that ended the run.
func (f *Flight) keepSwap(err error) {
	if err != nil && !errors.Is(err, run.ErrSwap) {
		f.keep(err)
	}
}

// Compiled gives the flight what the document of the next exchange compiles to: a mission that Mission().WithPlan has
// returned. It saves the flight's time, and changes nothing else.
func (f *Flight) Compiled(next *mission.Mission) { f.compiled = next }

// System returns the number of the vehicle's MAVLink system. The frames of others are ignored.
func (f *Flight) System() byte { return f.o.Ends.Vehicle.System }

// Swapped returns the mistakes in the plan of the last exchange that the operator requested, and why it was not begun.
func (f *Flight) Swapped() (diag.List, error) { return f.mistakes, f.refused }

// Swapping returns the document of the plan of an exchange that is under way, and the actions that must end before.
func (f *Flight) Swapping() (document string, engaged []string, ok bool) { return f.r.Swapping() }

// Refusal returns why the last exchange that was begun did not take place; "" if it did, or is under way.
func (f *Flight) Refusal() string { return f.r.Refusal() }

// Mission returns the mission with the present plan.
func (f *Flight) Mission() *mission.Mission { return f.r.Mission() }

// stop ends the plan. A second time it ends the wait for exit procedures, or for the vehicle.
func (f *Flight) stop() error {
	switch f.phase {
	case waiting:
		f.phase = over
		f.keep(f.r.Stop(stopped))
	case flying:
		if f.r.Stopping() {
			return f.leave()
		}
		f.world().suspend(false) // what is left runs to its end, although nothing of it may be commanded
		f.keep(f.r.Stop(stopped))
		return f.ended()
	case leaving:
		f.phase = over
		f.untaken = fmt.Sprintf("the operator has not waited until the vehicle shows the mode %s: %s", f.told(), f.seen())
		return f.note("end", f.untaken)
	case over:
	}
	return nil
}

// react handles what the adapter has found: first the samples, then the log of events, whose time is that of the
// samples.
func (f *Flight) react() error {
	for again := true; again; {
		events := f.vehicle.Events()
		if slices.ContainsFunc(events, func(e adapter.Event) bool { return e.Kind == adapter.Rebooted }) && f.Started() {
			f.world().move(f.vehicle.Vehicle(f.now.Wall))
		}
		state := f.vehicle.Control()
		if f.phase == waiting {
			if err := f.log(events); err != nil {
				return err
			}
			events = nil
		}
		here := false
		if f.phase == waiting && state == adapter.Ready {
			var err error
			if here, err = f.here(); err != nil || f.phase == over {
				return err
			}
		}
		if here {
			if err := f.samples(); err != nil { // what led to the start comes before it
				return err
			}
			f.phase = flying
			f.world().start(f.vehicle.Vehicle(f.now.Wall))
		}
		if err := f.hear(); err != nil {
			return err
		}
		f.world().suspend(f.Awaiting() || f.phase == flying && !f.r.Stopping() &&
			(state == adapter.Taken || state == adapter.Observing || state == adapter.Attach))
		if err := f.samples(); err != nil {
			return err
		}
		if err := f.log(events); err != nil {
			return err
		}
		if err := f.sortie.look(f); err != nil {
			return err
		}
		if f.phase == leaving {
			if err := f.depart(); err != nil {
				return err
			}
		}
		var err error
		if again, err = f.command(); err != nil {
			return err
		}
	}
	return nil
}

// here reports whether the mission may start where the vehicle is. A mission that sets its site waits until home is
// known, and ends if home is elsewhere.
func (f *Flight) here() (bool, error) {
	if text := f.unserved(f.r.Mission()); text != "" {
		return false, f.never(ErrSlot, "slots", text)
	}
	site, _, given := f.r.Mission().Site()
	if !given {
		return true, nil
	}
	home, known := f.vehicle.Home()
	if !known {
		return false, nil
	}
	d := math.Hypot(earth.NewPlane(site).Local(home))
	if d <= adapter.SiteRadius {
		return true, nil
	}
	text := fmt.Sprintf("home is %.6f, %.6f [deg], %.0f m from the mission's site %.6f, %.6f; more than %d m is refused",
		home.Lat, home.Lon, d, site.Lat, site.Lon, adapter.SiteRadius)
	return false, f.never(ErrSite, "site", text)
}

// never ends a flight that cannot begin because of an error, which a text explains.
func (f *Flight) never(err error, kind, text string) error {
	f.phase, f.sortie.held = over, text
	f.keep(fmt.Errorf("%w: %s", err, text))
	f.keep(f.r.Stop(err.Error()))
	return f.note(kind, text)
}

// unserved says which slots the plan of a mission writes and the vehicle does nothing about; "" if there is none.
func (f *Flight) unserved(m *mission.Mission) string {
	var names []string
	for i, s := range f.slots {
		if s.command >= 0 && !f.vehicle.Takes(i) && len(m.Program.Slots[s.command].Writers) > 0 {
			names = append(names, f.c.Slots[i].Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "the vehicle takes no command for " + strings.Join(names, ", ")
}

// log logs events of the adapter.
func (f *Flight) log(events []adapter.Event) error {
	for _, e := range events {
		text := e.Text
		if e.Slot >= 0 { // a goal often has the name of its slot
			name := f.c.Slots[e.Slot].Name
			if goal, rest, _ := strings.Cut(text, ": "); name == goal || strings.HasSuffix(name, "_"+goal) {
				text = rest
			}
			text = strings.TrimSuffix(name+": "+text, ": ")
		}
		f.sortie.heed(f, e.Kind, e.Slot, text)
		event := record.Event{T: f.world().t, Kind: e.Kind.String(), Text: text, Grave: e.Grave}
		if err := f.rec.Event(event); err != nil {
			return err
		}
	}
	return nil
}

func (f *Flight) note(kind, text string) error {
	return f.rec.Event(record.Event{T: f.world().t, Kind: kind, Text: text})
}

// samples lets the world see the samples, one after the other, and the run react to each.
func (f *Flight) samples() error {
	list := f.vehicle.Samples()
	for i := range list {
		s := &list[i]
		if !f.world().see(s) {
			text := fmt.Sprintf("a sample of %v that is %.3f s older than the latest was ignored", s.Source,
				f.world().t-f.world().seconds(s.T))
			if err := f.note("late", text); err != nil {
				return err
			}
			continue
		}
		if f.phase == waiting || f.phase == leaving || f.Awaiting() {
			f.world().show()
			continue
		}
		if err := f.fly(); err != nil {
			return err
		}
	}
	return f.fly()
}

// fly steps the run until it needs more input.
func (f *Flight) fly() error {
	if f.phase != flying || f.Awaiting() {
		return nil
	}
	before := f.r.StatusChanges()
	for !f.r.Over() {
		_, err := f.r.Step()
		if f.keep(err); f.r.Waiting() {
			break
		}
	}
	f.decisions += f.r.StatusChanges() - before
	return f.ended()
}

// keep keeps the error of a run that failed. Its exit procedures go on.
func (f *Flight) keep(err error) {
	if f.err == nil {
		f.err = err
	}
}

// stopped is the reason of a run that the operator has stopped.
const stopped = "stopped by the operator"

// ended goes on when the plan and its exit procedures have ended.
func (f *Flight) ended() error {
	if f.phase != flying || !f.r.Over() {
		return nil
	}
	return f.leave()
}

// command tells the adapter what the plan wants, and reports whether it wants anything new.
func (f *Flight) command() (news bool, err error) {
	if f.phase != flying || f.world().suspended {
		return false, nil
	}
	w := f.world()
	signals := w.Signals()
	for i := range f.slots {
		s := &f.slots[i]
		if s.command < 0 {
			continue
		}
		value := signals[w.p.Signal(s.command)]
		if f.sortie.asks(f, i, value); f.c.Slots[i].Name == armSlot && !f.o.Arm {
			continue
		}
		was := s.undefined
		if s.undefined = math.IsNaN(value) || math.IsInf(value, 0); s.undefined && !was {
			text := fmt.Sprintf("%s has no finite value: the vehicle keeps the last one", f.c.Slots[i].Name)
			if err := f.note(Undefined, text); err != nil {
				return false, err
			}
		}
		if s.undefined || value == s.wanted {
			continue
		}
		f.want(i, value)
		news = true
	}
	if news { // all slots of an instant are wanted together
		f.vehicle.Wake(f.now)
	}
	return news, nil
}

// want tells the adapter what is wanted of a slot.
func (f *Flight) want(i int, value float64) {
	f.decisions++
	f.slots[i].wanted = value
	f.vehicle.Want(i, value)
}

// Due returns the reading of the wall clock [ns] at which the flight needs an input of kind Wake, unless another comes
// before.
func (f *Flight) Due() int64 {
	due := f.vehicle.Due()
	switch f.phase {
	case waiting, over:
	case leaving:
		due = min(due, f.left+leavingTime)
	case flying:
		t, present := f.world().due(), f.vehicle.Vehicle(f.now.Wall)
		if present != 0 && t < math.Inf(1) {
			at := f.world().base + int64(math.Ceil(t*second)) // of the vehicle
			due = min(due, f.now.Wall+max(at-present, resolution))
		}
	}
	return due
}

// resolution is the shortest time after which a flight is to be woken [ns].
const resolution = 100_000

// Over reports whether the flight is over.
func (f *Flight) Over() bool { return f.phase == over }

// Err returns the error that ended the plan, nil if none did.
func (f *Flight) Err() error { return f.err }

// Decisions returns the number of decisions so far: changes of statuses, of what is wanted of the vehicle, and commands
// of the operator.
func (f *Flight) Decisions() int { return f.decisions }

// Started reports whether the plan has started.
func (f *Flight) Started() bool { return f.phase != waiting }

// Vehicle returns who commands the vehicle.
func (f *Flight) Vehicle() adapter.State { return f.vehicle.Control() }

// Suspended reports whether the plan is suspended until the operator resumes.
func (f *Flight) Suspended() bool { return f.world().suspended && !f.Awaiting() }

// Header describes the flight for the record. Nothing is integrated.
func (f *Flight) Header() record.Header {
	h := f.r.Header()
	h.Method, h.RelTol = "", 0
	return h
}

// Summary returns the cost of the flight so far, and what became of the vehicle.
func (f *Flight) Summary() record.Summary {
	s := f.r.Summary()
	became := f.sortie.Sortie
	became.Refused, became.Left = slices.Clone(became.Refused), f.untaken
	if f.sortie.armed || !f.sortie.wanted {
		became.PreArm = ""
	}
	became.Vehicle, became.Text = f.sortie.fate(f)
	s.Sortie = &became
	return s
}

// T returns the time since the plan's start [s].
func (f *Flight) T() float64 { return f.world().t }

// Until returns the time [s] at which the plan ends.
func (f *Flight) Until() float64 { return f.r.Until() }

// Events returns the number of state and time events so far.
func (f *Flight) Events() int { return f.r.Events() }

// Statuses returns the current status of every task.
func (f *Flight) Statuses() []bt.Status { return f.r.Statuses() }

// Restore makes a flight that has not begun go on from a state that [snapshot.Save] has saved, of a flight with the
// same mission and options. Its header and its log begin there.
func (f *Flight) Restore(state []byte) error {
	if err := snapshot.Load(state, f); err != nil {
		return err
	}
	f.Relog()
	return nil
}

// Relog makes the log begin at the present: the header describes the present plan with its statuses.
func (f *Flight) Relog() { f.r.Relog() }

// State passes the state of the flight between two steps to the codec. What Swapped returns is not part of it.
func (f *Flight) State(c *snapshot.Codec) {
	snapshot.Within(c, &f.phase, waiting, over)
	for i := range f.slots {
		snapshot.Vars(c, &f.slots[i].wanted, &f.slots[i].undefined)
	}
	why := ""
	if f.err != nil {
		why = f.err.Error()
	}
	snapshot.Vars(c, &f.now, &f.left, &f.restarted, &f.slept, &f.decisions, &f.closed, &why, &f.untaken, &f.reader.Stream)
	s := &f.sortie
	snapshot.Vars(c, &s.begun, &s.wanted, &s.armed, &s.flew, &s.aloft, &s.fell, &s.held, &s.PreArm, &s.MoreRefused)
	snapshot.List(c, &s.Refused, snapshot.Text)
	if c.Loading() {
		if f.err = nil; why != "" {
			f.err = errors.New(why)
		}
	}
	f.r.State(c)
	f.vehicle.State(c)
	f.reader.State(c)
	f.writer.State(c)
}
