package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// compiler is the third pass: it makes the tree, its leaves and the entries of the blackboard.
type compiler struct {
	*document
	signals   Vocabulary               // with the entries; nil: neither names nor units are known
	scope     expr.Scope               // nil without a vocabulary
	read      map[*node]Leaf           // leaves that are the same in every use of their tree
	parts     int                      // of all expressions whose ports were replaced
	types     map[string]expr.Variable // of the entries, by their names
	watchers  map[nodeUse]*watcher
	watched   map[string][]*watcher // by the entry
	queues    map[nodeUse]*queue
	symbols   map[entryKey]*symbol // the entries of the plan that are no signals
	marks     int                  // by which writers tell watchers that an entry was written
	used      map[string]int       // see taken
	entryText int                  // bytes of the names that tell entries apart
	portText  int                  // bytes of the ports of free leaves

	leaves   []Leaf
	entries  []BlackboardEntry
	labels   []string // of all tasks
	elements []*xmltree.Element
}

// limits bounds what a plan is expanded to.
type limits struct {
	mostTasks, mostParts int
}

func newCompiler(doc *document) *compiler {
	c := &compiler{document: doc, signals: doc.signals,
		read: map[*node]Leaf{}, types: map[string]expr.Variable{},
		watchers: map[nodeUse]*watcher{}, watched: map[string][]*watcher{}, queues: map[nodeUse]*queue{},
		symbols: map[entryKey]*symbol{}}
	if c.signals != nil {
		c.scope = expr.Scope{}
		for name, s := range c.signals {
			c.scope[name] = s.variable()
		}
	}
	return c
}

// checkParts checks the expressions of models and trees that do not depend on ports, also those that are not used.
func (c *compiler) checkParts() {
	for _, id := range slices.Sorted(maps.Keys(c.models)) {
		if m := c.models[id]; !c.fromLibrary(m.element) {
			c.checkModel(m)
		}
	}
	for _, t := range c.order {
		if _, used := c.passed[t.id]; t.root != nil && (used || !c.fromLibrary(t.element)) {
			c.checkTree(t.root.core, c.inside(t))
		}
	}
}

// checkTree checks the expressions below a node that do not depend on the ports of its tree.
func (c *compiler) checkTree(n *node, env environment) {
	if n.subtree == nil && n.kind.Family() == bt.Leaf {
		c.leaf(n, env)
	}
	for _, child := range n.children {
		c.checkTree(child, env)
	}
}

// compile is the third pass: it makes a plan of the main tree with all subtrees, nil if there are errors.
func (c *compiler) compile(main *instance) *Plan {
	c.entries = c.board(main)
	root := c.node(main)
	c.writers(root, new(int))
	if c.found.HasErrors() {
		return nil
	}
	tree, err := bt.Compile(root)
	if err != nil {
		panic("plan: the tree engine refuses a tree without mistakes: " + err.Error())
	}
	lasting := map[bt.Task][]bt.Task{}
	for i, task := range tree.Leaves() {
		c.leaves[i].Task = task
		c.resolveUntil(tree, &c.leaves[i])
		lasting[task] = c.leaves[i].Until
	}
	c.checkGuards(tree)
	if c.found.HasErrors() {
		return nil
	}
	return &Plan{Source: c.source, Name: c.main.id, Tree: tree.Lasting(lasting), Leaves: c.leaves, Entries: c.entries,
		labels: c.labels, resources: c.resources, Document: c.doc, elements: c.elements}
}

// node compiles a task with those below it.
func (c *compiler) node(i *instance) *bt.Node {
	n := &bt.Node{Kind: i.kind, Name: i.name, Params: c.params(i), Wraps: i.wraps, Trees: i.trees}
	if i.kind.Family() == bt.Leaf {
		task := i.name
		if a := i.access; a != nil {
			if s, ok := a.does.(countStep); ok {
				task = s.of
			}
		}
		leaf := c.certain(c.measured(c.leaf(i.node, environment{scope: i.scope}), i.scope.path+task))
		if leaf.Free || i.coded {
			leaf.Ports, leaf.Defaults = c.ports(i, i.portValues()), c.ports(i, i.defaults())
		}
		n.Prompt = leaf.prompt()
		c.leaves = append(c.leaves, leaf)
	}
	for _, below := range i.below {
		if len(below.trees) == 0 || c.parts <= c.mostParts {
			n.Children = append(n.Children, c.node(below))
		}
	}
	c.labels, c.elements = append(c.labels, n.Name), append(c.elements, i.element)
	return n
}

// params returns the values of a task's parameters.
func (c *compiler) params(i *instance) []int {
	if len(i.entries) == 0 {
		return i.node.params
	}
	values := slices.Clone(i.node.params)
	for _, at := range i.entries {
		p := &i.kind.Params()[at]
		a := i.element.Find(p.Name)
		value := i.scope.value(a)
		name, open := entry(value, p.Name)
		key, _ := i.scope.origin(name)
		if open && i.kind.Runs() && c.signals == nil && c.code == nil && c.symbols[key] == nil {
			c.warn(a.Raw.At, a.Raw.Len(), codeFreeEntry, "", "nothing gives the entry %q a value: it is read as %q", name,
				p.Write(p.Default))
			continue
		}
		if open {
			c.reportValue(a, codeCount, "write a value here, at the use of the tree, in its model or in its <BehaviorTree>",
				"%s is the entry %q, but parameters do not change while the plan runs", p.Name, name)
			continue
		}
		values[at] = c.number(i.node, p, a, value, types[p.Type].hint)
	}
	return values
}

// maxPortText bounds the values of the ports of all free leaves [bytes].
const maxPortText = 64 << 20

// ports returns the ports of a free leaf.
func (c *compiler) ports(i *instance, from []*xmltree.Attribute) []Port {
	var list []Port
	for _, a := range from {
		p := c.bound(i, a)
		if !c.within(&c.portText, len(p.Name)+len(p.Value), maxPortText, i.element.NameSpan(), "",
			"the ports of the plan's leaves have more than %d bytes") {
			return nil
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Port) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// checkGuards reports guards inside of a guard of the same resource, whose children would wait for ever.
func (c *compiler) checkGuards(tree *bt.Tree) {
	for _, guards := range tree.Shared() {
		for _, g := range guards {
			for above := tree.Parent(g); above >= 0; above = tree.Parent(above) {
				if slices.Contains(guards, above) {
					c.reportName(c.elements[g], codeGuard, "", "the child never runs: %s around it has the same resource",
						tree.Name(above))
				}
			}
		}
	}
}
