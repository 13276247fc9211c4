package simulated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
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
	for range 8 {
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
	const horizon = 100.0
	for _, tolerance := range []float64{1e-4, 1e-7, 1e-10} {
		m := equationsMission(t, circle, `<Parallel success_count="-1" failure_count="-1">`+plan.String()+`</Parallel>`,
			fmt.Sprintf("horizon: %g\ntolerance: %g\n", horizon, tolerance))
		_, l, err := fly(t, m)
		if err != nil {
			t.Fatal(err)
		}
		for i, holds := range exact {
			var want []float64
			const dt = 1e-3
			for k := 2; k < horizon/dt; k++ {
				if a := float64(k) * dt; holds(a) != holds(a-dt) {
					want = append(want, a-dt/2)
				}
			}
			got := slices.DeleteFunc(l.changes(m, fmt.Sprint("c", i)), func(t float64) bool { return t < dt })
			near(t, fmt.Sprint(texts[i], " at ", tolerance), got, dt/2+400*tolerance, want...)
		}
	}
}
