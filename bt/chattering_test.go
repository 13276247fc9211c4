package bt

import "testing"

// conventional ticks sequences and fallbacks as section 5 of the 2013 paper describes it before it mends it: every task
// is activated before it is ticked, whatever it is going to answer, and the child that was active is deactivated first.
type conventional struct {
	tree       *Tree
	says       []Status // of leaves: a condition's truth, an action's outcome or Running
	current    []Task   // the active child; none
	procedures []int    // started so far, entry and exit
}

func newConventional(tree *Tree) *conventional {
	c := &conventional{tree: tree, says: make([]Status, tree.Len()), current: make([]Task, tree.Len()),
		procedures: make([]int, tree.Len())}
	for t := range c.says {
		c.says[t], c.current[t] = Running, none
		if tree.Kind(Task(t)) == Condition {
			c.says[t] = Failure
		}
	}
	return c
}

func (c *conventional) tick(t Task) (answer Status) {
	if c.tree.Kind(t).IsLeaf() {
		return c.says[t]
	}
	for _, child := range c.tree.Children(t) {
		if c.current[t] != child {
			c.deactivateChild(t)
			c.procedures[child]++
			c.current[t] = child
		}
		if answer = c.tick(child); !answer.in(c.tree.nodes[t].over) {
			break
		}
	}
	return answer
}

func (c *conventional) deactivateChild(t Task) {
	if child := c.current[t]; child != none {
		c.deactivateChild(child)
		c.procedures[child]++
		c.current[t] = none
	}
}

// TestChattering ticks a condition and an action beside it a hundred times while nothing changes. Conventionally both
// are entered and left at each tick; if tasks can be transient, the action is entered once and the condition never.
func TestChattering(t *testing.T) {
	const ticks = 100
	tree := compiledOutline(t, "ReactiveFallback gain altitude\n  Condition high\n  Action take-off\n")
	old := newConventional(tree)
	e := NewTickEngine(tree, nil, 0)
	procedures := make([]int, tree.Len())
	for range ticks {
		old.tick(tree.Root())
		instant, err := e.Tick(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range instant.Commands {
			procedures[c.Task]++
		}
	}
	for name, want := range map[string]struct{ conventional, transient int }{
		"high": {2 * ticks, 0}, "take-off": {2*ticks - 1, 1},
	} {
		task, _ := tree.Find(name)
		if old.procedures[task] != want.conventional || procedures[task] != want.transient {
			t.Errorf("%s: %d procedures, conventionally %d, want %+v", name, procedures[task], old.procedures[task], want)
		}
	}
}
