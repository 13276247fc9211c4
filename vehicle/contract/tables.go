package contract

import (
	_ "embed" // the libraries are documents
	"math"
	"slices"
)

//go:embed plane.xml
var planeLibrary string

//go:embed copter.xml
var copterLibrary string

// Plane is the contract of aeroplanes.
var Plane = &Contract{
	Name: "plane",
	Text: "aeroplanes that circle where they wait",
	Signals: slices.Concat(signals(planeModes), []Signal{{Name: "loiter_radius", Unit: "m", Type: Real, Source: Clock,
		Text: "radius of the vehicle's own circles"}}, payloadSignals),
	Library: equipped(planeLibrary),
	Slots: slices.Concat(slots(planeModes), []Slot{{Name: "radius", Unit: "m", Type: Real, Min: 10, Max: 5000,
		Text: "radius of the circle round the target, clockwise; 0: the vehicle's own"}}, payloadSlots),
	Payload: 7,
}

// Copter is the contract of rotorcraft that hover.
var Copter = &Contract{
	Name:    "copter",
	Text:    "rotorcraft that hover where they wait",
	Signals: append(signals(copterModes), payloadSignals...),
	Library: equipped(copterLibrary),
	Slots:   append(slots(copterModes), payloadSlots...),
	Payload: 6,
}

// The modes of flight. None is a mode that the contract does not list and, as a wanted mode, no command.
var (
	planeModes  = []string{"none", "manual", "stabilized", "guided", "auto", "loiter", "rtl", "takeoff", "land"}
	copterModes = []string{"none", "stabilized", "altitude_hold", "guided", "auto", "loiter", "rtl", "brake", "land"}
)

// signals returns the signals of vehicles with the given modes.
func signals(modes []string) []Signal {
	r := func(name, unit string, s Source, text string) Signal {
		return Signal{Name: name, Unit: unit, Text: text, Type: Real, Source: s}
	}
	b := func(name string, s Source, text string) Signal {
		return Signal{Name: name, Unit: "1", Text: text, Type: Boolean, Source: s}
	}
	return []Signal{
		r("north", "m", Position, "position north of home"),
		r("east", "m", Position, "position east of home"),
		r("h", "m", Position, "height above home"),
		r("alt", "m", Position, "height above mean sea level"),
		r("lat", "rad", Position, "latitude"),
		r("lon", "rad", Position, "longitude"),
		r("v_north", "m/s", Position, "speed over ground to the north"),
		r("v_east", "m/s", Position, "speed over ground to the east"),
		r("climb", "m/s", Position, "climb rate"),
		r("groundspeed", "m/s", Position, "horizontal speed over ground"),
		r("target_distance", "m", Position, "horizontal distance from the target; 0 while there is no target"),
		b("reached", Position, "the target is reached: position and height are within the vehicle's margin"),
		r("airspeed", "m/s", Air, "airspeed"),
		r("heading", "rad", Attitude, "heading from north to east, 0 to 2 pi"),
		r("roll", "rad", Attitude, "bank angle, right wing down"),
		r("battery", "1", Battery, "charge that is left, 0 to 1"),
		r("battery_voltage", "V", Battery, "voltage of the battery"),
		r("wind_north", "m/s", Wind, "wind, blowing to the north"),
		r("wind_east", "m/s", Wind, "wind, blowing to the east"),
		{Name: "mode", Unit: "1", Type: Enumeration, Values: modes, Source: Mode, Text: "mode of flight"},
		b("armed", Mode, "the motors are enabled"),
		b("in_air", Landed, "the vehicle flies"),
		b("ready", Health, "the vehicle passes its checks before arming, and nothing else is against it"),
		b("estimator_ok", Health, "the estimate of the position is good"),
		b("gps_ok", GPS, "satellite navigation has a three-dimensional fix"),
		b("home_known", Home, "the position of home is known"),
		b("fence_breached", Fence, "the vehicle is outside its fence"),
		b("link", Clock, "the vehicle is heard"),
		b("pilot", Clock, "the pilot took over; until the operator resumes"),
		b("failsafe", Clock, "a failsafe of the vehicle took over; until the operator resumes"),
		b("refused", Clock, "the vehicle has refused a command that it still ought to follow"),
	}
}

// slots returns the slots of vehicles with the given modes. The three coordinates of a target are commanded together,
// while the wanted mode is guided and the height is not 0.
func slots(modes []string) []Slot {
	return []Slot{
		{Name: "arm", Unit: "1", Type: Boolean, Max: 1,
			Text: "enable the motors; false after true: disable them, on the ground only"},
		{Name: "wanted_mode", Unit: "1", Type: Enumeration, Values: modes, Max: float64(len(modes) - 1),
			Text: "mode of flight; none: no command"},
		{Name: "target_north", Unit: "m", Type: Real, Min: math.Inf(-1), Max: math.Inf(1),
			Text: "target north of home"},
		{Name: "target_east", Unit: "m", Type: Real, Min: math.Inf(-1), Max: math.Inf(1),
			Text: "target east of home"},
		{Name: "target_h", Unit: "m", Type: Real, Min: 1, Max: 4000,
			Text: "height of the target above home, also of a take-off; 0: no target"},
		{Name: "speed", Unit: "m/s", Type: Real, Min: 0.1, Max: 100,
			Text: "airspeed of planes, speed over ground of copters; 0: the vehicle's own"},
	}
}
