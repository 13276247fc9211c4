package model

import (
	"math"
	"testing"
)

// At the terminals the current gives the power asked for, up to the largest power the pack can give.
func TestBatteryPowerBalance(t *testing.T) {
	b := &newSolar(t).battery
	rates := make([]float64, 4)
	for _, power := range []float64{-3000, -100, 0, 537, 2000} {
		y := []float64{0.6, 0.05, 0.02, 290}
		current, voltage := b.derivatives(y, rates, power, 40, 250)
		near(t, "power", current*voltage, power, 1e-9*math.Abs(power)+1e-9)
		near(t, "voltage", voltage, b.openCircuit(0.6)-0.07-b.r0*current, 1e-12)
		stored := current
		if current < 0 {
			stored *= 0.99
		}
		near(t, "charge", rates[0]*b.charge, -stored, 1e-12*math.Abs(stored))
	}
	E := b.openCircuit(0.6)
	current, voltage := b.derivatives([]float64{0.6, 0, 0, 290}, rates, 1e6, 0, 290)
	near(t, "current beyond the largest power", current, E/(2*b.r0), 1e-9)
	near(t, "voltage beyond the largest power", voltage, E/2, 1e-9)
}

// The charge drawn at the open circuit voltage is the energy content, as well as the assumed nominal voltage hits the
// mean of the curve: 0.7 %.
func TestBatteryEnergyContent(t *testing.T) {
	b := &newSolar(t).battery
	const steps = 10000
	energy := 0.0
	for i := range steps {
		energy += b.openCircuit((float64(i)+0.5)/steps) * b.charge / steps
	}
	near(t, "energy", energy/3600, b.energy, 0.01*b.energy)
}

// Hand calculation: E = 14 (3.35 + 0.55 + 0.25) V for the full pack, monotone below.
func TestBatteryVoltage(t *testing.T) {
	b := &newSolar(t).battery
	near(t, "voltage of the full pack", b.openCircuit(1), 58.1, 1e-9)
	for s := -0.04; s < 1; s += 0.01 {
		if b.openCircuit(s) >= b.openCircuit(s+0.01) {
			t.Errorf("the voltage falls with charge at %g", s)
		}
	}
}

func TestBatteryChargeLimit(t *testing.T) {
	b := &newSolar(t).battery
	for _, c := range []struct{ soc, want float64 }{
		{0, 3720}, {0.96, 3720}, {0.98, 3720 * math.Sqrt(0.15)}, {0.997, 3720 * math.Pow(0.15, 0.925)},
		{1, 0}, {1.01, 0},
	} {
		near(t, "limit", b.chargeLimit(c.soc), c.want, 1e-9*3720)
	}
	for s := 0.9; s < 1.01; s += 1e-5 { // no jump
		if step := b.chargeLimit(s) - b.chargeLimit(s+1e-5); step < 0 || step > 3 {
			t.Fatalf("the limit falls by %g W at %g", step, s)
		}
	}
}
