package simulated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
)

// circle is a vehicle that turns about the origin clockwise, at 1 rad/s and a distance of 1, from the direction of x.
const circle = `
states: {x: {initial: 1, derivative: "v * 1 [1/s]"}, v: {derivative: "-x * 1 [1/s]"}}
`

// Jumps of angles are events. Each function of angles is compared with its closed form: a condition changes where the
// closed form does, at each tolerance, whatever the steps are.
func TestAnglesJumpAtEvents(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	wrap := func(x float64) float64 { return x + math.Pi - 2*math.Pi*math.Floor((x+math.Pi)/(2*math.Pi)) - math.Pi }
	mod := func(x float64) float64 { return x - 2*math.Pi*math.Floor(x/(2*math.Pi)) }
	var plan strings.Builder
	var exact []func(t float64) bool
	var texts []string
	add := func(level float64, value func(t float64) float64, text string, numbers ...any) {
		texts = append(texts, fmt.Sprintf(text+" ge %g", append(numbers, level)...))
		fmt.Fprintf(&plan, `<ReactiveSequence><Condition name="c%d" on="%s"/><Action name="a%d"/></ReactiveSequence>`,
			len(exact), texts[len(exact)], len(exact))
		exact = append(exact, func(t float64) bool { return value(t) >= level })
	}
	sets, tolerances := 8, []float64{1e-4, 1e-7, 1e-10}
	if testing.Short() {
		sets, tolerances = 3, []float64{1e-4, 1e-10}
	}
	for range sets {
		a, level := 6*r.Float64()-3, 6*r.Float64()-3
		add(level, func(t float64) float64 { return wrap(-t) }, "atan2(v, x)")
		add(level, func(t float64) float64 { return wrap(t + math.Pi/2) }, "atan2(x, v)")
		add(level, func(t float64) float64 { return wrap(wrap(-t) + a) }, "wrap(atan2(v, x) + %g)", a)
		add(level+3, func(t float64) float64 { return mod(wrap(-t) + a) }, "mod(atan2(v, x) + %g, 2 * pi)", a)
		add(math.Abs(level), func(t float64) float64 { return math.Abs(wrap(a - t)) },
			"abs(wrap(%g + atan2(v, x)))", a)
		add(level, func(t float64) float64 { return wrap(-2 * t) }, "atan2(2 * x * v, x^2 - v^2)")
		add(level, func(t float64) float64 { return math.Sin(wrap(-t)/2) * a }, "sin(atan2(v, x) / 2) * %g", a)
		add(level+3, func(t float64) float64 { return mod(t + math.Pi/2) }, "bearing(0, 0, 0.001 * v, 0.001 * x)")
	}
	const horizon, dt = 100.0, 1e-3
	want := make([][]float64, len(exact))
	for i, holds := range exact {
		before := holds(dt)
		for k := 2; k < horizon/dt; k++ {
			now := holds(float64(k) * dt)
			if now != before {
				want[i] = append(want[i], (float64(k)-0.5)*dt)
			}
			before = now
		}
	}
	for _, tolerance := range tolerances {
		m := equationsMission(t, circle, `<Parallel success_count="-1" failure_count="-1">`+plan.String()+`</Parallel>`,
			fmt.Sprintf("horizon: %g\ntolerance: %g\n", horizon, tolerance))
		_, l := flown(t, m)
		for i := range exact {
			got := slices.DeleteFunc(l.changes(m, fmt.Sprint("c", i)), func(t float64) bool { return t < dt })
			near(t, fmt.Sprint(texts[i], " at ", tolerance), got, dt/2+400*tolerance, want[i]...)
		}
	}
}

// A vehicle that circles a point turns its course by an angle to the point, whose jump is at a place of every round.
// Its path is that of small Runge-Kutta steps of the equations, without the jump.
func TestLoiterLaw(t *testing.T) {
	const speed, radius, gain, horizon = 20.0, 100.0, 0.5, 120.0
	steering := fmt.Sprintf("%g * wrap(atan2(y, x) + pi/2 + atan2(sqrt(x^2 + y^2) - %g [m], %g [m]) - chi) * 1 [1/s]", gain,
		radius, radius)
	slope := func(s [3]float64) [3]float64 {
		x, y, chi := s[0], s[1], s[2]
		wanted := math.Atan2(y, x) + math.Pi/2 + math.Atan2(math.Hypot(x, y)-radius, radius)
		return [3]float64{speed * math.Cos(chi), speed * math.Sin(chi), gain * math.Remainder(wanted-chi, 2*math.Pi)}
	}
	want := [3]float64{300, 40, 1}
	const h = 1e-3
	for range int(horizon / h) {
		add := func(d [3]float64, by float64) (s [3]float64) {
			for i := range s {
				s[i] = want[i] + by*d[i]
			}
			return s
		}
		a := slope(want)
		b := slope(add(a, h/2))
		c := slope(add(b, h/2))
		d := slope(add(c, h))
		for i := range want {
			want[i] += h / 6 * (a[i] + 2*b[i] + 2*c[i] + d[i])
		}
	}
	states := `
states:
  x: {unit: m, initial: 300, derivative: "20 [m/s] * cos(chi)"}
  y: {unit: m, initial: 40, derivative: "20 [m/s] * sin(chi)"}
  chi: {unit: rad, initial: 1, derivative: "%s"}
`
	for name, m := range map[string]*mission.Mission{
		"in the vehicle": equationsMission(t, fmt.Sprintf(states, steering), idle, "horizon: 120\n"),
		"in a task": equationsMission(t, fmt.Sprintf(states, "u")+"commands: {u: {unit: rad/s}}\n",
			`<Action name="go" write="u := `+steering+`"/>`, "horizon: 120\n"),
	} {
		r, l := flown(t, m)
		if s := r.Summary(); s.Steps > 5000 {
			t.Errorf("%s: %d steps", name, s.Steps)
		}
		near(t, name, l.ends(m, "x", "y"), 0.05, want[0], want[1])
	}
}
