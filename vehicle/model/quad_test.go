package model

import (
	"errors"
	"math"
	"testing"
)

// quadRates returns the derivatives, then the outputs, for some states and commands; the others are those at the start.
func quadRates(t *testing.T, parameters []float64, states, commands map[int]float64) []float64 {
	t.Helper()
	q, err := quad.New(parameters)
	if err != nil {
		t.Fatal(err)
	}
	y, u := make([]float64, len(quad.States)), make([]float64, len(quad.Commands))
	q.Initial(y)
	for i, c := range quad.Commands {
		u[i] = c.Default
	}
	for i, v := range states {
		y[i] = v
	}
	for i, v := range commands {
		u[i] = v
	}
	all := make([]float64, len(y)+len(quad.Outputs))
	q.Derivatives(0, y, u, all[:len(y)])
	q.Outputs(0, y, u, all[len(y):])
	return all
}

// Each equation against manually computed numbers.
func TestQuadParts(t *testing.T) {
	const distance, power = 7, 8
	// 1.4 kg are 13.72931 N; over 2 rho A = 0.441 kg/m the induced velocity is 5.579622 m/s.
	hover := 13.72931 * 5.579622 / 0.55
	for _, c := range []struct {
		what             string
		states, commands map[int]float64
		index            int
		want             float64
	}{
		{"at the start nothing moves", nil, nil, quadX, 0},
		{"hovering", nil, nil, power, hover + 8},
		{"standing", nil, map[int]float64{quadRotors: 0}, power, 8},
		{"hovering empties the battery", nil, nil, quadCharge, -(hover + 8) / 216000},
		{"climbing", map[int]float64{quadClimb: 2}, nil, power, hover + 13.72931*2/0.55 + 8},
		{"sinking gains nothing", map[int]float64{quadClimb: -2}, nil, power, hover + 8},
		{"drag", map[int]float64{quadVX: 6, quadVY: 8}, nil, power, hover + 1.225*0.02*1000/2/0.55 + 8},
		{"velocity lags by 0.6 s", nil, map[int]float64{quadVXCommand: 1.2}, quadVX, 2},
		{"acceleration is limited", nil, map[int]float64{quadVYCommand: -9}, quadVY, -4},
		{"speed is limited", map[int]float64{quadVX: 9, quadVY: 12}, map[int]float64{quadVXCommand: 18, quadVYCommand: 24},
			quadVX, 0},
		{"climb is limited", map[int]float64{quadClimb: 3}, map[int]float64{quadClimbCommand: 9}, quadClimb, 0},
		{"rotors that stand climb nowhere", nil, map[int]float64{quadRotors: 0, quadClimbCommand: 3}, quadClimb, 0},
		{"it goes where it flies", map[int]float64{quadVY: -3}, nil, quadY, -3},
		{"the distance is horizontal", map[int]float64{quadX: 3, quadY: -4, quadAltitude: 9}, nil, distance, 5},
	} {
		if got := quadRates(t, quad.Defaults(), c.states, c.commands)[c.index]; math.Abs(got-c.want) > 1e-5*(1+math.Abs(c.want)) {
			t.Errorf("%s: %g, want %g", c.what, got, c.want)
		}
	}
}

// Every parameter reaches the equations, and refuses what is out of its range.
func TestQuadParameters(t *testing.T) {
	states := map[int]float64{quadVX: 1, quadVY: -1, quadClimb: 1}
	for i, p := range quad.Parameters {
		values := quad.Defaults()
		values[i] = p.Default*1.1 + 0.1
		changed := false
		for _, commands := range []map[int]float64{nil, {quadVXCommand: 20, quadClimbCommand: 10}, {quadVXCommand: 1.5}} {
			was, is := quadRates(t, quad.Defaults(), states, commands), quadRates(t, values, states, commands)
			// At the largest speed and climb rate acceleration is no longer what limits.
			fast := map[int]float64{quadVX: p.Default, quadClimb: p.Default}
			was = append(was, quadRates(t, quad.Defaults(), fast, commands)...)
			is = append(is, quadRates(t, values, fast, commands)...)
			for k := range was {
				changed = changed || was[k] != is[k]
			}
		}
		if !changed {
			t.Errorf("%s changes nothing", p.Name)
		}
		values[i] = p.Max * 2
		if _, err := quad.New(values); !errors.Is(err, ErrParameters) {
			t.Errorf("%s = %g: %v", p.Name, values[i], err)
		}
	}
}
