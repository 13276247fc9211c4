package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Nodes of Nav2 that are made of kinds, in the limit of ticks whose period goes to zero; docs/btcpp.md has the rules.
const (
	elementRoundRobin  = "RoundRobin"
	elementRate        = "RateController"
	elementGoalUpdater = "GoalUpdater"

	attrHz     = "hz"
	attrAround = "wrap_around"
)

// copy returns a node with those below it as further tasks of the same plan.
func (d *desugarer) copy(n *node) *node {
	c := *n
	c.name += ".again"
	if d.copied++; d.copied == maxTasks {
		d.reportName(n.element, xmltree.CodeTooLarge, "", "Nav2's nodes stand for more than %d tasks up to here", maxTasks)
	}
	c.children = nil
	if d.copied < maxTasks {
		for _, child := range n.children {
			c.children = append(c.children, d.copy(child))
		}
	}
	return &c
}

// recovery makes a task that runs its second child when the first has failed, then the first one again. How often is
// not counted: a free condition ends the retries, as a failure of the second child does, by which they are skipped.
func (d *desugarer) recovery(n *node) {
	last := d.asked(n, "last")
	holds := n.newCondition(n.name+".always", &xmltree.Attribute{Name: attrOn, Value: "true", At: n.element.At})
	stop := n.above(bt.SkipIf, "stop", nil, holds, n.above(bt.AlwaysSuccess, "stopped", nil))
	measure := n.above(bt.IfThenElse, "recovery", nil, n.above(bt.SkipIf, "unless_last", nil, last, n.children[1]),
		n.above(bt.AlwaysFailure, "recovered", nil), stop)
	try := n.above(bt.IfThenElse, "try", nil, n.children[0], n.above(bt.AlwaysSuccess, "succeeded", nil), measure)
	n.kind = bt.Fallback
	n.children = []*node{n.above(bt.RetryUntilSuccessful, "retries", []int{-1}, try),
		n.above(bt.AlwaysFailure, "failed", nil)}
}

// pipeline makes a reactive sequence of its children up to the first one that is run again and again: this one is run
// once, then it is run again and again beside those that follow.
func (d *desugarer) pipeline(n *node) {
	rest := n.children[len(n.children)-1:]
	for k := len(n.children) - 2; k >= 0; k-- {
		c := n.children[k]
		wait := d.pause(c)
		if wait == nil {
			rest = append([]*node{c}, rest...)
			continue
		}
		all := rest[0]
		if len(rest) > 1 {
			all = c.above(bt.ReactiveSequence, "then", nil, rest...)
		}
		round := c.above(bt.Sequence, "round", nil, wait, d.copy(c))
		repeated := c.above(bt.KeepRunningUntilFailure, "repeated", nil, round)
		beside := c.above(bt.Parallel, "beside", []int{1, 1}, repeated, all)
		rest = []*node{c.above(bt.Sequence, "first", nil, c, beside)}
	}
	n.kind, n.children = bt.ReactiveSequence, rest
}

// pause returns the task between two runs of a child of a pipeline, nil if it is not run again: a time, or one that
// nothing defines.
func (d *desugarer) pause(c *node) *node {
	t := c.task()
	if t.short == nil || t.id == elementGoalUpdater || t.short.form != elementDecorator || t.short.of != foreign {
		return nil
	}
	if t.id == elementRate {
		hz := 10.0
		if a := t.element.Find(attrHz); a != nil {
			hz, _ = strconv.ParseFloat(strings.TrimSpace(a.Value), 64)
		}
		if ms := math.Round(1000 / hz); ms >= 0 && ms < 1e12 {
			return t.above(bt.Sleep, "period", []int{int(ms)})
		}
	}
	return t.above(bt.Precondition, "wait", []int{4}, d.asked(t, "due"), t.above(bt.AlwaysSuccess, "is_due", nil))
}

// roundRobin makes a fallback whose first children may be left out: which child is the first of a run depends on the
// runs before, which are not examined.
func (d *desugarer) roundRobin(n *node) {
	n.kind = bt.Fallback
	for k, c := range n.children {
		n.children[k] = n.above(bt.SkipIf, fmt.Sprint("unless_after_", k+1), nil,
			d.asked(n, fmt.Sprint("begins_after_", k+1)), c)
	}
}
