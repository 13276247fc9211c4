package bt_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/formalism/tick"
	"github.com/canopy-uav/canopy/internal/trees"
)

// TestWork holds the work of an instant, counted in visits of a task, against what has changed: the size of the tree
// must not matter, nor the width of a parallel.
func TestWork(t *testing.T) {
	flip := func(e *bt.Engine, leaf int) bt.Instant {
		task := e.Tree().Leaves()[leaf]
		settle(t, e, bt.Set(task, false))
		return settle(t, e, bt.Set(task, true))
	}
	for _, leaves := range []int{1 << 4, 1 << 10, 1 << 16} {
		depth := 0
		for n := leaves; n > 1; n /= 4 {
			depth++
		}
		name := fmt.Sprint(leaves, " leaves: ")
		if i := flip(engineOf(t, wide(leaves, bt.ReactiveSequence)), 1); i.Visits != 1 || len(i.Changes) != 1 {
			t.Errorf("%sa change that dies at once: %d visits, %d changes", name, i.Visits, len(i.Changes))
		}
		if i := flip(engineOf(t, wide(leaves, bt.ReactiveFallback)), 1); i.Visits != depth+1 || len(i.Changes) != depth+1 {
			t.Errorf("%sa change that reaches the root: %d visits, %d changes", name, i.Visits, len(i.Changes))
		}
		d := wide(leaves, bt.ReactiveFallback)
		d.Children[3] = &bt.Node{Kind: bt.Action} // runs unless a condition is true
		if i := flip(engineOf(t, d), 1); i.Visits > 4*len(i.Changes) {
			t.Errorf("%san action is withdrawn: %d visits, %d changes", name, i.Visits, len(i.Changes))
		}
	}
	for _, kind := range []bt.Kind{bt.Parallel, bt.ReactiveParallel} {
		if i := flip(engineOf(t, flat(kind, 1024)), 500); i.Visits > 4 || len(i.Changes) != 1 {
			t.Errorf("flat %s: %d visits, %d changes", kind, i.Visits, len(i.Changes))
		}
	}
}

// TestAllocations asserts that an instant allocates nothing once the log has grown, nor do ticks.
func TestAllocations(t *testing.T) {
	tree := trees.Compile(t, swapTree())
	e, ticks := bt.NewEngine(tree, nil, 0), tick.NewEngine(tree, nil, 0)
	c, _ := tree.Find("c")
	g, _ := tree.Find("g")
	kept, keptTicks := e.Clone(), ticks.Clone()
	inputs := [][]bt.Input{{bt.Set(c, true), bt.Slow(g, false, true)}, {bt.Set(c, false), bt.Exited(g)}}
	run := func() {
		for _, in := range inputs {
			_, err := e.Settle(in)
			if _, errTicks := ticks.Settle(in); err != nil || errTicks != nil {
				t.Fatal(err, errTicks)
			}
		}
		e.CopyFrom(kept)
		ticks.CopyFrom(keptTicks)
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestKindsAllocateNothing asserts that no kind allocates anything in steady state: it is activated, its children end in
// both ways, its timer elapses, and it is deactivated.
func TestKindsAllocateNothing(t *testing.T) {
	for _, kind := range bt.Kinds() {
		if kind.Family() == bt.Leaf {
			continue
		}
		d, r := &bt.Node{Kind: kind}, rand.New(rand.NewPCG(1, 1))
		for range trees.Width(r, kind, 3) {
			d.Children = append(d.Children, &bt.Node{Kind: bt.Action})
		}
		d.Params = trees.Params(r, kind, len(d.Children))
		e := engineOf(t, &bt.Node{Kind: bt.ReactiveSequence, Children: []*bt.Node{{Kind: bt.Condition}, d}})
		instants := [][]bt.Input{{bt.Set(0, true)}}
		for _, leaf := range e.Tree().Leaves()[1:] {
			instants = append(instants, []bt.Input{bt.End(leaf, bt.Failure)}, []bt.Input{bt.End(leaf, bt.Success)})
		}
		for _, task := range e.Tree().Timers() {
			instants = append(instants, []bt.Input{bt.Elapsed(task)})
		}
		instants = append(instants, []bt.Input{bt.Set(0, false)})
		run := func() {
			for _, inputs := range instants {
				if _, err := e.Settle(inputs); err != nil {
					t.Fatal(kind, err)
				}
			}
		}
		run()
		if n := testing.AllocsPerRun(20, run); n != 0 {
			t.Errorf("%s: %v allocations", kind, n)
		}
	}
}
