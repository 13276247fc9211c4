// Package adapter connects the contract of a class of vehicles to one autopilot over MAVLink.
//
// Telemetry becomes samples of the contract's signals, each with its time, its validity and, where the message carries
// it, its rate. The contract's slots are a wanted state: the adapter keeps the autopilot at it. It compares what
// telemetry shows with the latest wanted state only, and sends a command where they differ. No acknowledgement proves
// an effect. It commands nothing before the vehicle is attached, while the link is lost, and after a pilot, a failsafe
// or another station took over, until the operator resumes.
//
// The adapter is pure: frames, clock readings and wanted values go in; messages, samples and events come out.
package adapter

import (
	"math"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/vehicle/contract"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// Options describes the two ends of the link.
type Options struct {
	Ends   service.Ends
	Ground bool // we are a ground station, whose heartbeats feed the autopilot's failsafe: otherwise a computer on board
	Refuse bool // a grave finding of the checklist keeps the vehicle from being commanded; otherwise it only warns
	Return bool // a vehicle in the air returns at the end, and when nobody commands it; otherwise it holds its position
	// The vehicle may be armed although the mission's fence is not in effect.
	Unfenced bool

	Payload bool // the mission uses the payload: its telemetry is requested

	Fence earth.Fence     // of the mission: the vehicle gets it when it is attached
	Rally []earth.Refuge  // likewise
	Site  *earth.Position // of the mission: with a home farther from it than SiteRadius, it gets neither; nil: any
}

// SiteRadius is how far from the mission's site the vehicle's home may be [m]: positions are metres from home.
const SiteRadius = 50

// Sample is what one message gave of one source, or that it became unknown.
type Sample struct {
	T      int64 // vehicle time, ns since its boot; 0: unknown
	Source contract.Source
	Period int64 // nominal time [ns] between the messages; 0: what is in the sample comes from none
	Break  bool  // the values do not continue those before: the home moved, or the vehicle rebooted
	Values []Value
}

// Value is one signal in a sample.
type Value struct {
	Signal int     // place in the contract's signals
	V      float64 // in the signal's unit; for a boolean 0 or 1, for a text the place in its values
	Rate   float64 // derivative in 1/s; NaN: the message carries none
	Known  bool
}

// Kind is what an event reports.
type Kind uint8

// The events.
const (
	Attaching    Kind = iota // a step of the attachment
	Checked                  // a finding of the checklist
	Attached                 // the wanted state is commanded from now on
	Observed                 // the vehicle is attached, and not commanded until it is resumed
	Waiting                  // a command is not sent yet, or not any more
	Commanded                // a command is sent
	Proved                   // telemetry shows a part of the wanted state
	Refused                  // the autopilot does not do a part of the wanted state
	LinkLost                 // no heartbeat
	LinkBack                 // heartbeats of a vehicle that did not reboot
	Rebooted                 // the vehicle's clock began anew
	ModeChanged              // the mode is not the wanted one
	PilotTook                // a pilot took over, or somebody of whom nothing is known
	StationTook              // another station took over
	FailsafeTook             // a failsafe of the autopilot took over
	Resumed                  // the operator gave the control back
	Stored                   // what the vehicle is to have in its memory is there
	Text                     // a text of the autopilot
	Jumped                   // the vehicle's clock went forward more than time did
)

var kindNames = [...]string{
	"attaching", "checked", "attached", "observed", "waiting", "commanded", "proved", "refused", "link lost", "link back",
	"rebooted", "mode changed", "pilot took over", "another station took over", "failsafe took over", "resumed", "stored",
	"text", "clock jumped",
}

// String returns the words of a log.
func (k Kind) String() string { return kindNames[k] }

// Event is an entry of the log.
type Event struct {
	Kind Kind
	Slot int // place in the contract's slots of the first slot concerned, or -1
	Text string

	Grave bool // a finding of the checklist that may keep the vehicle from being commanded
}

// State is who commands the vehicle.
type State uint8

// The states. The wanted state is commanded in Ready only.
const (
	Attach    State = iota // the vehicle is not attached yet
	Ready                  // the wanted state is commanded
	Observing              // attached in the air, after a reboot, or with a grave finding: until Resume
	Taken                  // a pilot, a failsafe or another station took over: until Resume
	Lost                   // no heartbeat
)

var stateNames = [...]string{"attaching", "ready", "observing", "taken", "lost"}

// String returns the words of a log.
func (s State) String() string { return stateNames[s] }

// Times in nanoseconds, and what is never due.
const (
	millisecond = 1_000_000
	second      = 1000 * millisecond
	never       = math.MaxInt64
)

// machine is one of the services.
type machine interface {
	Receive(now service.Clock, f frame.Frame)
	Wake(now service.Clock)
	Due() int64
	Out() []frame.Message
	snapshot.Stateful
}

// Adapter is the state of one connection.
type Adapter struct {
	contract *contract.Contract
	options  Options
	firmware *firmware // nil before the first heartbeat
	state    State
	now      service.Clock
	due      int64 // wall time of the next Wake, apart from the machines

	facts  facts
	groups [groupCount]channel
	own    channel // the adapter's own signals
	wishes channel // the signals that depend on what is wanted
	gear   channel // those of the payload

	newest int64 // the newest stamp of the vehicle [ns]

	want      []float64 // the wanted state, by slot
	revisions []int     // how often each slot changed
	disarm    bool      // arming was wanted, and is no longer
	attempts  []attempt // of the firmware's goals
	untaken   []int     // the slots that no goal of the firmware reads

	attachment attachment
	watch      watch
	beacon     beacon

	clock      *service.ClockMap
	heartbeat  *service.Heartbeat
	commands   *service.Commands
	parameters *service.Parameters
	streams    *service.Streams
	texts      *service.Texts
	transfers  *service.Transfers

	list    []machine // the buffer of machines
	out     []frame.Message
	samples []Sample
	events  []Event
}

// New returns the adapter of a vehicle, which it begins to attach when it is first woken.
func New(c *contract.Contract, o Options) *Adapter {
	kind := byte(companion)
	if o.Ground {
		kind = station
	}
	a := &Adapter{
		contract: c, options: o, due: math.MinInt64,
		clock:     service.NewClockMap(o.Ends),
		heartbeat: service.NewHeartbeat(o.Ends, kind),
		commands:  service.NewCommands(o.Ends),
		texts:     service.NewTexts(o.Ends),
		transfers: service.NewTransfers(o.Ends),
		want:      make([]float64, len(c.Slots)),
		revisions: make([]int, len(c.Slots)),
	}
	for i, s := range c.Slots {
		a.want[i] = s.Default
	}
	for i := range a.groups {
		a.groups[i] = newChannel(c, groups[i].rows, int64(second/groups[i].hz))
	}
	a.own, a.wishes = newChannel(c, ownRows, 0), newChannel(c, wishRows, a.groups[groupPosition].period)
	if o.Payload {
		a.gear = newChannel(c, payloadRows, 0)
	}
	return a
}

// The types of our heartbeats: MAV_TYPE.
const (
	companion = 18
	station   = 6
)

// Messages returns the numbers of the messages that every flight receives and sends.
func Messages() (received, sent []uint32) {
	const ack, value, text, version, sync, named = 77, 22, 253, 148, 111, 252
	received = []uint32{groups[groupHeartbeat].message, systemTime, ack, value, text, version, sync, named}
	for i := range groups {
		received = append(received, groups[i].message)
	}
	for _, f := range firmwares {
		for _, id := range f.streams {
			received = append(received, id)
		}
	}
	const long, place, read = 76, 75, 20
	return received, []uint32{groups[groupHeartbeat].message, sync, long, place, read, named}
}

// Control returns who commands the vehicle.
func (a *Adapter) Control() State { return a.state }

// Vehicle returns the vehicle's time [ns since boot] at a reading of the wall clock, 0 if it is unknown.
func (a *Adapter) Vehicle(wall int64) int64 { return a.clock.Vehicle(wall) }

// Want sets what is wanted of a slot: a value in the slot's unit, 0 or 1 for a boolean, the place in its values for a
// text; the default: nothing. The adapter is then due: the next Wake commands all that was wanted since the last one.
// Samples then contains the signals that depend on the wanted state at once, such as the distance from the target.
func (a *Adapter) Want(slot int, value float64) {
	if a.want[slot] == value {
		return
	}
	if slot == a.contract.Slot("arm") && value == 0 {
		a.disarm = true
	}
	a.want[slot] = value
	a.revisions[slot]++
	a.due = math.MinInt64
	a.derive()
}

// Receive takes a frame. Clock readings need the wall clock and the calendar only.
func (a *Adapter) Receive(now service.Clock, f frame.Frame) { a.step(now, &f) }

// Wake lets time pass.
func (a *Adapter) Wake(now service.Clock) { a.step(now, nil) }

// step passes a frame to the services, or the time only, and draws the conclusions. Those who command come last: what
// is learnt may end what is under way.
func (a *Adapter) step(now service.Clock, f *frame.Frame) {
	a.now, a.due = now, never
	a.now.Vehicle = a.clock.Vehicle(now.Wall)
	a.beacon.begin(now)
	machines := a.machines()
	a.pass(f, machines[:listeners])
	a.now.Vehicle = a.clock.Vehicle(now.Wall)
	for _, n := range a.texts.Notices() {
		a.heed(n)
	}
	if f != nil && f.From(a.options.Ends.Vehicle.System, a.options.Ends.Vehicle.Component) && !f.Late {
		a.take(*f)
	}
	if f != nil {
		a.hear(*f)
	}
	a.expire()
	a.guard()
	a.pass(f, machines[listeners:])
	a.answers()
	switch a.state {
	case Attach:
		a.advance()
	case Ready:
		a.serve()
	case Taken:
		a.rescue()
	case Observing, Lost:
	}
	a.announce()
	a.derive()
	for _, m := range a.machines() {
		a.out = append(a.out, m.Out()...)
	}
}

// pass gives services a frame; nil: none arrived.
func (a *Adapter) pass(f *frame.Frame, list []machine) {
	for _, m := range list {
		if f == nil {
			m.Wake(a.now)
		} else {
			m.Receive(a.now, *f)
		}
	}
}

// listeners are the first of the machines, which learn and do not command.
const listeners = 3

// machines returns the services that exist, until the next call. What is done with parameters and rates depends on the
// firmware.
func (a *Adapter) machines() []machine {
	list := append(a.list[:0], a.clock, a.heartbeat, a.texts, a.commands, a.transfers)
	if a.parameters != nil {
		list = append(list, a.parameters)
	}
	if a.streams != nil {
		list = append(list, a.streams)
	}
	a.list = list
	return list
}

// Due returns the reading of the wall clock at which Wake is to be called.
func (a *Adapter) Due() int64 {
	due := a.due
	for _, m := range a.machines() {
		due = min(due, m.Due())
	}
	return due
}

// Out returns the messages to be sent, and forgets them.
func (a *Adapter) Out() []frame.Message { return service.Taken(&a.out) }

// Samples returns what telemetry gave, and forgets it.
func (a *Adapter) Samples() []Sample { return service.Taken(&a.samples) }

// Events returns the entries of the log, and forgets them.
func (a *Adapter) Events() []Event { return service.Taken(&a.events) }

// wakeAt asks for a Wake at a reading of the wall clock.
func (a *Adapter) wakeAt(wall int64) { a.due = min(a.due, max(wall, a.now.Wall+millisecond)) }

// passed reports whether a time has passed by the wall clock or by the vehicle's: a simulated vehicle may run at many
// times real time, and a silent one has no time. For one that is slower than real time, the wall clock counts less.
// Otherwise it asks for a Wake.
func (a *Adapter) passed(since service.Clock, d int64) bool {
	wall := d
	if rate := a.clock.Rate(); rate < 1 {
		wall = int64(float64(d) / max(rate, slowest))
	}
	if a.now.Wall-since.Wall >= wall || since.Vehicle != 0 && a.now.Vehicle-since.Vehicle >= d {
		return true
	}
	a.wakeAt(since.Wall + wall)
	return false
}

// slowest is the least rate of a vehicle's clock that is waited for.
const slowest = 0.1

// recent reports whether something happened, and not longer ago than d.
func (a *Adapter) recent(at service.Clock, d int64) bool {
	return at != (service.Clock{}) && !a.passed(at, d)
}

// note adds an entry to the log.
func (a *Adapter) note(k Kind, text string) {
	a.events = append(a.events, Event{Kind: k, Slot: -1, Text: text})
}

// report adds an entry about a goal.
func (a *Adapter) report(k Kind, g *goal, text string) {
	a.events = append(a.events, Event{Kind: k, Slot: a.contract.Slot(g.slots[0]), Text: text})
}
