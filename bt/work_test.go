package bt

import (
	"fmt"
	"testing"
)

// TestWork holds the work of an instant, counted in visits of a task, against what has changed: the size of the tree
// must not matter, nor the width of a parallel.
func TestWork(t *testing.T) {
	flip := func(e *Engine, leaf int) Instant {
		task := e.tree.Leaves()[leaf]
		settle(t, e, Set(task, false))
		return settle(t, e, Set(task, true))
	}
	for _, leaves := range []int{1 << 4, 1 << 10, 1 << 16} {
		depth := 0
		for n := leaves; n > 1; n /= 4 {
			depth++
		}
		name := fmt.Sprint(leaves, " leaves: ")
		if i := flip(engineOf(t, wide(leaves, ReactiveSequence)), 1); i.Visits != 1 || len(i.Changes) != 1 {
			t.Errorf("%sa change that dies at once: %d visits, %d changes", name, i.Visits, len(i.Changes))
		}
		if i := flip(engineOf(t, wide(leaves, ReactiveFallback)), 1); i.Visits != depth+2 || len(i.Changes) != depth+1 {
			t.Errorf("%sa change that reaches the root: %d visits, %d changes", name, i.Visits, len(i.Changes))
		}
		d := wide(leaves, ReactiveFallback)
		d.Children[3] = &Node{Kind: Action} // runs unless a condition is true
		if i := flip(engineOf(t, d), 1); i.Visits > 4*len(i.Changes) {
			t.Errorf("%san action is withdrawn: %d visits, %d changes", name, i.Visits, len(i.Changes))
		}
	}
	for _, kind := range []Kind{Parallel, ReactiveParallel} {
		if i := flip(engineOf(t, flat(kind, 1024)), 500); i.Visits > 4 || len(i.Changes) != 1 {
			t.Errorf("flat %s: %d visits, %d changes", kind, i.Visits, len(i.Changes))
		}
	}
}

// TestAllocations asserts that an instant allocates nothing once the log has grown.
func TestAllocations(t *testing.T) {
	e := engineOf(t, swapTree())
	c, _ := e.tree.Find("c")
	g, _ := e.tree.Find("g")
	kept := e.Clone()
	one, other := []Input{Set(c, true), Slow(g, false, true)}, []Input{Set(c, false), Exited(g)}
	run := func() {
		for _, inputs := range [][]Input{one, other} {
			if _, err := e.Settle(inputs); err != nil {
				t.Fatal(err)
			}
		}
		e.CopyFrom(kept)
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
