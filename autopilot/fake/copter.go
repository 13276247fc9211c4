package fake

import (
	"cmp"
	"math"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// arduCopter is ArduCopter 4.7-dev, as its source shows; it was not measured.
var arduCopter = firmware{
	name: "ArduCopter",
	kind: mav.MAV_TYPE_QUADROTOR, autopilot: mav.MAV_AUTOPILOT_ARDUPILOTMEGA,
	prompt: true, strict: true, stale: true, homeItem: true,
	endurance:    1200,
	landedLag:    1 * second,
	downLag:      1650 * millisecond,
	landsOff:     350 * millisecond,
	accept:       2,
	capabilities: 2 | 4 | 8 | 256 | 8192 | 16384 | 32768 | 131072,
	version:      4<<24 | 7<<16,
	orders:       copterOrders,
	notNow:       failed,
	names: names{
		system: "SYSID_THISMAV", home: "RTL_ALT", over: "WPNAV_SPEED", up: "WPNAV_SPEED_UP", down: "WPNAV_SPEED_DN",
		scale: 0.01, disarmLanded: "DISARM_DELAY", disarmIdle: "DISARM_DELAY",
	},
	words: arduWords("ArduCopter V4.7.0-dev (fake)", "Battery Failsafe"),
	start: start{home: 20 * second, origin: 20 * second, position: 40300 * millisecond, ready: 42500 * millisecond},
	station: station{
		enable: "FS_GCS_ENABLE", time: "FS_GCS_TIMEOUT", watched: arduWatched,
		lost: "GCS Failsafe", back: "GCS Failsafe Cleared", stays: " - Continuing Auto Mode",
		waits: func(v *Autopilot) bool { return v.guidance.climbing },
		action: func(v *Autopilot) (conduct, bool) {
			to := returns
			if v.value("FS_GCS_ENABLE") == 5 {
				to = lands
			}
			return to, v.mode.conduct != follows || int(v.value("FS_OPTIONS"))&2 == 0
		},
	},
	levels: arduLevels(map[int]conduct{1: lands, 2: returns}),
	fence:  copterFence(),
	modes: []mode{
		{0, "STABILIZE", sticks}, {1, "ACRO", sticks}, {2, "ALT_HOLD", lifted}, {3, "AUTO", follows}, {4, "GUIDED", guided},
		{5, "LOITER", lifted}, {6, "RTL", returns}, {9, "LAND", lands}, {16, "POSHOLD", lifted}, {17, "BRAKE", circles},
	},
	parameters: append([]parameter{
		{"FS_GCS_ENABLE", int8Type, 0}, {"FS_GCS_TIMEOUT", realType, 5}, {"FS_THR_ENABLE", int8Type, 1},
		{"FS_THR_VALUE", int16Type, 975}, {"FS_EKF_ACTION", int8Type, 1}, {"FS_EKF_THRESH", realType, 0.8},
		{"FS_DR_ENABLE", int8Type, 2}, {"FS_DR_TIMEOUT", int16Type, 30}, {"FS_OPTIONS", int32Type, 16},
		{"FENCE_TYPE", int8Type, 7},
		{"RTL_ALT", int32Type, 1500}, {"RTL_ALT_FINAL", int16Type, 0}, {"RTL_LOIT_TIME", int32Type, 5000},
		{"LAND_SPEED", int16Type, 50},
		{"WPNAV_SPEED", realType, 1000}, {"WPNAV_SPEED_UP", realType, 250}, {"WPNAV_SPEED_DN", realType, 150},
		{"WPNAV_RADIUS", realType, 200}, {"GUID_TIMEOUT", realType, 3}, {"GUID_OPTIONS", int32Type, 0},
		{"AUTO_OPTIONS", int32Type, 3}, {"FLTMODE_CH", int8Type, 5}, {"DISARM_DELAY", int8Type, 10},
	}, arduParameters...),
}

// copterLoiter is the number of LOITER. Measured: its throttle stick, like that of POSHOLD and ALT_HOLD, climbs at 2.5
// m/s at 2000 us, sinks at as much at 1000, and holds the height at 1500. GUIDED and BRAKE do not heed it.
const (
	copterLoiter   = 5
	stickClimb     = 2.5 // [m/s]
	throttleLow    = 1000
	throttleMiddle = 1500
	throttleThrow  = 500
)

// lift is the position of the throttle stick [us]: at its lowest until an event moves it, as in the simulation.
func (p *pilot) lift() float64 { return cmp.Or(p.throttle, throttleLow) }

// copterFence is the fence of ArduPilot, which a copter takes orders outside of.
func copterFence() fence {
	f := arduFence
	f.locks, f.actions = "", map[int]conduct{1: returns, 4: circles}
	return f
}

// copterOrders are the commands of ArduCopter that differ from those of all.
var copterOrders = map[common.MAV_CMD]handler{
	common.MAV_CMD_DO_SET_MODE:          planeOrders[common.MAV_CMD_DO_SET_MODE],
	common.MAV_CMD_NAV_RETURN_TO_LAUNCH: planeOrders[common.MAV_CMD_NAV_RETURN_TO_LAUNCH],
	common.MAV_CMD_NAV_LOITER_UNLIM:     func(v *Autopilot, _ order) result { return v.switchTo(copterLoiter) },
	common.MAV_CMD_MISSION_START:        planeOrders[common.MAV_CMD_MISSION_START],
	common.MAV_CMD_DO_REPOSITION:        planeOrders[common.MAV_CMD_DO_REPOSITION],
	common.MAV_CMD_DO_LAND_START:        planeOrders[common.MAV_CMD_DO_LAND_START],
	common.MAV_CMD_NAV_LAND:             into(lands),
	common.MAV_CMD_NAV_TAKEOFF: func(v *Autopilot, o order) result {
		switch {
		case o.whole && o.frame != mav.MAV_FRAME_GLOBAL_RELATIVE_ALT:
			return denied
		case v.mode.conduct != guided || !v.armed || v.body.flying || !(o.params[6] > 0):
			return failed
		}
		v.hold()
		v.guidance.climbing, v.guidance.leaving = true, v.home.h+o.params[6]
		return accepted
	},
	common.MAV_CMD_DO_CHANGE_SPEED: func(v *Autopilot, o order) result {
		name, ok := map[float64]string{0: "", 1: "", 2: "WPNAV_SPEED_UP", 3: "WPNAV_SPEED_DN"}[o.params[0]]
		switch {
		case !ok || !(o.params[1] > 0):
			return failed
		case name == "":
			v.guidance.speed = o.params[1]
		default:
			v.set(name, 100*o.params[1])
		}
		return accepted
	},
}

// steerCopter returns what the mode wants of a copter.
func (v *Autopilot) steerCopter(dt float64) demand {
	g := &v.guidance
	switch {
	case !v.armed:
		return demand{}
	case g.climbing:
		top := place{g.target.n, g.target.e, g.leaving}
		if v.body.h >= g.leaving-0.2 {
			v.climbed(top)
		}
		d := v.towards(top)
		d.climb = max(d.climb, 0.5)
		return d
	case v.mode.conduct == follows:
		return v.follow(dt)
	case !v.body.flying:
		return demand{} // the motors idle
	case v.mode.conduct == lands, v.mode.conduct == returns && v.overHome():
		d := v.towards(g.target)
		d.climb = -copterSink
		if v.body.h < v.home.h+10 {
			d.climb = -copterLand
		}
		return d
	case v.mode.conduct == returns && v.body.h < g.target.h-0.5:
		return v.towards(place{v.body.n, v.body.e, g.target.h})
	case v.mode.conduct == lifted:
		d := v.towards(g.target)
		d.climb = stickClimb * (v.pilot.lift() - throttleMiddle) / throttleThrow
		return d
	}
	return v.towards(g.target)
}

// overHome reports whether a return descends.
func (v *Autopilot) overHome() bool { return v.body.distance(v.home) < 1 }

// approach returns the speed [m/s] at a distance [m] from which a copter comes to rest: with a deceleration
// that makes a circuit last as long as measured, at last in proportion to the distance.
func approach(distance float64) float64 {
	const gain, deceleration = 0.5, 0.6
	if near := deceleration / (gain * gain); distance > near {
		return math.Sqrt(2 * deceleration * (distance - near/2))
	}
	return gain * distance
}

// towards flies to a place and hovers there.
func (v *Autopilot) towards(p place) demand {
	names := &v.firmware.names
	speed := v.value(names.over) * names.scale
	if v.guidance.speed > 0 {
		speed = v.guidance.speed
	}
	n, e := p.n-v.body.n, p.e-v.body.e
	distance := math.Hypot(n, e)
	along := min(speed, approach(distance)) / max(distance, 1e-9)
	climb := max(-v.value(names.down)*names.scale, min(v.value(names.up)*names.scale, p.h-v.body.h))
	return demand{n: n * along, e: e * along, climb: climb, power: true}
}
