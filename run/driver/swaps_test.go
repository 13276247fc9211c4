package driver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/bt"
	"canopy/diag"
	"canopy/internal/cart"
	"canopy/run/flight"
	"canopy/run/record"
)

// crew is a log by which it is known what each action does at present, under whatever plan.
type crew struct {
	header   record.Header
	statuses map[string]bt.Status
	entries  map[string]int
	wrong    []string
	swaps    int
}

func (c *crew) Sample(float64, []float64) error { return nil }

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
		m := planeMission(t, course, "ends_with_plan: true\n")
		f := newFlight(t, m, flight.Options{Arm: true})
		sent := map[string]int{}
		d := New(f, newWire(fake.New(fake.Options{Observe: func(r fake.Received) {
			if r.ID == 400 || r.ID == 176 {
				sent[fmt.Sprint(r.ID, r.Params[1])]++
			}
		}})), Options{})
		c := &crew{header: d.Header(), statuses: map[string]bt.Status{}, entries: map[string]int{}}
		for _, x := range c.header.Tasks {
			c.statuses[x.Name] = x.Initial
		}
		d.Attach(c)
		asked, due := 0, random.Float64()*8
		if err := d.Fly(context.Background(), func(bool) error {
			if asked < 8 && f.Started() && d.T() >= due {
				asked++
				due += random.Float64() * 6
				// Another action behind those that go on: it has a new name each time.
				text := strings.Replace(course, "</Sequence>", fmt.Sprintf(`<Action name="last_%d" write="speed := %d" done="true"/></Sequence>`,
					asked, 18+random.IntN(5)), 1)
				d.Operate(flight.Swap(&diag.Source{Name: "next.xml", Text: cart.Plan(text)}, random.IntN(2) == 0))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		list, err := f.Swapped()
		if len(c.wrong) > 0 || c.entries["take_off"] != 1 || c.entries["go"] != 1 ||
			sent["400 0"] != 1 || sent["176 13"] != 1 || sent["176 15"] != 1 || err != nil || len(list) > 0 || d.Summary().Plan != record.PlanSucceeded {
			t.Fatalf("%v; %v; sent %v; %v %v; %+v", c.wrong, c.entries, sent, err, list, d.Summary())
		}
		total += c.swaps
	}
	if total != 8*flights {
		t.Errorf("%d exchanges of %d", total, 8*flights)
	}
}
