package adapter

import (
	"math"

	"canopy/autopilot/service"
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

func px4Checks(more ...check) []check {
	return append([]check{
		{[]string{"NAV_DLL_ACT"}, true, on, "the loss of the ground station has no effect"},
		{[]string{"NAV_RCL_ACT"}, false, on, "the loss of the pilot's radio has no effect"},
		{[]string{"COM_LOW_BAT_ACT"}, true, on, "a low battery only warns"},
		{[]string{"GF_ACTION"}, false, func(_ *Adapter, v float64) bool { return v >= 2 },
			"a breach of the fence has no effect, or only warns"},
		{[]string{"COM_RC_OVERRIDE"}, false, func(_ *Adapter, v float64) bool { return int(v)&1 != 0 },
			"the pilot's sticks do not take over"},
	}, more...)
}

// px4Plane is PX4 on an aeroplane.
var px4Plane = &firmware{
	name: "PX4 plane", contract: "plane", autopilot: 12, types: []byte{1, 19, 20, 21, 22, 23, 24, 25},
	encoding: service.Bytewise, streams: px4Streams,
	modes: []mode{
		{"manual", px4Mode(1, 0)},
		{"stabilized", px4Mode(7, 0)}, {"stabilized", px4Mode(2, 0)}, {"stabilized", px4Mode(3, 0)},
		{"stabilized", px4Mode(5, 0)},
		{"loiter", px4Hold}, {"guided", px4Hold},
		{"auto", px4Mission},
		{"rtl", px4Return},
		{"takeoff", px4Takeoff},
		{"land", px4Land},
	},
	follows: []follow{{"takeoff", px4Hold, false, ""}, {"auto", px4Hold, true, ""}},
	natural: px4Natural,
	duties: []duty{
		takeoffHeight("MIS_TAKEOFF_ALT"),
		modeDuty(px4SetMode, "take-off height"),
		armDuty(),
		targetDuty(px4Target, []string{"radius"}, []string{"mode"}),
		speedDuty(func(a *Adapter) service.Order {
			return service.Order{ID: changeSpeed, Params: [7]float64{0, a.wanted("speed"), -1}}
		}, []string{"guided", "auto"}, airspeedHolds),
	},
	checks: px4Checks(check{[]string{"RWTO_TKOFF"}, false, on,
		"a take-off waits until somebody throws the aircraft"}),
	fences: px4Fences, either: true,
	none:     px4None,
	switched: "RC_MAP_FLTMODE", loiter: "Hold", circle: "NAV_LOITER_RAD", delivered: 80,
	margin: 25, level: 10, rest: anySpeed,
}

// px4Copter is PX4 on a rotorcraft. A take-off leaves Hold and ends in it.
var px4Copter = &firmware{
	name: "PX4 copter", contract: "copter", autopilot: 12, types: rotorcraft,
	encoding: service.Bytewise, streams: px4Streams,
	modes: []mode{
		{"stabilized", px4Mode(7, 0)}, {"stabilized", px4Mode(1, 0)}, {"stabilized", px4Mode(5, 0)},
		{"altitude_hold", px4Mode(2, 0)},
		{"loiter", px4Hold}, {"guided", px4Hold},
		{"brake", px4Hold},
		{"auto", px4Mission},
		{"rtl", px4Return},
		{"land", px4Land},
	},
	follows: []follow{{"guided", px4Takeoff, false, ""}, {"auto", px4Hold, true, ""}},
	natural: px4Natural,
	duties: []duty{
		modeDuty(px4SetMode),
		armDuty(),
		takeoffDuty(func(a *Adapter) service.Order {
			return service.Order{ID: navTakeoff, Params: [7]float64{0, 0, 0, math.NaN(), math.NaN(), math.NaN(),
				a.homeAltitude() + a.wanted("target_h")}}
		}),
		targetDuty(px4Target, nil, []string{"mode", "take-off"}),
		speedDuty(func(a *Adapter) service.Order {
			return service.Order{ID: changeSpeed, Params: [7]float64{1, a.wanted("speed"), -1}}
		}, []string{"guided", "auto"}, acknowledged),
	},
	checks: px4Checks(),
	fences: px4Fences, either: true,
	none:     px4None,
	switched: "RC_MAP_FLTMODE", loiter: "Hold",
	margin: 3, level: 2, rest: 1,
}

// px4Natural: each take-off ends in Hold.
var px4Natural = [][2]uint32{{px4Takeoff, px4Hold}}

// px4Streams are the messages of PX4 for groups that ArduPilot fills otherwise: ESTIMATOR_STATUS, WIND_COV.
var px4Streams = map[int]uint32{groupEstimator: 230, groupWind: 231}

// px4None: these commands need it where nothing is wanted.
var px4None = map[uint16][]int{navTakeoff: {3, 4, 5}, reposition: {3, 4, 5, 6}, orbit: {1, 2, 3}}
