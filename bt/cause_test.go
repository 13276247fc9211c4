package bt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
)

// TestCauseLeadsToAnInput: on random trees of all kinds, the causes of every change lead to a leaf that received an
// input at this instant, or to a task at or below one whose timer elapsed.
func TestCauseLeadsToAnInput(t *testing.T) {
	changes, longest := 0, 0
	for seed := range uint64(trees.Count(20_000, 2_000)) {
		r := rand.New(rand.NewPCG(7, seed))
		d := trees.Random(r, 1+r.IntN(30))
		if seed%3 == 0 {
			d = trees.Guarded(r, d)
		}
		tree := trees.Compile(t, d)
		until := map[bt.Task][]bt.Task{}
		for _, l := range tree.Leaves() {
			if seed%4 == 0 && tree.Kind(l) == bt.Condition {
				until[l] = []bt.Task{bt.Task(r.IntN(tree.Len()))}
			}
		}
		tree = tree.Lasting(until)
		e := bt.NewEngine(tree, nil, 0)
		if _, err := e.Settle(nil); err != nil {
			continue
		}
		for range 8 {
			var inputs []bt.Input
			for range 1 + r.IntN(3) {
				inputs = append(inputs, trees.Input(r, tree, e.Status))
			}
			instant, err := e.Settle(inputs)
			if err != nil {
				break
			}
			for i := range instant.Changes {
				at, length := i, 0
				for k := bt.Cause(tree, instant.Changes, at); k >= 0; k = bt.Cause(tree, instant.Changes, at) {
					if k >= at {
						t.Fatalf("seed %d: change %d is caused by the later %d", seed, at, k)
					}
					at, length = k, length+1
				}
				changes, longest = changes+1, max(longest, length)
				source := instant.Changes[at].Task
				given := slices.ContainsFunc(inputs, func(in bt.Input) bool {
					above := source
					for in.Elapses() && above >= 0 && above != in.Task() {
						above = tree.Parent(above)
					}
					return in.Task() == above
				})
				if !given {
					t.Fatalf("seed %d: %v leads to %v, which had no input: %v\n%v\n%s", seed, instant.Changes[i],
						instant.Changes[at], inputs, instant.Changes, trees.Outline(d))
				}
			}
		}
	}
	t.Logf("%d changes, at most %d causes", changes, longest)
}

// The worked example of the law: the end of the surplus ends everything.
func TestCauseOfTheWorkedExample(t *testing.T) {
	d, err := trees.Parse("ReactiveSequence harvest\n  Condition surplus\n  Action potential\n")
	if err != nil {
		t.Fatal(err)
	}
	tree := trees.Compile(t, d)
	e := bt.NewEngine(tree, []bt.Input{bt.Set(0, true)}, 0)
	if _, err := e.Settle(nil); err != nil {
		t.Fatal(err)
	}
	instant, err := e.Settle([]bt.Input{bt.Set(0, false)})
	if err != nil {
		t.Fatal(err)
	}
	var log []string
	for i, c := range instant.Changes {
		log = append(log, fmt.Sprintf("%d %s: %s -> %s because of %d", i, tree.Name(c.Task), c.From, c.To,
			bt.Cause(tree, instant.Changes, i)))
	}
	want := `0 surplus: Success -> Failure because of -1
1 harvest: Running -> Aborted because of 0
2 potential: Running -> Deactivating because of 1
3 potential: Deactivating -> Accept because of 2
4 harvest: Aborted -> Deactivating because of 1
5 harvest: Deactivating -> Failure because of 4`
	if got := strings.Join(log, "\n"); got != want {
		t.Error(got)
	}
}
