package box

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"canopy/autopilot/adapter"
	"canopy/autopilot/fake"
	"canopy/autopilot/service"
	"canopy/bt"
	"canopy/document/mission"
	"canopy/internal/cart"
	"canopy/run/flight"
	"canopy/run/record"
	"canopy/snapshot"
	"canopy/vehicle/contract"
	"canopy/vehicle/model"
)

// course takes off, flies to a point in the north and ends there.
const course = `<Sequence name="mission">
  <Action name="prepare" done="ready gt 0.5 and home_known gt 0.5"/>
  <Action name="take_off" entry="arm := 1; wanted_mode := 7; target_h := 80 [m]" done="h ge 75 [m]"/>
  <Action name="go" entry="wanted_mode := 3; target_north := 300 [m]; target_h := 80 [m]" done="reached gt 0.5"/>
</Sequence>`

// plane is a vehicle that keeps the contract of planes.
func plane() *model.Vehicle { return keeping(contract.Plane) }

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

// pilot flies the course with a fake plane, into a box.
type pilot struct {
	t       *testing.T
	m       *mission.Mission
	dir     string
	plane   *fake.Autopilot
	wall    int64
	flight  *flight.Flight
	box     *Writer
	records int             // so far
	inputs  int             // of them
	kill    int             // the program is killed when it has written so many records; 0: it is not
	sent    []fake.Received // what the plane executed or refused
	at      [][]bt.Status   // after each input
}

var errKilled = errors.New("killed")

func newPilot(t *testing.T, kill int) *pilot {
	t.Helper()
	head := "mission: test\nplan: plan.xml\nvehicle: plane\nhorizon: 300\nends_with_plan: true\n" +
		"record: {interval: 1, signals: [h]}\n"
	f := cart.Files{"m/test.yaml": head, "m/plan.xml": cart.Plan(course)}
	m, diags := mission.Read("m/test.yaml", f.Open, model.Offers(plane()), nil)
	if m == nil {
		t.Fatal(diags)
	}
	p := &pilot{t: t, m: m, dir: t.TempDir(), wall: 1, kill: kill}
	p.plane = fake.New(fake.Options{Observe: func(r fake.Received) { p.sent = append(p.sent, r) }})
	p.begin()
	return p
}

// begin makes the flight of a program that starts.
func (p *pilot) begin() {
	address := service.Address{System: 1, Component: 1}
	us := service.Address{System: 1, Component: 191}
	ends := service.Ends{Us: us, Vehicle: address}
	f, err := flight.New(p.m, flight.Options{Options: adapter.Options{Ends: ends}, Arm: true})
	must(p.t, err)
	f.Attach(&nowhere{})
	p.flight = f
}

func (p *pilot) now() service.Clock { return service.Clock{Wall: p.wall, Unix: 1e18 + p.wall} }

// step records an input, makes the flight react and sends what it answers.
func (p *pilot) step(in flight.Input) error {
	if in.Kind == flight.Start && p.box == nil {
		w, err := Create(p.dir, in, Options{})
		must(p.t, err)
		p.box = w
	} else {
		must(p.t, p.box.Append(in))
	}
	p.inputs++
	if p.records++; p.records == p.kill {
		return errKilled
	}
	out, err := p.flight.Step(in)
	must(p.t, err)
	p.at = append(p.at, p.flight.Statuses())
	for _, datagram := range out {
		must(p.t, p.box.Out([][]byte{datagram}))
		if p.records++; p.records == p.kill {
			return errKilled
		}
		p.plane.Receive(datagram)
	}
	if p.inputs%300 == 0 {
		must(p.t, p.box.Checkpoint(snapshot.Save(nil, p.flight)))
	}
	return nil
}

// fly flies until the plan has ended, or the program is killed, or the steps are over.
func (p *pilot) fly(steps int) error {
	for ; steps != 0 && !p.flight.Over(); steps-- {
		p.plane.Step(20_000_000)
		p.wall += 20_000_000
		for _, datagram := range p.plane.Out() {
			if err := p.step(flight.Input{Kind: flight.Frame, At: p.now(), Data: datagram}); err != nil {
				return err
			}
		}
		if p.flight.Due() <= p.wall {
			if err := p.step(flight.Input{Kind: flight.Wake, At: p.now()}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pilot) open() error {
	err := p.step(flight.Input{Kind: flight.Start, At: p.now()})
	if err == nil {
		err = p.step(flight.Input{Kind: flight.Open, At: p.now(), Data: []byte("udp:127.0.0.1:14550")})
	}
	return err
}

// again continues the flight after the program was killed and the vehicle flew alone for a time [ns].
func (p *pilot) again(alone int64) *Replayer {
	_ = p.box.to.Close()
	for range alone / 20_000_000 {
		p.plane.Step(20_000_000)
		_ = p.plane.Out()
	}
	p.wall += alone
	p.kill = 0
	p.begin()
	r := NewReplayer(p.flight, false)
	w, end, err := Continue(p.dir, Options{}, r.Feed)
	must(p.t, err)
	must(p.t, r.End(&end))
	p.box = w
	if at := end.Time(p.now().Unix); at.Wall != p.wall {
		p.t.Errorf("the clock shows %d, want %d", at.Wall, p.wall)
	}
	return r
}

// count returns how often the plane received a command.
func count(list []fake.Received, id uint16) (n int) {
	for _, r := range list {
		if r.ID == id {
			n++
		}
	}
	return n
}

const armCommand = 400

// nowhere is a recorder that keeps nothing.
type nowhere struct{}

func (nowhere) Sample(float64, []float64) error      { return nil }
func (nowhere) Status(float64, int, bt.Change) error { return nil }
func (nowhere) Event(record.Event) error             { return nil }

// TestKill9 kills a program in the air and on the ground, starts it again and continues from the black box: the right
// task is active at once, the plane is armed once, and the whole is replayed to the same datagrams.
func TestKill9(t *testing.T) {
	whole := newPilot(t, 0)
	must(t, whole.open())
	must(t, whole.fly(2500))
	must(t, whole.box.Close())
	if count(whole.sent, armCommand) != 1 || whole.flight.T() < 10 {
		t.Fatalf("the flight took %g s, %d times armed", whole.flight.T(), count(whole.sent, armCommand))
	}
	all, _ := folder(t, whole.dir)
	all = slices.DeleteFunc(all, func(r Record) bool { return r.Kind == Checkpoint }) // which are not counted
	// Every record around a command, and some of the others.
	var cuts []int
	for i := range all {
		near := false
		for k := max(i-1, 0); k < min(i+2, len(all)); k++ {
			near = near || all[k].Kind == Out && len(all[k].Data) > 9 && all[k].Data[7] == 76
		}
		if i > 0 && (near || i%307 == 0) {
			cuts = append(cuts, i+1)
		}
	}
	if testing.Short() {
		cuts = slices.DeleteFunc(cuts, func(n int) bool { return n%5 > 0 })
	}
	for _, n := range cuts {
		p := newPilot(t, n)
		err := p.open()
		if err == nil {
			err = p.fly(-1)
		}
		if !errors.Is(err, errKilled) {
			t.Fatalf("killed in record %d: %v", n, err)
		}
		armed := count(p.sent, armCommand)
		r := p.again(600_000_000)
		if r.Difference != nil {
			t.Fatalf("killed in record %d: %v", n, r.Difference)
		}
		if len(p.at) > 0 {
			before, after := p.at[len(p.at)-1], p.flight.Statuses()
			if p.inputs == len(p.at) && !slices.Equal(before, after) {
				t.Errorf("killed in record %d: the statuses were %v, are %v", n, before, after)
			}
		}
		must(t, p.open())
		must(t, p.fly(5000))
		must(t, p.box.Close())
		if s := p.flight.Summary(); !p.flight.Over() || s.Plan != record.PlanSucceeded {
			t.Errorf("killed in record %d: the flight ends with %q, the plan: %s", n, s.Reason, s.Plan)
		}
		if total := count(p.sent, armCommand); total > 1 && armed > 0 {
			t.Errorf("killed in record %d: armed %d times", n, total)
		}
		list, end := folder(t, p.dir)
		p.begin()
		if again := replay(t, p.flight, false, list, &end); again.Difference != nil {
			t.Errorf("killed in record %d, continued: %v", n, again.Difference)
		}
		_ = os.Remove(filepath.Join(p.dir, File))
	}
	t.Logf("%d of %d records", len(cuts), len(all))
}
