package driver

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/run/flight"
	"canopy/run/record"
)

// slow is a simulator whose computer is loaded: its rate changes, and it stands still.
type slow struct {
	*simulated
	random      *rand.Rand
	rates       []float64
	rate        float64
	until, late int64 // wall time of the next change, and up to which what it sent waits
	waiting     [][]byte
}

func (c *slow) Next(ctx context.Context, due int64, asks <-chan Ask) (flight.Input, Ask) {
	for len(c.arrived) == 0 && c.wall < due {
		if c.wall >= c.until {
			c.rate = c.rates[c.random.IntN(len(c.rates))]
			c.until = c.wall + second/2 + c.random.Int64N(5*second)
			if c.random.IntN(4) == 0 {
				c.rate, c.until = 0, c.wall+c.random.Int64N(second*3/4)
			}
		}
		dt := max(min(int64(5_000_000), due-c.wall), 1)
		if c.rate > 0 {
			c.vehicle.Step(int64(float64(dt) * c.rate))
		}
		c.wall += dt
		c.waiting = append(c.waiting, c.vehicle.Out()...)
		if c.wall < c.late {
			continue
		}
		c.arrived, c.waiting = c.waiting, nil
		if c.random.IntN(50) == 0 { // the computer is busy: all arrives at once
			c.late = c.wall + c.random.Int64N(200_000_000)
		}
	}
	return c.simulated.Next(ctx, min(due, c.wall), asks)
}

// Simulators that are slower or faster than real time, at rates that change, that stand still for up to 0.75 s, and
// whose messages arrive in bursts: no sample is late, the link is not lost, nothing rebooted or jumped, and each task is
// entered once.
func TestLoadedSimulators(t *testing.T) {
	trials := 40
	if testing.Short() {
		trials = 8
	}
	for seed := range trials {
		m := planeMission(t, course, "ends_with_plan: true\n")
		c := &slow{simulated: newWire(fake.New(fake.Options{})),
			random: rand.New(rand.NewPCG(uint64(seed), 11)), rates: [][]float64{{10, 3}, {0.2, 1}, {1}, {20, 8, 3}, {0.5, 2, 50}}[seed%5]}
		d, p := newDriver(t, m, flight.Options{Arm: true}, c)
		err := d.Fly(context.Background(), nil)
		all := strings.Join(p.lines, "\n")
		wrong := ""
		for _, word := range []string{" late: ", " link lost: ", " rebooted: ", " clock jumped: "} {
			if strings.Contains(all[max(strings.Index(all, "take_off Activating"), 0):], word) {
				wrong += word
			}
		}
		if err != nil || wrong != "" || d.Summary().Plan != record.PlanSucceeded ||
			strings.Count(all, "take_off Activating") != 1 || strings.Count(all, "go Activating") != 1 {
			t.Errorf("seed %d: %v, %q, %+v\n%s", seed, err, wrong, d.Summary(), all)
		}
	}
}
