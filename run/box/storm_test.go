package box

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/vehicle/contract"
	"github.com/canopy-uav/canopy/vehicle/earth"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// rough is the plan of the flights with faults, of a wanted mode in which a vehicle takes off. It counts the entries and
// exits of its tasks: at the end, none is open.
const rough = `<Sequence name="mission">
  <Action name="prepare" done="ready gt 0.5 and home_known gt 0.5"/>
  <Action name="take_off" entry="open := open + 1; target_h := 80 [m]; wanted_mode := %d; arm := 1"
          exit="open := open - 1" done="h ge 75 [m]"/>
  <Action name="north" entry="open := open + 1; wanted_mode := 3; target_north := 300 [m]; target_h := 80 [m]"
          exit="open := open - 1" done="north ge 150 [m] and reached gt 0.5"/>
  <Action name="fast" entry="open := open + 1; target_north := 300 [m]; target_east := 300 [m]; speed := 25 [m/s]"
          exit="open := open - 1; speed := 22 [m/s]" done="east ge 150 [m] and reached gt 0.5"/>
  %s</Sequence>`

// rider is a kind of vehicle, with what its flights may command, and how they may end.
type rider struct {
	firmware   fake.Firmware
	contract   *contract.Contract
	takeOff    int // the wanted mode
	parameters map[string]float64
	modes      []float64 // that the plan and the end of the flight command
	rtl        float64   // that of them which returns
	sea        float64   // the altitude of home in commands [m]
	pilot      float64   // the mode that the pilot selects
	piloted    string    // its name
	booted     string    // the name of the mode after a boot
}

var riders = []rider{
	{fake.ArduPlane, contract.Plane, 7, map[string]float64{"FS_GCS_ENABL": 1, "FS_LONG_ACTN": 1, "BATT_LOW_VOLT": 10.8,
		"BATT_FS_LOW_ACT": 1, "FENCE_TYPE": 2, "FENCE_RADIUS": 2000, "FENCE_ENABLE": 1, "SYSID_MYGCS": 1},
		[]float64{13, 15, 11}, 11, 0, 5, "FBWA", "MANUAL"},
	{fake.ArduCopter, contract.Copter, 3, map[string]float64{"FS_GCS_ENABLE": 1, "BATT_LOW_VOLT": 10.8,
		"BATT_FS_LOW_ACT": 2, "FENCE_TYPE": 2, "FENCE_RADIUS": 2000, "FENCE_ENABLE": 1, "SYSID_MYGCS": 1},
		[]float64{4, 6}, 6, 0, 2, "ALT_HOLD", "STABILIZE"},
	{fake.PX4Plane, contract.Plane, 7, px4Parameters, []float64{4<<16 | 2<<24, 4<<16 | 3<<24, 4<<16 | 5<<24}, 4<<16 | 5<<24,
		590, 3 << 16, "POSCTL", "HOLD"},
	{fake.PX4Copter, contract.Copter, 3, px4Parameters, []float64{4<<16 | 3<<24, 4<<16 | 5<<24}, 4<<16 | 5<<24,
		590, 3 << 16, "POSCTL", "HOLD"},
}

var px4Parameters = map[string]float64{"NAV_DLL_ACT": 2, "COM_LOW_BAT_ACT": 3, "BAT_CRIT_THR": 0.12, "GF_ACTION": 3,
	"GF_MAX_HOR_DIST": 2000}

// mode returns the number of the mode that a command asks for.
func (k *rider) mode(p [7]float64) float64 {
	if k.sea > 0 { // PX4: a main and a sub mode
		return float64(int(p[1])<<16 | int(p[2])<<24)
	}
	return p[1]
}

func (k *rider) mission(t testing.TB) *mission.Mission {
	t.Helper()
	head := "mission: test\nplan: plan.xml\nvehicle: " + k.contract.Name + "\nhorizon: 150\nends_with_plan: true\n" +
		"signals:\n  open: {unit: 1, default: 0, hold: true, text: tasks that were entered and not left}\n" +
		"record: {interval: 10, signals: [open]}\n"
	f := cart.Files{"m/test.yaml": head, "m/plan.xml": cart.Plan(fmt.Sprintf(rough, k.takeOff, ""))}
	m, diags := mission.Read("m/test.yaml", f.Open, model.Offers(keeping(k.contract)), nil)
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

// keeping is a vehicle that keeps a contract, without payload.
func keeping(c *contract.Contract) *model.Vehicle {
	v := &model.Vehicle{Name: c.Name, New: func([]float64) (model.Instance, error) { return nil, nil }}
	for _, s := range c.Signals {
		v.Outputs = append(v.Outputs, model.Output{Variable: model.Variable{Name: s.Name, Unit: s.Unit}})
	}
	for _, s := range c.Slots[:c.Payload] {
		v.Commands = append(v.Commands, model.Command{Variable: model.Variable{Name: s.Name, Unit: s.Unit},
			Default: s.Default, Hold: true, Range: model.Between(s.Min, s.Max)})
	}
	return v
}

// storm is a flight with faults, and what is observed of it.
type storm struct {
	record.Nothing
	*rider
	header record.Header
	is     []bt.Status // the tasks of the log
	torn   []string    // changes of a task that do not continue the one before
	swaps  int
	open   float64 // the last value in the log
	most   float64 // the largest one
	inputs []flight.Input
	out    [][][]byte
	orders []fake.Received
	taken  int64 // when the pilot took over; 0: never
	boots  int
	armed  int // how often it was armed
	idle   int // how often it disarmed by itself before it had flown

	t        testing.TB
	seed     uint64
	plan     fake.Scenario
	wire     *fake.Wire
	vehicle  *fake.Autopilot
	flight   *flight.Flight
	wall     int64
	station  int64 // when the ground station comes; before, a plane is in failsafe since its boot
	critical int64 // since when the vehicle is in failsafe; 0: it is not
	before   fake.State
	airborne bool // since it was armed
}

func (s *storm) Sample(_ float64, values []float64) error {
	s.open = values[0]
	s.most = max(s.most, s.open)
	return nil
}

// Plan implements record.Planner.
func (s *storm) Plan(p record.Takeover) error {
	s.swaps++
	s.header.Take(p)
	for _, x := range s.header.Tasks[len(s.is):] {
		s.is = append(s.is, x.Initial)
	}
	return nil
}

// Status checks that a change continues the one before.
func (s *storm) Status(t float64, _ int, c bt.Change) error {
	if s.is[c.Task] != c.From {
		s.torn = append(s.torn, fmt.Sprintf("at %g s, %s was %v: %v", t, s.header.Tasks[c.Task].Name, s.is[c.Task], c))
	}
	s.is[c.Task] = c.To
	return nil
}

// scenario draws the faults of a flight.
func (k *rider) scenario(r *rand.Rand) (p fake.Scenario) {
	pick := func(list ...float64) float64 { return list[r.IntN(len(list))] }
	second := func(from, to float64) int64 { return int64((from + (to-from)*r.Float64()) * 1e9) }
	if r.IntN(2) == 0 {
		p.Loss, p.Repeat = pick(0, 0.05, 0.2, 0.4), pick(0, 0, 0.1)
		p.Broken, p.Join = pick(0, 0, 0.05), pick(0, 0, 0.3)
		p.Delay = int64(pick(0, 0.05, 0.3, 1) * 1e9)
	}
	if r.IntN(3) == 0 {
		at := second(5, 90)
		p.Silences = append(p.Silences, fake.Silence{Way: fake.Way(r.IntN(2)), From: at, To: at + second(1, 25)})
	}
	for range r.IntN(3) {
		e := fake.Incident{T: second(5, 100)}
		switch r.IntN(9) {
		case 0:
			e.Event = fake.Event{Kind: fake.Reboot}
		case 1:
			e.Event = fake.Event{Kind: fake.Battery, Value: 0.1}
		case 2:
			e.Event = fake.Event{Kind: fake.PilotMode, Value: k.pilot}
		case 3:
			e.Event = fake.Event{Kind: fake.GPSLost}
			p.Events = append(p.Events, fake.Incident{T: e.T + second(1, 30), Event: fake.Event{Kind: fake.GPSBack}})
		case 4:
			e.Event = fake.Event{Kind: fake.ClockStep, Value: pick(-3, 0.5, 5)}
		case 5:
			e.Event = fake.Event{Kind: fake.Lie, Value: pick(1, 2)}
		case 6:
			e.Event = fake.Event{Kind: fake.Refuse, Value: pick(1, 3)}
		case 7:
			e.Event = fake.Event{Kind: fake.Breach, Value: 10}
		case 8:
			e.Event = fake.Event{Kind: fake.PilotStick, Value: 4}
		}
		p.Events = append(p.Events, e)
	}
	return p
}

// also draws more of what happens to a vehicle, and its parameters: a throttle stick that is moved, a lost radio, wide
// circles, a computer that does not keep up with the vehicle.
func (k *rider) also(r *rand.Rand, p *fake.Scenario, v *fake.Autopilot) {
	event := func(kind fake.Kind, value float64) {
		at := int64((5 + 145*r.Float64()) * 1e9)
		p.Events = append(p.Events, fake.Incident{T: at, Event: fake.Event{Kind: kind, Value: value}})
	}
	for range r.IntN(3) {
		event(fake.Throttle, []float64{1000, 1500, 2000}[r.IntN(3)])
	}
	if k.firmware == fake.ArduCopter && r.IntN(8) == 0 {
		event(fake.RadioLost, 0)
		event(fake.RadioBack, 0)
	}
	if radius := 20 + 130*r.Float64(); r.IntN(3) == 0 {
		_ = v.Set("WP_LOITER_RAD", radius) || v.Set("NAV_LOITER_RAD", radius) // a copter has neither
	}
	for from := int64(0); r.IntN(3) == 0; from += int64(60e9 * r.Float64()) {
		p.Rates = append(p.Rates, fake.Pace{From: from, Rate: []float64{0.3, 0.6, 0.9, 1, 1.5}[r.IntN(5)]})
	}
}

// edited returns the body of a plan that takes over: tasks are renamed, so that a running one is removed and runs again
// as another, left out, moved, or get exit procedures that take time, and there may be another one at the end.
func (k *rider) edited(r *rand.Rand, number int) string {
	last := fmt.Sprintf(`<Action name="last_%d" write="speed := 22" done="true"/>`, number)
	text := fmt.Sprintf(rough, k.takeOff, []string{"", last}[r.IntN(2)])
	replace := func(old, by string) { text = strings.Replace(text, old, by, 1) }
	north := text[strings.Index(text, `<Action name="north"`):strings.Index(text, `<Action name="fast"`)]
	for range 1 + r.IntN(2) {
		switch r.IntN(6) {
		case 0, 1:
			name := []string{"prepare", "take_off", "north", "fast"}[r.IntN(4)]
			replace(`name="`+name+`"`, fmt.Sprintf(`name="%s_%d"`, name, number))
		case 2:
			replace(north, "")
		case 3:
			replace(north, "")
			replace("</Sequence>", north+"</Sequence>")
		case 4, 5:
			replace(`exit="open := open - 1"`, `exit="open := open - 1" exit_time="2"`)
		}
	}
	return text
}

// flyStorm flies a mission with the faults of a seed.
func flyStorm(t testing.TB, k *rider, m *mission.Mission, seed uint64) *storm {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 11))
	s := &storm{rider: k, t: t, seed: seed, plan: k.scenario(r), station: math.MaxInt64}
	s.vehicle = fake.New(fake.Options{Firmware: k.firmware, Seed: seed, Observe: s.observe})
	for name, value := range k.parameters {
		if !s.vehicle.Set(name, value) {
			t.Fatal(name)
		}
	}
	k.also(rand.New(rand.NewPCG(seed, 13)), &s.plan, s.vehicle)
	s.wire = fake.NewWire(seed, s.plan)
	if seed%7 == 3 {
		s.vehicle.Inject(fake.Event{Kind: fake.Late, Value: float64(seed % 40)})
	}
	if k.firmware == fake.ArduPlane && seed%3 == 0 {
		s.vehicle.Set("SYSID_MYGCS", 255)
		s.station = int64(seed%200) * 1e9
	}
	s.flight = newRough(t, m, s)
	s.step(flight.Start, nil)
	s.step(flight.Open, []byte("fake:plane"))
	var swaps []int64 // when the plan is exchanged
	for range max(0, r.IntN(6)-2) {
		swaps = append(swaps, int64(r.Float64()*150e9))
	}
	s.before = s.vehicle.State()
	for s.wall < 260e9 && !s.flight.Over() {
		s.pass()
		for i, at := range swaps {
			if at <= s.wall && at > s.wall-dt && !s.flight.Over() {
				src := &diag.Source{Name: "next.xml", Text: cart.Plan(k.edited(r, i))}
				s.step(flight.Operator, []byte(flight.Swap(src, r.IntN(2) == 0)))
				if r.IntN(4) == 0 {
					s.step(flight.Operator, []byte(flight.Withdraw))
				}
			}
		}
		if s.wall == 220e9 || s.wall == 240e9 || s.wall == 250e9 {
			s.step(flight.Operator, []byte(flight.Stop)) // the operator gives up: whatever has the vehicle keeps it
		}
	}
	s.step(flight.End, nil)
	return s
}

// observe takes a command that reached the vehicle.
func (s *storm) observe(o fake.Received) {
	s.orders = append(s.orders, o)
	if o.ID == 400 && o.Params[0] == 1 && s.critical > 0 && o.T > s.critical+30e9 && !o.Armed {
		s.t.Errorf("seed %d: armed in failsafe: %+v", s.seed, o)
	}
}

// step gives the flight an input.
func (s *storm) step(kind flight.Kind, data []byte) {
	in := flight.Input{Kind: kind, At: service.Clock{Wall: s.wall + 1, Unix: 1e18 + s.wall}, Data: data}
	out, err := s.flight.Step(in)
	if err != nil {
		s.t.Fatalf("seed %d: at %g s: %v", s.seed, float64(s.wall)/1e9, err)
	}
	s.inputs, s.out = append(s.inputs, in), append(s.out, out)
	for _, d := range out {
		s.wire.Send(fake.ToVehicle, d, s.wall)
	}
}

const dt = 20_000_000 // ns

// pass lets a step of time pass.
func (s *storm) pass() {
	s.wall += dt
	for _, e := range s.wire.Events(s.wall) {
		s.vehicle.Inject(e)
		switch e.Kind {
		case fake.PilotMode:
			s.taken = s.vehicle.Now()
		case fake.Reboot:
			s.boots++
		}
	}
	for _, d := range s.wire.Arrived(fake.ToVehicle, s.wall) {
		s.vehicle.Receive(d)
	}
	if s.wall >= s.station && s.wall%1e9 < dt {
		others := frame.Writer{System: 255, Component: 190}
		raw, err := others.Write(&mav.MessageHeartbeat{Type: 6, Autopilot: 8}, 0)
		if err != nil {
			s.t.Fatal(err)
		}
		s.vehicle.Receive(raw)
	}
	s.vehicle.Step(s.plan.Time(s.wall) - s.plan.Time(s.wall-dt))
	s.look()
	for _, d := range s.vehicle.Out() {
		s.wire.Send(fake.FromVehicle, d, s.wall)
	}
	for _, d := range s.wire.Arrived(fake.FromVehicle, s.wall) {
		s.step(flight.Frame, slices.Clone(d))
	}
	if s.flight.Due() <= s.wall {
		s.step(flight.Wake, nil)
	}
}

// look counts how often the vehicle was armed, and notes since when it is in failsafe.
func (s *storm) look() {
	a := s.vehicle.State()
	if !a.Critical {
		s.critical = 0
	} else if s.critical == 0 {
		s.critical = s.vehicle.Now()
	}
	switch {
	case a.Armed && !s.before.Armed:
		s.armed++
	case !a.Armed && s.before.Armed && !s.airborne:
		s.idle++
	}
	s.airborne = a.Armed && (s.airborne || a.Flying)
	s.before = a
}

func newRough(t testing.TB, m *mission.Mission, s *storm) *flight.Flight {
	ends := service.Ends{Us: service.Address{System: 1, Component: 191}, Vehicle: service.Address{System: 1, Component: 1}}
	f, err := flight.New(m, flight.Options{Options: adapter.Options{Ends: ends, Return: true}, Arm: true})
	if err != nil {
		t.Fatal(err)
	}
	f.Attach(s)
	s.header = f.Header()
	for _, x := range s.header.Tasks {
		s.is = append(s.is, x.Initial)
	}
	return f
}

// home is where the plane is switched on, and armed.
var home = earth.NewPlane(earth.Position{Lat: 48.0814, Lon: 11.2831})

// judge returns what is wrong with a flight.
func (s *storm) judge() (wrong []string) {
	f, v := s.flight, s.vehicle
	say := func(format string, a ...any) { wrong = append(wrong, fmt.Sprintf(format, a...)) }
	if !f.Over() {
		say("the flight does not end: %v", f.Vehicle())
	}
	if s.most > 1 {
		say("%g tasks of a sequence at once", s.most)
	}
	if s.open != 0 {
		say("%g exit procedures are lost", s.open)
	}
	for _, x := range s.torn {
		say("%s", x)
	}
	led, told, last := false, false, 0.0
	for _, o := range s.orders {
		p := o.Params
		ok := false
		if o.ID == 176 {
			last = s.mode(p)
		}
		switch o.ID {
		case 511, 512, 510, 410, 520:
			continue
		case 400:
			ok = p[0] == 1 && p[1] == 0 || p[0] == 0 && p[1] == 0
		case 176:
			ok = slices.Contains(s.modes, last) || !o.Armed && last == 12 // it does not take off in that
		case 22:
			ok = s.contract == contract.Copter && math.Abs(p[6]-80-s.sea) < 1
		case 192, 34:
			if ok = !o.Armed && math.IsNaN(p[6]); ok { // likewise, a PX4's Hold
				break
			}
			north, east := home.Local(earth.Position{Lat: p[4], Lon: p[5]})
			ok = math.Abs(p[6]-80-s.sea) < 1 && (math.Abs(north-300) < 1 && (math.Abs(east) < 1 || math.Abs(east-300) < 1) ||
				s.contract == contract.Copter && math.Hypot(north, east) < 1) // over home, after the take-off
		case 43000, 178:
			ok = slices.Contains([]float64{22, 25}, p[1])
		}
		if !ok {
			say("a command outside the plan: %+v", o)
		}
		// Before, the pilot's mode is where the vehicle was found; heartbeats with a commanded mode may be overtaken.
		led = led || o.ID == 176 && o.T < s.taken-5e9
		if led && o.T > s.taken+5e9 && s.boots == 0 && !told {
			told = true
			say("the pilot has the vehicle since %g s: %+v", float64(s.taken)/1e9, o)
		}
	}
	if f.Vehicle() == adapter.Lost && len(s.inputs) > 0 && f.T() == 0 && !v.State().Critical { // in failsafe, the plan waits
		say("never attached")
	}
	if s.armed > 1+s.boots+s.idle { // a vehicle that has flown is not armed again
		say("armed %d times", s.armed)
	}
	fate := f.Summary().Sortie.Vehicle
	switch a := v.State(); {
	case a.Armed && !a.Flying && (fate == record.Landed || fate == record.NeverArmed || fate == record.NotAsked):
		say("%v, and it is armed on the ground: %+v", fate, a)
	case a.Flying && (fate == record.Landed || fate == record.NeverArmed || fate == record.NeverFlew):
		say("%v, and it flies: %+v", fate, a)
	case !a.Flying:
	case a.Mode == "RTL", a.Mode == "LOITER":
	case a.Mode == s.piloted && s.taken != 0:
	case a.Mode == s.booted && s.boots > 0:
	case a.Mode == "TAKEOFF" && f.Vehicle() == adapter.Taken && s.taken == 0 && s.armed > 0 && a.Critical:
		say("nobody commands it: %+v", a)
	case f.Vehicle() == adapter.Taken, f.Vehicle() == adapter.Observing, f.Vehicle() == adapter.Lost:
		// on a circle, as whoever has it left it
	case last == s.rtl: // it was told to return, and refused or lied
	default:
		say("ends in %+v, %v", a, f.Vehicle())
	}
	return wrong
}

// TestStorms flies each kind of vehicle with faults on the link and in the vehicle, and exchanges of the plan: nothing
// panics, no command is outside the plan, the pilot keeps the vehicle, each exit procedure runs, every flight ends, and a
// second flight with the same inputs, which is saved and restored at random, sends the same datagrams and ends in the
// same state.
func TestStorms(t *testing.T) {
	n := uint64(1000)
	if testing.Short() {
		n = 60
	}
	missions := make([]*mission.Mission, len(riders))
	for i := range riders {
		missions[i] = riders[i].mission(t)
	}
	flown, swaps, restored := make([]uint64, len(riders)), 0, 0
	for seed := range n {
		i := seed % uint64(len(riders))
		k, m := &riders[i], missions[i]
		s := flyStorm(t, k, m, seed)
		f := s.flight
		for _, w := range s.judge() {
			t.Errorf("seed %d, %s: %s\n%+v", seed, fake.FirmwareNames()[k.firmware], w, s.plan)
		}
		swaps += s.swaps
		if s.most == 1 && f.Statuses()[0] == bt.Accept {
			flown[i]++
		}
		again := &storm{}
		g := newRough(t, m, again)
		r := rand.New(rand.NewPCG(seed, 12))
		for i, in := range s.inputs {
			out, err := g.Step(in)
			if err != nil || !slices.EqualFunc(out, s.out[i], bytes.Equal) {
				t.Errorf("seed %d: the replay differs at input %d: %v", seed, i, err)
				break
			}
			if r.IntN(1000) == 0 {
				state := snapshot.Save(nil, g)
				header, is := again.header, again.is
				g = newRough(t, m, again)
				again.header, again.is = header, is
				if err := snapshot.Load(state, g); err != nil || !bytes.Equal(snapshot.Save(nil, g), state) {
					t.Fatalf("seed %d: the state at input %d is not restored: %v", seed, i, err)
				}
				restored++
			}
		}
		if !bytes.Equal(snapshot.Save(nil, f), snapshot.Save(nil, g)) {
			t.Errorf("seed %d: the replay ends in another state", seed)
		}
		if again.open != s.open || !slices.Equal(f.Statuses(), g.Statuses()) {
			t.Errorf("seed %d: the replay ends with %v, not %v", seed, g.Statuses(), f.Statuses())
		}
	}
	if t.Logf("%d exchanges", swaps); swaps < int(n)/4 {
		t.Errorf("%d exchanges in %d flights", swaps, n)
	}
	if restored < int(n) {
		t.Errorf("only %d states were restored", restored)
	}
	for i, k := range flown {
		if k < n/uint64(2*len(riders)) {
			t.Errorf("only %d of %d flights of %s took off", k, n/uint64(len(riders)), fake.FirmwareNames()[i])
		}
	}
}
