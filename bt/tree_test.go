package bt_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
)

func TestKinds(t *testing.T) {
	for _, k := range bt.Kinds() {
		if parsed, ok := bt.ParseKind(k.String()); !ok || parsed != k {
			t.Errorf("%s is parsed as %s, %v", k, parsed, ok)
		}
		least, most := k.Arity()
		leaf := k.Family() == bt.Leaf
		if childless := leaf || k.Childless(); childless != (most == 0) || childless != (least == 0) ||
			most >= 0 && most < least || leaf != (k.Symbol() == "") || k.Acts() && !leaf || k.Text() == "" {
			t.Errorf("%s: a row that is not whole", k)
		}
	}
	if k, ok := bt.ParseKind("sequence"); ok {
		t.Errorf("sequence is a %s", k)
	}
}

func TestCompileRefuses(t *testing.T) {
	leaf := &bt.Node{Kind: bt.Condition, Name: "c"}
	loop := &bt.Node{Kind: bt.Inverter, Name: "loop"}
	loop.Children = []*bt.Node{{Kind: bt.Inverter, Children: []*bt.Node{loop}}}
	for want, d := range map[string]*bt.Node{
		"the tree is empty":                                  nil,
		`Condition "c" needs 0 children and has 1`:           {Kind: bt.Condition, Name: "c", Children: []*bt.Node{leaf}},
		`Inverter "Inverter" needs 1 children and has 2`:     {Kind: bt.Inverter, Children: []*bt.Node{leaf, leaf}},
		`Fallback "Fallback" needs at least 1 child and has`: {Kind: bt.Fallback},
		`child 2 of Sequence "s" is empty`:                   {Kind: bt.Sequence, Name: "s", Children: []*bt.Node{leaf, nil}},
		`success_count of Parallel "p" is not in 0..1`: {Kind: bt.Parallel, Name: "p", Params: []int{-2, 1},
			Children: []*bt.Node{leaf}},
		`Inverter "loop" is its own descendant`: loop,
		`IfThenElse "i" needs at most 3 children and has 4`: {Kind: bt.IfThenElse, Name: "i",
			Children: []*bt.Node{leaf, leaf, leaf, leaf}},
		`num_attempts of RetryUntilSuccessful "r" is not given`: {Kind: bt.RetryUntilSuccessful, Name: "r",
			Children: []*bt.Node{leaf}},
		`num_attempts of RetryUntilSuccessful "r" is not in 0, 1, ... or -1`: {Kind: bt.RetryUntilSuccessful, Name: "r",
			Params: []int{-2}, Children: []*bt.Node{leaf}},
		`needs 1 parameters and has 2`: {Kind: bt.RetryUntilSuccessful, Params: []int{1, 1}, Children: []*bt.Node{leaf}},
	} {
		if _, err := bt.Compile(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestTree reads back what was compiled.
func TestTree(t *testing.T) {
	root, err := trees.Parse(`Fallback r
  Sequence s
    Condition c
    Action a
  Parallel p success=-2 failure=1
    Condition d
    Action b
  Inverter
    Action x
`)
	if err != nil {
		t.Fatal(err)
	}
	tree := trees.Compile(t, root)
	var names []string
	for i := range tree.Len() {
		task := bt.Task(i)
		names = append(names, tree.Name(task))
		if found, ok := tree.Find(tree.Name(task)); !ok || found != task {
			t.Errorf("Find(%q) = %d, %v", tree.Name(task), found, ok)
		}
		for _, child := range tree.Children(task) {
			if tree.Parent(child) != task || child >= task {
				t.Errorf("task %d has parent %d", child, tree.Parent(child))
			}
		}
	}
	if got, want := strings.Join(names, " "), "c a s d b p x Inverter r"; got != want {
		t.Errorf("post-order %s, want %s", got, want)
	}
	if !slices.Equal(tree.Leaves(), []bt.Task{0, 1, 3, 4, 6}) || tree.Root() != 8 || tree.Parent(8) != -1 {
		t.Errorf("leaves %v, root %d", tree.Leaves(), tree.Root())
	}
	if c := tree.Counts(5); c != (bt.Counts{Enough: 1, TooMany: 1, Lenient: true}) {
		t.Errorf("counts %+v", c)
	}
	if _, ok := tree.Find("nobody"); ok {
		t.Error("nobody is found")
	}
}

// TestNamesAreUnique includes names that look like paths.
func TestNamesAreUnique(t *testing.T) {
	leaf := func(name string) *bt.Node { return &bt.Node{Kind: bt.Condition, Name: name} }
	children := []*bt.Node{leaf("a"), leaf("a"), leaf("r/a"), leaf("r/a[2]"), leaf("a")}
	tree := trees.Compile(t, &bt.Node{Kind: bt.Fallback, Name: "r", Children: children})
	seen := map[string]bool{}
	for i := range tree.Len() {
		seen[tree.Name(bt.Task(i))] = true
	}
	if len(seen) != tree.Len() || !seen["r/a"] || !seen["r/a[3]"] {
		t.Errorf("names %v", seen)
	}
}

// TestMisuse lists the calls that panic.
func TestMisuse(t *testing.T) {
	e := engineOf(t, swapTree())
	c, _ := e.Tree().Find("c")
	a, _ := e.Tree().Find("a")
	for want, call := range map[string]func(){
		"bt: a truth value":        func() { _, _ = e.Settle([]bt.Input{bt.Set(a, true)}) },
		"bt: an action's input":    func() { _, _ = e.Settle([]bt.Input{bt.Request(c, bt.Success)}) },
		"bt: a request is":         func() { bt.Request(a, bt.Running) },
		"bt: a request is Accept":  func() { bt.Request(a, bt.Skipped) },
		"bt: an outcome is":        func() { bt.End(a, bt.Accept) },
		"bt: the limit of event":   func() { bt.NewEngine(e.Tree(), nil, -1) },
		"bt: an engine was copied": func() { e.CopyFrom(engineOf(t, swapTree())) },
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.HasPrefix(text, want) {
					t.Errorf("%q, want %q", text, want)
				}
			}()
			call()
		}()
	}
}

// TestInitialInputs gives leaves other inputs than false and accept to start with.
func TestInitialInputs(t *testing.T) {
	tree := trees.Compile(t, swapTree())
	task := func(name string) bt.Task {
		task, ok := tree.Find(name)
		if !ok {
			t.Fatal(name)
		}
		return task
	}
	e := bt.NewEngine(tree, []bt.Input{bt.Set(task("c"), true), bt.Slow(task("a"), true, false), bt.Request(task("g"), bt.Failure),
		bt.End(task("a"), bt.Success)}, 0)
	if e.Status(task("c")) != bt.Success || e.Status(task("one")) != bt.Accept || e.Status(task("g")) != bt.Failure {
		t.Error("the initial inputs are not judged")
	}
	if i := settle(t, e); i.Changes[0].Task != task("a") || e.Status(task("a")) != bt.Activating {
		t.Errorf("first settling %v", i)
	}
	if settle(t, e, bt.Entered(task("a"))); e.Status(task("a")) != bt.Running {
		t.Error("an outcome was told to an action that was not active, and counted")
	}
}

// TestLoopError cuts an instant short and lets Halt run what is still to be run.
func TestLoopError(t *testing.T) {
	e := bt.NewEngine(trees.Compile(t, swapTree()), nil, 1)
	_, err := e.Settle(nil)
	if !errors.Is(err, bt.ErrLoop) {
		t.Fatal(err)
	}
	instant := e.Halt()
	entries, exits := 0, 0
	for _, c := range instant.Commands {
		if c.Exit {
			exits++
		} else {
			entries++
		}
	}
	if entries != 1 || exits != 1 {
		t.Errorf("commands %v", instant.Commands)
	}
	for i := range e.Tree().Len() {
		if task := bt.Task(i); e.Active(task) || !e.Status(task).Transient() {
			t.Errorf("%s is %s, active %v", e.Tree().Name(task), e.Status(task), e.Active(task))
		}
	}
}

// Paths leave out a task that stands for an attribute of the one inside.
func TestNamesInsideOfAttributes(t *testing.T) {
	fly := func() *bt.Node {
		return &bt.Node{Kind: bt.Timeout, Name: "fly.timeout", Params: []int{1}, Wraps: true,
			Children: []*bt.Node{{Kind: bt.Action, Name: "fly"}}}
	}
	tree, err := bt.Compile(&bt.Node{Kind: bt.Sequence, Name: "s", Children: []*bt.Node{fly(),
		{Kind: bt.Fallback, Name: "f", Children: []*bt.Node{fly()}}}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for task := range bt.Task(tree.Len()) {
		names = append(names, tree.Name(task))
	}
	if want := []string{"s/fly", "s/fly.timeout", "s/f/fly", "s/f/fly.timeout", "f", "s"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}
