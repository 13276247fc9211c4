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

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run/box"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
)

// killed is a program that flies a mission with a black box in a folder, and may be killed.
type killed struct {
	*trip
	m       *mission.Mission
	dir     string
	limit   int64       // of the box [bytes]; 0: the usual one
	left    int         // records until the program is killed; 0: it is not
	inputs  int         // that were recorded
	at      []bt.Status // the statuses after the last step
	steps   []string    // those after each
	told    int         // events
	lost    int         // of them, those that say that nothing is recorded any more
	refused error       // why the flight was not continued
}

var errKilled = errors.New("killed")

// mortal is a black box in which the program is killed when it has written a record.
type mortal struct {
	Box
	k *killed
}

func (b mortal) count() {
	if b.k.left--; b.k.left == 0 {
		panic(errKilled)
	}
}

func (b mortal) Append(in flight.Input) error {
	err := b.Box.Append(in)
	b.k.inputs++
	b.count()
	return err
}

func (b mortal) Out(datagrams [][]byte) error {
	for _, d := range datagrams {
		if err := b.Box.Out([][]byte{d}); err != nil {
			return err
		}
		b.count()
	}
	return nil
}

// switchOn switches the vehicle on, and starts the program.
func switchOn(t *testing.T, m *mission.Mission, limit int64) *killed {
	t.Helper()
	k := &killed{trip: begin(t, m, fake.Options{}), m: m, dir: t.TempDir(), limit: limit}
	k.program(false)
	return k
}

// program starts the program, to continue or not.
func (k *killed) program(again bool) {
	k.t.Helper()
	f := newFlight(k.t, k.m, flight.Options{Arm: true})
	o := Options{Tell: func(e record.Event) {
		k.told++
		if e.Kind == NotRecorded {
			k.lost++
		}
	}, Box: func(start flight.Input) (Box, error) {
		w, err := box.Create(k.dir, start, box.Options{Limit: k.limit})
		return mortal{w, k}, err
	}}
	if again {
		if o.Continue, k.refused = Restore(f, k.open); k.refused != nil {
			return
		}
	}
	k.page, k.Driver = newPage(k.m), New(f, k.far, o)
	k.Attach(k.page)
	step := k.step
	k.step = func(in flight.Input) ([][]byte, error) {
		out, err := step(in)
		k.at = k.Statuses()
		k.steps = append(k.steps, string(k.at))
		return out, err
	}
}

// open opens the box to be continued.
func (k *killed) open(feed func(box.Record) error) (Box, error) {
	w, _, err := box.Continue(k.dir, box.Options{}, feed)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// fly flies until the end, or until the program is killed after so many records; 0: it is not.
func (k *killed) fly(records int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if err, _ = r.(error); !errors.Is(err, errKilled) {
				panic(r)
			}
			_ = k.box.Close()
		}
	}()
	k.left = records
	return k.Fly(context.Background(), nil)
}

// alone lets the vehicle fly alone for a number of steps.
func (k *killed) alone(steps int) {
	k.far.arrived = nil
	for range steps {
		k.vehicle.Step(step)
		k.far.wall += step
		_ = k.vehicle.Out()
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

// executed returns the commands with some numbers that the vehicle has executed.
func (k *killed) executed(ids ...uint16) (list []string) {
	for _, r := range k.orders {
		if r.Result == 0 && slices.Contains(ids, r.ID) {
			list = append(list, fmt.Sprintf("%d %.6f", r.ID, r.Params))
		}
	}
	return list
}

// targets returns those for targets, and commands those for modes, motors and speeds, and for some targets, each once.
func (k *killed) targets() []string { return slices.Compact(k.executed(192)) }

func (k *killed) commands(legs []string) []string {
	list := k.executed(22, 176, 178, 400, 43000)
	for _, target := range k.targets() {
		if slices.Contains(legs, target) {
			list = append(list, target)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

const commandLong = 76 // the number of COMMAND_LONG

// A program that is killed after any record of its black box, also one that is cut off, and started again goes on with
// the same tasks; the vehicle gets the same commands; what must happen once happens once; the plan ends as it does
// otherwise, and the black box shows one flight.
func TestKilled(t *testing.T) {
	fenced := read(t, "plane", course, "fence: {inclusion: [{polygon: [[-900, -900], [-900, 900], [1500, 0]]}]}\n")
	fenced.Horizon = 1000
	for name, m := range map[string]*mission.Mission{"course": fenced, "circuit": shipped(t, "circuit-plane")} {
		whole := switchOn(t, m, 0)
		if err := whole.fly(0); err != nil {
			t.Fatal(err)
		}
		legs := whole.targets()
		if name == "circuit" { // which holds after the take-off, ahead of where the plane is then: it flies on meanwhile
			legs = legs[1:]
		}
		var kinds []byte // of the records: an input, a command, another datagram
		if _, err := box.Each(whole.dir, func(r box.Record) error {
			switch {
			case r.Kind == box.Checkpoint:
			case r.Kind == box.Out && len(r.Data) > 9 && r.Data[7] == commandLong:
				kinds = append(kinds, 'c')
			default:
				kinds = append(kinds, '.')
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		cuts := 0
		for n := 2; n < len(kinds)-1; n++ {
			near := strings.Contains(string(kinds[n-1:n+2]), "c")
			if !near && n%307 > 0 || near && n%3 > 0 || testing.Short() && n%23 > 0 {
				continue
			}
			cuts++
			t.Run(fmt.Sprintf("%s, record %d", name, n), func(t *testing.T) { survives(t, m, whole, n, legs) })
		}
		t.Logf("%s: %d of %d records", name, cuts, len(kinds))
	}
}

// survives kills the program after a number of records, continues the flight and compares it with the whole one.
func survives(t *testing.T, m *mission.Mission, whole *killed, n int, legs []string) {
	k := switchOn(t, m, 0)
	if err := k.fly(n); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	log, stepped := k.page.lines, len(k.steps) == k.inputs+1 // it reacted to the last input
	before := whole.steps[k.inputs]
	k.alone(10 + n%20)
	file := filepath.Join(k.dir, box.File)
	data, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(data, []byte{40, 0, 0}[:n%4]...), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if k.program(true); k.refused != nil {
		t.Fatal(k.refused)
	}
	k.told = 0
	if err := k.begin(); err != nil || string(k.Statuses()) != before || k.told > 3 {
		t.Errorf("%v, the statuses are %v, not %v; %d events are told again", err, k.Statuses(), []byte(before), k.told)
	}
	if err := k.fly(0); err != nil || k.Summary().Plan != record.PlanSucceeded || len(k.executed(400)) != 1 {
		t.Errorf("%v, the plan: %s, armed %d times\n%s", err, k.Summary().Plan, len(k.executed(400)), k.log())
	}
	all := append(log, k.page.lines...)
	if got, want := entered(all), entered(whole.page.lines); stepped && !slices.Equal(got, want) {
		t.Errorf("it enters\n%q, not\n%q", got, want)
	}
	if got, want := k.commands(legs), whole.commands(legs); !slices.Equal(got, want) {
		t.Errorf("the commands are\n%q, not\n%q", got, want)
	}
	k.program(false)
	r, uploads := box.NewReplayer(k.Flight, false), 0
	end, err := box.Each(k.dir, func(x box.Record) error {
		if x.Kind == box.Out && len(x.Data) > 9 && x.Data[7] == 44 && x.Data[8] == 0 { // MISSION_COUNT
			uploads++
		}
		return r.Feed(x)
	})
	if err == nil {
		err = r.End(&end)
	}
	if err != nil || r.Difference != nil || !end.Ended {
		t.Errorf("replayed: %v %v %v", err, r.Difference, end.Missing())
	}
	const stored = "stored: fence: uploaded"
	before, after := strings.Join(log, "\n"), strings.Join(all, "\n")
	if times := strings.Count(after, stored); times > 1 || uploads > 2 || uploads > 1 && strings.Contains(before, stored) ||
		stepped && times == 0 && !m.Fence.Empty() {
		t.Errorf("the fence was stored %d times, sent %d times", times, uploads)
	}
}

// The black box of a long flight stays below its limit. Of a flight that is killed then, not more than the last minute
// is fed, and what the box still has is replayed to the same datagrams.
func TestBoundedBox(t *testing.T) {
	minutes := 120.0
	if testing.Short() {
		minutes = 5
	}
	k := switchOn(t, read(t, "plane", `<Sequence name="mission">
  <Action name="take_off" entry="arm := true; wanted_mode := takeoff; target_h := 80 [m]" done="h ge 75 [m]"/>
  <KeepRunningUntilFailure name="for_ever"><Sequence name="legs">
    <Action name="there" entry="wanted_mode := guided; target_north := 800 [m]" done="north ge 700 [m]"/>
    <Action name="back" entry="target_north := 0 [m]" done="north le 100 [m]"/>
  </Sequence></KeepRunningUntilFailure></Sequence>`, "ends_with_plan: false\n"), box.MinLimit)
	most, inputs := int64(0), 0
	err := k.Fly(context.Background(), func(bool) error {
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
		if most = max(most, size); k.T() > minutes*60 {
			return errKilled
		}
		return err
	})
	if !errors.Is(err, errKilled) || most > box.MinLimit || most < box.MinLimit/2 {
		t.Fatalf("%v, the box had up to %d bytes", err, most)
	}
	before := string(k.Statuses())
	var first, last int64
	f := newFlight(t, k.m, flight.Options{Arm: true})
	if _, err := Restore(f, func(feed func(box.Record) error) (Box, error) {
		return k.open(func(r box.Record) error {
			if last = r.At.Wall; r.Kind == box.Checkpoint {
				first = last
			}
			return feed(r)
		})
	}); err != nil || first == 0 || last-first > box.Every+1e9 || string(f.Statuses()) != before {
		t.Fatalf("%v, %g s are fed, the statuses are %v", err, float64(last-first)/1e9, f.Statuses())
	}
	k.program(true)
	if err := errors.Join(k.refused, k.Stop("")); err != nil {
		t.Fatal(err)
	}
	f = newFlight(t, k.m, flight.Options{Arm: true})
	f.Attach(record.Nothing{})
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
	k := switchOn(t, north(t), 0)
	if err := k.fly(2000); !errors.Is(err, errKilled) || len(k.executed(400)) == 0 {
		t.Fatal(err)
	}
	f := newFlight(t, read(t, "plane", `<Action write="speed := 20"/>`, ""), flight.Options{Arm: true})
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
	k := switchOn(t, north(t), 20_000)
	k.Attach(&brokenLog{page: *k.page, space: 10})
	err := k.fly(0)
	if !errors.Is(err, errFull) || !errors.Is(err, box.ErrFull) {
		t.Errorf("the error is %v", err)
	}
	for _, text := range []string{errFull.Error(), box.ErrFull.Error()} {
		if n := strings.Count(err.Error(), text); n != 1 {
			t.Errorf("%q appears %d times: %v", text, n, err)
		}
	}
	if s := k.Summary(); s.Plan != record.PlanSucceeded || len(k.executed(400)) != 1 || k.lost != 1 {
		t.Errorf("the plan: %s, %d times armed, %d times told", s.Plan, len(k.executed(400)), k.lost)
	}
	if k.program(true); !errors.Is(k.refused, box.ErrStopped) {
		t.Errorf("it is continued: %v", k.refused)
	}
}
