package groot

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/run/cause"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// tree is a plan as Groot2 knows it. Its nodes are the tasks and the uses of subtrees; each has a number, from 1.
type tree struct {
	text  string
	tasks []int // by number - 1: the task that the node stands for, that of a use the root of the subtree
	order []int // the numbers of the nodes, subtree by subtree
	uses  []use // of subtrees; the first one is the main tree
}

// use is a use of a subtree.
type use struct {
	path  string
	tasks []int
	nodes []int // their numbers
}

// mostNodes is the greatest number of a node.
const mostNodes = math.MaxUint16

// ErrSize reports a plan that is too large for Groot2.
var ErrSize = fmt.Errorf("Groot2 numbers at most %d tasks and uses of subtrees", mostNodes)

// newTree returns the tree of a plan with which a run with this header begins.
func newTree(h *record.Header) (*tree, error) {
	id, top := written(h)
	if top == nil {
		id, top = h.Plan, listed(h.Tasks)
	}
	b := &builder{header: h, owners: map[string]string{}, models: map[string]*xmltree.Markup{}, paths: map[string]bool{}}
	b.use(cmp.Or(permitted(id), "MainTree"), "", top)
	if len(b.tasks) > mostNodes {
		return nil, ErrSize
	}
	models := xmltree.New("TreeNodesModel")
	for _, id := range slices.Sorted(maps.Keys(b.models)) {
		models.With(b.models[id])
	}
	b.text = xmltree.New("root", "BTCPP_format", "4").With(append(b.trees, models)...).Document()
	for _, u := range b.uses {
		b.order = append(b.order, u.nodes...)
	}
	return &b.tree, nil
}

// written returns the main tree of the plan that is attached to a log, with its ID; nil: it has none. Subtrees are in
// the elements of their uses.
func written(h *record.Header) (id string, top *xmltree.Markup) {
	p := cause.Plan(h)
	if p == nil {
		return "", nil
	}
	var text strings.Builder
	_ = plan.Desugared(&text, p) // a builder takes all
	d, found := xmltree.Parse(&diag.Source{Text: text.String()})
	if len(found) > 0 {
		return "", nil
	}
	for main := range d.Root.Elements() {
		for e := range main.Elements() {
			top = e.Markup()
		}
	}
	if top == nil || count(top) != len(h.Tasks) {
		return "", nil
	}
	return p.Name, top
}

// count returns the number of tasks from an element on.
func count(m *xmltree.Markup) int {
	n := 1
	if isUse(m) {
		n = 0
	}
	for _, c := range m.Children {
		n += count(c)
	}
	return n
}

func isUse(m *xmltree.Markup) bool { return m.Name == "SubTree" && len(m.Children) == 1 }

// listed returns the tree of tasks; nil: there are none.
func listed(tasks []record.Task) (top *xmltree.Markup) {
	all := make([]*xmltree.Markup, len(tasks))
	for i := range tasks {
		all[i] = &xmltree.Markup{Name: tasks[i].Kind, Attributes: []xmltree.Pair{{Name: "name", Value: tasks[i].Name}}}
	}
	for i, t := range tasks { // children come before their parents
		if top = all[i]; t.Parent >= 0 {
			all[t.Parent].With(top)
		}
	}
	return top
}

// builder makes a tree.
type builder struct {
	tree
	header *record.Header
	trees  []*xmltree.Markup
	owners map[string]string          // by ID of a type of leaves: what has it
	models map[string]*xmltree.Markup // by ID and form
	paths  map[string]bool
	task   int // the next one
}

// use adds a use of a subtree, and returns its root.
func (b *builder) use(id, path string, top *xmltree.Markup) (root int) {
	element := xmltree.New("BehaviorTree", "ID", id, "_fullpath", path)
	b.trees = append(b.trees, element)
	n := len(b.uses)
	b.uses = append(b.uses, use{path: cmp.Or(path, id)})
	if top == nil {
		return 0
	}
	m, root := b.node(n, top)
	element.With(m)
	return root
}

// node adds a node in a use of a subtree.
func (b *builder) node(in int, from *xmltree.Markup) (to *xmltree.Markup, task int) {
	b.tasks = append(b.tasks, 0)
	number := len(b.tasks)
	b.uses[in].nodes = append(b.uses[in].nodes, number)
	if isUse(from) {
		return b.subtree(in, number, from)
	}
	to = &xmltree.Markup{}
	for _, c := range from.Children {
		child, _ := b.node(in, c)
		to.With(child)
	}
	task = b.task
	b.task++
	b.tasks[number-1] = task
	b.uses[in].tasks = append(b.uses[in].tasks, task)
	name, id := value(from, "name"), value(from, "ID")
	role := plan.Composite
	if k, known := bt.ParseKind(b.header.Tasks[task].Kind); known {
		role = plan.RoleOf(k)
	}
	form := map[plan.Role]string{plan.Composite: "Control", plan.Parallel: "Control", plan.Decorator: "Decorator",
		plan.Condition: "Condition", plan.Action: "Action"}[role]
	if to.Name = from.Name; from.Name == form {
		to.Name = b.id(form, cmp.Or(id, name, form))
	}
	to.Add("name", diag.Visible(cmp.Or(name, id, from.Name)))
	to.Add("_uid", strconv.Itoa(number))
	b.ports(form, to, from)
	return to, task
}

// subtree adds a node that is a use of a subtree.
func (b *builder) subtree(in, number int, from *xmltree.Markup) (to *xmltree.Markup, root int) {
	id := permitted(value(from, "ID"))
	path := strings.ReplaceAll(cmp.Or(value(from, "name"), id), ";", "_")
	if in > 0 {
		path = b.uses[in].path + "/" + path
	}
	if b.paths[path] || value(from, "name") == "" {
		path += "::" + strconv.Itoa(number)
	}
	b.paths[path] = true
	root = b.use(id, path, from.Children[0])
	b.tasks[number-1] = root
	to = xmltree.New("SubTree", "ID", id, "_fullpath", path, "_uid", strconv.Itoa(number))
	b.ports("SubTree", to, from)
	return to, root
}

// ports copies the attributes of a node that are its ports, and declares them.
func (b *builder) ports(form string, to, from *xmltree.Markup) {
	id := to.Name
	if form == "SubTree" {
		id = value(to, "ID")
	}
	model := b.models[id+" "+form]
	if model == nil {
		model = xmltree.New(form, "ID", id)
		b.models[id+" "+form] = model
	}
	for _, a := range from.Attributes {
		if a.Name == "name" || a.Name == "ID" {
			continue
		}
		to.Add(a.Name, a.Value)
		declared := func(p *xmltree.Markup) bool { return value(p, "name") == a.Name }
		if !strings.HasPrefix(a.Name, "_") && !slices.ContainsFunc(model.Children, declared) {
			model.With(xmltree.New("input_port", "name", a.Name))
		}
	}
}

func value(m *xmltree.Markup, name string) string {
	for _, a := range m.Attributes {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// id returns the ID of a type of leaves: the name of an element that no other type has.
func (b *builder) id(form, of string) string {
	base := strings.Map(func(c rune) rune {
		if c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return '_'
	}, of)
	if !xmltree.IsName(base) {
		base = "_" + base
	}
	for id, n := base, 2; ; n++ {
		_, kind := bt.ParseKind(id)
		if owner := b.owners[id]; owner == form+" "+of || owner == "" && (!kind || id == form) {
			b.owners[id] = form + " " + of
			return id
		}
		id = base + "_" + strconv.Itoa(n)
	}
}

// permitted returns an ID without the characters that separate the names of subtrees.
func permitted(id string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(";/", c) || unicode.IsSpace(c) {
			return '_'
		}
		return c
	}, diag.Visible(id))
}
