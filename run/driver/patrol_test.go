package driver

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/run/flight"
)

// lossy is a far end that loses frames, both ways.
type lossy struct {
	*simulated
	lost func(wall int64) bool
}

func (c *lossy) Next(ctx context.Context, due int64, asks <-chan Ask) (flight.Input, Ask) {
	for {
		if in, ask := c.simulated.Next(ctx, due, asks); in.Kind != flight.Frame || !c.lost(c.wall) {
			return in, ask
		}
	}
}

func (c *lossy) Write(frame []byte) {
	if !c.lost(c.wall) {
		c.simulated.Write(frame)
	}
}

// A loss of the link for 10 s, and of each fifth frame, makes the battery unknown for a moment: the patrol goes on.
func TestThePatrolGoesOn(t *testing.T) {
	m := shipped(t, "patrol-copter")
	for _, firmware := range []fake.Firmware{fake.ArduCopter, fake.PX4Copter} {
		for seed := range uint64(4) {
			random := rand.New(rand.NewPCG(6, seed))
			cut := int64(70e9 + 60e9*random.Float64())
			wire := &lossy{newWire(fake.New(fake.Options{Firmware: firmware, Seed: seed})),
				func(wall int64) bool {
					return wall > cut && wall < cut+10e9 || seed%2 == 1 && wall > 60e9 && random.IntN(5) == 0
				}}
			d, p := newDriver(t, m, flight.Options{Arm: true}, wire)
			enough := errors.New("enough")
			if err := d.Fly(context.Background(), func(bool) error {
				if d.T() > 170 {
					return enough
				}
				return nil
			}); !errors.Is(err, enough) {
				t.Fatal(err)
			}
			log := strings.Join(p.lines, "\n")
			if strings.Contains(log, "return_home Activating") || !strings.Contains(log, "unknown: battery") {
				t.Errorf("%v, cut at %.1f s\n%s", firmware, float64(cut)/1e9, log)
			}
		}
	}
}
