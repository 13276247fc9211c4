// Package bt is the tree engine: it settles a behaviour tree after its leaves' inputs have changed.
//
// A Tree is compiled once from a description (Node) and never changes; it may be shared by any number of engines. An
// Engine holds all that changes and can be copied. A TickEngine comes to the same by ticking the whole tree. The rules
// are those of docs/semantics.md.
package bt

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Kind is the kind of a task, named as in BehaviorTree.CPP 4.
type Kind uint8

// The kinds: leaves, composites with one child that can be active at a time, parallels, decorators.
const (
	Condition Kind = iota
	Action
	Sequence
	Fallback
	ReactiveSequence
	ReactiveFallback
	Parallel
	ReactiveParallel
	Inverter
	ForceSuccess
	ForceFailure
)

var kindNames = [...]string{"Condition", "Action", "Sequence", "Fallback", "ReactiveSequence", "ReactiveFallback",
	"Parallel", "ReactiveParallel", "Inverter", "ForceSuccess", "ForceFailure"}

func (k Kind) String() string { return kindNames[k] }

// ParseKind returns the kind with the given name.
func ParseKind(s string) (Kind, bool) {
	i := slices.Index(kindNames[:], s)
	return Kind(max(i, 0)), i >= 0
}

// Kinds returns all kinds.
func Kinds() []Kind {
	kinds := make([]Kind, len(kindNames))
	for i := range kinds {
		kinds[i] = Kind(i)
	}
	return kinds
}

// IsLeaf reports whether tasks of the kind have no children.
func (k Kind) IsLeaf() bool { return k <= Action }

// IsParallel reports whether several children of a task of the kind can be active at a time.
func (k Kind) IsParallel() bool { return k == Parallel || k == ReactiveParallel }

// IsDecorator reports whether tasks of the kind have exactly one child.
func (k Kind) IsDecorator() bool { return k >= Inverter }

// Arity returns the least and the greatest number of children; most is -1 if there is no limit.
func (k Kind) Arity() (least, most int) {
	switch {
	case k.IsLeaf():
		return 0, 0
	case k.IsDecorator():
		return 1, 1
	}
	return 1, -1
}

// Node describes a task and its children. The counts are those of a Parallel or ReactiveParallel as written: a negative
// count c means n + 1 + c of n children, so that -1 means all. Other kinds ignore them.
type Node struct {
	Kind         Kind
	Name         string // empty: the kind's name
	Children     []*Node
	SuccessCount int
	FailureCount int
}

// Task is a task's post-order number: children come before their parents, left to right, and the root is the last.
type Task int32

// Tree is a compiled tree. It never changes.
type Tree struct {
	nodes      []node
	kids       []Task // the children of every composite, left to right, one composite after the other
	names      []string
	leaves     []Task
	find       map[string]Task
	composites int32
}

// node is what the engine must know of a task.
type node struct {
	parent    Task // -1: the root
	place     int32
	kids      int32 // where its children begin in Tree.kids
	n         int32 // how many they are
	composite int32 // number among the composites; -1: a leaf
	above     int32 // the parent's number among the composites
	success   int32 // the parallels: so many good children decide
	failure   int32 // so many bad children decide
	kind      Kind
	over      statusSet // sequences and fallbacks: the children that are passed over
}

// Compile returns the tree that a description stands for. It refuses an empty tree, a task with too few or too many
// children, and a parallel's count that is not in 1..n.
func Compile(root *Node) (*Tree, error) {
	if root == nil {
		return nil, errors.New("the tree is empty")
	}
	t := &Tree{}
	var own []string
	if _, err := t.add(root, &own, nil); err != nil {
		return nil, err
	}
	t.nodes[t.Root()].parent = -1
	t.nameTasks(own)
	return t, nil
}

// add appends the description's tasks, children first, and their own names.
func (t *Tree) add(d *Node, own *[]string, above []*Node) (Task, error) {
	name := d.Name
	if name == "" {
		name = d.Kind.String()
	}
	if slices.Contains(above, d) {
		return 0, fmt.Errorf("%s %q stands below itself", d.Kind, name)
	}
	if err := checkArity(d, name); err != nil {
		return 0, err
	}
	above = append(above, d)
	children := make([]Task, len(d.Children))
	for i, child := range d.Children {
		if child == nil {
			return 0, fmt.Errorf("child %d of %s %q is empty", i+1, d.Kind, name)
		}
		var err error
		if children[i], err = t.add(child, own, above); err != nil {
			return 0, err
		}
	}
	self := Task(len(t.nodes))
	n := node{kids: int32(len(t.kids)), n: int32(len(children)), composite: -1, kind: d.Kind, over: passedOver[d.Kind]}
	if d.Kind.IsLeaf() {
		t.leaves = append(t.leaves, self)
	} else {
		n.composite = t.composites
		t.composites++
	}
	if d.Kind.IsParallel() {
		var err error
		if n.success, n.failure, err = counts(d, name); err != nil {
			return 0, err
		}
	}
	for i, child := range children {
		t.nodes[child].parent, t.nodes[child].place, t.nodes[child].above = self, int32(i), n.composite
	}
	t.kids = append(t.kids, children...)
	t.nodes = append(t.nodes, n)
	*own = append(*own, name)
	return self, nil
}

func checkArity(d *Node, name string) error {
	least, most := d.Kind.Arity()
	n := len(d.Children)
	switch {
	case least == most && n != least:
		return fmt.Errorf("%s %q needs %d children and has %d", d.Kind, name, least, n)
	case n < least:
		return fmt.Errorf("%s %q needs at least %d child and has %d", d.Kind, name, least, n)
	}
	return nil
}

// counts returns a parallel's thresholds, both in 1..n.
func counts(d *Node, name string) (success, failure int32, err error) {
	n := len(d.Children)
	resolve := func(word string, c int) int32 {
		if c < 0 {
			c += n + 1
		}
		if (c < 1 || c > n) && err == nil {
			err = fmt.Errorf("%s of %s %q is not in 1..%d", word, d.Kind, name, n)
		}
		return int32(c)
	}
	success, failure = resolve("success_count", d.SuccessCount), resolve("failure_count", d.FailureCount)
	return success, failure, err
}

// nameTasks gives every task its name: its own name where that is unique in the tree, else the path from the root. Of
// siblings with one name all but the first carry their number in the path, as in XPath: root/a, root/a[2], root/a[3].
func (t *Tree) nameTasks(own []string) {
	uses := make(map[string]int, len(own))
	for _, name := range own {
		uses[name]++
	}
	steps := slices.Clone(own)
	for p := range t.nodes {
		seen := make(map[string]int, t.nodes[p].n)
		for _, child := range t.Children(Task(p)) {
			if uses[own[child]] == 1 {
				continue
			}
			seen[own[child]]++
			if k := seen[own[child]]; k > 1 {
				steps[child] += "[" + strconv.Itoa(k) + "]"
			}
		}
	}
	t.names = own
	t.find = make(map[string]Task, len(own))
	for task, name := range own {
		if uses[name] == 1 {
			t.find[name] = Task(task)
		}
	}
	for task := range own {
		if uses[own[task]] == 1 {
			continue
		}
		path := steps[task]
		for p := t.nodes[task].parent; p >= 0; p = t.nodes[p].parent {
			path = steps[p] + "/" + path
		}
		name := path
		for k := 2; ; k++ { // an own name that looks like a path may be taken already
			if _, taken := t.find[name]; !taken {
				break
			}
			name = path + "[" + strconv.Itoa(k) + "]"
		}
		t.find[name] = Task(task)
	}
	for name, task := range t.find {
		t.names[task] = name
	}
}

// Len returns the number of tasks.
func (t *Tree) Len() int { return len(t.nodes) }

// Root returns the root task, which has the greatest number.
func (t *Tree) Root() Task { return Task(len(t.nodes) - 1) }

// Kind returns a task's kind.
func (t *Tree) Kind(task Task) Kind { return t.nodes[task].kind }

// Name returns a task's name, unique in the tree: the name of its Node, or the kind's name if that is empty, where this
// is unique, else the path of such names from the root, joined by "/".
func (t *Tree) Name(task Task) string { return t.names[task] }

// Parent returns a task's parent, -1 for the root.
func (t *Tree) Parent(task Task) Task { return t.nodes[task].parent }

// Children returns a task's children from left to right. The caller must not change the slice.
func (t *Tree) Children(task Task) []Task {
	n := &t.nodes[task]
	return t.kids[n.kids : n.kids+n.n : n.kids+n.n]
}

// Leaves returns all leaves from left to right. The caller must not change the slice.
func (t *Tree) Leaves() []Task { return t.leaves }

// Find returns the task with the given name.
func (t *Tree) Find(name string) (Task, bool) {
	task, ok := t.find[name]
	return task, ok
}

// Counts returns how many good children make a Parallel or ReactiveParallel succeed and how many bad ones make it fail,
// both in 1..n. They are 0 for other kinds.
func (t *Tree) Counts(task Task) (success, failure int) {
	return int(t.nodes[task].success), int(t.nodes[task].failure)
}
