package fake

import (
	"math"

	"github.com/canopy-uav/canopy/autopilot/frame"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// PX4, as its documentation and its sources (Commander of about 1.13, navigator of 2026) describe it. It was never
// flown, neither in simulation. Times until it is ready, and the flight, are those of the other vehicles.

// px4Mode returns the number of a main mode and a sub mode.
func px4Mode(main, sub uint32) uint32 { return main<<16 | sub<<24 }

// px4Auto is the main mode of what flies by itself.
const px4Auto = 4

// px4Plane is PX4 on an aeroplane. The airspeeds are set for the aeroplane of this fake.
var px4Plane = px4(firmware{
	name: "PX4 plane", kind: mav.MAV_TYPE_FIXED_WING, wing: true, idles: true,
	accept:    90, // it turns to the next waypoint before
	endurance: 1800,
	names: names{
		takeOff: "MIS_TAKEOFF_ALT", runway: "RWTO_TKOFF", circle: "NAV_LOITER_RAD", accept: "NAV_ACC_RAD",
		slowest: "FW_AIRSPD_MIN", cruise: "FW_AIRSPD_TRIM", fastest: "FW_AIRSPD_MAX",
	},
	parameters: []parameter{
		{"MIS_TAKEOFF_ALT", realType, 30}, {"NAV_LOITER_RAD", realType, 80}, {"NAV_ACC_RAD", realType, 10},
		{"FW_AIRSPD_MIN", realType, 10}, {"FW_AIRSPD_TRIM", realType, cruise}, {"FW_AIRSPD_MAX", realType, 30},
		{"RTL_RETURN_ALT", realType, 100}, {"RWTO_TKOFF", int32Type, 1}, {"COM_DISARM_PRFLT", realType, 10},
	},
})

// px4Copter is PX4 on a quadrotor.
var px4Copter = px4(firmware{
	name: "PX4 copter", kind: mav.MAV_TYPE_QUADROTOR,
	endurance: 1200,
	accept:    2,
	override:  "COM_RC_OVERRIDE",
	names: names{
		takeOff: "MIS_TAKEOFF_ALT", accept: "NAV_ACC_RAD",
		over: "MPC_XY_CRUISE", up: "MPC_Z_V_AUTO_UP", down: "MPC_Z_V_AUTO_DN",
	},
	parameters: []parameter{
		{"MIS_TAKEOFF_ALT", realType, 2.5}, {"NAV_ACC_RAD", realType, 10},
		{"MPC_XY_CRUISE", realType, 5}, {"MPC_Z_V_AUTO_UP", realType, 3}, {"MPC_Z_V_AUTO_DN", realType, 1.5},
		{"RTL_RETURN_ALT", realType, 60}, {"COM_DISARM_PRFLT", realType, 10},
	},
})

// px4 fills a row with what all vehicles of PX4 have in common.
func px4(f firmware) firmware {
	f.autopilot, f.port = mav.MAV_AUTOPILOT_PX4, "14540"
	f.start = start{home: 20500 * millisecond, origin: 20500 * millisecond, position: 20500 * millisecond,
		ready: 22700 * millisecond}
	f.notNow, f.orders, f.modes = rejected, px4Orders, px4Modes
	f.ended, f.atomic, f.asksInt, f.bytewise = true, true, true, true
	f.landedLag, f.downLag = second, second
	f.capabilities = 2 | 4 | 8 | 16 | 8192 | 16384 | 32768
	f.version = 1<<24 | 15<<16
	f.delay = "COM_FAIL_ACT_T"
	f.names.system, f.names.home, f.names.scale = "MAV_SYS_ID", "RTL_RETURN_ALT", 1
	f.names.disarmLanded, f.names.disarmIdle = "COM_DISARM_LAND", "COM_DISARM_PRFLT"
	f.words = words{
		banner: f.name + " 1.15 (fake)", check: "Preflight Fail: ", armed: "Armed by external command",
		disarmed: "Disarmed", finished: "Mission finished, loitering", battery: "Battery Failsafe On",
	}
	f.station, f.levels, f.fence = px4Station, px4Levels, px4Fence
	// The rates of a link to a ground station. The current item comes by itself.
	f.unasked = map[uint32]float64{1: 1, 24: 1, 30: 15, 33: 5, 42: 1, 62: 1, 65: 5, 74: 4, 87: 1, 105: 1.5, 147: 0.5,
		230: 0.5, 231: 0.5, 242: 0.5, 245: 1}
	f.fixed = []uint32{42}
	f.parameters = append(f.parameters, px4Parameters...)
	return f
}

// px4Station: with each heartbeat of a ground station's type the data link is there.
var px4Station = station{
	enable: "NAV_DLL_ACT", time: "COM_DL_LOSS_T",
	watched: func(v *Autopilot, f frame.Frame) bool {
		m, ok := f.Message.(*mav.MessageHeartbeat)
		return ok && m.Type == mav.MAV_TYPE_GCS && f.System != v.options.System
	},
	waits: func(*Autopilot) bool { return false },
	action: func(v *Autopilot) (conduct, bool) {
		to, acts := map[int]conduct{1: guided, 2: returns, 3: lands}[int(v.value("NAV_DLL_ACT"))]
		return to, acts
	},
	lost: "Connection to ground station lost", back: "Connection to ground station regained",
}

var px4Levels = []level{
	{limit: "BAT_LOW_THR", charge: true, text: "low"},
	{limit: "BAT_CRIT_THR", charge: true, text: "critical", action: "COM_LOW_BAT_ACT",
		actions: map[int]conduct{2: lands, 3: returns}},
	{limit: "BAT_EMERGEN_THR", charge: true, text: "nearly empty", action: "COM_LOW_BAT_ACT",
		actions: map[int]conduct{2: lands, 3: lands}},
}

var px4Fence = fence{
	enable: "GF_ACTION", height: "GF_MAX_VER_DIST", over: "GF_MAX_HOR_DIST", action: "GF_ACTION",
	actions: map[int]conduct{2: guided, 3: returns, 5: lands}, silent: true,
}

var px4Modes = []mode{
	{px4Mode(px4Auto, 3), "HOLD", guided}, {px4Mode(3, 0), "POSCTL", sticks}, {px4Mode(1, 0), "MANUAL", sticks},
	{px4Mode(2, 0), "ALTCTL", sticks}, {px4Mode(5, 0), "ACRO", sticks}, {px4Mode(7, 0), "STABILIZED", sticks},
	{px4Mode(px4Auto, 2), "TAKEOFF", climbs}, {px4Mode(px4Auto, 4), "MISSION", follows},
	{px4Mode(px4Auto, 5), "RTL", returns}, {px4Mode(px4Auto, 6), "LAND", lands},
}

var px4Parameters = []parameter{
	{"MAV_SYS_ID", int32Type, 1}, {"NAV_DLL_ACT", int32Type, 0}, {"COM_DL_LOSS_T", int32Type, 10},
	{"NAV_RCL_ACT", int32Type, 2}, {"COM_LOW_BAT_ACT", int32Type, 0},
	{"BAT_LOW_THR", realType, 0.15}, {"BAT_CRIT_THR", realType, 0.07}, {"BAT_EMERGEN_THR", realType, 0.05},
	{"GF_ACTION", int32Type, 2}, {"GF_MAX_HOR_DIST", realType, 0}, {"GF_MAX_VER_DIST", realType, 0},
	{"COM_FAIL_ACT_T", realType, 5}, {"COM_RC_OVERRIDE", int32Type, 1}, {"COM_DISARM_LAND", realType, 2},
	{"RC_MAP_FLTMODE", int32Type, 8},
}

var px4Orders = map[common.MAV_CMD]handler{
	common.MAV_CMD_DO_SET_MODE: func(v *Autopilot, o order) result {
		if int(o.params[0])&1 == 0 {
			return denied
		}
		number := px4Mode(uint32(o.params[1]), uint32(o.params[2]))
		if number == px4Mode(px4Auto, 0) {
			number = px4Mode(px4Auto, 4)
		}
		return v.switchTo(number)
	},
	common.MAV_CMD_NAV_RETURN_TO_LAUNCH: func(v *Autopilot, o order) result {
		if v.mode.conduct == returns {
			return rejected
		}
		return into(returns)(v, o)
	},
	common.MAV_CMD_NAV_LAND:      into(lands),
	common.MAV_CMD_NAV_TAKEOFF:   (*Autopilot).orderTakeOff,
	common.MAV_CMD_DO_REPOSITION: (*Autopilot).orderHold,
	common.MAV_CMD_DO_ORBIT:      (*Autopilot).orderOrbit,
	common.MAV_CMD_DO_CHANGE_SPEED: func(v *Autopilot, o order) result { // in any mode, for any kind of speed
		v.guidance.speed = max(0, o.params[1])
		return accepted
	},
	common.MAV_CMD_MISSION_START: func(v *Autopilot, o order) result {
		switch n := len(v.memory.mission()); {
		case n == 0 || !(o.params[0] >= -1 && o.params[0] < float64(n)):
			return denied
		case !v.setMode(v.firmware.with(follows).number, byCommand):
			return rejected
		case o.params[0] >= 0:
			v.goTo(int(o.params[0]))
		}
		return v.orderArm(order{params: [7]float64{1}})
	},
	common.MAV_CMD_DO_LAND_START: func(v *Autopilot, o order) result {
		if v.orderLandStart(o) != accepted {
			return common.MAV_RESULT_CANCELLED
		}
		return accepted
	},
	common.MAV_CMD_DO_FENCE_ENABLE: func(*Autopilot, order) result { return unsupported },
}

// orderTakeOff changes to the mode of take-offs. A vehicle that is not armed takes off when it is.
func (v *Autopilot) orderTakeOff(o order) result {
	if v.mode.conduct != climbs && !v.setMode(v.firmware.with(climbs).number, byCommand) {
		return rejected
	}
	if h := o.params[6]; !math.IsNaN(h) {
		v.guidance.takeOff = h - v.options.Altitude
		v.climbOut()
	}
	return accepted
}

// orderHold is DO_REPOSITION, of either message: a change to Hold and a target there. Altitudes are above mean sea
// level, whatever the frame. What is not a number stays; without any number the vehicle stops where it is. It is
// accepted and not followed by a vehicle that is not armed, and for a target outside the fence.
func (v *Autopilot) orderHold(o order) result {
	asked := int(o.params[1])&1 != 0
	if asked && !v.setMode(v.firmware.with(guided).number, byCommand) {
		v.say(mav.MAV_SEVERITY_CRITICAL, "Reposition command rejected")
		return rejected
	}
	if v.mode.conduct == guided {
		v.repositioned(o)
	}
	if !asked {
		return unsupported // and followed in Hold
	}
	return accepted
}

// repositioned takes the target of a command.
func (v *Autopilot) repositioned(o order) {
	lat, lon, h := o.params[4], o.params[5], o.params[6]
	g := &v.guidance
	p := v.body.place
	switch {
	case !math.IsNaN(lat) && !math.IsNaN(lon):
		q, ok := v.local(lat, lon, 0, mav.MAV_FRAME_GLOBAL_INT)
		if !ok {
			return
		}
		p.n, p.e = q.n, q.e
	case !math.IsNaN(h):
		p = g.target
	}
	if !math.IsNaN(h) {
		p.h = h - v.options.Altitude
	}
	switch {
	case !v.armed:
	case v.guard.outside(v, p):
		v.say(mav.MAV_SEVERITY_CRITICAL, "Reposition is outside geofence")
	default:
		g.target = p
		if o.params[0] > 0 {
			g.speed = o.params[0]
		}
	}
}

// orderOrbit is DO_ORBIT of an aeroplane: Hold on a circle with a radius.
func (v *Autopilot) orderOrbit(o order) result {
	if !v.firmware.wing {
		return unsupported
	}
	if !v.setMode(v.firmware.with(guided).number, byCommand) {
		return rejected
	}
	radius := o.params[0]
	o.params[0] = 0
	v.repositioned(o)
	if v.armed && !math.IsNaN(radius) {
		v.guidance.radius, v.guidance.reverse = math.Abs(radius), radius < 0
	}
	return accepted
}
