package model

import "math"

// panelCount is the number of solar panels, each with its own maximum power point tracker (published by DLR). It fixes
// the number of states.
const panelCount = 26

const (
	stefanBoltzmann = 5.670374e-8 // [W/(m^2 K^4)]
	cellReference   = 298.15      // cell temperature of the standard test conditions [K]
	testIrradiance  = 1000.0      // irradiance of the standard test conditions [W/m^2]
	diffuseModifier = 0.95        // incidence angle modifier of diffuse light
	lowestVoltage   = 1.0         // bound of a panel's open circuit voltage in the dark [V]

	// Below this irradiance [W/m^2] a panel is dark: 1 + G rounds to 1.
	darkness = 1e-17
)

// panels holds the solar panels, each a series of cells with its own tracker, numbered from the left wing tip to the
// right.
type panels struct {
	cells, cellArea, shortCurrent, openVoltage, mppCurrent, mppVoltage       float64
	voltageSlope, currentSlope, thermalVoltage, encapsulation, efficiency    float64
	reflectance, absorptance, heatCapacity, convection, emissivity, tracking float64

	// Derived.
	normals [3][panelCount]float64 // unit vectors out of the panels, by axes
	cooling float64                // convection at rho V = 1 kg/(m^2 s) [W/(m^2 K)]
	terms   panelTerms
}

// panelTerms are the numbers that all panels have in common. Assembly reads them.
type panelTerms struct {
	// Of an evaluation.
	sunX, sunY, sunZ              float64 // unit vector to the sun
	direct, diffuse, softened     float64 // irradiances, the last with its incidence angle modifier [W/m^2]
	convection, ambient, ambient4 float64 // [W/(m^2 K)], temperature of the air [K], its fourth power

	// Constant.
	mppFraction                  float64 // maximum power point voltage over open circuit voltage
	diode1, diode2               float64 // C1, C2 of the cell's characteristic
	minusReflectance             float64
	modifierScale, encapsulation float64
	openReference, openLogarithm float64 // open circuit voltage at the test conditions; its slope with ln(G) [V]
	openSlope, lowest            float64 // its slope with temperature [V/K]; its bound in the dark [V]
	currentPerIrradiance         float64 // short circuit current [A/(W/m^2)]
	currentSlope, reference      float64 // [1/K], [K]
	darkness                     float64 // [W/m^2]
	powerPerArea                 float64 // 1/(area of a panel) [1/m^2]
	absorptance, radiated        float64 // [1], emissivity times the Stefan-Boltzmann constant [W/(m^2 K^4)]
	capacity, tracking           float64 // 1/(heat capacity) [m^2 K/J], 1/(time constant of the trackers) [1/s]
}

// body is a vector in body axes: forward, right, down.
type body struct{ x, y, z float64 }

func (p *panels) bindings() []binding {
	return []binding{
		{Parameter{"solar.cells_per_panel", "1", 56, 1, 200, Assumed, "cells in series in a panel"}, &p.cells},
		{Parameter{"solar.cell_area", "m^2", 0.0153436, 0.005, 0.05, Published, "area of a cell"}, &p.cellArea},
		{Parameter{"solar.Isc", "A", 6.27, 1, 20, Published, "short circuit current of a cell at 1000 W/m^2, 25 degC"},
			&p.shortCurrent},
		{Parameter{"solar.Voc", "V", 0.686, 0.4, 0.8, Published, "open circuit voltage of a cell"}, &p.openVoltage},
		{Parameter{"solar.Imp", "A", 5.93, 0.8, 19, Assumed,
			"current of a cell at its maximum power point"}, &p.mppCurrent},
		{Parameter{"solar.Vmp", "V", 0.582, 0.3, 0.75, Assumed, "voltage of a cell at its maximum power point"},
			&p.mppVoltage},
		{Parameter{"solar.dVoc", "V/K", -0.0018, -0.004, 0, Published, "slope of a cell's voltage with temperature"},
			&p.voltageSlope},
		{Parameter{"solar.aIsc", "1/K", 0.0005, 0, 0.002, Assumed, "slope of the current with temperature"},
			&p.currentSlope},
		{Parameter{"solar.n_vt", "V", 0.0324, 0.025, 0.06, Assumed, "ideality factor times thermal voltage"},
			&p.thermalVoltage},
		{Parameter{"solar.eta_enc", "1", 0.97, 0.5, 1, Published,
			"factor for camber and encapsulation"}, &p.encapsulation},
		{Parameter{"solar.eta_mppt", "1", 0.95, 0.5, 1, Published, "efficiency of the trackers"}, &p.efficiency},
		{Parameter{"solar.a_r", "1", 0.16, 0.05, 0.5, Published, "angular loss coefficient of Martin and Ruiz"},
			&p.reflectance},
		{Parameter{"solar.absorptance", "1", 0.9, 0.3, 1, Assumed, "absorbed share of the irradiance"}, &p.absorptance},
		{Parameter{"solar.C_areal", "J/(m^2 K)", 1800, 200, 20000, Assumed,
			"heat capacity of a panel"}, &p.heatCapacity},
		{Parameter{"solar.h_c0", "W/(m^2 K)", 18, 1, 100, Assumed, "heat transfer to the air at rho V = 7 kg/(m^2 s)"},
			&p.convection},
		{Parameter{"solar.eps", "1", 0.85, 0, 1, Assumed, "emissivity"}, &p.emissivity},
		{Parameter{"solar.tau_mpp", "s", 10, 0.1, 600, Assumed, "time constant of the trackers"}, &p.tracking},
	}
}

// derive computes the constants and the geometry. It reports whether the maximum power point lies on a diode's
// characteristic.
//
// The wing bends up and twists down towards its tips: with eta from 0 at the root to 1 at the tip, a panel is rolled by
// (1 + 8 eta) deg and pitched by -(2 + 1.5 eta) deg (assumed).
func (p *panels) derive() bool {
	for i := range panelCount {
		span := (float64(i) + 0.5 - panelCount/2) / (panelCount / 2) // -1 left tip, 1 right tip
		eta := math.Abs(span)
		sinRoll, cosRoll := math.Sincos(math.Copysign(1+8*eta, span) * degree)
		sinPitch, cosPitch := math.Sincos(-(2 + 1.5*eta) * degree)
		x, y, z := -sinPitch*cosRoll, -sinRoll*cosPitch, -cosPitch*cosRoll
		length := math.Sqrt(x*x + y*y + z*z)
		p.normals[0][i], p.normals[1][i], p.normals[2][i] = x/length, y/length, z/length
	}
	mppFraction := p.mppVoltage / p.openVoltage
	diode2 := (mppFraction - 1) / math.Log(1-p.mppCurrent/p.shortCurrent)
	p.terms = panelTerms{
		mppFraction: mppFraction, diode2: diode2,
		diode1:           (1 - p.mppCurrent/p.shortCurrent) * math.Exp(-mppFraction/diode2),
		minusReflectance: -p.reflectance, modifierScale: 1 / (1 - math.Exp(-1/p.reflectance)),
		encapsulation: p.encapsulation,
		openReference: p.cells * (p.openVoltage - p.thermalVoltage*math.Log(testIrradiance)),
		openLogarithm: p.cells * p.thermalVoltage, openSlope: p.cells * p.voltageSlope, lowest: lowestVoltage,
		currentPerIrradiance: p.shortCurrent / testIrradiance, currentSlope: p.currentSlope,
		reference: cellReference, darkness: darkness,
		powerPerArea: 1 / (p.cells * p.cellArea), absorptance: p.absorptance,
		radiated: p.emissivity * stefanBoltzmann, capacity: 1 / p.heatCapacity, tracking: 1 / p.tracking,
	}
	p.cooling = p.convection * math.Pow(7, -0.8)
	return p.mppCurrent < p.shortCurrent && p.mppVoltage < p.openVoltage
}

// incidenceModifier is the transmitted share of direct light relative to normal incidence, by the cosine of the angle
// of incidence.
//
//	K = (1 - exp(-cos/a_r))/(1 - exp(-1/a_r))
//
// Source: Martin and Ruiz (2001), Solar Energy Materials and Solar Cells 70, 25-38.
func (c *panelTerms) incidenceModifier(cosine float64) float64 {
	return (1 - exp(cosine/c.minusReflectance)) * c.modifierScale
}

// openCircuit is a panel's open circuit voltage [V] at a cell temperature [K] under an irradiance [W/m^2] that reaches
// the cells.
//
//	Voc = cells (Voc0 + dVoc (T - 298.15 K) + n Vt ln((G + 1 W/m^2)/(1000 W/m^2)))
func (c *panelTerms) openCircuit(temperature, irradiance float64) float64 {
	logarithm := 0.0
	if !(irradiance < c.darkness) {
		logarithm = log(1 + irradiance)
	}
	return max(c.lowest, c.openReference+c.openSlope*(temperature-c.reference)+c.openLogarithm*logarithm)
}

// current is a panel's current [A] at a voltage [V]; the trackers have diodes, so it is never negative.
//
//	I = Isc G/(1000 W/m^2) (1 + a (T - 298.15 K)) max(0, 1 - C1 (exp(V/(C2 Voc)) - 1))
//	C2 = (Vmp/Voc - 1)/ln(1 - Imp/Isc),  C1 = (1 - Imp/Isc) exp(-Vmp/(C2 Voc))
//
// Source: explicit model through short circuit, maximum power point and open circuit, Rauschenbach (1980), Solar Cell
// Array Design Handbook. In the dark, where the current is almost zero, the diode is only on or off.
func (c *panelTerms) current(voltage, temperature, irradiance, openCircuit float64) float64 {
	I := c.currentPerIrradiance * irradiance * (1 + c.currentSlope*(temperature-c.reference))
	if irradiance < c.darkness {
		if voltage < openCircuit {
			return I
		}
		return 0
	}
	return I * max(0, 1-c.diode1*(exp(min(60, voltage/(c.diode2*openCircuit)))-1))
}

// sunlight is the irradiance that the panels receive.
type sunlight struct {
	sun             body    // unit vector to the sun
	direct, diffuse float64 // irradiances [W/m^2]
}

// derivatives writes the derivatives of the panels' temperatures [K/s] and operating voltages [V/s]. It returns the
// power after the trackers [W] and the mean irradiance [W/m^2].
//
//	G = direct max(cos, 0) + diffuse
//	dT/dt = (absorptance G - P/A - h (T - Ta) - eps sigma (T^4 - Ta^4))/C,  h = hc0 (rho V/(7 kg/(m^2 s)))^0.8
//	dV/dt = (Vmp/Voc Voc(T, G) - V)/tau
//
// massFlux is ln(rho V/(kg/(m^2 s))); ambient the temperature of the air [K].
//
// The irradiance of a panel has a kink where the panel turns away from the sun.
func (p *panels) derivatives(s *sunlight, ambient, massFlux float64,
	temperature, voltage, dTemperature, dVoltage []float64,
) (power, irradiance float64) {
	c := &p.terms
	c.sunX, c.sunY, c.sunZ = s.sun.x, s.sun.y, s.sun.z
	c.direct, c.diffuse, c.softened = s.direct, s.diffuse, s.diffuse*diffuseModifier
	c.convection = p.cooling * exp(0.8*massFlux)
	c.ambient, c.ambient4 = ambient, (ambient*ambient)*(ambient*ambient)
	var powers, received [panelCount]float64
	p.all((*[panelCount]float64)(temperature), (*[panelCount]float64)(voltage), (*[panelCount]float64)(dTemperature),
		(*[panelCount]float64)(dVoltage), &powers, &received)
	for i, P := range powers {
		power += P
		irradiance += received[i]
	}
	return power * p.efficiency, irradiance / panelCount
}

// each writes the derivatives of all panels, their powers [W] and the irradiance that they receive [W/m^2]. It is the
// portable version of what all does.
func (p *panels) each(temperature, voltage, dTemperature, dVoltage, power, received *[panelCount]float64) {
	c := &p.terms
	for i := range temperature {
		T, V := temperature[i], voltage[i]
		direct, modified := 0.0, 0.0
		if cosine := p.normals[0][i]*c.sunX + p.normals[1][i]*c.sunY + p.normals[2][i]*c.sunZ; cosine > 0 {
			direct = c.direct * cosine
			modified = direct * c.incidenceModifier(cosine)
		}
		received[i] = direct + c.diffuse
		effective := (modified + c.softened) * c.encapsulation
		open := c.openCircuit(T, effective)
		power[i] = V * c.current(V, T, effective, open)
		heat := c.absorptance*received[i] - power[i]*c.powerPerArea
		dTemperature[i] = (heat - c.convection*(T-c.ambient) - c.radiated*((T*T)*(T*T)-c.ambient4)) * c.capacity
		dVoltage[i] = (c.mppFraction*open - V) * c.tracking
	}
}
