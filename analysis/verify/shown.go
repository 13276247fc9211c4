package verify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
)

// A mission has one flight from each start: one vehicle, one set of parameters, one horizon. What a search refutes of
// it is refuted only if a flight shows it: its own, or that from a corner of the ranges in which it may start. A path
// through the abstraction alone need not be possible.

// view is a state in which the plan has settled, of a path or of a flight.
type view interface {
	Active(t bt.Task) bool
	Good(root bt.Task) bool
	Holds(l *expr.Logic) bool
	Lacks(l *expr.Logic) bool
	Quiet() bool
	Status(t bt.Task) bt.Status
}

// flownView is an instant of a flight; of formulas it knows the goal alone.
type flownView struct {
	*declare.Instant
	tree   *bt.Tree
	status []bt.Status
}

func (r *flownView) Good(bt.Task) bool          { return r.Succeeded }
func (r *flownView) Holds(*expr.Logic) bool     { return r.Goal }
func (r *flownView) Lacks(*expr.Logic) bool     { return r.Unset }
func (r *flownView) Status(t bt.Task) bt.Status { return r.status[t] }

func (r *flownView) Active(t bt.Task) bool {
	return r.status[t] == bt.Activating || r.status[t] == bt.Running
}

func (r *flownView) Quiet() bool {
	return !slices.ContainsFunc(r.tree.Leaves(), func(t bt.Task) bool {
		return r.status[t] == bt.Activating || r.status[t] == bt.Deactivating
	})
}

// evidence looks for a fault in a flight, and returns when it is there [s]; NaN: at no one time.
type evidence func(s *declare.Shown) (at float64, ok bool)

// replay visits the instants of a flight, with the statuses before and after their changes, until one is sought.
func (m *Model) replay(s *declare.Shown, before func(*flownView) bool, after violation) (at float64, ok bool) {
	r := &flownView{tree: m.tree, status: slices.Clone(s.Initial)}
	for i := range s.Instants {
		r.Instant = &s.Instants[i]
		hit := before != nil && before(r)
		for _, c := range r.Changes {
			r.status[c.Task] = c.To
		}
		if hit || after != nil && after(r) {
			return r.T, true
		}
	}
	return 0, false
}

// inFlight looks for evidence in the flights of the mission, and returns when and in which one it is; a plan alone has
// none. Flights from other starts than the declared one count if they keep the facts.
func (m *Model) inFlight(in evidence) (at float64, start string, ok bool) {
	if m.subject.Fly == nil {
		return 0, "", false
	}
	s := m.subject.Fly(m.space.work.more)
	at, ok = in(&s)
	for k := 0; !ok && m.subject.Corner != nil; k++ {
		if s, ok = m.subject.Corner(k, m.space.work.more); !ok {
			return 0, "", false
		}
		if at, ok = in(&s); !s.Lawful {
			ok = false
		}
	}
	return at, s.Start, ok
}

// fault is what a finding would refute, as a flight of the mission shows it.
type fault struct {
	text, advice string
	in           evidence
}

// at returns the evidence of a state in which the plan has settled.
func (m *Model) at(is violation) evidence {
	return func(s *declare.Shown) (at float64, ok bool) { return m.replay(s, nil, is) }
}

// settledAt is the same without a procedure under way.
func (m *Model) settledAt(is violation) evidence {
	return m.at(func(x view) bool { return x.Quiet() && is(x) })
}

// together returns the evidence of a pair that is active together; if brief, only within an instant.
func (m *Model) together(p pair, brief bool) evidence {
	if !brief {
		return m.settledAt(func(x view) bool { return x.Active(p[0]) && x.Active(p[1]) })
	}
	return func(s *declare.Shown) (at float64, ok bool) {
		return m.replay(s, func(at *flownView) bool {
			active := slices.DeleteFunc(m.actions(), func(t bt.Task) bool { return !at.Active(t) })
			return slices.Contains(m.meetings(active, at.Changes), p)
		}, nil)
	}
}

// divided divides pairs into those that the flight of the mission shows, and the others.
func (m *Model) divided(pairs []pair, shows func(p pair) evidence) (parts [][]pair) {
	var shown, rest []pair
	for _, p := range pairs {
		if _, _, ok := m.inFlight(shows(p)); ok {
			shown = append(shown, p)
		} else {
			rest = append(rest, p)
		}
	}
	return slices.DeleteFunc([][]pair{shown, rest}, func(p []pair) bool { return len(p) == 0 })
}

// alternate returns the evidence of tasks that take turns faster than a period [s]: one of them is activated again, and
// all others have been since.
func (m *Model) alternate(tasks []bt.Task, period float64) evidence {
	return func(s *declare.Shown) (at float64, ok bool) {
		number, last, begun := 0, map[bt.Task]int{}, map[bt.Task]float64{}
		return m.replay(s, func(now *flownView) (again bool) {
			for _, c := range now.Changes {
				if c.To != bt.Activating || !slices.Contains(tasks, c.Task) {
					continue
				}
				since := func(t bt.Task) bool { return t != c.Task && last[t] < last[c.Task] }
				again = again || last[c.Task] > 0 && now.T-begun[c.Task] < period && !slices.ContainsFunc(tasks, since)
				number++
				last[c.Task], begun[c.Task] = number, now.T
			}
			return again
		}, nil)
	}
}

// concrete lets the flight of a mission decide what is refuted of it, or not concluded.
func (m *Model) concrete(q Question, found []Finding) []Finding {
	for i := range found {
		f := &found[i]
		if m.subject.Fly == nil || f.Verdict != Refuted && f.Verdict != Undecided {
			continue
		}
		is, assertion, holds := f.fault, f.About, "holds in every run: "+f.About
		switch q.Name {
		case "always":
			assertion = "always (" + f.About + ")"
			is = declared("does not hold in every state: "+f.About, assertion, stateAdvice)
		case "property":
			is = declared("does not hold: "+f.About, assertion, "change the plan")
		case "reach":
			goal := m.subject.Declared.Goal
			assertion, holds = goal.Reached().Text, "the goal is reached: "+goal.Text
			is = cmp.Or(is, declared("the goal is not reached before the run ends: "+goal.Text, assertion, f.Advice))
		}
		if is == nil {
			continue
		}
		if at, start, ok := m.inFlight(is.in); ok {
			f.show(is, at, start)
		} else if m.subject.Fly(m.space.work.more).Certain[assertion] {
			*f = Finding{Question: f.Question, About: f.About, Place: f.Place, Verdict: Proved, Assumes: []Assumption{Begins},
				Text: holds + ", as in the mission's own flight, for no task changes what it reads"}
		} else if f.Verdict == Refuted {
			m.doubt(f, q, is)
		}
	}
	return found
}

// declared is the fault that an assertion is violated.
func declared(text, assertion, advice string) *fault {
	return &fault{text, advice, func(s *declare.Shown) (at float64, ok bool) {
		at, ok = s.Violated[assertion]
		return at, ok
	}}
}

// show says that a flight shows a fault: the mission's own, or that from another start.
func (f *Finding) show(is *fault, at float64, start string) {
	f.Verdict, f.Assumes, f.Open, f.Flight, f.Start = Refuted, nil, false, true, start
	which, with := "the mission's own flight", ""
	if start != "" {
		which, with = "the flight from `"+start+"`", " with that start"
	}
	f.Text = is.text + "; " + which + " shows it"
	if !math.IsNaN(at) {
		f.At = &at
		f.Text += fmt.Sprintf(" at t = %s s", diag.Number(at, 6))
	}
	f.Advice = "`canopy run`" + with + " shows it; " + is.advice
}

// doubt says that the flight does not show a fault that is refuted of the abstraction, and what would exclude it.
func (m *Model) doubt(f *Finding, q Question, is *fault) {
	s, text := m.subject.Fly(m.space.work.more), is.text
	const fact = "if no flight comes there, declare a fact that excludes it, which each run checks"
	switch unknown := m.unknown(f); {
	case slices.Contains(f.Assumes, StayLong):
		text = f.Text
	case q.Moves && unknown != "":
		f.Advice = "the proof knows nothing of how fast " + unknown + ": declare `effects`; or, " + fact
	case f.Advice == propertyAdvice:
		f.Advice = fact + "; `canopy trace` replays the script"
	default:
		f.Advice = fact + "; else " + f.Advice
	}
	f.Verdict, f.Assumes = Undecided, nil
	flights := "the mission's own flight does not show it"
	if m.subject.Corner != nil {
		if _, ok := m.subject.Corner(0, m.space.work.more); ok {
			flights = "neither its own flight nor those from the corners of its ranges show it"
		}
	}
	f.Text = fmt.Sprintf("%s; the proof does not exclude it, but %s, up to t = %s s", whether(text), flights,
		diag.Number(s.Until, 6))
	if s.Stopped != nil {
		f.Text += ", where it stops: " + s.Stopped.Error()
	}
}

// unknown returns the first real signal that a finding names, with the tasks while which its rate is not known, in
// words; "" if there is none.
func (m *Model) unknown(f *Finding) string {
	said := strings.FieldsFunc(strings.Join(append(f.Where, f.About), " "), func(r rune) bool {
		return r != '.' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for _, signal := range m.subject.Signals {
		if !slices.Contains(said, signal) || m.subject.Compiler.Type(signal) != expr.Real {
			continue
		}
		tasks := slices.DeleteFunc(m.actions(), func(t bt.Task) bool {
			_, known := m.subject.Rate(t, signal, nil)
			return known
		})
		if len(tasks) > 0 {
			return fmt.Sprintf("%s moves while %s%s is active", signal, either(tasks, "", "one of "), m.some(tasks))
		}
	}
	return ""
}
