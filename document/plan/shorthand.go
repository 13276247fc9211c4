package plan

import (
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// shorthand is a node that stands for several tasks.
type shorthand struct {
	form       string // of the explicit form
	of         origin
	attributes []string
	children   arity
	expand     func(d *desugarer, n *node) // makes the node one that is no shorthand, if its number of children is right
}

// arity is the permitted number of children of a node; most is -1 if there is no limit.
type arity struct{ least, most int }

var (
	oneChild    = arity{1, 1}
	anyChildren = arity{1, -1}
)

func (a arity) has(count int) bool { return count >= a.least && (a.most < 0 || count <= a.most) }

// origin is the program that has a node.
type origin uint8

const (
	builtIn origin = iota // BehaviorTree.CPP
	own                   // its plans have no such element
	foreign               // a library of nodes for BehaviorTree.CPP
)

// shorthands are these nodes by their names.
var shorthands = map[string]*shorthand{
	elementTestNode: {elementAction, own, []string{attrReturnStatus, attrAsyncDelay, attrSuccessScript, attrFailureScript,
		attrPostScript}, arity{0, -1}, (*desugarer).testNode},
	elementManualSelector: {elementControl, own, []string{attrChoice, attrRepeatLast}, anyChildren,
		(*desugarer).manualSelector},
	elementUtilitySelector: {elementControl, own, comparisonNames(bt.UtilitySelector4), arity{2, 4},
		(*desugarer).utilitySelector},
	"SkipUnlessUpdated": {elementDecorator, builtIn, []string{attrOfEntry}, oneChild,
		func(d *desugarer, n *node) { d.onceUpdated(n, "SKIPPED") }},
	"WaitValueUpdate": {elementDecorator, builtIn, []string{attrOfEntry}, oneChild,
		func(d *desugarer, n *node) { d.onceUpdated(n, "RUNNING") }},

	"RecoveryNode":     {elementControl, foreign, []string{"number_of_retries"}, arity{2, 2}, (*desugarer).recovery},
	"PipelineSequence": {elementControl, foreign, nil, anyChildren, (*desugarer).pipeline},
	elementRoundRobin:  {elementControl, foreign, []string{attrAround}, anyChildren, (*desugarer).roundRobin},
	"NonblockingSequence": {elementControl, foreign, nil, anyChildren,
		func(_ *desugarer, n *node) { n.kind, n.params = bt.Parallel, []int{-1, 1} }},
	elementRate:             {elementDecorator, foreign, []string{attrHz}, oneChild, asChild},
	"GoalUpdatedController": {elementDecorator, foreign, []string{"goal", "goals"}, oneChild, asChild},
	"DistanceController": {elementDecorator, foreign, []string{"distance", "global_frame", "robot_base_frame"}, oneChild,
		asChild},
	"SpeedController": {elementDecorator, foreign, []string{"min_rate", "max_rate", "min_speed", "max_speed",
		"filter_duration", "goal", "goals"}, oneChild, asChild},
	elementGoalUpdater: {elementDecorator, foreign, []string{"input_goal", "input_goals", "output_goal", "output_goals"},
		oneChild, asChild},
}

func init() {
	for name := range loops {
		shorthands[name] = &shorthand{elementDecorator, builtIn, []string{attrQueue, attrIfEmpty, attrValue}, oneChild,
			(*desugarer).loop}
	}
}

// asChild makes a task that does as its child does: in a pipeline, it is run again and again.
func asChild(*desugarer, *node) {}

// shorthand returns the shorthand that a node is, nil if it is none. A model may give the name another meaning. A
// mission needs exact nodes.
func (p *parser) shorthand(n *node, id *xmltree.Attribute) *shorthand {
	name := n.element.Name
	if id != nil && slices.Contains(explicit, name) {
		name = id.Value
	}
	s := shorthands[name]
	if m := p.models[name]; s == nil || m != nil && !s.declared(m) || s.of == foreign && p.signals != nil {
		return nil
	}
	if a := n.element.Find(attrAround); name == elementRoundRobin && a != nil && truth(a.Value) {
		p.foreign(n, elementControl, a.Raw)
		return n.short
	}
	return s
}

// declared reports whether a model is one of this node: it has its attributes, or, of another program, no others.
func (s *shorthand) declared(m *model) bool {
	if s.of == foreign {
		more := func(p *port) bool { return !slices.Contains(s.attributes, p.name) }
		return m.kind == s.form && !slices.ContainsFunc(m.ports, more)
	}
	return !slices.ContainsFunc(s.attributes, func(name string) bool { return !m.declares(name) })
}
