package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
)

// Reason stands in a proposed note for the reason that the author gives.
const Reason = "REASON"

// elsewhere stands in a note for regions that a finding does not list.
const elsewhere = "elsewhere"

// Idle is the text of a finding about a note that covers no finding.
const Idle = "the note has no effect: there is no such finding"

// Accept gives findings that are not proved without reservation the reason of a note that covers them. A note that
// covers none is reported as a finding of its own.
func Accept(s declare.Subject, all []Finding) []Finding {
	tree := s.Plan.Tree
	for i := range s.Declared.Notes {
		n, used := &s.Declared.Notes[i], false
		for i := range all {
			f := &all[i]
			if f.Question != n.Question || f.Word() == Proved.String() || f.Needs != "" || !f.isAbout(tree, n) {
				continue
			}
			used = true
			if why := f.beyond(n); why != "" {
				line, _ := n.Position()
				f.Advice = strings.TrimSuffix(
					fmt.Sprintf("the note in line %d does not accept this: %s; %s", line, why, f.Advice), "; ")
				continue
			}
			f.Accepted, f.Covers, f.Loose = n.Reason, n.Covers(), f.loose(tree, n)
		}
		if !used {
			all = append(all, Finding{Question: n.Question, Verdict: Undecided, About: n.About,
				Text: Idle, Advice: "remove the note",
				Place: n.Place})
		}
	}
	return all
}

// named returns the tasks that a note names, by names or paths, and the other names in it.
func named(tree *bt.Tree, n *declare.Note) (tasks []bt.Task, others []string) {
	for _, name := range n.Names() {
		if found := tree.Resolve(name); found != nil {
			tasks = append(tasks, found...)
		} else {
			others = append(others, name)
		}
	}
	return tasks, others
}

// isAbout reports whether a note names the finding: its signal, command or property, or a task, and one of each unit if
// it has several.
func (f *Finding) isAbout(tree *bt.Tree, n *declare.Note) bool {
	if n.About == "" || n.About == f.About {
		return true
	}
	tasks, others := named(tree, n)
	named := func(t bt.Task) bool { return slices.Contains(tasks, t) }
	switch {
	case slices.ContainsFunc(others, func(name string) bool { return name != f.About }):
		return false
	case len(tasks) == 0:
		return true
	case f.Units == nil:
		return !slices.ContainsFunc(tasks, func(t bt.Task) bool { return !slices.Contains(f.Tasks, t) })
	}
	return !slices.ContainsFunc(f.Units, func(unit []bt.Task) bool { return !slices.ContainsFunc(unit, named) })
}

// beyond returns why a finding is worse than a note accepts; "" if it is not.
func (f *Finding) beyond(n *declare.Note) string {
	if f.Period < n.Period {
		return fmt.Sprintf("it accepts a period of %.3g s", n.Period)
	}
	if n.Where == nil {
		return ""
	}
	for _, w := range f.regions() {
		if !slices.Contains(n.Where, w) {
			return "it accepts other regions"
		}
	}
	return ""
}

// regions returns where the fault is, as in a note.
func (f *Finding) regions() []string {
	where := slices.Clone(f.Where)
	if f.More {
		where = append(where, elsewhere)
	}
	return where
}

// loose reports whether a note also accepts findings with other tasks, shorter periods or other regions.
func (f *Finding) loose(tree *bt.Tree, n *declare.Note) bool {
	tasks, _ := named(tree, n)
	unnamed := slices.ContainsFunc(f.Tasks, func(t bt.Task) bool { return !slices.Contains(tasks, t) })
	return unnamed && n.About != f.About || f.Period > 0 && n.Period == 0 || len(f.Where) > 0 && n.Where == nil
}

// Note returns the comment that accepts the finding and nothing worse; the author adds the reason.
func (f *Finding) Note(tree *bt.Tree) string {
	names := tree.Names(f.Tasks)
	if f.About != "" {
		names = append(names, f.About)
	}
	n := declare.Note{About: strings.Join(names, ", ")}
	if f.Period > 0 { // two digits, rounded down
		unit := math.Pow(10, math.Floor(math.Log10(f.Period))-1)
		n.Period = math.Floor(f.Period/unit+1e-9) * unit
	}
	n.Where = f.regions()
	return "# canopy: accept " + strings.TrimSpace(f.Question+" "+n.Covers()) + ": " + Reason
}
