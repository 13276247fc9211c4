package simulated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// A vehicle that glides on the ground crosses its fence at the time of the closed form: the distance grows as
// v τ (1 - e^(-t/τ)).
func TestFencesAreCrossedWhenTheyAre(t *testing.T) {
	const out = `<Condition name="out" on="fence_breached"/>`
	copter := "horizon: 20\nrecord: {interval: 1}\nparameters: {autopilot.tau_v: 1.5}\ninitial: {v_north: 20, v_east: 10}\n"
	plane := "horizon: 60\nrecord: {interval: 10}\nparameters: {autopilot.tau_V: 10, autopilot.a_max: 9}\ninitial: {airspeed: 20}\n"
	rise := "horizon: 20\nrecord: {interval: 1}\nparameters: {autopilot.tau_w: 1}\ninitial: {climb: 1}\n"
	at := func(tau, whole, part float64) float64 { return -tau * math.Log(1-part/whole) }
	for _, c := range []struct {
		name, vehicle, yaml string
		want                []float64
	}{
		{"a slanted side", "copter", copter + "fence: {inclusion: [{polygon: [[-90, -90], [-90, 120], [120, -90]]}]}",
			[]float64{at(1.5, 45, 30)}},
		{"a dent", "copter", copter + "fence: {inclusion: [{polygon: [[-50, -50], [-50, 90], [90, 90], [10, 0], [90, -50]]}]}",
			[]float64{at(1.5, 30, 18)}},
		{"a circle", "copter", copter + "fence: {inclusion: [{circle: {north: 5, east: 0, radius: 20}}]}",
			[]float64{at(1.5, 2250, 300+math.Sqrt(300*300+4*1125*375))}},
		{"a forbidden circle", "copter", copter + "fence: {exclusion: [{circle: {north: 20, east: 10, radius: 5}}]}",
			[]float64{at(1.5, math.Hypot(30, 15), math.Hypot(20, 10)-5)}},
		{"a side across the way", "plane", plane + "fence: {inclusion: [{polygon: [[-9, -9], [-9, 9], [123, 9], [123, -9]]}]}",
			[]float64{at(10, 200, 123)}},
		{"the height", "plane", rise + "fence: {max_h: 0.5}", []float64{at(1, 1, 0.5)}},
		{"a fence that is far away", "plane", plane + "fence: {inclusion: [{circle: {north: 0, east: 0, radius: 201}}]}", nil},
	} {
		m := contractMission(t, c.vehicle, out, c.yaml)
		_, l := flown(t, m)
		near(t, c.name, l.at(m, "out", bt.Success), 1e-4, c.want...)
	}
}

// On random ways across random polygons, the vehicle is outside its fence where a count of crossings says so.
func TestFencesAreThoseOfTheCrossingNumber(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	changes := 0
	for range 12 {
		var corners []string
		var a earth.Area
		for n, i := 5+r.IntN(12), 0; i < n; i++ { // a star: the angles ascend
			angle, d := 2*math.Pi*(float64(i)+0.9*r.Float64())/float64(n), 5+60*r.Float64()
			p := earth.Coordinates{North: d * math.Cos(angle), East: d * math.Sin(angle)}
			a.Corners = append(a.Corners, p)
			corners = append(corners, fmt.Sprintf("[%v, %v]", p.North, p.East))
		}
		m := contractMission(t, "copter", `<Condition name="out" on="fence_breached"/>`, fmt.Sprintf(
			"horizon: 8\nrecord: {interval: 0.01, signals: [north, east, fence_breached]}\nparameters: {autopilot.tau_v: 2}\n"+
				"initial: {v_north: %v, v_east: %v}\nfence: {inclusion: [{polygon: [%s]}]}\n",
			r.Float64()*80-40, r.Float64()*80-40, strings.Join(corners, ", ")))
		_, l := flown(t, m)
		north, east, out := l.column(m, "north"), l.column(m, "east"), l.column(m, "fence_breached")
		for i := range out {
			if i > 0 && out[i] != out[i-1] {
				changes++
				continue // the sample at the event lies on the fence
			}
			if i+1 < len(out) && out[i] != out[i+1] {
				continue
			}
			if a.Contains(earth.Coordinates{North: north[i], East: east[i]}) == (out[i] == 1) {
				t.Fatalf("at %v, %v of %v: outside %v", north[i], east[i], corners, out[i])
			}
		}
	}
	if changes < 8 {
		t.Errorf("the fences were crossed only %d times", changes)
	}
}
