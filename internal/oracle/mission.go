// Package oracle makes random missions for tests. Its own tests are the outside witness: a second, deliberately dumb
// execution of them that shares no code with the executive or the proofs.
//
// A [Mission] is made by [Random] as a description of its own. Canopy reads it as YAML and XML (Mission.Read); the
// witness (Flight) executes the description itself, on the tree that is ticked as a whole, and visits all states that
// signals on, between and beyond the limits can lead to (Explore).
package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
)

// Mission describes a mission. The signals x and y come from outside.
type Mission struct {
	root     *node
	slots    []slot     // the first is the vehicle's command
	computed []computed // in the order in which they depend on each other
	Facts    []*expression
	Always   []*expression // they may also name tasks
	Goal     *expression   // nil: none
	Written  []int         // slots to which some active task must give a value in every state
	points   []float64     // the values of x and y that are tried
}

// slot is a signal that tasks write.
type slot struct {
	name   string
	kind   string // real, boolean or enumeration
	hold   bool
	first  float64 // default
	values []string
	entry  bool // of the blackboard: it is not declared, and NaN until it is written
}

type computed struct {
	name   string
	kind   string
	values []string
	value  *expression
}

// node is a task. One that occurs several times is written as a subtree.
type node struct {
	kind     bt.Kind
	name     string
	params   []int
	children []*node
	uses     int
	variable *expression // of a switch that is written with its cases
	attached bool        // it is written as an attribute of its last child, or not at all
	leaf
}

// leaf is what a leaf does.
type leaf struct {
	clerk                                       string // the element, if it is one that reads or writes entries
	on, off, done, failed, successIf, failureIf *expression
	until                                       string // the action until whose end a condition lasts; "": none
	write, entry, exit                          []assignment
	entryTime, exitTime                         float64 // [s]; negative: none
	entryUntil, exitUntil                       *expression
}

type assignment struct {
	slot  int
	value *expression
}

// node returns the task as a node of a tree.
func (n *node) node() *bt.Node {
	d := &bt.Node{Kind: n.kind, Name: n.name, Params: n.params}
	d.Prompt = n.done != nil && n.done.op == "true" && n.failed == nil && max(n.entryTime, n.exitTime) < 0 &&
		n.entryUntil == nil && n.exitUntil == nil
	for _, c := range n.children {
		d.Children = append(d.Children, c.node())
	}
	return d
}

// started puts an action that ends at once after each child that runs even if it is judged at once.
func (n *node) started() {
	for _, c := range n.children {
		c.started()
	}
	if !n.kind.Runs() {
		return
	}
	child := n.children[0]
	if child.starts() {
		child = child.children[1]
	}
	if n.children[0] = child; child.judges() {
		kind := slices.IndexFunc(bt.Kinds(), func(k bt.Kind) bool { return k.Effect() == "_post" })
		start := &node{kind: leafKind("Action"), name: n.name + ".start", uses: 1,
			leaf: leaf{done: of("true"), entryTime: -1, exitTime: -1}}
		n.children[0] = &node{kind: bt.Kinds()[kind], name: n.name + ".run", uses: 1, attached: true,
			children: []*node{start, child}, leaf: leaf{entryTime: -1, exitTime: -1}}
	}
}

// starts reports whether a task is one that started has put there.
func (n *node) starts() bool { return n.attached && n.children[0].clerk == "" }

// judges reports whether a task may be judged without being activated.
func (n *node) judges() bool {
	judges := func(i int) bool { return n.children[i].judges() }
	switch {
	case n.uses > 1:
		return true
	case n.kind.Acts():
		return n.successIf != nil || n.failureIf != nil
	case len(n.children) == 0:
		return !n.kind.Timer()
	case n.kind.Family() == bt.Count:
		return slices.ContainsFunc(n.children, (*node).judges)
	case n.kind.Effect() != "":
		return judges(1)
	}
	return judges(0)
}

// leaves appends the leaves in the order of the tree.
func (n *node) leaves(list []*node) []*node {
	if n.kind.Family() == bt.Leaf {
		return append(list, n)
	}
	for _, c := range n.children {
		list = c.leaves(list)
	}
	return list
}

// each calls f for a task and all below it, at each of their places, except the cases of a switch over a variable.
func (n *node) each(f func(*node)) {
	f(n)
	for i, c := range n.children {
		if n.variable == nil || i%2 == 1 || i == len(n.children)-1 {
			c.each(f)
		}
	}
}

// each calls f for each expression of the mission.
func (m *Mission) each(f func(*expression)) {
	for _, c := range m.computed {
		c.value.each(f)
	}
	for _, n := range m.root.leaves(nil) {
		for _, e := range []*expression{n.on, n.off, n.done, n.failed, n.successIf, n.failureIf, n.entryUntil, n.exitUntil} {
			e.each(f)
		}
		for _, a := range slices.Concat(n.write, n.entry, n.exit) {
			a.value.each(f)
		}
	}
}

// Plan writes the plan.
func (m *Mission) Plan() string {
	m.root.started()
	var trees []*node
	var write func(n *node, top bool) string
	attached := ""
	write = func(n *node, top bool) string {
		if n.attached {
			switch {
			case n.starts():
			case n.kind.Condition() != "":
				attached += fmt.Sprintf(` %s="%s"`, n.kind.Condition(), n.children[0].on)
			default:
				attached += fmt.Sprintf(` %s="%s"`, n.kind.Effect(), m.statements(n.children[0].entry))
			}
			return write(n.children[1], top)
		}
		if n.uses > 1 && !top {
			if !slices.Contains(trees, n) {
				trees = append(trees, n)
			}
			return fmt.Sprintf(`<SubTree ID="sub_%s"/>`, n.name)
		}
		var b strings.Builder
		element := n.kind.String()
		if n.clerk != "" {
			element = n.clerk
		}
		fmt.Fprintf(&b, "<%s name=%q%s", element, n.name, attached)
		attached = ""
		for i, p := range n.kind.Params() {
			if n.params != nil {
				fmt.Fprintf(&b, ` %s=%q`, p.Name, p.Write(n.params[i]))
			}
		}
		children := n.children
		if n.variable != nil {
			fmt.Fprintf(&b, ` variable="%s"`, n.variable)
			children = nil
			for i, c := range n.children {
				if i%2 == 0 && i < len(n.children)-1 {
					fmt.Fprintf(&b, ` case_%d="%s"`, i/2+1, c.on.args[1])
				} else {
					children = append(children, c)
				}
			}
		}
		b.WriteString(n.leaf.attributes(m))
		if len(children) == 0 {
			return b.String() + "/>\n"
		}
		b.WriteString(">\n")
		for _, c := range children {
			b.WriteString(write(c, false))
		}
		return b.String() + "</" + n.kind.String() + ">\n"
	}
	text := "<root BTCPP_format=\"4\" main_tree_to_execute=\"main\">\n<BehaviorTree ID=\"main\">\n" + write(m.root, true) +
		"</BehaviorTree>\n"
	for i := 0; i < len(trees); i++ {
		text += fmt.Sprintf("<BehaviorTree ID=\"sub_%s\">\n%s</BehaviorTree>\n", trees[i].name, write(trees[i], true))
	}
	return text + "</root>\n"
}

// statements writes assignments.
func (m *Mission) statements(list []assignment) string {
	var words []string
	for _, a := range list {
		words = append(words, m.slots[a.slot].name+" := "+a.value.String())
	}
	return strings.Join(words, "; ")
}

func (l *leaf) attributes(m *Mission) string {
	var b strings.Builder
	switch l.clerk {
	case "Script":
		return fmt.Sprintf(` code="%s"`, m.statements(l.entry))
	case "ScriptCondition":
		return fmt.Sprintf(` code="%s"`, l.on)
	case "SetBlackboard":
		a := l.entry[0]
		value := a.value.String()
		if a.value.op == "signal" {
			value = "{" + value + "}"
		}
		return fmt.Sprintf(` value="%s" output_key="%s"`, value, m.slots[a.slot].name)
	case "UnsetBlackboard":
		return fmt.Sprintf(` key="%s"`, m.slots[l.entry[0].slot].name)
	}
	for _, x := range []struct {
		name string
		e    *expression
	}{{"on", l.on}, {"off", l.off}, {"done", l.done}, {"failed", l.failed}, {"_successIf", l.successIf},
		{"_failureIf", l.failureIf}, {"entry_until", l.entryUntil}, {"exit_until", l.exitUntil}} {
		if x.e != nil {
			fmt.Fprintf(&b, ` %s="%s"`, x.name, x.e)
		}
	}
	if l.until != "" {
		fmt.Fprintf(&b, ` until="%s"`, l.until)
	}
	for _, x := range []struct {
		name string
		list []assignment
	}{{"write", l.write}, {"entry", l.entry}, {"exit", l.exit}} {
		if len(x.list) > 0 {
			fmt.Fprintf(&b, ` %s="%s"`, x.name, m.statements(x.list))
		}
	}
	if l.entryTime >= 0 {
		fmt.Fprintf(&b, ` entry_time="%g"`, l.entryTime)
	}
	if l.exitTime >= 0 {
		fmt.Fprintf(&b, ` exit_time="%g"`, l.exitTime)
	}
	return b.String()
}

// vehicle is the vehicle of every mission: its states do not move by themselves.
const vehicle = `vehicle: world
states:
  x: {derivative: "0 [1/s]"}
  y: {derivative: "0 [1/s]"}
commands:
  u: {default: 0}
`

// YAML writes the mission file.
func (m *Mission) YAML() string {
	var b strings.Builder
	b.WriteString("mission: random\nplan: plan.xml\nvehicle: world.vehicle.yaml\nhorizon: 1000\n" +
		"record: {interval: 1000}\n")
	if len(m.computed) > 0 || slices.ContainsFunc(m.slots[1:], func(s slot) bool { return !s.entry }) {
		b.WriteString("signals:\n")
	}
	values := func(list []string) string {
		if len(list) == 0 {
			return ""
		}
		return ", values: [" + strings.Join(list, ", ") + "]"
	}
	for _, s := range m.slots[1:] {
		if s.entry {
			continue
		}
		first := fmt.Sprint(s.first)
		switch s.kind {
		case "boolean":
			first = fmt.Sprint(s.first > 0)
		case "enumeration":
			first = s.values[int(s.first)]
		}
		fmt.Fprintf(&b, "  %s: {type: %s%s, default: %s, hold: %t}\n", s.name, s.kind, values(s.values), first, s.hold)
	}
	for _, c := range m.computed {
		fmt.Fprintf(&b, "  %s: {type: %s%s, value: \"%s\"}\n", c.name, c.kind, values(c.values), c.value)
	}
	if len(m.Facts)+len(m.Always)+len(m.Written) > 0 || m.Goal != nil {
		b.WriteString("check:\n")
	}
	for _, x := range []struct {
		name string
		list []*expression
	}{{"facts", m.Facts}, {"always", m.Always}} {
		for i, e := range x.list {
			if i == 0 {
				fmt.Fprintf(&b, "  %s:\n", x.name)
			}
			fmt.Fprintf(&b, "    - \"%s\"\n", e)
		}
	}
	if m.Goal != nil {
		fmt.Fprintf(&b, "  goal: \"%s\"\n", m.Goal)
	}
	for i, s := range m.Written {
		if i == 0 {
			b.WriteString("  written:\n")
		}
		fmt.Fprintf(&b, "    - %s\n", m.slots[s].name)
	}
	for i, e := range m.Always { // the same as properties of runs
		if i == 0 {
			b.WriteString("  properties:\n")
		}
		fmt.Fprintf(&b, "    - \"always (%s)\"\n", e)
	}
	return b.String()
}

// Read reads the mission as Canopy does.
func (m *Mission) Read() (*mission.Mission, diag.List) {
	f := cart.Files{"m/test.yaml": m.YAML(), "m/plan.xml": m.Plan(), "m/world.vehicle.yaml": vehicle}
	return mission.Read("m/test.yaml", f.Open, nil, nil)
}

// String is the text of a failing case.
func (m *Mission) String() string { return m.YAML() + "---\n" + m.Plan() }
