package live

import (
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/expr"
)

// Whole is a registered whole number.
type Whole struct {
	x      *Execution
	signal int
}

// Whole registers a whole number that the plan's expressions may read. It is 0 until it is set.
func (x *Execution) Whole(name string) Whole {
	return Whole{x, x.register(signal{name: name, Variable: code, unit: expr.One})}
}

// Set sets the number, of which at most 2^53 is exact. It does not block.
func (n Whole) Set(value int) { n.x.set(n.signal, float64(value)) }

// Word is a registered value that is one of several words.
type Word struct {
	x      *Execution
	signal int
	words  []string
}

// Word registers a value that is one of several words, an enumeration, which the plan's expressions may read. It is the
// first one until it is set.
func (x *Execution) Word(name string, words ...string) Word {
	return Word{x, x.register(signal{name: name, Variable: x.enumeration(name, words), unit: expr.One}), words}
}

// Set sets the value. It panics if it is none of the words. It does not block.
func (w Word) Set(word string) {
	i := slices.Index(w.words, word)
	if i < 0 {
		panic(fmt.Sprintf("live: %q is none of the words %q", word, w.words))
	}
	w.x.set(w.signal, float64(i))
}

// TruthOutput registers a truth value that the plan's scripts and actions write. The function is called as that of
// Output is. The value is kept until it is written again; it is false at first.
func (x *Execution) TruthOutput(name string, f func(value bool)) {
	x.keep(name, expr.Variable{Type: expr.Boolean}, func(v float64) { f(v != 0) })
}

// WholeOutput is TruthOutput for a whole number, which is 0 at first.
func (x *Execution) WholeOutput(name string, f func(value int)) {
	x.keep(name, code, func(v float64) { f(int(v)) })
}

// WordOutput is TruthOutput for one of several words, which is the first one at first.
func (x *Execution) WordOutput(name string, words []string, f func(word string)) {
	x.keep(name, x.enumeration(name, words), func(v float64) { f(words[int(v)]) })
}

// keep registers an output that keeps its value.
func (x *Execution) keep(name string, v expr.Variable, f func(float64)) {
	i := x.register(signal{name: name, Variable: v, unit: expr.One, output: true, hold: true})
	x.outputs = append(x.outputs, output{signal: i, f: f, last: math.NaN()})
}

// enumeration returns the type of a value that is one of several words.
func (x *Execution) enumeration(name string, words []string) expr.Variable {
	wrong := slices.IndexFunc(words, func(word string) bool { return !expr.IsName(word) })
	switch {
	case len(words) == 0:
		x.mistake("bad-name", fmt.Sprintf("%q has no words", name))
	case wrong >= 0:
		x.mistake("bad-name", fmt.Sprintf("%q of %q is not a name that expressions can have", words[wrong], name))
	}
	return expr.Variable{Type: expr.Enumeration, Values: slices.Clone(words)}
}
