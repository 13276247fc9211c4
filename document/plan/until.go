package plan

import (
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
)

// resolveUntil finds the task until whose end a condition stays true: of the tasks with that name or path, the one
// whose common ancestor with the condition is the lowest, so that each use of a subtree means its own.
func (c *compiler) resolveUntil(tree *bt.Tree, l *Leaf) {
	if l.until == nil {
		return
	}
	ends := func(t bt.Task) bool { return !tree.Kind(t).Judged() }
	above := map[bt.Task]bool{}
	for t := l.Task; t >= 0; t = tree.Parent(t) {
		above[t] = true
	}
	nearest := bt.Task(tree.Len())
	for _, t := range tree.Resolve(l.until.Value) {
		common := t
		for !above[common] {
			common = tree.Parent(common)
		}
		switch {
		case !ends(t):
		case common < nearest:
			nearest, l.Until = common, []bt.Task{t}
		case common == nearest:
			l.Until = append(l.Until, t)
		}
	}
	switch len(l.Until) {
	case 1:
	case 0:
		var names []string
		for t := range bt.Task(tree.Len()) {
			if ends(t) {
				names = append(names, tree.Name(t))
			}
		}
		c.reportValue(l.until, codeUntil, diag.DidYouMean(l.until.Value, names), "%q is not a task that can end",
			l.until.Value)
	default:
		slices.Sort(l.Until)
		c.reportValue(l.until, codeUntil, "write more of its path", "%q may be %s or %s", l.until.Value,
			tree.Name(l.Until[0]), tree.Name(l.Until[1]))
	}
}
