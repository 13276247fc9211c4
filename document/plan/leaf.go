package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// leafReader reads the attributes of one leaf: those of its element, else those of its model.
type leafReader struct {
	*compiler
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
	e, err := expr.ParseFor(a.Value, want.Unit)
	if err != nil {
		l.reportSyntax(a, err)
		return nil
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
func (c *compiler) slots() []string {
	var slots []string
	for _, name := range slices.Sorted(maps.Keys(c.signals)) {
		if c.signals[name].Slot {
			slots = append(slots, name)
		}
	}
	return slots
}

// leaf reads the attributes of a leaf.
func (c *compiler) leaf(n *node, env environment) Leaf {
	if leaf, known := c.read[n]; known {
		return leaf
	}
	l := leafReader{compiler: c, element: n.element, outer: env}
	if n.model != nil {
		l.model, l.inner = n.model.element, n.bind(env)
		l.outer = environment{ports: l.inner.ports, outer: &env}
	}
	leaf := Leaf{ID: n.id, Offset: n.element.At, Length: n.element.Tag.End - n.element.At, Free: n.free,
		Lenient: n.lenient}
	if n.kind.Acts() && !n.wrapped {
		l.requests(&leaf)
	}
	switch {
	case n.access != nil:
		l.accessLeaf(&leaf, n)
	case n.script:
		leaf.On = l.scripted(attrOn)
	case n.kind.Acts():
		if !n.free {
			l.actionLeaf(&leaf)
		}
		if !l.has(attrExitTime) && !l.has(attrExitUntil) {
			l.warnLost(leaf.Exit, "the exit procedure takes", ", or write exit_time")
		}
	default:
		l.conditionLeaf(&leaf)
		if !l.has(attrOn) && leaf.Off == nil {
			leaf.On = c.called(n)
		}
		leaf.Free = !l.has(attrOn) && leaf.On == nil
		if leaf.Free && (leaf.Off != nil || leaf.until != nil) {
			c.reportName(n.element, codeNoCondition, `write on="..."`, "the condition %q does not define when it is true",
				n.name)
		}
	}
	if l.outer.empty() { // the same in every use of the tree
		c.read[n] = leaf
	}
	return leaf
}

// called returns the Boolean signal that a condition without an expression reads: the one with the condition's ID, or
// its name if it has none; nil if there is none.
func (c *compiler) called(n *node) *expr.Expr {
	name := n.id
	if name == elementCondition {
		name = n.name
	}
	if s, ok := c.signals[name]; !ok || s.Type != expr.Boolean {
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
	leaf.Entry, leaf.EntryTime = l.marked(l.assignments(attrEntry)), l.expression(attrEntryTime, expr.Number(expr.Second))
	defer l.activate()()
	leaf.Write, leaf.Exit = l.assignments(attrWrite), l.marked(l.assignments(attrExit))
	for _, mark := range l.marked(leaf.Write) {
		if mark.Notes {
			leaf.Entry = append(leaf.Entry, mark)
		}
	}
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
func (c *compiler) checkModel(m *model) {
	l := leafReader{compiler: c, element: m.element, outer: unbound(names(m.ports))}
	switch m.kind {
	case elementCondition:
		l.conditionLeaf(&Leaf{})
	case elementAction:
		l.requests(&Leaf{})
		l.actionLeaf(&Leaf{})
	}
}

// accessLeaf gives a leaf what it does with the blackboard: an action that makes assignments and has ended, or a
// condition.
func (l leafReader) accessLeaf(leaf *Leaf, n *node) {
	a, w := n.access, l.watchers[nodeUse{n, l.outer.scope}]
	leaf.ID = n.kind.String() // what it does is said in full
	switch {
	case a.does != nil:
		a.does.compile(l, leaf, n)
	case a.condition != nil && n.kind.Acts(): // once its assignments are made
		l.assign(leaf, a, nil)
		if leaf.Done = l.script(a.condition, a.at, expr.Variable{Type: expr.Boolean}); leaf.Done != nil {
			leaf.Failed = leaf.Done.Not()
		}
	case a.condition != nil:
		leaf.On = l.script(a.condition, a.at, expr.Variable{Type: expr.Boolean})
	case w != nil && !n.kind.Acts():
		leaf.On = w.updated(true)
	case w != nil:
		leaf.Exit, leaf.Done, leaf.FailureIf = w.see(leaf.Offset), always, w.updated(false)
	default:
		leaf.Done = always
		l.assign(leaf, a, nil)
	}
}

// assign gives a leaf the assignments of its statements; one that takes values from a queue gets the next one.
func (l leafReader) assign(leaf *Leaf, c *access, from *queue) {
	for _, w := range c.writes {
		target, known := l.target(w.target, w.span, l.outer)
		if !known {
			continue
		}
		a := Assignment{Target: target, Offset: w.span.At, Length: w.span.Len()}
		want := l.types[target]
		if s, ok := l.signals[target]; ok {
			want = s.variable()
		}
		switch {
		case from != nil:
			var unfit string
			if a.Value, unfit = from.next(want.Type); a.Value == nil {
				l.report(w.span.At, w.span.Len(), codeTypes, "", "%q of the queue is not %s", unfit, values[want.Type])
			}
		case w.literal != nil:
			if a.Value = literal(w.literal.Value, want.Type); a.Value == nil {
				l.unfit(w.literal, want.Type)
			}
		case w.value != nil:
			a.Value = l.script(w.value, c.at, want)
		default:
			a.Value, a.Unset = always, true
		}
		if a.Value == nil {
			continue
		}
		leaf.Entry = append(leaf.Entry, a)
	}
	leaf.Entry = l.marked(leaf.Entry)
	l.warnLost(leaf.Entry, "a script takes", "")
}

// marked returns a list of assignments, each followed by those that tell the watchers of its slot that it was written.
func (l leafReader) marked(list []Assignment) (all []Assignment) {
	for _, a := range list {
		all = append(all, a)
		for _, w := range l.watched[a.Target] {
			at := xmltree.Span{At: a.Offset, End: a.Offset + a.Length}
			if l.within(&l.marks, 1, maxMarks, at, "", "the plan's tasks write watched entries more than %d times") {
				all = append(all, w.mark(!a.Unset, a))
			}
		}
	}
	return all
}

// script returns an expression of a script that gives the value of a variable; nil if it is wrong.
func (l leafReader) script(e *expr.Expr, at *xmltree.Attribute, want expr.Variable) *expr.Expr {
	env := environment{ports: map[string]*binding{}, outer: &l.outer}
	for _, name := range e.Names() { // in scripts, the value that a use gives to a port is a literal
		b := l.outer.find(name)
		if b == nil || b.value == nil || b.use == nil || b.use.subtree == nil {
			continue
		}
		if _, named := entry(b.value.Value, name); !named {
			env.ports[name] = &binding{port: name, use: b.use, value: b.value, read: true,
				expr: literal(b.value.Value, literalType(b.value.Value))}
		}
	}
	if e = l.replaced(e, at, env); e == nil {
		return nil
	}
	return l.fits(e, at, env, want, true)
}
