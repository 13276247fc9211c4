package problems

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.15g, want %.15g", what, got, want)
	}
}

// Each problem is consistent: dimensions, order of events, a right-hand side that writes every derivative, reactions
// that change nothing of the description.
func TestProblemsAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, p := range All() {
		if names[p.Name] || p.Name != strings.ToLower(p.Name) || p.Text == "" || p.Source == "" {
			t.Errorf("%q: not a name, or a text is missing", p.Name)
		}
		names[p.Name] = true
		if n := len(p.Scale); n != 1 && n != len(p.Y0) || len(p.Want) > len(p.Y0) {
			t.Errorf("%s: scales or values do not fit the states", p.Name)
		}
		if p.Want == nil && p.Events == nil && p.Zeno == 0 {
			t.Errorf("%s: nothing is known", p.Name)
		}
		if (p.Want != nil) != (p.Growth > 0) || (p.Events != nil) && !(p.Lag > 0) {
			t.Errorf("%s: values without a tolerance or a tolerance without values", p.Name)
		}
		d, g := slices.Repeat([]float64{math.NaN()}, len(p.Y0)), slices.Repeat([]float64{math.NaN()}, len(p.Indicators))
		p.RightHandSide(0, p.Y0, d)
		if p.Zeros != nil {
			p.Zeros(0, p.Y0, p.U0, g)
		}
		for _, x := range slices.Concat(d, g) {
			if x-x != 0 {
				t.Errorf("%s: derivatives %v, indicators %v", p.Name, d, g)
				break
			}
		}
		last := 0.0
		for _, e := range p.Events {
			if e.T < last || e.T > p.End || e.Index >= len(p.Indicators) {
				t.Errorf("%s: event %v after %v", p.Name, e, last)
			}
			last = e.T
		}
	}
}

// The closed forms give the published digits.
func TestClosedForms(t *testing.T) {
	impacts := []float64{
		0.451523640986, 1.083656738366, 1.526149906532, 1.835895124248, 2.052716776649, 2.204491933330,
		2.310734543007, 2.385104369781, 2.437163248522,
	}
	for k, want := range impacts {
		near(t, "impact", BouncingBall.Events[k].T, want, 1e-12)
	}
	near(t, "Zeno time", Zeno.Zeno, 2.558633965585808, 1e-15)
	near(t, "heating", Thermostat.Events[0].T, 121.639532432449, 1e-12)
	near(t, "period", Thermostat.Events[1].T, 207.944154167984, 1e-12)
	if n := len(Thermostat.Events); n != 24929 {
		t.Errorf("%d switches in 30 days", n)
	}
	near(t, "A2", DetestA2.Want[0], 1/math.Sqrt(21), 1e-15)
	for _, p := range []*Problem{DetestD1, DetestD3, DetestD5} {
		e := 1 - p.Y0[0]
		anomaly := math.Pi // of Kepler's equation E - e sin E = t, by Newton's method
		for range 50 {
			anomaly -= (anomaly - e*math.Sin(anomaly) - p.End) / (1 - e*math.Cos(anomaly))
		}
		near(t, p.Name+" x", p.Want[0], math.Cos(anomaly)-e, 1e-13)
		near(t, p.Name+" y", p.Want[1], math.Sqrt(1-e*e)*math.Sin(anomaly), 1e-13)
	}
}

func TestErrors(t *testing.T) {
	p := &Problem{
		Want: []float64{1, -3}, Scale: []float64{1}, Indicators: make([]Indicator, 2),
		Events: []Event{{1, 0}, {2, 1}, {3, 0}},
	}
	if e := p.Error([]float64{1.5, -2, 7}); e != 0.25 {
		t.Errorf("error %v, want 1/4", e)
	}
	for _, c := range []struct {
		events            []Event
		seconds, relative float64
		complete          bool
	}{
		{[]Event{{1, 0}, {2, 1}, {3, 0}}, 0, 0, true},
		{[]Event{{2.5, 1}, {1.5, 0}, {3, 0}}, 0.5, 0.25, true}, // neighbours changed places
		{[]Event{{1, 0}, {2, 1}}, 0, 0, false},
		{[]Event{{1, 0}, {2, 0}, {3, 0}}, 1, 0.25, false},
		{nil, 0, 0, false},
	} {
		if s, r, complete := p.EventError(c.events); s != c.seconds || r != c.relative || complete != c.complete {
			t.Errorf("%v: %v s, %v, complete %v", c.events, s, r, complete)
		}
	}
	if e := BouncingBall.Error([]float64{0, 0}); !math.IsNaN(e) {
		t.Errorf("error %v against values that are not known", e)
	}
}

// The port agrees with solar72.c on the three points of rhs_testvectors.txt.
func TestSolar72IsThePublishedOne(t *testing.T) {
	const name = "../../../shared/solar72/rhs_testvectors.txt"
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
	u := make([]float64, modes)
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
			Solar72.Derivatives(at, y, u, got)
			compare("dy", got, numbers(value))
			points++
		case "g":
			got := make([]float64, 8)
			Solar72.Zeros(at, y, u, got)
			compare("g", got, numbers(value))
		default:
			var n, sun, phase, wp, full int
			var heat string
			if _, err := fmt.Sscanf(lines.Text(), "case %d t=%g modes sun=%d phase=%d wp=%d heat=%4s full=%d",
				&n, &at, &sun, &phase, &wp, &heat, &full); err != nil {
				t.Fatal(lines.Text(), err)
			}
			u[modeSun], u[modePhase] = float64(sun), float64(phase)
			u[modeWaypoint], u[modeFull] = float64(wp), float64(full)
			for j := range 4 {
				u[modeHeat+j] = float64(heat[j] - '0')
			}
		}
	}
	if points != 3 {
		t.Errorf("%d points, want 3", points)
	}
}
