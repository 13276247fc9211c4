package adapter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/autopilot/service"
)

// attachment is the state of the attachment.
type attachment struct {
	step     int
	begun    service.Clock
	started  bool
	rebooted bool   // the vehicle rebooted after it had been attached
	strange  bool   // the vehicle is none that the adapter has a table of
	grave    bool   // the checklist has a grave finding
	signs    bool   // the vehicle's frames have signatures, and we have no key: else they are taken off
	answered bool   // the vehicle has answered a request
	watched  bool   // the vehicle has shown that the mission's fence is enabled, and nobody has said that it is off
	unfenced string // what keeps the mission's fence from being in effect, whatever telemetry shows; "": nothing

	lists    [service.RallyList + 1]progress
	enabling service.Ticket // of the command that enables the fence; 0: none is under way
	answer   string         // to the last one; "": there was none
	asked    service.Clock  // when the present step last asked
}

// step is one step of the attachment.
type step struct {
	name   string
	needed func(a *Adapter) bool // nil: always
	begin  func(a *Adapter)      // nil: nothing is sent
	again  func(a *Adapter)      // is called every second meanwhile; nil: nothing is
	done   func(a *Adapter) bool // what it waits for is there
	within int64                 // [ns]
	late   func(a *Adapter)      // what it means that it is not there; nil: the step begins anew
	why    string                // the usual reason why a step begins anew; "": nothing is heard
}

// steps is the sequence of the attachment. Until it has ended, the vehicle is not commanded.
var steps = append([]step{
	{name: "heartbeat", done: func(a *Adapter) bool { return a.firmware != nil && a.fresh(groupHeartbeat) },
		within: 10 * second},
	{name: "version", begin: (*Adapter).askVersion, done: func(a *Adapter) bool { return a.facts.version != nil },
		within: 3 * second, late: func(a *Adapter) { a.note(Checked, "version: the autopilot does not report it") }},
	{name: "answers", needed: func(a *Adapter) bool { return !a.answered() }, begin: (*Adapter).askVersion,
		done: (*Adapter).answered, within: 10 * second, why: unanswered},
	{name: "rates", begin: (*Adapter).askRates,
		done:   func(a *Adapter) bool { return a.streams != nil && a.streams.Settled() },
		within: 30 * second, late: (*Adapter).silent},
	{name: "clock", done: func(a *Adapter) bool { return a.clock.Stable() }, within: 10 * second,
		why: "its rate is still being measured"},
	{name: "checklist", begin: (*Adapter).askParameters,
		done: func(a *Adapter) bool { return a.facts.parameters != nil && !a.parameters.Busy() }, within: 60 * second},
	{name: "failsafe", needed: func(a *Adapter) bool { return a.critical() && !a.observes() },
		begin: func(a *Adapter) { a.note(Waiting, a.failsafe()+": the plan begins when that has ended") },
		done:  func(a *Adapter) bool { return !a.critical() || a.armed() }, within: 600 * second, why: "it lasts"},
	{name: "home", needed: func(a *Adapter) bool { return !a.placed() }, begin: (*Adapter).askHome, done: (*Adapter).homed,
		within: 3 * second, late: func(a *Adapter) { a.note(Attaching, "home: "+homeless) }},
}, lists...)

// homeless is why a vehicle has no home yet.
const homeless = "the vehicle sets it when it has a position"

// unanswered is why a vehicle is not attached that is heard.
const unanswered = "error: the vehicle is heard, and answers nothing: it drops frames without a signature, the radio " +
	"carries one way only, the port, its own number or --system is wrong, or another program takes the answers"

// unsigned is what a vehicle does that signs its frames while we do not.
const unsigned = "signs its frames, and drops ours, which have no signature: give its key by --signing-key"

// answered reports whether the vehicle has answered a request, and not only sent.
func (a *Adapter) answered() bool { return a.attachment.answered || a.facts.version != nil }

// advance goes on with the attachment.
func (a *Adapter) advance() {
	at := &a.attachment
	for at.step < len(steps) {
		s := &steps[at.step]
		if s.needed != nil && !s.needed(a) {
			at.step, at.started = at.step+1, false
			continue
		}
		if !at.started {
			at.started, at.begun, at.asked = true, a.now, a.now
			if s.begin != nil && !s.done(a) {
				s.begin(a)
			}
		}
		switch {
		case s.done(a):
			a.note(Attaching, s.name)
		case !a.passed(at.begun, s.within):
			if s.again != nil && a.passed(at.asked, fenceEnableEvery) {
				at.asked = a.now
				s.again(a)
				a.wakeAt(a.now.Wall + fenceEnableEvery)
			}
			return
		case s.late == nil:
			at.started = false
			if !at.strange { // otherwise something is heard, and this has been said
				why := cmp.Or(s.why, "still nothing")
				if why == unanswered && at.signs {
					why = "error: the vehicle is heard, and answers nothing: it " + unsigned
				}
				a.note(Attaching, s.name+": "+why)
			}
			a.passed(a.now, second)
			return
		default:
			s.late(a)
		}
		at.step++
		at.started = false
	}
	a.attached()
}

// askVersion asks for AUTOPILOT_VERSION.
func (a *Adapter) askVersion() { a.request(148) }

// askHome asks for HOME_POSITION.
func (a *Adapter) askHome() { a.request(groups[groupHome].message) }

// askRates asks for the telemetry.
func (a *Adapter) askRates() {
	a.streams = service.NewStreams(a.options.Ends, a.firmware.rates(a.options.Payload))
}

// silent reports the telemetry that does not arrive.
func (a *Adapter) silent() {
	for i, g := range groups {
		if id := a.firmware.message(i); i == groupFence && a.fenced() || g.payload {
			continue // which is silent until it is enabled, or is missed where it is used
		} else if id != 0 && !a.streams.Arriving(a.now, id) {
			a.find(g.needed, fmt.Sprintf("%s does not arrive (%s)", g.name, a.streams.Answer(id)))
		}
	}
}

// askParameters asks for the parameters of the checklist, and for those that the adapter uses.
func (a *Adapter) askParameters() {
	names := []string{a.firmware.switched, a.firmware.circle}
	checks := a.firmware.checks
	if a.fenced() {
		checks = slices.Concat(checks, a.firmware.fences)
	}
	for _, c := range checks {
		names = append(names, c.names...)
	}
	a.facts.parameters = map[string]float64{}
	for _, n := range names {
		if n != "" {
			if err := a.parameters.Read(a.now, n); err != nil {
				panic("adapter: a name of the tables is not one of a parameter")
			}
		}
	}
}

// find reports a finding.
func (a *Adapter) find(grave bool, text string) {
	if grave {
		a.attachment.grave = true
		text = "grave: " + text
	}
	a.events = append(a.events, Event{Kind: Checked, Slot: -1, Text: text, Grave: grave})
}

// examine compares the parameters with the checklist.
func (a *Adapter) examine(checks []check, find func(grave bool, text string)) {
	if len(a.facts.parameters) == 0 {
		find(true, "the vehicle answers no request for a parameter: the checklist is not compared")
		return
	}
	for _, c := range checks {
		i := slices.IndexFunc(c.names, func(n string) bool { _, ok := a.facts.parameters[n]; return ok })
		if i < 0 {
			find(c.grave, strings.Join(c.names, " or ")+": the autopilot does not report it")
			continue
		}
		if v := a.facts.parameters[c.names[i]]; !c.good(a, v) {
			find(c.grave, fmt.Sprintf("%s = %v: %s", c.names[i], v, c.reason))
		}
	}
}

// attached ends the attachment. A vehicle that may fly is not commanded before the operator resumes.
func (a *Adapter) attached() {
	a.examine(a.firmware.checks, a.find)
	if a.attachment.signs {
		a.find(true, "on lines other than USB, the vehicle "+unsigned)
	}
	a.watchesFence()
	why := ""
	switch at := &a.attachment; {
	case at.rebooted:
		why = "the vehicle rebooted"
	case a.shared():
		why = "another Canopy commands the vehicle"
	case a.armed() && a.inAir() != 0:
		why = "the vehicle flies"
	case at.grave && a.options.Refuse:
		why = "the checklist has grave findings"
	}
	if why != "" {
		a.enter(Observing, Observed, a.firmware.name+": "+why+": it is not commanded before it is resumed")
		return
	}
	a.enter(Ready, Attached, a.firmware.name)
	a.due = a.now.Wall
}
