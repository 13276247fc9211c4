package bt_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"canopy/bt"
	"canopy/internal/trees"
)

// TestLaw: after each instant of random trees, the engine's decision of each task is that of the law (bt.Decide) in
// truth values, by the judgements of its children; those that are pinned are counted first.
func TestLaw(t *testing.T) {
	compared := map[bt.Status]int{}
	for seed := range uint64(trees.Count(20_000, 1_000)) {
		r := rand.New(rand.NewPCG(15, seed))
		d := trees.Random(r, 2+r.IntN(20))
		tree := trees.Compile(t, d)
		e := bt.NewEngine(tree, nil, 0)
		for range 8 {
			if _, err := e.Settle([]bt.Input{trees.Input(r, tree, e.Status)}); err != nil {
				break // a script repeats without end
			}
			for task := range bt.Task(tree.Len()) {
				if f := tree.Kind(task).Family(); f != bt.Chain && f != bt.Count {
					continue
				}
				rule := tree.Rule(task, nil)
				rule.Children = slices.Clone(rule.Children)
				slices.SortStableFunc(rule.Children, func(a, b bt.Task) int { return unpinned(e, a) - unpinned(e, b) })
				says := bt.Verdict(bt.Decide(bt.Truth{}, &rule, func(child bt.Task, _ bool) bt.Judgement[bool] {
					is := e.Status(child)
					if held, ok := e.Held(child); ok {
						is = held
					}
					return bt.JudgedAs(is.Judgement())
				}))
				if compared[says]++; e.Verdict(task) != says {
					t.Fatalf("seed %d: %s is %v, by the law %v\n%s", seed, tree.Name(task), e.Verdict(task), says, trees.Outline(d))
				}
			}
		}
	}
	for _, is := range []bt.Status{bt.Success, bt.Failure, bt.Accept, bt.Skipped} {
		if compared[is] < 100 {
			t.Errorf("only %d verdicts are %v", compared[is], is)
		}
	}
}

func unpinned(e *bt.Engine, t bt.Task) int {
	if e.Pinned(t) {
		return 0
	}
	return 1
}

// TestLawOfScripts: by judgements that are not about ends, an automaton decides, from its first state, as the steps of
// its course, and wants the same child.
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
