package model

import (
	"errors"
	"math"
	"testing"
)

// circuitRates returns the derivatives and the distance for some states and commands; the others are those at rest.
func circuitRates(t *testing.T, states, commands map[int]float64) (rates []float64, distance float64) {
	t.Helper()
	a, err := circuit.New(circuit.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	y, u := make([]float64, len(circuit.States)), make([]float64, len(circuit.Commands))
	a.Initial(y)
	for i, c := range circuit.Commands {
		u[i] = c.Default
	}
	for i, v := range states {
		y[i] = v
	}
	for i, v := range commands {
		u[i] = v
	}
	rates = make([]float64, len(y))
	out := []float64{0}
	a.Derivatives(0, y, u, rates)
	a.Outputs(0, y, u, out)
	return rates, out[0]
}

// Each part alone, against manually computed values.
func TestCircuitParts(t *testing.T) {
	const deg = math.Pi / 180
	for _, c := range []struct {
		what             string
		states, commands map[int]float64
		rate             int
		want             float64
	}{
		{"at rest nothing moves", nil, nil, circuitX, 0},
		{"acceleration is limited", nil, map[int]float64{circuitAirspeedCommand: 16}, circuitAirspeed, 1.5},
		{"so is braking", map[int]float64{circuitAirspeed: 16}, nil, circuitAirspeed, -1.5},
		{"airspeed lags by 3 s", map[int]float64{circuitAirspeed: 13}, map[int]float64{circuitAirspeedCommand: 16},
			circuitAirspeed, 1},
		{"altitude is the integral of the climb rate", map[int]float64{circuitClimb: 2}, nil, circuitAltitude, 2},
		{"climb is limited", nil, map[int]float64{circuitAltitudeCommand: 100}, circuitClimb, 2.27 / 4},
		{"so is sink", map[int]float64{circuitAltitude: 100}, nil, circuitClimb, -2.27 / 4},
		{"near its altitude it climbs by 0.3/s", map[int]float64{circuitAltitude: 246, circuitClimb: 1},
			map[int]float64{circuitAltitudeCommand: 250}, circuitClimb, 0.2 / 4},
		{"it goes where it heads, x", map[int]float64{circuitAirspeed: 10, circuitHeading: 60 * deg}, nil, circuitX, 5},
		{"it goes where it heads, y", map[int]float64{circuitAirspeed: 10, circuitHeading: 60 * deg}, nil, circuitY,
			10 * math.Sin(60*deg)},
		{"a coordinated turn", map[int]float64{circuitAirspeed: 18, circuitBank: 35 * deg}, nil, circuitHeading,
			9.80665 * 0.70020753821 / 18},
		{"a turn on the ground", map[int]float64{circuitBank: 35 * deg}, nil, circuitHeading, 9.80665 * 0.70020753821 / 5},
		{"bank is limited", map[int]float64{circuitAirspeed: 18}, map[int]float64{circuitHeadingCommand: 3}, circuitBank,
			35 * deg},
		{"a small heading error", map[int]float64{circuitAirspeed: 10}, map[int]float64{circuitHeadingCommand: 0.1},
			circuitBank, math.Atan(0.6 / 9.80665)},
		{"it turns the shorter way", map[int]float64{circuitAirspeed: 10, circuitHeading: 3},
			map[int]float64{circuitHeadingCommand: -3}, circuitBank, math.Atan(6 * (2*math.Pi - 6) / 9.80665)},
		{"also after full turns", map[int]float64{circuitAirspeed: 10, circuitHeading: 8 * math.Pi},
			map[int]float64{circuitHeadingCommand: 0.1}, circuitBank, math.Atan(0.6 / 9.80665)},
		{"a waypoint ahead", map[int]float64{circuitAirspeed: 10}, map[int]float64{circuitNavigate: 1,
			circuitHeadingCommand: 2}, circuitBank, 0},
		{"a waypoint to the right", map[int]float64{circuitAirspeed: 10, circuitX: 1910},
			map[int]float64{circuitNavigate: 1, circuitWaypoint: 2}, circuitBank, 35 * deg},
		{"a waypoint to the left", map[int]float64{circuitAirspeed: 10, circuitX: 300, circuitY: 700},
			map[int]float64{circuitNavigate: 1, circuitWaypoint: 4}, circuitBank, -35 * deg},
	} {
		if rates, _ := circuitRates(t, c.states, c.commands); math.Abs(rates[c.rate]-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", c.what, rates[c.rate], c.want)
		}
	}
}

// The distance is that from the waypoint that the pointer points to.
func TestCircuitDistance(t *testing.T) {
	for waypoint, want := range map[float64]float64{1: 1910, 2: math.Hypot(1910, 700), 3: math.Hypot(300, 700), 4: 300} {
		if _, got := circuitRates(t, nil, map[int]float64{circuitWaypoint: waypoint}); math.Abs(got-want) > 1e-9 {
			t.Errorf("waypoint %g: %g m, want %g", waypoint, got, want)
		}
	}
}

// Every parameter reaches the equations: for its name, what a changed value changes.
func TestCircuitParameters(t *testing.T) {
	y, u := []float64{0, 10, 5, 4.5, 1, 0.2, 0.1}, []float64{4, 5.5, 0.3, 0, 2}
	rates := func(values []float64, u []float64) (list []float64) {
		a, err := circuit.New(values)
		if err != nil {
			t.Fatal(err)
		}
		list = make([]float64, len(y)+1)
		a.Derivatives(0, y, u, list[:len(y)])
		a.Outputs(0, y, u, list[len(y):])
		return list
	}
	limits := []float64{40, 400, 3, 0, 2} // where the limits count
	for i, p := range circuit.Parameters {
		values := circuit.Defaults()
		values[i] = p.Default*1.1 + 0.1
		changed := false
		for _, u := range [][]float64{u, limits, {4, 5.5, 0, 1, 1}, {4, 5.5, 0, 1, 2}, {4, 5.5, 0, 1, 3}, {4, 5.5, 0, 1, 4}} {
			was, is := rates(circuit.Defaults(), u), rates(values, u)
			for k := range was {
				changed = changed || was[k] != is[k]
			}
		}
		if !changed {
			t.Errorf("%s changes nothing", p.Name)
		}
		values[i] = p.Max * 2
		if _, err := circuit.New(values); !errors.Is(err, ErrParameters) {
			t.Errorf("%s = %g: %v", p.Name, values[i], err)
		}
	}
}
