package verify

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
)

// Leaves of another program, which nothing defines here, may give any answer. What is refuted only because one of them
// fails, refuses or ends at once may not occur in that program. So a refutation counts if it remains whatever these
// leaves do, as far as some ways to define them tell.

// answers are those of all leaves of another program: whether actions end well at once, or never end; and whether
// conditions hold.
type answers struct{ ends, holds bool }

// blameless returns the findings of a question in which nothing is refuted that leaves of another program can avoid.
func (m *Model) blameless(q Question, found []Finding) (all []Finding) {
	for _, f := range found {
		if f.Verdict == Refuted && len(m.subject.Declared.Foreign) > 0 {
			left, whole := m.unavoidable(q, f)
			if all = append(all, left...); whole {
				continue
			}
			m.excuse(&f)
		}
		all = append(all, f)
	}
	return all
}

// unavoidable returns what a finding refutes whatever the leaves of another program do; whole tells whether that is
// all of it.
func (m *Model) unavoidable(q Question, f Finding) (left []Finding, whole bool) {
	all := []answers{{true, true}, {true, false}}
	if f.Advice == flown.Remedy(flown.ErrUnsettled) {
		all = []answers{{false, true}}
	}
	left, whole = []Finding{f}, true
	for _, a := range all {
		again := slices.DeleteFunc(m.answered(q, a), func(g Finding) bool {
			return g.Verdict != Refuted || g.About != f.About || g.Place != f.Place ||
				g.About == "" && g.Tasks == nil && g.Advice != f.Advice
		})
		var still []Finding
		for _, r := range left {
			if r.within(again) {
				still = append(still, r)
				continue
			}
			whole = false
			for _, g := range again { // it refutes a part
				if g.within([]Finding{r}) {
					still = append(still, g)
				}
			}
		}
		left = still
	}
	return left, whole
}

// within reports whether each unit of a finding is one of others.
func (f *Finding) within(others []Finding) bool {
	units := func(f *Finding) [][]bt.Task {
		if f.Units == nil {
			return [][]bt.Task{f.Tasks}
		}
		return f.Units
	}
	return !slices.ContainsFunc(units(f), func(u []bt.Task) bool {
		return !slices.ContainsFunc(others, func(o Finding) bool {
			return slices.ContainsFunc(units(&o), func(v []bt.Task) bool { return slices.Equal(u, v) })
		})
	})
}

// answered returns the findings of a question if the leaves of another program answer so.
func (m *Model) answered(q Question, a answers) []Finding {
	x := m.with[a]
	if x == nil {
		if x = newModel(a.define(m.subject), m.spaceOf); m.with == nil {
			m.with = map[answers]*Model{}
		}
		m.with[a] = x
	}
	x.extend(m.effort)
	again := x.supported(q, q.Ask(x))
	m.tired = m.tired || x.tired
	return again
}

// define returns a subject in which the leaves of another program answer so.
func (a answers) define(s declare.Subject) declare.Subject {
	done, _ := expr.Parse(strconv.FormatBool(a.ends))
	on, _ := expr.Parse(strconv.FormatBool(a.holds))
	p, defined := *s.Plan, map[string]bool{}
	p.Leaves = slices.Clone(p.Leaves)
	for i := range p.Leaves {
		if l := &p.Leaves[i]; s.Declared.Foreign[l.Task] {
			defined[p.Tree.Name(l.Task)] = true
			if p.Tree.Kind(l.Task).Acts() {
				l.Done = done
			} else {
				l.On = on
			}
		}
	}
	s.Declared.Free = slices.DeleteFunc(slices.Clone(s.Declared.Free), func(name string) bool { return defined[name] })
	s.Plan, s.Declared.Foreign = &p, nil
	return s
}

// excuse leaves open what a finding refutes, and names the answers on which that rests.
func (m *Model) excuse(f *Finding) {
	all := slices.Sorted(maps.Keys(m.subject.Declared.Foreign))
	said := " " + strings.NewReplacer("[", " [", ",", " ,").Replace(strings.Join(append(f.Where, f.Text), " and ")) + " "
	named := slices.DeleteFunc(slices.Clone(all), func(t bt.Task) bool {
		return !strings.Contains(said, " "+m.tree.Name(t)+" ")
	})
	if len(named) == 0 {
		named = all
	}
	happens := "it takes certain answers of " + m.some(named)
	if len(f.Where) > 0 && f.Where[0] != flown.Always {
		happens = "it happens where " + f.Where[0]
	}
	f.Verdict = Undecided
	f.Text = whether(strings.TrimSuffix(f.Text, memorized)) + "; it depends on leaves that nothing defines"
	f.Advice = fmt.Sprintf("%s; if that cannot be, define %s: an action by `done`, a condition by `on` or a fact; else %s",
		happens, m.some(named), f.Advice)
}
