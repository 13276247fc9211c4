package adapter_test

import (
	"math"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

const (
	ms  = 1_000_000
	sec = 1000 * ms
)

// ends are a computer on board of vehicle 1 and its autopilot.
var ends = service.Ends{
	Us:      service.Address{System: 1, Component: 191},
	Vehicle: service.Address{System: 1, Component: 1},
}

// fed is an adapter to which messages are given by hand.
type fed struct {
	t *testing.T
	*adapter.Adapter
	contract *contract.Contract
	writer   frame.Writer
	reader   frame.Reader
	now      service.Clock
}

func feed(t *testing.T, c *contract.Contract) *fed {
	f := &fed{t: t, Adapter: adapter.New(c, adapter.Options{Ends: ends}), contract: c,
		writer: frame.Writer{System: 1, Component: 1}, now: service.Clock{Wall: 10 * sec}}
	f.give(&mav.MessageHeartbeat{Type: mav.MAV_TYPE_FIXED_WING,
		Autopilot: mav.MAV_AUTOPILOT_ARDUPILOTMEGA, CustomMode: 15, BaseMode: 128})
	return f
}

// give passes a message through the codec, 10 ms after the last one, and returns the samples by the signals' names.
func (f *fed) give(m frame.Message) map[string]adapter.Value {
	f.t.Helper()
	f.now.Wall += 10 * ms
	data, err := f.writer.Write(m, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, frame := range f.reader.Read(data) {
		f.Receive(f.now, frame)
	}
	return f.values()
}

// pass lets time pass without a message.
func (f *fed) pass(ns int64) map[string]adapter.Value {
	f.now.Wall += ns
	f.Wake(f.now)
	return f.values()
}

func (f *fed) values() map[string]adapter.Value {
	values := map[string]adapter.Value{}
	for _, s := range f.Samples() {
		for _, v := range s.Values {
			if got := f.contract.Signals[v.Signal].Source; got != s.Source {
				f.t.Errorf("%s is in a sample of %s", f.contract.Signals[v.Signal].Name, s.Source)
			}
			if v.Known == math.IsNaN(v.V) {
				f.t.Errorf("%s: %v and known: %t", f.contract.Signals[v.Signal].Name, v.V, v.Known)
			}
			values[f.contract.Signals[v.Signal].Name] = v
		}
	}
	return values
}

const noPosition = mav.EKF_CONST_POS_MODE

// position is a message at 1 s, or later.
func position(later uint32) *mav.MessageGlobalPositionInt {
	return &mav.MessageGlobalPositionInt{TimeBootMs: 1000 + later, Lat: 470_001_000, Lon: 80_002_000, Alt: 512_300,
		RelativeAlt: 12_300, Vx: 300, Vy: -400, Vz: -250, Hdg: math.MaxUint16}
}

var (
	home = &mav.MessageHomePosition{Latitude: 470_000_000, Longitude: 80_000_000, Altitude: 500_000}
	good = &mav.MessageEkfStatusReport{Flags: 831}
)

var nan = math.NaN()

// measured are messages made by hand, and the signals that they give.
var measured = []struct {
	name   string
	before []frame.Message
	m      frame.Message
	want   map[string]float64 // NaN: unknown
	rates  map[string]float64
}{
	{"heartbeat", nil, &mav.MessageHeartbeat{Type: 1, Autopilot: 3, CustomMode: 11, BaseMode: 1},
		map[string]float64{"mode": 6, "armed": 0}, nil},
	{"a mode that the contract does not list", nil, &mav.MessageHeartbeat{Type: 1, Autopilot: 3, CustomMode: 14},
		map[string]float64{"mode": 0, "armed": 0}, nil},
	{"position", []frame.Message{home, good}, position(0), map[string]float64{
		"lat": 47.0001 * math.Pi / 180, "lon": 8.0002 * math.Pi / 180, "alt": 512.3, "h": 12.3,
		"north": 11.1176, "east": 15.2112, "v_north": 3, "v_east": -4, "climb": 2.5, "groundspeed": 5,
		"target_distance": 0, "reached": 0},
		map[string]float64{"alt": 2.5, "h": 2.5, "north": 3, "east": -4}},
	{"position without home", []frame.Message{good}, position(0), map[string]float64{
		"lat": 47.0001 * math.Pi / 180, "lon": 8.0002 * math.Pi / 180, "alt": 512.3, "h": 12.3, "north": nan, "east": nan,
		"v_north": 3, "v_east": -4, "climb": 2.5, "groundspeed": 5, "target_distance": 0, "reached": nan}, nil},
	{"a stale position of an estimator that has none", []frame.Message{home, &mav.MessageEkfStatusReport{Flags: noPosition}},
		position(0), map[string]float64{"lat": nan, "lon": nan, "alt": nan, "h": nan, "north": nan, "east": nan,
			"v_north": nan, "v_east": nan, "climb": nan, "groundspeed": nan, "target_distance": nan, "reached": nan}, nil},
	{"a position before the estimator reports", []frame.Message{home}, position(0), map[string]float64{"lat": nan, "lon": nan,
		"alt": nan, "h": nan, "north": nan, "east": nan, "v_north": nan, "v_east": nan, "climb": nan, "groundspeed": nan,
		"target_distance": nan, "reached": nan}, nil},
	{"attitude", nil, &mav.MessageAttitude{TimeBootMs: 1000, Roll: -0.5, Yaw: -1, Rollspeed: 0.25},
		map[string]float64{"heading": 2*math.Pi - 1, "roll": -0.5}, map[string]float64{"roll": 0.25}},
	{"air", nil, &mav.MessageVfrHud{Airspeed: 22.5}, map[string]float64{"airspeed": 22.5}, nil},
	{"ready", nil, &mav.MessageSysStatus{OnboardControlSensorsPresent: 1 << 28, OnboardControlSensorsHealth: 1 << 28},
		map[string]float64{"ready": 1}, nil},
	{"not ready", nil, &mav.MessageSysStatus{OnboardControlSensorsPresent: 1 << 28}, map[string]float64{"ready": 0}, nil},
	{"health of what is not present", nil, &mav.MessageSysStatus{OnboardControlSensorsHealth: 1 << 28},
		map[string]float64{"ready": nan}, nil},
	{"on the ground", nil, &mav.MessageExtendedSysState{LandedState: 1}, map[string]float64{"in_air": 0}, nil},
	{"taking off", nil, &mav.MessageExtendedSysState{LandedState: 3}, map[string]float64{"in_air": 1}, nil},
	{"landed state undefined", nil, &mav.MessageExtendedSysState{}, map[string]float64{"in_air": nan}, nil},
	{"estimator", nil, good, map[string]float64{"estimator_ok": 1}, nil},
	{"estimator with a glitch", nil, &mav.MessageEkfStatusReport{Flags: 831 | 32768},
		map[string]float64{"estimator_ok": 0}, nil},
	{"estimator of PX4 with a glitch", nil, &mav.MessageEstimatorStatus{Flags: 831 | 1024},
		map[string]float64{"estimator_ok": 0}, nil},
	{"GPS", nil, &mav.MessageGpsRawInt{FixType: 3}, map[string]float64{"gps_ok": 1}, nil},
	{"GPS in two dimensions", nil, &mav.MessageGpsRawInt{FixType: 2}, map[string]float64{"gps_ok": 0}, nil},
	{"battery", nil, &mav.MessageBatteryStatus{BatteryRemaining: 85, Voltages: cells(12_300, math.MaxUint16)},
		map[string]float64{"battery": 0.85, "battery_voltage": 12.3}, nil},
	{"battery by cells", nil, &mav.MessageBatteryStatus{BatteryRemaining: -1, Voltages: cells(4100, 4000, math.MaxUint16)},
		map[string]float64{"battery": nan, "battery_voltage": 8.1}, nil},
	{"battery that measures nothing", nil, &mav.MessageBatteryStatus{BatteryRemaining: -1, Voltages: cells(math.MaxUint16)},
		map[string]float64{"battery": nan, "battery_voltage": nan}, nil},
	{"another battery", nil, &mav.MessageBatteryStatus{Id: 1, BatteryRemaining: 10}, map[string]float64{}, nil},
	{"wind from the west", nil, &mav.MessageWind{Direction: 270, Speed: 5},
		map[string]float64{"wind_north": 0, "wind_east": 5}, nil},
	{"wind of PX4", nil, &mav.MessageWindCov{WindX: 1, WindY: float32(nan)},
		map[string]float64{"wind_north": 1, "wind_east": nan}, nil},
	{"fence", nil, &mav.MessageFenceStatus{BreachStatus: 1}, map[string]float64{"fence_breached": 1}, nil},
	{"home", nil, home, map[string]float64{"home_known": 1}, nil},
}

// TestTelemetry checks each row of the tables against a message made by hand.
func TestTelemetry(t *testing.T) {
	for _, c := range measured {
		t.Run(c.name, func(t *testing.T) {
			f := feed(t, contract.Plane)
			for _, m := range c.before {
				f.give(m)
			}
			got := f.give(c.m)
			if len(got) != len(c.want) {
				t.Errorf("%d signals, want %d", len(got), len(c.want))
			}
			for name, want := range c.want {
				v, ok := got[name]
				if !ok || v.Known == math.IsNaN(want) || v.Known && math.Abs(v.V-want) > 1e-3 {
					t.Errorf("%s = %v, want %v", name, v, want)
				}
			}
			for name, want := range c.rates {
				if math.Abs(got[name].Rate-want) > 1e-9 {
					t.Errorf("rate of %s = %v, want %v", name, got[name].Rate, want)
				}
			}
		})
	}
}

// cells returns the voltages of a message: the last one fills the rest.
func cells(mv ...uint16) (all [10]uint16) {
	for i := range all {
		all[i] = mv[min(i, len(mv)-1)]
	}
	return all
}

// TestStale checks that values become unknown after three periods, and no sooner.
func TestStale(t *testing.T) {
	f := feed(t, contract.Plane)
	f.give(good)
	f.give(position(0))
	if got := f.pass(900 * ms); len(got) != 0 {
		t.Errorf("after 0.9 s: %v", got)
	}
	got := f.pass(200 * ms)
	if v, ok := got["h"]; !ok || v.Known {
		t.Errorf("the height after 1.1 s: %v, %t", v, ok)
	}
	if v, ok := got["mode"]; ok {
		t.Errorf("the mode after 1.1 s: %v", v)
	}
	got = f.pass(2 * sec)
	if v, ok := got["mode"]; !ok || v.Known {
		t.Errorf("the mode after 3.1 s: %v, %t", v, ok)
	}
	if v := f.give(position(3000))["h"]; v.Known {
		t.Error("the height is known although the estimator is silent")
	}
	f.give(good)
	if v := f.give(position(3100))["h"]; !v.Known {
		t.Error("the height is unknown although it arrives again")
	}
}

// TestLate checks that what was overtaken changes nothing: neither by its own time, nor by its place in the sequence.
func TestLate(t *testing.T) {
	f := feed(t, contract.Plane)
	f.give(good)
	f.give(position(500))
	if got := f.give(position(400)); len(got) != 0 {
		t.Errorf("an older position gives %v", got)
	}
	old, err := f.writer.Write(&mav.MessageHeartbeat{Type: 1, Autopilot: 3, CustomMode: 0}, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.give(position(600))
	for _, frame := range f.reader.Read(old) {
		f.Receive(f.now, frame)
	}
	if got := f.values(); len(got) != 0 {
		t.Errorf("a heartbeat that was overtaken gives %v", got)
	}
}

// TestHomeMoved checks that a new home breaks the curves of what is measured from it.
func TestHomeMoved(t *testing.T) {
	f := feed(t, contract.Plane)
	moved := *home
	moved.Altitude += 1000
	breaks := []bool{}
	for _, m := range []frame.Message{good, home, position(0), home, position(100), &moved, position(200), position(300)} {
		data, _ := f.writer.Write(m, 0)
		f.now.Wall += 10 * ms
		for _, frame := range f.reader.Read(data) {
			f.Receive(f.now, frame)
		}
		for _, s := range f.Samples() {
			if s.Source == contract.Position && len(s.Values) > 2 {
				if s.Period != 100*ms {
					t.Errorf("the period of the position is %d", s.Period)
				}
				breaks = append(breaks, s.Break)
			}
		}
	}
	if len(breaks) != 4 || breaks[0] || breaks[1] || !breaks[2] || breaks[3] {
		t.Errorf("breaks of the position: %v, want the third", breaks)
	}
}

// TestEverySignal checks that each signal of a contract comes from a row, once.
func TestEverySignal(t *testing.T) {
	for _, c := range []*contract.Contract{contract.Plane, contract.Copter} {
		if missing := adapter.Missing(c); len(missing) > 0 {
			t.Errorf("%s: no row gives %v", c.Name, missing)
		}
	}
}
