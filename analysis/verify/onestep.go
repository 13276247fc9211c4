package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/temporal"
)

// The questions of one step: which tasks are active in a state, whatever comes before and after.

// anyActive returns the states in which one of the tasks is active.
func (m *Model) anyActive(tasks []bt.Task) set {
	sum := m.space.none()
	for _, t := range tasks {
		sum = m.space.or(sum, m.active[t])
	}
	return sum
}

// actions returns the plan's actions in the order of the tree, except those that only make assignments when a task is
// halted.
func (m *Model) actions() []bt.Task {
	return slices.DeleteFunc(slices.Clone(m.tree.Leaves()), func(t bt.Task) bool {
		return !m.tree.Kind(t).Acts() || m.tree.Idle(t)
	})
}

// activeAt returns the actions that are active in a state.
func (m *Model) activeAt(x view) []bt.Task {
	return slices.DeleteFunc(m.actions(), func(t bt.Task) bool { return !x.Active(t) })
}

// memoryAdvice is the advice for questions that memory keeps from being concluded.
const memoryAdvice = "reactive composites and actions without outcome have no memory; a subtree can be checked as a" +
	" separate plan"

// memorized ends the text of a fault that depends on the plan's memory.
const memorized = ", depending on the plan's memory"

// conclude returns the finding of a question about a set. Its fields are those of proved or of refuted.
func (m *Model) conclude(in setOf, violated violation, proved, refuted Finding) Finding {
	c := m.show(in, violated)
	f := c.finding(proved, refuted)
	f.fault = &fault{refuted.Text, refuted.Advice, m.settledAt(violated)}
	switch {
	case c.verdict != Refuted:
	case m.Remembers():
		f.Text += memorized
	case m.slow() && m.empty(in(m)):
		f.Text, f.More = f.Text+", because procedures take time", false
	default:
		f.Where, f.More = m.regions(in(m))
	}
	return f
}

// concludeAbout is conclude of a question about a formula: a state in which that reads an entry without a value refutes
// nothing.
func (m *Model) concludeAbout(l *expr.Logic, in setOf, violated violation, proved, refuted Finding) Finding {
	f := m.conclude(in, violated, proved, refuted)
	name := m.entryIn(l)
	if name == "" {
		return f
	}
	valued := func(x view) bool { return violated(x) && !x.Lacks(l) }
	if f.Verdict == Refuted {
		if f = m.conclude(in, valued, proved, refuted); f.Verdict == Proved {
			f.Verdict, f.Text, f.Advice = Undecided, whether(refuted.Text)+"; "+lacking(name), entryAdvice
		}
	}
	f.fault.in = m.settledAt(valued)
	return f
}

// entryIn returns the first entry of the blackboard that a formula reads, "" if it reads none.
func (m *Model) entryIn(l *expr.Logic) string {
	for _, name := range l.Signals() {
		is := func(e plan.BlackboardEntry) bool { return e.Name == name && !e.Free }
		if slices.ContainsFunc(m.plan.Entries, is) {
			return name
		}
	}
	return ""
}

func lacking(entry string) string { return entry + " has no value yet in the run that decides it" }

const entryAdvice = "let a Script give the entry a value in the first instant"

// occupied returns the states in which something goes on: an action is active, or a task waits for its timer, which is
// active while none of its children is.
func (m *Model) occupied() set {
	s, waits := m.space, never
	for _, t := range m.tree.Timers() {
		waits = s.or(waits, s.and(m.active[t], s.not(m.anyActive(m.tree.Children(t)))))
	}
	return s.or(m.anyActive(m.actions()), waits)
}

// askComplete: gap = not good(root) and not occupied.
func askComplete(m *Model) []Finding {
	root := m.tree.Root()
	gap := func(m *Model) set { return m.space.not(m.space.or(m.judged[root].Good, m.occupied())) }
	violated := func(x view) bool {
		waits := func(t bt.Task) bool { return x.Active(t) && !slices.ContainsFunc(m.tree.Children(t), x.Active) }
		return !x.Good(root) && !slices.ContainsFunc(m.actions(), x.Active) && !slices.ContainsFunc(m.tree.Timers(), waits)
	}
	passing := ""
	if len(m.tree.Timers()) > 0 {
		passing = " or a task waits for its timer"
	}
	return []Finding{m.conclude(gap, violated,
		Finding{Text: "in every state some action is active" + passing + ", or the plan has succeeded"},
		Finding{Text: "no action is active" + strings.Replace(passing, " or a", ", no", 1) +
			", and the plan has not succeeded",
			Advice: "end the plan's fallbacks with an action that needs no condition"})}
}

// askGoal: good(root) and not goal; goal and not good(root).
func askGoal(m *Model) []Finding {
	if m.goal == nil {
		return nil
	}
	root, goal := m.tree.Root(), m.of(m.goal)
	good := m.judged[root].Good
	text, at := m.subject.Declared.Goal.Text, m.subject.Declared.Goal.Place
	return []Finding{
		m.concludeAbout(m.goal, func(m *Model) set { return m.space.and(m.judged[root].Good, m.space.not(m.of(m.goal))) },
			func(x view) bool { return x.Good(root) && !x.Holds(m.goal) },
			Finding{Place: at, Text: "the plan succeeds only where its goal holds: " + text +
				m.never(good, ", because it never succeeds")},
			Finding{Place: at, Text: "the plan succeeds where its goal does not hold: " + text,
				Advice: "let the plan test the rest of the goal as well"}),
		m.concludeAbout(m.goal, func(m *Model) set { return m.space.and(m.of(m.goal), m.space.not(m.judged[root].Good)) },
			func(x view) bool { return !x.Good(root) && x.Holds(m.goal) },
			Finding{Place: at, Text: "the plan succeeds wherever its goal holds: " + text +
				m.never(goal, ", because the goal never holds")},
			Finding{Place: at, Text: "the plan does not succeed where its goal holds: " + text,
				Advice: "let the plan test the goal first: a fallback whose first child is the goal"}),
	}
}

// never returns a text if no state is in a set.
func (m *Model) never(a set, text string) string {
	if m.empty(a) {
		return text
	}
	return ""
}

// vacuity returns why an implication, which is proved, would hold whatever its conclusion is, or its premise; "" if it
// would not, or the formula is another one.
func (m *Model) vacuity(l *expr.Logic) string {
	switch s := m.space; {
	case m.Remembers():
		return ""
	case l.Op != expr.LogicOr || len(l.Args) != 2 || l.Args[0].Op != expr.LogicNot:
		return ""
	case m.empty(m.of(&l.Args[0].Args[0])):
		return ", because its premise never holds"
	case m.empty(s.not(m.of(&l.Args[1]))):
		return ", even where its premise does not hold"
	}
	return ""
}

// askAlways: not property. A run is judged also while a procedure is under way, which no set has: then it is a property
// of runs.
func askAlways(m *Model) []Finding {
	var found []Finding
	for i := range m.always {
		property, text, at := &m.always[i], m.subject.Declared.Always[i].Text, m.subject.Declared.Always[i].Place
		if m.slow() || m.subject.Initial != nil {
			f := m.property(&temporal.Property{Text: text, Formula: temporal.Invariant(m.subject.Declared.Always[i].Parts)})
			f.About, f.Place = text, at
			found = append(found, f)
			continue
		}
		found = append(found, m.concludeAbout(property, func(m *Model) set { return m.space.not(m.of(property)) },
			func(x view) bool { return !x.Holds(property) },
			Finding{Place: at, About: text, Text: "holds in every state: " + text + m.vacuity(property)},
			Finding{Place: at, About: text, Text: "does not hold in every state: " + text,
				Advice: stateAdvice}))
	}
	return found
}

const stateAdvice = "find the first task in the tree that is active there"

// writers returns the actions that give a slot a value while they are active, by slot, and the names in the order of
// the plan.
func (m *Model) writers() (by map[string][]bt.Task, names []string) {
	by = map[string][]bt.Task{}
	for i := range m.plan.Leaves {
		l := &m.plan.Leaves[i]
		for _, list := range [...][]plan.Assignment{l.Write, l.Entry} {
			for _, a := range list {
				if a.Notes {
					continue
				}
				if by[a.Target] == nil {
					names = append(names, a.Target)
				}
				if !slices.Contains(by[a.Target], l.Task) {
					by[a.Target] = append(by[a.Target], l.Task)
				}
			}
		}
	}
	return by, names
}

// askCommand: no writer of a command can become active. For slots declared to be always written, not or_w active(w)
// over their writers w.
func askCommand(m *Model) []Finding {
	by, _ := m.writers()
	var found []Finding
	written := 0
	for _, c := range m.subject.Commands {
		f := Finding{Verdict: Refuted, Tasks: by[c], About: c, Text: "no task ever writes " + c,
			Advice: "it keeps its default; if that is intended, accept this finding"}
		idle := slices.IndexFunc(by[c], m.tree.Idle)
		switch v, why := m.becomeActive(by[c]); {
		case v == Proved:
			written++
			continue
		case v == Refuted && idle >= 0:
			f.Verdict, f.Text = Undecided, fmt.Sprintf("not concluded whether a task ever writes %s: %s does when it is halted",
				c, m.tree.Name(m.tree.Children(m.tree.Parent(by[c][idle]))[1]))
			f.Advice = "let a task write it that can become active"
		case v == Undecided:
			f.Verdict, f.Text, f.Advice = v, "not concluded whether a task ever writes "+c+": "+why, memoryAdvice
		case len(by[c]) > 0 && m.slow() && !m.explored:
			f.Assumes = []Assumption{NoDelay}
		}
		found = append(found, f)
	}
	if written > 0 {
		found = append(found, Finding{Verdict: Proved,
			Text: fmt.Sprintf("%s can be written by a task", count(written, "command"))})
	}
	for _, slot := range m.subject.Declared.Written {
		writers := by[slot]
		found = append(found, m.conclude(func(m *Model) set { return m.space.not(m.anyActive(writers)) },
			func(x view) bool { return !slices.ContainsFunc(writers, x.Active) },
			Finding{About: slot, Text: slot + " is written in every state"},
			Finding{Tasks: writers, About: slot, Text: "no active task writes " + slot,
				Advice: "write it in every task that can be active there"}))
	}
	return found
}
