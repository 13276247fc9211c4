package driver

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/run/flight"
	"canopy/run/record"
)

// Each leg of a plane ends, whatever the radius of its circles is, its own or the one of the action, in any wind; and it
// ends near the target: not farther from it than the radius, 25 m, and what the speed makes of it. So does a return.
func TestLegsEndAtAnyRadius(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for seed := range uint64(2 * rounds) {
		firmware, parameter := fake.ArduPlane, "WP_LOITER_RAD"
		if seed%2 == 1 {
			firmware, parameter = fake.PX4Plane, "NAV_LOITER_RAD"
		}
		r := rand.New(rand.NewPCG(seed, 23))
		radius := func() int { return 20 + r.IntN(381) }
		own := radius()
		body, legs, at := "<Sequence><take_off/>", []int{}, [][2]float64{}
		for i := range 3 {
			wanted := []int{0, radius()}[r.IntN(2)]
			legs = append(legs, max(wanted, own*boolean(wanted == 0)))
			at = append(at, [2]float64{4000*r.Float64() - 2000, 4000*r.Float64() - 2000})
			body += fmt.Sprintf(`<fly_to name="leg_%d" to_north="%g [m]" to_east="%g [m]" to_h="%d [m]" to_radius="%d [m]" limit="5 [min]"/>`,
				i, at[i][0], at[i][1], 70+r.IntN(30), wanted)
		}
		m := libraryMission(t, "plane", body+`<return_home limit="8 [min]"/></Sequence>`, "")
		v := fake.New(fake.Options{Firmware: firmware, Wind: [2]float64{16*r.Float64() - 8, 16*r.Float64() - 8}})
		v.Set(parameter, float64(own))
		d, p := newDriver(t, m, flight.Options{Arm: true}, newWire(v))
		ended := 0
		if err := d.Fly(context.Background(), func(bool) error {
			if !strings.Contains(strings.Join(p.lines[len(p.lines)-min(9, len(p.lines)):], "\n"), fmt.Sprintf("leg_%d Finished", ended)) {
				return nil
			}
			s, speed := v.State(), 40.0
			off := math.Hypot(s.North-at[ended][0], s.East-at[ended][1])
			if most := max(float64(legs[ended])+25, speed*speed/6+10); off > most+speed {
				t.Errorf("seed %d: leg %d ends %.0f m from its target, more than %.0f m", seed, ended, off, most)
			}
			ended++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if s := d.Summary(); s.Plan != record.PlanSucceeded || ended != len(legs) {
			t.Errorf("seed %d, %s = %d, legs %v: %+v\n%+v\n%s", seed, parameter, own, legs, s, v.State(), strings.Join(p.lines, "\n"))
		}
	}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}
