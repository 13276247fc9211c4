package model

import "math"

// propeller is one of two equal propellers.
type propeller struct {
	diameter, thrustCoefficient, advanceRatio, profile, induced, inertia float64

	// Derived.
	disc         float64 // area [m^2]
	thrustFactor float64 // CT0 D^4 [m^4]
	powerFactor  float64 // Cpd D^5 [m^5]
}

func (p *propeller) bindings() []binding {
	return []binding{
		{Parameter{"propeller.D", "m", 1.7, 0.2, 5, Assumed, "diameter of each of the two propellers"}, &p.diameter},
		{Parameter{"propeller.CT0", "1", 0.1, 0.02, 0.3, Assumed, "thrust coefficient at rest"}, &p.thrustCoefficient},
		{Parameter{"propeller.J0", "1", 1.05, 0.3, 3, Assumed, "advance ratio without thrust"}, &p.advanceRatio},
		{Parameter{"propeller.Cpd", "1", 0.003, 0, 0.05, Assumed, "profile power coefficient"}, &p.profile},
		{Parameter{"propeller.kappa", "1", 1.15, 1, 2, Assumed, "factor on the ideal induced power"}, &p.induced},
		{Parameter{"propeller.Jrot", "kg m^2", 0.2, 0.001, 10, Assumed, "inertia of propeller and rotor"}, &p.inertia},
	}
}

func (p *propeller) derive() {
	D2 := p.diameter * p.diameter
	p.disc = math.Pi * D2 / 4
	p.thrustFactor = p.thrustCoefficient * D2 * D2
	p.powerFactor = p.profile * D2 * D2 * p.diameter
}

// thrust [N] at n revolutions per second, an airspeed V [m/s] and a density rho [kg/m^3].
//
//	T = rho n^2 D^4 CT0 (1 - J/J0),  J = V/(n D)
func (p *propeller) thrust(n, V, rho float64) float64 {
	J := V / max(n*p.diameter, 1e-3)
	return rho * n * n * p.thrustFactor * (1 - J/p.advanceRatio)
}

// power at the shaft [W] for a thrust T [N]: momentum theory and the drag of the blades.
//
//	P = T (V + kappa vi) + rho n^3 D^5 Cpd,  vi = (sqrt(V^2 + 2 T/(rho A)) - V)/2
func (p *propeller) power(T, n, V, rho float64) float64 {
	inflow := 0.5 * (math.Sqrt(max(V*V+2*T/(rho*p.disc), 0)) - V)
	return T*(V+p.induced*inflow) + rho*n*n*n*p.powerFactor
}

// speed [rev/s] for a thrust T [N]: the inverse of thrust.
func (p *propeller) speed(T, V, rho float64) float64 {
	a := V / (p.advanceRatio * p.diameter)
	return 0.5 * (a + math.Sqrt(a*a+4*T/(rho*p.thrustFactor)))
}

// motor is one of two equal direct drives: a DC machine with current control under a PI speed controller.
type motor struct {
	torque, resistance, resistanceSlope, currentLag, friction float64
	proportional, integral, efficiency, capacity, cooling     float64
}

func (m *motor) bindings() []binding {
	return []binding{
		{Parameter{"motor.Kt", "N m/A", 0.3, 0.01, 5, Assumed, "torque constant"}, &m.torque},
		{Parameter{"motor.R", "Ohm", 0.1, 0.001, 5, Assumed, "winding resistance at 25 degC"}, &m.resistance},
		{Parameter{"motor.alphaR", "1/K", 0.0039, 0, 0.01, Published, "temperature coefficient of copper's resistance"},
			&m.resistanceSlope},
		{Parameter{"motor.tau_i", "s", 0.2, 0.001, 10, Assumed, "time constant of the current control"}, &m.currentLag},
		{Parameter{"motor.c_fric", "N m s/rad", 0.004, 0, 0.1, Assumed,
			"slope of the iron and friction torque"}, &m.friction},
		{Parameter{"motor.Kp", "A s/rad", 1.3, 0, 50, Assumed,
			"proportional gain of the speed control"}, &m.proportional},
		{Parameter{"motor.Ki", "A/rad", 0.4, 0, 50, Assumed, "integral gain of the speed control"}, &m.integral},
		{Parameter{"motor.eta_ctrl", "1", 0.97, 0.5, 1, Published,
			"efficiency of the motor controller"}, &m.efficiency},
		{Parameter{"motor.C_th", "J/K", 900, 10, 1e5, Assumed, "heat capacity of the winding"}, &m.capacity},
		{Parameter{"motor.G_th", "W/K", 3, 0.01, 100, Assumed, "heat conductance to the air at rho V = 5 kg/(m^2 s)"},
			&m.cooling},
	}
}

// feedForward is the current [A] for a shaft power P [W] at a speed omega [rad/s].
func (m *motor) feedForward(P, omega float64) float64 { return (P/omega + m.friction*omega) / m.torque }

// derivatives writes the derivatives of a drive's states: the current [A], the speed [rad/s], the integral of the speed
// error [rad] and the winding temperature [K]. It returns the electrical power drawn from the bus [W].
//
//	tau di/dt = ff + Kp e + Ki xi - i,  e = commanded speed - omega,  dxi/dt = e
//	J domega/dt = Kt i - c omega - Q
//	C dT/dt = R i^2 + c omega^2 - G (rho V/(5 kg/(m^2 s)))^0.6 (T - Ta),  R = R25 (1 + alpha (T - 298.15 K))
//	Pel = (Kt i omega + R i^2)/eta
//
// Q is the propeller's torque [N m], cooling the conductance to the air of temperature ambient [W/K, K].
func (m *motor) derivatives(y, dydt []float64, command, feedForward, Q, inertia, cooling, ambient float64) float64 {
	i, omega, xi, T := y[0], y[1], y[2], y[3]
	e := command - omega
	copper := m.resistance * (1 + m.resistanceSlope*(T-298.15)) * i * i
	dydt[0] = (feedForward + m.proportional*e + m.integral*xi - i) / m.currentLag
	dydt[1] = (m.torque*i - m.friction*omega - Q) / inertia
	dydt[2] = e
	dydt[3] = (copper + m.friction*omega*omega - cooling*(T-ambient)) / m.capacity
	return (m.torque*i*omega + copper) / m.efficiency
}
