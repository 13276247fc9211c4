package model

import (
	"math"
	"testing"
)

// The table gives temperatures to 0.01 K, pressures and densities to 5 digits: half of the last digit, and the gas
// constant of 1976 (287.053) beside ours, stay within the tolerances that its source states.
func TestAtmosphereAgreesWithUS1976(t *testing.T) {
	for _, row := range readValidation(t).US1976.Rows {
		h, a := row[0], standardAir(row[0])
		near(t, "temperature", a.temperature, row[1], 0.0051)
		near(t, "pressure", a.pressure, row[2], 5e-5*row[2])
		near(t, "density", a.density, row[3], 5e-5*row[3])
		if t.Failed() {
			t.Fatalf("at %g m", h)
		}
	}
}

func TestAtmosphereAgreesWithLayerTable(t *testing.T) {
	for _, row := range readValidation(t).Layers.Rows {
		a := standardAir(earthRadius * row[0] / (earthRadius - row[0]))
		near(t, "pressure", a.pressure, row[1], 1e-5*row[1]) // six digits
		near(t, "density", a.density, row[2], 1e-5*row[2])
		near(t, "temperature", a.temperature, row[3], 1e-9)
	}
}

// The source's formula is a fit in geopotential altitude.
func TestPressureAltitude(t *testing.T) {
	for _, row := range readValidation(t).Altitude.Rows {
		a := standardAir(earthRadius * row[0] / (earthRadius - row[0]))
		near(t, "pressure", a.pressure, row[1], 1e-4*row[1])
	}
}

// The gradient is compared with a central difference over 2 m: its error is that of the third derivative, 1e-9 of the
// first.
func TestDensityGradient(t *testing.T) {
	for h := 0.0; h < 20000; h += 137 {
		if math.Abs(h-11019) < 2 {
			continue
		}
		above, below := standardAir(h+1), standardAir(h-1)
		near(t, "gradient", standardAir(h).densityGradient, math.Log(above.density/below.density)/2, 1e-11)
	}
}

// The two layers meet as well as the rounded pressure at the tropopause lets them.
func TestTropopauseIsContinuous(t *testing.T) {
	h := earthRadius * tropopause / (earthRadius - tropopause)
	below, above := standardAir(h-1e-6), standardAir(h+1e-6)
	near(t, "pressure", above.pressure/below.pressure, 1, 1e-6)
	near(t, "density", above.density/below.density, 1, 1e-6)
	near(t, "temperature", above.temperature, below.temperature, 1e-7)
}
