package equations

import (
	"errors"
	"maps"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/vehicle/model"
)

// values are states or commands, by name; the others are those at the start.
type values = map[string]float64

// evaluated returns the outputs by name, and the derivatives as x' for a state x.
func evaluated(t *testing.T, v *model.Vehicle, parameters []float64, states, commands values) values {
	t.Helper()
	a, err := v.New(parameters)
	if err != nil {
		t.Fatal(err)
	}
	y, u := make([]float64, len(v.States)), make([]float64, len(v.Commands))
	a.Initial(y)
	known := 0
	set := func(to *float64, in values, name string) {
		if x, ok := in[name]; ok {
			*to, known = x, known+1
		}
	}
	for i, s := range v.States {
		set(&y[i], states, s.Name)
	}
	for i, c := range v.Commands {
		u[i] = c.Default
		set(&u[i], commands, c.Name)
	}
	if known != len(states)+len(commands) {
		t.Fatalf("%s has not all of %v and %v", v.Name, states, commands)
	}
	rates, outputs, all := make([]float64, len(y)), make([]float64, len(v.Outputs)), values{}
	a.Derivatives(0, y, u, rates)
	a.Outputs(0, y, u, outputs)
	for i, s := range v.States {
		all[s.Name+"'"] = rates[i]
	}
	for i, o := range v.Outputs {
		all[o.Name] = outputs[i]
	}
	return all
}

// equation is a value of a vehicle, computed by hand.
type equation struct {
	what             string
	states, commands values
	name             string
	want             float64
}

func checkEquations(t *testing.T, v *model.Vehicle, tolerance float64, list []equation) {
	t.Helper()
	for _, c := range list {
		got := evaluated(t, v, v.Defaults(), c.states, c.commands)[c.name]
		if !(math.Abs(got-c.want) <= tolerance*(1+math.Abs(c.want))) {
			t.Errorf("%s: %g, want %g", c.what, got, c.want)
		}
	}
}

// checkParameters: each parameter reaches the equations, somewhere, and refuses what is out of its range.
func checkParameters(t *testing.T, v *model.Vehicle, states, commands []values) {
	t.Helper()
	for i, p := range v.Parameters {
		other := v.Defaults()
		other[i] = p.Default*1.1 + 0.1
		changed := false
		for _, y := range states {
			for _, u := range commands {
				changed = changed || !maps.Equal(evaluated(t, v, v.Defaults(), y, u), evaluated(t, v, other, y, u))
			}
		}
		if !changed {
			t.Errorf("%s changes nothing", p.Name)
		}
		other[i] = p.Max * 2
		if _, err := v.New(other); !errors.Is(err, model.ErrParameters) {
			t.Errorf("%s = %g: %v", p.Name, other[i], err)
		}
	}
}

// docs/vehicles-built-in.md describes each vehicle that stands for no autopilot.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/vehicles-built-in.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range Vehicles() {
		if v.Sources == nil && !strings.Contains(string(text), "Vehicle `"+v.Name+"` is ") {
			t.Errorf("the page does not describe %s", v.Name)
		}
	}
}

// Each part of the circuit aircraft alone.
func TestCircuit(t *testing.T) {
	const deg, g = math.Pi / 180, 9.80665
	v := shipped("circuit", text("circuit"))
	list := []equation{
		{"at rest nothing moves", nil, nil, "x'", 0},
		{"acceleration is limited", nil, values{"V_cmd": 16}, "V'", 1.5},
		{"so is braking", values{"V": 16}, nil, "V'", -1.5},
		{"airspeed lags by 3 s", values{"V": 13}, values{"V_cmd": 16}, "V'", 1},
		{"altitude is the integral of the climb rate", values{"w": 2}, nil, "h'", 2},
		{"climb is limited", nil, values{"h_cmd": 100}, "w'", 2.27 / 4},
		{"so is sink", values{"h": 100}, nil, "w'", -2.27 / 4},
		{"near its altitude it climbs by 0.3/s", values{"h": 246, "w": 1}, values{"h_cmd": 250}, "w'", 0.2 / 4},
		{"it goes where it heads, x", values{"V": 10, "chi": 60 * deg}, nil, "x'", 5},
		{"it goes where it heads, y", values{"V": 10, "chi": 60 * deg}, nil, "y'", 10 * math.Sin(60*deg)},
		{"a coordinated turn", values{"V": 18, "phi": 35 * deg}, nil, "chi'", g * 0.70020753821 / 18},
		{"a turn on the ground", values{"phi": 35 * deg}, nil, "chi'", g * 0.70020753821 / 5},
		{"bank is limited", values{"V": 18}, values{"chi_cmd": 3}, "phi'", 35 * deg},
		{"a small heading error", values{"V": 10}, values{"chi_cmd": 0.1}, "phi'", math.Atan(0.6 / g)},
		{"it turns the shorter way", values{"V": 10, "chi": 3}, values{"chi_cmd": -3}, "phi'",
			math.Atan(6 * (2*math.Pi - 6) / g)},
		{"also after full turns", values{"V": 10, "chi": 8 * math.Pi}, values{"chi_cmd": 0.1}, "phi'", math.Atan(0.6 / g)},
		{"a waypoint ahead", values{"V": 10}, values{"navigate": 1, "chi_cmd": 2}, "phi'", 0},
		{"a waypoint to the right", values{"V": 10, "x": 1910}, values{"navigate": 1, "waypoint": 2}, "phi'", 35 * deg},
		{"a waypoint to the left", values{"V": 10, "x": 300, "y": 700}, values{"navigate": 1, "waypoint": 4}, "phi'",
			-35 * deg},
	}
	for k, want := range []float64{1910, math.Hypot(1910, 700), math.Hypot(300, 700), 300} {
		list = append(list, equation{"the distance from a waypoint", nil, values{"waypoint": float64(k + 1)}, "distance", want})
	}
	checkEquations(t, v, 1e-9, list)
	command := func(airspeed, altitude, heading, navigate, waypoint float64) values {
		return values{"V_cmd": airspeed, "h_cmd": altitude, "chi_cmd": heading, "navigate": navigate, "waypoint": waypoint}
	}
	checkParameters(t, v, []values{{"x": 0, "y": 10, "h": 5, "V": 4.5, "w": 1, "chi": 0.2, "phi": 0.1}}, []values{
		command(4, 5.5, 0.3, 0, 2), command(40, 400, 3, 0, 2), // where the limits count
		command(4, 5.5, 0, 1, 1), command(4, 5.5, 0, 1, 2), command(4, 5.5, 0, 1, 3), command(4, 5.5, 0, 1, 4),
	})
}

// Each part of the quadrotor alone. At the largest speed and climb rate acceleration is no longer what limits.
func TestQuad(t *testing.T) {
	v := shipped("quad", text("quad"))
	// 1.4 kg are 13.72931 N; over 2 rho A = 0.441 kg/m the induced velocity is 5.579622 m/s.
	hover := 13.72931 * 5.579622 / 0.55
	checkEquations(t, v, 1e-5, []equation{
		{"at the start nothing moves", nil, nil, "x'", 0},
		{"hovering", nil, nil, "P", hover + 8},
		{"standing", nil, values{"rotors": 0}, "P", 8},
		{"hovering empties the battery", nil, nil, "soc'", -(hover + 8) / 216000},
		{"climbing", values{"w": 2}, nil, "P", hover + 13.72931*2/0.55 + 8},
		{"sinking gains nothing", values{"w": -2}, nil, "P", hover + 8},
		{"drag", values{"vx": 6, "vy": 8}, nil, "P", hover + 1.225*0.02*1000/2/0.55 + 8},
		{"velocity lags by 0.6 s", nil, values{"vx_cmd": 1.2}, "vx'", 2},
		{"acceleration is limited", nil, values{"vy_cmd": -9}, "vy'", -4},
		{"speed is limited", values{"vx": 9, "vy": 12}, values{"vx_cmd": 18, "vy_cmd": 24}, "vx'", 0},
		{"climb is limited", values{"w": 3}, values{"w_cmd": 9}, "w'", 0},
		{"rotors that stand climb nowhere", nil, values{"rotors": 0, "w_cmd": 3}, "w'", 0},
		{"it goes where it flies", values{"vy": -3}, nil, "y'", -3},
		{"the distance is horizontal", values{"x": 3, "y": -4, "h": 9}, nil, "distance", 5},
	})
	checkParameters(t, v, []values{{"vx": 1, "vy": -1, "w": 1}, {"vx": 15, "w": 3}},
		[]values{nil, {"vx_cmd": 20, "w_cmd": 10}, {"vx_cmd": 1.5}})
}
