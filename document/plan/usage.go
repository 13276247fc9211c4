package plan

import (
	"slices"

	"github.com/canopy-uav/canopy/expr"
)

// Expressions returns all expressions of a leaf.
func (l *Leaf) Expressions() []*expr.Expr {
	list := []*expr.Expr{l.On, l.Off, l.EntryTime, l.ExitTime, l.EntryUntil, l.ExitUntil, l.Done, l.Failed, l.SuccessIf,
		l.FailureIf}
	for _, a := range slices.Concat(l.Write, l.Entry, l.Exit) {
		list = append(list, a.Value, a.Known)
	}
	return slices.DeleteFunc(list, func(e *expr.Expr) bool { return e == nil })
}

// Scope returns the types of the signals that a plan names that was read without a vocabulary: those of entries that
// tasks write and of texts, and of others as the expressions use them.
func (p *Plan) Scope() expr.Scope {
	scope := p.usages()
	for i := range p.Entries {
		if e := &p.Entries[i]; !e.Free || e.Type == expr.Text {
			scope[e.Name] = e.Variable()
		}
	}
	return scope
}

// usages returns the types of names as the expressions use them. To be copied to an entry without a type is no use.
func (p *Plan) usages() expr.Scope {
	scope, untyped := expr.Scope{}, map[string]bool{}
	for i := range p.Entries {
		untyped[p.Entries[i].Name] = p.Entries[i].Type == expr.Enumeration
	}
	for i := range p.Leaves {
		l := &p.Leaves[i]
		for _, e := range []*expr.Expr{l.On, l.Off, l.EntryUntil, l.ExitUntil, l.Done, l.Failed, l.SuccessIf, l.FailureIf} {
			if e != nil {
				usage(scope, e, true)
			}
		}
		for _, a := range slices.Concat(l.Write, l.Entry, l.Exit) {
			if !untyped[a.Target] || a.Value.Root().Op() != expr.OpName {
				usage(scope, a.Value, false)
			}
		}
		for _, e := range []*expr.Expr{l.EntryTime, l.ExitTime} {
			if e != nil {
				usage(scope, e, false)
			}
		}
	}
	return scope
}

// usage adds the types of the signals that an expression names, as it uses them: as a number, unless it must be another
// value.
func usage(scope expr.Scope, e *expr.Expr, condition bool) {
	note := func(n *expr.Node, v expr.Variable) {
		if known, ok := scope[n.Name()]; n.Op() == expr.OpName && (!ok || known.Type == expr.Real && !known.Held) {
			scope[n.Name()] = v
		}
	}
	var visit func(n *expr.Node)
	visit = func(n *expr.Node) {
		note(n, expr.Number(expr.AnyUnit))
		equality := n.Op() == expr.OpEqual || n.Op() == expr.OpNotEqual
		for i := range n.Len() {
			switch {
			case !equality:
			case n.Arg(1-i).Op() == expr.OpText:
				note(n.Arg(i), expr.Variable{Type: expr.Text})
			case n.Arg(1-i).Op() == expr.OpTruth:
				note(n.Arg(i), expr.Variable{Type: expr.Boolean})
			default:
				note(n.Arg(i), expr.Variable{Unit: expr.AnyUnit, Held: true})
			}
			visit(n.Arg(i))
		}
	}
	if condition || e.Root().Op() != expr.OpName {
		for _, n := range e.Propositions() {
			note(n, expr.Variable{Type: expr.Boolean})
		}
	}
	visit(e.Root())
}

// Conditions that always and never hold, and one that holds if another does not.
var always, never, negation = must("true"), must("false"), must("not it")

func must(text string) *expr.Expr {
	e, err := expr.Parse(text)
	if err != nil {
		panic("plan: a condition is refused: " + text)
	}
	return e
}
