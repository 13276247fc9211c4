package bt_test

import (
	"fmt"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/diag"
	"canopy/document/script"
	"canopy/internal/golden"
	"canopy/internal/trees"
)

// TestConformance runs the cases of testdata/btcpp: what BehaviorTree.CPP does. The directive case has an outline and
// then a script, whose lines begin with >. The answer has a line for each instant: the actions that run, in the order
// of the tree, "waits" if there are none, or the root's result, with which a case ends unless it is only judged. The
// engine and the model of BehaviorTree.CPP (TestBehaviorTreeCpp) must both answer so.
func TestConformance(t *testing.T) {
	golden.Run(t, func() golden.Machine { return conform }, "testdata/btcpp/*.txt")
}

func conform(t *testing.T, d golden.Directive) string {
	if d.Name != "case" {
		t.Fatalf("%s: unknown directive %q", d.At, d.Name)
	}
	outline, lines, _ := strings.Cut(d.Input+"\n", "\n>")
	root, err := trees.Parse(outline)
	if err != nil {
		t.Fatalf("%s: %v", d.At, err)
	}
	tree := trees.Compile(t, root)
	_, instants, list := script.Parse(tree, &diag.Source{Name: d.At, Text: strings.ReplaceAll(lines, "\n>", "\n")})
	if list != nil {
		t.Fatal(list)
	}
	e, model := bt.NewEngine(tree, nil, 0), newCpp(root)
	var b strings.Builder
	for i, line := range append([]script.Line{{}}, instants...) {
		instant, err := e.Settle(line.Inputs)
		if err != nil {
			t.Fatalf("%s: %v", d.At, err)
		}
		result, over := rootResult(e, instant)
		got := answer(tree, result, func(t bt.Task) bool { return e.Status(t) == bt.Running })
		want, rest := cppInstant(model, line.Inputs)
		ticked := answer(tree, want, func(t bt.Task) bool { return model[t].status == cppRunning })
		if !rest || ticked != got {
			t.Errorf("%s: instant %d: %s, but the model of BehaviorTree.CPP: %s", d.At, i, got, ticked)
		}
		fmt.Fprintln(&b, got)
		if over {
			break
		}
	}
	return b.String()
}

// answer writes the root's result, or else which actions run.
func answer(tree *bt.Tree, result cppStatus, runs func(bt.Task) bool) string {
	if result != cppRunning {
		return [...]string{cppSuccess: "success", cppFailure: "failure", cppSkipped: "skipped"}[result]
	}
	var names []string
	for _, t := range tree.Leaves() {
		if tree.Kind(t).Acts() && runs(t) {
			names = append(names, tree.Name(t))
		}
	}
	if len(names) == 0 {
		return "waits"
	}
	return strings.Join(names, " ")
}
