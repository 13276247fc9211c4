package model

import (
	"fmt"
	"math"
	"slices"
)

// Layout of the states.
const (
	stateNorth = iota
	stateEast
	stateAltitude
	stateClimb
	stateAirspeed
	stateAirspeedRate
	stateCourse
	stateBank
	stateLeft                               // drive: current, speed, integral, winding temperature
	stateRight   = stateLeft + 4            // the other drive
	stateBattery = stateRight + 4           // state of charge, two RC voltages, temperature
	statePanelT  = stateBattery + 4         // panel temperatures
	statePanelV  = statePanelT + panelCount // panel voltages
	stateCount   = statePanelV + panelCount
)

// Layout of the commands.
const (
	commandCL = iota
	commandAltitude
	commandPayload
	commandHoldNorth
	commandHoldEast
	commandHoldRadius
	commandElectrolyser
)

// solar is the solar high-altitude aircraft of the paper's solar day: a point mass on a commanded trajectory, two
// electric drives, a battery and 26 solar panels. docs/vehicles-built-in.md describes it.
//
// Its derivatives are continuous except for two jumps far below any tolerance: 1e-6 of the pressure, which the standard
// rounds at the tropopause, and 2 mW of power when the first ray of the night falls on a panel. They have kinks where a
// panel turns away from the sun, where the battery's current changes sign, at both ends of the taper of its charge
// power, and at the tropopause. None of them is a state event. Measured on the day, with the implicit integrator at a
// relative tolerance of 1e-6 against the explicit one at 1e-10: no event of the mission is off by more than 0.16 s.
// Restarting the integrator at every kink gains no accuracy (0.3 s) and doubles the evaluations: a full battery keeps
// the current at zero, and its sign changes four thousand times.
var solar = &Vehicle{
	Name: "solar",
	Text: "electric high-altitude solar aircraft, 72 states: point mass, autopilot, two drives, battery, 26 panels",

	Parameters: parametersOf(new(aircraft).bindings()),
	States:     solarStates(),
	Commands: []Command{
		{Variable{"CL_cmd", "1", "lift coefficient to fly at, sets the airspeed"}, 1.10, true, Between(0.2, 2)},
		{Variable{"h_cmd", "m", "altitude to fly at"}, 6000, true, Between(0, 20000)},
		{Variable{"payload", "1", "1: payload on, 0: payload off"}, 0, false, Between(0, 1)},
		{Variable{"hold_north", "m", "holding point, north of the origin"}, 0, true, Range{}},
		{Variable{"hold_east", "m", "holding point, east of the origin"}, 0, true, Range{}},
		{Variable{"hold_radius", "m", "radius of the circle around the holding point"}, 1500, true, AtLeast(1)},
		{Variable{"electrolyser", "W", "power that loads a fuel cell; assumed, the aircraft has none"}, 0, false,
			Between(0, 5000)},
	},
	Outputs: solarOutputs(),
	New:     newAircraft,
}

func solarStates() []State {
	states := []State{
		{Variable{"x_N", "m", "position north of the origin"}, 1e-2, Range{}},
		{Variable{"y_E", "m", "position east of the origin"}, 1e-2, Range{}},
		{Variable{"h", "m", "altitude"}, 1e-3, Between(0, 20000)},
		{Variable{"w", "m/s", "climb rate"}, 1e-4, Range{}},
		{Variable{"v_eas", "m/s", "equivalent airspeed"}, 1e-4, AtLeast(1)},
		{Variable{"v_eas_dot", "m/s^2", "rate of the equivalent airspeed"}, 1e-5, Range{}},
		{Variable{"chi", "rad", "course from north, clockwise, not wrapped"}, 1e-5, Range{}},
		{Variable{"phi", "rad", "bank angle, right wing down"}, 1e-5, Between(-1.5, 1.5)},
	}
	for _, side := range []struct{ letter, text string }{{"L", "left"}, {"R", "right"}} {
		states = append(states,
			State{Variable{side.letter + "_i", "A", side.text + " motor current"}, 1e-4, Range{}},
			State{Variable{side.letter + "_omega", "rad/s", side.text + " motor speed"}, 1e-4, AtLeast(0)},
			State{Variable{side.letter + "_xi", "rad", side.text + " motor, integral of the speed error"}, 1e-4, Range{}},
			State{Variable{side.letter + "_Tw", "K", side.text + " motor, winding temperature"}, 1e-3, Between(150, 600)})
	}
	states = append(states,
		State{Variable{"soc", "1", "battery state of charge"}, 1e-7, Between(0, 1)},
		State{Variable{"V1", "V", "battery, voltage of the fast RC element"}, 1e-5, Range{}},
		State{Variable{"V2", "V", "battery, voltage of the slow RC element"}, 1e-5, Range{}},
		State{Variable{"T_bat", "K", "battery temperature"}, 1e-3, Between(150, 450)})
	for _, kind := range []struct {
		letter, unit, text string
		within             Range
	}{{"T", "K", "temperature", Between(150, 450)}, {"V", "V", "voltage", AtLeast(0)}} {
		for i := range panelCount {
			name, text := fmt.Sprintf("%sp%02d", kind.letter, i), fmt.Sprintf("panel %d, %s", i, kind.text)
			states = append(states, State{Variable{name, kind.unit, text}, 1e-3, kind.within})
		}
	}
	return states
}

// snapshot holds the intermediate results of an evaluation of the derivatives, in order of computation.
type snapshot struct {
	air                   air
	speed                 float64 // true airspeed [m/s]
	massFlux              float64 // ln(rho V/(kg/(m^2 s)))
	sinPath, cosPath      float64 // of the path angle
	sinCourse, cosCourse  float64
	sinBank, cosBank      float64
	distance              float64 // from the holding point [m]
	lift, drag            float64 // coefficients
	dragForce, required   float64 // drag, thrust required by the trajectory [N]
	thrust, motors        float64 // of both drives [N], [W]
	light                 sunlight
	available, irradiance float64 // solar power [W], mean irradiance on the panels [W/m^2]
	load, taken, drawn    float64 // powers of the bus: all loads, from the panels, from the battery [W]
	current, bus          float64 // of the battery [A], [V]
}

// aircraft is an instance of the solar aircraft. Its parameters and the values derived from them are constant after
// newAircraft; the rest is scratch memory.
type aircraft struct {
	site      site
	airframe  airframe
	autopilot autopilot
	propeller propeller
	motor     motor
	sky       clearSky
	panels    panels
	battery   battery
	loads     loads
	initial   initial

	now     snapshot
	light   daylight // at lightAt
	lightAt float64
	dydt    [stateCount]float64 // of Outputs
}

// loads are the consumers other than the motors.
type loads struct{ avionics, payload float64 }

func (l *loads) bindings() []binding {
	return []binding{
		{Parameter{"loads.avionics", "W", 50, 0, 5000, Assumed, "power of the avionics"}, &l.avionics},
		{Parameter{"loads.payload", "W", 30, 0, 5000, Assumed, "power of the payload when it is on"}, &l.payload},
	}
}

// initial is the flight at t = 0.
type initial struct{ north, east, course, altitude, lift, charge float64 }

func (i *initial) bindings() []binding {
	return []binding{
		{Parameter{"initial.x0", "m", -20000, -1e6, 1e6, Assumed, "position at t = 0, north of the origin"}, &i.north},
		{Parameter{"initial.y0", "m", -8000, -1e6, 1e6, Assumed, "position at t = 0, east of the origin"}, &i.east},
		{Parameter{"initial.chi0_deg", "deg", 20, -360, 360, Assumed, "course at t = 0"}, &i.course},
		{Parameter{"initial.h", "m", 6000, 0, 18000, Assumed, "altitude at t = 0"}, &i.altitude},
		{Parameter{"initial.CL", "1", 1.10, 0.2, 2, Assumed, "lift coefficient of the trim at t = 0"}, &i.lift},
		{Parameter{"initial.soc0", "1", 0.91, 0, 1, Assumed, "battery state of charge at t = 0"}, &i.charge},
	}
}

func (a *aircraft) bindings() []binding {
	return slices.Concat(a.site.bindings(), a.airframe.bindings(), a.propeller.bindings(), a.motor.bindings(),
		a.panels.bindings(), a.sky.bindings(), a.battery.bindings(), a.loads.bindings(), a.autopilot.bindings(),
		a.initial.bindings())
}

func newAircraft(parameters []float64) (Instance, error) {
	a := &aircraft{lightAt: math.NaN()}
	if err := assign(a.bindings(), parameters); err != nil {
		return nil, err
	}
	if !a.site.derive() {
		return nil, fmt.Errorf("%w: there is no day %g-%g-%g", ErrParameters, a.site.year, a.site.month, a.site.day)
	}
	if !a.panels.derive() {
		return nil, fmt.Errorf("%w: solar.Imp and solar.Vmp must lie below solar.Isc and solar.Voc", ErrParameters)
	}
	a.airframe.derive()
	a.propeller.derive()
	a.battery.derive()
	a.sky.derive(a.site.dayOfYear)
	return a, nil
}

// Initial is straight and level flight with the drives in trim, their windings 10 K and the battery 40 K warmer than
// the air (assumed), the panels as cold as the air.
func (a *aircraft) Initial(y []float64) {
	clear(y)
	air := standardAir(a.initial.altitude)
	airspeed := a.airframe.airspeed(a.initial.lift)
	speed := airspeed * math.Sqrt(seaLevelDensity/air.density)
	y[stateNorth], y[stateEast] = a.initial.north, a.initial.east
	y[stateAltitude], y[stateAirspeed] = a.initial.altitude, airspeed
	y[stateCourse] = a.initial.course * degree

	thrust := 0.5 * air.density * speed * speed * a.airframe.area * a.airframe.drag(a.initial.lift) / 2
	n := a.propeller.speed(thrust, speed, air.density)
	thrust = a.propeller.thrust(n, speed, air.density)
	omega := 2 * math.Pi * n
	current := a.motor.feedForward(a.propeller.power(thrust, n, speed, air.density), omega)
	for _, drive := range []int{stateLeft, stateRight} {
		y[drive], y[drive+1], y[drive+3] = current, omega, air.temperature+10
	}
	y[stateBattery], y[stateBattery+3] = a.initial.charge, air.temperature+40
	for i := range panelCount {
		y[statePanelT+i] = air.temperature
		y[statePanelV+i] = a.panels.terms.mppFraction * a.panels.terms.openCircuit(air.temperature, 0)
	}
}

// Derivatives follows the causal order: the commanded trajectory, the thrust that it requires, the drives that deliver
// it, the panels in the resulting attitude, the battery that balances the bus.
func (a *aircraft) Derivatives(t float64, y, commands, dydt []float64) {
	y, dydt = y[:stateCount], dydt[:stateCount]
	now := &a.now
	now.air = standardAir(y[stateAltitude])
	a.fly(y, commands, dydt)
	a.drive(y, dydt)
	a.illuminate(t, y[stateAltitude])
	now.available, now.irradiance = a.panels.derivatives(&now.light, now.air.temperature, now.massFlux,
		y[statePanelT:statePanelV], y[statePanelV:], dydt[statePanelT:statePanelV], dydt[statePanelV:])
	a.balance(y[stateBattery:statePanelT], dydt[stateBattery:statePanelT], commands)
}

// fly writes the derivatives of the flight: climb rate and equivalent airspeed follow their commands through filters,
// the bank angle the circle round the holding point. It computes the forces on the point mass from the inverted
// equations of motion.
//
//	V = veas sqrt(rho0/rho),  dV/dt = dveas/dt sqrt(rho0/rho) - V/2 dln(rho)/dh w,  sin(gamma) = w/V
//	L cos(phi) = m (g cos(gamma) + V dgamma/dt),  T = D + m (g sin(gamma) + dV/dt)
func (a *aircraft) fly(y, commands, dydt []float64) {
	now := &a.now
	w, airspeed, airspeedRate := y[stateClimb], y[stateAirspeed], y[stateAirspeedRate]
	CL, density := commands[commandCL], now.air.density
	dilution := math.Sqrt(seaLevelDensity / density)
	wanted := a.airframe.airspeed(CL)
	glide := wanted * dilution * a.airframe.drag(CL) / CL
	climb := a.autopilot.climbCommand(commands[commandAltitude]-y[stateAltitude], glide)
	climbRate := (climb - w) / a.autopilot.climbLag
	V := airspeed * dilution
	acceleration := airspeedRate*dilution - 0.5*V*now.air.densityGradient*w
	sinPath := max(-0.5, min(0.5, w/V))
	cosPath := math.Sqrt(1 - sinPath*sinPath)
	pathRate := (climbRate - acceleration*sinPath) / (V * cosPath)

	sinCourse, cosCourse := math.Sincos(y[stateCourse])
	sinBank, cosBank := math.Sincos(y[stateBank])
	north, east := y[stateNorth]-commands[commandHoldNorth], y[stateEast]-commands[commandHoldEast]
	bank, distance := a.autopilot.bankCommand(north, east, sinCourse, cosCourse, V, commands[commandHoldRadius])

	omega := a.autopilot.airspeedFrequency
	dydt[stateNorth] = V * cosPath * cosCourse
	dydt[stateEast] = V * cosPath * sinCourse
	dydt[stateAltitude] = w
	dydt[stateClimb] = climbRate
	dydt[stateAirspeed] = airspeedRate
	dydt[stateAirspeedRate] = omega*omega*(wanted-airspeed) - 2*omega*airspeedRate
	dydt[stateCourse] = gravity * sinBank / (cosBank * V)
	dydt[stateBank] = (bank - y[stateBank]) / a.autopilot.bankLag

	mass := a.airframe.mass
	pressureArea := 0.5 * density * V * V * a.airframe.area
	now.speed, now.massFlux, now.distance = V, log(density*V), distance
	now.sinPath, now.cosPath = sinPath, cosPath
	now.sinCourse, now.cosCourse, now.sinBank, now.cosBank = sinCourse, cosCourse, sinBank, cosBank
	now.lift = mass * (gravity*cosPath + V*pathRate) / (cosBank * pressureArea)
	now.drag = a.airframe.drag(now.lift)
	now.dragForce = pressureArea * now.drag
	now.required = now.dragForce + mass*(gravity*sinPath+acceleration)
}

// drive writes the derivatives of both drives: each propeller at the speed for half of the thrust required. Propellers
// do not brake.
func (a *aircraft) drive(y, dydt []float64) {
	now := &a.now
	V, density := now.speed, now.air.density
	half := 0.5 * smoothMax(now.required, 0, 2)
	n := a.propeller.speed(half, V, density)
	command := 2 * math.Pi * n
	feedForward := a.motor.feedForward(a.propeller.power(half, n, V, density), command)
	const ln5 = 1.6094379124341003
	cooling := a.motor.cooling * exp(0.6*(now.massFlux-ln5))
	now.motors, now.thrust = 0, 0
	for _, i := range [...]int{stateLeft, stateRight} {
		omega := y[i+1]
		n := omega * (1 / (2 * math.Pi))
		thrust := a.propeller.thrust(n, V, density)
		torque := a.propeller.power(thrust, n, V, density) / max(omega, 1)
		now.thrust += thrust
		now.motors += a.motor.derivatives(y[i:i+4], dydt[i:i+4], command, feedForward, torque, a.propeller.inertia,
			cooling, now.air.temperature)
	}
}

// illuminate computes the sunlight in body axes, which are rotated by the course, the pitch angle gamma + alpha and the
// bank angle.
func (a *aircraft) illuminate(t, altitude float64) {
	now := &a.now
	if t != a.lightAt { // most calls repeat the time of the previous one
		a.light = a.sky.daylight(a.site.sun(a.site.midnight + t/secondsDay))
		a.lightAt = t
	}
	sun := a.light.sun
	sinAlpha, cosAlpha := math.Sincos((now.lift - a.airframe.zeroLift) / a.airframe.liftSlope)
	sinPitch := now.sinPath*cosAlpha + now.cosPath*sinAlpha
	cosPitch := now.cosPath*cosAlpha - now.sinPath*sinAlpha
	ahead := now.cosCourse*sun.north + now.sinCourse*sun.east
	right := now.cosCourse*sun.east - now.sinCourse*sun.north
	below := sinPitch*ahead - cosPitch*sun.up
	now.light.sun = body{
		x: cosPitch*ahead + sinPitch*sun.up,
		y: now.cosBank*right + now.sinBank*below,
		z: now.cosBank*below - now.sinBank*right,
	}
	now.light.direct, now.light.diffuse = a.sky.at(&a.light, altitude, now.air.pressure)
}

// balance writes the derivatives of the battery. The panels supply the loads and charge the battery; the battery
// supplies the rest.
func (a *aircraft) balance(y, dydt, commands []float64) {
	now := &a.now
	now.load = now.motors + a.loads.avionics + a.loads.payload*commands[commandPayload] + commands[commandElectrolyser]
	now.taken = 0
	if now.available > 0 {
		now.taken = smoothMin(now.available, now.load+a.battery.chargeLimit(y[0]), 2)
	}
	now.drawn = now.load - now.taken
	now.current, now.bus = a.battery.derivatives(y, dydt, now.drawn, a.battery.bayShare*a.loads.avionics,
		now.air.temperature)
}

// solarOutputs declares the outputs in the order of Outputs.
func solarOutputs() []Output {
	path, loads := []string{"CL_cmd", "h_cmd"}, []string{"payload", "electrolyser"}
	all := slices.Concat(path, loads)
	return []Output{
		{Variable{"V", "m/s", "true airspeed"}, nil},
		{Variable{"gamma", "rad", "flight path angle"}, nil},
		{Variable{"CL", "1", "lift coefficient"}, path},
		{Variable{"CD", "1", "drag coefficient"}, path},
		{Variable{"drag", "N", "drag"}, path},
		{Variable{"thrust", "N", "thrust of both propellers"}, nil},
		{Variable{"thrust_cmd", "N", "thrust that the commanded trajectory takes"}, path},
		{Variable{"distance", "m", "horizontal distance from the holding point"}, []string{"hold_north", "hold_east"}},
		{Variable{"rho", "kg/m^3", "density of the air"}, nil},
		{Variable{"Ta", "K", "temperature of the air"}, nil},
		{Variable{"sun_elevation", "rad", "elevation of the sun, without refraction"}, nil},
		{Variable{"sun_azimuth", "rad", "azimuth of the sun from north, clockwise"}, nil},
		{Variable{"dni", "W/m^2", "direct normal irradiance"}, nil},
		{Variable{"dhi", "W/m^2", "diffuse horizontal irradiance"}, nil},
		{Variable{"irradiance", "W/m^2", "irradiance on the panels, mean of all"}, path},
		{Variable{"T_panels", "K", "temperature of the panels, mean of all"}, nil},
		{Variable{"Pel", "W", "electrical power of the motors"}, nil},
		{Variable{"Pload", "W", "power of all loads"}, loads},
		{Variable{"Pav", "W", "solar power available"}, path},
		{Variable{"Psol", "W", "solar power used"}, all},
		{Variable{"Pb", "W", "battery power, positive in discharge"}, all},
		{Variable{"Pnet", "W", "surplus: solar power available beyond the loads"}, all},
		{Variable{"I", "A", "battery current, positive in discharge"}, all},
		{Variable{"Isol", "A", "solar current used, at the bus"}, all},
		{Variable{"Iload", "A", "current of all loads, at the bus"}, all},
		{Variable{"Vbus", "V", "bus voltage"}, all},
	}
}

// Outputs writes the outputs.
func (a *aircraft) Outputs(t float64, y, commands, out []float64) {
	a.Derivatives(t, y, commands, a.dydt[:])
	now, panelSum := &a.now, 0.0
	for _, T := range y[statePanelT:statePanelV] {
		panelSum += T
	}
	copy(out, []float64{
		now.speed,
		math.Asin(now.sinPath),
		now.lift,
		now.drag,
		now.dragForce,
		now.thrust,
		now.required,
		now.distance,
		now.air.density,
		now.air.temperature,
		a.light.elevation,
		a.light.sun.azimuth(),
		now.light.direct,
		now.light.diffuse,
		now.irradiance,
		panelSum / panelCount,
		now.motors,
		now.load,
		now.available,
		now.taken,
		now.drawn,
		now.available - now.load,
		now.current,
		now.taken / now.bus,
		now.load / now.bus,
		now.bus,
	})
}
