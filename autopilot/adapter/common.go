package adapter

import (
	"math"
	"slices"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/service"
)

// The commands: MAV_CMD.
const (
	navTakeoff     = 22
	orbit          = 34
	setMode        = 176
	changeSpeed    = 178
	landStart      = 189
	reposition     = 192
	armDisarm      = 400
	requestMessage = 512
	guidedSpeed    = 43000
)

// The frames of positions: MAV_FRAME.
const (
	global         = 0
	globalRelative = 3
	globalInt      = 5
	relativeInt    = 6
)

// Goals that several firmwares have.

// modeGoal commands the mode, if the firmware has a number for the word, and no goal with its name.
func modeGoal(order func(a *Adapter, number uint32) service.Order, needs ...string) goal {
	return goal{
		name: "mode", slots: []string{"wanted_mode"}, needs: needs,
		wanted: func(a *Adapter) bool {
			_, ok := a.firmware.number(a.word())
			return ok && a.goal(a.word()) < 0
		},
		wait: func(a *Adapter) string {
			manual := slices.Contains([]string{"manual", "stabilized", "altitude_hold"}, a.word())
			if !manual && a.inAir() != 1 && (a.facts.home == nil || !a.located()) {
				return "the position is not known yet"
			}
			return ""
		},
		holds: func(a *Adapter, t *attempt) verdict {
			return judge(a.shows(a.word()) && (!a.firmware.shared(a.word()) || t.phase == accepted || t.phase == proved))
		},
		by: groupHeartbeat, within: 3 * second, repeat: service.Idempotent,
		command: func(a *Adapter) service.Order {
			number, _ := a.firmware.number(a.word())
			a.watch.remember(number, a.now)
			return order(a, number)
		},
	}
}

// underway is how long after its sending a command to arm may have an effect, which the next heartbeats show.
const underway = 5 * second

// armGoal arms when the vehicle has passed its checks, and disarms on the ground only: never by force.
func armGoal() goal {
	return goal{
		name: "arm", slots: []string{"arm"}, needs: []string{"mode"},
		wanted: func(a *Adapter) bool { return a.wanted("arm") == 1 || a.disarm },
		wait: func(a *Adapter) string {
			switch {
			case a.wanted("arm") == 1 && a.prearm() != 1:
				return "the vehicle has not passed its checks"
			case a.wanted("arm") == 0 && a.inAir() != 0:
				return "the vehicle is not known to be on the ground"
			}
			return ""
		},
		holds: func(a *Adapter, t *attempt) verdict {
			if a.wanted("arm") == 0 && !a.armed() && t.phase == idle && a.recent(t.sent, underway) {
				return unknown // the command to arm may still have an effect
			}
			return judge(a.armed() == (a.wanted("arm") == 1))
		},
		by: groupHeartbeat, within: 3 * second, aim: climbing, repeat: service.Guarded,
		command: func(a *Adapter) service.Order {
			return service.Order{ID: armDisarm, Params: [7]float64{a.wanted("arm")}}
		},
		lost: left,
	}
}

// targetGoal commands the target of the guided mode. The acknowledgement is no proof: the target that the autopilot
// reports is.
func targetGoal(order func(a *Adapter) service.Order, slots, needs []string) goal {
	return goal{
		name: "target", slots: append([]string{"target_north", "target_east", "target_h"}, slots...), needs: needs,
		wanted: func(a *Adapter) bool { return a.word() == "guided" && a.wanted("target_h") != 0 },
		wait:   (*Adapter).unhomed,
		holds:  targetHolds, by: groupTarget, blind: true, within: 4 * second,
		aim: flying, repeat: service.Idempotent, command: order,
	}
}

// unhomed returns that the place from which heights and positions count is unknown, "" if it is known.
func (a *Adapter) unhomed() string {
	if a.facts.home == nil {
		return "the position of home is unknown"
	}
	return ""
}

// setModeNumber commands a mode by its number.
func setModeNumber(_ *Adapter, number uint32) service.Order {
	return service.Order{ID: setMode, Params: [7]float64{1, float64(number)}}
}

// The differences from the wanted target [m] that storing and sending it make.
const (
	targetBeside = 2
	targetAbove  = 1
)

func targetHolds(a *Adapter, t *attempt) verdict {
	m := a.facts.target
	if m == nil || a.facts.home == nil || !a.fresh(groupTarget) {
		return unknown
	}
	height := float64(m.Alt)
	switch m.CoordinateFrame {
	case global, globalInt:
		height -= a.homeAltitude()
	case globalRelative, relativeInt:
	default:
		return unknown
	}
	north, east := a.plane().Local(degrees(m.LatInt, m.LonInt))
	near := math.Hypot(north-a.wanted("target_north"), east-a.wanted("target_east")) <= targetBeside &&
		math.Abs(height-a.wanted("target_h")) <= targetAbove
	// The radius is in no telemetry: a target that differs in nothing else is proved by its acknowledgement.
	return judge(near && (t.phase == accepted || t.phase == proved || a.wanted("radius") == 0))
}

func (a *Adapter) homeAltitude() float64 { return float64(a.facts.home.Altitude) * 1e-3 }

// targetOrder returns DO_REPOSITION to the wanted target, at an altitude in a frame; the speed stays as it is. Without
// the flag the autopilot takes it in guided mode only: the pilot, or a failsafe, may just have left it. Where no radius
// is wanted, it has that of the parameter: an ArduPlane keeps the last one otherwise.
func targetOrder(a *Adapter, frame byte, altitude, yaw float64) service.Order {
	at := a.plane().Global(a.wanted("target_north"), a.wanted("target_east"))
	return service.Order{ID: reposition, Int: true, Frame: frame,
		Params: [7]float64{-1, 0, a.radius(), yaw, at.Lat, at.Lon, altitude}}
}

// speedGoal commands the speed. It lasts until the mode is left, so it is commanded again when the mode is back.
func speedGoal(order func(a *Adapter) service.Order, modes []string, holds func(a *Adapter, t *attempt) verdict) goal {
	return goal{
		name: "speed", slots: []string{"speed"}, needs: []string{"mode"},
		wanted: func(a *Adapter) bool {
			for _, m := range modes {
				if number, ok := a.firmware.number(m); ok && number == a.facts.heartbeat.CustomMode {
					return a.wanted("speed") != 0
				}
			}
			return false
		},
		wait: func(a *Adapter) string {
			if a.inAir() != 1 {
				return "the vehicle is not known to fly"
			}
			return ""
		},
		base: (*Adapter).airspeed, holds: holds, by: groupAir, within: 10 * second,
		repeat: service.Idempotent, command: order, lost: settled,
	}
}

// The airspeed shows the wanted one if it is as near [m/s], or has come nearer by this part of the difference.
const (
	speedNear = 1.5
	speedPart = 0.3
)

func airspeedHolds(a *Adapter, t *attempt) verdict {
	if t.phase != accepted && t.phase != proved {
		return no // an airspeed that happens to be the wanted one proves no command
	}
	if !a.fresh(groupAir) {
		return unknown
	}
	wanted, now := a.wanted("speed"), a.airspeed()
	return judge(math.Abs(now-wanted) <= speedNear ||
		math.Abs(now-wanted) <= (1-speedPart)*math.Abs(t.base-wanted))
}

// acknowledged is the verdict where telemetry shows nothing: the acknowledgement is all there is.
func acknowledged(_ *Adapter, t *attempt) verdict {
	return judge(t.phase == accepted || t.phase == proved)
}

// takeoffHeight writes the parameter with the height of take-offs, and reads it back.
func takeoffHeight(parameter string) goal {
	return goal{
		name: "take-off height", slots: []string{"target_h", "wanted_mode"},
		wanted: func(a *Adapter) bool { return a.word() == "takeoff" && a.wanted("target_h") != 0 },
		holds: func(a *Adapter, _ *attempt) verdict {
			v, ok := a.facts.parameters[parameter]
			if !ok {
				return unknown
			}
			return judge(math.Abs(v-a.wanted("target_h")) < 0.01)
		},
		by: groupHeartbeat, blind: true, within: 5 * second, aim: climbing, repeat: service.Idempotent,
		write: func(a *Adapter) (string, float64) { return parameter, a.wanted("target_h") },
		lost:  settled,
	}
}

// takeoffGoal is NAV_TAKEOFF of the wanted height, once, after arming.
func takeoffGoal(order func(a *Adapter) service.Order) goal {
	return goal{
		name: "take-off", slots: []string{"arm"}, needs: []string{"mode", "arm"},
		wanted: func(a *Adapter) bool {
			return a.word() == "guided" && a.wanted("arm") == 1 && a.wanted("target_h") != 0
		},
		wait: (*Adapter).unhomed,
		holds: func(a *Adapter, _ *attempt) verdict {
			if a.facts.landed == nil || !a.fresh(groupLanded) {
				return unknown
			}
			switch a.facts.landed.LandedState {
			case mav.MAV_LANDED_STATE_ON_GROUND:
				return no
			case mav.MAV_LANDED_STATE_IN_AIR, mav.MAV_LANDED_STATE_LANDING:
				return yes
			}
			return unknown // it is taking off
		},
		by: groupLanded, within: 10 * second, aim: climbing, repeat: service.Guarded, command: order, lost: left,
	}
}

// request asks for one message.
func (a *Adapter) request(message uint32) {
	a.send(service.Order{ID: requestMessage, Params: [7]float64{float64(message)}})
}

// arduChecks are the rows of the checklist that the vehicles of ArduPilot share.
var arduChecks = []check{
	{[]string{"BATT_MONITOR"}, false, on, "the battery is not measured"},
	{[]string{"BATT_LOW_VOLT", "BATT_LOW_MAH"}, false, func(a *Adapter, v float64) bool {
		return v != 0 || a.facts.parameters["BATT_LOW_MAH"] != 0
	}, "without it and BATT_LOW_MAH, the battery is never low"},
	{[]string{"BATT_FS_LOW_ACT"}, true, on, "a low battery only warns"},
	{[]string{"BATT_FS_CRT_ACT"}, false, on, "a critical battery only warns"},
	{[]string{"FENCE_ENABLE"}, false, func(a *Adapter, v float64) bool { return v != 0 || a.fenceShown() },
		"there is no fence"},
	{[]string{"FENCE_TYPE"}, false, func(_ *Adapter, v float64) bool { return int(v)&2 == 0 },
		"the circle of FENCE_RADIUS round home is part of the fence"},
	{[]string{"ARMING_CHECK", "ARMING_SKIPCHK"}, true, func(a *Adapter, v float64) bool {
		_, all := a.facts.parameters["ARMING_CHECK"] // later releases list what is skipped
		return (v != 0) == all
	}, "checks before arming are skipped"},
	{[]string{"SYSID_MYGCS", "MAV_GCS_SYSID"}, false,
		func(a *Adapter, v float64) bool { return byte(v) != a.options.Ends.Us.System },
		"our heartbeats hide the loss of the real ground station"},
}
