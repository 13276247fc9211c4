package simulated

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"canopy/internal/cart"
	"canopy/run"
	"canopy/run/record"
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
	if !errors.Is(err, run.ErrStorm) || r.Summary().Outcome != record.Failed || r.T() > 1e-3 || len(l.events) > 300 {
		t.Errorf("%v, %v at %g s, %d lines", err, r.Summary().Outcome, r.T(), len(l.events))
	} else if want := "100 time events within 9.9e-08 s by procedures of brake, go"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// With `chattering: continue` such procedures take a fifth of a millisecond, which is reported once.
func TestProceduresWithoutTimeGoOn(t *testing.T) {
	r, l, err := stormy(t, turns("1e-9"), "chattering: continue\n", "horizon=0.5")
	if err != nil || r.T() != 0.5 || r.Summary().Outcome != record.Complete {
		t.Fatalf("%v at %g s", err, r.T())
	}
	reports := 0
	for _, e := range l.events {
		if e.Kind == "chattering" {
			reports++
		}
	}
	if reports != 1 || len(l.events) > 100+2500+10 {
		t.Errorf("%d reports, %d events", reports, len(l.events))
	}
}

// Procedures of a millisecond are no chattering, and neither are the ticks of a ticked tree.
func TestShortProceduresAreNoChattering(t *testing.T) {
	r, _, err := stormy(t, turns("1e-3"), "", "horizon=2")
	if err != nil || r.Summary().TimeEvents < 1000 {
		t.Errorf("%v after %d time events", err, r.Summary().TimeEvents)
	}
	ticked, _ := flyInto(t, cartMission(t, turns("1e-3"), "", "horizon=0.01"), run.Ticked{Period: 1e-5})
	if n := ticked.Summary().TimeEvents; n < 900 {
		t.Errorf("%d ticks", n)
	}
}

// A run that is resumed before the crowd is complete, or while it is held apart, writes what the whole one writes.
func TestChatteringOfProceduresResumes(t *testing.T) {
	m := cartMission(t, turns("1e-9"), "chattering: continue\n", "horizon=0.1")
	whole := takeOff(t, m, run.Continuous{})
	whole.land(t)
	for _, steps := range []int{50, 90, 150} {
		f := resume(t, m, run.Continuous{}, steps, false)
		f.land(t)
		sameFiles(t, fmt.Sprint(steps), f, whole)
	}
}
