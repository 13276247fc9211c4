package problems

import "math"

const (
	gravity     = 9.81
	restitution = 0.7
	closed      = "closed form"
)

// zenoTime is the total time of the flights of the ball, dropped from 1 m: t1 (1 + e)/(1 - e), t1 being the first fall.
var zenoTime = math.Sqrt(2/gravity) * (1 + restitution) / (1 - restitution)

// BouncingBall is a point mass above a floor, dropped from 1 m: height and velocity. Each flight takes 0.7 of the time
// of the one before.
var BouncingBall = ball("bouncing-ball", "impacts of a ball dropped from 1 m, e = 0.7", 2.55, 0)

// Zeno is the bouncing ball beyond the time at which its impacts accumulate.
var Zeno = ball("zeno", "the same beyond the time at which the impacts accumulate", 3, zenoTime)

func ball(name, text string, end, zeno float64) *Problem {
	return &Problem{
		Name: name, Text: text, Source: closed,
		Y0: []float64{1, 0}, End: end, Scale: []float64{1},
		Derivatives: func(_ float64, y, _, d []float64) { d[0], d[1] = y[1], -gravity },
		Indicators:  []Indicator{{"h >= 0", Falling}},
		Zeros:       func(_ float64, y, _, g []float64) { g[0] = y[0] },
		// On the floor, and not where the event was located: a ball that starts below it would never come out again.
		React:  func(_ int, y, _ []float64) { y[0], y[1] = 0, -restitution*y[1] },
		Events: impacts(end), Lag: 1, Zeno: zeno,
	}
}

// impacts returns the ball's impacts until end, none if they accumulate before.
func impacts(end float64) (events []Event) {
	if end >= zenoTime {
		return nil
	}
	flight := 2 * math.Sqrt(2/gravity)
	for t := flight / 2; t <= end; t += flight {
		events = append(events, Event{T: t})
		flight *= restitution
	}
	return events
}

// Thermostat heats and cools a body between 280 and 290 K for 30 days: u = 1 heats.
var Thermostat = &Problem{
	Name: "thermostat", Text: "heating with hysteresis for 30 days", Source: closed,
	Y0: []float64{280}, U0: []float64{1}, End: 30 * 86400, Scale: []float64{1},
	Derivatives: func(_ float64, y, u, d []float64) { d[0] = (250 + 60*u[0] - y[0]) / 300 },
	Indicators:  []Indicator{{"T >= 290", Rising}, {"T >= 280", Falling}},
	Zeros:       func(_ float64, y, _, g []float64) { g[0], g[1] = y[0]-290, y[0]-280 },
	React:       func(i int, _, u []float64) { u[0] = float64(i) },
	Events:      switches(30 * 86400), Lag: 1,
}

// switches returns the thermostat's events until end. Heating goes towards 310 K, cooling towards 250 K, at 300 s.
func switches(end float64) (events []Event) {
	on, off := 300*math.Log(30.0/20), 300*math.Log(40.0/30)
	for k := 0.0; ; k++ {
		for i, t := range []float64{k*(on+off) + on, (k + 1) * (on + off)} {
			if t > end {
				return events
			}
			events = append(events, Event{t, i})
		}
	}
}

// DoubleIntegrator is a point mass brought from 1 m to rest at the origin in minimum time: full acceleration, full
// deceleration from the switching curve on, and at rest nothing more. u is the acceleration.
var DoubleIntegrator = &Problem{
	Name: "double-integrator", Text: "minimum-time control to rest at the origin", Source: closed,
	Y0: []float64{1, 0}, U0: []float64{-1}, End: 3, Scale: []float64{1}, Growth: 10, Want: []float64{0, 0},
	Derivatives: func(_ float64, y, u, d []float64) { d[0], d[1] = y[1], u[0] },
	Indicators:  []Indicator{{"switching curve", Rising}, {"v >= 0", Rising}},
	Zeros: func(_ float64, y, u, g []float64) {
		g[0], g[1] = -1, y[1]
		if u[0] < 0 {
			g[0] = -(y[0] + y[1]*math.Abs(y[1])/2)
		}
	},
	React:  func(i int, _, u []float64) { u[0] = float64(1 - i) },
	Events: []Event{{1, 0}, {2, 1}}, Lag: 1,
}
