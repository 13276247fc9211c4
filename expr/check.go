package expr

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/diag"
)

// Check returns all errors that prevent the expression from being a value of the required type and, for a number, unit:
// unknown signals and functions, wrong numbers of arguments, incompatible units, conditions in place of numbers and the
// reverse. In a nil scope, names are not checked: each may have any type and unit. Errors are in the order of the text;
// their offsets refer to the text passed to Parse.
func (e *Expr) Check(want Type, unit Unit, scope Scope) []*Error {
	return e.CheckFor(Variable{Type: want, Unit: unit}, scope)
}

// CodeTask is the code of an error about a name that is neither a condition nor a task.
const CodeTask = "unknown-task"

// CodeAmbiguous is the code of an error about a name that several tasks have.
const CodeAmbiguous = "ambiguous-task"

// Tasks resolves the names of tasks that conditions may name.
type Tasks interface {
	Resolve(name string) []string // the full names of the tasks that a name or path means
	Names() []string              // all full names
}

// TaskNames is tasks that are known by their full names alone: a path is resolved by its steps in them.
type TaskNames []string

// Resolve returns the names that are equal to a name, else those that end with it and have its other steps before.
func (l TaskNames) Resolve(name string) []string {
	if slices.Contains(l, name) {
		return []string{name}
	}
	path := strings.Split(name, "/")
	return slices.DeleteFunc(slices.Clone(l), func(full string) bool {
		steps, rest := strings.Split(full, "/"), path
		for i := len(steps) - 1; i >= 0 && len(rest) > 0; i-- {
			if steps[i] == rest[len(rest)-1] {
				rest = rest[:len(rest)-1]
			} else if i == len(steps)-1 {
				break
			}
		}
		return len(rest) > 0
	})
}

// Names returns the list itself.
func (l TaskNames) Names() []string { return l }

// CheckTasks is Check for a condition in which names and paths of tasks may be used as conditions; words are others
// that a name may be confused with. It also returns the condition with the full names of these tasks.
func (e *Expr) CheckTasks(tasks Tasks, scope Scope, words ...string) (*Expr, []*Error) {
	if tasks == nil {
		tasks = TaskNames{}
	}
	c := checker{scope: scope}
	e = &Expr{e.root.named()}
	full, isTask := map[string]*Expr{}, map[string]bool{}
	for _, n := range e.Propositions() {
		v, means := scope[n.name], tasks.Resolve(n.name)
		isTask[n.name] = len(means) > 0 || v.Type != Boolean
		switch {
		case len(means) == 1 && means[0] == n.name:
		case len(means) == 1:
			full[n.name] = &Expr{(&Node{op: OpName, name: means[0]}).complete()}
		case len(means) > 1:
			c.report(n, CodeAmbiguous, fmt.Sprintf("%d tasks are called %q", len(means), n.name),
				diag.OneOf("write one of ", means))
		case !isTask[n.name]:
		case !scope.declares(n.name):
			c.reportName(n, CodeTask, fmt.Sprintf("no condition or task is called %q", n.name),
				func() []string { return slices.Concat(tasks.Names(), words) })
		default:
			is, relation := a(v.Type), "== ..."
			if v.Type == Real {
				is, relation = "a real signal", "> 0"
				if !v.Unit.Same(One) {
					is, relation = fmt.Sprintf("%s in %v", is, v.Unit), fmt.Sprintf("%s [%v]", relation, v.Unit)
				}
			}
			c.report(n, CodeTask, fmt.Sprintf("%q is %s, not a condition", n.name, is),
				fmt.Sprintf("write a relation such as \"%s %s\"", n.name, relation))
		}
	}
	judged := e.Judged(func(name string) bool { return isTask[name] })
	c.errors = append(c.errors, judged.Check(Boolean, AnyUnit, scope)...)
	if e = (&Expr{e.root.renamed(full)}); len(c.errors) == 0 {
		e = e.Resolved(scope)
	}
	return e, c.errors
}

// propositional reports whether a node joins conditions.
func (n *Node) propositional() bool { return n.op == OpAnd || n.op == OpOr || n.op == OpNot }

// named returns the node with the paths among its propositions, which read as divisions of names, as names.
func (n *Node) named() *Node {
	if path, ok := n.path(); ok && n.op == OpDivide {
		return (&Node{op: OpName, name: path, at: n.at, end: n.end}).complete()
	}
	if n.propositional() {
		return n.rebuilt((*Node).named)
	}
	return n
}

// path returns the text of names that are divided by each other.
func (n *Node) path() (string, bool) {
	if n.op == OpName {
		return n.name, true
	}
	if n.op != OpDivide || n.args[1].op != OpName {
		return "", false
	}
	above, ok := n.args[0].path()
	return above + "/" + n.args[1].name, ok
}

// renamed returns the node with other names in place of some of its propositions.
func (n *Node) renamed(with map[string]*Expr) *Node {
	if r := with[n.name]; n.op == OpName && r != nil {
		return r.root.moved(n)
	}
	if n.propositional() {
		return n.rebuilt(func(a *Node) *Node { return a.renamed(with) })
	}
	return n
}

// CheckFor is Check for an expression that gives the value of a variable.
func (e *Expr) CheckFor(v Variable, scope Scope) []*Error {
	c := checker{scope: scope}
	if e.root.parts > MaxParts {
		c.report(e.root, CodeSyntax, tooLarge, "")
		return c.errors
	}
	switch v.Type {
	case Boolean:
		c.condition(e.root, "a condition is expected")
	case Integer, Enumeration, Text:
		c.discrete(e.root, v)
	case Real:
		if q := c.number(e.root, "a number is expected"); !q.fits(quantity{unit: v.Unit}) {
			want := fmt.Sprintf("a value in %v", v.Unit)
			if v.Unit == One {
				want = "a pure number"
			}
			c.report(e.root, CodeIncoherence, fmt.Sprintf("%s is expected, but %s", want, q.of(e.root)), "")
		}
	default:
		panic("expr: Check for an unknown type")
	}
	if len(c.errors) == 0 && e.Resolved(scope).root.parts > MaxParts {
		c.report(e.root, CodeSyntax, tooLarge, "")
	}
	slices.SortStableFunc(c.errors, func(a, b *Error) int { return cmp.Compare(a.Offset, b.Offset) })
	return slices.CompactFunc(c.errors, func(a, b *Error) bool { // the middle of a chain is part of two relations
		return a.Offset == b.Offset && a.Length == b.Length && a.Text == b.Text
	})
}

// anyType is the type of a name in a nil scope.
const anyType Type = math.MaxUint8

// declares reports whether a name is that of a signal.
func (s Scope) declares(name string) bool {
	_, ok := s[name]
	return ok
}

// IsValue reports whether a name is a value of a declared enumeration, and no signal.
func (s Scope) IsValue(name string) bool {
	for _, v := range s {
		if slices.Contains(v.Values, name) {
			return !s.declares(name)
		}
	}
	return false
}

// variable returns the type of a node's value and, for an enumeration, its values, provided that Check accepts it.
// Computed numbers are real here, even if they are whole.
func (s Scope) variable(n *Node) Variable {
	switch {
	case n.op == OpName && n.numeric:
		return Variable{Type: Real}
	case n.op == OpName && s == nil:
		return Variable{Type: anyType}
	case n.op == OpName:
		return s[n.name]
	case n.op == OpText:
		return Variable{Type: Text}
	case n.op == OpTruth, OpLess <= n.op && n.op <= OpNot, n.name == isKnown && s.ofSource(n):
		return Variable{Type: Boolean}
	case n.op == OpIf && len(n.args) == 3:
		a, b := s.variable(n.args[1]), s.variable(n.args[2])
		switch {
		case a.Type == b.Type, a.Type == Enumeration, b.Type == anyType:
			return a
		case b.Type == Enumeration, a.Type == anyType:
			return b
		}
	}
	return Variable{Type: Real}
}

// integer reports whether a number is whole whatever its signals are.
func (s Scope) integer(n *Node) bool {
	switch n.op {
	case OpNumber:
		return n.unit.any && n.value == math.Trunc(n.value) && math.Abs(n.value) <= MaxInteger
	case OpName:
		return s == nil || s[n.name].Type == Integer
	case OpIf:
		return len(n.args) == 3 && s.integer(n.args[1]) && s.integer(n.args[2])
	case OpCall:
		switch n.name {
		case "abs", "min", "max", "sign", "mod", "bitand", "bitor", "bitxor", "bitnot":
		case "floor":
			return s.discrete(n)
		default:
			return false
		}
	case OpNegative, OpAdd, OpSubtract, OpMultiply:
	default:
		return false
	}
	return !slices.ContainsFunc(n.args, func(a *Node) bool { return !s.integer(a) })
}

// discrete reports whether a node reads signals, all of which change only at instants.
func (s Scope) discrete(n *Node) bool {
	reads := false
	for n := range n.names() {
		v, declared := s[n.name]
		if declared && !v.discrete() {
			return false
		}
		reads = reads || declared
	}
	return reads
}

// continuous reports whether a node reads a signal that may change between instants.
func (s Scope) continuous(n *Node) bool {
	for n := range n.names() {
		if v, declared := s[n.name]; declared && !v.discrete() {
			return true
		}
	}
	return false
}

// quantity is the checker's view of a value: its unit, and whether it consists of bare numbers alone. A bare number
// fits every unit in sums and relations and is a plain factor in products; an unknown unit makes products unknown.
type quantity struct {
	unit Unit
	bare bool
}

var (
	unknown   = quantity{unit: AnyUnit}
	bare      = quantity{unit: One, bare: true}
	pureRatio = quantity{unit: One}
)

// fits reports whether the quantities may be added or compared.
func (q quantity) fits(r quantity) bool { return q.bare || r.bare || q.unit.Same(r.unit) }

// settled reports whether the quantity has one known unit.
func (q quantity) settled() bool { return !q.bare && !q.unit.any }

// plain reports whether the quantity may be a pure number.
func (q quantity) plain() bool { return q.unit.Same(One) }

// of returns a phrase that states the unit of a node's value.
func (q quantity) of(n *Node) string {
	if q.unit.text == One.text || q.unit.text == "" && q.plain() {
		return short(n) + " is a pure number"
	}
	return fmt.Sprintf("%s is in %v", short(n), q.unit)
}

// short returns the text of a node for a message.
func short(n *Node) string {
	const most = 40
	b := writer{most: utf8.UTFMax * most}
	n.write(&b, 0)
	if text := []rune(b.String()); len(text) > most {
		return string(text[:most]) + "..."
	}
	return b.String()
}

// maxMistakes is the maximum number of unit errors in sums shown for one expression.
const maxMistakes = 50

// checker collects the errors of one expression.
type checker struct {
	scope  Scope
	errors []*Error
}

func (c *checker) report(n *Node, code, text, hint string) {
	c.errors = append(c.errors, &Error{Offset: n.at, Length: n.end - n.at, Code: code, Text: text, Hint: hint, Node: n})
}

// reportName reports a node whose name is not among the known ones.
func (c *checker) reportName(n *Node, code, text string, known func() []string) {
	c.report(n, code, text, "")
	c.errors[len(c.errors)-1].Suggest = diag.Near(n.name, known)
}

// condition checks a node that must be a condition; need begins the message.
func (c *checker) condition(n *Node, need string) {
	t := c.scope.variable(n).Type
	is := t == Boolean || t == anyType
	if is && n.op == OpIf {
		c.conditions(n.args, "if needs conditions here")
		return
	}
	before := len(c.errors)
	c.value(n)
	if is || len(c.errors) > before && (n.op == OpCall || n.op == OpIf) {
		return
	}
	hint := ""
	if n.op == OpName && t == Real {
		hint = fmt.Sprintf("compare it, as in \"%s > 0.5\"", n.name)
	}
	c.report(n, CodeType, fmt.Sprintf("%s, but %s is %s", need, short(n), a(t)), hint)
}

func (c *checker) conditions(list []*Node, need string) {
	for _, n := range list {
		c.condition(n, need)
	}
}

// a returns a type with its article.
func a(t Type) string {
	switch t {
	case Enumeration:
		return "a value of an enumeration"
	case Integer:
		return "a number"
	default:
		return "a " + t.String()
	}
}

// discrete checks a node that must be a value of a discrete type.
func (c *checker) discrete(n *Node, want Variable) {
	switch t := c.scope.variable(n); {
	case n.op == OpIf:
		for _, chosen := range c.choices(n) {
			c.discrete(chosen, want)
		}
	case want.Type == Boolean:
		c.condition(n, "a condition is compared with a condition")
	case want.Type == Integer:
		before := len(c.errors)
		c.number(n, "a whole number is expected")
		if len(c.errors) == before && !c.scope.integer(n) {
			c.report(n, CodeType, fmt.Sprintf("a whole number is expected, but %s may be a fraction", short(n)), "")
		}
	case n.op == OpName && c.scope == nil:
	case want.Type == Enumeration && n.op == OpName && !c.scope.declares(n.name):
		if !slices.Contains(want.Values, n.name) {
			c.report(n, CodeValue, fmt.Sprintf("%q is not one of %s", n.name, strings.Join(want.Values, ", ")),
				diag.DidYouMean(n.name, want.Values))
		}
	case want.Type == Enumeration && t.Type == Enumeration:
		if !slices.Equal(t.Values, want.Values) {
			c.report(n, CodeType, fmt.Sprintf("%s has other values than %s", n.name, strings.Join(want.Values, ", ")), "")
		}
	case want.Type != t.Type:
		c.value(n)
		c.report(n, CodeType, fmt.Sprintf("%s is expected, but %s is %s", a(want.Type), short(n), a(t.Type)), "")
	}
}

// equality checks the comparison of two values, which must be discrete: between reals that change continuously it holds
// at isolated times or never, so it is not the side of an event indicator.
func (c *checker) equality(n *Node) {
	x, y := n.args[0], n.args[1]
	s := c.scope.variable(x)
	if t := c.scope.variable(y); s.Type == Real || s.Type == anyType { // the other side determines what is compared
		s = t
	}
	switch {
	case s.Type == Enumeration, s.Type == Text, s.Type == Boolean:
		for _, a := range n.args {
			c.discrete(a, s)
		}
	case c.scope.integer(x) && c.scope.integer(y):
		c.alike(n.args, fmt.Sprintf("%q compares numbers", operators[n.op].Text))
	case c.scope != nil && !c.scope.continuous(n):
		c.alike(n.args, fmt.Sprintf("%q compares numbers", operators[n.op].Text))
	default:
		before := len(c.errors)
		for _, a := range n.args {
			c.number(a, fmt.Sprintf("%q compares values", operators[n.op].Text))
		}
		if len(c.errors) > before {
			return
		}
		hint := fmt.Sprintf("compare with a tolerance: abs(%s - %s) < tolerance", n.args[0].text(bindSum),
			n.args[1].text(bindProduct))
		c.reportSign(n, CodeEquality, "%q between real numbers has no meaning over time", hint)
		return
	}
	if sign := operators[n.op].Text; n.spelled != sign {
		c.reportSign(n, CodeSyntax, "%q is not an operator of this language", fmt.Sprintf("write %q", sign))
	}
}

// reportSign reports an equality at its sign, which the text names.
func (c *checker) reportSign(n *Node, code, text, hint string) {
	c.report(n, code, fmt.Sprintf(text, n.spelled), hint)
	m := c.errors[len(c.errors)-1]
	m.Offset, m.Length = n.sign, len(n.spelled)
}

// number checks a node that must be a number and returns its unit; need begins the message.
func (c *checker) number(n *Node, need string) quantity {
	q := c.value(n)
	t, hint := c.scope.variable(n).Type, `compare it with "=="`
	switch t {
	case Boolean:
		hint = fmt.Sprintf("\"if(%s, 1, 0)\" converts it to a number", short(n))
	case Enumeration, Text:
	default:
		return q
	}
	c.report(n, CodeType, fmt.Sprintf("%s, but %s is %s", need, short(n), a(t)), hint)
	return unknown
}

// value checks a node on its own. It returns the unit of a number.
func (c *checker) value(n *Node) quantity {
	operator := operators[n.op].Text
	switch n.op {
	case OpNumber, OpPi:
		if n.op == OpPi || n.unit.any {
			return bare
		}
		return quantity{unit: n.unit}
	case OpName:
		return c.signal(n)
	case OpAdd:
		isText := func(a *Node) bool { return c.scope.variable(a).Type == Text }
		if n.spelled != "" || slices.ContainsFunc(n.args, isText) {
			c.arguments(n)
			x, y := short(n.args[0]), short(n.args[1])
			c.report(n, CodeType, fmt.Sprintf("only literal texts can be joined, not %s and %s", x, y), "")
			return unknown
		}
		return c.alike(n.args, fmt.Sprintf("%q needs numbers", operator))
	case OpNegative, OpSubtract:
		return c.alike(n.args, fmt.Sprintf("%q needs numbers", operator))
	case OpMultiply, OpDivide:
		return c.product(n)
	case OpPower:
		return c.power(n)
	case OpCall:
		return c.call(n)
	case OpIf:
		switch t := c.scope.variable(n); t.Type {
		case Boolean:
			c.condition(n, "")
		case Enumeration, Text:
			c.discrete(n, t)
		default:
			return c.alike(c.choices(n), "if chooses between numbers")
		}
	case OpAnd, OpOr:
		c.conditions(n.args, fmt.Sprintf("%q joins conditions", operator))
	case OpNot:
		c.condition(n.args[0], `"not" needs a condition`)
	case OpEqual, OpNotEqual:
		c.equality(n)
	case OpLess, OpLessEqual, OpGreater, OpGreaterEqual:
		c.alike(n.args, fmt.Sprintf("%q compares numbers", operator))
		c.degrees(n.args)
	}
	return unknown // a text or a condition
}

func (c *checker) signal(n *Node) quantity {
	if c.scope == nil {
		return unknown
	}
	switch v, ok := c.scope[n.name]; {
	case ok && v.Table != nil:
		c.report(n, CodeType, fmt.Sprintf("%s is a table", n.name), fmt.Sprintf("write %s(...)", n.name))
		return unknown
	case ok && v.Type == Integer:
		return pureRatio
	case ok:
		return quantity{unit: v.Unit}
	}
	if hint := ofHome[n.name]; hint != "" {
		c.report(n, CodeSignal, "places on the earth need the place of home, which is not known here", hint)
		return unknown
	}
	text := fmt.Sprintf("unknown signal %q", n.name)
	if functionIndex(n.name) >= 0 {
		c.report(n, CodeSignal, text, fmt.Sprintf("the function %[1]s is written %[1]s(...)", n.name))
	} else {
		c.reportName(n, CodeSignal, text, func() []string { return slices.Sorted(maps.Keys(c.scope)) })
	}
	return unknown
}

// alike checks values that must all be numbers of one unit, and returns it.
func (c *checker) alike(args []*Node, need string) quantity {
	sum := unknown
	var from *Node // the argument that determined the unit
	for i, a := range args {
		q := c.number(a, need)
		switch {
		case i == 0, !sum.settled() && q.settled(), sum.bare:
			sum, from = q, a
		case !sum.fits(q) && len(c.errors) < maxMistakes:
			c.report(a, CodeIncoherence, fmt.Sprintf("%s, but %s", sum.of(from), q.of(a)), "")
		}
	}
	return sum
}

func (c *checker) product(n *Node) quantity {
	need := fmt.Sprintf("%q needs numbers", operators[n.op].Text)
	a, b := c.number(n.args[0], need), c.number(n.args[1], need)
	if a.unit.any || b.unit.any {
		return unknown
	}
	exponent := int32(1)
	if n.op == OpDivide {
		exponent = -1
	}
	unit := a.unit.times(b.unit, exponent)
	if !unit.moderate() {
		c.report(n, CodeIncoherence, fmt.Sprintf("the exponents of the unit of %s are out of range", short(n)), "")
		return unknown
	}
	return quantity{unit, a.bare && b.bare}
}

func (c *checker) power(n *Node) quantity {
	base, exponent := n.args[0], n.args[1]
	q := c.number(base, `"^" needs numbers`)
	before := len(c.errors)
	p := c.number(exponent, `"^" needs numbers`)
	switch {
	case !p.plain():
		c.report(exponent, CodeIncoherence, "an exponent is a pure number, but "+p.of(exponent), "")
		return unknown
	case q.unit.any, q.bare && p.bare:
		return q
	case q.plain():
		return pureRatio
	case len(c.errors) > before:
		return unknown
	case !exponent.constant:
		c.report(exponent, CodeIncoherence, fmt.Sprintf("%s, so its exponent must be a constant", q.of(base)), "")
		return unknown
	}
	unit, ok := q.unit.power(exponent.folded)
	if !ok {
		c.report(n, CodeIncoherence, fmt.Sprintf("%s, and this power of it has no unit", q.of(base)), "")
		return unknown
	}
	return quantity{unit: unit}
}

// choices checks the number of arguments of an if and its condition, and returns the others.
func (c *checker) choices(n *Node) []*Node {
	if !c.counted(n, 3, 3) {
		return nil
	}
	c.condition(n.args[0], "if begins with a condition")
	return n.args[1:]
}

// counted checks the number of a function's arguments. If it is wrong, it checks each of them on its own.
func (c *checker) counted(n *Node, least, most int) bool {
	given := len(n.args)
	if given > 0 && n.args[given-1].implied {
		given -= len(implied[n.name])
	}
	if least <= given && given <= most {
		return true
	}
	defer c.arguments(n)
	want := fmt.Sprint(least)
	if most > least {
		want = fmt.Sprintf("at least %d", least)
	}
	noun := "arguments"
	if want == "1" {
		noun = "argument"
	}
	c.report(n, CodeArguments, fmt.Sprintf("%s takes %s %s, not %d", n.name, want, noun, given), "")
	return false
}

// arguments checks each argument of a node on its own.
func (c *checker) arguments(n *Node) {
	for _, a := range n.args {
		c.value(a)
	}
}

// bits checks an operation on the bits of integers. Whether a number that changes only at instants is one is seen then.
func (c *checker) bits(n *Node) quantity {
	for _, a := range n.args {
		before := len(c.errors)
		if c.scope.variable(a).Type == Boolean {
			c.report(a, CodeType, fmt.Sprintf("%s needs whole numbers, but %s is a condition", n.name, short(a)),
				`write "and", "or" or "not" for conditions`)
		} else if c.number(a, n.name+" needs whole numbers"); len(c.errors) == before && !c.scope.integer(a) &&
			!c.scope.discrete(a) {
			c.report(a, CodeType, fmt.Sprintf("%s needs whole numbers, but %s may be a fraction", n.name, short(a)), "")
		}
	}
	return bare
}

func (c *checker) call(n *Node) quantity {
	if v := c.scope[n.name]; v.Table != nil {
		return c.table(n, v)
	}
	if c.scope.ofSource(n) {
		return c.source(n)
	}
	index := functionIndex(n.name)
	if index < 0 {
		c.reportName(n, CodeFunction, fmt.Sprintf("unknown function %q", n.name), functionNames)
		c.arguments(n)
		return unknown
	}
	f, own := functions[index], len(implied[n.name]) // which the text does not have
	if !c.counted(n, f.least-own, f.most-own) {
		return unknown
	}
	rule := f.unit
	switch rule {
	case integers:
		return c.bits(n)
	case placed:
		return c.place(n)
	}
	q := c.alike(n.args, n.name+" needs numbers")
	switch half, ok := q.unit.power(0.5); {
	case rule == onEarth && q.plain():
		return quantity{unit: metre}
	case q.bare, rule == keeps, rule == root && q.unit.any:
		return q
	case rule == root && ok:
		return quantity{unit: half}
	case rule == root:
		c.report(n, CodeIncoherence, fmt.Sprintf("%s, and its square root has no unit", q.of(n.args[0])), "")
		return unknown
	case (rule == pure || rule == onEarth) && !q.plain():
		c.report(n.args[0], CodeIncoherence,
			fmt.Sprintf("%s takes an angle or a pure number, but %s", n.name, q.of(n.args[0])), "")
	}
	return pureRatio
}
