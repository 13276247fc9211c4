package adapter_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/snapshot"
)

// TestStateContinues flies twice over the same bad channel, with the same faults. In the second flight the adapter is
// saved and restored at random instants: nothing differs, neither what reaches the vehicle nor the log, the signals and
// the last state.
func TestStateContinues(t *testing.T) {
	events := []fake.Event{
		{Kind: fake.PilotMode, Value: 5}, {Kind: fake.Reboot}, {Kind: fake.Lie, Value: 1},
		{Kind: fake.Battery, Value: 0.02}, {Kind: fake.ClockStep, Value: 3},
	}
	for seed := range few(15) {
		restored := 0
		flight := func(saved bool) *flown {
			f := fly(t, []string{"plane", "px4-plane"}[seed%2])
			if seed%4 < 2 {
				f.options.Fence, f.options.Rally = square, refuge
			}
			payload := seed%2 == 0
			f.options.Payload = payload
			f.Adapter = adapter.New(f.contract, f.options)
			f.vehicle.Equip()
			fate, instant := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 1))
			f.lose = func() bool { return fate.IntN(5) == 0 }
			pass := func(d int64) {
				end := f.vehicle.Now() + d
				f.run(d+sec, func() bool {
					if saved && instant.IntN(20) == 0 {
						restored++
						data := snapshot.Save(nil, f.Adapter)
						a := adapter.New(f.contract, f.options)
						if err := snapshot.Load(data, a); err != nil {
							t.Fatalf("seed %d, %.2f s: %v", seed, float64(f.vehicle.Now())/sec, err)
						}
						if !bytes.Equal(snapshot.Save(nil, a), data) {
							t.Fatalf("seed %d, %.2f s: the restored state is another", seed, float64(f.vehicle.Now())/sec)
						}
						f.Adapter = a
					}
					return f.vehicle.Now() >= end
				})
			}
			pass(45 * sec)
			f.mode("takeoff")
			f.set("target_h", 60)
			f.set("arm", 1)
			pass(25 * sec)
			f.mode("guided")
			f.set("target_north", 400)
			f.set("speed", 25)
			if payload {
				f.wantAll(map[string]float64{"wanted_servo": 9, "wanted_pwm": 0.0017, "wanted_relay": 1, "wanted_relay_on": 1,
					"wanted_gripper": 1, "wanted_photos": 1, "wanted_mount": 1, "wanted_pitch": -1})
			}
			pass(10 * sec)
			if payload {
				f.wantAll(map[string]float64{"wanted_photos": f.signals["photos"] + 1, "photo_distance": 50})
			}
			f.vehicle.Inject(events[seed%uint64(len(events))])
			f.set("target_east", 200)
			pass(15 * sec)
			f.mode("rtl")
			pass(10 * sec)
			return f
		}
		want, got := flight(false), flight(true)
		if got.log.String() != want.log.String() || !slices.Equal(got.orders, want.orders) ||
			fmt.Sprint(got.signals) != fmt.Sprint(want.signals) ||
			!bytes.Equal(snapshot.Save(nil, got.Adapter), snapshot.Save(nil, want.Adapter)) {
			t.Errorf("seed %d, restored %d times:\n%v\n%s\nnot:\n%v\n%s", seed, restored, got.orders, got.log.String(),
				want.orders, want.log.String())
		}
		if restored < 100 || len(want.orders) < 3 {
			t.Errorf("seed %d: restored %d times, commands %v", seed, restored, want.orders)
		}
	}
}

// TestStateRejects checks that a state that is cut off, or that belongs to something else, is not restored.
func TestStateRejects(t *testing.T) {
	f := fly(t, "plane")
	f.takeOff()
	data := snapshot.Save(nil, f.Adapter)
	for n := range data {
		if err := snapshot.Load(data[:n], adapter.New(f.contract, adapter.Options{Ends: ends})); err == nil {
			t.Fatalf("%d of %d bytes are taken as a state", n, len(data))
		}
	}
}
