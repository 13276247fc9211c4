package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/analysis/rates"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/monitor"
	"github.com/canopy-uav/canopy/run/record"
)

// mostSteps is the largest number of steps of a flight that a check makes.
const mostSteps = 200_000

// shownBy returns what flies a mission once, as it is declared, and notes what a check wants to know of the flight.
func shownBy(m *mission.Mission, table *rates.Table) func(goOn func() bool) declare.Shown {
	var known *declare.Shown
	return func(goOn func() bool) declare.Shown {
		if known == nil {
			s := fly(m, table, goOn)
			known = &s
		}
		return *known
	}
}

// shownFrom does the same from the corners of the ranges in which a mission may start.
func shownFrom(m *mission.Mission, table *rates.Table) func(number int, goOn func() bool) (declare.Shown, bool) {
	var known []declare.Shown
	return func(number int, goOn func() bool) (declare.Shown, bool) {
		for k := len(known); k <= number; k++ {
			from, start, ok := m.Corner(k)
			if !ok {
				return declare.Shown{}, false
			}
			s := fly(from, table, goOn)
			s.Start = start
			known = append(known, s)
		}
		return known[number], true
	}
}

// fly flies a mission.
func fly(m *mission.Mission, table *rates.Table, goOn func() bool) declare.Shown {
	watch := m.Watch()
	if goal := m.Declared.Goal; goal != nil {
		watch.Assertions = append(watch.Assertions, goal.Reached())
	}
	r, judge, err := judgedRun(m, watch)
	if err != nil {
		return declare.Shown{Stopped: err}
	}
	rec := &showing{Monitor: judge, m: r.Mission(), run: r, codes: map[string]*expr.Code{}, initial: r.Statuses(),
		statuses: r.Statuses()}
	r.Attach(rec)
	steps := 0
	err = r.Fly(context.Background(), func(bool) error {
		if steps++; steps > mostSteps || !goOn() {
			return fmt.Errorf("the check follows it for %d steps", steps-1)
		}
		return nil
	})
	shown := rec.shown(err)
	for _, a := range watch.Assertions {
		if shown.Certain[a.Text] && !table.Unforced(a.Names()) {
			delete(shown.Certain, a.Text)
		}
	}
	return shown
}

// showing is a recorder of a flight: a monitor that also notes what changes at its instants.
type showing struct {
	*monitor.Monitor
	m        *mission.Mission
	run      *run.Run
	codes    map[string]*expr.Code // of conditions, by text
	initial  []bt.Status
	statuses []bt.Status // by task
	changes  []bt.Change // of the instant in progress
	instants []declare.Instant
}

// Status implements [record.Recorder].
func (s *showing) Status(t float64, micro int, c bt.Change) error {
	s.statuses[c.Task] = c.To
	s.changes = append(s.changes, c)
	return s.Monitor.Status(t, micro, c)
}

// Settled implements [run.SettledRecorder].
func (s *showing) Settled(t float64, root bt.Status) {
	now := declare.Instant{T: t, Changes: s.changes, Succeeded: root == bt.Success}
	now.Goal, now.Unset = s.goal()
	if n := len(s.instants); n == 0 || len(now.Changes) > 0 || s.instants[n-1].Goal != now.Goal {
		s.instants = append(s.instants, now)
	}
	s.changes = nil
}

// goal reports whether the goal of the mission holds, as the run has judged its relations, and whether it reads an
// entry of the blackboard without a value.
func (s *showing) goal() (holds, unset bool) {
	if s.m.Declared.Goal == nil {
		return false, false
	}
	for i, e := range slices.Backward(s.m.Declared.Goal.Parts) {
		if last := i == len(s.m.Declared.Goal.Parts)-1; last {
			holds = s.holds(e)
		} else {
			holds = holds || !s.holds(e)
		}
		unset = unset || slices.ContainsFunc(e.Names(), func(name string) bool {
			d, place := s.m.Signal(name)
			return d.Entry && math.IsNaN(s.run.World().At(s.run.T())[place])
		})
	}
	return holds, unset
}

// holds reports whether a condition over signals and conditions of the plan holds.
func (s *showing) holds(e *expr.Expr) bool {
	for _, name := range e.Names() {
		t, ok := s.m.Plan.Tree.Find(name)
		if rest := e.Judged(func(n string) bool { return n == name }); ok && slices.Contains(rest.Names(), name) {
			e = rest // a relation reads the signal of this name
		} else if ok {
			truth, _ := expr.Parse(strconv.FormatBool(s.statuses[t] == bt.Success))
			e = e.Substitute(map[string]*expr.Expr{name: truth})
		}
	}
	text := e.String()
	if s.codes[text] == nil {
		s.codes[text] = s.m.Condition(e)
	}
	return s.run.World().Truth(s.codes[text])
}

// shown returns what the flight has shown, which ended with an error or nil.
func (s *showing) shown(stopped error) declare.Shown {
	end := endOf(s.run)
	rows, err := s.Judge(&end)
	if bad := (run.NotFiniteError{}); errors.As(stopped, &bad) {
		stopped = fmt.Errorf("%w: %w", flown.ErrNotFinite, bad)
	}
	shown := declare.Shown{Violated: map[string]float64{}, Certain: map[string]bool{}, Initial: s.initial,
		Instants: s.instants, Until: cmp.Or(end.Summary.Stopped, end.Summary.Ended), Stopped: errors.Join(stopped, err)}
	shown.Lawful = err == nil
	for _, p := range rows {
		shown.Certain[p.Property] = p.Verdict == record.PropertySatisfied && p.Kind == "" && p.Margin != nil && *p.Margin > 0
		shown.Lawful = shown.Lawful && (p.Kind != record.KindFact || p.Verdict == record.PropertySatisfied)
		if p.Verdict == record.PropertyViolated && p.Kind == "" {
			shown.Violated[p.Property] = math.NaN()
			if p.At != nil {
				shown.Violated[p.Property] = *p.At
			}
		}
	}
	return shown
}
