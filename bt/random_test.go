package bt_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/formalism/tick"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/snapshot"
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
	x, instants := newTrial(t, r, seed), 12
	x.compare("initially", bt.Instant{}, 0)
	var inputs []bt.Input
	for i := range instants {
		most = max(most, x.settle(fmt.Sprintf("instant %d, inputs %v", i, inputs), inputs))
		if r.IntN(4) == 0 { // continue with a copy; later changes of the original must not matter
			x.replace(i%2 == 0, r)
		}
		if r.IntN(20) == 0 {
			iterations := x.sweeps.halt()
			instant := x.engine.Halt()
			x.compare("halted", instant, iterations)
			x.compareTicks("halted", instant, x.ticks.Halt())
			x.check("halted")
		}
		inputs = inputs[:0]
		for range 1 + r.IntN(1+min(3, x.size/3)) {
			inputs = append(inputs, trees.Input(r, x.engine.Tree(), x.engine.Status))
		}
	}
	return most
}

// trial is a random tree in the engine, in the sweeps, and, unless instants are cut short, in a tick engine.
type trial struct {
	*testing.T
	seed              uint64
	size              int
	root              *bt.Node
	limit             int // of iterations
	engine, other     *bt.Engine
	ticks, otherTicks *tick.Engine
	sweeps            *sweeper
}

const noLimit = 1000

func newTrial(t *testing.T, r *rand.Rand, seed uint64) *trial {
	x := &trial{T: t, seed: seed, size: 1 + r.IntN(20), limit: noLimit}
	switch {
	case seed%500 == 499:
		x.size = 5000 // all levels of the worklist
	case seed%50 == 49:
		x.size = 200
	}
	x.root = trees.Random(r, x.size)
	if seed%4 == 1 {
		x.root = trees.Guarded(r, x.root)
	}
	if seed%10 == 7 {
		trees.Zero(rand.New(rand.NewPCG(13, seed)), x.root)
	}
	tree := trees.Compile(t, x.root)
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
	if seed%10 == 9 { // cut instants short and continue from there
		x.limit = 1 + r.IntN(3)
	}
	x.sweeps = newSweeper(x.root, initial, x.limit).lasting(until)
	x.engine, x.ticks = bt.NewEngine(tree, initial, x.limit), tick.NewEngine(tree, initial, 0)
	x.other, x.otherTicks = x.engine.Clone(), x.ticks.Clone()
	return x
}

// fail ends the test with what is wrong.
func (x *trial) fail(where string, wrong any) {
	x.Helper()
	x.Fatalf("seed %d, %s: %v\n%s", x.seed, where, wrong, trees.Outline(x.root))
}

// settle settles an instant in all engines, compares them and returns the number of iterations.
func (x *trial) settle(where string, inputs []bt.Input) int {
	x.Helper()
	iterations, settled := x.sweeps.settle(inputs)
	instant, err := x.engine.Settle(inputs)
	if settled != (err == nil) || !settled && (x.limit == noLimit || !errors.Is(err, bt.ErrLoop)) {
		x.fail(where, fmt.Sprintf("settled %v, engine: %v", settled, err))
	}
	x.compare(where, instant, iterations)
	if x.limit == noLimit {
		got, err := x.ticks.Settle(inputs)
		if err != nil {
			x.fail(where, err)
		}
		x.compareTicks(where, instant, got)
	}
	if settled {
		x.check(where)
	}
	return iterations
}

// replace goes on with copies of the engines, whose originals then are disturbed.
func (x *trial) replace(copied bool, r *rand.Rand) {
	if copied {
		x.other.CopyFrom(x.engine)
		x.otherTicks.CopyFrom(x.ticks)
	} else {
		reload(x.T, x.engine, x.other)
		reload(x.T, x.ticks, x.otherTicks)
	}
	x.engine, x.other, x.ticks, x.otherTicks = x.other, x.engine, x.otherTicks, x.ticks
	disturb := []bt.Input{trees.Input(r, x.engine.Tree(), x.other.Status)}
	_, err := x.other.Settle(disturb)
	if _, errTicks := x.otherTicks.Settle(disturb); (err != nil || errTicks != nil) && x.limit == noLimit {
		x.Fatal(err, errTicks)
	}
}

func (x *trial) compare(where string, instant bt.Instant, iterations int) {
	x.Helper()
	if wrong := differ(x.engine, x.sweeps, instant, iterations); wrong != "" {
		x.fail(where, wrong)
	}
}

func (x *trial) compareTicks(where string, want, got bt.Instant) {
	x.Helper()
	if x.limit != noLimit {
		return
	}
	if wrong := tickDifference(x.engine, x.ticks, want, got); wrong != "" {
		x.fail(where, wrong)
	}
}

func (x *trial) check(where string) {
	x.Helper()
	if err := x.engine.Check(); err != nil {
		x.fail(where, err)
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
