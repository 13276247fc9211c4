package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"canopy/bt"
	"canopy/syntax/xmltree"
)

// Nodes of Nav2 that are made of kinds, in the limit of ticks whose period goes to zero; docs/btcpp.md has the rules.
const (
	elementRecovery       = "RecoveryNode"
	elementPipeline       = "PipelineSequence"
	elementRoundRobin     = "RoundRobin"
	elementNonblocking    = "NonblockingSequence"
	elementRate           = "RateController"
	elementDistance       = "DistanceController"
	elementSpeed          = "SpeedController"
	elementGoalController = "GoalUpdatedController"
	elementGoalUpdater    = "GoalUpdater"

	attrRetries = "number_of_retries"
	attrHz      = "hz"
	attrAround  = "wrap_around"
)

func init() {
	again := func(id string, attributes ...string) {
		shorthands[id] = &shorthand{elementDecorator, foreign, attributes, (*reader).asChild}
	}
	shorthands[elementRecovery] = &shorthand{elementControl, foreign, []string{attrRetries}, (*reader).recovery}
	shorthands[elementPipeline] = &shorthand{elementControl, foreign, nil, (*reader).pipeline}
	shorthands[elementRoundRobin] = &shorthand{elementControl, foreign, []string{attrAround}, (*reader).roundRobin}
	shorthands[elementNonblocking] = &shorthand{elementControl, foreign, nil, (*reader).nonblocking}
	again(elementRate, attrHz)
	again(elementDistance, "distance", "global_frame", "robot_base_frame")
	again(elementSpeed, "min_rate", "max_rate", "min_speed", "max_speed", "filter_duration", "goal", "goals")
	again(elementGoalController, "goal", "goals")
	again(elementGoalUpdater, "input_goal", "input_goals", "output_goal", "output_goals")
}

// above returns a task that a shorthand stands for, above others.
func (i *item) above(k bt.Kind, what string, params []int, children ...*item) *item {
	return &item{element: i.element, kind: k, id: k.String(), name: i.name + "." + what, params: params,
		children: children}
}

// asked returns a condition that nothing defines: an input of this node in this use of its tree.
func (r *reader) asked(i *item, what string) *item {
	c := newCondition(i.element, i.name+"."+what, &xmltree.Attribute{Name: "use", Value: "{use}", At: i.element.At})
	if r.opened[c.name]++; r.opened[c.name] > 1 {
		c.name += fmt.Sprintf("_%d", r.opened[c.name])
	}
	c.id = c.name
	return c
}

// copy returns an item with those below it as further tasks of the same plan.
func (r *reader) copy(i *item) *item {
	c := *i
	c.name += ".again"
	if r.copied++; r.copied == maxTasks {
		r.reportName(i.element, xmltree.CodeTooLarge, "", "Nav2's nodes stand for more than %d tasks up to here", maxTasks)
	}
	c.children = nil
	if r.copied < maxTasks {
		for _, child := range i.children {
			c.children = append(c.children, r.copy(child))
		}
	}
	return &c
}

// enough reports that a node has too few or too many children; most < 0: there is no limit.
func (r *reader) enough(i *item, least, most int) bool {
	n := len(i.written)
	wanted := fmt.Sprintf("at least %d child", least)
	switch {
	case most == 1:
		wanted = "exactly 1 child"
	case most > 1:
		wanted = fmt.Sprintf("exactly %d children", most)
	}
	if n >= least && (most < 0 || n <= most) {
		return true
	}
	if i.kind, i.unknown = bt.Sequence, true; r.doc.Whole {
		r.reportName(i.element, codeChildren, "", "%s needs %s, this one has %d", i.id, wanted, n)
	}
	return false
}

// recovery makes a task that runs its second child when the first has failed, then the first one again. How often is
// not counted: a free condition ends the retries, as a failure of the second child does, by which they are skipped.
func (r *reader) recovery(i *item) {
	if !r.enough(i, 2, 2) {
		return
	}
	last := r.asked(i, "last")
	holds := newCondition(i.element, i.name+".always", &xmltree.Attribute{Name: attrOn, Value: "true", At: i.element.At})
	stop := i.above(bt.SkipIf, "stop", nil, holds, i.above(bt.AlwaysSuccess, "stopped", nil))
	measure := i.above(bt.IfThenElse, "recovery", nil, i.above(bt.SkipIf, "unless_last", nil, last, i.written[1]),
		i.above(bt.AlwaysFailure, "recovered", nil), stop)
	try := i.above(bt.IfThenElse, "try", nil, i.written[0], i.above(bt.AlwaysSuccess, "succeeded", nil), measure)
	i.kind = bt.Fallback
	i.children = []*item{i.above(bt.RetryUntilSuccessful, "retries", []int{-1}, try),
		i.above(bt.AlwaysFailure, "failed", nil)}
}

// pipeline makes a reactive sequence of its children up to the first one that is run again and again: this one is run
// once, then it is run again and again beside those that follow.
func (r *reader) pipeline(i *item) {
	if !r.enough(i, 1, -1) {
		return
	}
	rest := i.written[len(i.written)-1:]
	for k := len(i.written) - 2; k >= 0; k-- {
		c := i.written[k]
		wait := r.pause(c)
		if wait == nil {
			rest = append([]*item{c}, rest...)
			continue
		}
		all := rest[0]
		if len(rest) > 1 {
			all = c.above(bt.ReactiveSequence, "then", nil, rest...)
		}
		round := c.above(bt.Sequence, "round", nil, wait, r.copy(c))
		repeated := c.above(bt.KeepRunningUntilFailure, "repeated", nil, round)
		beside := c.above(bt.Parallel, "beside", []int{1, 1}, repeated, all)
		rest = []*item{c.above(bt.Sequence, "first", nil, c, beside)}
	}
	i.kind, i.children = bt.ReactiveSequence, rest
}

// pause returns the task between two runs of a child of a pipeline, nil if it is not run again: a time, or one that
// nothing defines.
func (r *reader) pause(c *item) *item {
	t := c.task()
	if t.short == nil || t.id == elementGoalUpdater || t.short.form != elementDecorator || t.short.of != foreign {
		return nil
	}
	if t.id == elementRate {
		hz := 10.0
		a := t.element.Find(attrHz)
		if a != nil {
			hz, _ = strconv.ParseFloat(strings.TrimSpace(a.Value), 64)
		}
		if ms := math.Round(1000 / hz); ms >= 0 && ms < 1e12 {
			return t.above(bt.Sleep, "period", []int{int(ms)})
		}
	}
	return t.above(bt.Precondition, "wait", []int{4}, r.asked(t, "due"), t.above(bt.AlwaysSuccess, "is_due", nil))
}

// roundRobin makes a fallback whose first children may be left out: which child is the first of a run depends on the
// runs before, which are not examined.
func (r *reader) roundRobin(i *item) {
	if a := i.element.Find(attrAround); a != nil && truth(a.Value) {
		r.foreign(i, elementControl, a.Raw)
		r.foreignNode(i)
		return
	}
	if !r.enough(i, 1, -1) {
		return
	}
	i.kind, i.children = bt.Fallback, nil
	for k, c := range i.written {
		i.children = append(i.children, i.above(bt.SkipIf, fmt.Sprint("unless_after_", k+1), nil,
			r.asked(i, fmt.Sprint("begins_after_", k+1)), c))
	}
}

// nonblocking makes a parallel that fails when one of its children does.
func (r *reader) nonblocking(i *item) {
	if r.enough(i, 1, -1) {
		i.kind, i.params, i.children = bt.Parallel, []int{-1, 1}, i.written
	}
}

// foreignNode makes a control or decorator of another program: a free action has its result, and beside it each child
// may run, again and again, while a free condition holds.
func (r *reader) foreignNode(i *item) {
	answer := *i
	answer.name += ".result"
	answer.kind, answer.free, answer.wrapped, answer.short, answer.children = bt.Action, true, true, nil, nil
	i.kind, i.params, i.model = bt.Parallel, []int{1, 1}, nil
	i.children = []*item{&answer}
	for k, c := range i.written {
		what := fmt.Sprint("child_", k+1)
		runs := i.above(bt.Sequence, what, nil, i.above(bt.ForceSuccess, what+".result", nil, c),
			i.above(bt.Action, what+".rest", nil))
		i.children = append(i.children, i.above(bt.While, what+".may_run", nil, r.asked(i, what+".runs"), runs))
	}
}

// asChild makes a task that does as its child does: in a pipeline, it is run again and again.
func (r *reader) asChild(i *item) {
	if r.enough(i, 1, 1) {
		i.kind, i.children = bt.Sequence, i.written
	}
}
