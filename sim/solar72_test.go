package sim

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"canopy/ode"
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

// solar72 is the synthetic day of shared/solar72: a port of solar72.c, equation by equation.
func solar72() (sys *System, y0 []float64) {
	sys = &System{Inputs: modes, Derivatives: solarDerivatives, Zeros: solarZeros}
	for i := range 72 {
		sys.States = append(sys.States, fmt.Sprint("y", i))
	}
	for _, n := range []string{"sun", "phase", "waypoint", "heat 0", "heat 1", "heat 2", "heat 3", "full"} {
		sys.Indicators = append(sys.Indicators, Indicator{Name: n})
	}
	y0 = make([]float64, 72)
	for i := range 26 {
		y0[i] = 250 + 0.5*float64(i)
	}
	y0[26], y0[27], y0[28], y0[29], y0[30] = 0.4*solarEnergy, -3000, -1000, solarLow, 25
	return sys, y0
}

// solarTolerances returns the absolute tolerances: the relative one times the nominal values.
func solarTolerances(rtol float64) []float64 {
	n := make([]float64, 72)
	for i := range n {
		switch {
		case i < 26:
			n[i] = 300 * rtol
		case i == 26:
			n[i] = solarEnergy * rtol
		case i < 30:
			n[i] = 1e4 * rtol
		case i == 30:
			n[i] = 25 * rtol
		case i == 31:
			n[i] = rtol
		default:
			n[i] = 0.1 * rtol
		}
	}
	return n
}

func solarDerivatives(t float64, y []float64, d *Discrete, dy []float64) {
	s := 0.0
	if d.U[modeSun] != 0 {
		s = solarSun(t)
	}
	h, v, psi, gam, phi := y[29], y[30], y[31], y[32], y[33]
	rho := 0.1948 * math.Exp(-(h-15000)/6350)
	ambient := 216.65 + 0.001*(h-20000)
	var climb float64
	switch d.U[modePhase] {
	case 1:
		climb = 0.020
	case 3:
		climb = -0.020
	case 0:
		climb = 0.02 * math.Tanh((solarLow-h)/200)
	default:
		climb = 0.02 * math.Tanh((solarHigh-h)/200)
	}
	wp := int(d.U[modeWaypoint])
	bank := 0.4 * math.Tanh(2*math.Sin(math.Atan2(waypointY[wp]-y[28], waypointX[wp]-y[27])-psi))
	var pa, ga float64
	for k := range 12 {
		w, u := 1+0.5*float64(k), climb
		if k < 6 {
			u = bank
		}
		p, r := y[34+2*k], y[35+2*k]
		dy[34+2*k], dy[35+2*k] = r, w*w*(u-p)-1.4*w*r
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
			q += d.U[modeHeat+i] * (35 + 2*float64(i))
			heating += d.U[modeHeat+i] * 20
		}
		power += 0.24 * (1 - 0.0035*(y[i]-298.15)) * light * 1.6
		dy[i] = (ambient + q - y[i]) / (200 + 10*float64(i))
	}
	drag := 0.5 * rho * v * v * 12 * 0.028 * (1 + 0.5*phi*phi)
	thrust := drag + 80*9.81*math.Sin(gam)
	propulsion := 0.5 * (thrust + math.Sqrt(thrust*thrust+4)) * v / 0.75 / 2
	net := power*0.35 - propulsion - heating - 60
	if d.U[modeFull] != 0 {
		net = net - 0.5*(net+math.Sqrt(net*net+1)) - 40
	}
	dy[26] = net
}

func solarZeros(t float64, y []float64, d *Discrete, g []float64) {
	g[0] = solarSun(t)
	switch d.U[modePhase] {
	case 0:
		g[1] = (y[26] - 0.75*solarEnergy) / solarEnergy
	case 1:
		g[1] = (y[29] - (solarHigh - 100)) / 1e4
	case 2:
		g[1] = (0.60*solarEnergy - y[26]) / solarEnergy
	default:
		g[1] = ((solarLow + 100) - y[29]) / 1e4
	}
	wp := int(d.U[modeWaypoint])
	dx, dy := waypointX[wp]-y[27], waypointY[wp]-y[28]
	g[2] = (500*500 - (dx*dx + dy*dy)) / 1e6
	for j := range 4 {
		low, high := 190+float64(j), 240+float64(j)
		if j < 2 {
			low = 217.5 + float64(j)
		}
		if d.U[modeHeat+j] != 0 {
			g[3+j] = (y[j] - high) / 10
		} else {
			g[3+j] = (low - y[j]) / 10
		}
	}
	if d.U[modeFull] != 0 {
		g[7] = (0.97*solarMax - y[26]) / solarEnergy
	} else {
		g[7] = (y[26] - solarMax) / solarEnergy
	}
}

// solarReact changes the mode as event i of solar72 does.
func solarReact(i int, u []float64) {
	switch i {
	case 0:
		u[modeSun] = 1 - u[modeSun]
	case 1, 2:
		u[i] = math.Mod(u[i]+1, 4)
	default:
		u[i] = 1 - u[i]
	}
}

// solarStart makes the day's simulator: all zero functions act as they rise, that of the sun also as it falls.
func solarStart(t testing.TB, o Options) *Simulator {
	t.Helper()
	sys, y0 := solar72()
	if o.RelTol == 0 {
		o.RelTol = 1e-6
	}
	o.AbsTol = solarTolerances(o.RelTol)
	s := start(t, sys, y0, make([]float64, modes), o)
	for i := range s.Watch {
		s.Watch[i] = Rising
	}
	s.Watch[0] = Either
	return s
}

// solarDay runs to the time given.
func solarDay(t testing.TB, s *Simulator, until float64) (log []happening) {
	t.Helper()
	for s.T < until {
		seg, err := s.Advance(until)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range seg.Events {
			log = append(log, happening{seg.To, i})
			solarReact(i, s.U)
		}
		if len(seg.Events) > 0 {
			if _, err := s.Iterate(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return log
}

// The port agrees with solar72.c on the three points of rhs_testvectors.txt.
func TestSolar72Port(t *testing.T) {
	const name = "../../shared/solar72/rhs_testvectors.txt"
	f, err := os.Open(name)
	if err != nil {
		t.Skip("the reference data of solar72 is not here: ", name)
	}
	defer func() { _ = f.Close() }()
	numbers := func(text string) (x []float64) {
		for _, w := range strings.Fields(text) {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(err)
			}
			x = append(x, v)
		}
		return x
	}
	var at float64
	var y []float64
	d := &Discrete{U: make([]float64, modes)}
	compare := func(what string, got, want []float64) {
		for i, w := range want {
			near(t, fmt.Sprintf("%s[%d] at %v", what, i, at), got[i], w, 1e-12*max(1, math.Abs(w)))
		}
	}
	lines, points := bufio.NewScanner(f), 0
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		switch strings.TrimSpace(key) {
		case "y":
			y = numbers(value)
		case "dy":
			got := make([]float64, 72)
			solarDerivatives(at, y, d, got)
			compare("dy", got, numbers(value))
			points++
		case "g":
			got := make([]float64, 8)
			solarZeros(at, y, d, got)
			compare("g", got, numbers(value))
		default:
			var n, sun, phase, wp, full int
			var heat string
			if _, err := fmt.Sscanf(lines.Text(), "case %d t=%g modes sun=%d phase=%d wp=%d heat=%4s full=%d",
				&n, &at, &sun, &phase, &wp, &heat, &full); err != nil {
				t.Fatal(lines.Text(), err)
			}
			d.U[modeSun], d.U[modePhase] = float64(sun), float64(phase)
			d.U[modeWaypoint], d.U[modeFull] = float64(wp), float64(full)
			for j := range 4 {
				d.U[modeHeat+j] = float64(heat[j] - '0')
			}
		}
	}
	if points != 3 {
		t.Errorf("%d points, want 3", points)
	}
}

// All 418 events at the default tolerance, without a maximum step, each within 0.05 s of a run at a tight one. Known
// from two independent methods at 1e-11: 2 of the sun, 4 phases, 173 waypoints, 112 and 121 of two thermostats, 6
// battery full.
func TestSolar72FindsAllEvents(t *testing.T) {
	s := solarStart(t, Options{})
	log := solarDay(t, s, 86400)
	count := make([]int, 8)
	for _, e := range log {
		count[e.Indicator]++
	}
	if want := [8]int{2, 4, 173, 112, 121, 0, 0, 6}; [8]int(count) != want {
		t.Fatalf("events by indicator %v, want %v", count, want)
	}
	if testing.Short() {
		return
	}
	reference := solarDay(t, solarStart(t, Options{Options: ode.Options{RelTol: 1e-10}}), 86400)
	worst := 0.0
	for k, e := range reference {
		if log[k].Indicator != e.Indicator {
			t.Fatalf("event %d is %v, want %v", k, log[k], e)
		}
		worst = max(worst, math.Abs(log[k].T-e.T))
	}
	t.Logf("worst event %.3g s off", worst)
	if len(reference) != 418 || worst > 0.05 {
		t.Errorf("%d events, worst %.3g s off", len(reference), worst)
	}
}
