package verify

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/document/script"
	"github.com/canopy-uav/canopy/formalism/picture"
	"github.com/canopy-uav/canopy/formalism/translate"
	"github.com/canopy-uav/canopy/internal/trees"
)

// TestEachKind puts each row of the table of kinds through all that reads it: reading and writing of plans, drawings,
// verification, reaction, comparison, state graphs; a counterexample is a trace script. Nothing panics, and every
// question is answered. The engines take each kind from the same table (bt.TestRandom).
func TestEachKind(t *testing.T) {
	for _, kind := range bt.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			for seed := range uint64(40) {
				eachKind(t, kind, rand.New(rand.NewPCG(7, seed)), !testing.Short() || seed < 3)
			}
		})
	}
}

func eachKind(t *testing.T, kind bt.Kind, r *rand.Rand, ask bool) {
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
	var drawn strings.Builder
	if err := errors.Join(plan.Write(&drawn, p), plan.Text(&drawn, p, nil), picture.SVG(&drawn, p)); err != nil {
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
