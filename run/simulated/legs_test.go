package simulated

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/run/record"
)

// Each leg of the simulated plane ends, whatever the radius of its circles is, in any wind.
func TestLegsEndAtAnyRadius(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 23))
		radius := func() int { return 20 + r.IntN(381) }
		body := "<Sequence><take_off/>"
		for range 3 {
			body += fmt.Sprintf(`<fly_to to_north="%d [m]" to_east="%d [m]" to_h="%d [m]" to_radius="%d [m]" limit="5 [min]"/>`,
				r.IntN(4000)-2000, r.IntN(4000)-2000, 70+r.IntN(30), []int{0, radius()}[r.IntN(2)])
		}
		yaml := fmt.Sprintf("horizon: 2000\nends_with_plan: true\nparameters: {autopilot.radius: %d, wind.north: %d, wind.east: %d}\n",
			radius(), r.IntN(17)-8, r.IntN(17)-8)
		run, _ := flown(t, contractMission(t, "plane", body+`<return_home limit="8 [min]"/></Sequence>`, yaml))
		if s := run.Summary(); s.Plan != record.PlanSucceeded {
			t.Errorf("seed %d: the plan is %v: %s\n%s", seed, s.Plan, body, yaml)
		}
	}
}
