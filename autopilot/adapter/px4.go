package adapter

import (
	"math"

	"github.com/canopy-uav/canopy/autopilot/service"
)

// PX4, as its documentation and sources describe it: never flown. Altitudes are above mean sea level. A target ends in
// Hold, which therefore is both the guided mode and loitering.

// px4Mode returns the number of a main mode and a sub mode.
func px4Mode(main, sub uint32) uint32 { return main<<16 | sub<<24 }

// The modes of PX4 that fly by themselves.
var (
	px4Takeoff = px4Mode(4, 2)
	px4Hold    = px4Mode(4, 3)
	px4Mission = px4Mode(4, 4)
	px4Return  = px4Mode(4, 5)
	px4Land    = px4Mode(4, 6)
)

// px4SetMode returns the command of a mode. A vehicle in Hold goes on to its target: where loitering is wanted,
// DO_REPOSITION without any number changes to Hold and stops it where it is.
func px4SetMode(a *Adapter, number uint32) service.Order {
	if a.firmware.shared(a.word()) {
		nan := math.NaN()
		return service.Order{ID: reposition, Params: [7]float64{-1, 1, 0, nan, nan, nan, nan}}
	}
	return service.Order{ID: setMode, Params: [7]float64{1, float64(number >> 16 & 0xFF), float64(number >> 24)}}
}

// px4Target returns the target. DO_REPOSITION ignores the radius, and circles with the last one: where a radius is
// known, the command is DO_ORBIT, which on an aeroplane is Hold, too.
func px4Target(a *Adapter) service.Order {
	o := targetOrder(a, globalInt, a.homeAltitude()+a.wanted("target_h"), math.NaN())
	o.Params[1] = 1 // it has no other way to Hold
	if r := a.radius(); r > 0 {
		o.ID = orbit
		o.Params[0], o.Params[1], o.Params[2] = r, math.NaN(), math.NaN()
	}
	return o
}

// px4Plane is PX4 on an aeroplane.
var px4Plane = px4(firmware{
	name: "PX4 plane", contract: "plane", types: []byte{1, 19, 20, 21, 22, 23, 24, 25},
	modes: []mode{
		{"manual", px4Mode(1, 0)},
		{"stabilized", px4Mode(7, 0)}, {"stabilized", px4Mode(2, 0)}, {"stabilized", px4Mode(3, 0)},
		{"stabilized", px4Mode(5, 0)},
		{"takeoff", px4Takeoff},
	},
	follows: []follow{{"takeoff", px4Hold, false, ""}},
	goals: []goal{
		takeoffHeight("MIS_TAKEOFF_ALT"),
		modeGoal(px4SetMode, "take-off height"),
		armGoal(),
		targetGoal(px4Target, []string{"radius"}, []string{"mode"}),
		speedGoal(func(a *Adapter) service.Order {
			return service.Order{ID: changeSpeed, Params: [7]float64{0, a.wanted("speed"), -1}}
		}, []string{"guided", "auto"}, airspeedHolds),
	},
	checks: []check{{[]string{"RWTO_TKOFF"}, false, on, "a take-off waits until somebody throws the aircraft"}},
	circle: "NAV_LOITER_RAD", delivered: 80,
	margin: 25, level: 10, rest: anySpeed,
})

// px4Copter is PX4 on a rotorcraft. A take-off leaves Hold and ends in it.
var px4Copter = px4(firmware{
	name: "PX4 copter", contract: "copter", types: rotorcraft,
	modes: []mode{
		{"stabilized", px4Mode(7, 0)}, {"stabilized", px4Mode(1, 0)}, {"stabilized", px4Mode(5, 0)},
		{"altitude_hold", px4Mode(2, 0)},
		{"brake", px4Hold},
	},
	follows: []follow{{"guided", px4Takeoff, false, ""}},
	goals: []goal{
		modeGoal(px4SetMode),
		armGoal(),
		takeoffGoal(func(a *Adapter) service.Order {
			return service.Order{ID: navTakeoff, Params: [7]float64{0, 0, 0, math.NaN(), math.NaN(), math.NaN(),
				a.homeAltitude() + a.wanted("target_h")}}
		}),
		targetGoal(px4Target, nil, []string{"mode", "take-off"}),
		speedGoal(func(a *Adapter) service.Order {
			return service.Order{ID: changeSpeed, Params: [7]float64{1, a.wanted("speed"), -1}}
		}, []string{"guided", "auto"}, acknowledged),
	},
	margin: 3, level: 2, rest: 1,
})

// px4 adds what the vehicles of PX4 have in common.
func px4(f firmware) *firmware {
	f.autopilot, f.encoding = 12, service.Bytewise
	f.switched, f.loiter = "RC_MAP_FLTMODE", "Hold"
	f.fences, f.either = px4Fences, true
	f.natural = [][2]uint32{{px4Takeoff, px4Hold}} // each take-off ends in Hold
	f.follows = append(f.follows, follow{"auto", px4Hold, true, ""})
	f.streams = map[int]uint32{groupEstimator: 230, groupWind: 231} // ESTIMATOR_STATUS, WIND_COV
	// These commands need what is not a number where nothing is wanted.
	f.none = map[uint16][]int{navTakeoff: {3, 4, 5}, reposition: {3, 4, 5, 6}, orbit: {1, 2, 3}}
	f.modes = append([]mode{{"loiter", px4Hold}, {"guided", px4Hold}, {"auto", px4Mission}, {"rtl", px4Return},
		{"land", px4Land}}, f.modes...)
	f.checks = append([]check{
		{[]string{"NAV_DLL_ACT"}, true, on, "the loss of the ground station has no effect"},
		{[]string{"NAV_RCL_ACT"}, false, on, "the loss of the pilot's radio has no effect"},
		{[]string{"COM_LOW_BAT_ACT"}, true, on, "a low battery only warns"},
		{[]string{"GF_ACTION"}, false, func(_ *Adapter, v float64) bool { return v >= 2 },
			"a breach of the fence has no effect, or only warns"},
		{[]string{"COM_RC_OVERRIDE"}, false, func(_ *Adapter, v float64) bool { return int(v)&1 != 0 },
			"the pilot's sticks do not take over"},
	}, f.checks...)
	return &f
}
