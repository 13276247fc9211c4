package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/analysis/reaction"
	"github.com/canopy-uav/canopy/explore"
)

// reactionWork bounds the exploration of askReaction: instants times tasks to restore to the state before. A tree that
// is too large for one state is not explored.
const reactionWork = 250_000

// askReaction proves how long the tree takes to settle after one input, with package reaction: by exploring all states
// of the engine, or else by the bound that follows from the tree's structure. That the instants of a run end, however
// many inputs they have, is another matter: Question.Runs.
func askReaction(m *Model) []Finding {
	inputs, stubs := reaction.InputsOf(m.plan, m.subject.Expanded), reaction.Stubs(m.tree)
	for i, t := range m.tree.Leaves() {
		if slices.Contains(m.subject.Declared.Free, m.tree.Name(t)) {
			inputs[i].Values = stubs[i].Values
			inputs[i].Outcomes = stubs[i].Outcomes
		}
	}
	moves := max(1, len(inputs))
	states := reactionWork / moves / m.tree.Len()
	r := reaction.ExploreRuns(m.tree, inputs, explore.Budget{Moves: max(1, states*moves)})
	f := Finding{Verdict: Proved, Text: fmt.Sprintf("one input takes at most %d event iterations and %d status changes",
		r.Most.Iterations, r.Most.Changes)}
	switch {
	case r.Loop != nil:
		f.Verdict, f.Text, f.Advice = Refuted, "one input does not settle: "+r.Loop.Error(), flown.Remedy(r.Loop)
	case !r.Decided:
		f.Text = fmt.Sprintf("one input takes at most %d event iterations and %d status changes, by the structure of the"+
			" tree", r.Bound.Iterations, r.Bound.Changes)
		if r.Most.Changes > 0 {
			f.Text += fmt.Sprintf("; the maximum in %d states is %d and %d", r.States, r.Most.Iterations, r.Most.Changes)
		}
	}
	if n := reaction.Unheard(m.tree); n > 0 && f.Verdict == Proved {
		f.Text += fmt.Sprintf("; a flight takes up to %d more, of tasks that it did not hear before", n)
	}
	if lines, _ := r.Script(reaction.Measures[0], m.scriptName); len(lines) > 0 {
		f.Script = strings.Join(lines, "\n") + "\n"
	}
	return []Finding{f}
}
