package rates

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
)

// Invariants of which the exact ones are known.
func TestInvariants(t *testing.T) {
	inf := math.Inf(1)
	const plan = `<ReactiveFallback><ReactiveSequence><Condition name="low" on="x lt 0.3"/><Action name="a" write="u := 100"/>
		</ReactiveSequence><Action name="b" write="u := 50"/></ReactiveFallback>`
	for _, c := range []struct {
		name, vehicle string
		low, high     float64 // of x
	}{
		{"first order", "states: {x: {derivative: \"(u - x) / 5 [s]\"}}\ncommands: {u: {default: 80}}", 0, 100},
		{"first order, with a time constant that varies", "states: {x: {derivative: \"(u - x) * (2 + sin(t / 1 [s])) / 5 [s]\"}}\ncommands: {u: {default: 80}}", 0, 100},
		{"limited battery", "states: {x: {initial: 1, derivative: \"if(x le 0 and u gt 70, 0, if(x ge 1 and u lt 70, 0, (70 - u) / 1000 [s]))\"}}\ncommands: {u: {}}", 0, 1},
		{"limited by the power", "states: {x: {initial: 0.9, derivative: \"if(x ge 1 and P gt 0 or x le 0 and P lt 0, 0, P) / 1 [s]\"}}\noutputs: {P: {value: \"0.3 + sin(t / 1 [s])\"}}", 0, 1},
		{"limited by min", "states: {x: {initial: 0.5, derivative: \"min(0.1, max(-0.2, 1 - x - u / 50)) / 1 [s]\"}}\ncommands: {u: {default: 50}}", -1, 0.5},
		{"relay", "states: {x: {derivative: \"if(x gt 0.5, -1, 1) / 1 [s]\"}}", 0, 0.5},
		{"second order by the first", "states: {x: {derivative: \"(y - x) / 2 [s]\"}, y: {derivative: \"(u - y) / 1 [s]\"}}\ncommands: {u: {}}", 0, 100},
		{"coupled", "states: {x: {derivative: \"(1 - 2 * x + y) / 1 [s]\"}, y: {derivative: \"(x - 2 * y) / 1 [s]\"}}", 0, 2.0 / 3},
		{"drift", "states: {x: {derivative: \"2 [1/s]\"}}", 0, 200},
		{"growth", "states: {x: {initial: 1, derivative: \"x / 1 [s]\"}}", 1, inf},
		{"oscillator", "states: {x: {initial: 1, derivative: \"y / 1 [s]\"}, y: {derivative: \"-x / 1 [s]\"}}", -inf, inf},
		{"square root", "states: {x: {initial: 4, derivative: \"(u / 100 - sqrt(max(x, 0))) / 1 [s]\"}}\ncommands: {u: {}}", 0, 4},
		{"by the time", "states: {x: {derivative: \"(w - x) / 1 [s]\"}}\noutputs: {w: {value: \"sin(t / 1 [s]) + 1\"}}", 0, 2},
		{"reset", "states: {x: {derivative: \"1 [1/s]\"}}\nevents: [{when: x ge 5, then: x := -7}]", -7, 5},
		{"reset by another state", "states: {x: {derivative: \"1 [1/s]\"}, y: {derivative: \"1 [1/s]\"}}\nevents: [{when: y ge 5, then: x := -7}]", -7, 100},
		{"reset where the condition stays true", "states: {x: {derivative: \"1 [1/s]\"}}\nevents: [{when: x ge 5, then: x := 6}]", 0, 106},
		{"thermostat", "states: {x: {initial: 1.5, derivative: \"if(heat, 0.5, -0.7) / 1 [s]\"}}\ndiscrete: {heat: {type: boolean}}\n" +
			"events: [{when: x le 1, then: heat := true}, {when: x gt 2, then: heat := false}]", 1, 2},
		{"thermostat that starts too warm", "states: {x: {initial: 3, derivative: \"if(heat, 0.5, -0.7) / 1 [s]\"}}\ndiscrete: {heat: {type: boolean, initial: true}}\n" +
			"events: [{when: x le 1, then: heat := true}, {when: x gt 2, then: heat := false}]", 1, 53},
		{"thermostat that is switched again", "states: {x: {initial: 1.5, derivative: \"if(heat, 0.5, -0.7) / 1 [s]\"}}\ndiscrete: {heat: {type: boolean}}\n" +
			"events: [{when: x le 1, then: heat := true}, {when: x gt 2, then: heat := false}, {when: \"t ge 5 [s]\", then: heat := true}]", -68.5, 51.5},
		{"reset upwards", "states: {x: {derivative: \"1 [1/s]\"}}\nevents: [{when: x ge 5, then: x := 70}]", 0, 170},
		{"reset by itself", "states: {x: {derivative: \"0 [1/s]\", initial: 4}}\nevents: [{when: \"t ge 5 [s]\", then: x := -x / 2}]", -2, 4},
		{"counter", "states: {x: {derivative: \"0 [1/s]\"}}\nevents: [{when: \"t ge 5 [s]\", then: x := x + 1}]", 0, inf},
	} {
		if !strings.Contains(c.vehicle, "commands") {
			c.vehicle += "\ncommands: {u: {}}"
		}
		x := tableOf(t, c.vehicle, plan, "")
		got := interval.All
		if box := x.enclose(); box != nil {
			got = box.ranges["x"]
		}
		width := 1e-3 // of the slack
		if !math.IsInf(c.high-c.low, 0) {
			width = 3e-3*(c.high-c.low) + 3e-4*max(math.Abs(c.low), math.Abs(c.high))
		}
		near := func(got, exact float64) bool { return got == exact || math.Abs(got-exact) <= width }
		if got.Low > c.low || got.High < c.high || !near(got.Low, c.low) || !near(got.High, c.high) {
			t.Errorf("%s: %v, want %g to %g", c.name, got, c.low, c.high)
		}
	}
}

// leaver fails where a flight leaves the invariants.
type leaver struct {
	record.Nothing
	t     *testing.T
	table *Table
	in    map[string]interval.Interval
	seen  map[string]interval.Interval
}

func (f *leaver) Sample(at float64, values []float64) error {
	for i, name := range f.table.m.Record {
		x, known := f.in[name]
		if !known {
			continue
		}
		if v := values[i]; v == v && !x.Contains(v) {
			f.t.Fatalf("at %g s %s is %.12g, not in %v, at a tolerance of %g\n%s\n%s", at, name, v, x, f.table.m.Tolerance,
				f.table.m.Equations.Text, f.table.m.Plan.Source.Text)
		} else if seen, ok := f.seen[name]; ok {
			f.seen[name] = seen.Join(interval.Point(v))
		} else {
			f.seen[name] = interval.Point(v)
		}
	}
	return nil
}

// randomRate writes the derivative of a state: a drift, a decay, a relay, a saturation, or anything.
func randomRate(r *rand.Rand, x, other string) string {
	number := func() string { return fmt.Sprintf("%.2f", 2*r.NormFloat64()) }
	to := []string{number(), "u", "v", "3 * sin(2 * t / 1 [s])", "w(t)", other, "2 * tanh(" + other + ")", "o"}[r.IntN(8)]
	switch tau := math.Pow(10, 2*r.Float64()-1.5); r.IntN(9) {
	case 0:
		return number()
	case 1, 2:
		return fmt.Sprintf("(%s - %s) / %.2f", to, x, tau)
	case 3:
		return fmt.Sprintf("if(%s gt %s, -%.2f, %.2f)", x, to, tau, 1/tau)
	case 4:
		return fmt.Sprintf("if(%[1]s ge 1 and %[2]s gt 0 or %[1]s le -1 and %[2]s lt 0, 0, %[2]s)", x, to)
	case 5:
		return fmt.Sprintf("min(%.2f, max(-%.2f, %s - %s))", tau, 2*tau, to, x)
	case 6:
		return fmt.Sprintf("%s - %s * abs(%s)", to, x, x)
	case 7:
		return fmt.Sprintf("(1 - %[1]s^2) * (%[1]s - 0.3) + 0.1 * tanh(%[2]s)", x, to)
	default:
		return randomNumber(r, 2, x, other, "u", "t / 5 [s]") + " - " + x
	}
}

// TestFlightsStayWithinInvariants: no flight of a random vehicle leaves a range that is derived from its start, at any
// tolerance.
func TestFlightsStayWithinInvariants(t *testing.T) {
	flights, ends, near := 600, 0, 0
	if testing.Short() {
		flights = 25
	}
	for seed := range uint64(flights) {
		r := rand.New(rand.NewPCG(seed, 9))
		events := ""
		if r.IntN(3) == 0 {
			events = fmt.Sprintf("events: [{when: \"a ge %.2f\", then: \"%s := %s\"}]\n", r.NormFloat64(),
				[]string{"a", "b"}[r.IntN(2)], randomNumber(r, 1, "a", "b", "u"))
		}
		vehicle := fmt.Sprintf(`
states:
  a: {initial: %.2f, derivative: "(%s) / 1 [s]"}
  b: {initial: %.2f, derivative: "(%s) / 1 [s]"}
outputs: {o: {value: "%s"}}
commands: {u: {hold: %t}, v: {hold: %t, default: 0.5}}
tables: {w: {arguments: {t: {unit: s, points: [0, 3, 4, 9]}}, values: [0, 2, -1, 1], outside: clamp}}
`, r.NormFloat64()*math.Exp(4*r.Float64()), randomRate(r, "a", "b"), r.NormFloat64(), randomRate(r, "b", "a"),
			randomNumber(r, 1, "a", "b", "t / 5 [s]"), r.IntN(2) == 0, r.IntN(2) == 0)
		n := 0
		x := tableOf(t, vehicle+events, randomPlan(r, 2, &n), fmt.Sprintf(`
signals: {k: {default: 0.2, hold: true}}
record: {interval: 0.05, signals: [a, b]}
tolerance: %.1e
`, math.Pow(10, -3-6*r.Float64())))
		f := &leaver{t: t, table: x, in: map[string]interval.Interval{}, seen: map[string]interval.Interval{}}
		if box := x.enclose(); box != nil {
			f.in = box.ranges
		}
		w, err := simulated.New(x.m, run.Continuous{}, 20)
		if err != nil {
			t.Fatal(err)
		}
		w.Attach(f)
		for step, more := 0, true; more && err == nil && step < 3000; step++ {
			more, err = w.Step()
		}
		for name, seen := range f.seen {
			for k := range 2 {
				if end := outwards(f.in[name], k); !math.IsInf(end, 1) {
					if ends++; end-outwards(seen, k) < 0.1*(1+math.Abs(end)) {
						near++
					}
				}
			}
		}
	}
	if t.Logf("%d ends, %d flights were near one", ends, near); ends < 2*flights || near < flights/2 {
		t.Errorf("%d ends, %d flights were near one", ends, near)
	}
}
