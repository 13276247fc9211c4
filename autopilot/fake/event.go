package fake

import (
	"math"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

// pilot is what the pilot does.
type pilot struct {
	moved    bool    // the switch of the modes is not where it was
	sticks   int64   // until then the sticks are deflected
	throttle float64 // position of the throttle stick [us]; 0: the lowest
}

// trouble is what is wrong with the vehicle.
type trouble struct {
	blind    bool  // no satellites
	silent   int64 // since when the pilot's radio is not received; 0: it is
	reboot   bool
	lie      int   // so many commands are accepted and not executed
	refuse   int   // so many commands fail
	breached int64 // until then the fence takes the vehicle to be outside
}

// take counts one event down; it reports whether there was one.
func (*trouble) take(n *int) bool {
	if *n == 0 {
		return false
	}
	*n--
	return true
}

// Event is something that happens to the vehicle from outside.
type Event struct {
	Kind  Kind
	Value float64
}

// Kind is the kind of an event.
type Kind byte

// The kinds of events.
const (
	Reboot     Kind = iota // the autopilot starts again
	Battery                // the battery is charged to Value, 0 to 1
	PilotMode              // the pilot selects the mode with the number Value by the switch
	PilotStick             // the pilot deflects the sticks for Value seconds
	GPSLost                // there are no satellites, until GPSBack
	GPSBack
	ClockStep // the clock of the autopilot jumps by Value seconds
	Breach    // the fence takes the vehicle to be outside for Value seconds
	Lie       // the next Value commands are acknowledged as accepted and not executed
	Refuse    // the next Value commands fail
	Throttle  // the pilot moves the throttle stick to Value [us]
	Late      // the estimator begins Value seconds later
	RadioLost // the pilot's radio is not received, until RadioBack
	RadioBack
)

// Inject lets something happen.
func (v *Autopilot) Inject(e Event) {
	switch e.Kind {
	case Reboot:
		v.boot()
	case Battery:
		v.charge = max(0, min(1, e.Value))
	case PilotMode:
		v.pilot.moved = true
		v.setMode(uint32(e.Value), byPilot)
	case PilotStick:
		v.pilot.sticks = v.now + int64(e.Value*float64(second))
	case GPSLost:
		v.trouble.blind = true
	case GPSBack:
		v.trouble.blind = false
	case ClockStep:
		v.stepped = max(v.stepped+int64(e.Value*float64(second)), v.booted-v.now)
	case Breach:
		v.trouble.breached = v.now + int64(e.Value*float64(second))
	case Lie:
		v.trouble.lie = int(e.Value)
	case Refuse:
		v.trouble.refuse = int(e.Value)
	case RadioLost:
		v.trouble.silent = v.now
	case RadioBack:
		v.trouble.silent = 0
		if v.guard.radioLost { // the mode stays
			v.guard.radioLost = false
			v.say(mav.MAV_SEVERITY_WARNING, "Radio Failsafe Cleared")
		}
	case Throttle:
		v.pilot.throttle = max(throttleLow, min(throttleMiddle+throttleThrow, e.Value))
	case Late:
		v.guard.delay(int64(e.Value * float64(second)))
	default:
		panic("fake: unknown kind of event")
	}
}

// State is what is true of the vehicle, whatever the messages tell.
type State struct {
	North, East, Height float64 // from home [m]
	Airspeed            float64 // [m/s]
	Mode                string
	Armed, Flying       bool
	Critical            bool // a failsafe is in effect
}

// State returns it.
func (v *Autopilot) State() State {
	b := v.body
	speed := b.speed
	if !v.firmware.wing {
		speed = math.Hypot(b.vn, b.ve)
	}
	return State{b.n - v.home.n, b.e - v.home.e, b.h - v.home.h, speed, v.mode.name, v.armed, b.flying,
		v.guard.acting(v)}
}
