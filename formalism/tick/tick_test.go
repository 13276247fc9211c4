package tick_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/formalism/tick"
	"github.com/canopy-uav/canopy/internal/trees"
)

// TestCut cuts instants short and continues from there: entries and exits alternate, and Halt runs all exits.
func TestCut(t *testing.T) {
	cut := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(3, seed))
		tree := trees.Compile(t, trees.Random(r, 1+r.IntN(20)))
		limit := 1 + r.IntN(3)
		e := tick.NewEngine(tree, nil, limit)
		entered := make([]bool, tree.Len())
		follow := func(i bt.Instant) {
			for _, c := range i.Commands {
				if entered[c.Task] != c.Exit {
					t.Fatalf("seed %d: entries and exits of task %d do not alternate", seed, c.Task)
				}
				entered[c.Task] = !c.Exit
			}
		}
		var inputs []bt.Input
		for range 12 {
			i, err := e.Settle(inputs)
			if follow(i); err != nil {
				cut++
				if !errors.Is(err, bt.ErrLoop) || i.Iterations != limit {
					t.Fatalf("seed %d: %v after %d ticks", seed, err, i.Iterations)
				}
			}
			inputs = append(inputs[:0], trees.Input(r, tree, nil), trees.Input(r, tree, nil))
		}
		follow(e.Halt())
		for i := range tree.Len() {
			if task := bt.Task(i); e.Active(task) || entered[task] || e.Status(task) == bt.Running {
				t.Errorf("seed %d: task %d is %s after the halt", seed, i, e.Status(task))
			}
		}
	}
	if cut < 3000 {
		t.Errorf("only %d instants were cut short", cut)
	}
}

// TestLoopError names the tasks that keep changing.
func TestLoopError(t *testing.T) {
	e := tick.NewEngine(trees.Compile(t, swapTree()), nil, 1)
	_, err := e.Settle(nil)
	if want := "instantaneous loop: the tree does not settle within 1 ticks; still changing: g, ReactiveFallback"; err ==
		nil || err.Error() != want {
		t.Error(err)
	}
}

// TestVisits asserts that every tick visits every task, and that an instant without change is one tick.
func TestVisits(t *testing.T) {
	tree := trees.Compile(t, swapTree())
	e := tick.NewEngine(tree, nil, 0)
	for want := 2; want >= 1; want-- {
		if i, err := e.Settle(nil); err != nil || i.Visits != want*tree.Len() || i.Iterations != want-1 {
			t.Errorf("%v: %d visits, %d iterations, want %d ticks", err, i.Visits, i.Iterations, want)
		}
	}
}

// swapTree is a tree of ten tasks in which one condition decides which action runs.
func swapTree() *bt.Node {
	leaf := func(k bt.Kind, name string) *bt.Node { return &bt.Node{Kind: k, Name: name} }
	return &bt.Node{Kind: bt.ReactiveFallback, Children: []*bt.Node{
		{Kind: bt.ReactiveSequence, Name: "one", Children: []*bt.Node{leaf(bt.Condition, "c"), leaf(bt.Action, "a")}},
		{Kind: bt.ReactiveSequence, Name: "two",
			Children: []*bt.Node{leaf(bt.Condition, "d"), leaf(bt.Condition, "e"), leaf(bt.Action, "b")}},
		leaf(bt.Condition, "f"), leaf(bt.Action, "g")}}
}

func settle(b testing.TB, e *bt.Engine, inputs ...bt.Input) bt.Instant {
	b.Helper()
	instant, err := e.Settle(inputs)
	if err != nil {
		b.Fatal(err)
	}
	return instant
}

// TestMisuse lists the calls that panic.
func TestMisuse(t *testing.T) {
	tree := trees.Compile(t, swapTree())
	other := trees.Compile(t, swapTree())
	for want, call := range map[string]func(){
		"tick: the limit of ticks":   func() { tick.NewEngine(tree, nil, -1) },
		"tick: an engine was copied": func() { tick.NewEngine(tree, nil, 0).CopyFrom(tick.NewEngine(other, nil, 0)) },
		"tick: a conventional":       func() { tick.NewConventional(tree, []bt.Input{bt.Slow(tree.Leaves()[1], true, false)}) },
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.HasPrefix(text, want) {
					t.Errorf("%q, want %q", text, want)
				}
			}()
			call()
		}()
	}
}
