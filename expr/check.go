package expr

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"canopy/diag"
)

// Scope declares the signals that an expression may read, with their units, which must be coherent.
type Scope map[string]Unit

// Check returns all mistakes that keep the expression from being a value of the wanted type and, for a number, unit:
// unknown signals and functions, wrong numbers of arguments, units that do not go together, conditions in the place of
// numbers and the reverse. In a nil scope, names are not judged: each may have any unit. Errors are in the order of the
// text, their places in the text that Parse was given.
func (e *Expr) Check(want Type, unit Unit, scope Scope) []*Error {
	c := checker{scope: scope}
	if want == Boolean {
		c.condition(e.root, "a condition is wanted")
	} else if q := c.number(e.root, "a number is wanted"); !q.fits(quantity{unit: unit}) {
		want := fmt.Sprintf("a value in %v", unit)
		if unit == One {
			want = "a pure number"
		}
		c.report(e.root, CodeIncoherence, fmt.Sprintf("%s is wanted, but %s", want, q.of(e.root)), "")
	}
	slices.SortStableFunc(c.errors, func(a, b *Error) int { return cmp.Compare(a.Offset, b.Offset) })
	return c.errors
}

// quantity is what the checker knows of a value: its unit, and whether it is made of bare numbers alone. A bare number
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

// of says in which unit the value of a node is.
func (q quantity) of(n *node) string {
	if q.unit.text == One.text || q.unit.text == "" && q.plain() {
		return short(n) + " is a pure number"
	}
	return fmt.Sprintf("%s is in %v", short(n), q.unit)
}

// short returns the text of a node for a message.
func short(n *node) string {
	const most = 40
	text := []rune(n.String())
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}

// checker collects the mistakes of one expression.
type checker struct {
	scope  Scope
	errors []*Error
}

func (c *checker) report(n *node, code, text, hint string) {
	c.errors = append(c.errors, &Error{Offset: n.at, Length: n.end - n.at, Code: code, Text: text, Hint: hint})
}

// condition checks a node that must be a condition; need says for whom.
func (c *checker) condition(n *node, need string) {
	if n.typ() == Real {
		before := len(c.errors)
		c.number(n, "")
		if len(c.errors) == before || n.op != opCall {
			hint := ""
			if n.op == opName {
				hint = fmt.Sprintf("compare it, as in \"%s > 0.5\"", n.name)
			}
			c.report(n, CodeType, fmt.Sprintf("%s, but %s is a number", need, short(n)), hint)
		}
		return
	}
	switch sign := strings.TrimSpace(operators[n.op].text); {
	case n.op == opAnd, n.op == opOr:
		for _, a := range n.args {
			c.condition(a, fmt.Sprintf("%q joins conditions", sign))
		}
	case n.op == opNot:
		c.condition(n.args[0], `"not" needs a condition`)
	case n.relation():
		c.alike(n, fmt.Sprintf("%q compares numbers", sign))
	}
}

// number checks a node that must be a number and returns its unit; need says for whom.
func (c *checker) number(n *node, need string) quantity {
	if n.typ() == Boolean {
		c.condition(n, "")
		c.report(n, CodeType, fmt.Sprintf("%s, but %s is a condition", need, short(n)),
			fmt.Sprintf("\"if(%s, 1, 0)\" makes a number of it", short(n)))
		return unknown
	}
	switch n.op {
	case opNumber:
		if n.unit.any {
			return bare
		}
		return quantity{unit: n.unit}
	case opPi:
		return bare
	case opName:
		return c.signal(n)
	case opNegative, opAdd, opSubtract:
		return c.alike(n, fmt.Sprintf("%q needs numbers", strings.TrimSpace(operators[n.op].text)))
	case opMultiply, opDivide:
		return c.product(n)
	case opPower:
		return c.power(n)
	case opIf:
		if !c.counted(n, 3, 3) {
			c.arguments(n)
			return unknown
		}
		c.condition(n.args[0], "if begins with a condition")
		branches := *n
		branches.args = n.args[1:]
		return c.alike(&branches, "if chooses between numbers")
	default:
		return c.call(n)
	}
}

func (c *checker) signal(n *node) quantity {
	if c.scope == nil {
		return unknown
	}
	if unit, ok := c.scope[n.name]; ok {
		return quantity{unit: unit}
	}
	mistake := &Error{Offset: n.at, Length: n.end - n.at, Code: CodeSignal, Text: fmt.Sprintf("unknown signal %q", n.name)}
	if _, ok := functions[n.name]; ok {
		mistake.Hint = fmt.Sprintf("the function %[1]s is written %[1]s(...)", n.name)
	} else {
		mistake.Suggest = diag.Near(n.name, func() []string { return slices.Sorted(maps.Keys(c.scope)) })
	}
	c.errors = append(c.errors, mistake)
	return unknown
}

// alike checks arguments that must all be numbers of one unit, and returns it.
func (c *checker) alike(n *node, need string) quantity {
	var sum quantity
	var from *node // the argument that settled the unit
	for i, a := range n.args {
		q := c.number(a, need)
		switch {
		case i == 0, !sum.settled() && q.settled(), sum.bare:
			sum, from = q, a
		case !sum.fits(q):
			c.report(a, CodeIncoherence, fmt.Sprintf("%s, but %s", sum.of(from), q.of(a)), "")
		}
	}
	return sum
}

func (c *checker) product(n *node) quantity {
	need := fmt.Sprintf("%q needs numbers", strings.TrimSpace(operators[n.op].text))
	a, b := c.number(n.args[0], need), c.number(n.args[1], need)
	if a.unit.any || b.unit.any {
		return unknown
	}
	exponent := int16(1)
	if n.op == opDivide {
		exponent = -1
	}
	return quantity{a.unit.times(b.unit, exponent), a.bare && b.bare}
}

func (c *checker) power(n *node) quantity {
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
	case !exponent.constant():
		c.report(exponent, CodeIncoherence, fmt.Sprintf("%s, so its exponent must be a constant", q.of(base)), "")
		return unknown
	}
	unit, ok := q.unit.power(constantValue(exponent))
	if !ok {
		c.report(n, CodeIncoherence, fmt.Sprintf("%s, and this power of it has no unit", q.of(base)), "")
		return unknown
	}
	return quantity{unit: unit}
}

// counted checks the number of a function's arguments.
func (c *checker) counted(n *node, least, most int) bool {
	if least <= len(n.args) && len(n.args) <= most {
		return true
	}
	want := fmt.Sprint(least)
	if most > least {
		want = fmt.Sprintf("at least %d", least)
	}
	noun := "arguments"
	if want == "1" {
		noun = "argument"
	}
	c.report(n, CodeArguments, fmt.Sprintf("%s takes %s %s, not %d", n.name, want, noun, len(n.args)), "")
	return false
}

// arguments checks each argument of a node for itself.
func (c *checker) arguments(n *node) {
	for _, a := range n.args {
		if a.typ() == Boolean {
			c.condition(a, "")
		} else {
			c.number(a, "")
		}
	}
}

func (c *checker) call(n *node) quantity {
	f, ok := functions[n.name]
	if !ok {
		names := append(slices.Sorted(maps.Keys(functions)), "if")
		c.report(n, CodeFunction, fmt.Sprintf("unknown function %q", n.name), diag.DidYouMean(n.name, names))
	}
	if !ok || !c.counted(n, f.least, f.most) {
		c.arguments(n)
		return unknown
	}
	need := n.name + " needs numbers"
	if f.unit == keeps || f.unit == ratio {
		q := c.alike(n, need)
		if f.unit == ratio && !q.bare {
			return pureRatio
		}
		return q
	}
	q := c.number(n.args[0], need)
	switch {
	case f.unit == root && !q.unit.any:
		half, ok := q.unit.power(0.5)
		if !ok {
			c.report(n, CodeIncoherence, fmt.Sprintf("%s, and its square root has no unit", q.of(n.args[0])), "")
			return unknown
		}
		return quantity{half, q.bare}
	case f.unit == pure && !q.plain():
		c.report(n.args[0], CodeIncoherence,
			fmt.Sprintf("%s takes an angle or a pure number, but %s", n.name, q.of(n.args[0])), "")
		return pureRatio
	case f.unit == pure && !q.bare:
		return pureRatio
	}
	return q
}
