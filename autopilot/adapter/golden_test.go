package adapter_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/internal/golden"
	"github.com/canopy-uav/canopy/vehicle/contract"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// pair is an adapter and a vehicle, with the channel between them.
type pair struct {
	t *testing.T
	*adapter.Adapter
	*double
	contract *contract.Contract
	options  adapter.Options
	wall     int64
	writers  [2]frame.Writer // of the vehicle, of the adapter
	readers  [2]frame.Reader // of the adapter, of the vehicle
	lose     func(toVehicle bool, m frame.Message) bool
	disorder func(end int, frames [][]byte) [][]byte // what arrives at an end, of what was sent to it; nil: the same
	state    adapter.State
	shown    map[string]float64 // signals that the log shows, as they are
	log      strings.Builder
}

func newPair(t *testing.T) *pair {
	p := &pair{t: t, double: newDouble(), contract: contract.Plane, wall: boot + 30*sec,
		options: adapter.Options{Ends: ends},
		writers: [2]frame.Writer{{System: 1, Component: 1}, {System: 1, Component: 191}},
		lose:    func(bool, frame.Message) bool { return false },
		shown:   map[string]float64{},
	}
	p.double.now = p.wall
	p.Adapter = adapter.New(p.contract, p.options)
	return p
}

const tick = 20 * ms

// run lets time pass.
func (p *pair) run(ns int64) {
	for end := p.wall + ns; p.wall < end; {
		p.wall += tick
		p.double.step(p.wall)
		p.exchange()
	}
}

// exchange carries what both ends sent, until both are silent.
func (p *pair) exchange() {
	now := service.Clock{Wall: p.wall, Unix: 1_790_000_000*sec + p.wall}
	if p.Due() <= p.wall {
		p.Wake(now)
	}
	for range 20 {
		down, up := p.double.out, p.Out()
		p.double.out = nil
		p.note(up)
		upwards, downwards := p.carried(1, up), p.carried(0, down)
		if len(down)+len(up)+len(upwards)+len(downwards) == 0 {
			return
		}
		for _, data := range upwards {
			for _, f := range p.readers[1].Read(data) {
				p.double.receive(f.Message)
			}
		}
		for _, data := range downwards {
			for _, f := range p.readers[0].Read(data) {
				p.Receive(now, f)
			}
		}
		if p.Due() <= p.wall {
			p.Wake(now)
		}
	}
}

// carried returns the frames that arrive at an end, the vehicle if it is 1, of messages that are sent to it.
func (p *pair) carried(end int, list []frame.Message) (frames [][]byte) {
	for _, m := range list {
		if data := p.bytes(end, m); !p.lose(end == 1, m) {
			frames = append(frames, data)
		}
	}
	if p.disorder != nil {
		return p.disorder(end, frames)
	}
	return frames
}

func (p *pair) bytes(end int, m frame.Message) []byte {
	data, err := p.writers[end].Write(m, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	return data
}

// note writes what the adapter did into the log.
func (p *pair) note(up []frame.Message) {
	at := func(format string, args ...any) {
		fmt.Fprintf(&p.log, "%6.2f  %s\n", float64(p.wall-boot)/sec, fmt.Sprintf(format, args...))
	}
	for _, e := range p.Events() {
		at("%s: %s", e.Kind, e.Text)
	}
	for _, m := range up {
		switch m := m.(type) {
		case *mav.MessageCommandLong:
			if m.Command != 511 {
				at("-> LONG %d", uint16(m.Command))
			}
		case *mav.MessageCommandInt:
			at("-> INT %d", uint16(m.Command))
		case *mav.MessageMissionCount:
			at("-> COUNT %d of list %d", m.Count, m.MissionType)
		case *mav.MessageMissionItemInt:
			at("-> ITEM %d of list %d: %d %v %d %d %v", m.Seq, m.MissionType, uint16(m.Command), m.Param1, m.X, m.Y, m.Z)
		case *mav.MessageParamSet:
			at("-> PARAM_SET %s %v", m.ParamId, m.ParamValue)
		}
	}
	for _, s := range p.Samples() {
		for _, v := range s.Values {
			name := p.contract.Signals[v.Signal].Name
			switch name {
			case "link", "pilot", "failsafe", "refused", "reached", "armed", "in_air":
				if was, ok := p.shown[name]; !ok && v.V != 0 && v.Known || ok && was != v.V && !(was != was && v.V != v.V) {
					at("   %s = %v", name, v.V)
				}
				p.shown[name] = v.V
			}
		}
	}
	if s := p.Control(); s != p.state {
		p.state = s
		at("   state: %s", s)
	}
}

// square is a fence round home, and refuge a rally point in it.
var (
	square = earth.Fence{Areas: []earth.Area{{Corners: []earth.Coordinates{
		{North: -500, East: -500}, {North: -500, East: 500}, {North: 500, East: 500}, {North: 500, East: -500}}}}}
	refuge = []earth.Refuge{{Coordinates: earth.Coordinates{North: 100, East: 100}, H: 60}}
)

// direct carries out a directive of a script.
func (p *pair) direct(t *testing.T, d golden.Directive) string {
	p.log.Reset()
	switch d.Name {
	case "class":
		p.contract = map[string]*contract.Contract{"plane": contract.Plane, "copter": contract.Copter}[d.Args[0].Key]
		p.double.kind = map[string]byte{"plane": 1, "copter": 2}[p.contract.Name]
		p.double.autopilot = map[string]byte{"ArduPilot": 3, "PX4": 12}[d.Value("autopilot")]
		p.Adapter = adapter.New(p.contract, p.options)
	case "options":
		p.options.Refuse = d.Value("checklist") == "refuse"
		if d.Value("fence") == "square" {
			p.options.Fence, p.options.Rally = square, refuge
		}
		p.Adapter = adapter.New(p.contract, p.options)
	case "run":
		ns, err := strconv.ParseFloat(d.Args[0].Key, 64)
		if err != nil {
			t.Fatal(err)
		}
		p.run(int64(ns * sec))
	case "want":
		for _, a := range d.Args {
			p.want(t, a.Key, a.Values[0])
		}
	case "vehicle":
		for _, a := range d.Args {
			p.set(t, a.Key, a.Values)
		}
	case "lose":
		p.loss(t, d.Args[0].Key)
	case "resume":
		p.Resume(service.Clock{Wall: p.wall})
	default:
		t.Fatalf("unknown directive %s", d.Name)
	}
	return p.log.String()
}

// want sets a slot.
func (p *pair) want(t *testing.T, name, text string) {
	i := p.contract.Slot(name)
	if i < 0 {
		t.Fatalf("no slot %s", name)
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		value = -1
		for k, v := range p.contract.Slots[i].Values {
			if v == text {
				value = float64(k)
			}
		}
	}
	p.Want(i, value)
}

// set changes the vehicle.
func (p *pair) set(t *testing.T, key string, values []string) {
	number := 0.0
	if len(values) > 0 {
		number, _ = strconv.ParseFloat(values[0], 64)
	}
	d := p.double
	switch key {
	case "kind":
		d.kind = byte(number)
	case "mode":
		d.setMode(uint32(number))
	case "armed":
		d.armed = number == 1
	case "flies":
		d.armed, d.landed, d.h, d.airspeed = true, mav.MAV_LANDED_STATE_IN_AIR, number, 22
	case "lands":
		d.armed, d.landed, d.h, d.airspeed = false, mav.MAV_LANDED_STATE_ON_GROUND, 0, 0
	case "mission":
		d.mission = mav.MISSION_STATE(number)
	case "ready":
		d.ready = number == 1
	case "status":
		d.status = mav.MAV_STATE(number)
	case "stick":
		d.sticks[0] = uint16(number)
	case "switch":
		d.sticks[7] = uint16(number)
	case "text":
		d.send(&mav.MessageStatustext{Severity: 4, Text: strings.ReplaceAll(values[0], "_", " ")})
	case "full":
		d.full = number == 1
	case "silent":
		d.silent = number == 1
	case "false":
		d.false = number == 1
	case "reboot":
		d.reboot()
	case "answer":
		id, _ := strconv.ParseUint(values[0], 10, 16)
		result, _ := strconv.ParseUint(values[1], 10, 8)
		if result == 0 {
			delete(d.results, uint16(id))
		} else {
			d.results[uint16(id)] = mav.MAV_RESULT(result)
		}
	case "parameters": // the vehicle has none
		clear(d.parameters)
	case "parameter":
		value, _ := strconv.ParseFloat(values[1], 32)
		d.parameters[values[0]] = float32(value)
	default:
		t.Fatalf("unknown key %s", key)
	}
}

// loss chooses what the channel loses.
func (p *pair) loss(t *testing.T, what string) {
	switch what {
	case "nothing":
		p.lose = func(bool, frame.Message) bool { return false }
	case "acks":
		p.lose = func(_ bool, m frame.Message) bool { return m.GetID() == 77 }
	case "heartbeats":
		p.lose = func(_ bool, m frame.Message) bool { return m.GetID() == 77 || m.GetID() == 0 }
	case "commands":
		p.lose = func(_ bool, m frame.Message) bool { return m.GetID() == 75 || m.GetID() == 76 }
	case "landed":
		p.lose = func(_ bool, m frame.Message) bool { return m.GetID() == 245 }
	case "all":
		p.lose = func(bool, frame.Message) bool { return true }
	default:
		t.Fatalf("unknown loss %s", what)
	}
}

func TestGolden(t *testing.T) {
	golden.Run(t, func() golden.Machine {
		var p *pair
		return func(t *testing.T, d golden.Directive) string {
			if p == nil {
				p = newPair(t)
			}
			p.t = t
			return p.direct(t, d)
		}
	}, "testdata/*.txt")
}
