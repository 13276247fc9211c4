package bt_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"canopy/bt"
	"canopy/formalism/tick"
	"canopy/internal/trees"
	"canopy/snapshot"
)

// TestRandom compares the engine with the full sweeps of the law on random trees and scripts: the logs with the
// iterations, the commands, and every task's state must be equal after every instant, also after the engine has been
// replaced by a copy, and when it is halted. The invariants are checked as well. A tick engine beside it has the same
// statuses, activities and held results after every instant, and within it the same log.
func TestRandom(t *testing.T) {
	const workers = 2
	count := trees.Count(100_000, 3_000)
	for w := range workers {
		t.Run(fmt.Sprint("part", w), func(t *testing.T) {
			t.Parallel()
			most := 0
			for i := w; i < count && !t.Failed(); i += workers {
				most = max(most, randomRun(t, uint64(i)))
			}
			t.Logf("no instant took more than %d iterations", most)
		})
	}
}

// randomRun makes a tree and runs it; it returns the maximum number of iterations of an instant.
func randomRun(t *testing.T, seed uint64) (most int) {
	r := rand.New(rand.NewPCG(1, seed))
	size, instants := 1+r.IntN(20), 12
	switch {
	case seed%500 == 499:
		size = 5000 // all levels of the worklist
	case seed%50 == 49:
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
	until := map[bt.Task][]bt.Task{}
	for _, l := range tree.Leaves() {
		if other := bt.Task(r.IntN(tree.Len())); seed%3 == 0 && tree.Kind(l) == bt.Condition && r.IntN(2) == 0 {
			until[l] = append(until[l], other)
		}
	}
	tree = tree.Lasting(until)
	var initial []bt.Input
	for range r.IntN(4) {
		initial = append(initial, trees.Input(r, tree, nil))
	}
	limit := 1000
	if seed%10 == 9 { // cut instants short and continue from there
		limit = 1 + r.IntN(3)
	}
	s := newSweeper(d, initial, limit).lasting(until)
	e := bt.NewEngine(tree, initial, limit)
	other, ticks := e.Clone(), tick.NewEngine(tree, initial, 0)
	otherTicks := ticks.Clone()
	ticked := func(where string, want, got bt.Instant) {
		if msg := tickDifference(e, ticks, want, got); msg != "" {
			t.Fatalf("seed %d, %s: %s%s", seed, where, msg, trees.Outline(d))
		}
	}
	compare(t, seed, "initially", d, e, s, bt.Instant{}, 0)
	var inputs []bt.Input
	for i := range instants {
		iterations, settled := s.settle(inputs)
		most = max(most, iterations)
		instant, err := e.Settle(inputs)
		if settled != (err == nil) || !settled && (limit == 1000 || !errors.Is(err, bt.ErrLoop)) {
			t.Fatalf("seed %d, instant %d: settled %v, engine: %v\n%s", seed, i, settled, err, trees.Outline(d))
		}
		where := fmt.Sprintf("instant %d, inputs %v", i, inputs)
		compare(t, seed, where, d, e, s, instant, iterations)
		if limit == 1000 {
			got, err := ticks.Settle(inputs)
			if err != nil {
				t.Fatal(err)
			}
			ticked(where, instant, got)
		}
		if err := e.Check(); settled && err != nil {
			t.Fatalf("seed %d, %s: %v\n%s", seed, where, err, trees.Outline(d))
		}
		if r.IntN(4) == 0 { // continue with a copy; later changes of the original must not matter
			if i%2 == 0 {
				other.CopyFrom(e)
				otherTicks.CopyFrom(ticks)
			} else {
				reload(t, e, other)
				reload(t, ticks, otherTicks)
			}
			e, other, ticks, otherTicks = other, e, otherTicks, ticks
			disturb := []bt.Input{trees.Input(r, tree, other.Status)}
			_, err := other.Settle(disturb)
			if _, errTicks := otherTicks.Settle(disturb); (err != nil || errTicks != nil) && limit == 1000 {
				t.Fatal(err, errTicks)
			}
		}
		if r.IntN(20) == 0 {
			iterations := s.halt()
			instant := e.Halt()
			compare(t, seed, "halted", d, e, s, instant, iterations)
			if got := ticks.Halt(); limit == 1000 {
				ticked("halted", instant, got)
			}
			if err := e.Check(); err != nil {
				t.Fatalf("seed %d, halted: %v\n%s", seed, err, trees.Outline(d))
			}
		}
		inputs = inputs[:0]
		for range 1 + r.IntN(1+min(3, size/3)) {
			inputs = append(inputs, trees.Input(r, tree, e.Status))
		}
	}
	return most
}

func compare(t *testing.T, seed uint64, where string, d *bt.Node, e *bt.Engine, s *sweeper, instant bt.Instant, iterations int) {
	t.Helper()
	if text := differ(e, s, instant, iterations); text != "" {
		t.Fatalf("seed %d, %s: %s\n%s", seed, where, text, trees.Outline(d))
	}
}

// differ returns a difference between the engine and the sweeps after an instant, "" if there is none.
func differ(e *bt.Engine, s *sweeper, instant bt.Instant, iterations int) string {
	if !slices.Equal(instant.Changes, s.changes) || !slices.Equal(instant.Commands, s.commands) ||
		!slices.Equal(instant.Timings, s.timings) ||
		instant.Iterations != iterations {
		return fmt.Sprintf("\n engine %v %v %v %d\n sweeps %v %v %v %d", instant.Changes,
			instant.Commands, instant.Timings, instant.Iterations, s.changes, s.commands, s.timings, iterations)
	}
	for _, task := range s.tasks {
		n := task.number
		result, held := e.Held(n)
		if e.Status(n) != task.status || e.Active(n) != task.active || held != task.held || e.Pinned(n) != task.pinned ||
			held && result != task.result {
			return fmt.Sprintf("task %d:\n engine %v active %v held %v %v pinned %v\n"+
				" sweeps %v active %v held %v %v pinned %v", n, e.Status(n), e.Active(n), held, result, e.Pinned(n),
				task.status, task.active, task.held, task.result, task.pinned)
		}
	}
	return ""
}

// tickDifference compares the logs of an instant of an engine and of one that ticks, and every task's state after it; it
// returns the first difference, "" if there is none. Iterations may differ by one: activity is passed on at the end of
// an event iteration, but at the start of a tick.
func tickDifference(events *bt.Engine, ticks *tick.Engine, want, got bt.Instant) string {
	sameStep := func(got, want bt.Change) bool {
		return got.Task == want.Task && got.From == want.From && got.To == want.To &&
			(got.Iteration == want.Iteration || got.Iteration == want.Iteration-1)
	}
	timings := func(i bt.Instant) []bt.Timing { // a tick visits tasks in another order
		all := slices.Clone(i.Timings)
		slices.SortStableFunc(all, func(a, b bt.Timing) int { return int(a.Task - b.Task) })
		return all
	}
	if !slices.Equal(got.Commands, want.Commands) || !slices.EqualFunc(got.Changes, want.Changes, sameStep) ||
		!slices.Equal(timings(got), timings(want)) {
		return fmt.Sprintf("\n ticks  %v %v %v\n events %v %v %v\n", got.Commands, got.Changes, got.Timings, want.Commands,
			want.Changes, want.Timings)
	}
	state := func(e interface {
		Status(t bt.Task) bt.Status
		Active(t bt.Task) bool
		Held(t bt.Task) (result bt.Status, ok bool)
		Pinned(t bt.Task) bool
	}, t bt.Task,
	) string {
		text := fmt.Sprintf("%v active %v", e.Status(t), e.Active(t))
		if result, held := e.Held(t); held {
			text += fmt.Sprintf(" held %v pinned %v", result, e.Pinned(t))
		}
		return text
	}
	for t := range bt.Task(events.Tree().Len()) {
		if a, b := state(ticks, t), state(events, t); a != b {
			return fmt.Sprintf("task %d:\n ticks  %s\n events %s\n", t, a, b)
		}
	}
	return ""
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
