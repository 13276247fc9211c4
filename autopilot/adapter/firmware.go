package adapter

import (
	"fmt"
	"math"
	"slices"
	"strings"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/service"
)

// firmware is what the adapter has to know of one kind of autopilot: data.
type firmware struct {
	name      string
	contract  string // of the vehicles
	autopilot byte   // in HEARTBEAT: MAV_AUTOPILOT
	types     []byte // in HEARTBEAT: MAV_TYPE
	encoding  service.Encoding
	streams   map[int]uint32 // the messages of the groups that have several
	modes     []mode
	follows   []follow
	natural   [][2]uint32 // changes of the mode that an autopilot makes by itself, whatever is wanted meanwhile
	goals     []goal
	checks    []check
	fences    []check // those that count where the mission has a fence
	// A command enables the fence, and SYS_STATUS and FENCE_STATUS show it.
	switchable bool
	either     bool             // a vehicle is inside the fence if it is inside one of several areas of inclusion
	none       map[uint16][]int // the parameters of commands, from 0, in which not a number means none
	switched   string           // the parameter with the channel of the mode switch; "": none
	loiter     string           // its name of the mode that the contract calls loiter; "": the same
	circle     string           // the parameter with the radius [m] of circles where none is wanted; "": none
	delivered  float64          // its value as delivered [m]
	margin     float64          // a target is reached at this distance [m], beyond the radius,
	level      float64          // and at this difference of height [m],
	rest       float64          // and below this speed over ground [m/s]
}

// mode is a number in HEARTBEAT and the contract's word for it. The first number of a word is the commanded one. A
// number of several words means the wanted one, otherwise the first.
type mode struct {
	word   string
	number uint32
}

// none is the contract's word for other modes, and for no wanted one.
const none = "none"

// follow is a mode that an autopilot changes to by itself when it has done the wanted one.
type follow struct {
	wanted  string
	number  uint32
	mission bool   // only when the mission has ended: otherwise a failsafe changed the mode
	setting string // only while this parameter is not 0; "": always
}

// word returns the contract's word for a number.
func (f *firmware) word(number uint32, wanted string) string {
	word := none
	for _, m := range f.modes {
		if m.number == number && (word == none || m.word == wanted) {
			word = m.word
		}
	}
	return word
}

// number returns the number that is commanded for a word, and whether there is one.
func (f *firmware) number(word string) (uint32, bool) {
	i := slices.IndexFunc(f.modes, func(m mode) bool { return m.word == word })
	if i < 0 {
		return 0, false
	}
	return f.modes[i].number, true
}

// Named returns the contract's word for a mode with the autopilot's name of it, if that is another.
func (a *Adapter) Named(mode string) string {
	if mode == "loiter" && a.firmware != nil && a.firmware.loiter != "" {
		return mode + " (" + a.firmware.loiter + ")"
	}
	return mode
}

// shared reports whether a word has the number of the guided mode: then the number in a heartbeat does not tell whether
// the vehicle flies to its target or stays where it is.
func (f *firmware) shared(word string) bool {
	const guided = "guided"
	n, ok := f.number(word)
	g, has := f.number(guided)
	return ok && has && n == g && word != guided
}

// shows reports whether the vehicle's mode is the wanted one, or what follows it.
func (a *Adapter) shows(wanted string) bool {
	n, ok := a.firmware.number(wanted)
	return ok && n == a.facts.heartbeat.CustomMode || a.follows(wanted)
}

// follows reports whether the vehicle's mode is one that follows the wanted one, which the vehicle has shown before.
func (a *Adapter) follows(wanted string) bool {
	if wanted != a.word() || a.watch.shown != a.revision("wanted_mode") {
		return false
	}
	ended := a.facts.mission != nil && a.facts.mission.MissionState == mav.MISSION_STATE_COMPLETE
	return slices.ContainsFunc(a.firmware.follows, func(f follow) bool {
		return f.wanted == wanted && f.number == a.facts.heartbeat.CustomMode && (ended || !f.mission) &&
			(f.setting == "" || a.facts.parameters[f.setting] != 0)
	})
}

// goal is one part of the wanted state: what it is read from, what is sent for it, and what in telemetry proves it.
type goal struct {
	name  string
	slots []string // a change of one of them is a new intent
	needs []string // goals that must be proved before, if they are wanted

	wanted func(a *Adapter) bool                // reports whether this part of the state is wanted
	wait   func(a *Adapter) string              // why a command would fail now, "" if it would not; nil: it never would
	holds  func(a *Adapter, t *attempt) verdict // what telemetry says
	by     int                                  // the group of telemetry that says it
	blind  bool                                 // it is commanded even if telemetry says nothing
	within int64                                // time [ns] in which telemetry shows the effect of an accepted command

	aim     aim
	repeat  service.Repeat
	once    bool                     // it is not repeated after it was accepted
	base    func(a *Adapter) float64 // what is measured before the command; nil: nothing
	command func(a *Adapter) service.Order
	instead func(a *Adapter) service.Order                // what is commanded if the vehicle refuses; nil: nothing
	neither string                                        // what it means that it refuses both
	write   func(a *Adapter) (name string, value float64) // instead of a command: a parameter
	lost    loss
}

// verdict is what telemetry says about a part of the wanted state.
type verdict uint8

const (
	unknown verdict = iota
	no
	yes
)

func judge(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// loss is what it means that telemetry no longer shows what it has shown.
type loss uint8

const (
	repaired loss = iota // it is commanded again
	left                 // it was done, and is not done twice: arming, a take-off
	settled              // it lasts, and what telemetry shows of it varies
)

// check is one row of the checklist of parameters.
type check struct {
	names  []string // of the releases of the firmware
	grave  bool
	good   func(a *Adapter, value float64) bool
	reason string // what it means that it is not good
}

// on and off are the checks of a switch.
func on(_ *Adapter, value float64) bool  { return value != 0 }
func off(_ *Adapter, value float64) bool { return value == 0 }

// anySpeed is the speed below which a vehicle that never rests is at rest [m/s].
const anySpeed = math.MaxFloat64

// firmwares are the autopilots that the adapter can command.
var firmwares = []*firmware{arduPlane, arduCopter, px4Plane, px4Copter}

// identify finds the tables of the vehicle that a heartbeat comes from.
func (a *Adapter) identify() {
	h := a.facts.heartbeat
	for _, f := range firmwares {
		if f.contract != a.contract.Name || f.autopilot != byte(h.Autopilot) || !slices.Contains(f.types, byte(h.Type)) {
			continue
		}
		if a.firmware != f {
			a.assume(f)
		}
		return
	}
	if a.firmware == nil && !a.attachment.strange {
		a.attachment.strange = true
		var known []string
		for _, f := range firmwares {
			if f.contract == a.contract.Name {
				known = append(known, f.name)
			}
		}
		a.note(Checked, fmt.Sprintf("%v with %v is not commanded: a mission of a %s needs %s", h.Type, h.Autopilot,
			a.contract.Name, strings.Join(known, " or ")))
	}
}

// assume takes the tables of a firmware.
func (a *Adapter) assume(f *firmware) {
	a.firmware, a.attempts, a.untaken = f, make([]attempt, len(f.goals)), nil
	for i := range a.contract.Slots {
		if !a.Takes(i) {
			a.untaken = append(a.untaken, i)
		}
	}
	a.parameters = service.NewParameters(a.options.Ends, f.encoding)
}

// rates returns the messages that are requested, with their rates; those of the payload if it is used.
func (f *firmware) rates(payload bool) []service.Stream {
	rates := []service.Stream{{Message: systemTime, Hz: 1}}
	for i, g := range groups {
		if id := f.message(i); id != 0 && (payload || !g.payload) { // heartbeats come by themselves
			rates = append(rates, service.Stream{Message: id, Hz: g.hz})
		}
	}
	return rates
}

// message returns the number of a group's message.
func (f *firmware) message(group int) uint32 {
	if id, ok := f.streams[group]; ok {
		return id
	}
	return groups[group].message
}

// systemTime is the number of SYSTEM_TIME, which serves the clock map.
const systemTime = 2
