package bt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestKinds(t *testing.T) {
	for _, k := range Kinds() {
		if parsed, ok := ParseKind(k.String()); !ok || parsed != k {
			t.Errorf("%s is parsed as %s, %v", k, parsed, ok)
		}
		least, most := k.Arity()
		if k.IsLeaf() != (most == 0) || k.IsDecorator() != (most == 1) || !k.IsLeaf() && least != 1 {
			t.Errorf("%s: arity %d..%d", k, least, most)
		}
	}
	if k, ok := ParseKind("Repeat"); ok {
		t.Errorf("Repeat is a %s", k)
	}
}

func TestCompileRefuses(t *testing.T) {
	leaf := &Node{Kind: Condition, Name: "c"}
	loop := &Node{Kind: Inverter, Name: "loop"}
	loop.Children = []*Node{{Kind: Inverter, Children: []*Node{loop}}}
	for want, d := range map[string]*Node{
		"the tree is empty":                                  nil,
		`Condition "c" needs 0 children and has 1`:           {Kind: Condition, Name: "c", Children: []*Node{leaf}},
		`Inverter "Inverter" needs 1 children and has 2`:     {Kind: Inverter, Children: []*Node{leaf, leaf}},
		`Fallback "Fallback" needs at least 1 child and has`: {Kind: Fallback},
		`child 2 of Sequence "s" is empty`:                   {Kind: Sequence, Name: "s", Children: []*Node{leaf, nil}},
		`success_count of Parallel "p" is not in 1..1`: {Kind: Parallel, Name: "p", FailureCount: 1,
			Children: []*Node{leaf}},
		`Inverter "loop" stands below itself`: loop,
	} {
		if _, err := Compile(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestTree reads back what was compiled.
func TestTree(t *testing.T) {
	tree := compiledOutline(t, `Fallback r
  Sequence s
    Condition c
    Action a
  Parallel p success=-2 failure=1
    Condition d
    Action b
  Inverter
    Action x
`)
	var names []string
	for i := range tree.Len() {
		task := Task(i)
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
	if !slices.Equal(tree.Leaves(), []Task{0, 1, 3, 4, 6}) || tree.Root() != 8 || tree.Parent(8) != -1 {
		t.Errorf("leaves %v, root %d", tree.Leaves(), tree.Root())
	}
	if s, f := tree.Counts(5); s != 1 || f != 1 {
		t.Errorf("counts %d, %d", s, f)
	}
	if s, f := tree.Counts(8); s != 0 || f != 0 {
		t.Errorf("a fallback has counts %d, %d", s, f)
	}
	if _, ok := tree.Find("nobody"); ok {
		t.Error("nobody is found")
	}
}

// TestNamesAreUnique includes names that look like paths.
func TestNamesAreUnique(t *testing.T) {
	leaf := func(name string) *Node { return &Node{Kind: Condition, Name: name} }
	children := []*Node{leaf("a"), leaf("a"), leaf("r/a"), leaf("r/a[2]"), leaf("a")}
	tree := compiled(t, &Node{Kind: Fallback, Name: "r", Children: children})
	seen := map[string]bool{}
	for i := range tree.Len() {
		seen[tree.Name(Task(i))] = true
	}
	if len(seen) != tree.Len() || !seen["r/a"] || !seen["r/a[3]"] {
		t.Errorf("names %v", seen)
	}
}

// TestMisuse lists the calls that panic.
func TestMisuse(t *testing.T) {
	e := engineOf(t, swapTree())
	c, _ := e.tree.Find("c")
	a, _ := e.tree.Find("a")
	for want, call := range map[string]func(){
		"bt: a truth value":        func() { _, _ = e.Settle([]Input{Set(a, true)}) },
		"bt: an action's input":    func() { _, _ = e.Settle([]Input{Request(c, Success)}) },
		"bt: a request is":         func() { Request(a, Running) },
		"bt: an outcome is":        func() { End(a, Accept) },
		"bt: the limit of event":   func() { NewEngine(e.tree, nil, -1) },
		"bt: the limit of ticks":   func() { NewTickEngine(e.tree, nil, -1) },
		"bt: an engine was copied": func() { e.CopyFrom(engineOf(t, swapTree())) },
		"bt: a tick engine was copied": func() {
			NewTickEngine(e.tree, nil, 0).CopyFrom(NewTickEngine(compiled(t, swapTree()), nil, 0))
		},
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
	tree := compiled(t, swapTree())
	task := func(name string) Task {
		task, ok := tree.Find(name)
		if !ok {
			t.Fatal(name)
		}
		return task
	}
	e := NewEngine(tree, []Input{Set(task("c"), true), Slow(task("a"), true, false), Request(task("g"), Failure),
		End(task("a"), Success)}, 0)
	if e.Status(task("c")) != Success || e.Status(task("one")) != Accept || e.Status(task("g")) != Failure {
		t.Error("the initial inputs are not judged")
	}
	if i := settle(t, e); i.Changes[0].Task != task("a") || e.Status(task("a")) != Activating {
		t.Errorf("first settling %v", i)
	}
	if settle(t, e, Entered(task("a"))); e.Status(task("a")) != Running {
		t.Error("an outcome was told to an action that was not active, and counted")
	}
}

// TestLoopError cuts an instant short and lets Halt run what is still to be run.
func TestLoopError(t *testing.T) {
	e := NewEngine(compiled(t, swapTree()), nil, 1)
	_, err := e.Settle(nil)
	if !errors.Is(err, ErrLoop) {
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
	for i := range e.tree.Len() {
		if task := Task(i); e.Active(task) || !e.Status(task).Transient() {
			t.Errorf("%s is %s, active %v", e.tree.Name(task), e.Status(task), e.Active(task))
		}
	}
}
