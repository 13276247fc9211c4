package oracle

import (
	"fmt"
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
