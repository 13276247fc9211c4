package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
)

// answers compares the answers about one mission.
type answers struct {
	*trial
	truth Truth
}

// verdictOf returns the verdict of a finding that rests on watched assumptions only.
func verdictOf(f *verify.Finding) verify.Verdict {
	if len(f.Unwatched()) > 0 {
		return verify.Undecided
	}
	return f.Verdict
}

func (a *answers) false(verdict string, f *verify.Finding, format string, args ...any) {
	a.wrong("false "+verdict+": "+f.Question, "%s %s", f.Text, fmt.Sprintf(format, args...))
}

// judge compares the answer about a fault, and replays its script.
func (a *answers) judge(f *verify.Finding, x Fault, violated string) {
	seen := a.truth.Faults[x]
	switch v := verdictOf(f); {
	case v == verify.Proved && (seen.Settled || x.Of == "always" && a.truth.Faults[Fault{"open", x.Which}].Settled):
		a.false("proved", f, "")
	case v == verify.Refuted && a.truth.Unstable: // a run that does not settle is no state
	case v == verify.Refuted && !seen.Within:
		a.false("refuted", f, "")
	case v == verify.Refuted && f.Script != "":
		a.replay(f, func(f *Flight, rest bool) bool { return rest && f.settled() && f.shows(x) }, violated)
	}
}

// replay replays the script of a finding, in a run too.
func (a *answers) replay(f *verify.Finding, fault func(f *Flight, rest bool) bool, violated string) {
	a.counts["scripts"]++
	if why := a.m.replayed(a.read, f.Script, fault, violated); why != "" {
		a.false("script", f, "%s\n%s", why, f.Script)
	}
}

// compared are the questions whose answers are compared here.
var compared = map[string]bool{"complete": true, "dead": true, "goal": true, "always": true, "property": true,
	"conflict": true, "command": true}

func (a *answers) compare(all []verify.Finding) {
	dead, pairs := map[bt.Task]bool{}, map[[2]bt.Task]bool{}
	open := map[string]bool{}
	number, commands := map[string]int{}, -len(a.m.Written) // the last answers are those about declared slots
	for i := range all {
		commands += int(truth(all[i].Question == "command"))
	}
	for i := range all {
		f := &all[i]
		if !compared[f.Question] {
			continue
		}
		a.counts[f.Question+" "+verdictOf(f).String()]++
		if verdictOf(f) == verify.Undecided {
			open[f.Question] = true
		}
		if !a.truth.Unstable {
			open := (f.Question == "always" || f.Question == "property") &&
				a.truth.Faults[Fault{"open", number[f.Question]}].Within
			if a.counts["answers"]++; verdictOf(f) == verify.Undecided && !open {
				a.counts["unknown"]++
			}
		}
		switch n := number[f.Question]; f.Question {
		case "complete":
			a.judge(f, Fault{Of: "complete"}, "")
		case "goal":
			a.judge(f, Fault{"goal", n}, "")
		case "always":
			if violated := fmt.Sprintf("always (%s)", a.m.Always[n]); a.m.slow() {
				a.property(f, n, violated)
			} else {
				a.judge(f, Fault{"always", n}, violated)
			}
		case "property":
			a.property(f, n, f.About)
		case "command":
			if n -= commands; n < 0 {
				a.commands(f)
			} else {
				a.judge(f, Fault{"command", a.m.Written[n]}, "")
			}
		case "dead":
			if f.About != "" || strings.Contains(f.Text, "tasks wait for") {
				a.counts["wait "+f.Verdict.String()]++
				a.judge(f, Fault{Of: "wait"}, "")
				if strings.HasSuffix(f.Text, "for ever") {
					if a.counts["for ever"]++; !a.m.stuck(500) {
						a.false("for ever", f, "")
					}
				}
				break
			}
			for _, t := range f.Tasks {
				if dead[t] = true; verdictOf(f) == verify.Refuted && a.truth.Entered[t] && !a.truth.Unstable {
					a.false("refuted", f, "")
				}
			}
		case "conflict":
			a.conflict(f, pairs)
		}
		number[f.Question]++
	}
	if !open["dead"] {
		for t, entered := range a.truth.Entered {
			above := entered || !a.truth.Tree.Kind(bt.Task(t)).Acts() || a.truth.Tree.Idle(bt.Task(t))
			for p := bt.Task(t); p >= 0 && !above; p = a.truth.Tree.Parent(p) {
				above = dead[p]
			}
			if !above {
				a.wrong("false proved: dead", "%s is never active", a.truth.Tree.Name(bt.Task(t)))
			}
		}
	}
	if !open["conflict"] {
		for pair, seen := range a.truth.Together {
			if seen.Rest && !pairs[pair] {
				a.wrong("false proved: conflict", "%s and %s", a.truth.Tree.Name(pair[0]), a.truth.Tree.Name(pair[1]))
			}
		}
	}
}

// property compares the answer about a property of runs, which is violated so: always what the statement with the same
// number says.
func (a *answers) property(f *verify.Finding, n int, violated string) {
	x := Fault{"always", n}
	switch v, seen := verdictOf(f), a.truth.Faults[x]; {
	case v == verify.Proved && (seen.Rest || a.truth.Faults[Fault{"open", n}].Rest):
		a.false("proved", f, "")
	case v == verify.Refuted && a.truth.Unstable:
	case v == verify.Refuted && !seen.Within:
		a.false("refuted", f, "")
	case v == verify.Refuted:
		a.replay(f, func(f *Flight, _ bool) bool { return f.shows(x) }, violated)
	}
}

// slow reports whether a procedure may take time.
func (m *Mission) slow() bool {
	return slices.ContainsFunc(m.root.leaves(nil), func(n *node) bool {
		return n.entryTime >= 0 || n.exitTime >= 0 || n.entryUntil != nil || n.exitUntil != nil
	})
}

// commands compares the answer whether a task can write the command.
func (a *answers) commands(f *verify.Finding) {
	wrote := false
	for i, t := range a.truth.Tree.Leaves() {
		wrote = wrote || a.truth.Entered[t] && a.m.root.leaves(nil)[i].writes(0)
	}
	if v := verdictOf(f); v == verify.Proved && !wrote || v == verify.Refuted && wrote && !a.truth.Unstable {
		a.false(v.String(), f, "")
	}
}

// conflict compares a finding about tasks that use one slot together, and adds them to pairs.
func (a *answers) conflict(f *verify.Finding, pairs map[[2]bt.Task]bool) {
	units := f.Units
	if units == nil && len(f.Tasks) == 2 {
		units = [][]bt.Task{f.Tasks}
	}
	var met [][2]bt.Task
	for _, u := range units {
		pair := [2]bt.Task{min(u[0], u[1]), max(u[0], u[1])}
		pairs[pair] = true
		if met = append(met, pair); verdictOf(f) == verify.Refuted && !a.truth.Together[pair].Within {
			a.false("refuted", f, "")
		}
	}
	if verdictOf(f) == verify.Refuted && f.Script != "" && !a.truth.Unstable {
		a.replay(f, func(x *Flight, rest bool) bool {
			for _, p := range met {
				if !rest && x.Met[p] {
					return true
				}
			}
			for s := range x.slots {
				w := x.writers(s)
				for _, p := range met {
					if x.slots[s].name == f.About && slices.Contains(w, p[0]) && slices.Contains(w, p[1]) {
						return true
					}
				}
			}
			return false
		}, "")
	}
}

// TestAnswersAgreeWithTheWitness: no answer about a random mission is false, and few are unknown.
func TestAnswersAgreeWithTheWitness(t *testing.T) {
	_, limit := effort(400, 500)
	eachClass(t, 400, 9, func(x *trial) {
		a := &answers{trial: x, truth: x.m.Truth(limit)}
		if !a.truth.Complete || a.truth.Entered == nil {
			x.counts["skipped"]++
			return
		}
		a.compare(verify.Check(x.read.Subject()))
	}, func(t *testing.T, shape Shape, cases int, counts map[string]int) {
		if shape.Guards && !testing.Short() && counts["wait refuted"] < cases/40 {
			t.Error("too few missions in which guards wait for each other")
		}
		if unknown := counts["unknown"]; unknown*50 > counts["answers"] {
			t.Errorf("%d of %d answers are unknown", unknown, counts["answers"])
		}
	})
}
