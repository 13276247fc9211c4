package expr

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

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
		c.condition(e.root, "a condition should stand")
	} else {
		q := c.number(e.root, "a number should stand")
		if !q.unit.Same(unit) {
			c.report(e.root, CodeIncoherence, fmt.Sprintf("the value must be in %v, but %s", unit, q.is(e.root)), "")
		}
	}
	slices.SortStableFunc(c.errors, func(a, b *Error) int { return cmp.Compare(a.Offset, b.Offset) })
	return c.errors
}

// checker collects the mistakes of one expression.
type checker struct {
	scope  Scope
	errors []*Error
}

// quantity is what the checker knows of a value: its unit, and whether it is made of bare numbers alone. A bare number
// fits every unit in sums and relations and is a plain factor in products; an unknown unit makes products unknown.
type quantity struct {
	unit Unit
	bare bool
}

var unknown = quantity{unit: AnyUnit}

func (q quantity) is(n *node) string { return n.String() + " is in " + q.unit.String() }
func (c *checker) report(n *node, code, text, hint string) {
	c.errors = append(c.errors, &Error{n.at, n.end - n.at, code, text, hint})
}
func (c *checker) condition(n *node, why string)       {}
func (c *checker) number(n *node, why string) quantity { return unknown }

var _ = maps.Keys[Scope]
var _ = diag.Nearest
