package problems

import (
	_ "embed" // the list of events
	"fmt"
	"math"
	"strings"
)

// The inputs of solar72: its modes.
const (
	modeSun = iota
	modePhase
	modeWaypoint
	modeHeat // four of them
	modeFull = modeHeat + 4
	modes    = modeFull + 1
)

const (
	solarLow, solarHigh   = 15000, 20000
	solarEnergy, solarMax = 1.8e7, 1.62e7
)

var (
	waypointX = [4]float64{0, 16000, 16000, 0}
	waypointY = [4]float64{0, 0, 16000, 16000}
)

func solarSun(t float64) float64 { return 0.2 + 0.8*math.Cos(2*math.Pi*(t/86400-0.5)) }

// Solar72 is the synthetic day of a solar aircraft, 72 states and 418 events: a port of shared/solar72, equation by
// equation. Its inputs are the modes.
var Solar72 = &Problem{
	Name: "solar72", Text: "synthetic day of a solar aircraft, 72 states",
	Source: "definition made for this project; events recomputed at 1e-11 by two methods, which agree within 5e-8 s, " +
		"and from solar72.c by the classical Runge-Kutta method with steps of 0.02 s, within 8e-7 s of these",
	Y0: solarStart(), U0: make([]float64, modes), End: 86400, Scale: solarScale(), Costly: true,
	Derivatives: solarDerivatives,
	Indicators: []Indicator{
		{"sun", Either}, {"phase", Rising}, {"waypoint", Rising}, {"heat 0", Rising}, {"heat 1", Rising},
		{"heat 2", Rising}, {"heat 3", Rising}, {"full", Rising},
	},
	Zeros: solarZeros, React: solarReact, Events: readEvents(solarEvents), Lag: 0.5,
}

// solarEvents are the day's events, a line `t index` each.
//
//go:embed solar72_events.txt
var solarEvents string

// readEvents reads lines `t index`.
func readEvents(text string) (events []Event) {
	for line := range strings.Lines(text) {
		var e Event
		if _, err := fmt.Sscan(line, &e.T, &e.Index); err != nil {
			panic("problems: bad list of events")
		}
		events = append(events, e)
	}
	return events
}

func solarStart() []float64 {
	y := make([]float64, 72)
	for i := range 26 {
		y[i] = 250 + 0.5*float64(i)
	}
	y[26], y[27], y[28], y[29], y[30] = 0.4*solarEnergy, -3000, -1000, solarLow, 25
	return y
}

// solarScale returns the nominal values.
func solarScale() []float64 {
	n := make([]float64, 72)
	for i := range n {
		switch {
		case i < 26:
			n[i] = 300
		case i == 26:
			n[i] = solarEnergy
		case i < 30:
			n[i] = 1e4
		case i == 30:
			n[i] = 25
		case i == 31:
			n[i] = 1
		default:
			n[i] = 0.1
		}
	}
	return n
}

func solarDerivatives(t float64, y, u, dy []float64) {
	s := 0.0
	if u[modeSun] != 0 {
		s = solarSun(t)
	}
	h, v, psi, gam, phi := y[29], y[30], y[31], y[32], y[33]
	rho := 0.1948 * math.Exp(-(h-15000)/6350)
	ambient := 216.65 + 0.001*(h-20000)
	var climb float64
	switch u[modePhase] {
	case 1:
		climb = 0.020
	case 3:
		climb = -0.020
	case 0:
		climb = 0.02 * math.Tanh((solarLow-h)/200)
	default:
		climb = 0.02 * math.Tanh((solarHigh-h)/200)
	}
	wp := int(u[modeWaypoint])
	bank := 0.4 * math.Tanh(2*math.Sin(math.Atan2(waypointY[wp]-y[28], waypointX[wp]-y[27])-psi))
	var pa, ga float64
	for k := range 12 {
		w, command := 1+0.5*float64(k), climb
		if k < 6 {
			command = bank
		}
		p, r := y[34+2*k], y[35+2*k]
		dy[34+2*k], dy[35+2*k] = r, w*w*(command-p)-1.4*w*r
		if k < 6 {
			pa += p / 6
		} else {
			ga += p / 6
		}
	}
	bend := 0.0
	for k := range 7 {
		w := 0.5 + 0.3*float64(k)
		p, r := y[58+2*k], y[59+2*k]
		dy[58+2*k] = r
		dy[59+2*k] = w*w*(0.2*phi+0.05*math.Sin(0.002*t+float64(k))-p) - 2*0.3*w*r
		bend += p / 7
	}
	cruise := 25 * math.Sqrt(0.1948/rho)
	dy[27] = v * math.Cos(gam) * math.Cos(psi)
	dy[28] = v * math.Cos(gam) * math.Sin(psi)
	dy[29] = v * math.Sin(gam)
	dy[30] = (cruise - v) / 8
	dy[31] = 9.81/v*math.Tan(phi) + 1e-3*bend
	dy[32] = (ga - gam) / 3
	dy[33] = (pa - phi) / 1.5
	power, azimuth, heating := 0.0, 2*math.Pi*t/86400, 0.0
	for i := range 26 {
		tilt := 0.25 * (float64(i)/25 - 0.5)
		light := s * (1 + 0.3*math.Sin(phi+tilt)*math.Cos(psi-azimuth)) * 1361
		q := 0.05 * light
		if i < 4 {
			q += u[modeHeat+i] * (35 + 2*float64(i))
			heating += u[modeHeat+i] * 20
		}
		power += 0.24 * (1 - 0.0035*(y[i]-298.15)) * light * 1.6
		dy[i] = (ambient + q - y[i]) / (200 + 10*float64(i))
	}
	drag := 0.5 * rho * v * v * 12 * 0.028 * (1 + 0.5*phi*phi)
	thrust := drag + 80*9.81*math.Sin(gam)
	propulsion := 0.5 * (thrust + math.Sqrt(thrust*thrust+4)) * v / 0.75 / 2
	net := power*0.35 - propulsion - heating - 60
	if u[modeFull] != 0 {
		net = net - 0.5*(net+math.Sqrt(net*net+1)) - 40
	}
	dy[26] = net
}

func solarZeros(t float64, y, u, g []float64) {
	g[0] = solarSun(t)
	switch u[modePhase] {
	case 0:
		g[1] = (y[26] - 0.75*solarEnergy) / solarEnergy
	case 1:
		g[1] = (y[29] - (solarHigh - 100)) / 1e4
	case 2:
		g[1] = (0.60*solarEnergy - y[26]) / solarEnergy
	default:
		g[1] = ((solarLow + 100) - y[29]) / 1e4
	}
	wp := int(u[modeWaypoint])
	dx, dy := waypointX[wp]-y[27], waypointY[wp]-y[28]
	g[2] = (500*500 - (dx*dx + dy*dy)) / 1e6
	for j := range 4 {
		low, high := 190+float64(j), 240+float64(j)
		if j < 2 {
			low = 217.5 + float64(j)
		}
		if u[modeHeat+j] != 0 {
			g[3+j] = (y[j] - high) / 10
		} else {
			g[3+j] = (low - y[j]) / 10
		}
	}
	if u[modeFull] != 0 {
		g[7] = (0.97*solarMax - y[26]) / solarEnergy
	} else {
		g[7] = (y[26] - solarMax) / solarEnergy
	}
}

// solarReact changes the mode as event i of solar72 does.
func solarReact(i int, _, u []float64) {
	switch i {
	case 0:
		u[modeSun] = 1 - u[modeSun]
	case 1, 2:
		u[i] = math.Mod(u[i]+1, 4)
	default:
		u[i] = 1 - u[i]
	}
}
