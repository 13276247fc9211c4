package adapter_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// vehicles are the fake vehicles, with their contracts.
var vehicles = []struct {
	name     string
	contract *contract.Contract
	firmware fake.Firmware
}{
	{"plane", contract.Plane, fake.ArduPlane}, {"copter", contract.Copter, fake.ArduCopter},
	{"px4-plane", contract.Plane, fake.PX4Plane}, {"px4-copter", contract.Copter, fake.PX4Copter},
}

// flown is an adapter that flies a fake vehicle.
type flown struct {
	t *testing.T
	*adapter.Adapter
	options  adapter.Options
	vehicle  *fake.Autopilot
	contract *contract.Contract
	writer   frame.Writer
	reader   frame.Reader
	signals  map[string]float64
	orders   []string // commands that reached the vehicle, with their results, except requests for messages
	log      strings.Builder
	lose     func() bool         // decides about each frame
	twice    func() bool         // likewise: it arrives twice
	sends    func(frame.Message) // is called with what the adapter sends; nil: nothing is
	each     func()              // is called before each step of time
	deaf     bool                // the vehicle receives nothing
	offAt    int64               // when somebody disabled the fence
	critical bool                // the vehicle's last heartbeat says so
	lists    int                 // messages that begin to replace a list of the vehicle, or clear it
}

func fly(t *testing.T, name string) *flown {
	i := slices.Index(fake.FirmwareNames(), name)
	k := vehicles[i]
	f := &flown{t: t, contract: k.contract, writer: frame.Writer{System: 1, Component: 191}, signals: map[string]float64{},
		lose: func() bool { return false }, twice: func() bool { return false }}
	f.options.Ends = ends
	f.begin()
	f.vehicle = fake.New(fake.Options{Firmware: k.firmware, Observe: func(r fake.Received) {
		if r.ID != 511 && r.ID != 512 {
			f.orders = append(f.orders, fmt.Sprintf("%d: %d", r.ID, r.Result))
		}
	}})
	return f
}

// few is how many of a number of random flights are flown in a short test.
func few(all uint64) uint64 {
	if testing.Short() {
		return max(2, all/4)
	}
	return all
}

// copies is how often a frame arrives.
func (f *flown) copies() int {
	if f.twice() {
		return 2
	}
	return 1
}

// each flies with each kind of vehicle.
func each(t *testing.T, test func(t *testing.T, f func() *flown)) {
	for _, k := range vehicles {
		t.Run(k.name, func(t *testing.T) { test(t, func() *flown { return fly(t, k.name) }) })
	}
}

// run lets time pass until a condition holds; it fails after a time.
func (f *flown) run(limit int64, until func() bool) {
	f.t.Helper()
	for end := f.vehicle.Now() + limit; !until(); {
		if f.vehicle.Now() >= end {
			f.t.Fatalf("not within %d s; state %s, signals %v\n%s", limit/sec, f.Control(), f.signals, f.log.String())
		}
		if f.each != nil {
			f.each()
		}
		f.vehicle.Step(20 * ms)
		now := service.Clock{Wall: f.vehicle.Now(), Unix: f.vehicle.Now()}
		for _, d := range f.vehicle.Out() {
			if f.lose() {
				continue
			}
			for range f.copies() {
				for _, r := range f.reader.Read(d) {
					if m, ok := r.Message.(*mav.MessageHeartbeat); ok {
						f.critical = m.SystemStatus >= mav.MAV_STATE_CRITICAL
					}
					f.Receive(now, r)
				}
			}
		}
		if f.Due() <= now.Wall {
			f.Wake(now)
		}
		for _, m := range f.Out() {
			data, err := f.writer.Write(m, now.Unix)
			if err != nil {
				f.t.Fatal(err)
			}
			if f.sends != nil {
				f.sends(m)
			}
			switch m.GetID() {
			case 44, 45: // MISSION_COUNT, MISSION_CLEAR_ALL
				f.lists++
			}
			if f.lose() || f.deaf {
				continue
			}
			for range f.copies() {
				f.vehicle.Receive(data)
			}
		}
		for _, s := range f.Samples() {
			for _, v := range s.Values {
				f.signals[f.contract.Signals[v.Signal].Name] = v.V
			}
		}
		for _, e := range f.Events() {
			fmt.Fprintf(&f.log, "%7.2f %s: %s\n", float64(now.Wall)/sec, e.Kind, e.Text)
		}
	}
}

func clockOf(f *flown) service.Clock {
	return service.Clock{Wall: f.vehicle.Now(), Unix: f.vehicle.Now()}
}

func (f *flown) set(slot string, value float64) { f.Want(f.contract.Slot(slot), value) }

func (f *flown) mode(word string) {
	i := f.contract.Slot("wanted_mode")
	f.Want(i, float64(slices.Index(f.contract.Slots[i].Values, word)))
}

// in reports whether the vehicle shows a mode.
func (f *flown) in(word string) bool {
	return f.signals["mode"] == float64(slices.Index(f.contract.Signals[f.contract.Signal("mode")].Values, word))
}

// takeOff attaches the vehicle, and flies it to a height.
func (f *flown) takeOff() {
	f.t.Helper()
	f.ready(60)
	f.climb()
}

// ready waits until the vehicle is attached, for a time [s] at most.
func (f *flown) ready(limit int64) {
	f.t.Helper()
	f.run(limit*sec, func() bool { return f.Control() == adapter.Ready })
}

// climb takes off, and flies the vehicle to a height.
func (f *flown) climb() {
	f.t.Helper()
	f.want(60)
	f.run(90*sec, func() bool { return f.signals["h"] > 55 })
}
