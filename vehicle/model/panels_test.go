package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The table's digits.
func TestIncidenceModifierAgreesWithMartinRuiz(t *testing.T) {
	for _, row := range readValidation(t).Modifier.Rows {
		p := panelTerms{minusReflectance: -row.Coefficient, modifierScale: 1 / (1 - math.Exp(-1/row.Coefficient))}
		near(t, "modifier", p.incidenceModifier(math.Cos(row.Incidence*degree)), row.Modifier, 6e-8)
	}
}

// At the test conditions the characteristic passes through the three points of the data sheet. The logarithm's 1 W/m^2
// raises the open circuit voltage by n Vt/1000; the diode's constants leave 1e-6 of the current.
func TestCellAtTestConditions(t *testing.T) {
	p := &newSolar(t).panels
	open := p.terms.openCircuit(cellReference, testIrradiance)
	near(t, "open circuit voltage", open, p.cells*p.openVoltage, 1.01e-3*p.cells*p.thermalVoltage)
	near(t, "short circuit current", p.terms.current(0, cellReference, testIrradiance, open), p.shortCurrent, 1e-12)
	near(t, "current at the maximum power point", p.terms.current(p.terms.mppFraction*open, cellReference, testIrradiance, open),
		p.mppCurrent, 1e-6*p.mppCurrent)
	near(t, "current at open circuit", p.terms.current(open, cellReference, testIrradiance, open), 0, 1e-6*p.shortCurrent)
	if I := p.terms.current(1.1*open, cellReference, testIrradiance, open); I != 0 {
		t.Errorf("current beyond open circuit %g A", I)
	}
}

// The trackers hold a fixed share of the open circuit voltage: that costs less than 1 % of the best power.
func TestTrackedVoltageIsNearBest(t *testing.T) {
	p := &newSolar(t).panels
	for _, irradiance := range []float64{50, 200, 600, 1000, 1300} {
		for _, temperature := range []float64{220, 260, 300, 340} {
			open := p.terms.openCircuit(temperature, irradiance)
			best := 0.0
			for V := 0.0; V < open; V += open / 1000 {
				best = max(best, V*p.terms.current(V, temperature, irradiance, open))
			}
			V := p.terms.mppFraction * open
			if got := V * p.terms.current(V, temperature, irradiance, open); got < 0.99*best || got > 1.0001*best {
				t.Errorf("at %g W/m^2, %g K: %g W of %g W", irradiance, temperature, got, best)
			}
		}
	}
}

// The normals are unit vectors, mirrored in the plane of symmetry, and look up, a little forward and inward.
func TestPanelNormals(t *testing.T) {
	p := &newSolar(t).panels
	for i, x := range p.normals[0] {
		y, z := p.normals[1][i], p.normals[2][i]
		near(t, "length", x*x+y*y+z*z, 1, 1e-15)
		opposite := panelCount - 1 - i
		if x != p.normals[0][opposite] || y != -p.normals[1][opposite] || z != p.normals[2][opposite] {
			t.Errorf("panel %d is not the mirror image of its opposite", i)
		}
		if left := i < panelCount/2; !(z < -0.98 && x > 0) || (y > 0) != left {
			t.Errorf("panel %d looks to %g, %g, %g", i, x, y, z)
		}
	}
}

// The assembly gives what the portable version gives: the same bits, unless the compiler fuses multiplications and
// additions in the latter, and then within 1e-12 of the terms; near open circuit the exponential magnifies roundings.
func TestPanelsAlike(t *testing.T) {
	p := &newSolar(t).panels
	x := 1.1
	fused := multiplyAdd(x, x, -(x*x)) != 0
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var T, V, dT, dV, power, received, dT2, dV2, power2, received2 [panelCount]float64
		elevation, azimuth := (r.Float64()-0.3)*math.Pi/2, r.Float64()*2*math.Pi
		c := &p.terms
		c.sunX, c.sunY = math.Cos(elevation)*math.Cos(azimuth), math.Cos(elevation)*math.Sin(azimuth)
		c.sunZ = -math.Sin(elevation)
		c.direct, c.diffuse = 1400*r.Float64(), 100*r.Float64()
		switch r.IntN(4) {
		case 0:
			c.direct, c.diffuse = 0, 0
		case 1:
			c.direct, c.diffuse = math.Exp2(-80*r.Float64()), math.Exp2(-80*r.Float64())
		}
		c.softened = c.diffuse * diffuseModifier
		c.convection, c.ambient = 30*r.Float64(), 200+100*r.Float64()
		c.ambient4 = math.Pow(c.ambient, 4)
		for i := range T {
			T[i], V[i] = 200+200*r.Float64(), 50*r.Float64()
			switch r.IntN(50) {
			case 0:
				V[i] = (r.Float64() - 0.5) * 1e6
			case 1:
				T[i] = r.Float64() * 1e5
			}
		}
		p.all(&T, &V, &dT, &dV, &power, &received)
		p.each(&T, &V, &dT2, &dV2, &power2, &received2)
		for i := range T {
			for k, pair := range [][2]float64{{dT[i], dT2[i]}, {dV[i], dV2[i]}, {power[i], power2[i]}, {received[i], received2[i]}} {
				scale := math.Abs(pair[1]) + 1 + math.Abs(V[i])*c.currentPerIrradiance*c.direct + T[i]*T[i]*T[i]*T[i]*1e-10
				if !(pair[0] == pair[1] || fused && math.Abs(pair[0]-pair[1]) <= 1e-12*scale) {
					t.Fatalf("panel %d, result %d: %v, portable %v (T %v, V %v, %+v)", i, k, pair[0], pair[1], T[i], V[i], *c)
				}
			}
		}
	}
	// What is not a number stays so.
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		var T, V, dT, dV, power, received [panelCount]float64
		for i := range T {
			T[i], V[i] = 250, 20
		}
		T[3], V[24] = bad, bad
		p.all(&T, &V, &dT, &dV, &power, &received)
		for i := range T {
			finite := dT[i]-dT[i] == 0 && dV[i]-dV[i] == 0
			if finite == (i == 3 || i == 24) {
				t.Errorf("%g: derivatives of panel %d are %g, %g", bad, i, dT[i], dV[i])
			}
		}
	}
}

// A panel in the dark and still air only radiates; one in equilibrium stands still.
func TestPanelHeatBalance(t *testing.T) {
	p := &newSolar(t).panels
	T, V, dT, dV := make([]float64, panelCount), make([]float64, panelCount), make([]float64, panelCount),
		make([]float64, panelCount)
	for i := range T {
		T[i], V[i] = 250, p.terms.mppFraction*p.terms.openCircuit(250, 0)
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
		heat -= p.absorptance * 1000 * -p.normals[2][i]
	}
	near(t, "light not turned to heat", -heat/p.terms.powerPerArea*p.efficiency, power, 1e-9*power)
}

// multiplyAdd is one instruction if the compiler fuses.
//
//go:noinline
func multiplyAdd(a, b, c float64) float64 { return a*b + c }

// BenchmarkPanels compares the two versions of the loop over the panels, at noon and by night.
func BenchmarkPanels(b *testing.B) {
	a := newSolar(b)
	p := &a.panels
	var T, V, dT, dV, power, received [panelCount]float64
	for i := range T {
		T[i], V[i] = 260, 30
	}
	for _, when := range []struct {
		name    string
		direct  float64
		diffuse float64
	}{{"noon", 1200, 50}, {"night", 0, 0}} {
		c := &p.terms
		c.sunX, c.sunY, c.sunZ, c.direct, c.diffuse, c.softened = 0, 0.6, -0.8, when.direct, when.diffuse, when.diffuse
		c.convection, c.ambient, c.ambient4 = 20, 230, 230*230*230*230
		b.Run(when.name+"/vectors", func(b *testing.B) {
			for b.Loop() {
				p.all(&T, &V, &dT, &dV, &power, &received)
			}
		})
		b.Run(when.name+"/portable", func(b *testing.B) {
			for b.Loop() {
				p.each(&T, &V, &dT, &dV, &power, &received)
			}
		})
	}
}
