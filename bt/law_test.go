package bt_test

import (
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
)

// TestLawOfScripts: by judgements that are not about ends, an automaton decides, from its first state, as the steps of
// its course, and wants the same child. (TestRandom shows the law of chains and counts: a tick engine decides by it.)
func TestLawOfScripts(t *testing.T) {
	all := func(bt.Task, bt.Status) bool { return true }
	for _, kind := range bt.Kinds() {
		if kind.Family() != bt.Script {
			continue
		}
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(16, seed))
			d := &bt.Node{Kind: kind}
			for range trees.Width(r, kind, 4) {
				d.Children = append(d.Children, &bt.Node{Kind: bt.Action})
			}
			d.Params = trees.Params(r, kind, len(d.Children))
			tree := trees.Compile(t, d)
			root := tree.Root()
			as := map[bt.Task]bt.Status{}
			for _, child := range tree.Children(root) {
				as[child] = []bt.Status{bt.Success, bt.Success, bt.Failure, bt.Failure, bt.Skipped, bt.Accept}[r.IntN(6)]
			}
			a, limit := tree.Automaton(root)
			says, place, _ := a.Decide(bt.At{}, len(d.Children), limit, func(child int) (bt.Status, bool) {
				return as[tree.Children(root)[child]], false
			})
			want := bt.Task(-1)
			if place >= 0 {
				want = tree.Children(root)[place]
			}
			rule, wants := tree.Rule(root, all), bt.Task(-1)
			law := bt.Verdict(bt.Decide(bt.Truth{}, &rule, func(child bt.Task, in bool) bt.Judgement[bool] {
				if in && as[child] == bt.Accept {
					wants = child
				}
				return bt.JudgedAs(as[child])
			}))
			if says != law || want != wants {
				t.Fatalf("%s %v %v: %v, wants %d; by the law %v, wants %d", kind, d.Params, as, says, want, law, wants)
			}
		}
	}
}
