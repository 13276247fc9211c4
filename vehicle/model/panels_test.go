package model

import (
	"math"
	"testing"
)

// The table's digits.
func TestIncidenceModifierAgreesWithMartinRuiz(t *testing.T) {
	for _, row := range readValidation(t).Modifier.Rows {
		p := panels{reflectance: row.Coefficient, modifierScale: 1 / (1 - math.Exp(-1/row.Coefficient))}
		near(t, "modifier", p.incidenceModifier(math.Cos(row.Incidence*degree)), row.Modifier, 6e-8)
	}
}

// At the test conditions the characteristic passes through the three points of the data sheet. The logarithm's 1 W/m^2
// raises the open circuit voltage by n Vt/1000; the diode's constants leave 1e-6 of the current.
func TestCellAtTestConditions(t *testing.T) {
	p := &newSolar(t).panels
	open := p.openCircuit(cellReference, testIrradiance)
	near(t, "open circuit voltage", open, p.cells*p.openVoltage, 1.01e-3*p.cells*p.thermalVoltage)
	near(t, "short circuit current", p.current(0, cellReference, testIrradiance, open), p.shortCurrent, 1e-12)
	near(t, "current at the maximum power point", p.current(p.mppFraction*open, cellReference, testIrradiance, open),
		p.mppCurrent, 1e-6*p.mppCurrent)
	near(t, "current at open circuit", p.current(open, cellReference, testIrradiance, open), 0, 1e-6*p.shortCurrent)
	if I := p.current(1.1*open, cellReference, testIrradiance, open); I != 0 {
		t.Errorf("current beyond open circuit %g A", I)
	}
}

// The trackers hold a fixed share of the open circuit voltage: that costs less than 1 % of the best power.
func TestTrackedVoltageIsNearBest(t *testing.T) {
	p := &newSolar(t).panels
	for _, irradiance := range []float64{50, 200, 600, 1000, 1300} {
		for _, temperature := range []float64{220, 260, 300, 340} {
			open := p.openCircuit(temperature, irradiance)
			best := 0.0
			for V := 0.0; V < open; V += open / 1000 {
				best = max(best, V*p.current(V, temperature, irradiance, open))
			}
			V := p.mppFraction * open
			if got := V * p.current(V, temperature, irradiance, open); got < 0.99*best || got > 1.0001*best {
				t.Errorf("at %g W/m^2, %g K: %g W of %g W", irradiance, temperature, got, best)
			}
		}
	}
}

// The normals are unit vectors, mirrored in the plane of symmetry, and look up, a little forward and inward.
func TestPanelNormals(t *testing.T) {
	p := &newSolar(t).panels
	for i, n := range p.normals {
		near(t, "length", n.x*n.x+n.y*n.y+n.z*n.z, 1, 1e-15)
		if mirrored := p.normals[panelCount-1-i]; n.x != mirrored.x || n.y != -mirrored.y || n.z != mirrored.z {
			t.Errorf("panel %d is not the mirror image of its opposite", i)
		}
		if left := i < panelCount/2; !(n.z < -0.98 && n.x > 0) || (n.y > 0) != left {
			t.Errorf("panel %d looks to %v", i, n)
		}
	}
}

// A panel in the dark and still air only radiates; one in equilibrium stands still.
func TestPanelHeatBalance(t *testing.T) {
	p := &newSolar(t).panels
	T, V, dT, dV := make([]float64, panelCount), make([]float64, panelCount), make([]float64, panelCount),
		make([]float64, panelCount)
	for i := range T {
		T[i], V[i] = 250, p.mppFraction*p.openCircuit(250, 0)
	}
	night := &sunlight{sun: body{z: -1}}
	power, irradiance := p.derivatives(night, 250, math.Log(7), T, V, dT, dV)
	for i := range T {
		near(t, "heating in equilibrium", dT[i], 0, 1e-15)
		near(t, "voltage rate in equilibrium", dV[i], 0, 1e-15)
	}
	if power != 0 || irradiance != 0 {
		t.Errorf("power %g W under %g W/m^2 at night", power, irradiance)
	}
	p.derivatives(night, 240, math.Log(7), T, V, dT, dV)
	want := -(p.convection*10 + p.emissivity*stefanBoltzmann*(math.Pow(250, 4)-math.Pow(240, 4))) / p.heatCapacity
	near(t, "cooling", dT[3], want, 1e-12)

	noon := &sunlight{sun: body{z: -1}, direct: 1000}
	power, _ = p.derivatives(noon, 250, math.Log(7), T, V, dT, dV)
	heat := 0.0
	for i := range T {
		heat += dT[i] * p.heatCapacity
		heat -= p.absorptance * 1000 * -p.normals[i].z
	}
	near(t, "light not turned to heat", -heat/p.powerPerArea*p.efficiency, power, 1e-9*power)
}
