package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// environment is the ports and entries that an expression may name, each with its binding.
type environment struct {
	ports map[string]*binding // of a leaf's model, or of a tree that is checked without its uses
	scope *scope              // of a tree's expressions; nil: there is none
	outer *environment        // around the ports; nil: this is it
}

// find returns the binding of a name, nil if it is a signal's.
func (e environment) find(name string) *binding {
	b := e.ports[name]
	switch {
	case b != nil:
	case e.outer != nil:
		return e.outer.find(name)
	case e.scope != nil:
		return e.scope.find(name)
	case strings.HasPrefix(name, global): // its value is not known
		return &binding{port: name}
	}
	return b
}

// empty reports whether all names are those of signals.
func (e environment) empty() bool {
	return len(e.ports) == 0 && (e.scope == nil || e.scope.plain) && (e.outer == nil || e.outer.empty())
}

// binding is the value of a port in one use. It is read when an expression names the port, so that a value that no
// expression needs may be any text, as in plans written for other programs.
type binding struct {
	port  string
	value *xmltree.Attribute // where it is given: at the use, or the model's default; nil: not given
	env   environment        // of the value
	use   *node              // nil: a tree or model is checked without any use, the value is not known
	read  bool
	expr  *expr.Expr // nil if it is not known or wrong
}

// bind returns the ports of the model of a leaf in one use of it.
func (n *node) bind(outer environment) environment {
	env := environment{ports: map[string]*binding{}}
	for _, p := range n.model.ports {
		b := &binding{port: p.name, use: n, value: n.element.Find(p.name), env: outer}
		if b.value == nil {
			b.value, b.env = p.value, environment{}
		}
		env.ports[p.name] = b
	}
	return env
}

// inside returns the environment of a tree whose ports are not known: those of its model, those that its element gives,
// and those that uses give.
func (c *compiler) inside(t *tree) environment {
	all := slices.Concat(names(t.ports), c.passed[t.id], slices.Collect(maps.Keys(c.mentioned)))
	if m := c.subtreeModel(t.id); m != nil {
		all = append(all, names(m.ports)...)
	}
	return unbound(all)
}

// unbound returns the environment in which ports are not known.
func unbound(ports []string) environment {
	env := environment{ports: map[string]*binding{}}
	for _, name := range ports {
		env.ports[name] = &binding{port: name}
	}
	return env
}

// resolve returns the expression of a port, nil if it is not known or wrong.
func (c *compiler) resolve(b *binding) *expr.Expr {
	if b.read || b.use == nil {
		return b.expr
	}
	b.read = true
	if b.value == nil {
		c.reportName(b.use.element, codeNoPort, "write "+b.port+`="..."`, "%s needs a value for its port %q", b.use.id,
			b.port)
		return nil
	}
	e, err := expr.Parse(b.value.Value)
	if b.value.Value == sameName {
		e, err = expr.Parse(b.port)
	}
	if err != nil {
		c.reportSyntax(b.value, err)
		return nil
	}
	if e = c.replaced(e, b.value, b.env); e != nil {
		want := expr.Variable{Type: e.Type(c.scope), Unit: expr.AnyUnit}
		if v, ok := c.types[e.String()]; ok && c.scope == nil {
			want.Type = v.Type
		}
		b.expr = c.fits(e, b.value, b.env, want, false)
	}
	return b.expr
}

// check returns an expression of an attribute with its ports replaced, nil if it is wrong or they are not known.
func (c *compiler) check(e *expr.Expr, a *xmltree.Attribute, env environment, want expr.Variable) *expr.Expr {
	if e = c.replaced(e, a, env); e == nil {
		return nil
	}
	return c.fits(e, a, env, want, false)
}

// replaced returns an expression of an attribute with its ports replaced, nil if they are not known.
func (c *compiler) replaced(e *expr.Expr, a *xmltree.Attribute, env environment) *expr.Expr {
	with := map[string]*expr.Expr{}
	for _, name := range e.Names() {
		if b := env.find(name); b != nil {
			if with[name] = c.resolve(b); with[name] == nil {
				return nil
			}
		}
	}
	if len(with) > 0 {
		if !c.affordable(a, e.Parts(with)) {
			return nil
		}
		e = e.Substitute(with)
	}
	return e
}

// fits returns an expression whose ports are replaced if it gives the value of a variable; nil if not. That of a script
// is converted.
func (c *compiler) fits(e *expr.Expr, a *xmltree.Attribute, env environment, want expr.Variable,
	script bool) *expr.Expr {
	scope := c.scope
	entry := func(name string) bool { _, is := c.types[name]; return is }
	if scope == nil && (script || slices.ContainsFunc(e.Names(), entry)) {
		scope = expr.Scope{}
		usage(scope, e, want.Type == expr.Boolean)
		for name, v := range scope {
			if t, ok := c.types[name]; ok {
				v = t
			}
			v.Sources = []string{name} // as far as anyone knows
			scope[name] = v
		}
	}
	if script {
		e = e.Adapted(want, scope)
	}
	mistakes := e.CheckFor(want, scope)
	if c.tables {
		mistakes = slices.DeleteFunc(mistakes, func(m *expr.Error) bool { return m.Code == expr.CodeFunction })
	}
	for _, m := range mistakes {
		explain(m)
		c.reportExpression(a, env, m)
	}
	if len(mistakes) > 0 {
		return nil
	}
	return e.Resolved(c.scope)
}

// maxParts bounds all expressions that name ports: each use of a tree has its own.
const maxParts = 1_000_000

// affordable reports whether an attribute's expression may be as large as it is with its ports replaced.
func (c *compiler) affordable(a *xmltree.Attribute, parts int) bool {
	const hint = "let the mission compute it as a signal, and name the signal here"
	if parts > expr.MaxParts {
		c.reportValue(a, xmltree.CodeTooLarge, hint, "with its ports the expression has more than %d parts", expr.MaxParts)
		return false
	}
	return c.within(&c.parts, parts, c.mostParts, a.Raw, hint,
		"with their ports the expressions of the plan have more than %d parts up to here")
}

// reportExpression reports a mistake in an expression. A mistake in the value of a port is reported where the port is
// given.
func (c *compiler) reportExpression(a *xmltree.Attribute, env environment, m *expr.Error) {
	if m.Node != nil {
		if b := env.find(m.Node.Replaced()); b != nil && b.value != nil {
			d := m.In(c.source, 0)
			d.Offset, d.Length = b.value.Raw.At, b.value.Raw.Len()
			d.Text = fmt.Sprintf("as %q of %s: %s", b.port, b.use.id, m.Text)
			c.once(d)
			return
		}
	}
	c.reportMistake(a, m)
}
