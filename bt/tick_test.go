package bt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTickRandom compares the tick engine with the event-driven one on random trees and scripts. After every instant
// the same actions must run, indeed every task must have the same status, activity and held result, and within it the
// same procedures must have been started in the same order, indeed the whole log must be the same.
func TestTickRandom(t *testing.T) {
	trees := 100_000
	if testing.Short() {
		trees = 3_000
	}
	const workers = 2
	for w := range workers {
		t.Run(fmt.Sprint("part", w), func(t *testing.T) {
			t.Parallel()
			entries := 0
			for i := w; i < trees && !t.Failed(); i += workers {
				entries += randomTicks(t, uint64(i))
			}
			t.Logf("%d entry procedures were started", entries)
			if entries < trees/workers {
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
	d := randomTree(r, size)
	tree := compiled(t, d)
	var inputs []Input
	for range r.IntN(4) {
		inputs = append(inputs, randomInput(r, tree, nil))
	}
	events, ticks := NewEngine(tree, inputs, 0), NewTickEngine(tree, inputs, 0)
	other := ticks.Clone()
	compare := func(where string, want, got Instant) {
		if msg := compareTicks(events, ticks, want, got); msg != "" {
			t.Fatalf("seed %d, %s: %s%s", seed, where, msg, outline(d))
		}
	}
	compare("initially", Instant{}, Instant{})
	inputs = nil
	for i := range 12 {
		want := settle(t, events, inputs...)
		got, err := ticks.Tick(inputs)
		if err != nil {
			t.Fatal(err)
		}
		compare(fmt.Sprintf("instant %d, inputs %v", i, inputs), want, got)
		for _, c := range got.Commands {
			if !c.Exit {
				entries++
			}
		}
		if r.IntN(4) == 0 { // go on with a copy; whatever then happens to the original must not matter
			if i%2 == 0 {
				other.CopyFrom(ticks)
			} else {
				reload(t, ticks, other)
			}
			ticks, other = other, ticks
			if _, err := other.Tick([]Input{randomInput(r, tree, events)}); err != nil {
				t.Fatal(err)
			}
		}
		if r.IntN(20) == 0 {
			compare("halted", events.Halt(), ticks.Halt())
		}
		inputs = inputs[:0]
		for range 1 + r.IntN(1+min(3, size/3)) {
			inputs = append(inputs, randomInput(r, tree, events))
		}
	}
	return entries
}

// compareTicks compares the logs of an instant and every task's state after it; it returns what is not the same.
func compareTicks(events *Engine, ticks *TickEngine, want, got Instant) string {
	if !slices.Equal(got.Commands, want.Commands) || !slices.EqualFunc(got.Changes, want.Changes, sameStep) {
		return fmt.Sprintf("\n ticks  %v %v\n events %v %v\n", got.Commands, got.Changes, want.Commands, want.Changes)
	}
	for i := range events.tree.Len() {
		task := Task(i)
		wantResult, wantHeld := events.Held(task)
		result, held := ticks.Held(task)
		if ticks.Status(task) != events.Status(task) || ticks.Active(task) != events.Active(task) ||
			held != wantHeld || held && result != wantResult || ticks.Pinned(task) != events.Pinned(task) {
			return fmt.Sprintf("task %d:\n ticks  %v active %v held %v %v pinned %v\n"+
				" events %v active %v held %v %v pinned %v\n", task,
				ticks.Status(task), ticks.Active(task), held, result, ticks.Pinned(task),
				events.Status(task), events.Active(task), wantHeld, wantResult, events.Pinned(task))
		}
	}
	return ""
}

// sameStep compares two steps of a status cycle. Their iterations may differ by one: activity is passed on at the end of
// an event iteration, but at the start of a tick.
func sameStep(got, want Change) bool {
	return got.Task == want.Task && got.From == want.From && got.To == want.To &&
		(got.Iteration == want.Iteration || got.Iteration == want.Iteration-1)
}

// TestTickCut cuts instants short and goes on from there: entries and exits alternate, and Halt runs all exits.
func TestTickCut(t *testing.T) {
	cut := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(3, seed))
		tree := compiled(t, randomTree(r, 1+r.IntN(20)))
		e := NewTickEngine(tree, nil, 1+r.IntN(3))
		entered := make([]bool, tree.Len())
		follow := func(i Instant) {
			for _, c := range i.Commands {
				if entered[c.Task] != c.Exit {
					t.Fatalf("seed %d: entries and exits of task %d do not alternate", seed, c.Task)
				}
				entered[c.Task] = !c.Exit
			}
		}
		var inputs []Input
		for range 12 {
			i, err := e.Tick(inputs)
			if follow(i); err != nil {
				cut++
				if !errors.Is(err, ErrLoop) || i.Iterations != e.limit {
					t.Fatalf("seed %d: %v after %d ticks", seed, err, i.Iterations)
				}
			}
			inputs = append(inputs[:0], randomInput(r, tree, nil), randomInput(r, tree, nil))
		}
		follow(e.Halt())
		for i := range tree.Len() {
			if task := Task(i); e.Active(task) || entered[task] || e.Status(task) == Running {
				t.Errorf("seed %d: task %d is %s after the halt", seed, i, e.Status(task))
			}
		}
	}
	if cut < 3000 {
		t.Errorf("only %d instants were cut short", cut)
	}
}

// TestTickLoopError names the tasks that keep changing.
func TestTickLoopError(t *testing.T) {
	e := NewTickEngine(compiled(t, swapTree()), nil, 1)
	_, err := e.Tick(nil)
	if want := "instantaneous loop: the tree does not settle within 1 ticks; still changing: g, ReactiveFallback"; err ==
		nil || err.Error() != want {
		t.Error(err)
	}
}

// TestTickAllocations asserts that an instant allocates nothing once the log has grown.
func TestTickAllocations(t *testing.T) {
	e := NewTickEngine(compiled(t, swapTree()), nil, 0)
	c, _ := e.tree.Find("c")
	g, _ := e.tree.Find("g")
	kept := e.Clone()
	one, other := []Input{Set(c, true), Slow(g, false, true)}, []Input{Set(c, false), Exited(g)}
	run := func() {
		for _, inputs := range [][]Input{one, other} {
			if _, err := e.Tick(inputs); err != nil {
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

// TestTickVisits asserts that every tick visits every task, and that an instant without change is one tick.
func TestTickVisits(t *testing.T) {
	e := NewTickEngine(compiled(t, swapTree()), nil, 0)
	for want := 2; want >= 1; want-- {
		if i, err := e.Tick(nil); err != nil || i.Visits != want*e.tree.Len() || i.Iterations != want-1 {
			t.Errorf("%v: %d visits, %d iterations, want %d ticks", err, i.Visits, i.Iterations, want)
		}
	}
}
