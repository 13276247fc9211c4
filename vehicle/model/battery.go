package model

import "math"

// battery is a lithium ion pack with an open circuit voltage, a resistance and two RC elements.
type battery struct {
	series, energy, cellVoltage, r0, r1, tau1, r2, tau2, coulombEfficiency, heatCapacity, conductance, bayShare float64
	chargeRate, taperedRate, taperStart                                                                         float64

	// Derived.
	charge     float64 // capacity [C]
	taperSlope float64 // d ln(charge power)/d(soc) in the taper
}

func (b *battery) bindings() []binding {
	return []binding{
		{Parameter{"battery.n_series", "1", 14, 1, 200, Assumed, "cells in series"}, &b.series},
		{Parameter{"battery.E_Wh", "Wh", 6200, 100, 1e5, Assumed,
			"energy content; tuned for full at 11:30"}, &b.energy},
		{Parameter{"battery.V_cell_nom", "V", 3.65, 2, 4.5, Assumed, "nominal voltage of a cell"}, &b.cellVoltage},
		{Parameter{"battery.R0", "Ohm", 0.02, 1e-4, 1, Assumed, "series resistance of the pack"}, &b.r0},
		{Parameter{"battery.R1", "Ohm", 0.006, 1e-5, 1, Assumed, "resistance of the fast RC element"}, &b.r1},
		{Parameter{"battery.tau1", "s", 30, 0.1, 3600, Assumed, "time constant of the fast RC element"}, &b.tau1},
		{Parameter{"battery.R2", "Ohm", 0.008, 1e-5, 1, Assumed, "resistance of the slow RC element"}, &b.r2},
		{Parameter{"battery.tau2", "s", 600, 1, 36000, Assumed, "time constant of the slow RC element"}, &b.tau2},
		{Parameter{"battery.eta_coul", "1", 0.99, 0.8, 1, Assumed,
			"stored share of the charge put in"}, &b.coulombEfficiency},
		{Parameter{"battery.C_th", "J/K", 25000, 100, 1e6, Assumed, "heat capacity"}, &b.heatCapacity},
		{Parameter{"battery.UA", "W/K", 0.9, 0, 100, Assumed,
			"heat conductance from the bay to the air"}, &b.conductance},
		{Parameter{"battery.P_bay_frac", "1", 0.8, 0, 1, Assumed, "share of the avionics' power that heats the bay"},
			&b.bayShare},
		{Parameter{"battery.chg_Prel1", "1/h", 0.6, 0.01, 10, Assumed, "largest charge power over energy content"},
			&b.chargeRate},
		{Parameter{"battery.chg_Prel2", "1", 0.15, 0.001, 1, Assumed, "share of it left at the end of the taper"},
			&b.taperedRate},
		{Parameter{"battery.chg_SoC1", "1", 0.96, 0, 0.99, Assumed,
			"state of charge where the charge power begins to taper"},
			&b.taperStart},
	}
}

func (b *battery) derive() {
	b.charge = 3600 * b.energy / (b.series * b.cellVoltage)
	b.taperSlope = math.Log(b.taperedRate) / (1 - b.taperStart)
}

// openCircuit is the voltage of the rested pack [V] at a state of charge s.
//
//	E = cells (3.35 + 0.55 s + 0.25 s^3 - 0.30 exp(-25 s)) V
func (b *battery) openCircuit(s float64) float64 {
	return b.series * (3.35 + s*(0.55+0.25*s*s) - 0.30*exp(-25*max(s, -0.05)))
}

// chargeLimit is the maximum charge power [W] at a state of charge: constant, then an exponential taper, then a ramp to
// zero over the last 0.3 %. The corners are kinks; in the ramp the state of charge itself approaches 1 smoothly.
func (b *battery) chargeLimit(s float64) float64 {
	limit := b.chargeRate * b.energy
	if s >= b.taperStart {
		limit *= exp(b.taperSlope * (s - b.taperStart))
	}
	return limit * min(max((1-s)*(1/0.003), 0), 1)
}

// derivatives writes the derivatives of the pack's states: the state of charge, the two RC voltages [V] and the
// temperature [K], at a power drawn [W], a power that heats the bay [W] and the temperature of the air [K]. It returns
// the current, positive in discharge [A], and the terminal voltage [V].
//
//	P = I (E - V1 - V2 - R0 I)
//	ds/dt = -eta I/Q,  eta = coulomb efficiency in charge, 1 in discharge
//	dVk/dt = (Rk I - Vk)/tauk
//	C dT/dt = R0 I^2 + V1^2/R1 + V2^2/R2 + bay heat - UA (T - Ta)
//
// If the pack cannot supply the power, it supplies the current of its maximum power. The coulomb efficiency is a kink
// at zero current.
func (b *battery) derivatives(y, dydt []float64, power, bayHeat, ambient float64) (current, voltage float64) {
	soc, v1, v2, T := y[0], y[1], y[2], y[3]
	E := b.openCircuit(soc) - v1 - v2
	current = (E - math.Sqrt(max(E*E-4*b.r0*power, 0))) / (2 * b.r0)
	stored := current
	if current < 0 {
		stored *= b.coulombEfficiency
	}
	dydt[0] = -stored / b.charge
	dydt[1] = (b.r1*current - v1) / b.tau1
	dydt[2] = (b.r2*current - v2) / b.tau2
	dydt[3] = (b.r0*current*current + v1*v1/b.r1 + v2*v2/b.r2 + bayHeat - b.conductance*(T-ambient)) / b.heatCapacity
	return current, E - b.r0*current
}
