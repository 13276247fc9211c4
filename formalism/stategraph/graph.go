// Package stategraph reads, checks and runs state graphs: steps that are active or not, transitions that fire between
// them at once or after a time, parallel steps with synchronised exit, suspend and resume.
//
// A [Graph] is a checked document; it never changes and may be shared. An [Engine] holds the state. The meaning is that
// of the Modelica_StateGraph2 library (Otter, Malmheden, Elmqvist, Mattsson, Johnsson: "A New Formalism for Modeling of
// Reactive and Hybrid Systems", 7th Modelica Conference, 2009), which the 2014 paper compares behaviour trees with;
// docs/stategraphs.md has the rules.
package stategraph

import (
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
)

// Step is a step's number: in the order of the document, a parallel step before the steps inside it.
type Step int32

// None is the step around the outermost steps.
const None Step = -1

// Action is an action's number, in the order in which the steps first name them.
type Action int32

// Graph is a state graph that was read without errors. It is immutable.
type Graph struct {
	Source *diag.Source
	Name   string
	Text   string

	steps       []step
	transitions []Transition
	codes       []*expr.Code // of the transitions' conditions; nil: always true
	conditions  []string
	actions     []string
}

// step is one step; a parallel step has others inside, those numbered from the next one to before end.
type step struct {
	name         string
	line         int // of the source, from 1
	parent       Step
	end          Step
	first        bool   // active when the level around it begins: an initial step, or an entry of the parallel step
	parallel     bool   // has steps inside
	exits        []Step // of a parallel step: those that must be free for it to be left
	out, suspend []int  // the transitions from it, by priority
	actions      []Action
}

// Transition leads from one step to another one of the same level.
type Transition struct {
	From, To  Step
	Suspends  bool       // From is a parallel step that is suspended, not left through its exits
	Resumes   bool       // To is a parallel step that continues where it was suspended
	When      *expr.Expr // over names of conditions; nil: always true
	After     float64    // s for which the transition must have been enabled without a break; 0: it fires at once
	LoopCheck bool       // a loop made only of transitions with LoopCheck and without After is refused
	Line      int        // of the source, from 1
}

// Vocabulary is the names that a graph may use.
type Vocabulary struct {
	Conditions, Actions []string
}

// VocabularyOf returns the names for a graph that replaces a tree: those of the tree's leaves.
func VocabularyOf(tree *bt.Tree) *Vocabulary {
	v := &Vocabulary{}
	for _, t := range tree.Leaves() {
		if tree.Kind(t).Acts() {
			v.Actions = append(v.Actions, tree.Name(t))
		} else {
			v.Conditions = append(v.Conditions, tree.Name(t))
		}
	}
	return v
}

// Len returns the number of steps.
func (g *Graph) Len() int { return len(g.steps) }

// StepName returns a step's name, which is unique.
func (g *Graph) StepName(s Step) string { return g.steps[s].name }

// StepLine returns the line of the source on which a step is written, from 1.
func (g *Graph) StepLine(s Step) int { return g.steps[s].line }

// Parent returns the parallel step that a step is inside, or None.
func (g *Graph) Parent(s Step) Step { return g.steps[s].parent }

// Parallel reports whether a step has steps inside.
func (g *Graph) Parallel(s Step) bool { return g.steps[s].parallel }

// First reports whether a step becomes active when its level begins: it is an initial step or an entry of its parallel
// step.
func (g *Graph) First(s Step) bool { return g.steps[s].first }

// Exits returns the steps inside a parallel step that its exit waits for.
func (g *Graph) Exits(s Step) []Step { return slices.Clone(g.steps[s].exits) }

// StepActions returns the actions that are active while a step is.
func (g *Graph) StepActions(s Step) []Action { return slices.Clone(g.steps[s].actions) }

// Transitions returns the transitions in the order of the document. Of those from one step the earlier wins.
func (g *Graph) Transitions() []Transition { return slices.Clone(g.transitions) }

// Conditions returns the names of the conditions in the order in which Engine.Settle receives their truth: that of
// their first use.
func (g *Graph) Conditions() []string { return slices.Clone(g.conditions) }

// Actions returns the names of the actions by number.
func (g *Graph) Actions() []string { return slices.Clone(g.actions) }

// transitionName returns the text by which messages name a transition.
func (g *Graph) transitionName(k int) string {
	t := &g.transitions[k]
	return fmt.Sprintf("%s -> %s", g.steps[t.From].name, g.steps[t.To].name)
}
