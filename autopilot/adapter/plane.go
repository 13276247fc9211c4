package adapter

import (
	"github.com/canopy-uav/canopy/autopilot/service"
)

// arduPlane is ArduPlane, as measured on its simulation (4.7.0-dev). It never hovers: it circles the target.
// Asked for 80 and 120 m, it comes as near as 73 and 113 m, and then flies 95 to 101, and 134 to 139 m.
// GUIDED_CHANGE_ALTITUDE is not used: after it the altitudes of targets are ignored.
var arduPlane = &firmware{
	name: "ArduPlane", contract: "plane", autopilot: 3, types: []byte{1, 19, 20, 21, 22, 23, 24, 25},
	encoding: service.Cast,
	modes: []mode{
		{"manual", 0},
		{"stabilized", 2}, {"stabilized", 3}, {"stabilized", 4}, {"stabilized", 5}, {"stabilized", 6}, {"stabilized", 7},
		{"guided", 15},
		{"auto", 10},
		{"loiter", 12}, {"loiter", 1},
		{"rtl", 11}, {"rtl", 21},
		{"takeoff", 13},
		{"land", 26},
	},
	follows: []follow{{"auto", 11, true, ""}, {"rtl", 10, false, "RTL_AUTOLAND"}}, // which lands by the mission
	goals: append([]goal{
		takeoffHeight("TKOFF_ALT"),
		modeGoal(setModeNumber, "take-off height"),
		armGoal(),
		targetGoal(func(a *Adapter) service.Order { // the speed in it is ignored
			return targetOrder(a, relativeInt, a.wanted("target_h"), 0)
		}, []string{"radius"}, []string{"mode"}),
		speedGoal(func(a *Adapter) service.Order {
			if number, _ := a.firmware.number("guided"); number == a.facts.heartbeat.CustomMode {
				return service.Order{ID: guidedSpeed, Int: true, Params: [7]float64{0, a.wanted("speed")}}
			}
			return service.Order{ID: changeSpeed, Params: [7]float64{0, a.wanted("speed"), -1}}
		}, []string{"guided", "auto"}, airspeedHolds),
		{ // DO_LAND_START: to the landing sequence of the mission; without one, the mode AUTOLAND, which not all have
			name: "land", slots: []string{"wanted_mode"},
			wanted: func(a *Adapter) bool { return a.word() == "land" },
			holds: func(a *Adapter, t *attempt) verdict {
				auto, _ := a.firmware.number("auto")
				lands := a.shows("land") || a.facts.heartbeat.CustomMode == auto
				return judge(lands && (t.phase == accepted || t.phase == proved))
			},
			by: groupHeartbeat, within: 3 * second, repeat: service.Guarded,
			command: func(a *Adapter) service.Order {
				auto, _ := a.firmware.number("auto")
				a.watch.remember(auto, a.now)
				return service.Order{ID: landStart}
			},
			instead: func(a *Adapter) service.Order {
				number, _ := a.firmware.number("land")
				a.watch.remember(number, a.now)
				return setModeNumber(a, number)
			},
			neither: "there is no landing in the vehicle's mission, and no AUTOLAND: ",
			lost:    left,
		},
	}, payloadGoals...),
	checks: append([]check{
		{[]string{"FS_GCS_ENABL"}, true, on, "the loss of the ground station has no effect"},
		{[]string{"FS_LONG_ACTN"}, false, on, "a long failsafe lets AUTO and GUIDED continue"},
		{[]string{"THR_FAILSAFE"}, false, on, "the loss of the pilot's radio has no effect"},
		{[]string{"STICK_MIXING"}, false, off, "the pilot's sticks steer in AUTO and GUIDED without a change of the mode"},
		{[]string{"RTL_AUTOLAND"}, false, on, "a return circles home until the battery is empty"},
		{[]string{"FLTMODE_GCSBLOCK"}, false, off, "modes are blocked for ground stations"},
	}, arduChecks...),
	fences: arduFences, switchable: true,
	switched: "FLTMODE_CH", circle: "WP_LOITER_RAD", delivered: 60,
	margin: 25, level: 5, rest: anySpeed,
}
