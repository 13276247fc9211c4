package live

import (
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/expr"
)

// Input is a registered value that the program sets and the plan's expressions read.
type Input[T any] struct {
	x      *Execution
	signal int
	kind   variable
}

// Set sets the value. It does not block.
func (i Input[T]) Set(value T) {
	n, err := i.kind.number(value)
	if err != nil {
		panic("live: " + err.Error())
	}
	i.x.set(i.signal, n)
}

// variable is the type of a value in the plan, and the unit in which the program gives or takes a number.
type variable struct {
	expr.Variable
	unit expr.Unit
}

var (
	truth = variable{expr.Variable{Type: expr.Boolean}, expr.AnyUnit}
	whole = variable{expr.Variable{Type: expr.Integer}, expr.AnyUnit}
)

// number returns the number by which the plan knows a value, of the type of Go for such values.
func (v variable) number(value any) (n float64, err error) {
	switch value := value.(type) {
	case bool:
		if value {
			n = 1
		}
	case int:
		n = float64(value)
	case float64:
		n = v.unit.SI(value)
	case string:
		if n = float64(slices.Index(v.Values, value)); n < 0 && v.Type == expr.Enumeration {
			err = fmt.Errorf("%w: %q is not one of the words %q", ErrType, value, v.Values)
		}
	}
	return n, err
}

// value returns the value for which a number of the plan stands.
func (v variable) value(n float64) any {
	switch v.Type {
	case expr.Boolean:
		return n != 0
	case expr.Integer:
		return int(n)
	case expr.Enumeration:
		return v.Values[int(n)]
	}
	return v.unit.Of(n)
}

// Condition registers a truth value. A <Condition> without an expression reads the one with its ID, and any expression
// of the plan may name it. It is false until it is set.
func (x *Execution) Condition(id string) Input[bool] { return input[bool](x, id, truth) }

// Number registers a number. The unit is that in which the program gives it, such as "km"; "" is any. It is 0 until it
// is set.
func (x *Execution) Number(name, unit string) Input[float64] {
	return input[float64](x, name, x.number(name, unit))
}

// Whole registers a whole number, of which at most 2^53 is exact. It is 0 until it is set.
func (x *Execution) Whole(name string) Input[int] { return input[int](x, name, whole) }

// Word registers a value that is one of several words, an enumeration. It is the first one until it is set; to set
// another one panics.
func (x *Execution) Word(name string, words ...string) Input[string] {
	return input[string](x, name, x.words(name, words))
}

// Output registers a number that the plan's actions write. The function is called at the end of the first instant and
// of each one that has changed the number. While no action writes it, it is initial.
func (x *Execution) Output(name, unit string, initial float64, f func(value float64)) {
	kind := x.number(name, unit)
	output(x, signal{name: name, variable: kind, initial: kind.unit.SI(initial)}, f)
}

// TruthOutput registers a truth value that the plan's scripts and actions write. The function is called as that of
// Output is. The value is kept until it is written again; it is false at first.
func (x *Execution) TruthOutput(name string, f func(value bool)) {
	output(x, signal{name: name, variable: truth, hold: true}, f)
}

// WholeOutput is TruthOutput for a whole number, which is 0 at first.
func (x *Execution) WholeOutput(name string, f func(value int)) {
	output(x, signal{name: name, variable: whole, hold: true}, f)
}

// WordOutput is TruthOutput for one of several words, which is the first one at first.
func (x *Execution) WordOutput(name string, words []string, f func(word string)) {
	output(x, signal{name: name, variable: x.words(name, words), hold: true}, f)
}

func input[T any](x *Execution, name string, kind variable) Input[T] {
	return Input[T]{x, x.register(signal{name: name, variable: kind}), kind}
}

// output registers a signal that the plan writes.
func output[T any](x *Execution, s signal, f func(T)) {
	s.output = true
	o := outlet{signal: x.register(s), last: math.NaN()}
	o.f = func(n float64) { f(s.value(n).(T)) }
	x.outputs = append(x.outputs, o)
}

func (x *Execution) number(name, unit string) variable {
	u := x.unit(name, unit)
	return variable{expr.Number(u.InSI()), u}
}

func (x *Execution) words(name string, words []string) variable {
	wrong := slices.IndexFunc(words, func(word string) bool { return !expr.IsName(word) })
	switch {
	case len(words) == 0:
		x.mistake("bad-name", fmt.Sprintf("%q has no words", name))
	case wrong >= 0:
		x.mistake("bad-name", fmt.Sprintf("%q of %q is not a name that expressions can have", words[wrong], name))
	}
	return variable{expr.Variable{Type: expr.Enumeration, Values: slices.Clone(words)}, expr.AnyUnit}
}
