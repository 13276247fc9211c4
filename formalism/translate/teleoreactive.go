package translate

import (
	"fmt"
	"maps"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
)

// TeleoReactive is a teleo-reactive program that was read without errors: rules of a condition and an action; the first
// rule whose condition holds applies (N. J. Nilsson, Teleo-Reactive Programs for Agent Control, 1994; after section II
// of the 2016 paper). It never changes.
type TeleoReactive struct {
	Source *diag.Source

	procedures []*procedure
	named      map[string]*procedure // a term with another name is an action
	sets       map[string][]string   // the constants of each set
	depth      int                   // maximum number of nested calls; 0: no limit is needed
	run        *term                 // the call that is the program
}

// procedure is a named list of rules with parameters.
type procedure struct {
	name       string
	at         int // byte of the name
	parameters []string
	rules      []rule
}

// rule is the action to execute while its condition holds and no condition of an earlier rule does.
type rule struct {
	when     *condition
	act      *term  // a call if a procedure has the name, else an action
	variable string // the rule represents one rule for each member of the set, in its order; empty: only itself
	set      string
	setAt    int // byte of the set's name
}

// condition is a Boolean combination of atoms.
type condition struct {
	op    conditionOp
	parts []*condition
	atom  *term
}

type conditionOp uint8

const (
	opAlways conditionOp = iota
	opAtom
	opAnd
	opOr
	opNot
)

// term is a name with arguments: an atom of a condition, an action, a call, or an argument.
type term struct {
	name string
	at   int // byte of the name
	args []*term
}

// text writes a term whose variables have values.
func (t *term) text(values map[string]string) string {
	if value, bound := values[t.name]; bound && len(t.args) == 0 {
		return value
	}
	if len(t.args) == 0 {
		return t.name
	}
	args := make([]string, len(t.args))
	for i, a := range t.args {
		args[i] = a.text(values)
	}
	return t.name + "(" + strings.Join(args, ",") + ")"
}

// nothing is the action that does nothing: Nilsson's nil.
const nothing = "nil"

// each visits the rules that a rule represents, with the values of its variables.
func (p *TeleoReactive) each(r *rule, values map[string]string, visit func(values map[string]string)) {
	if r.variable == "" {
		visit(values)
		return
	}
	for _, member := range p.sets[r.set] {
		bound := map[string]string{r.variable: member}
		maps.Copy(bound, values)
		visit(bound)
	}
}

// Plan translates the program by Lemma 2 of the 2016 paper: a ReactiveFallback of one ReactiveSequence for each rule,
// of the rule's condition and its action; the actions only run. A call becomes the plan of the called procedure, with
// values in place of the parameters, so that each call has its own tasks. The lemma requires actions, and so calls,
// that never fail: a called procedure none of whose rules holds does nothing, by the action nil. So does a call for
// which the program's depth leaves no room. The list holds an error if the plan would be too large.
func (p *TeleoReactive) Plan() (*plan.Plan, diag.List) {
	x := &expansion{program: p}
	root := x.call(p.run, nil, 1)
	if x.large != "" {
		return nil, diag.List{{Source: p.Source, Offset: x.at.at, Length: len(x.at.name), Code: "too-large", Text: x.large,
			Hint: "a smaller `depth`, smaller sets or fewer calls inside calls make it smaller"}}
	}
	return plan.New(p.run.text(nil), root, x.leaves)
}

// Limits of the plan of a program.
const (
	maxTasks = 100_000  // as in package plan
	maxText  = 1000     // bytes of a value, which may grow with each call
	maxTexts = 16 << 20 // bytes of all conditions and actions
	maxCalls = 200      // nested calls: each takes two levels of the plan's 500
)

// expansion makes the plan of a program.
type expansion struct {
	program *TeleoReactive
	leaves  []plan.Leaf
	tasks   int
	texts   int    // bytes
	at      *term  // the call that is expanded
	large   string // the bound that it exceeds; the rest is then not expanded
}

func (x *expansion) node(kind bt.Kind, name string) *bt.Node {
	x.tasks++
	x.texts += len(name)
	switch {
	case x.tasks > maxTasks:
		x.large = fmt.Sprintf("with all its calls the program has more than %d tasks", maxTasks)
	case x.texts > maxTexts:
		x.large = fmt.Sprintf("with all its calls the program has names of more than %d bytes", maxTexts)
	}
	return &bt.Node{Kind: kind, Name: name}
}

func (x *expansion) leaf(kind bt.Kind, text string) *bt.Node {
	x.leaves = append(x.leaves, plan.Leaf{ID: text})
	return x.node(kind, text)
}

// call returns the plan of a call; level is the depth of the call.
func (x *expansion) call(t *term, values map[string]string, level int) *bt.Node {
	called := x.program.named[t.name]
	switch {
	case called == nil:
		return x.leaf(bt.Action, t.text(values))
	case x.program.depth > 0 && level > x.program.depth:
		return x.leaf(bt.Action, nothing)
	}
	if x.large == "" {
		x.at = t
	}
	if level > maxCalls {
		x.large = fmt.Sprintf("with all its calls the program has more than %d calls, one inside the other", maxCalls)
	}
	inner := map[string]string{}
	for i, name := range called.parameters {
		inner[name] = t.args[i].text(values)
		if len(inner[name]) > maxText {
			x.large = fmt.Sprintf("with all its calls the program has values of more than %d characters", maxText)
		}
	}
	n := x.node(bt.ReactiveFallback, t.text(values))
	complete := false
	for i := range called.rules {
		r := &called.rules[i]
		complete = complete || r.when.op == opAlways
		x.program.each(r, inner, func(values map[string]string) {
			if x.large != "" {
				return
			}
			if r.when.op == opAlways {
				n.Children = append(n.Children, x.call(r.act, values, level+1))
				return
			}
			s := x.node(bt.ReactiveSequence, "")
			s.Children = append(x.all(r.when, values), x.call(r.act, values, level+1))
			n.Children = append(n.Children, s)
		})
	}
	if !complete && level > 1 {
		n.Children = append(n.Children, x.leaf(bt.Action, nothing))
	}
	return n
}

// all returns the plans of the parts that must all hold for a condition to hold.
func (x *expansion) all(c *condition, values map[string]string) []*bt.Node {
	if c.op != opAnd {
		return []*bt.Node{x.condition(c, values)}
	}
	var nodes []*bt.Node
	for _, part := range c.parts {
		nodes = append(nodes, x.condition(part, values))
	}
	return nodes
}

// condition returns the plan that succeeds if a condition holds, and fails otherwise.
func (x *expansion) condition(c *condition, values map[string]string) *bt.Node {
	if c.op == opAtom {
		return x.leaf(bt.Condition, c.atom.text(values))
	}
	n := x.node(conditionKinds[c.op], "")
	for _, part := range c.parts {
		n.Children = append(n.Children, x.condition(part, values))
	}
	return n
}

var conditionKinds = map[conditionOp]bt.Kind{opAnd: bt.ReactiveSequence, opOr: bt.ReactiveFallback, opNot: bt.Inverter}
