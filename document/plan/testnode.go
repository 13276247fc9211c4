package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
)

// The stub of BehaviorTree.CPP's tests.
const (
	elementTestNode = "TestNode"

	attrReturnStatus  = "return_status"
	attrAsyncDelay    = "async_delay"
	attrSuccessScript = "success_script"
	attrFailureScript = "failure_script"
	attrPostScript    = "post_script"
)

// testNode makes the sequence of a stub: it waits, executes scripts, and returns a status.
func (d *desugarer) testNode(n *node) {
	if count := len(n.children); count > 0 {
		d.reportName(n.element, codeChildren, "", "%s cannot have children, this one has %d", elementTestNode, count)
	}
	n.children = nil
	if a := n.element.Find(attrAsyncDelay); a != nil {
		sleep := n.newLeaf(bt.Sleep, bt.Sleep.String(), n.name+"."+attrAsyncDelay, a.As("msec"))
		sleep.params = []int{d.param(sleep, &bt.Sleep.Params()[0])}
		n.children = append(n.children, sleep)
	}
	status := "SUCCESS"
	if a := n.element.Find(attrReturnStatus); a != nil {
		status = strings.TrimSpace(a.Value)
		if words := slices.Sorted(maps.Keys(statuses)); !slices.Contains(words, status) {
			d.reportValue(a, codeCount, diag.OneOf("write ", words), "%s cannot be %q", attrReturnStatus, a.Value)
			status = words[0]
		}
	}
	for _, name := range []string{attrSuccessScript, attrFailureScript, attrPostScript} {
		a := n.element.Find(name)
		if a == nil {
			continue
		}
		if script := d.newEffect(n, a, n.name+"."+name); name == attrPostScript || name == statuses[status].script {
			n.children = append(n.children, script) // the others are read for their mistakes
		}
	}
	n.children = append(n.children, n.status(status, attrReturnStatus))
}

// status returns the task that returns one of the statuses.
func (n *node) status(status, what string) *node {
	k := statuses[status].kind
	return n.newLeaf(k, k.String(), n.name+"."+what)
}

// statuses are what a stub may return: the task that returns it, and the script that is executed before.
var statuses = map[string]struct {
	kind   bt.Kind
	script string
}{
	"SUCCESS": {bt.AlwaysSuccess, attrSuccessScript},
	"FAILURE": {bt.AlwaysFailure, attrFailureScript},
	"RUNNING": {bt.Action, ""},
}
