package bt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/script"
	"github.com/canopy-uav/canopy/internal/golden"
	"github.com/canopy-uav/canopy/internal/trees"
)

// TestConformance runs the cases of testdata/btcpp: what BehaviorTree.CPP does. The directive case has an outline and
// then a script, whose lines begin with >. The answer has a line for each instant: the actions that run, in the order
// of the tree, "waits" if there are none, or the root's result, with which a case ends unless it is only judged.
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
	e := bt.NewEngine(tree, nil, 0)
	var b strings.Builder
	for _, line := range append([]script.Line{{}}, instants...) {
		instant, err := e.Settle(line.Inputs)
		if err != nil {
			t.Fatalf("%s: %v", d.At, err)
		}
		text, over := answer(e, instant)
		if fmt.Fprintln(&b, text); over {
			break
		}
	}
	return b.String()
}

// answer writes the root's result after an instant, or else which actions run, and whether the root has ended.
func answer(e *bt.Engine, instant bt.Instant) (text string, over bool) {
	tree := e.Tree()
	result := e.Status(tree.Root()).Judgement()
	for _, c := range instant.Changes {
		if c.Task == tree.Root() && c.To.Ended() {
			result, over = c.To.Judgement(), true
		}
	}
	if result != bt.Accept {
		return strings.ToLower(result.String()), over
	}
	var names []string
	for _, t := range tree.Leaves() {
		if tree.Kind(t).Acts() && e.Status(t) == bt.Running {
			names = append(names, tree.Name(t))
		}
	}
	if len(names) == 0 {
		return "waits", over
	}
	return strings.Join(names, " "), over
}
