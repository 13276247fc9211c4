package adapter_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/internal/messages"
	"github.com/canopy-uav/canopy/vehicle/contract"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

// A vehicle may send any messages in any order, also before its first heartbeat, and any values in them: nothing fails.
func TestAnyMessages(t *testing.T) {
	trials := 1000
	if testing.Short() {
		trials = 100
	}
	all := mav.Dialect.Messages
	for seed := range trials {
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		c := contract.Contracts()[random.IntN(len(contract.Contracts()))]
		a := adapter.New(c, adapter.Options{Ends: service.Ends{Us: service.Address{System: 1, Component: 191},
			Vehicle: service.Address{System: 1, Component: 1}}, Payload: true})
		now := service.Clock{Wall: 1, Unix: 1e18}
		for range 400 {
			step := random.Int64N(2_000_000_000)
			now.Wall, now.Unix = now.Wall+step, now.Unix+step
			m := all[random.IntN(len(all))]
			if random.IntN(4) == 0 {
				m = &mav.MessageHeartbeat{}
			}
			m = messages.Random(random, m, "PreArm: x", "TKOFF_ALT", "Failsafe On")
			if h, ok := m.(*mav.MessageHeartbeat); ok && random.IntN(4) > 0 {
				h.Type = []mav.MAV_TYPE{mav.MAV_TYPE_FIXED_WING, mav.MAV_TYPE_QUADROTOR}[seed/2%2]
				h.Autopilot = []mav.MAV_AUTOPILOT{mav.MAV_AUTOPILOT_ARDUPILOTMEGA, mav.MAV_AUTOPILOT_PX4}[seed%2]
			}
			a.Receive(now, frame.Frame{System: 1, Component: 1, Message: m})
			if random.IntN(3) == 0 {
				i := random.IntN(len(c.Slots))
				a.Want(i, math.Max(c.Slots[i].Min, math.Min(c.Slots[i].Max, math.Round(random.NormFloat64()*20))))
				a.Wake(now)
			}
			if random.IntN(50) == 0 {
				a.Resume(now)
			}
			_, _, _, _ = a.Out(), a.Samples(), a.Events(), a.Due()
		}
	}
}
