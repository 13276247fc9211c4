// Package bt is the tree engine: it settles a behaviour tree after its leaves' inputs have changed.
//
// A Tree is compiled once from a description (Node) and never changes; it may be shared by any number of engines. An
// Engine holds all mutable state and can be copied. Each kind of task is defined by a row of the table of kinds.
// docs/semantics.md states the rules.
package bt

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Node describes a task and its children.
type Node struct {
	Kind     Kind
	Name     string // empty: the kind's name
	Children []*Node
	Params   []int    // the values of the kind's parameters, in their order; nil: the defaults
	Trees    []string // the names of the subtrees of which it is the root, from the outside: steps of its path
	Wraps    bool     // it is an attribute of its last child: paths leave its name out
	Prompt   bool     // of an action: it ends at the instant at which it is activated, as a script does
}

// Task is a task's post-order number: children come before their parents, left to right, and the root is the last.
type Task int32

// Tree is a compiled tree. It never changes.
type Tree struct {
	nodes      []node
	kids       []Task // the children of every composite, left to right, one composite after the other; the root
	names      []string
	steps      [][]string // by task: its own name, and those of the subtrees of which it is the root, from the inside
	leaves     []Task
	find       map[string]Task
	kinds      []Kind
	params     [][]int // by task; a number of children is in 0..n
	composites int32
	scripts    []scriptTask
	timers     []Task
	shared     [][]Task // by resource: the guards that need it, two or more
	lasting    [][]Task // by task: the conditions that last until it has ended; nil: there are none
}

// Counts are the thresholds of a task of the family Count with n children.
type Counts struct {
	Enough  int32 // the number of good children that make it succeed, 1..n; 0: it always does; n+1: it never does
	TooMany int32 // the number of bad children that make it fail, or that rule out success, 1..n; 0: any; n+1: none does
	Quorum  int32 // n if it returns only once no child is undecided, and then fails or succeeds by TooMany; else 0
	Lenient bool  // skipped children count as good ones
}

// node is the engine's view of a task.
type node struct {
	up        *node // its parent; nil: the root
	parent    Task  // -1: the root
	slot      int32 // its index in Tree.kids
	kids      int32 // index of its first child in Tree.kids
	n         int32 // number of children
	composite int32 // number among the composites; -1: a leaf
	Counts
	script  int32 // Script: its number among the scripts
	shared  int32 // its place in Tree.shared, from 1; 0: it needs no shared resource
	quick   bool  // once it is active, it ends within an instant: no action below it takes time, and it never waits
	prompt  bool  // see Tree.Prompt
	prompts bool  // it has a prompt child
	family  Family
	memory  bool
	over    statusSet    // Chain: the effective statuses that are passed over
	verdict [room]Status // Chain: by the effective status of the child that decides
}

// InOrder visits the leaves in the order in which a tick reaches them: from left to right, but a postcondition's action
// after the node.
func (t *Tree) InOrder(visit func(leaf Task)) { t.inOrder(t.Root(), visit) }

func (t *Tree) inOrder(task Task, visit func(leaf Task)) {
	children := t.Children(task)
	if kinds[t.kinds[task]].effect != "" {
		t.inOrder(children[1], visit)
		children = children[:1]
	}
	for _, child := range children {
		t.inOrder(child, visit)
	}
	if len(children) == 0 && t.nodes[task].family == Leaf {
		visit(task)
	}
}

// Compile returns the tree of a description. It rejects an empty tree, a task with too few or too many children, and an
// invalid parameter value.
func Compile(root *Node) (*Tree, error) {
	if root == nil {
		return nil, errors.New("the tree is empty")
	}
	t := &Tree{}
	var own naming
	if _, err := t.add(root, &own, nil); err != nil {
		return nil, err
	}
	top := &t.nodes[t.Root()]
	top.parent, top.slot = -1, int32(len(t.kids))
	t.kids = append(t.kids, t.Root())
	t.share()
	for i := range t.Root() {
		t.nodes[i].up = &t.nodes[t.nodes[i].parent]
	}
	t.nameTasks(own)
	return t, nil
}

// naming is the tasks' own names, and whether these are left out of paths.
type naming struct {
	own   []string
	wraps []bool
}

// add appends the description's tasks, children first, and their own names.
func (t *Tree) add(d *Node, own *naming, above []*Node) (Task, error) {
	name := d.Name
	if name == "" {
		name = d.Kind.String()
	}
	if slices.Contains(above, d) {
		return 0, fmt.Errorf("%s %q is its own descendant", d.Kind, name)
	}
	if err := checkArity(d, name); err != nil {
		return 0, err
	}
	law := &kinds[d.Kind]
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
	params, err := resolve(d, name)
	if err != nil {
		return 0, err
	}
	n := node{kids: int32(len(t.kids)), n: int32(len(children)), composite: t.composites, family: law.family,
		memory: law.memory}
	switch law.family {
	case Leaf:
		n.composite = -1
		t.leaves = append(t.leaves, self)
	case Chain:
		if n.over = says(law.over); n.over != 0 {
			n.over |= skipped
		}
		for s := range n.verdict {
			n.verdict[s] = d.Kind.Verdict(judgement[s])
		}
	case Count:
		n.Counts = law.counts(params, d.Params == nil || d.Params[0] < 0, int32(len(children)))
	case Script:
		n.script = int32(len(t.scripts))
	default:
		panic("bt: a kind of an unknown family")
	}
	if law.family != Leaf {
		t.composites++
	}
	for i, child := range children {
		t.nodes[child].parent, t.nodes[child].slot = self, n.kids+int32(i)
	}
	t.kids = append(t.kids, children...)
	t.nodes = append(t.nodes, n)
	steps := append(slices.Clone(d.Trees), name)
	slices.Reverse(steps)
	t.steps = append(t.steps, steps)
	t.kinds = append(t.kinds, d.Kind)
	t.params = append(t.params, params)
	if law.family == Script {
		a, limit := t.Automaton(self)
		t.scripts = append(t.scripts, scriptTask{a, limit})
		if a.timed() {
			t.timers = append(t.timers, self)
		}
	}
	t.quicken(self, d.Prompt)
	own.own, own.wraps = append(own.own, name), append(own.wraps, d.Wraps || d.Kind.Attributed())
	return self, nil
}

// quicken notes whether a task is quick and prompt, those below it first; of an action, prompt is given.
func (t *Tree) quicken(task Task, prompt bool) {
	n := &t.nodes[task]
	n.quick = prompt || !kinds[t.kinds[task]].acts
	if _, shared := t.param(task, Resource); shared {
		n.quick = false
	}
	if n.family == Script {
		a, _ := t.Automaton(task)
		n.quick = n.quick && !slices.ContainsFunc(a.states, func(s state) bool {
			return s.after > 0 || s.child == nobody && s.says == Accept || s.on[Success].again || s.on[Failure].again
		})
	}
	n.prompt = prompt
	for _, child := range t.Children(task) {
		n.quick = n.quick && t.nodes[child].quick
		n.prompt = n.prompt || t.nodes[child].prompt
		n.prompts = n.prompts || t.nodes[child].prompt
	}
	n.prompt = n.prompt && n.quick
}

// Prompt reports whether a task ends at the instant at which it is activated, and can be: below it are scripts, but no
// other action, and nothing that waits.
func (t *Tree) Prompt(task Task) bool { return t.nodes[task].prompt }

// Revised reports whether a held result of a task ends when the judgement of a leaf below it changes.
func (t *Tree) Revised(task Task) bool { return t.nodes[task].revised() }

func checkArity(d *Node, name string) error {
	least, most := d.Kind.Arity()
	n := len(d.Children)
	switch {
	case least == most && n != least:
		return fmt.Errorf("%s %q needs %d children and has %d", d.Kind, name, least, n)
	case n < least:
		return fmt.Errorf("%s %q needs at least %d child and has %d", d.Kind, name, least, n)
	case most >= 0 && n > most:
		return fmt.Errorf("%s %q needs at most %d children and has %d", d.Kind, name, most, n)
	}
	return nil
}

// resolve returns the values of a description's parameters.
func resolve(d *Node, name string) ([]int, error) {
	declared := d.Kind.Params()
	if d.Params != nil && len(d.Params) != len(declared) {
		return nil, fmt.Errorf("%s %q needs %d parameters and has %d", d.Kind, name, len(declared), len(d.Params))
	}
	var values []int
	for i, p := range declared {
		value := p.Default
		if d.Params != nil {
			value = d.Params[i]
		}
		if d.Params == nil && p.Default == 0 {
			return nil, fmt.Errorf("%s of %s %q is not given", p.Name, d.Kind, name)
		}
		resolved, ok := p.Resolve(value, len(d.Children))
		if !ok {
			return nil, fmt.Errorf("%s of %s %q is not in %s", p.Name, d.Kind, name, p.Range(len(d.Children)))
		}
		values = append(values, resolved)
	}
	return values, nil
}

// nameTasks names every task: by its own name where that is unique in the tree, else by the path from the root.
// Siblings with the same name, except the first, carry their number in the path, as in XPath: root/a, root/a[2],
// root/a[3]. What an attribute of a task stands for changes no other task's name.
func (t *Tree) nameTasks(n naming) {
	own := n.own
	uses := make(map[string]int, len(own))
	for _, name := range own {
		uses[name]++
	}
	steps := slices.Clone(own)
	for p := range t.nodes {
		if n.wraps[p] && t.nodes[p].parent >= 0 {
			continue
		}
		seen := make(map[string]int, t.nodes[p].n)
		t.below(Task(p), n.wraps, func(child Task) {
			if uses[own[child]] == 1 {
				return
			}
			seen[own[child]]++
			if k := seen[own[child]]; k > 1 {
				steps[child] += "[" + strconv.Itoa(k) + "]"
			}
		})
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
			if !n.wraps[p] {
				path = steps[p] + "/" + path
			}
		}
		name := path
		for k := 2; ; k++ { // a task's own name may already equal this path
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

// below visits a task's children, and those of the children whose names are no steps of paths.
func (t *Tree) below(task Task, wraps []bool, visit func(Task)) {
	for _, child := range t.Children(task) {
		visit(child)
		if wraps[child] {
			t.below(child, wraps, visit)
		}
	}
}

// Len returns the number of tasks.
func (t *Tree) Len() int { return len(t.nodes) }

// Root returns the root task, which has the highest number.
func (t *Tree) Root() Task { return Task(len(t.nodes) - 1) }

// Kind returns a task's kind.
func (t *Tree) Kind(task Task) Kind { return t.kinds[task] }

// Name returns a task's name, unique in the tree: the name of its Node (the kind's name if that is empty) where this is
// unique, else the path of such names from the root, joined by "/".
func (t *Tree) Name(task Task) string { return t.names[task] }

// Names returns the names of tasks.
func (t *Tree) Names(tasks []Task) (names []string) {
	for _, task := range tasks {
		names = append(names, t.names[task])
	}
	return names
}

// Parent returns a task's parent, -1 for the root.
func (t *Tree) Parent(task Task) Task { return t.nodes[task].parent }

// Idle reports whether a task never runs: its assignments are made when its parent is halted.
func (t *Tree) Idle(task Task) bool {
	p := t.Parent(task)
	return p >= 0 && t.kinds[p].Halts() && t.Children(p)[0] == task
}

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

// Resolve returns the tasks that a name or path means: the task with that name, else those whose own name is the last
// step of the path, and that are below tasks or in subtrees with the names of the other steps, in this order; steps may
// be left out.
func (t *Tree) Resolve(name string) []Task {
	if task, ok := t.find[name]; ok {
		return []Task{task}
	}
	path := strings.Split(name, "/")
	last := len(path) - 1
	var tasks []Task
	for task := range Task(len(t.nodes)) {
		if t.steps[task][0] != path[last] {
			continue
		}
		rest := path[:last]
		for at, k := task, 1; at >= 0 && len(rest) > 0; at, k = t.nodes[at].parent, 0 {
			for _, step := range t.steps[at][k:] {
				if len(rest) > 0 && step == rest[len(rest)-1] {
					rest = rest[:len(rest)-1]
				}
			}
		}
		if len(rest) == 0 {
			tasks = append(tasks, task)
		}
	}
	return tasks
}

// Params returns the values of a task's parameters in the order of its kind; a number of children is in 0..n. The
// caller must not change the slice.
func (t *Tree) Params(task Task) []int { return t.params[task] }

// Counts returns the thresholds of a task of the family Count. It panics if the task is of another family.
func (t *Tree) Counts(task Task) Counts {
	n := &t.nodes[task]
	if n.family != Count {
		panic("bt: only a Count has counts")
	}
	return n.Counts
}
