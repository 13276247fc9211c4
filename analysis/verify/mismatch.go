package verify

import (
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
)

// What active tasks do: two plans that activate the same actions differ if these write other values, take another time,
// or have another priority where both write one slot.

// Mismatch is a difference in what tasks do, or in a setting of the mission.
type Mismatch struct {
	Of   string `json:"of"`   // a task, a slot, or "mission"
	What string `json:"what"` // an attribute, or the name of a setting
	Old  string `json:"old"`  // "": none
	New  string `json:"new"`
}

// MismatchesOf compares texts by what they are about: tasks, and attributes of each.
func MismatchesOf(old, updated map[string]map[string]string) []Mismatch {
	var found []Mismatch
	for _, of := range slices.Sorted(maps.Keys(old)) {
		if updated[of] == nil {
			continue // the task is in one plan only: where it is active, the behaviour differs
		}
		whats := slices.AppendSeq(slices.Collect(maps.Keys(old[of])), maps.Keys(updated[of]))
		slices.Sort(whats)
		for _, what := range slices.Compact(whats) {
			if a, b := old[of][what], updated[of][what]; a != b {
				found = append(found, Mismatch{of, what, a, b})
			}
		}
	}
	return found
}

// attributesOf returns what the tasks of a plan do, by task and attribute. Tasks are identified as in ComparePlans:
// actions by their own names, timers by their names; what several actions of one name do is sorted.
func attributesOf(p *plan.Plan) map[string]map[string]string {
	all := map[string]map[string][]string{}
	add := func(name, what string, parts ...string) {
		if all[name] == nil {
			all[name] = map[string][]string{}
		}
		if len(parts) > 0 {
			all[name][what] = append(all[name][what], strings.Join(parts, "; "))
		}
	}
	for i := range p.Leaves {
		l := &p.Leaves[i]
		name := ownName(p.Tree.Name(l.Task))
		write := assigned(l.Write)
		slices.Sort(write) // they hold all at once
		add(name, "write", write...)
		add(name, "entry", assigned(l.Entry)...)
		add(name, "exit", assigned(l.Exit)...)
		if l.EntryTime != nil {
			add(name, "entry_time", meaning(l.EntryTime))
		}
		if l.ExitTime != nil {
			add(name, "exit_time", meaning(l.ExitTime))
		}
	}
	for _, t := range p.Tree.Timers() {
		for i, param := range p.Tree.Kind(t).Params() {
			add(p.Tree.Name(t), param.Name, param.Format(p.Tree.Params(t)[i]))
		}
	}
	joined := map[string]map[string]string{}
	for name, whats := range all {
		joined[name] = map[string]string{}
		for what, parts := range whats {
			slices.Sort(parts)
			joined[name][what] = strings.Join(parts, " | ")
		}
	}
	return joined
}

func assigned(list []plan.Assignment) []string {
	var parts []string
	for _, a := range list {
		if a.Unset {
			parts = append(parts, a.String())
			continue
		}
		parts = append(parts, a.Target+" := "+meaning(a.Value))
	}
	return parts
}

// meaning returns the text of an expression; that of a number is its value in SI units.
func meaning(e *expr.Expr) string {
	if n := e.Root(); n.Op() == expr.OpNumber {
		return diag.Number(n.SI(), -1)
	}
	return e.String()
}

// mismatches returns what the tasks of two plans do differently.
func mismatches(old, updated *Model) []Mismatch {
	return append(MismatchesOf(attributesOf(old.plan), attributesOf(updated.plan)),
		MismatchesOf(old.priorities(updated), updated.priorities(old))...)
}

// With adds differences in what is done. Behaviour is the same only if there are none.
func (c Comparison) With(mismatches []Mismatch) Comparison {
	if len(mismatches) == 0 {
		return c
	}
	switch {
	case len(c.Mismatches) > 0: // the text states it
	case c.Verdict == Proved:
		c.Text = "the behaviour differs: the same actions are active in every state, but not everything else is the same"
	case c.Verdict == Undecided:
		c.Text = "the behaviour differs in what is done; " + c.Text
	}
	c.Verdict = Refuted
	c.Mismatches = append(c.Mismatches, mismatches...)
	return c
}

// priorities returns, for each slot, which of two actions that may write it together comes first, where the other model
// has both.
func (m *Model) priorities(other *Model) map[string]map[string]string {
	own := func(t bt.Task) string { return ownName(m.tree.Name(t)) }
	known := other.byName()
	knows := func(name string) bool { _, is := known[name]; return is }
	by, slots := m.writers()
	all := map[string]map[string]string{}
	for _, slot := range slots {
		all[slot] = map[string]string{}
		for _, c := range m.conflicts(slot, by[slot]) {
			for _, p := range c.pairs {
				both := []string{own(p[0]), own(p[1])}
				slices.Sort(both)
				if knows(both[0]) && knows(both[1]) && both[0] != both[1] {
					all[slot]["priority of "+both[0]+" and "+both[1]] = own(p[0])
				}
			}
		}
	}
	return all
}
