package rates

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr/interval"
)

// quad returns the rates of a mission of the built-in quadrotor.
func quad(t *testing.T, plan, sections string) *Table {
	t.Helper()
	return readTable(t, "m.yaml", func(name string) ([]byte, error) {
		if strings.HasSuffix(name, ".xml") {
			return []byte(`<root BTCPP_format="4"><BehaviorTree ID="p">` + plan + `</BehaviorTree></root>`), nil
		}
		return []byte("plan: p.xml\nvehicle: quad\nhorizon: 100\n" + sections), nil
	})
}

// TestSampled: rates of a vehicle that is a program are those at points of the ranges: never outside the closed form,
// and near to its ends.
func TestSampled(t *testing.T) {
	x := quad(t, `<Sequence><Condition name="c" on="soc gt 0.3 + distance / 3 [km]"/><Action name="up" write="w_cmd := 2"/>
		<Action name="stop" write="rotors := 0"/></Sequence>`, `check: {facts: [w >= -3 and w <= 2, abs(vx) <= 10, abs(vy) <= 10, abs(x) <= 700, abs(y) <= 700]}`)
	weight := 1.4 * 9.80665
	hover := weight * math.Sqrt(weight/(2*1.225*0.18))
	drawn := func(w, v float64) float64 {
		return ((hover+weight*max(w, 0)+1.225*0.02*v*v*v/2)/0.55 + 8) / (3600 * 60)
	}
	for _, c := range []struct {
		task, signal string
		low, high    float64
	}{
		{"up", "h", -3, 2}, {"up", "soc", -drawn(2, math.Sqrt(200)), -8.0 / (3600 * 60)}, {"up", "distance", -math.Sqrt(200), math.Sqrt(200)},
		{"stop", "soc", -8.0 / (3600 * 60), -8.0 / (3600 * 60)}, {"up", "vx", -4, 4},
	} {
		r, ok := x.Rate(x.task(t, c.task), c.signal, nil)
		slack := 0.15*(c.high-c.low) + 1e-4*math.Abs(c.low)
		if !ok || r.From != declare.Sampled || r.Samples != points || r.Jumps ||
			r.Low < c.low-1e-3*math.Abs(c.low) || r.High > c.high+1e-3*math.Abs(c.high) || r.Low > c.low+slack || r.High < c.high-slack {
			t.Errorf("%s while %s is active: %+v %v, want %v to %v", c.signal, c.task, r, ok, c.low, c.high)
		}
	}
	if r, ok := x.Rate(x.task(t, "up"), "P", nil); !ok || !r.Jumps {
		t.Errorf("the power does not jump: %+v %v", r, ok)
	}
}

// TestUnlimited: without the range of a state that matters, nothing is sampled, and runs watch nothing.
func TestUnlimited(t *testing.T) {
	x := quad(t, `<Sequence><Condition name="c" on="soc gt 0.3"/><Action name="up" write="w_cmd := 2"/></Sequence>`, "")
	up := x.task(t, "up")
	for _, name := range []string{"vx", "vy", "w"} {
		x.ranges[name] = interval.All
	}
	if _, ok := x.Rate(up, "soc", nil); ok || x.Watch() != nil {
		t.Error("a rate without ranges")
	}
	if got := x.Missing(up, "soc"); !slices.Equal(got, []string{"vx", "vy", "w"}) {
		t.Errorf("missing %v", got)
	}
}

// TestSampledRatesAreWatched: each sampled rate of a signal that conditions or declarations read, unless it is declared
// or the signal jumps.
func TestSampledRatesAreWatched(t *testing.T) {
	x := quad(t, `<Sequence><Condition name="c" on="h gt 3"/><Action name="up" write="w_cmd := 2" done="P gt 1000"/>
		<Action name="on" write="w_cmd := 0"/></Sequence>`,
		"check: {effects: {up: {h: [0, 3]}}, properties: [always h lt 100, always vx lt 10]}")
	var got []string
	for _, a := range x.Watch() {
		got = append(got, a.Text)
	}
	want := []string{"up: vx [-4, 4], as sampled", "on: h [-10, 10], as sampled", "on: vx [-4, 4], as sampled"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPoints: the points fill the box evenly.
func TestPoints(t *testing.T) {
	x := quad(t, `<Action name="up" write="w_cmd := 2"/>`, "check: {facts: [abs(x) <= 1, abs(y) <= 1]}")
	p := x.newProbe(x.task(t, "up"))
	var cells [4]int
	for n := range points {
		p.place(n)
		k := 0
		if p.at[1] > 0 {
			k++
		}
		if p.at[2] > 0 {
			k += 2
		}
		cells[k]++
	}
	for _, n := range cells {
		if n < points/4-points/20 {
			t.Errorf("points by quarter: %v", cells)
		}
	}
}
