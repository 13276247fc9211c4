package model

import "math"

// Layout of the quadrotor's states.
const (
	quadX = iota
	quadY
	quadAltitude
	quadVX
	quadVY
	quadClimb
	quadCharge
)

// Layout of its commands.
const (
	quadVXCommand = iota
	quadVYCommand
	quadClimbCommand
	quadRotors
)

// quad is a small quadrotor: a point mass whose autopilot follows velocity commands, with a battery that hovering
// drains. docs/vehicles-built-in.md describes it.
var quad = &Vehicle{
	Name: "quad",
	Text: "small quadrotor for inspections, 7 states: point mass with velocity autopilot, wind, battery",

	Parameters: parametersOf(new(quadrotor).bindings()),
	States: []State{
		{Variable{"x", "m", "position to the north of the start"}, 1e-3, Between(-1e5, 1e5)},
		{Variable{"y", "m", "position to the east of the start"}, 1e-3, Between(-1e5, 1e5)},
		{Variable{"h", "m", "altitude above the start"}, 1e-3, Between(0, 5000)},
		{Variable{"vx", "m/s", "velocity to the north, over ground"}, 1e-5, Between(-30, 30)},
		{Variable{"vy", "m/s", "velocity to the east, over ground"}, 1e-5, Between(-30, 30)},
		{Variable{"w", "m/s", "climb rate"}, 1e-5, Between(-10, 10)},
		{Variable{"soc", "1", "state of charge"}, 1e-7, Between(0, 1)},
	},
	Commands: []Command{
		{Variable{"vx_cmd", "m/s", "velocity to the north to fly at"}, 0, false, Between(-30, 30)},
		{Variable{"vy_cmd", "m/s", "velocity to the east to fly at"}, 0, false, Between(-30, 30)},
		{Variable{"w_cmd", "m/s", "climb rate to fly at"}, 0, false, Between(-10, 10)},
		{Variable{"rotors", "1", "1: the rotors turn, 0: they are stopped, only on the ground"}, 1, true, Between(0, 1)},
	},
	Outputs: []Output{
		{Variable{"distance", "m", "horizontal distance from the start"}, nil},
		{Variable{"P", "W", "power drawn from the battery"}, []string{"rotors"}},
	},
	New: func(parameters []float64) (Instance, error) {
		q := new(quadrotor)
		return q, assign(q.bindings(), parameters)
	},
}

// quadrotor is an instance of it.
type quadrotor struct {
	mass, dragArea, discArea, efficiency, energy, electronics float64
	lag, acceleration, speed, climbRate                       float64
	density, windX, windY                                     float64
}

func (q *quadrotor) bindings() []binding {
	return []binding{
		{Parameter{"body.m", "kg", 1.4, 0.2, 25, Assumed, "mass"}, &q.mass},
		{Parameter{"body.CdA", "m^2", 0.02, 0, 1, Assumed, "drag area"}, &q.dragArea},
		{Parameter{"rotors.A", "m^2", 0.18, 0.01, 10, Assumed, "disc area of all rotors"}, &q.discArea},
		{Parameter{"rotors.eta", "1", 0.55, 0.1, 1, Assumed,
			"ideal power over electrical power"}, &q.efficiency},
		{Parameter{"battery.E_Wh", "W h", 60, 1, 2000, Assumed, "energy of the full battery"}, &q.energy},
		{Parameter{"electronics.P", "W", 8, 0, 500, Assumed, "power of electronics and payload"}, &q.electronics},
		{Parameter{"autopilot.tau", "s", 0.6, 0.05, 10, Assumed, "time constant of the velocities"}, &q.lag},
		{Parameter{"autopilot.a_max", "m/s^2", 4, 0.1, 20, Assumed,
			"largest acceleration, along each axis"}, &q.acceleration},
		{Parameter{"autopilot.v_max", "m/s", 15, 0.5, 30, Assumed, "largest horizontal speed"}, &q.speed},
		{Parameter{"autopilot.w_max", "m/s", 3, 0.1, 10, Assumed, "largest climb and sink rate"}, &q.climbRate},
		{Parameter{"air.rho", "kg/m^3", 1.225, 0.2, 1.5, Published,
			"density of the air, that of the standard atmosphere at sea level"}, &q.density},
		{Parameter{"wind.x", "m/s", 0, -30, 30, Assumed, "wind towards the north"}, &q.windX},
		{Parameter{"wind.y", "m/s", 0, -30, 30, Assumed, "wind towards the east"}, &q.windY},
	}
}

// Initial writes the state on the ground with a full battery.
func (q *quadrotor) Initial(y []float64) {
	clear(y)
	y[quadCharge] = 1
}

// Derivatives makes the velocities follow their commands with a lag, within the maximum acceleration, and discharges
// the battery. Horizontal commands are limited to the maximum speed. With stopped rotors the commanded velocity is
// zero.
//
//	dv/dt = (vcmd - v)/tau within the largest acceleration
//	dsoc/dt = -P/E
func (q *quadrotor) Derivatives(_ float64, y, commands, dydt []float64) {
	cx, cy, cw := 0.0, 0.0, 0.0
	if commands[quadRotors] != 0 {
		cx, cy, cw = commands[quadVXCommand], commands[quadVYCommand], within(commands[quadClimbCommand], q.climbRate)
		shorter := min(1, q.speed/max(math.Hypot(cx, cy), 1e-9))
		cx, cy = shorter*cx, shorter*cy
	}
	dydt[quadX], dydt[quadY], dydt[quadAltitude] = y[quadVX], y[quadVY], y[quadClimb]
	dydt[quadVX] = within((cx-y[quadVX])/q.lag, q.acceleration)
	dydt[quadVY] = within((cy-y[quadVY])/q.lag, q.acceleration)
	dydt[quadClimb] = within((cw-y[quadClimb])/q.lag, q.acceleration)
	dydt[quadCharge] = -q.power(y, commands) / (3600 * q.energy)
}

// power is the power for hovering by momentum theory, climbing and drag, divided by the efficiency, plus that of the
// electronics (J. G. Leishman, Principles of Helicopter Aerodynamics, 2006, sections 2.2 and 5.5, without the reduction
// of induced power in forward flight, so conservative):
//
//	P = ((m g)^(3/2)/sqrt(2 rho A) + m g w + rho CdA V^3/2)/eta + P0,  w no less than 0, V through the air
func (q *quadrotor) power(y, commands []float64) float64 {
	if commands[quadRotors] == 0 {
		return q.electronics
	}
	weight := q.mass * gravity
	hover := weight * math.Sqrt(weight/(2*q.density*q.discArea))
	V := math.Hypot(y[quadVX]-q.windX, y[quadVY]-q.windY)
	return (hover+weight*max(y[quadClimb], 0)+q.density*q.dragArea*V*V*V/2)/q.efficiency + q.electronics
}

// Outputs writes distance and power.
func (q *quadrotor) Outputs(_ float64, y, commands, out []float64) {
	out[0], out[1] = math.Hypot(y[quadX], y[quadY]), q.power(y, commands)
}
