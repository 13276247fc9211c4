package driver

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
)

// eastward is the course with another last leg.
var eastward = strings.Replace(strings.Replace(course, "target_north", "target_east", 1), `name="go"`, `name="go_east"`, 1)

// The plan of a flight is exchanged in the air: what both plans have goes on without a command, and the new plan flies
// elsewhere. The inputs give the same datagrams and the same log again.
func TestSwap(t *testing.T) {
	x := begin(t, north(t), fake.Options{})
	x.page.names = append(x.page.names, "go_east")
	src := &diag.Source{Name: "east.xml", Text: cart.Plan(eastward)}
	requested := false
	x.succeed(func() error {
		if !requested && x.T() > 22 {
			requested = true
			x.Operate(flight.Swap(src, false))
		}
		return nil
	})
	log := x.log()
	if list, err := x.Swapped(); err != nil || len(list) > 0 || x.Refusal() != "" || x.Mission().Plan.Source.Name != src.Name {
		t.Errorf("%v, %v, %q", list, err, x.Refusal())
	}
	if strings.Count(log, "take_off Activating") != 1 || !strings.Contains(log, "go_east Finished") ||
		!strings.Contains(log, "swap: east.xml takes over") {
		t.Error(log)
	}
	again, q := newFlight(t, north(t), flight.Options{Arm: true}), newPage(north(t))
	q.names = append(q.names, "go_east")
	again.Attach(q)
	var out [][]byte
	for _, in := range x.tape.inputs {
		datagrams, err := again.Step(in)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, datagrams...)
	}
	if !slices.EqualFunc(out, x.tape.out, bytes.Equal) || !slices.Equal(x.page.lines, q.lines) {
		t.Errorf("the replay sends %d datagrams, the flight %d", len(out), len(x.tape.out))
	}
}

// TestSafePoint: in flight, a safe exchange of a plan with eight legs takes place at the end of the present one: the
// next one is neither entered nor commanded.
func TestSafePoint(t *testing.T) {
	legs := func(speed int) string {
		var b strings.Builder
		for i := range 8 {
			fmt.Fprintf(&b, `<Action name="leg%d" entry="wanted_mode := guided; target_north := %d [m]; target_h := 80 [m]; `+
				`speed := %d" done="north %s [m]"/>`, i, 800*(i%2), speed, []string{"le 200", "ge 600"}[i%2])
		}
		return strings.Replace(course, "</Sequence>", b.String()+"</Sequence>", 1)
	}
	m := read(t, "plane", legs(22), "")
	x := begin(t, m, fake.Options{})
	running := func() string {
		return strings.Join(slices.DeleteFunc(strings.Split(strings.Join(x.page.names, " "), " "), func(name string) bool {
			task, _ := m.Plan.Tree.Find(name)
			return !strings.HasPrefix(name, "leg") || x.Statuses()[task].Transient()
		}), " ")
	}
	asked := false
	x.succeed(func() error {
		switch _, engaged, under := x.Swapping(); {
		case !asked && x.Started() && running() == "leg2":
			asked = true
			x.Operate(flight.Swap(&diag.Source{Name: "next.xml", Text: cart.Plan(legs(24))}, true))
		case under && !slices.Equal(engaged, []string{"leg2"}):
			t.Fatalf("it waits for %v", engaged)
		}
		return nil
	})
	log := x.log()
	_, after, _ := strings.Cut(log, "leg2 Activating")
	before, after, took := strings.Cut(after, "takes over")
	if !took || strings.Contains(before, "leg3 ") || !strings.Contains(before, "leg2 Finished") ||
		!strings.Contains(after, "end: ") {
		t.Errorf("%s\n%q", log, x.Refusal())
	}
}

// crew is a log by which it is known what each action does at present, under whatever plan.
type crew struct {
	record.Nothing
	header   record.Header
	statuses map[string]bt.Status
	entries  map[string]int
	wrong    []string
	swaps    int
}

func (c *crew) Event(e record.Event) error {
	if e.Kind == "swap" && strings.Contains(e.Text, "takes over") {
		c.swaps++
	}
	return nil
}

func (c *crew) Plan(p record.Takeover) error {
	n := len(c.header.Tasks)
	c.header.Take(p)
	for _, x := range c.header.Tasks[n:] {
		c.statuses[x.Name] = bt.Accept // until then
	}
	return nil
}

// Status checks that a change continues the one before: no task runs twice, and none is lost.
func (c *crew) Status(t float64, _ int, x bt.Change) error {
	name := c.header.Tasks[x.Task].Name
	if was := c.statuses[name]; was != x.From {
		c.wrong = append(c.wrong, fmt.Sprintf("%.3f %s: %v -> %v, it was %v", t, name, x.From, x.To, was))
	}
	if c.statuses[name] = x.To; x.To == bt.Activating {
		c.entries[name]++
	}
	return nil
}

// TestSwapsAtRandom exchanges the plan of flights at random instants, 200 times in all: the take-off and the first leg,
// which all plans have, are entered once, no change is lost, and each of their commands is sent once.
func TestSwapsAtRandom(t *testing.T) {
	flights := 25
	if testing.Short() {
		flights = 3
	}
	random := rand.New(rand.NewPCG(1, 2))
	total := 0
	for range flights {
		x, sent := begin(t, north(t), fake.Options{}), map[string]int{}
		c := &crew{header: x.Header(), statuses: map[string]bt.Status{}, entries: map[string]int{}}
		for _, task := range c.header.Tasks {
			c.statuses[task.Name] = task.Initial
		}
		x.Attach(c)
		asked, due := 0, random.Float64()*8
		x.succeed(func() error {
			if asked < 8 && x.Started() && x.T() >= due {
				asked++
				due += random.Float64() * 6
				// Another action behind those that go on: it has a new name each time.
				text := strings.Replace(course, "</Sequence>", fmt.Sprintf(`<Action name="last_%d" write="speed := %d" done="true"/></Sequence>`,
					asked, 18+random.IntN(5)), 1)
				x.Operate(flight.Swap(&diag.Source{Name: "next.xml", Text: cart.Plan(text)}, random.IntN(2) == 0))
			}
			return nil
		})
		for _, r := range x.orders {
			sent[fmt.Sprint(r.ID, r.Params[1])]++
		}
		list, err := x.Swapped()
		if len(c.wrong) > 0 || c.entries["take_off"] != 1 || c.entries["go"] != 1 ||
			sent["400 0"] != 1 || sent["176 13"] != 1 || sent["176 15"] != 1 || err != nil || len(list) > 0 {
			t.Fatalf("%v; %v; sent %v; %v %v; %+v", c.wrong, c.entries, sent, err, list, x.Summary())
		}
		total += c.swaps
	}
	if total != 8*flights {
		t.Errorf("%d exchanges of %d", total, 8*flights)
	}
}
