package adapter

import (
	"cmp"
	"slices"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/service"
)

// FlyingModes are the contracts' words for the modes in which a vehicle that somebody arms may leave the ground.
var FlyingModes = []string{"takeoff", "guided", "auto"}

// How a reason begins why a vehicle is not armed whose own checks may pass.
const (
	NoFence    = "the mission's fence is not in effect: "
	InFailsafe = "it is in failsafe: "
)

// withheld returns why a vehicle on the ground must not be armed, whatever the autopilot accepts; "" if it may be.
func (a *Adapter) withheld() string {
	switch {
	case a.facts.heartbeat == nil || a.firmware == nil:
		return ""
	case a.critical():
		return a.failsafe()
	case a.recent(a.watch.text, near): // which would take the vehicle as soon as it is armed
		return "the autopilot has just reported a failsafe"
	case a.options.Unfenced:
		return ""
	}
	if why := a.unfenced(); why != "" {
		return NoFence + why
	}
	return ""
}

// failsafe names the failsafe of a vehicle whose state is critical.
func (a *Adapter) failsafe() string {
	return InFailsafe + cmp.Or(a.watch.failing, "its state is critical")
}

// grounded reports whether the vehicle is on the ground.
func (a *Adapter) grounded() bool { return !a.armed() || a.inAir() == 0 }

// disarms reports whether a goal would disarm the vehicle, which nothing else of what is wanted holds up.
func (a *Adapter) disarms(g *goal) bool { return g.slots[0] == "arm" && a.wanted("arm") != 1 }

// withholds reports whether a goal would arm the vehicle, or make it climb, also as soon as somebody else arms it.
func (a *Adapter) withholds(g *goal) bool {
	return a.grounded() && !a.disarms(g) && (g.aim != nothing || g.name == "mode") &&
		(g.slots[0] == "arm" || slices.Contains(FlyingModes, a.word()))
}

// critical reports whether the autopilot is in failsafe, or worse.
func (a *Adapter) critical() bool {
	return a.facts.heartbeat.SystemStatus >= mav.MAV_STATE_CRITICAL
}

// armable returns whether the vehicle can be armed: its checks have passed, and nothing withholds it.
func (a *Adapter) armable() float64 {
	ready := a.prearm()
	if ready == 1 && a.facts.heartbeat != nil && !a.armed() && a.withheld() != "" {
		return 0
	}
	return ready
}

// How long a failsafe may leave a vehicle in the air in the mode that we commanded: some wait before they act.
const (
	patience = 10 * second
	longest  = 60 * second // of a climb
)

// unattended are the modes that need nobody: the vehicle returns or lands, by its own mission, too.
var unattended = []string{"rtl", "land", "auto"}

// afterwards is the mode in which a vehicle goes on that nobody commands.
func (a *Adapter) afterwards() string {
	if a.options.Return {
		return "rtl"
	}
	return "loiter"
}

// rescue commands a vehicle in the air, once, that a failsafe took and left in our mode: nobody else commands it. A
// pilot and any other mode end it.
func (a *Adapter) rescue() {
	w := &a.watch
	if w.adrift == (service.Clock{}) || a.inAir() != 1 || !a.passed(w.adrift, patience) || a.climbs() {
		return
	}
	number, _ := a.firmware.number(a.afterwards())
	i := a.goal("mode")
	g, t := &a.firmware.goals[i], &a.attempts[i]
	if a.steered() || !w.rescuing && (slices.Contains(unattended, a.word()) || number == w.mode) {
		a.settle()
		return
	}
	if !w.rescuing {
		a.note(FailsafeTook, "it leaves the vehicle in the mode "+a.word()+": it is told to go on in the mode "+
			a.Named(a.afterwards()))
		w.rescuing, t.intent = true, nil
	}
	if a.attempt(g, t); t.phase == proved || t.phase == refused {
		a.settle()
	}
}

// climbs reports whether a plane is on its way up from a take-off, which ends in a circle: it is no place for another.
func (a *Adapter) climbs() bool {
	return a.word() == "takeoff" && a.fresh(groupPosition) && a.climb() > 1 && !a.passed(a.watch.adrift, longest)
}

// settle ends a rescue, or the wait for one.
func (a *Adapter) settle() {
	w := &a.watch
	if w.rescuing {
		a.forget(&a.attempts[a.goal("mode")])
	}
	w.adrift, w.rescuing = service.Clock{}, false
}
