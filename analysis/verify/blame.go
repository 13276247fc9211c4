package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
)

// Leaves of another program, which nothing defines here, may give any answer. What is refuted only because one of them
// fails, refuses or ends at once may not occur in that program. So a refutation counts if it remains whatever these
// leaves do, as far as declare.Answers tell.

// blameless returns the findings of a question in which nothing is refuted that leaves of another program can avoid.
func (m *Model) blameless(q Question, found []Finding) []Finding {
	if len(m.subject.Declared.Foreign) == 0 || m.subject.Answers != declare.AnyAnswer {
		return found
	}
	for i := range found {
		f := &found[i]
		answers := []declare.Answers{declare.Yes, declare.No}
		if f.Advice == flown.Remedy(flown.ErrUnsettled) {
			answers = []declare.Answers{declare.Never}
		}
		avoids := func(a declare.Answers) bool { return !m.remains(q, f, a) }
		if f.Verdict == Refuted && slices.ContainsFunc(answers, avoids) {
			m.excuse(f)
		}
	}
	return found
}

// remains reports whether what a finding refutes is also refuted if the leaves of another program answer so.
func (m *Model) remains(q Question, f *Finding, a declare.Answers) bool {
	if m.with[a] == nil {
		s := m.subject
		s.Answers = a
		m.with[a] = newModel(s, m.spaceOf)
	}
	x := m.with[a]
	x.extend(m.effort)
	again := x.supported(q, q.Ask(x))
	m.tired = m.tired || x.tired
	return slices.ContainsFunc(again, func(g Finding) bool {
		return g.Verdict == Refuted && g.About == f.About && g.Advice == f.Advice
	})
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
	answer := "answers of " + m.some(named)
	if len(f.Where) > 0 && f.Where[0] != flown.Always {
		answer = f.Where[0]
	}
	f.Verdict = Undecided
	f.Text = whether(strings.TrimSuffix(f.Text, memorized)) + "; leaves decide this that nothing defines"
	f.Advice = fmt.Sprintf("it takes: %s; if that cannot be, define %s: an action by `done`, a condition by `on` or a"+
		" fact; else %s", answer, m.some(named), f.Advice)
}
