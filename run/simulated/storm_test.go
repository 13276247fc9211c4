package simulated

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"canopy/document/mission"
	"canopy/internal/cart"
	"canopy/run"
	"canopy/run/record"
	"canopy/vehicle/model"
)

// turns are two actions that take turns without end: each leads to the condition of the other, and takes a time to end.
func turns(seconds string) string {
	return `<ReactiveFallback><ReactiveSequence><Condition ID="fast" on="gear ge 3"/>` +
		`<Action ID="brake" write="gear := 0" exit_time="` + seconds + `"/></ReactiveSequence>` +
		`<Action ID="go" write="gear := 4" exit_time="` + seconds + `"/></ReactiveFallback>`
}

// stormy advances a run by a bounded number of steps and returns it with its log.
func stormy(t *testing.T, body, yaml string, set ...string) (*run.Run, *log, error) {
	t.Helper()
	m, diags := cart.Read(body, yaml, set...)
	if m == nil {
		t.Fatal(diags)
	}
	r, err := New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	l := &log{}
	r.Attach(l)
	more := true
	for n := 0; more && err == nil; n++ {
		if n > 20000 {
			t.Fatalf("the run does not end: t = %g s, %d events", r.T(), len(l.events))
		}
		more, err = r.Step()
	}
	return r, l, err
}

// Procedures of 1e-9 s that start each other would write a log without end.
func TestProceduresWithoutTimeStop(t *testing.T) {
	r, l, err := stormy(t, turns("1e-9"), "")
	if !errors.Is(err, run.ErrStorm) || r.Summary().Outcome != record.Failed || r.T() > 1e-3 || len(l.events) > 3000 {
		t.Errorf("%v, %v at %g s, %d lines", err, r.Summary().Outcome, r.T(), len(l.events))
	} else if want := "1000 time events (the time of a procedure is over) advance the time by 9.99e-07 s, " +
		"less than 0.01 s while the status of brake, go changes"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// With `chattering: continue` each such procedure takes a ten-thousandth of the horizon, which is reported once.
func TestProceduresWithoutTimeGoOn(t *testing.T) {
	m := cartMission(t, turns("1e-9"), "chattering: continue\n")
	r, err := New(m, run.Continuous{}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	l := &log{}
	r.Attach(l)
	if err := r.Fly(t.Context(), nil); err != nil || r.T() != 0.5 || r.Summary().Outcome != record.Complete {
		t.Fatalf("%v at %g s", err, r.T())
	}
	reports := 0
	for _, e := range l.events {
		if e.Kind == "chattering" {
			reports++
		}
	}
	if reports != 1 || len(l.events) > 1000+500+10 {
		t.Errorf("%d reports, %d events", reports, len(l.events))
	}
}

// What is chattering depends on the horizon, up to a second. The ticks of a ticked tree are none.
func TestShortProceduresAreNoChattering(t *testing.T) {
	for _, test := range []struct {
		seconds, horizon string
		chatter          bool
	}{{"1e-3", "2", false}, {"9e-4", "50", false}, {"9e-4", "9e4", true}, {"9e-4", "1e9", true}, {"1.1e-3", "1e9", false},
		{"1e-3", "86400", true}, {"1e-3", "9e3", false}, {"1e-7", "5e-3", false}, {"1e-8", "5", true}} {
		m := cartMission(t, turns(test.seconds), "", "horizon="+test.horizon)
		r, err := New(m, run.Continuous{}, 2)
		if err != nil {
			t.Fatal(err)
		}
		r.Attach(&log{})
		err = r.Fly(t.Context(), nil)
		if errors.Is(err, run.ErrStorm) != test.chatter || !test.chatter && err != nil {
			t.Errorf("%s s of %s s: %v", test.seconds, test.horizon, err)
		}
	}
	ticked, _ := flyInto(t, cartMission(t, turns("1e-3"), "", "horizon=0.01"), run.Ticked{Period: 1e-5})
	if n := ticked.Summary().TimeEvents; n < 900 {
		t.Errorf("%d ticks", n)
	}
}

// The delays of a state graph chatter as procedures do.
func TestDelaysWithoutTimeStop(t *testing.T) {
	f := cart.Files{"m/test.yaml": cart.Head + "graph: g.yaml\n",
		"m/plan.xml": cart.Plan(`<Fallback><Action ID="a" failed="gear gt 2"/><Action ID="b"/></Fallback>`),
		"m/g.yaml": "graph: g\nsteps: {one: {initial: true, actions: [a]}, two: {actions: [b]}}\ntransitions:\n" +
			"  - {from: one, to: two, after: 1e-9}\n  - {from: two, to: one, after: 1e-9}\n"}
	m, diags := mission.Read("m/test.yaml", f.Open, []*model.Vehicle{cart.Vehicle}, nil)
	if m == nil {
		t.Fatal(diags)
	}
	r, err := New(m, run.StateGraph{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	r.Attach(&log{})
	if err = r.Fly(t.Context(), nil); !errors.Is(err, run.ErrStorm) {
		t.Fatal(err)
	}
	contains(t, "the error", err.Error(), "1000 time events (a delayed transition can fire) advance", "the status of a, b changes")
}

// A run that is resumed before the crowd is complete, or while it is held apart, writes what the whole one writes.
func TestChatteringOfProceduresResumes(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback><ReactiveSequence><Condition ID="late" on="t ge 4e-4 [s]"/><Action ID="rest"/>`+
		`</ReactiveSequence>`+turns("1e-9")+`</ReactiveFallback>`, "chattering: continue\n", "horizon=0.02")
	whole := takeOff(t, m, run.Continuous{})
	whole.land(t)
	for _, steps := range []int{500, 950, 1100} {
		f := resume(t, m, run.Continuous{}, steps, false)
		f.land(t)
		sameFiles(t, fmt.Sprint(steps), f, whole)
	}
}
