package model

import (
	"math"
	"testing"
)

// Each part alone, against manually computed values.
func TestCircuitParts(t *testing.T) {
	const deg = math.Pi / 180
	for _, c := range []struct {
		what             string
		states, commands values
		rate             int
		want             float64
	}{
		{"at rest nothing moves", nil, nil, circuitX, 0},
		{"acceleration is limited", nil, values{circuitAirspeedCommand: 16}, circuitAirspeed, 1.5},
		{"so is braking", values{circuitAirspeed: 16}, nil, circuitAirspeed, -1.5},
		{"airspeed lags by 3 s", values{circuitAirspeed: 13}, values{circuitAirspeedCommand: 16},
			circuitAirspeed, 1},
		{"altitude is the integral of the climb rate", values{circuitClimb: 2}, nil, circuitAltitude, 2},
		{"climb is limited", nil, values{circuitAltitudeCommand: 100}, circuitClimb, 2.27 / 4},
		{"so is sink", values{circuitAltitude: 100}, nil, circuitClimb, -2.27 / 4},
		{"near its altitude it climbs by 0.3/s", values{circuitAltitude: 246, circuitClimb: 1},
			values{circuitAltitudeCommand: 250}, circuitClimb, 0.2 / 4},
		{"it goes where it heads, x", values{circuitAirspeed: 10, circuitHeading: 60 * deg}, nil, circuitX, 5},
		{"it goes where it heads, y", values{circuitAirspeed: 10, circuitHeading: 60 * deg}, nil, circuitY,
			10 * math.Sin(60*deg)},
		{"a coordinated turn", values{circuitAirspeed: 18, circuitBank: 35 * deg}, nil, circuitHeading,
			9.80665 * 0.70020753821 / 18},
		{"a turn on the ground", values{circuitBank: 35 * deg}, nil, circuitHeading, 9.80665 * 0.70020753821 / 5},
		{"bank is limited", values{circuitAirspeed: 18}, values{circuitHeadingCommand: 3}, circuitBank,
			35 * deg},
		{"a small heading error", values{circuitAirspeed: 10}, values{circuitHeadingCommand: 0.1},
			circuitBank, math.Atan(0.6 / 9.80665)},
		{"it turns the shorter way", values{circuitAirspeed: 10, circuitHeading: 3},
			values{circuitHeadingCommand: -3}, circuitBank, math.Atan(6 * (2*math.Pi - 6) / 9.80665)},
		{"also after full turns", values{circuitAirspeed: 10, circuitHeading: 8 * math.Pi},
			values{circuitHeadingCommand: 0.1}, circuitBank, math.Atan(0.6 / 9.80665)},
		{"a waypoint ahead", values{circuitAirspeed: 10}, values{circuitNavigate: 1,
			circuitHeadingCommand: 2}, circuitBank, 0},
		{"a waypoint to the right", values{circuitAirspeed: 10, circuitX: 1910},
			values{circuitNavigate: 1, circuitWaypoint: 2}, circuitBank, 35 * deg},
		{"a waypoint to the left", values{circuitAirspeed: 10, circuitX: 300, circuitY: 700},
			values{circuitNavigate: 1, circuitWaypoint: 4}, circuitBank, -35 * deg},
	} {
		if rates := evaluated(t, circuit, circuit.Defaults(), c.states, c.commands); math.Abs(rates[c.rate]-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", c.what, rates[c.rate], c.want)
		}
	}
}

// The distance is that from the waypoint that the pointer points to.
func TestCircuitDistance(t *testing.T) {
	for waypoint, want := range map[float64]float64{1: 1910, 2: math.Hypot(1910, 700), 3: math.Hypot(300, 700), 4: 300} {
		all := evaluated(t, circuit, circuit.Defaults(), nil, values{circuitWaypoint: waypoint})
		if got := all[len(circuit.States)]; math.Abs(got-want) > 1e-9 {
			t.Errorf("waypoint %g: %g m, want %g", waypoint, got, want)
		}
	}
}

func TestCircuitParameters(t *testing.T) {
	command := func(airspeed, altitude, heading, navigate, waypoint float64) values {
		return values{circuitAirspeedCommand: airspeed, circuitAltitudeCommand: altitude, circuitHeadingCommand: heading,
			circuitNavigate: navigate, circuitWaypoint: waypoint}
	}
	checkParameters(t, circuit, []values{{circuitX: 0, circuitY: 10, circuitAltitude: 5, circuitAirspeed: 4.5,
		circuitClimb: 1, circuitHeading: 0.2, circuitBank: 0.1}}, []values{
		command(4, 5.5, 0.3, 0, 2), command(40, 400, 3, 0, 2), // where the limits count
		command(4, 5.5, 0, 1, 1), command(4, 5.5, 0, 1, 2), command(4, 5.5, 0, 1, 3), command(4, 5.5, 0, 1, 4),
	})
}
