package simulated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/expr"
)

// A vehicle flies along the equator at 20 m/s for an hour, in a few steps, and passes places at random distances: each
// circle around a place that it crosses is entered and left where the sphere says.
func TestPassesAreNotMissed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var plan strings.Builder
	var want [][]float64
	for i := range 60 {
		radius := []float64{3, 30, 100, 1000}[r.IntN(4)]
		lat, lon := radius/expr.EarthRadius*(2.2*r.Float64()-1.1), 0.0113*r.Float64()
		var times []float64
		if x := math.Sin(radius/expr.EarthRadius/2) * math.Sin(radius/expr.EarthRadius/2); math.Abs(lat) < radius/expr.EarthRadius {
			y := (x - math.Sin(lat/2)*math.Sin(lat/2)) / math.Cos(lat) // haversines
			turn := 2 * math.Asin(math.Sqrt(y))
			for _, at := range []float64{lon - turn, lon + turn} {
				if at *= expr.EarthRadius / 20; at > 0 && at < 3600 {
					times = append(times, at)
				}
			}
		}
		want = append(want, times)
		fmt.Fprintf(&plan, `<ReactiveSequence><Condition name="c%d" on="distance(lat, lon, %v, %v) le %v [m]"/><Action name="a%d"/></ReactiveSequence>`,
			i, lat, lon, radius, i)
	}
	for _, tolerance := range []float64{1e-4, 1e-6, 1e-9} {
		m := equationsMission(t, fmt.Sprintf(`
states: {lat: {derivative: "0 [1/s]"}, lon: {derivative: "%v [1/s]"}}
`, 20/expr.EarthRadius), `<Parallel success_count="-1" failure_count="-1">`+plan.String()+`</Parallel>`,
			fmt.Sprintf("horizon: 3600\nrecord: {interval: 3600}\ntolerance: %g\n", tolerance))
		run, l := flown(t, m)
		if s := run.Summary(); s.Steps > 500 {
			t.Errorf("%d steps", s.Steps)
		}
		for i := range want {
			near(t, fmt.Sprintf("place %d at %g", i, tolerance), l.changes(m, fmt.Sprint("c", i)), 1e-4, want[i]...)
		}
	}
}
