package driver

import (
	"context"
	"slices"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/internal/cart"
	"canopy/run/control"
	"canopy/run/flight"
	"canopy/run/record"
)

// commanded is a far end that waits at a time until the operators have been served.
type commanded struct {
	FarEnd
	at      int64 // wall time [ns]
	command func()
	ended   chan struct{}
}

func (c *commanded) Next(ctx context.Context, due int64, asks <-chan Ask) (flight.Input, Ask) {
	if c.Now().Wall >= c.at && c.command != nil {
		c.ended = make(chan struct{})
		go func(command func(), ended chan struct{}) { command(); close(ended) }(c.command, c.ended)
		c.command = nil
	}
	if c.ended != nil {
		select {
		case ask := <-asks:
			return flight.Input{}, ask
		case <-c.ended:
			c.ended = nil
		}
	}
	return c.FarEnd.Next(ctx, due, asks)
}

// operate flies the course, lets an operator send requests in the climb, and returns the answers.
func operate(t *testing.T, requests ...control.Demand) (*Driver, *page, *tape, []control.Response) {
	t.Helper()
	m := planeMission(t, course, "ends_with_plan: true\n")
	f := newFlight(t, m, flight.Options{Arm: true})
	p, b := newPage(m), &tape{}
	p.names = append(p.names, "go_east")
	dir := t.TempDir()
	var answers []control.Response
	c := &commanded{FarEnd: newWire(fake.New(fake.Options{})), at: 50e9, command: func() {
		for _, q := range requests {
			if err := control.Send(control.Folder(dir), q, func(a control.Response) error {
				answers = append(answers, a)
				return nil
			}); err != nil {
				t.Error(err)
			}
		}
	}}
	d := New(f, c, Options{Box: func(flight.Input) (Box, error) { return b, nil },
		Listen: func() (*control.Server, error) { return control.Listen(dir, nil, 0, control.NewFeed(f.Header())) }})
	d.Attach(p)
	if err := d.Fly(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	return d, p, b, answers
}

// TestOperators: the requests of operators are inputs of the flight, and in its black box.
func TestOperators(t *testing.T) {
	d, p, b, answers := operate(t, control.Demand{Verb: control.Upload, Name: "wrong.xml", Plan: cart.Plan(`<Action name="a"
		write="none := 1"/>`)}, control.Demand{Verb: control.Resume}, control.Demand{Verb: control.Stop})
	var states []control.Progress
	for _, a := range answers {
		states = append(states, a.Progress)
	}
	if !slices.Equal(states, []control.Progress{control.Refused, control.Committed, control.Committed}) ||
		!strings.Contains(answers[0].Text, "none") {
		t.Errorf("%+v", answers)
	}
	if s := d.Summary(); s.Outcome != record.Interrupted || !slices.Equal(b.commands, []string{"resume", "stop"}) {
		t.Errorf("%+v, %q\n%s", s, b.commands, strings.Join(p.lines, "\n"))
	}
}

// TestUploadInFlight: a plan that an operator uploads in the climb takes over; what both plans have gets no command.
func TestUploadInFlight(t *testing.T) {
	east := strings.Replace(strings.Replace(course, "target_north", "target_east", 1), `name="go"`, `name="go_east"`, 1)
	d, p, b, answers := operate(t, control.Demand{Verb: control.Upload, Name: "east.xml", Plan: cart.Plan(east)})
	if len(answers) != 1 || answers[0].Progress != control.Committed || answers[0].Kept != 3 ||
		!slices.Equal(answers[0].Removed, []string{"go"}) || !slices.Equal(answers[0].Added, []string{"go_east"}) {
		t.Errorf("%+v", answers)
	}
	log := strings.Join(p.lines, "\n")
	if s := d.Summary(); s.Plan != record.PlanSucceeded || len(b.commands) != 1 ||
		strings.Count(log, "take_off Activating") != 1 || !strings.Contains(log, "swap: east.xml takes over") {
		t.Errorf("%+v\n%s", s, log)
	}
}
