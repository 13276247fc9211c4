package flight

import (
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/autopilot/adapter"
)

// Modes in which a vehicle goes on without the plan, by the names of the contracts.
const (
	holds   = "loiter"
	returns = "rtl"
	lands   = "land"
)

// climbs are the modes in which a vehicle on the ground takes off as soon as somebody arms it.
var climbs = []string{"takeoff", "auto"}

// The signals and slots of the contracts with which a flight ends.
const (
	wantedMode  = "wanted_mode"
	presentMode = "mode"
	armSlot     = "arm"
)

// leavingTime is the time that the vehicle has to show how it goes on [ns].
const leavingTime = 10e9

// leave decides how the vehicle goes on after the plan.
func (f *Flight) leave() error {
	if _, err := f.command(); err != nil {
		return err
	}
	for i := f.c.Payload; i < len(f.slots); i++ { // the vehicle takes no more photos by itself
		if none := f.c.Slots[i].Default; f.slots[i].wanted != none {
			f.want(i, none)
			f.vehicle.Wake(f.now)
		}
	}
	f.phase = leaving
	f.left = f.now.Wall
	return f.aim()
}

// aim tells the vehicle how to go on, if that is news: one on the ground is disarmed if the plan has armed it, and
// leaves a mode that would take off. One in the air, or of which nobody knows, holds or returns, unless it is on its
// way down. One that is not ours is left as it is.
func (f *Flight) aim() error {
	if state := f.vehicle.Control(); state != adapter.Ready && state != adapter.Lost {
		f.phase = over
		return f.note("end", "the vehicle is not ours ("+state.String()+"): it is left as it is")
	}
	mode, arm := f.c.Slot(wantedMode), f.c.Slot(armSlot)
	word := f.mode(f.slots[mode].wanted)
	target := map[bool]string{false: holds, true: returns}[f.o.Return]
	switch grounded := f.signal("in_air") == 0; {
	case grounded && f.slots[arm].wanted == 0 && !slices.Contains(climbs, word),
		!grounded && slices.Contains([]string{target, returns, lands}, word):
		return nil
	case grounded:
		if slices.Contains(climbs, word) {
			f.want(mode, f.number(holds))
		}
		f.want(arm, 0)
	default:
		f.want(mode, f.number(target))
	}
	f.left = f.now.Wall
	f.vehicle.Wake(f.now)
	return f.note("end", f.course())
}

// told returns the mode in which the vehicle is to go on.
func (f *Flight) told() string { return f.vehicle.Named(f.mode(f.slots[f.c.Slot(wantedMode)].wanted)) }

// course says how the vehicle is told to go on.
func (f *Flight) course() string {
	mode := f.told()
	switch {
	case f.vehicle.Control() == adapter.Lost:
		return "the link is lost: nobody knows whether the vehicle goes on in the mode " + mode
	case f.signal("in_air") == 0:
		return "the vehicle is on the ground: it is to be disarmed, in the mode " + mode
	}
	return "the vehicle is to go on in the mode " + mode
}

// depart ends the flight when the vehicle shows how it goes on, or has not shown it in time.
func (f *Flight) depart() error {
	if err := f.aim(); err != nil || f.phase == over {
		return err
	}
	mode, arm := f.c.Slot(wantedMode), f.c.Slot(armSlot)
	grounded := f.signal("in_air") == 0
	shown := f.vehicle.Shows(mode) && (!grounded || f.vehicle.Shows(arm))
	if !shown && f.now.Wall-f.left < leavingTime {
		return nil
	}
	f.phase = over
	switch {
	case shown && grounded:
		return f.note("end", "the vehicle is on the ground")
	case shown && (f.told() == lands || f.told() == returns && !f.o.Return):
		return f.note("end", "the plan has left the vehicle in the mode "+f.told())
	case shown:
		return f.note("end", "the vehicle goes on in the mode "+f.told())
	case f.rests():
		return f.note("end", "the vehicle is on the ground, disarmed: "+f.seen())
	}
	text := "the vehicle has not taken the mode %s within %g s: %s"
	if grounded {
		text = "the vehicle is on the ground, and is not disarmed in the mode %s after %g s: %s"
	}
	f.untaken = fmt.Sprintf(text, f.told(), leavingTime/second, f.seen())
	return f.note("end", f.untaken)
}

// rests reports whether telemetry shows a vehicle on the ground that is disarmed, in a mode that does not take off.
func (f *Flight) rests() bool {
	present := f.present()
	return f.vehicle.Control() == adapter.Ready && f.signal("in_air") == 0 && f.signal("armed") == 0 &&
		present != "" && !slices.Contains(climbs, present)
}

// present returns the name of the vehicle's mode, "" if it is not known.
func (f *Flight) present() string {
	names := f.c.Signals[f.c.Signal(presentMode)].Values
	if n := f.signal(presentMode); n >= 0 && int(n) < len(names) {
		return names[int(n)]
	}
	return ""
}

// seen says in which mode the vehicle was seen last, and whether it was armed, unless it flew.
func (f *Flight) seen() string {
	is := "its mode is not known"
	if present := f.present(); present != "" {
		is = "it is in the mode " + f.vehicle.Named(present)
	}
	if mode := f.c.Slot(wantedMode); f.mode(f.slots[mode].wanted) == holds && f.vehicle.Shows(mode) {
		is = "it is in the mode " + f.told() // of which the number may be that of another mode, too
	}
	if f.signal("armed") == 1 && f.signal("in_air") != 1 {
		is += ", armed"
	}
	return is
}

// mode returns the name of a mode, and number its number.
func (f *Flight) mode(number float64) string {
	return f.c.Slots[f.c.Slot(wantedMode)].Values[int(number)]
}

func (f *Flight) number(mode string) float64 {
	return float64(slices.Index(f.c.Slots[f.c.Slot(wantedMode)].Values, mode))
}

// signal returns the last value of a signal of the contract; NaN if it is not known.
func (f *Flight) signal(name string) float64 {
	if tr := &f.world().tracks[f.c.Signal(name)]; tr.known {
		return tr.is.v
	}
	return math.NaN()
}
