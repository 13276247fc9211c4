package verify

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/diag"
	"canopy/document/declare"
	"canopy/document/plan"
	"canopy/document/script"
	"canopy/formalism/tick"
	"canopy/formalism/translate"
	"canopy/internal/trees"
)

// TestEachKind puts each row of the table of kinds through all that reads it: both engines, the conventional tick, a
// trace script, reading and writing of plans, drawings, verification, reaction, state graphs. Nothing panics, the
// engines agree step by step, and every question is answered.
// The sweeps of package bt take each kind from the same table (bt.TestRandom).
func TestEachKind(t *testing.T) {
	for _, kind := range bt.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			reached, wanted := map[bt.Status]bool{}, map[bt.Status]bool{}
			for seed := range uint64(40) {
				ask := !testing.Short() || seed < 3
				eachKind(t, kind, rand.New(rand.NewPCG(7, seed)), reached, wanted, ask)
			}
			for _, s := range slices.Sorted(maps.Keys(wanted)) {
				if wanted[s] && !reached[s] {
					t.Errorf("no task of the kind was ever %s", s)
				}
			}
		})
	}
}

// addPossible adds the statuses that the root of a tree may reach: a chain the values of its verdict map, a script what
// its automaton returns.
func addPossible(tree *bt.Tree, wanted map[bt.Status]bool) {
	root := tree.Root()
	kind := tree.Kind(root)
	for _, s := range []bt.Status{bt.Success, bt.Failure} {
		can := true
		switch kind.Family() {
		case bt.Leaf, bt.Count:
		case bt.Chain:
			can = kind.Verdict(bt.Success) == s || kind.Verdict(bt.Failure) == s
		case bt.Script:
			steps := tree.Course(root, func(_ bt.Task, be bt.Status) bool { return be == bt.Accept }).Steps
			can = slices.ContainsFunc(steps, func(c bt.CourseStep) bool { return c.Says == s })
		default:
			panic("verify: a kind of an unknown family")
		}
		wanted[s] = wanted[s] || can
	}
	for _, s := range []bt.Status{bt.Accept, bt.Activating, bt.Running, bt.Deactivating} {
		wanted[s] = kind.Family() != bt.Leaf && (!kind.Childless() || kind.Timer()) || kind.Acts()
	}
}

func eachKind(t *testing.T, kind bt.Kind, r *rand.Rand, reached, wanted map[bt.Status]bool, ask bool) {
	t.Helper()
	root := &bt.Node{Kind: kind}
	if kind.Family() != bt.Leaf {
		for range trees.Width(r, kind, 3) {
			root.Children = append(root.Children, &bt.Node{Kind: trees.Leaf(r)})
		}
		root.Params = trees.Params(r, kind, len(root.Children))
	}
	name := 0
	var leaves []plan.Leaf
	var visit func(n *bt.Node)
	visit = func(n *bt.Node) {
		name++
		n.Name = fmt.Sprint("n", name)
		for _, c := range n.Children {
			visit(c)
		}
		if n.Kind.Family() == bt.Leaf {
			leaves = append(leaves, plan.Leaf{})
		}
	}
	visit(root)
	p, list := plan.New("p", root, leaves)
	if p == nil {
		t.Fatalf("%v\n%s", list, trees.Outline(root))
	}
	addPossible(p.Tree, wanted)
	eachEngine(t, p.Tree, r, reached)
	var drawn strings.Builder
	if err := errors.Join(plan.Write(&drawn, p), plan.Text(&drawn, p, nil), plan.SVG(&drawn, p, nil),
		plan.DOT(&drawn, p)); err != nil {
		t.Error(err)
	}
	if least, _ := kind.Arity(); !ask || least > 5 { // its leaves have too many states, and a narrower kind has its automaton
		return
	}
	subject := declare.Subject{Plan: p}
	for _, l := range p.Tree.Leaves() { // some actions refuse and end at any time, but few enough that searches are not cut short
		if p.Tree.Kind(l).Acts() && len(subject.Declared.Free) < 2 && r.IntN(3) == 0 {
			subject.Declared.Free = append(subject.Declared.Free, p.Tree.Name(l))
		}
	}
	for _, f := range Check(subject) {
		if f.Verdict == Undecided {
			t.Errorf("%s of a %s: %s\n%s", f.Question, kind, f.Text, trees.Outline(root))
		}
		if f.Script != "" {
			src := &diag.Source{Name: "script", Text: f.Script}
			if err := script.Print(&plan.Plan{Tree: p.Tree}, src, nil, &drawn); err != nil {
				t.Error(err)
			}
		}
	}
	if c := compared(subject, subject, endless); c.Verdict != Proved {
		t.Errorf("a %s is not the same as itself: %s\n%s", kind, c.Text, trees.Outline(root))
	}
	if _, err := translate.StateGraph(p, translate.Assumptions{}); err != nil {
		t.Error(err)
	}
}

// eachEngine lets the engines react to the same inputs.
func eachEngine(t *testing.T, tree *bt.Tree, r *rand.Rand, reached map[bt.Status]bool) {
	t.Helper()
	events, ticks, old := bt.NewEngine(tree, nil, 0), tick.NewEngine(tree, nil, 0), tick.NewConventional(tree, nil)
	var inputs []bt.Input
	for range 20 {
		want, err := events.Settle(inputs)
		got, tickErr := ticks.Settle(inputs)
		if err != nil || tickErr != nil || events.Check() != nil {
			t.Fatal(err, tickErr, events.Check())
		}
		if msg := trees.Differ(events, ticks, want, got); msg != "" {
			t.Fatal(msg)
		}
		for _, c := range want.Changes {
			if c.Task == tree.Root() {
				reached[c.From], reached[c.To] = true, true
				if c.To.Ended() { // a Delay has no verdict before it is active
					reached[c.To.Judgement()] = true
				}
			}
		}
		reached[events.Status(tree.Root())] = true
		if len(tree.Leaves())+len(tree.Timers()) == 0 {
			continue
		}
		in := trees.Input(r, tree, events.Status)
		inputs = []bt.Input{in}
		if told := bt.NewTold(tree.Kind(in.Task())); !in.Elapses() && !told.Take(&in, tree.Kind(in.Task()), bt.Running) {
			continue // procedures that take time, which the conventional tick has not
		}
		old.Tick(inputs)
	}
}
