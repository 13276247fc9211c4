package adapter

import (
	"math"

	"github.com/canopy-uav/canopy/autopilot/service"
)

// arduCopter is ArduCopter 4.7.0-dev, as its sources show it and as measured on its simulation. Its modes LOITER (5)
// and POSHOLD (16) obey the throttle stick: with the stick at its lowest they sink to the ground. BRAKE (17) holds, and
// is what is commanded for loitering.
var arduCopter = &firmware{
	name: "ArduCopter", contract: "copter", autopilot: 3, types: rotorcraft,
	encoding: service.Cast,
	modes: []mode{
		{"stabilized", 0}, {"stabilized", 1}, {"stabilized", 13},
		{"altitude_hold", 2}, {"altitude_hold", 5}, {"altitude_hold", 16},
		{"guided", 4},
		{"auto", 3},
		{"rtl", 6}, {"rtl", 21}, {"rtl", 27},
		{"brake", 17}, {"loiter", 17},
		{"land", 9},
	},
	goals: append([]goal{
		modeGoal(setModeNumber),
		armGoal(),
		takeoffGoal(func(a *Adapter) service.Order {
			return service.Order{ID: navTakeoff, Params: [7]float64{6: a.wanted("target_h")}}
		}),
		targetGoal(func(a *Adapter) service.Order {
			return targetOrder(a, relativeInt, a.wanted("target_h"), math.NaN())
		}, nil, []string{"mode", "take-off"}),
		speedGoal(func(a *Adapter) service.Order {
			return service.Order{ID: changeSpeed, Params: [7]float64{1, a.wanted("speed"), -1}}
		}, []string{"guided", "auto"}, acknowledged),
	}, payloadGoals...),
	checks: append([]check{
		{[]string{"FS_GCS_ENABLE"}, true, on, "the loss of the ground station has no effect"},
		{[]string{"FS_THR_ENABLE"}, false, on, "the loss of the pilot's radio has no effect"},
		{[]string{"FS_EKF_ACTION"}, true, on, "the loss of the position estimate has no effect"},
		{[]string{"FS_DR_ENABLE"}, false, on, "dead reckoning has no effect"},
	}, arduChecks...),
	fences: arduFences, switchable: true,
	none:     map[uint16][]int{reposition: {3}},
	switched: "FLTMODE_CH", loiter: "BRAKE",
	margin: 3, level: 2, rest: 1,
}

// rotorcraft are the types of vehicles that hover: quadrotor, coaxial, helicopter, hexa-, octo-, tri-, dodeca- and
// decarotor.
var rotorcraft = []byte{2, 3, 4, 13, 14, 15, 29, 35}
