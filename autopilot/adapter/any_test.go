package adapter_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"canopy/autopilot/adapter"
	"canopy/autopilot/frame"
	"canopy/autopilot/service"
	"canopy/vehicle/contract"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

// scramble fills a message with values at random, many of them at the limits of their types.
func scramble(random *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			scramble(random, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			scramble(random, v.Index(i))
		}
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, int64(random.Uint64())}[random.IntN(6)] >>
			(64 - v.Type().Bits()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		v.SetUint([]uint64{0, 1, math.MaxUint64, random.Uint64()}[random.IntN(4)] >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1, math.NaN(), math.Inf(1), -1e30, random.NormFloat64() * 100}[random.IntN(6)])
	case reflect.String:
		v.SetString([]string{"", "PreArm: x", "TKOFF_ALT", "Failsafe On"}[random.IntN(4)])
	}
}

// A vehicle may send any messages in any order, also before its first heartbeat, and any values in them: nothing fails.
func TestAnyMessages(t *testing.T) {
	trials := 1000
	if testing.Short() {
		trials = 100
	}
	messages := ardupilotmega.Dialect.Messages
	for seed := range trials {
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		c := contract.Contracts()[random.IntN(len(contract.Contracts()))]
		a := adapter.New(c, adapter.Options{Ends: service.Ends{Us: service.Address{System: 1, Component: 191},
			Vehicle: service.Address{System: 1, Component: 1}}, Payload: true})
		now := service.Clock{Wall: 1, Unix: 1e18}
		for range 400 {
			step := random.Int64N(2_000_000_000)
			now.Wall, now.Unix = now.Wall+step, now.Unix+step
			m := messages[random.IntN(len(messages))]
			if random.IntN(4) == 0 {
				m = &ardupilotmega.MessageHeartbeat{}
			}
			x := reflect.New(reflect.TypeOf(m).Elem())
			scramble(random, x.Elem())
			if h, ok := x.Interface().(*ardupilotmega.MessageHeartbeat); ok && random.IntN(4) > 0 {
				h.Type = []ardupilotmega.MAV_TYPE{ardupilotmega.MAV_TYPE_FIXED_WING, ardupilotmega.MAV_TYPE_QUADROTOR}[seed/2%2]
				h.Autopilot = []ardupilotmega.MAV_AUTOPILOT{ardupilotmega.MAV_AUTOPILOT_ARDUPILOTMEGA,
					ardupilotmega.MAV_AUTOPILOT_PX4}[seed%2]
			}
			a.Receive(now, frame.Frame{System: 1, Component: 1, Message: x.Interface().(frame.Message)})
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
