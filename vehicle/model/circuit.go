package model

import (
	"fmt"
	"math"
)

// Layout of the circuit aircraft's states.
const (
	circuitX = iota
	circuitY
	circuitAltitude
	circuitAirspeed
	circuitClimb
	circuitHeading
	circuitBank
)

// Layout of its commands.
const (
	circuitAirspeedCommand = iota
	circuitAltitudeCommand
	circuitHeadingCommand
	circuitNavigate
	circuitWaypoint
)

// waypoints is the number of waypoints of the circuit aircraft's autopilot.
const waypoints = 4

// circuit is the aircraft of A. Klöckner, Behavior Trees for UAV Mission Management, 2013, section 6: a point mass with
// its autopilot, for a take-off and traffic circuits. The paper gives times; the parameters are chosen to reproduce
// them. docs/vehicles-built-in.md describes it.
//
// Its derivatives have kinks where the autopilot limits acceleration, climb rate and bank, and jump where the waypoint
// is straight behind. None of them is a state event.
var circuit = &Vehicle{
	Name: "circuit",
	Text: "small aircraft for traffic circuits, 7 states: point mass with autopilot and waypoints",

	Parameters: parametersOf(new(circuitAircraft).bindings()),
	States: []State{
		{Variable{"x", "m", "position, ahead at the start"}, 1e-3, Between(-1e5, 1e5)},
		{Variable{"y", "m", "position, to the right at the start"}, 1e-3, Between(-1e5, 1e5)},
		{Variable{"h", "m", "altitude"}, 1e-3, Between(0, 6000)},
		{Variable{"V", "m/s", "airspeed"}, 1e-5, Between(0, 50)},
		{Variable{"w", "m/s", "climb rate"}, 1e-5, Between(-20, 20)},
		{Variable{"chi", "rad", "heading from x to y, not wrapped"}, 1e-6, Between(-1e4, 1e4)},
		{Variable{"phi", "rad", "bank angle, right wing down"}, 1e-6, Between(-1.5, 1.5)},
	},
	Commands: []Command{
		{Variable{"V_cmd", "m/s", "airspeed to fly at"}, 0, true, Between(0, 50)},
		{Variable{"h_cmd", "m", "altitude to fly at"}, 0, true, Between(0, 5000)},
		{Variable{"chi_cmd", "rad", "heading to fly at while it does not navigate"}, 0, true, Range{}},
		{Variable{"navigate", "1", "1: fly to the waypoint, 0: fly at chi_cmd"}, 0, false, Between(0, 1)},
		{Variable{"waypoint", "1", "number of the waypoint to fly to"}, 1, true, Between(1, waypoints)},
	},
	Outputs: []Output{
		{Variable{"distance", "m", "horizontal distance from the waypoint"}, []string{"waypoint"}},
	},
	New: func(parameters []float64) (Instance, error) {
		a := new(circuitAircraft)
		return a, assign(a.bindings(), parameters)
	},
}

// circuitAircraft is an instance of it.
type circuitAircraft struct {
	airspeedLag, acceleration             float64
	altitudeGain, climbLag, climbRate     float64
	headingGain, bankLag, bank, turnSpeed float64
	route                                 [waypoints]struct{ x, y float64 }
}

func (a *circuitAircraft) bindings() []binding {
	list := []binding{
		{Parameter{"autopilot.tau_V", "s", 3, 0.1, 60, Assumed, "time constant of the airspeed"}, &a.airspeedLag},
		{Parameter{"autopilot.a_max", "m/s^2", 1.5, 0.1, 20, Assumed, "largest acceleration"}, &a.acceleration},
		{Parameter{"autopilot.k_h", "1/s", 0.3, 0.01, 2, Assumed,
			"climb rate commanded per altitude error"}, &a.altitudeGain},
		{Parameter{"autopilot.tau_w", "s", 4, 0.1, 60, Assumed, "time constant of the climb rate"}, &a.climbLag},
		{Parameter{"autopilot.w_max", "m/s", 2.27, 0.1, 20, Assumed, "largest climb and sink rate"}, &a.climbRate},
		{Parameter{"autopilot.k_chi", "1/s", 0.6, 0.01, 5, Assumed,
			"turn rate commanded per heading error"}, &a.headingGain},
		{Parameter{"autopilot.tau_phi", "s", 1, 0.1, 60, Assumed, "time constant of the bank angle"}, &a.bankLag},
		{Parameter{"autopilot.phi_max_deg", "deg", 35, 1, 60, Assumed, "largest bank angle"}, &a.bank},
		{Parameter{"autopilot.V_turn", "m/s", 5, 0.1, 20, Assumed,
			"airspeed below which a turn is no faster"}, &a.turnSpeed},
	}
	for i, at := range [waypoints][2]float64{{1910, 0}, {1910, 700}, {300, 700}, {300, 0}} {
		for k, axis := range []struct {
			letter string
			to     *float64
		}{{"x", &a.route[i].x}, {"y", &a.route[i].y}} {
			list = append(list, binding{Parameter{fmt.Sprintf("route.%s%d", axis.letter, i+1), "m", at[k], -1e5, 1e5,
				Assumed, fmt.Sprintf("%s of waypoint %d", axis.letter, i+1)}, axis.to})
		}
	}
	return list
}

// Initial writes the state at rest at the origin.
func (a *circuitAircraft) Initial(y []float64) { clear(y) }

// Derivatives makes airspeed, climb rate and bank angle follow their commands; the other states follow from these.
//
//	dV/dt = (Vcmd - V)/tauV within the largest acceleration
//	dw/dt = (wcmd - w)/tauw,  wcmd = k (hcmd - h) within the largest climb rate
//	dphi/dt = (phicmd - phi)/tauphi,  phicmd = atan(V k (heading error)/g) within the largest bank
//	dchi/dt = g tan(phi)/V,  V no less than in a turn
func (a *circuitAircraft) Derivatives(_ float64, y, commands, dydt []float64) {
	V, w, phi := y[circuitAirspeed], y[circuitClimb], y[circuitBank]
	sin, cos := math.Sincos(y[circuitHeading])
	bank := math.Atan(V * a.headingGain * a.headingError(y, commands) / gravity)
	climb := within(a.altitudeGain*(commands[circuitAltitudeCommand]-y[circuitAltitude]), a.climbRate)
	dydt[circuitX], dydt[circuitY], dydt[circuitAltitude] = V*cos, V*sin, w
	dydt[circuitAirspeed] = within((commands[circuitAirspeedCommand]-V)/a.airspeedLag, a.acceleration)
	dydt[circuitClimb] = (climb - w) / a.climbLag
	dydt[circuitHeading] = gravity * math.Tan(phi) / max(V, a.turnSpeed)
	dydt[circuitBank] = (within(bank, a.bank*degree) - phi) / a.bankLag
}

// headingError is the angle to turn [rad], positive to the right: to the waypoint or to the commanded heading.
func (a *circuitAircraft) headingError(y, commands []float64) float64 {
	bearing := commands[circuitHeadingCommand]
	if commands[circuitNavigate] != 0 {
		dx, dy := a.ahead(y, commands)
		bearing = math.Atan2(dy, dx)
	}
	return math.Remainder(bearing-y[circuitHeading], 2*math.Pi)
}

// ahead is the vector from the aircraft to the waypoint [m].
func (a *circuitAircraft) ahead(y, commands []float64) (dx, dy float64) {
	i := int(max(1, min(waypoints, math.Round(commands[circuitWaypoint])))) - 1
	return a.route[i].x - y[circuitX], a.route[i].y - y[circuitY]
}

// Outputs writes the distance.
func (a *circuitAircraft) Outputs(_ float64, y, commands, out []float64) {
	out[0] = math.Hypot(a.ahead(y, commands))
}

// within limits the magnitude of a value.
func within(v, most float64) float64 { return max(-most, min(most, v)) }
