package fake

import (
	"math"
	"slices"

	"canopy/autopilot/frame"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// result is the answer to a command, MAV_RESULT.
type result byte

// The answers.
const (
	accepted    result = 0
	rejected    result = 1 // temporarily
	denied      result = 2
	unsupported result = 3
	failed      result = 4
)

// order is a command, of either message.
type order struct {
	id     uint16
	whole  bool // COMMAND_INT
	frame  byte
	params [7]float64
}

// handler is a row of the table of commands. It executes a command.
type handler func(v *Autopilot, o order) result

// The commands, MAV_CMD.
const (
	cmdWaypoint       = 16
	cmdLoiter         = 17
	cmdLoiterTurns    = 18
	cmdLoiterTime     = 19
	cmdReturn         = 20
	cmdLand           = 21
	cmdTakeOff        = 22
	cmdLoiterTo       = 31
	cmdOrbit          = 34
	cmdSetMode        = 176
	cmdJump           = 177
	cmdSpeed          = 178
	cmdLandStart      = 189
	cmdGoAround       = 191
	cmdReposition     = 192
	cmdPause          = 193
	cmdFenceEnable    = 207
	cmdSetCurrent     = 224
	cmdReboot         = 246
	cmdStart          = 300
	cmdArm            = 400
	cmdChecks         = 401
	cmdHomePosition   = 410
	cmdGetInterval    = 510
	cmdSetInterval    = 511
	cmdRequest        = 512
	cmdCapabilities   = 520
	cmdGuidedSpeed    = 43000
	cmdGuidedAltitude = 43001
)

// orders of all firmwares.
var orders = map[uint16]handler{
	cmdArm:          (*Autopilot).orderArm,
	cmdFenceEnable:  (*Autopilot).orderFence,
	cmdSetCurrent:   (*Autopilot).orderCurrent,
	cmdChecks:       (*Autopilot).orderChecks,
	cmdGetInterval:  (*Autopilot).orderInterval,
	cmdSetInterval:  (*Autopilot).orderStream,
	cmdRequest:      (*Autopilot).orderMessage,
	cmdHomePosition: func(v *Autopilot, _ order) result { return v.request(242, 0) },
	cmdCapabilities: func(v *Autopilot, _ order) result { return v.request(148, 0) },
	cmdReboot: func(v *Autopilot, o order) result {
		if o.params[0] != 1 || v.armed {
			return failed
		}
		v.trouble.reboot = true
		return accepted
	},
}

// planeOrders are those of ArduPlane 4.7-dev, as measured on its simulator and read in its source.
var planeOrders = map[uint16]handler{
	cmdSetMode: func(v *Autopilot, o order) result {
		if int(o.params[0])&1 == 0 {
			return denied
		}
		return v.switchTo(uint32(o.params[1]))
	},
	cmdTakeOff:        func(*Autopilot, order) result { return failed }, // quadplanes only
	cmdReturn:         func(v *Autopilot, _ order) result { return v.switchTo(v.firmware.with(returns).number) },
	cmdLoiter:         func(v *Autopilot, _ order) result { return v.switchTo(v.firmware.with(circles).number) },
	cmdReposition:     (*Autopilot).orderReposition,
	cmdSpeed:          (*Autopilot).orderSpeed,
	cmdGuidedSpeed:    (*Autopilot).orderGuidedSpeed,
	cmdGuidedAltitude: (*Autopilot).orderGuidedAltitude,
	cmdLandStart:      (*Autopilot).orderLandStart,
	cmdGoAround: func(v *Autopilot, _ order) result {
		if !v.route.landing {
			return failed
		}
		v.route.landing = false
		v.route.aborted = true
		v.say(severityWarning, "Landing aborted, climbing to %dm", aborted)
		return accepted
	},
	cmdStart: func(v *Autopilot, o order) result {
		if o.params[0] != 0 || o.params[1] != 0 {
			return denied
		}
		return v.switchTo(v.firmware.with(follows).number)
	},
}

// command executes a command and acknowledges it.
func (v *Autopilot) command(f frame.Frame, o order) {
	run := v.firmware.orders[o.id]
	if run == nil && v.firmware.autopilot == 3 {
		run = arduPayload[o.id]
	}
	if run == nil {
		run = orders[o.id]
	}
	seen := Received{T: v.now, System: f.System, Component: f.Component, ID: o.id, Params: o.params,
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
	v.send(&ardupilotmega.MessageCommandAck{Command: common.MAV_CMD(o.id),
		Result: ardupilotmega.MAV_RESULT(seen.Result), TargetSystem: f.System, TargetComponent: f.Component})
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

// force in the second parameter of the arming command skips the checks.
const force = 21196

func (v *Autopilot) orderArm(o order) result {
	forced := o.params[1] == force
	switch {
	case o.params[0] == 1 && v.armed, o.params[0] == 0 && !v.armed:
		return accepted
	case o.params[0] == 1:
		if reasons := append(v.guard.reasons(v), v.guard.unarmable(v)...); len(reasons) > 0 && !forced {
			v.say(severityCritical, "Arm: %s", reasons[0])
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
	v.say(severityInfo, "%s", v.firmware.words.armed)
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
	v.say(severityInfo, "%s", v.firmware.words.disarmed)
	if v.mode.conduct != follows {
		v.route = route{}
	}
}

func (v *Autopilot) orderChecks(order) result {
	v.guard.complain(v)
	return accepted
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

// positionTarget treats SET_POSITION_TARGET_GLOBAL_INT. An ArduPlane follows its altitude only.
func (v *Autopilot) positionTarget(m *ardupilotmega.MessageSetPositionTargetGlobalInt) {
	p, ok := v.local(float64(m.LatInt)/1e7, float64(m.LonInt)/1e7, float64(m.Alt), byte(m.CoordinateFrame))
	if !ok || v.mode.conduct != guided || !v.firmware.targets {
		return
	}
	if v.firmware.wing {
		v.guidance.target.h = p.h
		return
	}
	v.guidance.target = p
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
		v.say(severityWarning, "Unable to start landing sequence")
		return failed
	}
	v.goTo(i)
	v.say(severityInfo, "Landing sequence start")
	return accepted
}

// landingItem returns the place of the landing sequence in the mission, or -1.
func (v *Autopilot) landingItem() int {
	return slices.IndexFunc(v.memory.stored[missionItems], func(it item) bool { return it.command == cmdLandStart })
}

func (v *Autopilot) orderFence(o order) result {
	switch o.params[0] {
	case 0:
		v.guard.fenced = false
	case 1:
		if v.guard.indexing(v) || !v.guard.fenceable(v) {
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
	if n < 0 || n >= len(v.memory.stored[missionItems]) {
		return failed
	}
	if o.params[1] == 1 {
		clear(v.route.jumps)
	}
	v.goTo(n)
	v.sendMessage(42)
	return accepted
}
