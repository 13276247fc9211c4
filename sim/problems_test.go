package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
	"github.com/canopy-uav/canopy/ode"
)

// system makes of a reference problem what the simulator takes.
func system(p *problems.Problem) *System {
	s := &System{
		Inputs:      len(p.U0),
		Derivatives: func(t float64, y []float64, d *Discrete, dydt []float64) { p.Derivatives(t, y, d.U, dydt) },
		Zeros:       func(t float64, y []float64, d *Discrete, _ []int, g []float64) { p.Zeros(t, y, d.U, g) },
	}
	for i := range p.Y0 {
		s.States = append(s.States, fmt.Sprint("y", i+1))
	}
	for _, i := range p.Indicators {
		s.Indicators = append(s.Indicators, Indicator{Name: i.Name})
	}
	return s
}

// answer makes a problem react to an indicator's change.
func answer(s *Simulator, react func(i int, y, u []float64), i int) {
	u := slices.Clone(s.U)
	react(i, s.Y, u)
	for k, v := range u {
		s.Set(k, v)
	}
}

// begin starts a reference problem with its tolerances.
func begin(t testing.TB, p *problems.Problem, o ode.Options) *Simulator {
	t.Helper()
	if o.RelTol == 0 {
		o.RelTol = 1e-6
	}
	o.AbsTol = p.AbsTol(o.RelTol)
	s := start(t, system(p), p.Y0, p.U0, Options{Options: o})
	for i, indicator := range p.Indicators {
		s.Watch(i, Direction(indicator.Watch))
	}
	return s
}

// follow runs a reference problem to the time given and returns its events.
func follow(t testing.TB, p *problems.Problem, s *Simulator, until float64) (events []problems.Event) {
	t.Helper()
	for _, e := range play(t, s, until, reaction(p, s)) {
		events = append(events, problems.Event{T: e.T, Index: e.Indicator})
	}
	return events
}

// reaction returns how a problem reacts to events, which its reactions must not cause.
func reaction(p *problems.Problem, s *Simulator) func(changed []int, alarm bool) {
	return func(changed []int, _ bool) {
		for _, i := range changed {
			if p.React != nil && s.wants(i, s.Above[i]) {
				answer(s, p.React, i)
			}
		}
	}
}

// TestPublishedEvents finds all events of every reference problem with every method that is meant for it, without a
// maximum step, and allows the error of their times that the problem states, in units of rtol times the time: those of
// Robertson and Van der Pol 20, closed forms 1, those of the solar day 1/2; methods whose errors are nearer to the
// tolerance, multistep and explicit3, 40 times that.
func TestPublishedEvents(t *testing.T) {
	for _, p := range problems.All() {
		for _, m := range ode.Methods() {
			if p.Events == nil || p.Stiff && !m.Stiff() {
				continue
			}
			for _, rtol := range []float64{1e-4, 1e-6, 1e-8} {
				if len(p.Events) > 100 && (testing.Short() || rtol != 1e-6) {
					continue
				}
				s := begin(t, p, ode.Options{Method: m, RelTol: rtol})
				events := follow(t, p, s, p.End)
				_, relative, complete := p.EventError(events)
				if !complete {
					t.Errorf("%s %v %g: %d events, want %d, or not of the same indicators",
						p.Name, m, rtol, len(events), len(p.Events))
				}
				allowed := p.Lag * rtol
				if m == ode.Multistep || m == ode.Explicit3 {
					allowed *= 40
				}
				if relative > allowed {
					t.Errorf("%s %v %g: an event is off by %.2g of its time", p.Name, m, rtol, relative)
				}
				if e := p.Error(s.Y); e > p.Growth*rtol {
					t.Errorf("%s %v %g: off by %.2g tolerances at the end", p.Name, m, rtol, e/rtol)
				}
			}
		}
	}
}

// Impacts and switching times in closed form, where the solution between them is a polynomial: exact except for
// rounding, whatever the tolerance.
func TestClosedFormsAreExact(t *testing.T) {
	for _, p := range []*problems.Problem{problems.BouncingBall, problems.DoubleIntegrator} {
		for _, rtol := range []float64{1e-3, 1e-6, 1e-10} {
			events := follow(t, p, begin(t, p, ode.Options{RelTol: rtol}), p.End)
			if seconds, _, complete := p.EventError(events); !complete || seconds > 1e-12 {
				t.Errorf("%s %g: %d events, off by %.2g s", p.Name, rtol, len(events), seconds)
			}
		}
	}
}

// TestThermostatKeepsItsPeriod switches 24929 times in 30 days. Each phase starts where the last one ended, so that
// errors of phases add up: to 0.2 s in 30 days (8e-8 of the time) at the default tolerance, to 0.2 ms at 1e-10. What is
// left at 1e-12 is the rounding of the times themselves: 2e-10 s on average.
func TestThermostatKeepsItsPeriod(t *testing.T) {
	p := problems.Thermostat
	for _, c := range []struct{ rtol, drift float64 }{{1e-6, 0.2}, {1e-8, 0.02}, {1e-10, 2e-4}, {1e-12, 2e-5}} {
		if testing.Short() && c.rtol != 1e-6 {
			continue
		}
		events := follow(t, p, begin(t, p, ode.Options{RelTol: c.rtol}), p.End)
		drift, _, complete := p.EventError(events)
		if t.Logf("%g: %.2g s in 30 days", c.rtol, drift); !complete || drift > c.drift {
			t.Errorf("%g: %d events, want %d; off by %.3g s", c.rtol, len(events), len(p.Events), drift)
		}
	}
}

// All 418 events of the solar day at the default tolerance, without a maximum step, in their order, each within 0.001
// s of a run at a tight one. Known from two independent methods at 1e-11: 2 of the sun, 4 phases, 173 waypoints, 112 and
// 121 of two thermostats, 6 battery full.
func TestSolar72FindsAllEvents(t *testing.T) {
	p := problems.Solar72
	o := ode.Options{}
	found := follow(t, p, begin(t, p, o), p.End)
	count := make([]int, len(p.Indicators))
	for _, e := range found {
		count[e.Index]++
	}
	if want := [8]int{2, 4, 173, 112, 121, 0, 0, 6}; [8]int(count) != want {
		t.Fatalf("events by indicator %v, want %v", count, want)
	}
	compare := func(what string, events, reference []problems.Event, allowed float64) {
		worst := 0.0
		for k, e := range reference {
			if events[k].Index != e.Index {
				t.Fatalf("%s: event %d is %v, want %v", what, k, events[k], e)
			}
			worst = max(worst, math.Abs(events[k].T-e.T))
		}
		if t.Logf("%s: worst event %.3g s off", what, worst); worst > allowed {
			t.Errorf("%s: worst event %.3g s off, allowed %g s", what, worst, allowed)
		}
	}
	compare("default against reference", found, p.Events, 0.001)
	if testing.Short() {
		return
	}
	tight := follow(t, p, begin(t, p, ode.Options{RelTol: 1e-10}), p.End)
	compare("tight against reference", tight, p.Events, 1e-5)
	compare("default against tight", found, tight, 0.001)
}

// BenchmarkWorkPrecision measures each method that is meant for a reference problem at four tolerances: the error at the
// end and the largest error of an event time in units of the tolerance, as far as they are known, and the evaluations of
// the right-hand side, those for Jacobians included.
func BenchmarkWorkPrecision(b *testing.B) {
	for _, p := range problems.All() {
		for _, m := range ode.Methods() {
			for _, rtol := range []float64{1e-4, 1e-6, 1e-8, 1e-10} {
				if p.Zeno > 0 || p.Stiff && !m.Stiff() || p.Costly && rtol < 1e-8 {
					continue
				}
				b.Run(fmt.Sprintf("%s/%v/%.0e", p.Name, m, rtol), func(b *testing.B) {
					var s *Simulator
					var events []problems.Event
					for b.Loop() {
						s = begin(b, p, ode.Options{Method: m, RelTol: rtol})
						events = follow(b, p, s, p.End)
					}
					b.ReportMetric(float64(s.Stats().Evaluations), "rhs")
					if p.Want != nil {
						b.ReportMetric(p.Error(s.Y)/rtol, "tolerances")
					}
					if _, worst, complete := p.EventError(events); complete && len(events) > 0 {
						b.ReportMetric(worst/rtol, "event-tolerances")
					}
				})
			}
		}
	}
}
