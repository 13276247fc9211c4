package tick_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/formalism/tick"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/snapshot"
)

// activations counts how often each task was activated at an instant.
func activations(counts []int, instant bt.Instant) {
	for _, c := range instant.Changes {
		if c.To == bt.Activating {
			counts[c.Task]++
		}
	}
}

// TestChattering ticks a condition and an action beside it a hundred times while nothing changes. Conventionally both
// are activated at each tick; if tasks can be transient, the action is activated once and the condition never.
func TestChattering(t *testing.T) {
	const ticks = 100
	root, err := trees.Parse("ReactiveFallback gain altitude\n  Condition high\n  Action take-off\n")
	if err != nil {
		t.Fatal(err)
	}
	tree := trees.Compile(t, root)
	old, e := tick.NewConventional(tree, nil), tick.NewEngine(tree, nil, 0)
	conventional, transient := make([]int, tree.Len()), make([]int, tree.Len())
	for range ticks {
		activations(conventional, old.Tick(nil))
		instant, err := e.Settle(nil)
		if err != nil {
			t.Fatal(err)
		}
		activations(transient, instant)
	}
	for name, want := range map[string]struct{ conventional, transient int }{
		"high": {ticks, 0}, "take-off": {ticks, 1}, "gain altitude": {1, 1},
	} {
		task, _ := tree.Find(name)
		if conventional[task] != want.conventional || transient[task] != want.transient {
			t.Errorf("%s: activated %d times, conventionally %d, want %+v", name, transient[task], conventional[task], want)
		}
	}
}

// TestConventionalRandom ticks random trees conventionally. Entries and exits alternate; outside the parallels a
// sibling is left before another one is entered; a saved state continues alike; halted, all is idle. If nothing is to
// be remembered, as composites have no memory and actions neither end nor refuse, the same actions run after each tick
// as by the law.
func TestConventionalRandom(t *testing.T) {
	count, compared := trees.Count(20_000, 2_000), 0
	for seed := range uint64(count) {
		r := rand.New(rand.NewPCG(4, seed))
		d := trees.Random(r, 1+r.IntN(20))
		endless := seed%2 == 0
		if endless {
			forget(d)
		}
		tree := trees.Compile(t, d)
		events, e := bt.NewEngine(tree, nil, 0), tick.NewConventional(tree, nil)
		active := make([]bool, tree.Len())
		follow := func(instant bt.Instant) {
			for _, c := range instant.Commands {
				if active[c.Task] != c.Exit {
					t.Fatalf("seed %d: entries and exits of task %d do not alternate%s", seed, c.Task, trees.Outline(d))
				}
				active[c.Task] = !c.Exit
			}
		}
		for range 12 {
			var inputs []bt.Input
			for range 3 {
				if in := trees.Input(r, tree, nil); !tree.Kind(in.Task()).Acts() || !endless && !slow(tree, in) {
					inputs = append(inputs, in)
				}
			}
			before := snapshot.Save(nil, e)
			instant := e.Tick(inputs)
			follow(instant)
			again := tick.NewConventional(tree, nil)
			if err := snapshot.Load(before, again); err != nil {
				t.Fatal(err)
			}
			if got := again.Tick(inputs); !slices.Equal(got.Changes, instant.Changes) {
				t.Fatalf("seed %d: a saved state goes on otherwise%s", seed, trees.Outline(d))
			}
			settle(t, events, inputs...)
			for i := range tree.Len() {
				task, running := bt.Task(i), 0
				for _, child := range tree.Children(task) {
					if e.Status(child) == bt.Running {
						running++
					}
				}
				if running > 1 && tree.Kind(task).Family() != bt.Count || running > 0 && e.Status(task) != bt.Running {
					t.Fatalf("seed %d: %d children of task %d run, which is %v", seed, running, i, e.Status(task))
				}
				if endless && tree.Kind(task).Acts() {
					compared++
					if got, want := e.Status(task), events.Status(task); got != want {
						t.Fatalf("seed %d: action %d is %v, by the law %v%s", seed, i, got, want, trees.Outline(d))
					}
				}
			}
		}
		follow(e.Halt())
		for i := range tree.Len() {
			if e.Status(bt.Task(i)) != bt.Accept {
				t.Fatalf("seed %d: task %d is %v after the halt", seed, i, e.Status(bt.Task(i)))
			}
		}
		if instant := e.Tick(nil); len(instant.Changes) > 0 {
			t.Fatalf("seed %d: something happens after the halt", seed)
		}
	}
	t.Logf("%d statuses of actions compared", compared)
}

// forget makes composites reactive.
func forget(d *bt.Node) {
	d.Prompt = false
	if d.Kind.Memory() {
		reactive, ok := map[bt.Kind]bt.Kind{bt.Sequence: bt.ReactiveSequence, bt.AsyncSequence: bt.ReactiveSequence,
			bt.Parallel: bt.ReactiveParallel}[d.Kind]
		switch {
		case len(d.Children) == 0:
			d.Kind, d.Params = bt.AlwaysFailure, nil
		case ok:
			d.Kind = reactive
		default:
			d.Kind, d.Params = bt.ReactiveFallback, nil
		}
	}
	for _, child := range d.Children {
		forget(child)
	}
}

// slow reports whether an input makes a procedure take time.
func slow(tree *bt.Tree, in bt.Input) bool {
	told := bt.NewTold(tree.Kind(in.Task()))
	told.Take(&in, tree.Kind(in.Task()), bt.Accept)
	return told.Slow(false) || told.Slow(true)
}
