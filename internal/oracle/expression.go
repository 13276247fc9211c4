package oracle

import (
	"fmt"
	"math"
	"slices"
)

// expression is an expression over signals as the generator makes it: written for Canopy's readers, and evaluated here
// without them. Values are numbers: a condition is 1 or 0, a value of an enumeration its index.
type expression struct {
	op    string // the word of an operator; "number", "signal", "value" (of an enumeration) or "task" has no arguments
	name  string // of a signal, a value or a task
	value float64
	args  []*expression
	place int // of a signal in the scope, of a comparison among those of the mission
}

func number(v float64) *expression                  { return &expression{op: "number", value: v} }
func reads(name string) *expression                 { return &expression{op: "signal", name: name} }
func of(op string, args ...*expression) *expression { return &expression{op: op, args: args} }

// comparisons are the relations between numbers, except those of entries alone ("less", "more"): each is an indicator,
// whose side is committed once in a round.
func (e *expression) comparison() bool {
	return slices.Contains([]string{"ge", "gt", "le", "lt"}, e.op)
}

func (e *expression) String() string {
	switch e.op {
	case "number":
		return fmt.Sprint(e.value)
	case "signal", "value", "task":
		return e.name
	case "not":
		return "not (" + e.args[0].String() + ")"
	case "if":
		return fmt.Sprintf("if(%s, %s, %s)", e.args[0], e.args[1], e.args[2])
	case "true", "false":
		return e.op
	}
	words := map[string]string{"eq": "==", "ne": "!=", "add": "+", "subtract": "-", "less": "&lt;", "more": "&gt;"}
	op, ok := words[e.op]
	if !ok {
		op = e.op
	}
	text := func(a *expression) string {
		if len(a.args) == 2 {
			return "(" + a.String() + ")"
		}
		return a.String()
	}
	return text(e.args[0]) + " " + op + " " + text(e.args[1])
}

// each calls f for an expression and all its parts.
func (e *expression) each(f func(*expression)) {
	if e == nil {
		return
	}
	f(e)
	for _, a := range e.args {
		a.each(f)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// scope gives the values of signals by their places, and reports whether a task is active or a condition true.
type scope interface {
	signal(place int) float64
	holds(name string) bool
}

// in evaluates an expression. Comparisons have their committed sides; without these they are evaluated themselves.
func (e *expression) in(s scope, sides []bool) float64 {
	if sides != nil && e.comparison() {
		return truth(sides[e.place])
	}
	switch e.op {
	case "number", "value":
		return e.value
	case "signal":
		return s.signal(e.place)
	case "task":
		return truth(s.holds(e.name))
	case "true":
		return 1
	case "false":
		return 0
	case "unset":
		return math.NaN()
	case "not":
		return 1 - e.args[0].in(s, sides)
	case "and":
		return min(e.args[0].in(s, sides), e.args[1].in(s, sides))
	case "or":
		return max(e.args[0].in(s, sides), e.args[1].in(s, sides))
	case "if":
		if e.args[0].in(s, sides) > 0 {
			return e.args[1].in(s, sides)
		}
		return e.args[2].in(s, sides)
	}
	a, b := e.args[0].in(s, sides), e.args[1].in(s, sides)
	switch e.op {
	case "ge":
		return truth(a >= b)
	case "gt":
		return truth(a > b)
	case "le":
		return truth(a <= b)
	case "lt", "less":
		return truth(a < b)
	case "more":
		return truth(a > b)
	case "eq":
		return truth(a == b)
	case "ne":
		return truth(a != b)
	case "add":
		return a + b
	case "subtract":
		return a - b
	}
	panic("oracle: an operator that does not exist")
}
