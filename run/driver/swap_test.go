package driver

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/diag"
	"canopy/internal/cart"
	"canopy/run/flight"
)

// film is a black box in memory that keeps everything.
type film struct {
	tape
	list []flight.Input
	out  [][]byte
}

func (b *film) Append(in flight.Input) error {
	b.list = append(b.list, in)
	return nil
}

func (b *film) Out(d [][]byte) error {
	b.out = append(b.out, d...)
	return nil
}

// The plan of a flight is exchanged in the air: what both plans have goes on without a command, and the new plan flies
// elsewhere. The inputs give the same datagrams and the same log again.
func TestSwap(t *testing.T) {
	m := planeMission(t, course, "ends_with_plan: true\n")
	start := func() (*flight.Flight, *page) {
		f, p := newFlight(t, m, flight.Options{Arm: true}), newPage(m)
		p.names = append(p.names, "go_east")
		f.Attach(p)
		return f, p
	}
	f, p := start()
	east := strings.Replace(strings.Replace(course, "target_north", "target_east", 1), `name="go"`, `name="go_east"`, 1)
	src := &diag.Source{Name: "east.xml", Text: cart.Plan(east)}
	b := &film{}
	d := New(f, newWire(fake.New(fake.Options{})),
		Options{Box: func(in flight.Input) (Box, error) { return b, b.Append(in) }})
	requested := false
	if err := d.Fly(context.Background(), func(bool) error {
		if !requested && d.T() > 22 {
			requested = true
			d.Operate(flight.Swap(src, false))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	log := strings.Join(p.lines, "\n")
	if list, err := f.Swapped(); err != nil || len(list) > 0 || f.Refusal() != "" || f.Mission().Plan.Source.Name != src.Name {
		t.Errorf("%v, %v, %q", list, err, f.Refusal())
	}
	if strings.Count(log, "take_off Activating") != 1 || !strings.Contains(log, "go_east Finished") ||
		!strings.Contains(log, "swap: east.xml takes over") {
		t.Error(log)
	}
	again, q := start()
	var out [][]byte
	for _, in := range b.list {
		datagrams, err := again.Step(in)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, datagrams...)
	}
	if !slices.EqualFunc(out, b.out, bytes.Equal) || !slices.Equal(p.lines, q.lines) {
		t.Errorf("the replay sends %d datagrams, the flight %d", len(out), len(b.out))
	}
}

// TestSafePoint: in flight, a safe exchange of a plan with eight legs takes place at the end of the present one: the
// next one is neither entered nor commanded.
func TestSafePoint(t *testing.T) {
	legs := func(speed int) string {
		var b strings.Builder
		for i := range 8 {
			fmt.Fprintf(&b, `<Action name="leg%d" entry="wanted_mode := 3; target_north := %d [m]; target_h := 80 [m]; `+
				`speed := %d" done="north %s [m]"/>`, i, 800*(i%2), speed, []string{"le 200", "ge 600"}[i%2])
		}
		return strings.Replace(course, "</Sequence>", b.String()+"</Sequence>", 1)
	}
	m := planeMission(t, legs(22), "ends_with_plan: true\n")
	d, p := newDriver(t, m, flight.Options{Arm: true}, newWire(fake.New(fake.Options{})))
	running := func() string {
		return strings.Join(slices.DeleteFunc(strings.Split(strings.Join(p.names, " "), " "), func(name string) bool {
			task, _ := m.Plan.Tree.Find(name)
			return !strings.HasPrefix(name, "leg") || d.Statuses()[task].Transient()
		}), " ")
	}
	asked := false
	if err := d.Fly(context.Background(), func(bool) error {
		switch _, engaged, under := d.Swapping(); {
		case !asked && d.Started() && running() == "leg2":
			asked = true
			d.Operate(flight.Swap(&diag.Source{Name: "next.xml", Text: cart.Plan(legs(24))}, true))
		case under && !slices.Equal(engaged, []string{"leg2"}):
			t.Fatalf("it waits for %v", engaged)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	log := strings.Join(p.lines, "\n")
	_, after, _ := strings.Cut(log, "leg2 Activating")
	before, after, took := strings.Cut(after, "takes over")
	if !took || strings.Contains(before, "leg3 ") || !strings.Contains(before, "leg2 Finished") ||
		!strings.Contains(after, "end: ") {
		t.Errorf("%s\n%q", log, d.Refusal())
	}
}
