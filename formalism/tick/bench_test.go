package tick_test

import (
	"testing"

	"canopy/bt"
	"canopy/formalism/tick"
	"canopy/internal/trees"
)

// alternate settles two sets of inputs in turn.
func alternate(b *testing.B, e interface {
	Settle([]bt.Input) (bt.Instant, error)
}, one, other []bt.Input) {
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		inputs := one
		if i%2 == 1 {
			inputs = other
		}
		if _, err := e.Settle(inputs); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTick sets both engines side by side on a reactive tree of ten tasks and one of 1,024 leaves. Nothing: no
// input has changed, and the tree is ticked once; that is what the figures above for BehaviorTree.CPP and the closure
// tree are to be compared with. Flip: one leaf changes, and in the large tree every task up to the root with it. Swap:
// activity is taken from one action and given to another. The tick engine visits every task at each tick, the other one
// what has changed.
func BenchmarkTick(b *testing.B) {
	big := wide(1024, bt.ReactiveFallback)
	small := trees.Compile(b, swapTree())
	c, _ := small.Find("c")
	d, _ := small.Find("d")
	leaf := trees.Compile(b, big).Leaves()[1]
	for _, bench := range []struct {
		name       string
		tree       *bt.Node
		one, other []bt.Input
	}{
		{"nothing/10", swapTree(), nil, nil},
		{"nothing/1024", big, nil, nil},
		{"flip/10", swapTree(), []bt.Input{bt.Set(d, true)}, []bt.Input{bt.Set(d, false)}},
		{"flip/1024", big, []bt.Input{bt.Set(leaf, true)}, []bt.Input{bt.Set(leaf, false)}},
		{"swap/10", swapTree(), []bt.Input{bt.Set(c, true)}, []bt.Input{bt.Set(c, false)}},
	} {
		b.Run(bench.name+"/tick", func(b *testing.B) {
			alternate(b, tick.NewEngine(trees.Compile(b, bench.tree), nil, 0), bench.one, bench.other)
		})
		b.Run(bench.name+"/event", func(b *testing.B) {
			alternate(b, bt.NewEngine(trees.Compile(b, bench.tree), nil, 0), bench.one, bench.other)
		})
	}
}
