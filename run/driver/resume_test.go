package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/bt"
	"canopy/document/mission"
	"canopy/run/box"
	"canopy/run/flight"
	"canopy/run/record"
	"canopy/vehicle/equations"
)

// killed is a program that flies the course with a black box in a folder, and may be killed.
type killed struct {
	t        *testing.T
	dir      string
	wire     *simulated
	received []fake.Received
	d        *Driver
	page     *page
	refused  error // why the flight was not continued
	told     int   // events
	lost     int   // of them, those that say that nothing is recorded any more
	limit    int64 // of the box [bytes]; 0: the usual one
	fence    string
	m        *mission.Mission // nil: the course
}

var errKilled = errors.New("killed")

// begin switches the vehicle on, and starts the program.
func (k *killed) begin() {
	k.t.Helper()
	k.wire = newWire(fake.New(fake.Options{Observe: func(r fake.Received) { k.received = append(k.received, r) }}))
	k.program(false)
}

// program starts the program, to continue or not.
func (k *killed) program(again bool) {
	k.t.Helper()
	m := k.m
	if m == nil {
		m = planeMission(k.t, course, "ends_with_plan: true\n"+k.fence)
	}
	f := newFlight(k.t, m, flight.Options{Arm: true})
	k.page = newPage(m)
	o := Options{Tell: func(e record.Event) {
		k.told++
		if e.Kind == NotRecorded {
			k.lost++
		}
	}, Box: func(start flight.Input) (Box, error) {
		return box.Create(k.dir, start, box.Options{Limit: k.limit})
	}}
	if again {
		if o.Continue, k.refused = Restore(f, k.open); k.refused != nil {
			return
		}
	}
	k.d = New(f, k.wire, o)
	k.d.Attach(k.page)
}

// open opens the box to be continued.
func (k *killed) open(feed func(box.Record) error) (Box, error) {
	w, _, err := box.Continue(k.dir, box.Options{}, feed)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// fly flies until the end, or until the program is killed after so many inputs.
func (k *killed) fly(inputs int) error {
	return k.d.Fly(context.Background(), func(bool) error {
		if inputs--; inputs == 0 {
			return errKilled
		}
		return nil
	})
}

// number returns how many commands the vehicle has executed.
func (k *killed) number(id uint16) (n int) {
	for _, r := range k.received {
		if r.ID == id && r.Result == 0 {
			n++
		}
	}
	return n
}

// A program that is killed and started again goes on with the same tasks; what must happen once happens once; the
// plan ends as it does otherwise, and the black box shows one flight.
func TestKilled(t *testing.T) {
	begin := func() *killed {
		k := &killed{t: t, dir: t.TempDir(), fence: "fence: {inclusion: [{polygon: [[-900, -900], [-900, 900], [1500, 0]]}]}\n"}
		k.begin()
		return k
	}
	whole := begin()
	total := 0
	if err := whole.d.Fly(context.Background(), func(bool) error { total++; return nil }); err != nil {
		t.Fatal(err)
	}
	every := total / 40
	if testing.Short() {
		every = total / 8
	}
	for n := every / 2; n < total; n += every {
		k := begin()
		if err := k.fly(n); !errors.Is(err, errKilled) {
			t.Fatalf("killed after %d inputs: %v", n, err)
		}
		before, log := k.d.Statuses(), k.page.lines
		k.wire.arrived = nil
		for range 30 { // it flies alone for 0.6 s
			k.wire.vehicle.Step(step)
			k.wire.wall += step
			_ = k.wire.vehicle.Out()
		}
		k.program(true)
		if k.refused != nil {
			t.Fatalf("killed after %d inputs: %v", n, k.refused)
		}
		k.told = 0
		if err := k.d.begin(); err != nil {
			t.Fatalf("killed after %d inputs: %v", n, err)
		}
		if after := k.d.Statuses(); string(after) != string(before) {
			t.Errorf("killed after %d inputs: the statuses were %v, are %v", n, before, after)
		}
		if k.told > 3 {
			t.Errorf("killed after %d inputs: %d events are told again", n, k.told)
		}
		if err := k.fly(-1); err != nil {
			t.Errorf("killed after %d inputs, continued: %v", n, err)
		}
		if s := k.d.Summary(); s.Plan != record.PlanSucceeded {
			t.Errorf("killed after %d inputs: the plan: %s", n, s.Plan)
		}
		if u := strings.Count(strings.Join(append(log, k.page.lines...), "\n"), "stored: fence: uploaded"); u != 1 {
			t.Errorf("killed after %d inputs: the fence was uploaded %d times", n, u)
		}
		if arms := k.number(400); arms != 1 {
			t.Errorf("killed after %d inputs: armed %d times", n, arms)
		}
		k.program(false)
		r := box.NewReplayer(k.d.Flight, false)
		uploads := 0
		end, err := box.Each(k.dir, func(x box.Record) error {
			if x.Kind == box.Out && len(x.Data) > 9 && x.Data[7] == 44 && x.Data[8] == 0 { // MISSION_COUNT
				uploads++
			}
			return r.Feed(x)
		})
		if stored := strings.Contains(strings.Join(log, "\n"), "stored: fence"); uploads > 2 || uploads != 1 && stored {
			t.Errorf("killed after %d inputs: the fence was sent %d times", n, uploads)
		}
		if err == nil {
			err = r.End(&end)
		}
		if err != nil || r.Difference != nil || !end.Ended {
			t.Errorf("killed after %d inputs, replayed: %v %v %v", n, err, r.Difference, end.Missing())
		}
		_ = os.Remove(filepath.Join(k.dir, box.File))
	}
}

// entered returns the tasks that a log shows entered, in their order.
func entered(lines []string) (list []string) {
	for _, l := range lines {
		if w := strings.Fields(l); len(w) == 3 && w[2] == bt.Activating.String() {
			list = append(list, w[1])
		}
	}
	return list
}

// orders returns the commands for modes, motors, speeds and targets that the vehicle has executed, in their order. One
// that was repeated at once appears once.
func (k *killed) orders() (list []string) {
	for _, r := range k.received {
		if r.Result == 0 && slices.Contains([]uint16{22, 176, 178, 192, 400, 43000}, r.ID) {
			list = append(list, fmt.Sprintf("%d %.6f", r.ID, r.Params))
		}
	}
	return slices.Compact(list)
}

// The circuit, killed anywhere and continued, with a record that was cut off, enters the same tasks and sends the same
// commands as the circuit that was not.
func TestCircuitKilled(t *testing.T) {
	m, diags := mission.Read("../../missions/circuit-plane.yaml", os.ReadFile, equations.Offers(), nil)
	if m == nil {
		t.Fatal(diags)
	}
	begin := func() *killed {
		k := &killed{t: t, dir: t.TempDir(), m: m}
		k.begin()
		return k
	}
	// The target of the hold after the take-off is ahead of where the plane is then: it flies on while the plan waits. If
	// it is over by then, nothing but the next leg is commanded, and the speed after that.
	var legs []string
	commands := func(k *killed) []string {
		list := slices.DeleteFunc(k.orders(), func(o string) bool {
			return strings.HasPrefix(o, "192 ") && !slices.Contains(legs, o)
		})
		slices.Sort(list)
		return list
	}
	whole, total := begin(), 0
	if err := whole.d.Fly(context.Background(), func(bool) error { total++; return nil }); err != nil {
		t.Fatal(err)
	}
	legs = whole.orders()[5:9]
	tasks, orders := entered(whole.page.lines), commands(whole)
	if len(tasks) < 10 || len(orders) < 8 {
		t.Fatalf("%q, %q", tasks, orders)
	}
	every := total / 25
	if testing.Short() {
		every = total / 4
	}
	for n := every * 2 / 3; n < total; n += every {
		k := begin()
		if err := k.fly(n); !errors.Is(err, errKilled) {
			t.Fatalf("killed after %d inputs: %v", n, err)
		}
		log := k.page.lines
		for range 10 { // it flies alone for 0.2 s
			k.wire.vehicle.Step(step)
			k.wire.wall += step
			_ = k.wire.vehicle.Out()
		}
		k.wire.arrived = nil
		name := filepath.Join(k.dir, box.File)
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, append(data, 40, 0, 0), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		if k.program(true); k.refused != nil {
			t.Fatalf("killed after %d inputs: %v", n, k.refused)
		}
		if err := k.fly(-1); err != nil || k.d.Summary().Plan != record.PlanSucceeded {
			t.Errorf("killed after %d inputs, continued: %v, the plan: %s", n, err, k.d.Summary().Plan)
		}
		if got := entered(append(log, k.page.lines...)); !slices.Equal(got, tasks) {
			t.Errorf("killed after %d inputs, it enters\n%q, not\n%q", n, got, tasks)
		}
		if got := commands(k); !slices.Equal(got, orders) {
			t.Errorf("killed after %d inputs, the commands are\n%q, not\n%q", n, got, orders)
		}
	}
}

// The black box of a long flight stays below its limit. Of a flight that is killed then, not more than the last minute
// is fed, and what the box still has is replayed to the same datagrams.
func TestBoundedBox(t *testing.T) {
	minutes := 120.0
	if testing.Short() {
		minutes = 8
	}
	k := &killed{t: t, dir: t.TempDir(), limit: box.MinLimit, m: planeMission(t, `<Sequence name="mission">
  <Action name="take_off" entry="arm := 1; wanted_mode := 7; target_h := 80 [m]" done="h ge 75 [m]"/>
  <KeepRunningUntilFailure name="for_ever"><Sequence name="legs">
    <Action name="there" entry="wanted_mode := 3; target_north := 800 [m]" done="north ge 700 [m]"/>
    <Action name="back" entry="target_north := 0 [m]" done="north le 100 [m]"/>
  </Sequence></KeepRunningUntilFailure></Sequence>`, "")}
	k.wire = newWire(fake.New(fake.Options{}))
	k.program(false)
	most, inputs := int64(0), 0
	err := k.d.Fly(context.Background(), func(bool) error {
		if inputs++; inputs%200 > 0 {
			return nil
		}
		list, err := os.ReadDir(k.dir)
		size := int64(0)
		for _, e := range list {
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
		}
		if most = max(most, size); k.d.T() > minutes*60 {
			return errKilled
		}
		return err
	})
	if !errors.Is(err, errKilled) || most > box.MinLimit || most < box.MinLimit/2 {
		t.Fatalf("%v, the box had up to %d bytes", err, most)
	}
	before := k.d.Statuses()
	var first, last int64
	f := newFlight(t, k.m, flight.Options{Arm: true})
	if _, err := Restore(f, func(feed func(box.Record) error) (Box, error) {
		return k.open(func(r box.Record) error {
			if last = r.At.Wall; r.Kind == box.Checkpoint {
				first = last
			}
			return feed(r)
		})
	}); err != nil || first == 0 || last-first > box.Every+1e9 || string(f.Statuses()) != string(before) {
		t.Fatalf("%v, %g s are fed, the statuses are %v", err, float64(last-first)/1e9, f.Statuses())
	}
	k.program(true)
	if err := errors.Join(k.refused, k.d.Stop("")); err != nil {
		t.Fatal(err)
	}
	f = newFlight(t, k.m, flight.Options{Arm: true})
	f.Attach(unlogged{})
	r := box.NewReplayer(f, false)
	end, err := box.Each(k.dir, r.Feed)
	if err == nil {
		err = r.End(&end)
	}
	if err != nil || r.Difference != nil || !end.Ended || end.Dropped == 0 {
		t.Errorf("replayed: %v, %v, %+v", err, r.Difference, end)
	}
}

// A flight that does not do again what its black box shows is not continued, and commands nothing.
func TestNotContinued(t *testing.T) {
	k := &killed{t: t, dir: t.TempDir()}
	k.begin()
	err := k.d.Fly(context.Background(), func(bool) error {
		if k.number(400) > 0 {
			return errKilled
		}
		return nil
	})
	if !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	m := planeMission(t, `<Action write="speed := 20"/>`, "")
	f := newFlight(t, m, flight.Options{Arm: true})
	if _, err := Restore(f, k.open); !errors.Is(err, ErrContinue) {
		t.Errorf("another plan continues the flight: %v", err)
	}
}

// brokenLog is a recorder on a full disk, and what it was told before.
type brokenLog struct {
	page
	space int
}

func (r *brokenLog) Event(e record.Event) error {
	if r.space--; r.space < 0 {
		return errFull
	}
	return r.page.Event(e)
}

// A log and a black box that cannot be written end neither the flight nor each other. The errors are returned at the
// end, each once; that the box has stopped is told at once, and the flight cannot be continued.
func TestLogAndBoxFull(t *testing.T) {
	k := &killed{t: t, dir: t.TempDir(), limit: 20_000}
	k.begin()
	k.d.Attach(&brokenLog{page: *k.page, space: 10})
	err := k.fly(-1)
	if !errors.Is(err, errFull) || !errors.Is(err, box.ErrFull) {
		t.Errorf("the error is %v", err)
	}
	for _, text := range []string{errFull.Error(), box.ErrFull.Error()} {
		if n := strings.Count(err.Error(), text); n != 1 {
			t.Errorf("%q appears %d times: %v", text, n, err)
		}
	}
	if s := k.d.Summary(); s.Plan != record.PlanSucceeded || k.number(400) != 1 || k.lost != 1 {
		t.Errorf("the plan: %s, %d times armed, %d times told", s.Plan, k.number(400), k.lost)
	}
	if k.program(true); !errors.Is(k.refused, box.ErrStopped) {
		t.Errorf("it is continued: %v", k.refused)
	}
}
