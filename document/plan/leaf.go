package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"canopy/diag"
	"canopy/expr"
	"canopy/syntax/xmltree"
)

// environment is the ports and entries that an expression may name, each with its binding.
type environment struct {
	ports map[string]*binding
	scope *scope       // whose entries precede the ports; nil: none do
	outer *environment // that of the tree; nil: this is it
}

// find returns the binding of a name, nil if it is a signal's.
func (e environment) find(name string) *binding {
	if e.scope != nil {
		if b := e.scope.entry(name); b != nil {
			return b
		}
	}
	if b := e.ports[name]; b != nil || e.outer == nil {
		return b
	}
	return e.outer.find(name)
}

// in returns the environment with the entries of a scope.
func (e environment) in(s *scope) environment {
	s.ports, e.scope = e.ports, s
	return e
}

// empty reports whether all names are those of signals.
func (e environment) empty() bool {
	return len(e.ports) == 0 && (e.scope == nil || !e.scope.owns) && (e.outer == nil || e.outer.empty())
}

// binding is the value of a port in one use. It is read when an expression names the port, so that a value that no
// expression needs may be any text, as in plans written for other programs.
type binding struct {
	port  string
	value *xmltree.Attribute // where it is given: at the use, or the model's default; nil: not given
	env   environment        // of the value
	use   *item              // nil: a tree or model is checked without any use, the value is not known
	read  bool
	expr  *expr.Expr // nil if it is not known or wrong
}

// autoremap is the attribute by which a SubTree passes on all ports that it does not name.
const autoremap = "_autoremap"

// bind returns the environment below a use: the bindings of its model's ports.
func (r *reader) bind(use *item, outer environment) environment {
	var ports []*port
	if use.model != nil {
		ports = use.model.ports
	}
	if use.subtree != nil {
		ports = use.subtree.parameters(ports, use.attributes())
	}
	if len(ports) == 0 {
		return environment{}
	}
	env := map[string]*binding{}
	for _, p := range ports {
		b := &binding{port: p.name, use: use, value: use.element.Find(p.name), env: outer}
		if b.value == nil {
			if use.subtree != nil && use.passesAll() {
				if passed := outer.find(p.name); passed != nil {
					env[p.name] = passed
				}
				continue // the signal of that name
			}
			b.value, b.env = p.value, environment{}
		}
		env[p.name] = b
	}
	return environment{ports: env}
}

// sameName is the value of a port that means the signal with the port's own name, as in BehaviorTree.CPP.
const sameName = "{=}"

func truth(s string) bool { return s == "1" || strings.EqualFold(s, "true") }

// parameters returns the ports of a tree: those of its model, those that its element gives, and those that uses give.
func (t *tree) parameters(declared []*port, given []string) []*port {
	all, seen := slices.Clone(declared), map[string]bool{}
	for _, name := range names(declared) {
		seen[name] = true
	}
	add := func(p *port) {
		if !seen[p.name] {
			all, seen[p.name] = append(all, p), true
		}
	}
	for _, p := range t.ports {
		add(p)
	}
	for _, name := range given {
		add(&port{name: name})
	}
	return all
}

// inside returns the environment of a tree whose ports are not known.
func (r *reader) inside(t *tree) environment {
	var declared []*port
	if m := r.subtreeModel(t.id); m != nil {
		declared = m.ports
	}
	env := unbound(t.parameters(declared, r.passed[t.id]))
	for name := range r.mentioned {
		if env.ports == nil {
			env.ports = map[string]*binding{}
		}
		env.ports[name] = &binding{port: name}
	}
	return env
}

// unbound returns the environment in which ports are not known.
func unbound(ports []*port) environment {
	if len(ports) == 0 {
		return environment{}
	}
	env := map[string]*binding{}
	for _, p := range ports {
		env[p.name] = &binding{port: p.name}
	}
	return environment{ports: env}
}

// resolve returns the expression of a port, nil if it is not known or wrong.
func (r *reader) resolve(b *binding) *expr.Expr {
	if b.read || b.use == nil {
		return b.expr
	}
	b.read = true
	if b.value == nil {
		r.reportName(b.use.element, codeNoPort, "write "+b.port+`="..."`, "%s needs a value for its port %q", b.use.id,
			b.port)
		return nil
	}
	e, err := expr.Parse(b.value.Value)
	if b.value.Value == sameName {
		e, err = expr.Parse(b.port)
	}
	if err != nil {
		r.reportSyntax(b.value, err)
		return nil
	}
	if e = r.replaced(e, b.value, b.env); e != nil {
		want := expr.Variable{Type: e.Type(r.scope), Unit: expr.AnyUnit}
		if v, ok := r.types[e.String()]; ok && r.scope == nil {
			want.Type = v.Type
		}
		b.expr = r.fits(e, b.value, b.env, want, false)
	}
	return b.expr
}

// check returns an expression of an attribute with its ports replaced, nil if it is wrong or they are not known.
func (r *reader) check(e *expr.Expr, a *xmltree.Attribute, env environment, want expr.Variable) *expr.Expr {
	if e = r.replaced(e, a, env); e == nil {
		return nil
	}
	return r.fits(e, a, env, want, false)
}

// replaced returns an expression of an attribute with its ports replaced, nil if they are not known.
func (r *reader) replaced(e *expr.Expr, a *xmltree.Attribute, env environment) *expr.Expr {
	if !env.empty() {
		with := map[string]*expr.Expr{}
		for _, name := range e.Names() {
			if b := env.find(name); b != nil {
				if with[name] = r.resolve(b); with[name] == nil {
					return nil
				}
			}
		}
		parts := e.Parts(with)
		if r.parts += parts; !r.affordable(a, parts) {
			return nil
		}
		e = e.Substitute(with)
	}
	return e
}

// fits returns an expression whose ports are replaced if it gives the value of a variable; nil if not. That of a script
// is converted.
func (r *reader) fits(e *expr.Expr, a *xmltree.Attribute, env environment, want expr.Variable, script bool) *expr.Expr {
	scope := r.scope
	entry := func(name string) bool { _, is := r.types[name]; return is }
	if scope == nil && (script || slices.ContainsFunc(e.Names(), entry)) {
		scope = expr.Scope{}
		usage(scope, e, want.Type == expr.Boolean)
		for name, v := range scope {
			if t, ok := r.types[name]; ok {
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
	if r.tables {
		mistakes = slices.DeleteFunc(mistakes, func(m *expr.Error) bool { return m.Code == expr.CodeFunction })
	}
	for _, m := range mistakes {
		explain(m)
		r.reportExpression(a, env, m)
	}
	if len(mistakes) > 0 {
		return nil
	}
	return e.Resolved(r.scope)
}

// maxParts bounds all expressions that name ports: each use of a tree has its own.
const maxParts = 1_000_000

// affordable reports whether an attribute's expression may be as large as it is with its ports replaced.
func (r *reader) affordable(a *xmltree.Attribute, parts int) bool {
	const hint = "let the mission compute it as a signal, and name the signal here"
	switch {
	case parts > expr.MaxParts:
		r.reportValue(a, xmltree.CodeTooLarge, hint, "with its ports the expression has more than %d parts", expr.MaxParts)
	case r.parts > r.mostParts && r.parts-parts <= r.mostParts:
		r.reportValue(a, xmltree.CodeTooLarge, hint,
			"with their ports the expressions of the plan have more than %d parts up to here", r.mostParts)
	}
	return parts <= expr.MaxParts && r.parts <= r.mostParts
}

// reportExpression reports a mistake in an expression. A mistake in the value of a port is reported where the port is
// given.
func (r *reader) reportExpression(a *xmltree.Attribute, env environment, m *expr.Error) {
	d := m.In(r.source, 0)
	given := a // the attribute, if the mistake is in all of it
	if m.Node != nil {
		if b := env.find(m.Node.Replaced()); b != nil && b.value != nil {
			given, d.Text = b.value, fmt.Sprintf("as %q of %s: %s", b.port, b.use.id, m.Text)
		}
	}
	if given == a && a.Value != sameName {
		d.Offset, d.Length = a.Inside(m.Offset, m.Length)
	} else {
		d.Offset, d.Length = given.Raw.At, given.Raw.End-given.Raw.At
	}
	r.once(d)
}

// reportSyntax reports a mistake that expr.Parse finds in an attribute's value.
func (r *reader) reportSyntax(a *xmltree.Attribute, err error) {
	var mistake *expr.Error
	if errors.As(err, &mistake) {
		r.reportExpression(a, environment{}, mistake)
	}
}

// leafReader reads the attributes of one leaf: those of its element, else those of its model.
type leafReader struct {
	*reader
	element *xmltree.Element
	outer   environment      // of the element's own expressions
	model   *xmltree.Element // nil if there is none
	inner   environment      // of the model's expressions
}

// attribute returns an attribute of the leaf with the environment of its expressions.
func (l leafReader) attribute(name string) (*xmltree.Attribute, environment) {
	if a := l.element.Find(name); a != nil {
		return a, l.outer
	}
	if l.model == nil {
		return nil, environment{}
	}
	return l.model.Find(name), l.inner
}

// has reports whether the leaf has an attribute.
func (l leafReader) has(name string) bool {
	a, _ := l.attribute(name)
	return a != nil
}

func (l leafReader) expression(name string, want expr.Variable) *expr.Expr {
	a, env := l.attribute(name)
	if a == nil {
		return nil
	}
	e := l.parsed[a]
	if e == nil {
		var err error
		if e, err = expr.ParseFor(a.Value, want.Unit); err != nil {
			l.reportSyntax(a, err)
			return nil
		}
		l.parsed[a] = e
	}
	return l.check(e, a, env, want)
}

// scripted is condition for an attribute in the notation of BehaviorTree.CPP.
func (l leafReader) scripted(name string) *expr.Expr {
	a, _ := l.attribute(name)
	if a == nil {
		return nil
	}
	e, err := expr.ParseScriptCondition(a.Value)
	if err != nil {
		l.reportSyntax(a, err)
		return nil
	}
	return l.script(e, a, expr.Variable{Type: expr.Boolean})
}

func (l leafReader) condition(name string) *expr.Expr {
	return l.expression(name, expr.Variable{Type: expr.Boolean})
}

// assignments reads a list of assignments to slots.
func (l leafReader) assignments(name string) []Assignment {
	a, env := l.attribute(name)
	if a == nil {
		return nil
	}
	parsed, mistakes := expr.ParseAssignments(a.Value)
	for _, m := range mistakes {
		l.reportExpression(a, environment{}, m)
	}
	var list []Assignment
	for _, p := range parsed {
		at, length := a.Inside(p.Offset, p.Length)
		target, known := l.target(p.Target, xmltree.Span{At: at, End: at + length}, env)
		if target == "" { // what it needs is not known either
			continue
		}
		want := expr.Number(expr.AnyUnit)
		if s, ok := l.signals[target]; ok && known {
			want = s.variable()
		} else if l.signals == nil {
			want.Type = p.Value.Type(nil)
		}
		value := l.check(p.Value, a, env, want)
		assigned := func(b Assignment) bool { return b.Target == target }
		if known && target != p.Target && slices.ContainsFunc(list, assigned) {
			l.report(at, length, expr.CodeDuplicate, "", "%q is assigned twice", target)
		}
		if known && value != nil {
			list = append(list, Assignment{Target: target, Value: value, Offset: at, Length: length})
		}
	}
	return list
}

// target returns the slot that an assignment writes. A port as a target must be the name of a signal.
func (l leafReader) target(name string, span xmltree.Span, env environment) (slot string, known bool) {
	at, length := span.At, span.Len()
	if b := env.find(name); b != nil {
		e := l.resolve(b)
		if e == nil {
			return "", false
		}
		if b.value != nil {
			at, length = b.value.Raw.At, b.value.Raw.End-b.value.Raw.At
		}
		if name = e.String(); !expr.IsName(name) {
			l.report(at, length, codePort, "write the name of a signal",
				"%s writes its port %q, so that it cannot be an expression", b.use.id, b.port)
			return "", false
		}
	}
	if l.signals == nil {
		return name, true
	}
	s, ok := l.signals[name]
	switch {
	case !ok:
		l.once(diag.Diagnostic{Source: l.source, Offset: at, Length: length, Code: expr.CodeSignal,
			Text: fmt.Sprintf("unknown signal %q", name), Suggest: diag.Near(name, l.slots)})
	case !s.Slot:
		l.once(diag.Diagnostic{Source: l.source, Offset: at, Length: length, Code: codeReadOnly,
			Text:    fmt.Sprintf("%q can be read but not written", name),
			Suggest: func() string { return diag.OneOf("tasks may write ", l.slots()) }})
	}
	return name, ok && s.Slot
}

// slots returns the names of the signals that tasks may write.
func (r *reader) slots() []string {
	var slots []string
	for _, name := range slices.Sorted(maps.Keys(r.signals)) {
		if r.signals[name].Slot {
			slots = append(slots, name)
		}
	}
	return slots
}

// leaf reads the attributes of a leaf.
func (r *reader) leaf(i *item, env environment) Leaf {
	if i.leaf != nil {
		return *i.leaf
	}
	l := leafReader{reader: r, element: i.element, outer: env}
	if i.model != nil {
		l.model, l.inner = i.model.element, r.bind(i, env)
		l.outer = environment{ports: l.inner.ports, outer: &env}
	}
	leaf := Leaf{ID: i.id, Offset: i.element.At, Length: i.element.Tag.End - i.element.At, Free: i.free}
	if i.clerk != nil {
		if l.clerkLeaf(&leaf, i); i.kind.Acts() && !i.wrapped {
			l.requests(&leaf)
		}
	} else if i.script {
		leaf.On = l.scripted(attrOn)
	} else if !i.kind.Acts() {
		l.conditionLeaf(&leaf)
		if !l.has(attrOn) && leaf.Off == nil {
			leaf.On = r.called(i)
		}
		leaf.Free = !l.has(attrOn) && leaf.On == nil
		if leaf.Free && (leaf.Off != nil || leaf.until != nil) {
			r.reportName(i.element, codeNoCondition, `write on="..."`, "the condition %q does not define when it is true",
				i.name)
		}
	} else {
		if l.actionLeaf(&leaf); i.wrapped {
			leaf.SuccessIf, leaf.FailureIf = nil, nil
		}
		if !l.has(attrExitTime) && !l.has(attrExitUntil) {
			l.warnLost(leaf.Exit, "the exit procedure takes", ", or write exit_time")
		}
	}
	if l.outer.empty() { // the same in every use of the tree
		i.leaf = &leaf
	}
	return leaf
}

// called returns the Boolean signal that a condition without an expression reads: the one with the condition's ID, or
// its name if it has none; nil if there is none.
func (r *reader) called(i *item) *expr.Expr {
	name := i.id
	if name == elementCondition {
		name = i.name
	}
	if s, ok := r.signals[name]; !ok || s.Type != expr.Boolean {
		return nil
	}
	e, err := expr.Parse(name)
	if err != nil {
		panic("plan: a signal without a valid name")
	}
	return e
}

func (l leafReader) conditionLeaf(leaf *Leaf) {
	leaf.On, leaf.Off = l.condition(attrOn), l.condition(attrOff)
	leaf.until, _ = l.attribute(attrUntil)
	leaf.unknown = l.unknown()
	l.exclusive(attrOff, attrUntil, "the condition")
}

func (l leafReader) actionLeaf(leaf *Leaf) {
	l.requests(leaf)
	leaf.Entry, leaf.EntryTime = l.assignments(attrEntry), l.expression(attrEntryTime, expr.Number(expr.Second))
	defer l.activate()()
	leaf.Write, leaf.Exit = l.assignments(attrWrite), l.assignments(attrExit)
	leaf.ExitTime = l.expression(attrExitTime, expr.Number(expr.Second))
	leaf.EntryUntil, leaf.ExitUntil = l.condition(attrEntryUntil), l.condition(attrExitUntil)
	l.exclusive(attrEntryTime, attrEntryUntil, "the procedure")
	l.exclusive(attrExitTime, attrExitUntil, "the procedure")
	leaf.Done, leaf.Failed = l.condition(attrDone), l.condition(attrFailed)
}

// requests reads the preconditions that an action judges by itself.
func (l leafReader) requests(leaf *Leaf) {
	leaf.SuccessIf, leaf.FailureIf = l.scripted(attrSuccessIf), l.scripted(attrFailureIf)
}

// warnLost warns of assignments without effect: they last as long as what takes no time.
func (l leafReader) warnLost(list []Assignment, takes, or string) {
	for _, a := range list {
		if s, ok := l.signals[a.Target]; ok && !s.Hold {
			l.warn(a.Offset, a.Length, codeLostAssignment, "assign to a signal that holds its last value"+or,
				"this has no effect: %s no time, after which %q returns to its default", takes, a.Target)
		}
	}
}

// exclusive reports the second of two attributes if both are given.
func (l leafReader) exclusive(first, second, what string) {
	if b, _ := l.attribute(second); b != nil && l.has(first) {
		l.reportAttribute(b, codeConflictAttr, "keep one of them", "%q and %q both define when %s ends", first,
			second, what)
	}
}

// checkModel checks the expressions of a leaf model that do not depend on its ports.
func (r *reader) checkModel(m *model) {
	l := leafReader{reader: r, element: m.element, outer: unbound(m.ports)}
	switch m.kind {
	case elementCondition:
		l.conditionLeaf(&Leaf{})
	case elementAction:
		l.actionLeaf(&Leaf{})
	}
}
