package driver

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/link"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/vehicle/earth"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// The same checks are made of fake vehicles, each behind a socket, and of the simulator that CANOPY_SITL names, such as
// plane@udp:127.0.0.1:14550: the name of the fake that is to answer alike, and the address of the link. With fake:plane
// instead of plane, it is a fake in another program.

// Where the vehicle of a check may be.
const (
	aFake     = "fake"
	simulator = "simulator"
)

// subject is a kind of vehicles, with what the checks need to know of it.
type subject struct {
	name     string
	firmware fake.Firmware
	class    string
	height   float64    // of take-offs [m]
	other    [2]float64 // the mode that another station selects, as in DO_SET_MODE
	encoding service.Encoding
	setting  string     // a parameter that may be written
	circuit  [2]float64 // how long it takes from arming to the fourth point, at least and at most [s]
}

var subjects = []*subject{
	{"plane", fake.ArduPlane, "plane", 80, [2]float64{12}, service.Cast, "TKOFF_ALT", [2]float64{80, 95}},
	{"copter", fake.ArduCopter, "copter", 20, [2]float64{5}, service.Cast, "RTL_ALT", [2]float64{60, 70}},
	{"px4-plane", fake.PX4Plane, "plane", 80, [2]float64{3}, service.Bytewise, "MIS_TAKEOFF_ALT", [2]float64{75, 95}},
	{"px4-copter", fake.PX4Copter, "copter", 20, [2]float64{3}, service.Bytewise, "MIS_TAKEOFF_ALT", [2]float64{70, 90}},
}

// difference is what is known to differ between vehicles: a claim that does not hold there, or holds otherwise.
type difference struct {
	claim  string
	where  []string // vehicles, of a fake or a simulator
	why    string
	source string
}

// differences is the table of known differences. A claim of it may fail there; all others may not.
var differences = []difference{
	{"circuit: it lasts as long as measured", []string{"simulator px4-plane", "simulator px4-copter"},
		"the limits are those of the fakes", "no PX4 has been flown"},
}

// checks are the checks, in their order. Those on the ground need a vehicle that stands there, disarmed.
var checks = []struct {
	name   string
	ground bool
	run    func(x *rig)
}{
	{"attach", false, (*rig).checkAttach},
	{"transfers", false, (*rig).checkTransfers},
	{"circuit", true, (*rig).checkCircuit},
	{"station", false, (*rig).checkStation},
	{"stop", false, (*rig).checkStop},
	{"cut", true, (*rig).checkCut},
}

// rig is a vehicle, and a flight of it.
type rig struct {
	record.Nothing
	*subject
	*testing.T
	where  string
	ground bool
	pair   *pair  // of a fake
	link   string // of a vehicle in another program; "": a fake in this one
	near   link.Link

	events  []record.Event
	tasks   []string
	status  []change
	times   []float64
	signals map[string][]float64
	columns []string
}

type change struct {
	t    float64
	task string
	to   bt.Status
}

func (x *rig) Sample(t float64, v []float64) error {
	x.times = append(x.times, t)
	for i, name := range x.columns {
		x.signals[name] = append(x.signals[name], v[i])
	}
	return nil
}

func (x *rig) Event(e record.Event) error {
	x.events = append(x.events, e)
	return nil
}

func (x *rig) Status(t float64, _ int, c bt.Change) error {
	x.status = append(x.status, change{t, x.tasks[c.Task], c.To})
	return nil
}

// claim judges a claim. One that fails where that is known is not an error.
func (x *rig) claim(ok bool, claim, format string, a ...any) {
	x.Helper()
	i := slices.IndexFunc(differences, func(d difference) bool {
		return d.claim == claim && slices.Contains(d.where, x.where+" "+x.name)
	})
	switch {
	case ok:
	case i < 0:
		x.Errorf("%s: %s", claim, fmt.Sprintf(format, a...))
	default:
		x.Logf("as known, not %q: %s", claim, fmt.Sprintf(format, a...))
	}
}

// said reports whether an event of a kind contains a text.
func (x *rig) said(kind adapter.Kind, text string) bool {
	return slices.ContainsFunc(x.events, func(e record.Event) bool {
		return e.Kind == kind.String() && strings.Contains(e.Text, text)
	})
}

// at returns when a task became a status.
func (x *rig) at(task string, to bt.Status) (list []float64) {
	for _, c := range x.status {
		if c.to == to && strings.HasSuffix(c.task, task) {
			list = append(list, c.t)
		}
	}
	return list
}

// log returns the events and statuses for a message.
func (x *rig) log() string {
	var b strings.Builder
	for _, e := range x.events {
		fmt.Fprintf(&b, "\n%9.3f %s: %s", e.T, e.Kind, e.Text)
	}
	for _, c := range x.status {
		fmt.Fprintf(&b, "\n%9.3f %s %v", c.t, c.task, c.to)
	}
	return b.String()
}

// connect opens the link.
func (x *rig) connect() FarEnd {
	if x.link == "" {
		x.pair = openPair(x.T, "udp", fake.New(fake.Options{Firmware: x.firmware}))
		x.near = x.pair.near
		return newLive(x.near, x.pair.clock)
	}
	l, err := link.Open(x.link, link.Guard{})
	if err != nil {
		x.Fatal(err)
	}
	x.near = l
	return Live(l, 1)
}

// serve lets a fake vehicle fly.
func (x *rig) serve() {
	if x.pair != nil {
		x.pair.serve()
	}
}

// patience is how long a check on a simulator may take.
const patience = 15 * time.Minute

// fly flies a mission. After each input it calls during, if that is not nil.
func (x *rig) fly(m *mission.Mission, during func(d *Driver)) record.Summary {
	x.Helper()
	f, err := flight.New(m, flight.Options{Options: adapter.Options{Ends: ends}, Arm: true})
	if err != nil {
		x.Fatal(err)
	}
	wire := x.connect()
	x.signals, x.tasks, x.columns, x.times = map[string][]float64{}, nil, nil, nil
	for i := range m.Plan.Tree.Len() {
		x.tasks = append(x.tasks, m.Plan.Tree.Name(bt.Task(i)))
	}
	b := &tape{}
	if x.pair != nil {
		b = x.pair.b
	}
	d := New(f, wire, Options{Box: b.begin})
	for _, v := range d.Header().Signals {
		x.columns = append(x.columns, v.Name)
	}
	d.Attach(x)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	observed := false
	x.serve()
	if err := d.Fly(ctx, func(bool) error {
		x.serve()
		if d.Vehicle() == adapter.Observing && !observed {
			observed = true
			if x.ground {
				return fmt.Errorf("%s needs a vehicle on the ground: start the simulator again, and this check alone", x.Name())
			}
			d.Operate(flight.Resume)
		}
		if during != nil {
			during(d)
		}
		return nil
	}); err != nil {
		x.Fatalf("%v%s", err, x.log())
	}
	return d.Summary()
}

// contractMission is a mission with actions of the library.
func (x *rig) contractMission(body, yaml string) *mission.Mission {
	return read(x.T, x.class, body, yaml)
}

// checkAttach attaches the vehicle.
func (x *rig) checkAttach() {
	x.fly(x.contractMission(`<wait duration="5 [s]"/>`, ""), nil)
	x.claim(x.said(adapter.Attached, ""), "attach: it is attached", "%s", x.log())
	x.claim(!x.said(adapter.Checked, "the autopilot does not report it"), "attach: it has the parameters of the checklist", "%s", x.log())
	x.claim(!x.said(adapter.Checked, "does not arrive"), "attach: its telemetry arrives", "%s", x.log())
}

// checkCircuit flies the circuit from the ground.
func (x *rig) checkCircuit() {
	var m *mission.Mission
	if x.class == "plane" {
		m = shipped(x.T, "circuit-plane")
	} else {
		m = x.contractMission(`<Sequence><take_off/><SubTree ID="circuit" north_1="80 [m]" east_1="0" north_2="80 [m]"
			east_2="80 [m]" north_3="0" east_3="80 [m]" north_4="0" east_4="0" to_h="20 [m]" rounds="2"/></Sequence>`, "")
	}
	armed := math.NaN()
	s := x.fly(m, func(d *Driver) {
		if math.IsNaN(armed) && x.said(adapter.Proved, "arm") {
			armed = d.T()
		}
	})
	x.claim(s.Plan == record.PlanSucceeded, "circuit: the plan succeeds", "%+v%s", s, x.log())
	var order []string
	for _, c := range x.status {
		if c.to == bt.Finished && strings.Contains(c.task, "leg_") {
			order = append(order, c.task[len(c.task)-1:])
		}
	}
	x.claim(strings.Join(order, "") == "12341234", "circuit: the points are reached in their order", "%v", order)
	legs := x.at("leg_1", bt.Finished)
	for i, t := range x.times {
		if h := x.signals["h"][i]; len(legs) > 0 && t > legs[0] && math.Abs(h-x.height) > 10 {
			x.claim(false, "circuit: it keeps its height", "%g m at %g s", h, t)
			break
		}
	}
	fourth := x.at("leg_4", bt.Finished)
	if len(fourth) == 0 {
		return
	}
	took := fourth[0] - armed
	x.claim(took >= x.circuit[0] && took <= x.circuit[1], "circuit: it lasts as long as measured", "%.1f s", took)
	x.Logf("the circuit takes %.1f s of the vehicle's time", took)
}

// checkCut cuts a take-off: the vehicle ends in a safe hold at the height of the take-off.
func (x *rig) checkCut() {
	at := 10
	if x.class == "copter" {
		at = 5
	}
	m := read(x.T, x.class, fmt.Sprintf(
		`<ReactiveFallback><Condition name="low" on="h ge %d [m]" off="h lt 0 [m]"/><take_off/></ReactiveFallback>`, at), "")
	m.Horizon, m.EndsWithPlan = 160, false
	x.fly(m, nil)
	cut := x.at("take_off", bt.Deactivating)
	if len(cut) != 1 {
		x.Fatalf("the take-off is cut at %v%s", cut, x.log())
	}
	samples := 0
	for i, t := range x.times {
		h, v := x.signals["h"][i], x.signals["airspeed"][i]
		if t < cut[0]+21 {
			continue
		}
		samples++
		if math.Abs(h-x.height) > 3 || x.class == "plane" && math.Abs(v-22) > 1.5 {
			x.claim(false, "cut: within 21 s it holds at its height and speed", "%.1f s after the cut: %.1f m, %.1f m/s", t-cut[0], h, v)
			break
		}
	}
	x.claim(samples > 30, "cut: it is watched", "%d s%s", samples, x.log())
}

// checkStation lets another station change the mode in flight.
func (x *rig) checkStation() {
	m := x.contractMission(`<Sequence><take_off/><fly_to to_north="3000 [m]" to_east="0" to_h="90 [m]"/></Sequence>`, "")
	away := frame.Writer{System: 255, Component: 190}
	changed, stopped := math.NaN(), false
	commanded := 0
	x.fly(m, func(d *Driver) {
		legs := x.at("fly_to", bt.Running)
		switch {
		case len(legs) > 0 && math.IsNaN(changed) && d.T() > legs[0]+8:
			changed = d.T()
			raw, err := away.Write(&mav.MessageCommandLong{TargetSystem: 1, TargetComponent: 1,
				Command: common.MAV_CMD_DO_SET_MODE, Param1: 1, Param2: float32(x.other[0]), Param3: float32(x.other[1])}, 0)
			if err != nil {
				x.Fatal(err)
			}
			_ = x.near.Write(raw) // the mode shows whether it arrived
		case d.Vehicle() == adapter.Taken && commanded == 0:
			commanded = x.count(adapter.Commanded)
		case !math.IsNaN(changed) && d.T() > changed+30 && !stopped:
			stopped = true
			d.Operate(flight.Stop)
		}
	})
	x.claim(x.said(adapter.PilotTook, "") || x.said(adapter.FailsafeTook, ""), "station: the change is noticed", "%s", x.log())
	x.claim(commanded == x.count(adapter.Commanded), "station: nothing is commanded afterwards", "%s", x.log())
}

func (x *rig) count(kind adapter.Kind) (n int) {
	for _, e := range x.events {
		if e.Kind == kind.String() {
			n++
		}
	}
	return n
}

// settles is how long a vehicle may take to settle in a hold [s].
const settles = 12

// checkStop stops the plan in the air. The vehicle keeps its height for a minute in each state of which Canopy says
// that it holds: after an action that was left, in the action hold, and after the end of the flight.
func (x *rig) checkStop() {
	const left = `<Sequence><take_off/><Fallback><fly_to to_north="2000 [m]" to_east="0" to_h="%g [m]" limit="6 [s]"/>
		<wait duration="72 [s]"/></Fallback><hold/></Sequence>`
	m := x.contractMission(fmt.Sprintf(left, x.height), "")
	stopped := false
	x.fly(m, func(d *Driver) {
		if holds := x.at("hold", bt.Running); !stopped && len(holds) > 0 && d.T() > holds[0]+72 {
			stopped = true
			d.Operate(flight.Stop)
		}
	})
	ends := slices.ContainsFunc(x.events, func(e record.Event) bool {
		return e.Kind == "end" && strings.Contains(e.Text, "loiter")
	})
	x.claim(stopped && ends, "stop: it holds", "%s", x.log())
	for _, task := range []string{"wait", "hold"} {
		at := append(x.at(task, bt.Running), math.Inf(1))
		x.keeps(task, at[0]+settles, at[0]+settles+60)
	}
	if x.pair != nil {
		clear(x.signals)
		x.times = nil
		for i := range 60 {
			x.pair.v.Step(second)
			x.times, x.signals["h"] = append(x.times, float64(i)), append(x.signals["h"], x.pair.v.State().Height)
		}
	} else { // the vehicle is attached in the air, and commanded nothing
		x.fly(x.contractMission(`<wait duration="62 [s]"/>`, ""), nil)
	}
	x.keeps("after the end", 0, 60)
}

// keeps judges whether the vehicle has kept its height between two times of the flight [s].
func (x *rig) keeps(state string, from, to float64) {
	x.Helper()
	within := 1.0
	if x.class == "plane" {
		within = 5
	}
	least, most, n := math.Inf(1), math.Inf(-1), 0
	for i, t := range x.times {
		if h := x.signals["h"][i]; from <= t && t <= to {
			least, most, n = min(least, h), max(most, h), n+1
		}
	}
	x.claim(n >= 55 && most-least <= within && least > 10, "stop: it keeps its height for a minute",
		"%s: between %.1f and %.1f m, %d samples%s", state, least, most, n, x.log())
}

// services are the machines of an exchange, without a flight.
type services struct {
	*rig
	wire       FarEnd
	reader     frame.Reader
	writer     frame.Writer
	transfers  *service.Transfers
	parameters *service.Parameters
	beats      *service.Heartbeat
}

// exchange lets the machines work until an exchange is done.
func (x *services) exchange(name string, done func() bool) {
	x.Helper()
	machines := []interface {
		Receive(now service.Clock, f frame.Frame)
		Wake(now service.Clock)
		Due() int64
		Out() []frame.Message
	}{x.transfers, x.parameters, x.beats}
	for begun := x.wire.Now().Wall; !done(); {
		if x.wire.Now().Wall-begun > 60*second {
			x.Fatalf("%s does not end", name)
		}
		due := int64(math.MaxInt64)
		for _, m := range machines {
			if m.Due() <= x.wire.Now().Wall {
				m.Wake(x.wire.Now())
			}
			for _, out := range m.Out() {
				raw, err := x.writer.Write(out, x.wire.Now().Unix)
				if err != nil {
					x.Fatal(err)
				}
				x.wire.Write(raw)
			}
			due = min(due, m.Due())
		}
		x.serve()
		in, _ := x.wire.Next(context.Background(), min(due, x.wire.Now().Wall+second), nil)
		if in.Kind == flight.Frame {
			if x.pair != nil {
				x.pair.b.bytes += len(in.Data)
			}
			for _, f := range x.reader.Read(in.Data) {
				for _, m := range machines {
					m.Receive(in.At, f)
				}
			}
		}
	}
}

// checkTransfers uploads lists of items, reads them back, and writes a parameter.
func (x *rig) checkTransfers() {
	s := &services{rig: x, wire: x.connect(), writer: frame.Writer{System: ends.Us.System, Component: ends.Us.Component},
		transfers: service.NewTransfers(ends), parameters: service.NewParameters(ends, x.encoding),
		beats: service.NewHeartbeat(ends, 18)}
	defer s.wire.Close() //nolint:errcheck // nothing is buffered
	at := earth.NewPlane(earth.Position{Lat: 48.0814, Lon: 11.2831})
	item := func(command uint16, p float32, north, east, h float64) service.Item {
		g := at.Global(north, east)
		return service.Item{Command: command, Frame: 3, Params: [4]float32{p},
			X: service.Degrees(g.Lat), Y: service.Degrees(g.Lon), Z: float32(h)}
	}
	heard := false
	s.exchange("the first heartbeat", func() bool { heard = heard || s.beats.Link() == service.Up; return heard })
	for _, l := range []struct {
		list  service.Storage
		items []service.Item
	}{
		{service.FenceList, []service.Item{item(5001, 4, -2000, -2000, 0), item(5001, 4, 2000, -2000, 0),
			item(5001, 4, 2000, 2000, 0), item(5001, 4, -2000, 2000, 0)}},
		{service.RallyList, []service.Item{item(5100, 0, 200, 200, 60)}},
		{service.FenceList, nil}, {service.RallyList, nil},
	} {
		var ended []service.Transfer
		s.transfers.Upload(s.wire.Now(), l.list, l.items)
		s.exchange(l.list.String(), func() bool { ended = s.transfers.Ended(); return len(ended) > 0 })
		x.claim(ended[0].Err == nil, "transfers: "+l.list.String(), "%v", ended[0].Err)
	}
	for _, begin := range []func() error{
		func() error { return s.parameters.Write(s.wire.Now(), x.setting, 35) },
		func() error { return s.parameters.Read(s.wire.Now(), x.setting) },
	} {
		if err := begin(); err != nil {
			x.Fatal(err)
		}
		var settings []service.Setting
		s.exchange(x.setting, func() bool { settings = s.parameters.Settings(); return len(settings) > 0 })
		x.claim(settings[0].Knowledge == service.Found && settings[0].Value == 35, "transfers: a parameter is written",
			"%+v", settings)
	}
}

// TestConformance makes the checks of fake vehicles over a socket, and of the simulator that CANOPY_SITL names.
func TestConformance(t *testing.T) {
	kinds, where, address := subjects, aFake, ""
	if v := os.Getenv("CANOPY_SITL"); v != "" {
		name, rest, _ := strings.Cut(v, "@")
		name, another := strings.CutPrefix(name, "fake:")
		i := slices.IndexFunc(subjects, func(k *subject) bool { return k.name == name })
		if i < 0 || rest == "" {
			t.Fatalf("CANOPY_SITL is %q: write one of %v, @ and the address of the link", v, fake.FirmwareNames())
		}
		kinds, address = subjects[i:i+1], rest
		if !another {
			where = simulator
		}
	} else if testing.Short() {
		kinds = subjects[:1]
	}
	for _, k := range kinds {
		for _, c := range checks {
			t.Run(k.name+"/"+c.name, func(t *testing.T) {
				c.run(&rig{subject: k, T: t, where: where, link: address, ground: c.ground})
			})
		}
	}
	for _, d := range differences {
		t.Logf("known difference: %s: %s: %s (%s)", d.claim, strings.Join(d.where, ", "), d.why, d.source)
	}
}
