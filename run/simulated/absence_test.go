package simulated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/expr"
)

// random is a random number as an expression, and its value at the time t of the flight of turning.
type random struct {
	text  string
	value func(t float64) float64
}

const phase = 0.3

const turning = `
states: {x: {initial: %v, derivative: "v * 1 [1/s]"}, v: {initial: %v, derivative: "-x * 1 [1/s]"},
  p: {initial: -1, derivative: "w / 1 [s]"}, w: {initial: 0.3, derivative: "-0.02 [1/s]"},
  e: {initial: 3, derivative: "-e / 7 [s]"}, z: {initial: 0.5, derivative: "0.1 [1/s]"}}
`

func one(text string, x random, f func(float64) float64) random {
	return random{fmt.Sprintf(text, x.text), func(t float64) float64 { return f(x.value(t)) }}
}

func two(text string, x, y random, f func(a, b float64) float64) random {
	return random{fmt.Sprintf(text, x.text, y.text), func(t float64) float64 { return f(x.value(t), y.value(t)) }}
}

func mod(a, b float64) float64 { return a - b*math.Floor(a/b) }

func sign(a float64) float64 {
	switch {
	case a > 0:
		return 1
	case a < 0:
		return -1
	}
	return a
}

func randomNumber(r *rand.Rand, depth int) random {
	if depth == 0 {
		c := math.Round(40*r.Float64()-20) / 8
		return []random{
			{"x", func(t float64) float64 { return math.Cos(t + phase) }},
			{"v", func(t float64) float64 { return -math.Sin(t + phase) }},
			{"sin(t * 0.7 / 1 [s])", func(t float64) float64 { return math.Sin(t * 0.7) }},
			{"(t / 10 [s])", func(t float64) float64 { return t / 10 }},
			{"p", func(t float64) float64 { return -1 + t*(0.3-0.01*t) }},
			{"e", func(t float64) float64 { return 3 * math.Exp(-t/7) }},
			{"z", func(t float64) float64 { return 0.5 + 0.1*t }},
			{fmt.Sprintf("(%g)", c), func(float64) float64 { return c }},
		}[r.IntN(8)]
	}
	x, y := randomNumber(r, r.IntN(depth)), randomNumber(r, r.IntN(depth))
	z, w := randomNumber(r, r.IntN(depth)), randomNumber(r, r.IntN(depth))
	angles := func(call string, f func(lat1, lon1, lat2, lon2 float64) float64) random {
		turn := func(a random) func(float64) float64 {
			return func(t float64) float64 { return math.Sin(a.value(t)) / 2 }
		}
		a, b, c, d := turn(x), turn(y), turn(z), turn(w)
		return random{fmt.Sprintf(call, x.text, y.text, z.text, w.text), func(t float64) float64 { return f(a(t), b(t), c(t), d(t)) }}
	}
	all := []random{
		two("(%s + %s)", x, y, func(a, b float64) float64 { return a + b }),
		two("(%s - %s)", x, y, func(a, b float64) float64 { return a - b }),
		two("(%s * %s)", x, y, func(a, b float64) float64 { return a * b }),
		two("(%s / %s)", x, y, func(a, b float64) float64 { return a / b }),
		two("min(%s, %s)", x, y, math.Min),
		two("max(%s, %s)", x, y, math.Max),
		two("atan2(%s, %s)", x, y, math.Atan2),
		one("mod(%s, 0.7)", x, func(a float64) float64 { return mod(a, 0.7) }),
		two("mod(%s, 0.5 + %s^2)", x, y, func(a, b float64) float64 { return mod(a, 0.5+b*b) }),
		one("wrap(3 * %s)", x, func(a float64) float64 { return mod(3*a+math.Pi, 2*math.Pi) - math.Pi }),
		one("(floor(4 * %s) / 4)", x, func(a float64) float64 { return math.Floor(4*a) / 4 }),
		one("sqrt(1 + %s^2)", x, func(a float64) float64 { return math.Sqrt(1 + a*a) }),
		one("abs(%s)", x, math.Abs),
		one("sign(%s)", x, sign),
		one("((%s)^3)", x, func(a float64) float64 { return a * a * a }),
		one("((0.1 + (%s)^2)^-0.7)", x, func(a float64) float64 { return math.Pow(0.1+a*a, -0.7) }),
		one("exp(-(%s)^2)", x, func(a float64) float64 { return math.Exp(-a * a) }),
		one("tanh(5 * %s)", x, func(a float64) float64 { return math.Tanh(5 * a) }),
		one("tan(%s)", x, math.Tan),
		one("sin(3 * %s)", x, func(a float64) float64 { return math.Sin(3 * a) }),
		one("cos(2 * %s)", x, func(a float64) float64 { return math.Cos(2 * a) }),
		one("log(0.1 + (%s)^2)", x, func(a float64) float64 { return math.Log(0.1 + a*a) }),
		one("atan(4 * %s)", x, func(a float64) float64 { return math.Atan(4 * a) }),
		one("asin(0.9 * sin(%s))", x, func(a float64) float64 { return math.Asin(0.9 * math.Sin(a)) }),
		one("acos(0.9 * sin(%s))", x, func(a float64) float64 { return math.Acos(0.9 * math.Sin(a)) }),
		one("roof(%s)", x, roof),
		angles("(distance(sin(%s) / 2, sin(%s) / 2, sin(%s) / 2, sin(%s) / 2) / 1e6 [m])", func(a, b, c, d float64) float64 {
			h := math.Pow(math.Sin((c-a)/2), 2) + math.Cos(a)*math.Cos(c)*math.Pow(math.Sin((d-b)/2), 2)
			return 2 * expr.EarthRadius * math.Asin(math.Sqrt(h)) / 1e6
		}),
		angles("bearing(sin(%s) / 2, sin(%s) / 2, sin(%s) / 2, sin(%s) / 2)", func(a, b, c, d float64) float64 {
			return mod(math.Atan2(math.Sin(d-b)*math.Cos(c),
				math.Cos(a)*math.Sin(c)-math.Sin(a)*math.Cos(c)*math.Cos(d-b)), 2*math.Pi)
		}),
		{fmt.Sprintf("if(%s ge %s, %s, %s)", x.text, y.text, z.text, w.text), func(t float64) float64 {
			switch a, b := x.value(t), y.value(t); {
			case a >= b:
				return z.value(t)
			case a < b:
				return w.value(t)
			}
			return math.NaN()
		}},
	}
	chosen := all[r.IntN(len(all))]
	return random{chosen.text, func(t float64) float64 {
		if v := chosen.value(t); math.Abs(v) < 30 { // near poles, what jumps changes without end
			return v
		}
		return math.NaN()
	}}
}

// roof is a table of the random missions: linear between points, constant outside.
func roof(x float64) float64 {
	at, v := []float64{-1, 0, 0.5, 2}, []float64{0, 1, -1, 2}
	for i := 1; i < len(at); i++ {
		if x < at[i] {
			return v[i-1] + (v[i]-v[i-1])*max(0, x-at[i-1])/(at[i]-at[i-1])
		}
	}
	return v[len(v)-1] + 0*x
}

const roofTable = `tables: {roof: {arguments: {x: {points: [-1, 0, 0.5, 2]}}, values: [0, 1, -1, 2], outside: clamp}}
`

// Of conditions with random functions: the time of a flight [s], the distance of the times at which closed forms are
// evaluated [s], and how long a side must last to be found [s].
const horizon, dt, lasting = 30.0, 4e-3, 0.02

// No change of a condition that lasts is missed, and none is found where there is none, whatever functions the condition
// has: each is compared with its closed form.
func TestAbsenceIsProved(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	rounds, count, changes, used := 12, 0, 0, []string{}
	if testing.Short() {
		rounds = 2
	}
	for range rounds {
		tolerance := math.Pow(10, -4-6*r.Float64())
		m, list := conditions(t, r, tolerance)
		_, l, err := fly(t, m)
		if err != nil {
			t.Log(err)
			continue
		}
		for i, x := range list {
			used = append(used, x.text)
			changes += compareSides(t, x, l.changes(m, fmt.Sprint("c", i)), tolerance)
			count++
		}
	}
	if count < rounds*20 || changes < count {
		t.Errorf("%d conditions, %d changes", count, changes)
	}
	for _, f := range strings.Fields("abs min max sqrt exp log sin cos tan asin acos atan tanh atan2 sign floor mod wrap distance bearing roof") {
		if !slices.ContainsFunc(used, func(text string) bool { return strings.Contains(text, f+"(") }) {
			t.Errorf("no condition has %s", f)
		}
	}
}

// conditions returns a mission with 40 random conditions, and what they compare with 0.
func conditions(t *testing.T, r *rand.Rand, tolerance float64) (*mission.Mission, []random) {
	var plan, outputs strings.Builder
	var list []random
	for len(list) < 40 {
		x := randomNumber(r, 3)
		level := math.Round(400*r.Float64()-200)/100 + 0.003
		text := fmt.Sprintf("%s ge %g", x.text, level)
		e, err := expr.Parse(text)
		ok := err == nil && len(e.Names()) > 0
		for k := 0; ok && k < int(horizon/dt); k++ {
			v := x.value(float64(k) * dt)
			ok = v-v == 0
		}
		if !ok {
			continue
		}
		if len(list)%3 == 0 { // an output of the vehicle
			fmt.Fprintf(&outputs, "o%d: {value: %q},", len(list), x.text)
			text = fmt.Sprintf("o%d ge %g", len(list), level)
		}
		fmt.Fprintf(&plan, `<ReactiveSequence><Condition name="c%d" on="%s"/><Action name="a%d"/></ReactiveSequence>`,
			len(list), text, len(list))
		list = append(list, random{x.text, func(t float64) float64 { return x.value(t) - level }})
	}
	return equationsMission(t, fmt.Sprintf(turning, math.Cos(phase), -math.Sin(phase))+"outputs: {"+
		strings.ReplaceAll(outputs.String()+"}\n"+roofTable, "roof", "arch"),
		`<Parallel success_count="-1" failure_count="-1">`+plan.String()+`</Parallel>`,
		roofTable+fmt.Sprintf("horizon: %g\ntolerance: %g\n", horizon, tolerance)), list
}

// compareSides compares the times at which a condition has changed with its closed form, and returns how many changes
// of sides that last this has.
func compareSides(t *testing.T, x random, got []float64, tolerance float64) (changes int) {
	near := func(a float64) bool { // the value is near zero, or a change is near
		side := x.value(a) >= 0
		for k := -20; k <= 20; k++ {
			v := x.value(a + float64(k)*5e-4)
			if v-v != 0 || (v >= 0) != side || math.Abs(v) < max(1e-4, 100*tolerance) {
				return true
			}
		}
		return false
	}
	for k, a := range got {
		pulse := k > 0 && a-got[k-1] < lasting || k+1 < len(got) && got[k+1]-a < lasting || a < 1e-3
		if !pulse && !near(a) {
			t.Errorf("%s at %g: a change at %v, where the value is %v", x.text, tolerance, a, x.value(a))
			break
		}
	}
	// Sides that last, with a value that is not near zero.
	since, side, sure := 0.0, x.value(dt) >= 0, false
	last, known := side, false
	for k := 1; k < int(horizon/dt); k++ {
		at := float64(k) * dt
		v := x.value(at)
		if (v >= 0) != side {
			since, side, sure = at, v >= 0, false
		}
		if sure = sure || math.Abs(v) > max(1e-3, 1000*tolerance); at-since <= lasting || !sure {
			continue
		}
		if known && last != side {
			changes++
		}
		n := 0 // changes before: the side that the run has now
		for _, a := range got {
			if a <= at-lasting/4 && a > dt {
				n++
			}
		}
		if start := x.value(dt) >= 0; (n%2 == 1) != (start != side) &&
			!slices.ContainsFunc(got, func(a float64) bool { return math.Abs(a-at) < lasting }) {
			t.Errorf("%s at %g: %d changes until %v, where the value is %v since %v", x.text, tolerance, n, at, v, since)
			break
		}
		last, known = side, true
	}
	return changes
}
