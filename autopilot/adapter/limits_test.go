package adapter_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/vehicle/contract"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// values returns the values that a message for the vehicle has, by name.
func values(m frame.Message) (id uint16, list []float32) {
	switch m := m.(type) {
	case *mav.MessageCommandLong:
		return uint16(m.Command), []float32{m.Param1, m.Param2, m.Param3, m.Param4, m.Param5, m.Param6, m.Param7}
	case *mav.MessageCommandInt:
		return uint16(m.Command), []float32{m.Param1, m.Param2, m.Param3, m.Param4, 0, 0, m.Z}
	case *mav.MessageParamSet:
		return 0, []float32{m.ParamValue}
	}
	return 0, nil
}

// nones are the parameters, from 1, in which not a number is known to be understood: what ArduPilot stops at is not here.
var nones = map[string]bool{"copter 192 4": true, "px4-plane 192 4": true, "px4-plane 192 5": true, "px4-plane 192 6": true,
	"px4-plane 192 7": true, "px4-copter 192 4": true, "px4-copter 192 5": true, "px4-copter 192 6": true, "px4-copter 192 7": true,
	"px4-plane 34 2": true, "px4-plane 34 3": true, "px4-plane 34 4": true, "px4-copter 22 4": true, "px4-copter 22 5": true,
	"px4-copter 22 6": true}

// airfield is where the fake vehicles are.
var airfield = earth.NewPlane(earth.Position{Lat: 48.0814, Lon: 11.2831})

// unsafe returns what is wrong with a message for a vehicle, whatever is wanted; "" if nothing is.
func unsafe(vehicle string, m frame.Message) string {
	id, list := values(m)
	for i, v := range list {
		if v-v != 0 && !(v != v && nones[fmt.Sprintf("%s %d %d", vehicle, id, i+1)]) {
			return "a number"
		}
	}
	top := 0.0
	switch m := m.(type) {
	case *mav.MessageParamSet:
		top = float64(m.ParamValue)
	case *mav.MessageCommandInt:
		if top = float64(m.Z); m.Frame == 5 {
			top -= 590
		}
		n, e := airfield.Local(earth.Position{Lat: float64(m.X) / 1e7, Lon: float64(m.Y) / 1e7})
		if (id == 192 || id == 34) && m.X != math.MaxInt32 && math.Hypot(n, e) > 501 {
			return "a target outside of the fence"
		}
	case *mav.MessageCommandLong:
		switch id {
		case 22:
			if top = float64(m.Param7); vehicle == "px4-copter" {
				top -= 590
			}
		case 178, 43000:
			if m.Param2 < 0.1 || m.Param2 > 100 {
				return "the speed"
			}
		}
	}
	if top != 0 && !(top > 0.99 && top < 200.01) {
		return "the height"
	}
	return ""
}

// Random wanted states, also such as no plan should want: no message has a number that is not finite where it is not
// known as none, no height of a target or a take-off is outside the contract or the fence, no speed outside the contract.
func TestRandomWishes(t *testing.T) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -20, 0, -0.5, 1e-300, 1e300, 5000, 1e7, -1e7, 0.3}
	limits := earth.Fence{Top: 200, Areas: []earth.Area{{Radius: 500}}}
	for _, k := range vehicles {
		t.Run(k.name, func(t *testing.T) {
			refused, sent := 0, map[uint16]int{}
			for seed := range uint64(12) {
				if testing.Short() && seed%4 > 0 {
					continue
				}
				fate := rand.New(rand.NewPCG(seed, 9))
				f := fly(t, k.name)
				f.options.Fence, f.options.Unfenced = limits, true
				f.begin()
				f.sends = func(m frame.Message) {
					id, _ := values(m)
					sent[id]++
					if wrong := unsafe(k.name, m); wrong != "" {
						t.Errorf("seed %d: %s in %+v", seed, wrong, m)
					}
				}
				f.ready(60)
				for range 60 {
					s := f.contract.Slots[fate.IntN(f.contract.Payload)]
					if fate.IntN(4) == 0 {
						s = f.contract.Slots[fate.IntN(len(f.contract.Slots))]
					}
					var v float64
					switch {
					case s.Type == contract.Enumeration:
						v = float64(fate.IntN(len(s.Values)))
					case s.Type == contract.Boolean:
						v = float64(min(1, fate.IntN(6)))
					case fate.IntN(3) > 0:
						v = odd[fate.IntN(len(odd))]
					default:
						v = 5 + 95*fate.Float64()
					}
					if fate.IntN(4) == 0 {
						f.want(30 + 20*fate.Float64())
					}
					f.set(s.Name, v)
					f.pass(int64(fate.IntN(8))*sec, nil)
					if f.signals["refused"] == 1 {
						refused++
					}
				}
			}
			if refused < 5 || sent[192]+sent[34] == 0 {
				t.Errorf("%d refusals, commands %v", refused, sent)
			}
		})
	}
}
