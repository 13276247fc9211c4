package driver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

const second = 1_000_000_000 // ns

// read reads a mission of a class of vehicles, whose plan has the class's library.
func read(t testing.TB, class, body, yaml string) *mission.Mission {
	t.Helper()
	plan := `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:` + class +
		`"/><BehaviorTree ID="m">` + body + `</BehaviorTree></root>`
	head := "mission: test\nplan: plan.xml\nvehicle: " + class + "\nhorizon: 200000\n" +
		"record: {interval: 1, signals: [h, airspeed, north, east]}\n"
	if !strings.Contains(yaml, "ends_with_plan") {
		head += "ends_with_plan: true\n"
	}
	files := cart.Files{"m/test.yaml": head + yaml, "m/plan.xml": plan}
	m, diags := mission.Read("m/test.yaml", files.Open, equations.Offers(), nil)
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

// course takes off, flies to a point in the north and ends there.
const course = `<Sequence name="mission">
  <Action name="prepare" done="ready and home_known"/>
  <Action name="take_off" entry="arm := true; wanted_mode := takeoff; target_h := 80 [m]" done="h ge 75 [m]"/>
  <Action name="go" entry="wanted_mode := guided; target_north := 800 [m]; target_h := 80 [m]" done="reached"
          exit="speed := 22 [m/s]"/>
</Sequence>`

// north is a mission of the course.
func north(t testing.TB) *mission.Mission { return read(t, "plane", course, "") }

// shipped reads a mission of the folder missions.
func shipped(t testing.TB, name string) *mission.Mission {
	t.Helper()
	m, diags := mission.Read("../../missions/"+name+".yaml", os.ReadFile, equations.Offers(), nil)
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

var ends = service.Ends{Us: service.Address{System: 1, Component: 191}, Vehicle: service.Address{System: 1, Component: 1}}

// newFlight prepares a flight of a mission with the vehicle of ends.
func newFlight(t testing.TB, m *mission.Mission, o flight.Options) *flight.Flight {
	t.Helper()
	o.Ends = ends
	f, err := flight.New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// trip is a flight with a fake vehicle, and what a test sees of it.
type trip struct {
	*Driver
	t       testing.TB
	vehicle *fake.Autopilot
	far     *far
	page    *page
	tape    *tape
	orders  []fake.Received
}

// begin prepares the trip of a mission that may enable the motors.
func begin(t testing.TB, m *mission.Mission, v fake.Options) *trip {
	t.Helper()
	return beginWith(t, m, flight.Options{Arm: true}, v)
}

func beginWith(t testing.TB, m *mission.Mission, o flight.Options, v fake.Options) *trip {
	t.Helper()
	x := &trip{t: t, page: newPage(m), tape: &tape{}}
	if v.Observe == nil {
		v.Observe = func(r fake.Received) { x.orders = append(x.orders, r) }
	}
	x.vehicle = fake.New(v)
	x.far = &far{simulated: Fake("fake", x.vehicle, 1e18, 0).(*simulated)}
	x.Driver = New(newFlight(t, m, o), x.far, Options{Box: x.tape.begin})
	x.Attach(x.page)
	return x
}

// fly flies to the end; after each input it calls observe, if that is not nil.
func (x *trip) fly(observe func() error) error {
	return x.Fly(context.Background(), func(bool) error {
		if observe != nil {
			return observe()
		}
		return nil
	})
}

// succeed flies to the end; the plan must succeed.
func (x *trip) succeed(observe func() error) {
	x.t.Helper()
	if err := x.fly(observe); err != nil || x.Summary().Plan != record.PlanSucceeded {
		x.t.Errorf("%v, %+v, %+v\n%s", err, x.Summary(), x.vehicle.State(), x.log())
	}
}

func (x *trip) log() string { return strings.Join(x.page.lines, "\n") }

// far is the far end of a fake vehicle, on a way on which more may happen.
type far struct {
	*simulated
	in    func(wall int64, d []byte) [][]byte // what arrives instead of a datagram of the vehicle; nil: the same
	out   func(wall int64) bool               // reports whether a frame reaches the vehicle; nil: each does
	lag   int64                               // of what is sent to the vehicle [ns]
	pass  func(due int64)                     // lets time pass instead of the far end, until something arrived; nil: nothing does
	more  [][]byte
	queue []dispatch
}

// dispatch is a frame on its way.
type dispatch struct {
	at    int64
	frame []byte
}

func (c *far) Write(frame []byte) {
	switch {
	case c.out != nil && !c.out(c.wall):
	case c.lag > 0:
		c.queue = append(c.queue, dispatch{c.wall + c.lag, frame})
	default:
		c.simulated.Write(frame)
	}
}

func (c *far) Next(ctx context.Context, due int64, asks <-chan Ask) (flight.Input, Ask) {
	for {
		if len(c.more) > 0 {
			d := c.more[0]
			c.more = c.more[1:]
			return flight.Input{Kind: flight.Frame, At: c.Now(), Data: d}, nil
		}
		until := due
		for len(c.queue) > 0 && c.queue[0].at <= c.wall {
			c.simulated.Write(c.queue[0].frame)
			c.queue = c.queue[1:]
		}
		if len(c.queue) > 0 && len(c.arrived) == 0 {
			until = min(due, c.queue[0].at)
		}
		if c.pass != nil {
			c.pass(due)
			until = min(due, c.wall)
		}
		in, ask := c.simulated.Next(ctx, until, asks)
		if in.Kind != flight.Frame || ask != nil || c.in == nil {
			return in, ask
		}
		c.more = c.in(in.At.Wall, in.Data)
	}
}

// Close delivers what is under way.
func (c *far) Close() error {
	for _, x := range c.queue {
		c.simulated.Write(x.frame)
	}
	return c.simulated.Close()
}

// page is the log of a flight.
type page struct {
	record.Nothing
	names []string // of the tasks
	lines []string
	h     []float64
}

func newPage(m *mission.Mission) *page {
	p := &page{}
	for i := range m.Plan.Tree.Len() {
		p.names = append(p.names, m.Plan.Tree.Name(bt.Task(i)))
	}
	return p
}

func (p *page) Sample(_ float64, v []float64) error {
	p.h = append(p.h, v[0])
	return nil
}

func (p *page) Event(e record.Event) error {
	p.lines = append(p.lines, fmt.Sprintf("%.3f %s: %s", e.T, e.Kind, e.Text))
	return nil
}

func (p *page) Status(t float64, _ int, c bt.Change) error {
	name := fmt.Sprint("task ", c.Task) // of a plan that took over
	if int(c.Task) < len(p.names) {
		name = p.names[c.Task]
	}
	p.lines = append(p.lines, fmt.Sprintf("%.3f %s %v", t, name, c.To))
	return nil
}

// tape is a black box in memory.
type tape struct {
	inputs []flight.Input
	out    [][]byte
	synced int
	room   int // for so many inputs; 0: for any number
	closed bool
	bytes  int  // that arrived
	signed bool // among them is a signature
}

var errFull = errors.New("the disk is full")

func (b *tape) begin(start flight.Input) (Box, error) { return b, b.Append(start) }

func (b *tape) Append(in flight.Input) error {
	if b.room > 0 && len(b.inputs) >= b.room {
		return errFull
	}
	if b.inputs = append(b.inputs, in); in.Kind == flight.Frame {
		b.bytes += len(in.Data)
		b.signed = b.signed || in.Data[0] == 0xFD && len(in.Data) > 2 && in.Data[2] != 0
	}
	return nil
}

func (b *tape) Out(d [][]byte) error    { b.out = append(b.out, d...); return nil }
func (b *tape) Sync() error             { b.synced++; return nil }
func (b *tape) Due() bool               { return false }
func (b *tape) Checkpoint([]byte) error { panic("a checkpoint that is not due") }
func (b *tape) Close() error            { b.closed = true; return nil }

// commands returns those of operators.
func (b *tape) commands() (list []string) {
	for _, in := range b.inputs {
		if in.Kind == flight.Operator {
			list = append(list, string(in.Data))
		}
	}
	return list
}

// A plan flies a fake plane: it waits until the vehicle is ready, takes off and reaches a point. Then the vehicle holds.
// The same flight gives the same log.
func TestFlight(t *testing.T) {
	x, again := begin(t, north(t), fake.Options{}), begin(t, north(t), fake.Options{})
	x.succeed(nil)
	again.succeed(nil)
	var modes []uint16
	for _, r := range x.orders {
		if r.ID == 176 || r.ID == 400 {
			modes = append(modes, r.ID*100+uint16(r.Params[1]))
		}
	}
	if s := x.Summary(); s.Ended < 40 || s.Ended > 70 {
		t.Errorf("%+v\n%s", s, x.log())
	}
	if top := slices.Max(x.page.h); top < 76 || top > 90 {
		t.Errorf("the plane climbed to %g m", top)
	}
	if want := []uint16{17613, 40000, 17615, 17612}; !slices.Equal(modes, want) { // take-off, arm, guided, loiter
		t.Errorf("the commands are %v, want %v", modes, want)
	}
	b := x.tape
	if n := len(b.inputs); n < 1000 || len(b.out) < 50 || b.synced < 4 || !b.closed || b.inputs[n-1].Kind != flight.End {
		t.Errorf("the black box: %d inputs, %d datagrams, %d times synced", n, len(b.out), b.synced)
	}
	if x.log() != again.log() {
		t.Error("two flights with the same vehicle differ")
	}
}

// Without permission the plan does not enable the motors: the vehicle stays on the ground until the mission's horizon.
func TestTheMotorsNeedPermission(t *testing.T) {
	x := beginWith(t, north(t), flight.Options{Until: 60}, fake.Options{})
	err := x.fly(nil)
	armed := slices.ContainsFunc(x.orders, func(r fake.Received) bool { return r.ID == 400 })
	if err != nil || armed || x.Summary().Ended != 60 {
		t.Errorf("%v; armed %v; %+v", err, armed, x.Summary())
	}
}

// The distance from the target follows what is wanted at once. A plan whose targets take turns because of it ends, and
// the vehicle is left in a hold: the loop of the flight goes on.
func TestTargetsThatTakeTurns(t *testing.T) {
	x := begin(t, read(t, "plane", `<Sequence>
  <Action name="prepare" done="ready and home_known"/>
  <Action name="take_off" entry="arm := true; wanted_mode := takeoff; target_h := 80 [m]" done="h ge 75 [m]"/>
  <ReactiveFallback>
    <ReactiveSequence>
      <Condition name="is_near" on="target_distance lt 1500 [m]"/>
      <Action name="far" write="wanted_mode := guided; target_north := 5000 [m]"/>
    </ReactiveSequence>
    <Action name="near" write="wanted_mode := guided; target_north := 100 [m]"/>
  </ReactiveFallback>
</Sequence>`, "ends_with_plan: false\n"), fake.Options{})
	err, mode := x.fly(nil), math.NaN()
	for _, r := range x.orders {
		if r.ID == 176 {
			mode = r.Params[1]
		}
	}
	if err == nil || !strings.HasPrefix(err.Error(), "chattering") || mode != 12 {
		t.Errorf("%v; the last mode that was commanded is %v, want 12, loiter", err, mode)
	}
}

// A full disk does not end a flight: its plan ends as it would have, and then the error is reported.
func TestFullDisk(t *testing.T) {
	x := begin(t, north(t), fake.Options{})
	x.tape.room = 500
	if err := x.fly(nil); !errors.Is(err, errFull) || x.Summary().Plan != record.PlanSucceeded || !x.tape.closed {
		t.Errorf("%v, %+v", err, x.Summary())
	}
}
