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
	number func(T) float64
}

// Set sets the value. It does not block.
func (i Input[T]) Set(value T) { i.x.set(i.signal, i.number(value)) }

// values tells how the plan's numbers stand for values of a type.
type values[T any] struct {
	expr.Variable
	unit   expr.Unit
	number func(T) float64
	value  func(float64) T
}

// Condition registers a truth value. A <Condition> without an expression reads the one with its ID, and any expression
// of the plan may name it. It is false until it is set.
func (x *Execution) Condition(id string) Input[bool] { return input(x, id, truths()) }

// Number registers a number. The unit is that in which the program gives it, such as "km"; "" is any. It is 0 until it
// is set.
func (x *Execution) Number(name, unit string) Input[float64] {
	return input(x, name, x.numbers(name, unit))
}

// Whole registers a whole number, of which at most 2^53 is exact. It is 0 until it is set.
func (x *Execution) Whole(name string) Input[int] { return input(x, name, wholes()) }

// Word registers a value that is one of several words, an enumeration. It is the first one until it is set; to set
// another one panics.
func (x *Execution) Word(name string, words ...string) Input[string] {
	return input(x, name, x.words(name, words))
}

// Output registers a number that the plan's actions write. The function is called at the end of the first instant and
// of each one that has changed the number. While no action writes it, it is initial.
func (x *Execution) Output(name, unit string, initial float64, f func(value float64)) {
	v := x.numbers(name, unit)
	x.signals[output(x, name, v, f)].initial = v.unit.SI(initial)
}

// TruthOutput registers a truth value that the plan's scripts and actions write. The function is called as that of
// Output is. The value is kept until it is written again; it is false at first.
func (x *Execution) TruthOutput(name string, f func(value bool)) {
	x.signals[output(x, name, truths(), f)].hold = true
}

// WholeOutput is TruthOutput for a whole number, which is 0 at first.
func (x *Execution) WholeOutput(name string, f func(value int)) {
	x.signals[output(x, name, wholes(), f)].hold = true
}

// WordOutput is TruthOutput for one of several words, which is the first one at first.
func (x *Execution) WordOutput(name string, words []string, f func(word string)) {
	x.signals[output(x, name, x.words(name, words), f)].hold = true
}

// signal returns the signal with such values.
func (v values[T]) signal(name string) signal {
	return signal{name: name, Variable: v.Variable, unit: v.unit, value: func(n float64) any { return v.value(n) }}
}

func input[T any](x *Execution, name string, v values[T]) Input[T] {
	return Input[T]{x, x.register(v.signal(name)), v.number}
}

// output registers a signal that the plan writes, and returns its place.
func output[T any](x *Execution, name string, v values[T], f func(T)) int {
	s := v.signal(name)
	s.output = true
	i := x.register(s)
	x.outputs = append(x.outputs, outlet{signal: i, f: func(n float64) { f(v.value(n)) }, last: math.NaN()})
	return i
}

func truths() values[bool] {
	return values[bool]{expr.Variable{Type: expr.Boolean}, expr.AnyUnit, func(value bool) float64 {
		if value {
			return 1
		}
		return 0
	}, func(n float64) bool { return n != 0 }}
}

func wholes() values[int] {
	return values[int]{code, expr.AnyUnit, func(value int) float64 { return float64(value) },
		func(n float64) int { return int(n) }}
}

func (x *Execution) numbers(name, unit string) values[float64] {
	u := x.unit(name, unit)
	return values[float64]{expr.Number(u.InSI()), u, u.SI, u.Of}
}

func (x *Execution) words(name string, words []string) values[string] {
	wrong := slices.IndexFunc(words, func(word string) bool { return !expr.IsName(word) })
	switch {
	case len(words) == 0:
		x.mistake("bad-name", fmt.Sprintf("%q has no words", name))
	case wrong >= 0:
		x.mistake("bad-name", fmt.Sprintf("%q of %q is not a name that expressions can have", words[wrong], name))
	}
	return values[string]{expr.Variable{Type: expr.Enumeration, Values: slices.Clone(words)}, expr.AnyUnit,
		func(word string) float64 {
			i := slices.Index(words, word)
			if i < 0 {
				panic(fmt.Sprintf("live: %q is not one of the words %q", word, words))
			}
			return float64(i)
		}, func(n float64) string { return words[int(n)] }}
}
