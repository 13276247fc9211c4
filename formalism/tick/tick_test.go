package tick_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/formalism/tick"
	"canopy/internal/trees"
	"canopy/snapshot"
)

// TestRandom compares the tick engine with the event-driven one on random trees and scripts. After every instant
// the same actions must run, indeed every task must have the same status, activity and held result, and within it the
// same procedures must have been started in the same order, indeed the whole log must be the same.
func TestRandom(t *testing.T) {
	const workers = 2
	count := trees.Count(100_000, 3_000)
	for w := range workers {
		t.Run(fmt.Sprint("part", w), func(t *testing.T) {
			t.Parallel()
			entries := 0
			for i := w; i < count && !t.Failed(); i += workers {
				entries += randomTicks(t, uint64(i))
			}
			t.Logf("%d entry procedures were started", entries)
			if entries < count/workers {
				t.Error("hardly anything has happened")
			}
		})
	}
}

// randomTicks makes a tree and runs it with both engines; it returns the number of entry procedures started.
func randomTicks(t *testing.T, seed uint64) (entries int) {
	r := rand.New(rand.NewPCG(2, seed))
	size := 1 + r.IntN(20)
	if seed%50 == 49 {
		size = 200
	}
	d := trees.Random(r, size)
	if seed%4 == 1 {
		d = trees.Guarded(r, d)
	}
	if seed%10 == 7 {
		trees.Zero(rand.New(rand.NewPCG(13, seed)), d)
	}
	tree := trees.Compile(t, d)
	var inputs []bt.Input
	for range r.IntN(4) {
		inputs = append(inputs, trees.Input(r, tree, nil))
	}
	events, ticks := bt.NewEngine(tree, inputs, 0), tick.NewEngine(tree, inputs, 0)
	other := ticks.Clone()
	compare := func(where string, want, got bt.Instant) {
		if msg := trees.Differ(events, ticks, want, got); msg != "" {
			t.Fatalf("seed %d, %s: %s%s", seed, where, msg, trees.Outline(d))
		}
	}
	compare("initially", bt.Instant{}, bt.Instant{})
	inputs = nil
	for i := range 12 {
		want := settle(t, events, inputs...)
		got, err := ticks.Settle(inputs)
		if err != nil {
			t.Fatal(err)
		}
		compare(fmt.Sprintf("instant %d, inputs %v", i, inputs), want, got)
		for _, c := range got.Commands {
			if !c.Exit {
				entries++
			}
		}
		if r.IntN(4) == 0 { // continue with a copy; later changes of the original must not matter
			if i%2 == 0 {
				other.CopyFrom(ticks)
			} else {
				reload(t, ticks, other)
			}
			ticks, other = other, ticks
			if _, err := other.Settle([]bt.Input{trees.Input(r, tree, events.Status)}); err != nil {
				t.Fatal(err)
			}
		}
		if r.IntN(20) == 0 {
			compare("halted", events.Halt(), ticks.Halt())
		}
		inputs = inputs[:0]
		for range 1 + r.IntN(1+min(3, size/3)) {
			inputs = append(inputs, trees.Input(r, tree, events.Status))
		}
	}
	return entries
}

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

// TestAllocations asserts that an instant allocates nothing once the log has grown.
func TestAllocations(t *testing.T) {
	tree := trees.Compile(t, swapTree())
	e := tick.NewEngine(tree, nil, 0)
	c, _ := tree.Find("c")
	g, _ := tree.Find("g")
	kept := e.Clone()
	one, other := []bt.Input{bt.Set(c, true), bt.Slow(g, false, true)}, []bt.Input{bt.Set(c, false), bt.Exited(g)}
	run := func() {
		for _, inputs := range [][]bt.Input{one, other} {
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

// wide returns a tree with the given number of conditions in which every composite has four children, except some of
// the last ones.
func wide(leaves int, kind bt.Kind) *bt.Node {
	if leaves == 1 {
		return &bt.Node{Kind: bt.Condition}
	}
	d := &bt.Node{Kind: kind}
	for i := range min(4, leaves) {
		d.Children = append(d.Children, wide((leaves+3-i)/4, kind))
	}
	return d
}

func settle(b testing.TB, e *bt.Engine, inputs ...bt.Input) bt.Instant {
	b.Helper()
	instant, err := e.Settle(inputs)
	if err != nil {
		b.Fatal(err)
	}
	return instant
}

// reload sets an engine to the saved state of another one of the same tree.
func reload(t *testing.T, from, to snapshot.Stateful) {
	t.Helper()
	saved := snapshot.Save(nil, from)
	if err := snapshot.Load(saved, to); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(snapshot.Save(nil, to), saved) {
		t.Fatal("a restored engine is saved otherwise")
	}
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
