package model

import (
	"math"
	"testing"
)

// Each equation against manually computed numbers.
func TestQuadParts(t *testing.T) {
	const distance, power = 7, 8
	// 1.4 kg are 13.72931 N; over 2 rho A = 0.441 kg/m the induced velocity is 5.579622 m/s.
	hover := 13.72931 * 5.579622 / 0.55
	for _, c := range []struct {
		what             string
		states, commands values
		index            int
		want             float64
	}{
		{"at the start nothing moves", nil, nil, quadX, 0},
		{"hovering", nil, nil, power, hover + 8},
		{"standing", nil, values{quadRotors: 0}, power, 8},
		{"hovering empties the battery", nil, nil, quadCharge, -(hover + 8) / 216000},
		{"climbing", values{quadClimb: 2}, nil, power, hover + 13.72931*2/0.55 + 8},
		{"sinking gains nothing", values{quadClimb: -2}, nil, power, hover + 8},
		{"drag", values{quadVX: 6, quadVY: 8}, nil, power, hover + 1.225*0.02*1000/2/0.55 + 8},
		{"velocity lags by 0.6 s", nil, values{quadVXCommand: 1.2}, quadVX, 2},
		{"acceleration is limited", nil, values{quadVYCommand: -9}, quadVY, -4},
		{"speed is limited", values{quadVX: 9, quadVY: 12}, values{quadVXCommand: 18, quadVYCommand: 24},
			quadVX, 0},
		{"climb is limited", values{quadClimb: 3}, values{quadClimbCommand: 9}, quadClimb, 0},
		{"rotors that stand climb nowhere", nil, values{quadRotors: 0, quadClimbCommand: 3}, quadClimb, 0},
		{"it goes where it flies", values{quadVY: -3}, nil, quadY, -3},
		{"the distance is horizontal", values{quadX: 3, quadY: -4, quadAltitude: 9}, nil, distance, 5},
	} {
		if got := evaluated(t, quad, quad.Defaults(), c.states, c.commands)[c.index]; math.Abs(got-c.want) > 1e-5*(1+math.Abs(c.want)) {
			t.Errorf("%s: %g, want %g", c.what, got, c.want)
		}
	}
}

// At the largest speed and climb rate acceleration is no longer what limits.
func TestQuadParameters(t *testing.T) {
	checkParameters(t, quad,
		[]values{{quadVX: 1, quadVY: -1, quadClimb: 1}, {quadVX: 15, quadClimb: 3}},
		[]values{nil, {quadVXCommand: 20, quadClimbCommand: 10}, {quadVXCommand: 1.5}})
}
