package fake

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/autopilot/frame"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// result is the answer to a command.
type result = common.MAV_RESULT

// The answers.
const (
	accepted    = common.MAV_RESULT_ACCEPTED
	rejected    = common.MAV_RESULT_TEMPORARILY_REJECTED
	denied      = common.MAV_RESULT_DENIED
	unsupported = common.MAV_RESULT_UNSUPPORTED
	failed      = common.MAV_RESULT_FAILED
)

// order is a command, of either message.
type order struct {
	id     common.MAV_CMD
	whole  bool // COMMAND_INT
	frame  mav.MAV_FRAME
	params [7]float64
}

// handler is a row of the table of commands. It executes a command.
type handler func(v *Autopilot, o order) result

// The commands that only ArduPilot has.
const (
	cmdGuidedSpeed    = common.MAV_CMD(mav.MAV_CMD_GUIDED_CHANGE_SPEED)
	cmdGuidedAltitude = common.MAV_CMD(mav.MAV_CMD_GUIDED_CHANGE_ALTITUDE)
)

// orders of all firmwares.
var orders = map[common.MAV_CMD]handler{
	common.MAV_CMD_COMPONENT_ARM_DISARM:   (*Autopilot).orderArm,
	common.MAV_CMD_DO_FENCE_ENABLE:        (*Autopilot).orderFence,
	common.MAV_CMD_DO_SET_MISSION_CURRENT: (*Autopilot).orderCurrent,
	common.MAV_CMD_SET_MESSAGE_INTERVAL:   (*Autopilot).orderStream,
	common.MAV_CMD_REQUEST_MESSAGE:        (*Autopilot).orderMessage,
	common.MAV_CMD_PREFLIGHT_REBOOT_SHUTDOWN: func(v *Autopilot, o order) result {
		if o.params[0] != 1 || v.armed {
			return failed
		}
		v.trouble.reboot = true
		return accepted
	},
}

// planeOrders are those of ArduPlane 4.7-dev, as measured on its simulator and read in its source.
var planeOrders = map[common.MAV_CMD]handler{
	common.MAV_CMD_DO_SET_MODE: func(v *Autopilot, o order) result {
		if int(o.params[0])&1 == 0 {
			return denied
		}
		return v.switchTo(uint32(o.params[1]))
	},
	common.MAV_CMD_NAV_TAKEOFF:          func(*Autopilot, order) result { return failed }, // quadplanes only
	common.MAV_CMD_NAV_RETURN_TO_LAUNCH: into(returns),
	common.MAV_CMD_NAV_LOITER_UNLIM:     into(circles),
	common.MAV_CMD_DO_REPOSITION:        (*Autopilot).orderReposition,
	common.MAV_CMD_DO_CHANGE_SPEED:      (*Autopilot).orderSpeed,
	cmdGuidedSpeed:                      (*Autopilot).orderGuidedSpeed,
	cmdGuidedAltitude:                   (*Autopilot).orderGuidedAltitude,
	common.MAV_CMD_DO_LAND_START:        (*Autopilot).orderLandStart,
	common.MAV_CMD_MISSION_START: func(v *Autopilot, o order) result {
		if o.params[0] != 0 || o.params[1] != 0 {
			return denied
		}
		return into(follows)(v, o)
	},
}

// command executes a command and acknowledges it.
func (v *Autopilot) command(f frame.Frame, o order) {
	run := v.firmware.orders[o.id]
	if run == nil && v.firmware.autopilot == mav.MAV_AUTOPILOT_ARDUPILOTMEGA {
		run = arduPayload[o.id]
	}
	if run == nil {
		run = orders[o.id]
	}
	seen := Received{T: v.now, System: f.System, Component: f.Component, ID: uint16(o.id), Params: o.params,
		Mode: v.mode.number, Armed: v.armed, Flying: v.body.flying}
	switch {
	case run == nil:
		seen.Result = byte(unsupported)
	case v.trouble.take(&v.trouble.refuse):
		seen.Result = byte(v.firmware.notNow)
	case v.trouble.take(&v.trouble.lie):
		seen.Result = byte(accepted)
	default:
		seen.Result = byte(run(v, o))
	}
	if v.options.Observe != nil {
		v.options.Observe(seen)
	}
	v.send(&mav.MessageCommandAck{Command: o.id,
		Result: result(seen.Result), TargetSystem: f.System, TargetComponent: f.Component})
	if v.trouble.reboot {
		v.trouble.reboot = false
		v.boot()
	}
}

// switchTo changes the mode by a command.
func (v *Autopilot) switchTo(number uint32) result {
	if !v.setMode(number, byCommand) {
		return v.firmware.notNow
	}
	return accepted
}

// into is the command of the first mode with a conduct.
func into(c conduct) handler {
	return func(v *Autopilot, _ order) result { return v.switchTo(v.firmware.with(c).number) }
}

// force in the second parameter of the arming command skips the checks.
const force = 21196

func (v *Autopilot) orderArm(o order) result {
	forced := o.params[1] == force
	switch {
	case o.params[0] == 1 && v.armed, o.params[0] == 0 && !v.armed:
		return accepted
	case o.params[0] == 1:
		if reasons := append(v.guard.reasons(v), v.guard.unarmable(v)...); len(reasons) > 0 && !forced {
			v.say(mav.MAV_SEVERITY_CRITICAL, "Arm: %s", reasons[0])
			return v.firmware.notNow
		}
		v.arm()
		return accepted
	case o.params[0] == 0:
		if v.body.flying && !forced {
			return v.firmware.notNow
		}
		v.disarm()
		return accepted
	}
	return denied
}

// arm arms the vehicle. Home moves to where it is.
func (v *Autopilot) arm() {
	v.armed = true
	v.say(mav.MAV_SEVERITY_INFO, "%s", v.firmware.words.armed)
	if v.guard.positioned(v) {
		v.home, v.homed = v.body.place, true
	}
	v.guard.armed = v.now
	switch v.mode.conduct {
	case climbs:
		v.climbOut()
	case returns:
		v.enter(v.mode)
	}
}

// disarm stops the motor.
func (v *Autopilot) disarm() {
	v.armed = false
	v.say(mav.MAV_SEVERITY_INFO, "%s", v.firmware.words.disarmed)
	if v.mode.conduct != follows {
		v.route = route{}
	}
}

func (v *Autopilot) orderReposition(o order) result {
	if !o.whole {
		return unsupported
	}
	p, ok := v.local(o.params[4], o.params[5], o.params[6], o.frame)
	if !ok || v.guard.outside(v, p) {
		return denied
	}
	if v.mode.conduct != guided {
		if int(o.params[1])&1 == 0 && !v.firmware.wing {
			return denied
		}
		if int(o.params[1])&1 == 0 || !v.setMode(v.firmware.with(guided).number, byCommand) {
			return failed
		}
	}
	g := &v.guidance
	if g.stuck {
		p.h = g.target.h
	} else {
		g.rate = 0
	}
	g.target, g.climbing = p, false
	if o.params[2] > 0 {
		g.radius = o.params[2]
	}
	g.reverse = o.params[3] == 1
	return accepted
}

func (v *Autopilot) orderSpeed(o order) result {
	switch {
	case o.params[0] == 1:
		v.set("MIN_GROUNDSPEED", o.params[1])
		return accepted
	case v.mode.conduct != guided && v.mode.conduct != follows, !v.flyable(o.params[1]):
		return failed
	}
	if !v.guidance.held {
		v.guidance.speed = o.params[1]
	}
	return accepted
}

// flyable reports whether an airspeed is within the limits.
func (v *Autopilot) flyable(speed float64) bool {
	return speed >= v.value(v.firmware.names.slowest) && speed <= v.value(v.firmware.names.fastest)
}

func (v *Autopilot) orderGuidedSpeed(o order) result {
	switch {
	case v.mode.conduct != guided:
		return failed
	case o.params[0] != 0 || !v.flyable(o.params[1]):
		return denied
	}
	v.guidance.speed, v.guidance.held = o.params[1], true
	return accepted
}

// orderGuidedAltitude changes the height. Its rate is a trap: with any but 0 the aircraft hardly climbs, and later
// targets do not change the height until guided mode is left.
func (v *Autopilot) orderGuidedAltitude(o order) result {
	switch {
	case v.mode.conduct != guided:
		return failed
	case math.IsNaN(o.params[6]):
		return denied
	}
	g := &v.guidance
	g.stuck, g.rate = true, 0
	if o.params[2] != 0 {
		g.rate = 0.14
	}
	p, ok := v.local(0, 0, o.params[6], o.frame)
	if !ok {
		return denied
	}
	g.target.h = p.h
	return accepted
}

func (v *Autopilot) orderLandStart(order) result {
	i := v.landingItem()
	if i < 0 || v.mode.conduct != follows && !v.setMode(v.firmware.with(follows).number, byCommand) {
		v.say(mav.MAV_SEVERITY_WARNING, "Unable to start landing sequence")
		return failed
	}
	v.goTo(i)
	v.say(mav.MAV_SEVERITY_INFO, "Landing sequence start")
	return accepted
}

// landingItem returns the place of the landing sequence in the mission, or -1.
func (v *Autopilot) landingItem() int {
	return slices.IndexFunc(v.memory.mission(), func(it item) bool { return it.command == common.MAV_CMD_DO_LAND_START })
}

func (v *Autopilot) orderFence(o order) result {
	switch o.params[0] {
	case 0:
		v.guard.fenced = false
	case 1:
		kinds, _, _ := v.limits()
		if v.guard.indexing(v) || kinds&(fenceAltitude|fenceCircle) == 0 && (kinds&fencePolygon == 0 ||
			!v.guard.loaded(v) || len(v.memory.stored[mav.MAV_MISSION_TYPE_FENCE]) == 0) { // there is none to be enabled
			return failed
		}
		v.guard.fenced = true
	default:
		return failed
	}
	return accepted
}

func (v *Autopilot) orderCurrent(o order) result {
	n := int(o.params[0])
	if n < 0 || n >= len(v.memory.mission()) {
		return failed
	}
	if o.params[1] == 1 {
		clear(v.route.jumps)
	}
	v.goTo(n)
	v.sendMessage(42)
	return accepted
}
