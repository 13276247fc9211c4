package service_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/service"
)

// course is the clock of an imaginary vehicle: its rate changes, and it stands still for a while.
type course struct {
	random      *rand.Rand
	wall, clock int64 // [ns]
	rate        float64
	until       int64 // wall time of the next change
	still       int64 // the longest standstill
}

// step lets the vehicle's time pass until it sends again, after a period by its own clock, and returns whether what it
// does now is new.
func (c *course) step(period int64) {
	for left := float64(period); left > 0; {
		if c.wall >= c.until {
			c.rate = []float64{0.2, 0.5, 1, 1, 3, 10, 20, 50}[c.random.IntN(8)]
			if c.random.IntN(5) == 0 {
				c.wall += c.random.Int64N(c.still) // it stands still
			}
			c.until = c.wall + sec + c.random.Int64N(10*sec)
		}
		pass := min(left, c.rate*float64(c.until-c.wall))
		c.wall += max(int64(pass/c.rate), 1)
		c.clock += int64(pass)
		left -= max(pass, 1)
	}
}

// Vehicles' clocks at random: rates from 0.2 to 50 that change, standstills, delays, losses and bursts. The map is never
// further ahead of the vehicle than half a second and the time without a message, it takes no message for a jump or a
// reboot, and the link is up as long as heartbeats arrive once in a second of the vehicle,
// and no silence is longer than two seconds.
func TestClockMapFollowsAnyClock(t *testing.T) {
	trials := 400
	if testing.Short() {
		trials = 150
	}
	for seed := range trials {
		if err := followed(t, uint64(seed)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func followed(t *testing.T, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 23))
	c := &course{random: random, clock: 20 * sec, wall: 1, still: []int64{sec, 5 * sec}[seed%2]}
	s := newStamps(t)
	beats := service.NewHeartbeat(ends, 18)
	jitter, loss, burst := random.Int64N(50*ms), random.Float64()*0.2, random.IntN(4) == 0
	arrived, beat, longest, heard := int64(0), int64(0), int64(0), false
	for range 4000 {
		last := c.wall
		c.step(50 * ms)
		if silence := c.wall - arrived; heard && silence > 0 {
			for _, at := range []int64{last, last + (c.wall-last)/2, c.wall - 1} {
				now := service.Clock{Wall: at, Vehicle: s.m.Vehicle(at)}
				ahead := now.Vehicle - c.clock
				if most := 500*ms + max(at-arrived, 0) + 50*ms; at >= arrived && ahead > most {
					return fmt.Errorf("at %d ms the map is %d ms ahead, after a silence of %d ms", at/ms, ahead/ms, (at-arrived)/ms)
				}
				beats.Wake(now)
			}
			longest = max(longest, silence)
			if beats.Link() == service.Lost && c.still == sec && longest < 2*sec {
				return fmt.Errorf("at %d ms the link is lost", c.wall/ms)
			}
		}
		if random.Float64() < loss || burst && random.IntN(2) > 0 {
			continue
		}
		delay := int64(0)
		if jitter > 0 {
			delay = min(random.Int64N(jitter), int64(float64(40*ms)/max(c.rate, 1)))
		}
		c.wall += delay
		boots := s.m.Boots()
		boot := uint32(c.clock / ms)
		f := frameOf(t, &s.reader, s.vehicle, &mav.MessageAttitude{TimeBootMs: boot})
		s.m.Receive(service.Clock{Wall: c.wall}, f)
		stamp, _ := s.m.Stamp(f)
		n, _ := s.m.Jumps()
		if n+s.m.Boots() > 0 || boots > 0 {
			return fmt.Errorf("at %d ms: %d jumps, %d reboots", c.wall/ms, n, s.m.Boots())
		}
		if heard && stamp != s.m.Newest() {
			return fmt.Errorf("at %d ms a message is not the newest: %d of %d", c.wall/ms, stamp, s.m.Newest())
		}
		arrived, heard = c.wall, true
		now := service.Clock{Wall: c.wall, Vehicle: s.m.Vehicle(c.wall)}
		beats.Receive(now, f)
		if c.clock-beat >= sec {
			beat, longest = c.clock-c.clock%sec, 0
			beats.Receive(now, frameOf(t, &s.reader, s.vehicle, &mav.MessageHeartbeat{}))
		}
	}
	return nil
}
