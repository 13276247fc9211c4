package driver

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
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
func operate(t *testing.T, requests ...control.Demand) (*trip, []control.Response) {
	t.Helper()
	x, dir := begin(t, north(t), fake.Options{}), t.TempDir()
	x.page.names = append(x.page.names, "go_east")
	var answers []control.Response
	x.wire = &commanded{FarEnd: x.far, at: 50e9, command: func() {
		for _, q := range requests {
			if err := control.Send(control.Folder(dir), q, func(a control.Response) error {
				answers = append(answers, a)
				return nil
			}); err != nil {
				t.Error(err)
			}
		}
	}}
	x.o.Listen = func() (*control.Server, error) { return control.Listen(dir, nil, 0, control.NewFeed(x.Header())) }
	if err := x.fly(nil); err != nil {
		t.Fatal(err)
	}
	return x, answers
}

// TestOperators: the requests of operators are inputs of the flight, and in its black box.
func TestOperators(t *testing.T) {
	x, answers := operate(t, control.Demand{Verb: control.Upload, Name: "wrong.xml", Plan: cart.Plan(`<Action name="a"
		write="none := 1"/>`)}, control.Demand{Verb: control.Resume}, control.Demand{Verb: control.Stop})
	var states []control.Progress
	for _, a := range answers {
		states = append(states, a.Progress)
	}
	if !slices.Equal(states, []control.Progress{control.Refused, control.Committed, control.Committed}) ||
		!strings.Contains(answers[0].Text, "none") {
		t.Errorf("%+v", answers)
	}
	if s := x.Summary(); s.Outcome != record.Interrupted || !slices.Equal(x.tape.commands(), []string{"resume", "stop"}) {
		t.Errorf("%+v, %q\n%s", s, x.tape.commands(), x.log())
	}
}

// TestUploadInFlight: a plan that an operator uploads in the climb takes over; what both plans have gets no command.
func TestUploadInFlight(t *testing.T) {
	x, answers := operate(t, control.Demand{Verb: control.Upload, Name: "east.xml", Plan: cart.Plan(eastward)})
	if len(answers) != 1 || answers[0].Progress != control.Committed || answers[0].Kept != 3 ||
		!slices.Equal(answers[0].Removed, []string{"go"}) || !slices.Equal(answers[0].Added, []string{"go_east"}) {
		t.Errorf("%+v", answers)
	}
	log := x.log()
	if s := x.Summary(); s.Plan != record.PlanSucceeded || len(x.tape.commands()) != 1 ||
		strings.Count(log, "take_off Activating") != 1 || !strings.Contains(log, "swap: east.xml takes over") {
		t.Errorf("%+v\n%s", s, log)
	}
}
