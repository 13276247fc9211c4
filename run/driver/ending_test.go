package driver

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"canopy/autopilot/adapter"
	"canopy/autopilot/fake"
	"canopy/document/mission"
	"canopy/run/flight"
	"canopy/vehicle/equations"
)

// shipped reads a mission of the folder missions.
func shipped(t testing.TB, name string) *mission.Mission {
	t.Helper()
	m, diags := mission.Read("../../missions/"+name+".yaml", os.ReadFile, equations.Offers(), nil)
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

// The operator stops at any time of the first minute, from the attachment to the first leg, of each kind of vehicle, on
// links with and without delay: nobody is left armed on the ground, nor in a mode that takes off when somebody arms it.
// One that is in the air holds or returns.
func TestStopInTheTakeOff(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 4))
	missions := map[bool]*mission.Mission{true: shipped(t, "circuit-plane"), false: shipped(t, "patrol-copter")}
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for _, firmware := range []fake.Firmware{fake.ArduPlane, fake.ArduCopter, fake.PX4Plane, fake.PX4Copter} {
		for range rounds {
			at, lag := int64(60e9*random.Float64()), int64(random.IntN(2)*random.IntN(1500))*1e6
			m := missions[firmware == fake.ArduPlane || firmware == fake.PX4Plane]
			vehicle := fake.New(fake.Options{Firmware: firmware, Seed: random.Uint64()})
			wire := newWire(vehicle)
			d, p := newDriver(t, m, flight.Options{Options: adapter.Options{Return: random.IntN(2) == 0}, Arm: true}, &delayed{simulated: wire, lag: lag})
			stopped := errors.New("stopped")
			if err := d.Fly(context.Background(), func(bool) error {
				if wire.wall >= at {
					return stopped
				}
				return nil
			}); err != nil && !errors.Is(err, stopped) {
				t.Fatal(err)
			}
			if err := d.Stop("Ctrl-C"); err != nil && !errors.Is(err, stopped) {
				t.Fatal(err)
			}
			for range 1000 { // what is under way arrives; a copter that never lifts off disarms by itself after 10 s
				vehicle.Step(step)
			}
			s := vehicle.State()
			last := strings.Join(p.lines[max(0, len(p.lines)-3):], "\n")
			climbs := strings.Contains(strings.ToLower(s.Mode), "takeoff")
			if climbs || s.Armed && !s.Flying {
				t.Errorf("%v, stopped at %.3f s, delay %d ms: %+v\n%s", firmware, float64(at)/1e9, lag/1e6, s, last)
			}
		}
	}
}

// delayed is a far end that sends late.
type delayed struct {
	*simulated
	lag  int64 // [ns]
	list []dispatch
}

type dispatch struct {
	at    int64
	frame []byte
}

func (c *delayed) Write(frame []byte) {
	c.list = append(c.list, dispatch{c.wall + c.lag, frame})
}

func (c *delayed) Next(ctx context.Context, due int64, asks <-chan Ask) (flight.Input, Ask) {
	for len(c.list) > 0 && c.list[0].at <= c.wall {
		c.simulated.Write(c.list[0].frame)
		c.list = c.list[1:]
	}
	if len(c.list) > 0 && len(c.arrived) == 0 {
		due = min(due, c.list[0].at)
	}
	return c.simulated.Next(ctx, due, asks)
}

// Close delivers what is under way.
func (c *delayed) Close() error {
	for _, x := range c.list {
		c.simulated.Write(x.frame)
	}
	return c.simulated.Close()
}
