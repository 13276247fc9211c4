package fake

import (
	"github.com/canopy-uav/canopy/autopilot/frame"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

// arduPlane is ArduPlane 4.7-dev. The defaults of its parameters protect nothing: they are those of the firmware.
var arduPlane = firmware{
	name: "ArduPlane",
	kind: mav.MAV_TYPE_FIXED_WING, autopilot: mav.MAV_AUTOPILOT_ARDUPILOTMEGA,
	wing:   true,
	wider:  17,
	prompt: true, strict: true, stale: true, homeItem: true,
	endurance:    1800,
	landedLag:    3 * second,
	downLag:      8700 * millisecond,
	capabilities: 2 | 4 | 8 | 8192 | 16384 | 32768 | 131072,
	version:      4<<24 | 7<<16,
	orders:       planeOrders,
	notNow:       failed,
	names: names{
		system: "SYSID_THISMAV", takeOff: "TKOFF_ALT", home: "RTL_ALTITUDE", scale: 1,
		circle: "WP_LOITER_RAD", accept: "WP_RADIUS",
		slowest: "AIRSPEED_MIN", cruise: "AIRSPEED_CRUISE", fastest: "AIRSPEED_MAX", disarmLanded: "LAND_DISARMDELAY",
	},
	words: arduWords("ArduPlane V4.7.0-dev (fake)", ""),
	start: start{home: 10 * second, origin: 19500 * millisecond, position: 20500 * millisecond,
		ready: 22700 * millisecond},
	station: station{
		enable: "FS_GCS_ENABL", time: "FS_LONG_TIMEOUT", watched: arduWatched,
		lost: "GCS Failsafe On", back: "GCS Failsafe Off", always: true,
		waits: func(v *Autopilot) bool {
			return v.guidance.climbing || v.value("FS_GCS_ENABL") == 3 && v.mode.conduct != follows
		},
		action: func(v *Autopilot) (conduct, bool) {
			return returns, v.value("FS_LONG_ACTN") == 1 || v.mode.conduct == circles || v.mode.conduct == sticks
		},
	},
	levels: arduLevels(map[int]conduct{1: returns, 2: returns, 7: returns}),
	fence:  arduFence,
	modes: []mode{
		{0, "MANUAL", sticks}, {1, "CIRCLE", circles}, {2, "STABILIZE", sticks}, {3, "TRAINING", sticks}, {4, "ACRO", sticks},
		{5, "FBWA", sticks}, {6, "FBWB", sticks}, {7, "CRUISE", sticks}, {8, "AUTOTUNE", sticks},
		{10, "AUTO", follows}, {11, "RTL", returns}, {12, "LOITER", circles}, {13, "TAKEOFF", climbs}, {15, "GUIDED", guided},
		{26, "AUTOLAND", lands},
	},
	parameters: append([]parameter{
		{"FS_GCS_ENABL", int8Type, 0}, {"FS_LONG_ACTN", int8Type, 0}, {"FS_LONG_TIMEOUT", realType, 5},
		{"THR_FAILSAFE", int8Type, 1}, {"THR_FS_VALUE", int16Type, 950}, {"FENCE_TYPE", int8Type, 4},
		{"RTL_ALTITUDE", realType, 100}, {"RTL_RADIUS", int16Type, 0}, {"RTL_AUTOLAND", int8Type, 0},
		{"ARMING_REQUIRE", int8Type, 1},
		{"AIRSPEED_MIN", realType, 10}, {"AIRSPEED_MAX", realType, 30}, {"AIRSPEED_CRUISE", realType, cruise},
		{"MIN_GROUNDSPEED", realType, 0},
		{"WP_RADIUS", int16Type, 90}, {"WP_LOITER_RAD", int16Type, 60}, {"TKOFF_ALT", realType, 50},
		{"STICK_MIXING", int8Type, 1}, {"FLTMODE_CH", int8Type, 8}, {"CRASH_DETECT", int8Type, 0},
		{"LAND_DISARMDELAY", int16Type, 20},
	}, arduParameters...),
}

// arduParameters are those that vehicles of ArduPilot have in common. As delivered they carry nothing, and the first
// servos move the aircraft.
var arduParameters = []parameter{
	{"SYSID_THISMAV", int16Type, 1}, {"SYSID_MYGCS", int16Type, 255}, {"SYSID_ENFORCE", int8Type, 0},
	{"BATT_MONITOR", int8Type, 4}, {"BATT_CAPACITY", int32Type, 3300}, {"BATT_ARM_VOLT", realType, 0},
	{"BATT_LOW_VOLT", realType, 0}, {"BATT_LOW_MAH", realType, 0},
	{"BATT_CRT_VOLT", realType, 0}, {"BATT_CRT_MAH", realType, 0}, {"BATT_LOW_TIMER", int8Type, 10},
	{"BATT_FS_LOW_ACT", int8Type, 0}, {"BATT_FS_CRT_ACT", int8Type, 0},
	{"FENCE_ENABLE", int8Type, 0}, {"FENCE_ACTION", int8Type, 1}, {"FENCE_ALT_MAX", realType, 100},
	{"FENCE_RADIUS", realType, 300}, {"FENCE_MARGIN", realType, 2}, {"FENCE_OPTIONS", int16Type, 1},
	{"ARMING_CHECK", int32Type, 1}, {"FLTMODE_GCSBLOCK", int32Type, 0}, {"AFS_ENABLE", int8Type, 0},
	{"TERRAIN_ENABLE", int8Type, 1},
	{"GRIP_ENABLE", int8Type, 0}, {"CAM1_TYPE", int8Type, 0}, {"MNT1_TYPE", int8Type, 0},
	{"RELAY1_FUNCTION", int8Type, 0}, {"RELAY2_FUNCTION", int8Type, 0},
	{"SERVO1_FUNCTION", int16Type, 4}, {"SERVO2_FUNCTION", int16Type, 19}, {"SERVO3_FUNCTION", int16Type, 70},
	{"SERVO4_FUNCTION", int16Type, 21}, {"SERVO9_FUNCTION", int16Type, 0},
}

// arduWords are the texts of ArduPilot.
func arduWords(banner, battery string) words {
	return words{
		banner: banner, battery: battery, check: "PreArm: ", estimate: "EKF3 IMU0 is using GPS", armed: "Throttle armed",
		disarmed: "Throttle disarmed", reached: "Reached waypoint #%d", finished: "Mission complete, changing mode to RTL",
	}
}

// arduWatched looks at the number of the system only.
func arduWatched(v *Autopilot, f frame.Frame) bool {
	return float64(f.System) == v.value("SYSID_MYGCS")
}

// arduLevels are the two levels of the battery's voltage.
func arduLevels(actions map[int]conduct) []level {
	return []level{
		{limit: "BATT_LOW_VOLT", action: "BATT_FS_LOW_ACT", timer: "BATT_LOW_TIMER", actions: actions, text: "low"},
		{limit: "BATT_CRT_VOLT", action: "BATT_FS_CRT_ACT", timer: "BATT_LOW_TIMER", actions: actions, text: "critical"},
	}
}

// arduFence is the fence of ArduPilot.
var arduFence = fence{
	enable: "FENCE_ENABLE", kinds: "FENCE_TYPE", height: "FENCE_ALT_MAX", over: "FENCE_RADIUS", action: "FENCE_ACTION",
	actions: map[int]conduct{1: returns}, locks: "FENCE_OPTIONS", switched: true,
}
