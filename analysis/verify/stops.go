package verify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/document/declare"
)

// A run stops with an error where an instant does not end, where a task reads an entry of the blackboard to which
// nothing has been written, where a duration is negative, or where a constant that is written is no number. Then no
// action is active any longer, and there is no bound for what never settles. No set of states shows this: either the
// structure of the plan excludes it (flown.Stepper.Settles), or all runs are visited.

// aborted is an instant in which a run stops with an error, whatever follows what is commanded.
type aborted struct {
	from int     // the state before it
	last instant // the instant, as far as it goes
	err  error
}

// untimed returns the text of an error without its time, which in a search is none.
func untimed(err error) string {
	text, _, _ := strings.Cut(err.Error(), " at t = ")
	return strings.TrimSuffix(text, ",")
}

// Runs returns whether every run of a plan goes on: Proved, perhaps under assumptions; Refuted, with a script, if a run
// stops with an error, whatever leaves of another program do; Undecided.
func Runs(s declare.Subject, goOn func() bool) Finding {
	m := newModel(s, newDiagramsWithin(&meter{goOn: goOn}))
	goesOn := Question{Runs: true, Ask: func(*Model) []Finding { return []Finding{{Verdict: Proved}} }}
	return m.blameless(goesOn, []Finding{m.runs()})[0]
}

// runs returns whether every run goes on. It is searched once; each question that rests on it can be asked again with
// larger bounds.
func (m *Model) runs() Finding {
	if m.runsGoOn == nil {
		f := m.searchStops()
		m.runsGoOn = &f
	}
	m.tired = m.tired || m.runsGoOn.Verdict == Undecided && m.fly().tired
	return *m.runsGoOn
}

// searchStops searches for a run that stops with an error, unless the structure of the plan excludes it.
func (m *Model) searchStops() Finding {
	if m.stepper().Settles() {
		return Finding{Verdict: Proved}
	}
	x := m.fly()
	for x.aborted == nil && x.more() {
	}
	f := Finding{Verdict: Undecided, Advice: memoryAdvice}
	switch a := x.aborted; {
	case a != nil:
		f = Finding{Verdict: Refuted, Text: "a run stops with an error: " + untimed(a.err), Script: x.stopping(a),
			Advice: flown.Remedy(a.err)}
		f.fault = &fault{f.Text, f.Advice, stopsBy(a.err)}
		if x.states.Len() == 1 {
			f.Text = "every run stops with an error in its first instant: " + untimed(a.err)
		}
	case x.states.Short() != "":
		f.Text = "not concluded whether every run goes on without an error; " + x.states.Short()
	case x.failed != nil:
		f.Text, f.Advice = "not concluded whether a run stops with an error: "+untimed(x.failed), flown.Remedy(x.failed)
	case x.states.Len() == 1:
		err := cmp.Or(x.unsettled, errNoState)
		f.Text, f.Advice = "not concluded whether any run goes on: "+untimed(err), flown.Remedy(err)
	default:
		f = Finding{Verdict: Proved}
		if m.assumesFacts() {
			f.Assumes = append(f.Assumes, FactsHold)
		}
		if x.unsettled != nil {
			f.Assumes = append(f.Assumes, Settles)
		}
	}
	return f
}

// stopsBy is the evidence that a flight stops with an error of the kind of another one.
func stopsBy(err error) evidence {
	return func(s *declare.Shown) (at float64, ok bool) {
		return s.Until, s.Stopped != nil && flown.Remedy(s.Stopped) == flown.Remedy(err)
	}
}

// stopping returns a script of a run that stops with an error.
func (x *flights) stopping(a *aborted) string {
	var instants []instant
	if path := x.states.Path(a.from); len(path) > 1 {
		instants = x.m.recalled(x.m.abstract(), x.instants(x.m, x.moves(path[:len(path)-1], x.states.Move(a.from)), nil))
	}
	return x.m.spell(append(instants, a.last))
}

// supported returns the findings of a question as far as runs support them: what holds only as long as nothing has
// happened is not proved, nor is what needs that runs go on, if they may stop.
func (m *Model) supported(q Question, found []Finding) []Finding {
	has := func(v Verdict) bool {
		return slices.ContainsFunc(found, func(f Finding) bool { return f.Verdict == v })
	}
	if !has(Proved) && !(q.Runs && has(Undecided)) || m.stepper().Settles() {
		return found
	}
	if x := m.fly(); !q.Runs {
		if x.states.Len() == 1 {
			x.more()
		}
		if x.states.Len() > 1 || x.aborted == nil {
			return found
		}
	}
	runs := m.runs()
	if runs.Verdict == Refuted && !q.Runs {
		runs = Finding{Verdict: Undecided, Text: "not concluded: " + runs.Text, Advice: runs.Advice}
	}
	var supported []Finding
	for _, f := range found {
		if f.Verdict == Refuted || runs.Verdict == Undecided && f.Verdict == Undecided {
			supported = append(supported, f)
			continue
		}
		if runs.Verdict == Proved {
			for _, a := range runs.Assumes {
				if f.Verdict == Proved && !slices.Contains(f.Assumes, a) && (a != FactsHold || q.Anywhere) {
					f.Assumes = append(f.Assumes, a)
				}
			}
			supported = append(supported, f)
		}
	}
	if runs.Verdict != Proved && len(supported) < len(found) {
		supported = append(supported, runs)
	}
	return supported
}
