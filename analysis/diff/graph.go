package diff

import (
	"fmt"
	"strings"

	"github.com/canopy-uav/canopy/formalism/stategraph"
)

// Graphs compares two state graphs. Steps are the same if they have one name, transitions if they lead from the same
// step to the same step; of several, the first is the same as the first.
func Graphs(old, updated *stategraph.Graph) Difference {
	return compare("state graph", []string{"step", "transition"}, graphParts(old), graphParts(updated))
}

func graphParts(g *stategraph.Graph) []part {
	var parts []part
	actions := g.Actions()
	for i := range g.Len() {
		s := stategraph.Step(i)
		p := part{element: "step", key: "step " + g.StepName(s), name: g.StepName(s), line: g.StepLine(s)}
		say := func(text string, list []string) {
			if len(list) > 0 {
				p.details = append(p.details, text+": "+strings.Join(list, ", "))
			}
		}
		var does, exits []string
		for _, a := range g.StepActions(s) {
			does = append(does, actions[a])
		}
		for _, e := range g.Exits(s) {
			exits = append(exits, g.StepName(e))
		}
		say("actions", does)
		say("exit", exits)
		if g.Parent(s) != stategraph.None {
			p.details = append(p.details, "inside: "+g.StepName(g.Parent(s)))
		}
		if g.First(s) {
			p.details = append(p.details, "initial")
		}
		parts = append(parts, p)
	}
	seen := map[string]int{}
	for _, t := range g.Transitions() {
		from, to := g.StepName(t.From), g.StepName(t.To)
		p := part{element: "transition", name: from + " -> " + to, line: t.Line, group: from,
			ends: []string{"step " + from, "step " + to}}
		p.key = fmt.Sprintf("%s %v %v", p.name, t.Suspends, t.Resumes)
		seen[p.key]++
		p.key += fmt.Sprint(" ", seen[p.key])
		if t.When != nil {
			p.details = append(p.details, "when: "+t.When.String())
		}
		if t.After > 0 {
			p.details = append(p.details, fmt.Sprintf("after: %g s", t.After))
		}
		for _, flag := range []struct {
			set  bool
			text string
		}{{t.Suspends, "suspends"}, {t.Resumes, "resumes"}, {!t.LoopCheck, "no loop check"}} {
			if flag.set {
				p.details = append(p.details, flag.text)
			}
		}
		parts = append(parts, p)
	}
	return parts
}
