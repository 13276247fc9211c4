package model

import (
	"fmt"
	"math"
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
	commandCount
)

// solar is the solar high-altitude aircraft of the day: a point mass on a prescribed trajectory with two electric drives, a
// battery and 26 solar panels. Its kinks are all continuous in the derivatives and left to the integrator's error control,
// see docs/vehicle-solar.md.
var solar = &Vehicle{
	Name: "solar",
	Text: "electric high-altitude solar aircraft, 72 states: point mass, autopilot, two drives, battery, 26 panels",

	Parameters: parametersOf(new(aircraft).bindings()),
	States:     solarStates(),
	Commands: []Command{
		{Variable{"CL_cmd", "1", "lift coefficient to fly at, sets the airspeed"}, 1.10, true},
		{Variable{"h_cmd", "m", "altitude to fly at"}, 6000, true},
		{Variable{"payload", "1", "payload switched on: 0 or 1"}, 0, false},
		{Variable{"hold_north", "m", "holding point, north of the origin"}, 0, true},
		{Variable{"hold_east", "m", "holding point, east of the origin"}, 0, true},
		{Variable{"hold_radius", "m", "radius of the circle round the holding point, above 0"}, 1500, true},
	},
	Outputs: solarOutputs(),
	New:     newAircraft,
}

func solarStates() []State {
	states := []State{
		{Variable{"x_N", "m", "position north of the origin"}, 1e-2},
		{Variable{"y_E", "m", "position east of the origin"}, 1e-2},
		{Variable{"h", "m", "altitude"}, 1e-3},
		{Variable{"w", "m/s", "climb rate"}, 1e-4},
		{Variable{"v_eas", "m/s", "equivalent airspeed"}, 1e-4},
		{Variable{"v_eas_dot", "m/s^2", "rate of the equivalent airspeed"}, 1e-5},
		{Variable{"chi", "rad", "course from north, clockwise, not wrapped"}, 1e-5},
		{Variable{"phi", "rad", "bank angle, right wing down"}, 1e-5},
	}
	for _, side := range []struct{ letter, text string }{{"L", "left"}, {"R", "right"}} {
		states = append(states,
			State{Variable{side.letter + "_i", "A", side.text + " motor current"}, 1e-4},
			State{Variable{side.letter + "_omega", "rad/s", side.text + " motor speed"}, 1e-4},
			State{Variable{side.letter + "_xi", "rad", side.text + " motor, integral of the speed error"}, 1e-4},
			State{Variable{side.letter + "_Tw", "K", side.text + " motor, winding temperature"}, 1e-3})
	}
	states = append(states,
		State{Variable{"soc", "1", "battery state of charge"}, 1e-7},
		State{Variable{"V1", "V", "battery, voltage of the fast RC element"}, 1e-5},
		State{Variable{"V2", "V", "battery, voltage of the slow RC element"}, 1e-5},
		State{Variable{"T_bat", "K", "battery temperature"}, 1e-3})
	for i := range panelCount {
		states = append(states, State{Variable{fmt.Sprintf("Tp%02d", i), "K", fmt.Sprintf("panel %d, temperature", i)}, 1e-3})
	}
	for i := range panelCount {
		states = append(states, State{Variable{fmt.Sprintf("Vp%02d", i), "V", fmt.Sprintf("panel %d, voltage", i)}, 1e-3})
	}
	return states
}

// snapshot is what an evaluation of the derivatives found on its way.
type snapshot struct {
	air                                   air
	speed, path                           float64 // true airspeed [m/s], sine of the path angle
	distance                              float64 // from the holding point [m]
	lift, drag, dragForce, required       float64 // coefficients; forces [N]
	thrust                                float64 // [N]
	motors, load, available, taken, drawn float64 // powers [W]
	current, bus                          float64 // [A], [V]
	direct, diffuse, irradiance           float64 // [W/m^2]
}

// aircraft is an instance of the solar aircraft. Its parameters and what derives from them are constant after newAircraft;
// the rest is scratch memory.
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

// loads are the consumers besides the motors.
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
	var all []binding
	for _, part := range [][]binding{
		a.site.bindings(), a.airframe.bindings(), a.propeller.bindings(), a.motor.bindings(), a.panels.bindings(),
		a.sky.bindings(), a.battery.bindings(), a.loads.bindings(), a.autopilot.bindings(), a.initial.bindings(),
	} {
		all = append(all, part...)
	}
	return all
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

// Initial is straight and level flight with the drives in trim, the batteries warm and the panels as cold as the air.
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
		y[statePanelV+i] = a.panels.mppFraction * a.panels.openCircuit(air.temperature, 0)
	}
}

// daylightAt is the daylight at t seconds, computed once for calls with the same time.
func (a *aircraft) daylightAt(t float64) *daylight {
	if t != a.lightAt {
		a.light = a.sky.daylight(a.site.sun(a.site.midnight + t/secondsDay))
		a.lightAt = t
	}
	return &a.light
}

// Derivatives is the right-hand side: the commanded trajectory, the thrust that it takes (the inverse of the point mass),
// the drives that deliver it, the panels in the attitude that follows, the battery that balances the bus.
func (a *aircraft) Derivatives(t float64, y, commands, dydt []float64) {
	y, dydt = y[:stateCount], dydt[:stateCount]
	now := &a.now
	air := standardAir(y[stateAltitude])
	density := air.density
	now.air = air

	// The trajectory: climb rate and equivalent airspeed follow the commands through filters.
	//	V = veas sqrt(rho0/rho),  dV/dt = dveas/dt sqrt(rho0/rho) - V/2 dln(rho)/dh w
	w, airspeed, airspeedRate := y[stateClimb], y[stateAirspeed], y[stateAirspeedRate]
	CL := commands[commandCL]
	dilution := math.Sqrt(seaLevelDensity / density)
	wanted := a.airframe.airspeed(CL)
	glide := wanted * dilution * a.airframe.drag(CL) / CL
	climbRate := (a.autopilot.climbCommand(commands[commandAltitude]-y[stateAltitude], glide) - w) / a.autopilot.climbLag
	omega := a.autopilot.airspeedFrequency
	V := airspeed * dilution
	acceleration := airspeedRate*dilution - 0.5*V*air.densityGradient*w
	sinPath := max(-0.5, min(0.5, w/V))
	cosPath := math.Sqrt(1 - sinPath*sinPath)
	pathRate := (climbRate - acceleration*sinPath) / (V * cosPath)

	// The circle round the holding point.
	sinCourse, cosCourse := math.Sincos(y[stateCourse])
	sinBank, cosBank := math.Sincos(y[stateBank])
	bank, distance := a.autopilot.bankCommand(y[stateNorth]-commands[commandHoldNorth], y[stateEast]-commands[commandHoldEast],
		sinCourse, cosCourse, V, commands[commandHoldRadius])

	dydt[stateNorth] = V * cosPath * cosCourse
	dydt[stateEast] = V * cosPath * sinCourse
	dydt[stateAltitude] = w
	dydt[stateClimb] = climbRate
	dydt[stateAirspeed] = airspeedRate
	dydt[stateAirspeedRate] = omega*omega*(wanted-airspeed) - 2*omega*airspeedRate
	dydt[stateCourse] = gravity * sinBank / (cosBank * V)
	dydt[stateBank] = (bank - y[stateBank]) / a.autopilot.bankLag

	// The forces on the point mass.
	//	L cos(phi) = m (g cos(gamma) + V dgamma/dt),  T = D + m (g sin(gamma) + dV/dt)
	mass := a.airframe.mass
	pressureArea := 0.5 * density * V * V * a.airframe.area
	lift := mass * (gravity*cosPath + V*pathRate) / (cosBank * pressureArea)
	drag := a.airframe.drag(lift)
	required := pressureArea*drag + mass*(gravity*sinPath+acceleration)
	now.speed, now.path, now.distance = V, sinPath, distance
	now.lift, now.drag, now.dragForce, now.required = lift, drag, pressureArea*drag, required

	// The drives: each propeller at the speed for half of the thrust; propellers do not brake.
	thrust := 0.5 * smoothMax(required, 0, 2)
	n := a.propeller.speed(thrust, V, density)
	command := 2 * math.Pi * n
	feedForward := a.motor.feedForward(a.propeller.power(thrust, n, V, density), command)
	massFlux := math.Log(density * V)
	cooling := a.motor.cooling * exp(0.6*(massFlux-ln5))
	now.motors, now.thrust = 0, 0
	for _, drive := range [...]int{stateLeft, stateRight} {
		omega := y[drive+1]
		n := omega * (1 / (2 * math.Pi))
		thrust := a.propeller.thrust(n, V, density)
		torque := a.propeller.power(thrust, n, V, density) / max(omega, 1)
		now.thrust += thrust
		now.motors += a.motor.derivatives(y[drive:drive+4], dydt[drive:drive+4], command, feedForward, torque,
			a.propeller.inertia, cooling, air.temperature)
	}

	// The sun in body axes: turned by the course, the pitch angle gamma + alpha and the bank angle.
	light := a.daylightAt(t)
	sinAlpha, cosAlpha := math.Sincos((lift - a.airframe.zeroLift) / a.airframe.liftSlope)
	sinPitch, cosPitch := sinPath*cosAlpha+cosPath*sinAlpha, cosPath*cosAlpha-sinPath*sinAlpha
	ahead := cosCourse*light.sun.north + sinCourse*light.sun.east
	right := cosCourse*light.sun.east - sinCourse*light.sun.north
	below := sinPitch*ahead - cosPitch*light.sun.up
	received := sunlight{sun: body{
		x: cosPitch*ahead + sinPitch*light.sun.up,
		y: cosBank*right + sinBank*below,
		z: cosBank*below - sinBank*right,
	}}
	received.direct, received.diffuse = a.sky.at(light, y[stateAltitude], air.pressure)
	now.direct, now.diffuse = received.direct, received.diffuse
	now.available, now.irradiance = a.panels.derivatives(&received, air.temperature, massFlux,
		y[statePanelT:statePanelV], y[statePanelV:], dydt[statePanelT:statePanelV], dydt[statePanelV:])

	// The bus: the panels give what the loads and the battery take, the battery gives the rest.
	now.load = now.motors + a.loads.avionics + a.loads.payload*commands[commandPayload]
	now.taken = 0
	if now.available > 0 {
		now.taken = smoothMin(now.available, now.load+a.battery.chargeLimit(y[stateBattery]), 2)
	}
	now.drawn = now.load - now.taken
	now.current, now.bus = a.battery.derivatives(y[stateBattery:statePanelT], dydt[stateBattery:statePanelT], now.drawn,
		a.battery.bayShare*a.loads.avionics, air.temperature)
}

const ln5 = 1.6094379124341003

// solarOutputs declares the outputs; quantities gives their values in the same order.
func solarOutputs() []Output {
	return []Output{
		{Variable{"V", "m/s", "true airspeed"}, false},
		{Variable{"gamma", "rad", "flight path angle"}, false},
		{Variable{"CL", "1", "lift coefficient"}, true},
		{Variable{"CD", "1", "drag coefficient"}, true},
		{Variable{"drag", "N", "drag"}, true},
		{Variable{"thrust", "N", "thrust of both propellers"}, false},
		{Variable{"thrust_cmd", "N", "thrust that the commanded trajectory takes"}, true},
		{Variable{"distance", "m", "horizontal distance from the holding point"}, true},
		{Variable{"rho", "kg/m^3", "density of the air"}, false},
		{Variable{"Ta", "K", "temperature of the air"}, false},
		{Variable{"sun_elevation", "rad", "elevation of the sun, without refraction"}, false},
		{Variable{"sun_azimuth", "rad", "azimuth of the sun from north, clockwise"}, false},
		{Variable{"dni", "W/m^2", "direct normal irradiance"}, false},
		{Variable{"dhi", "W/m^2", "diffuse horizontal irradiance"}, false},
		{Variable{"irradiance", "W/m^2", "irradiance on the panels, mean of all"}, true},
		{Variable{"T_panels", "K", "temperature of the panels, mean of all"}, false},
		{Variable{"Pel", "W", "electrical power of the motors"}, false},
		{Variable{"Pload", "W", "power of all loads"}, true},
		{Variable{"Pav", "W", "solar power available"}, true},
		{Variable{"Psol", "W", "solar power used"}, true},
		{Variable{"Pb", "W", "battery power, positive in discharge"}, true},
		{Variable{"Pnet", "W", "surplus: solar power available beyond the loads"}, true},
		{Variable{"I", "A", "battery current, positive in discharge"}, true},
		{Variable{"Isol", "A", "solar current used, at the bus"}, true},
		{Variable{"Iload", "A", "current of all loads, at the bus"}, true},
		{Variable{"Vbus", "V", "bus voltage"}, true},
	}
}

// Outputs gives the outputs.
func (a *aircraft) Outputs(t float64, y, commands, out []float64) {
	a.Derivatives(t, y, commands, a.dydt[:])
	now, panelSum := &a.now, 0.0
	for _, T := range y[statePanelT:statePanelV] {
		panelSum += T
	}
	copy(out, []float64{
		now.speed,
		math.Asin(now.path),
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
		now.direct,
		now.diffuse,
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
