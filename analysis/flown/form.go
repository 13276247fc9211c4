package flown

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/snapshot"
)

// value is a number as far as it is known: scale * form + offset. Without a form it is the offset.
type value struct {
	form          int32 // -1: none
	scale, offset float64
}

func number(x float64) value { return value{form: -1, offset: x} }

// unknown is what a slot has of which nothing is known, or that has no value.
var unknown = value{form: -2}

func (v value) known() bool { return v.form == -1 }

// state passes the value to the codec.
func (v *value) state(c *snapshot.Codec) {
	if snapshot.Int(c, &v.form); v.form != unknown.form {
		snapshot.Float(c, &v.scale)
		snapshot.Float(c, &v.offset)
	}
}

// forms are the linear combinations of atoms that have occurred, each once: the coefficient of the first atom is 1.
type forms struct {
	atoms    []atom
	atomOf   map[string]int32
	list     []form
	formOf   map[string]int32
	ofSignal map[string]int32  // the forms of signals that are not known
	tables   []*expr.Tabulated // that differ from each other
}

// The operations of two values that are not known.
const (
	product  = "product"
	quotient = "quotient"
)

// atom is a signal, or an operation that is not linear: equal operations have equal values.
type atom struct {
	signal    string // its name; "": an operation
	operation string // its name
	args      []value
	signals   []string // that it depends on
}

type term struct {
	atom        int32
	coefficient float64
}

type form struct {
	terms   []term   // ascending
	signals []string // that it depends on
	squares bool     // some term is a square
}

// signal returns the form of a signal that is not known.
func (f *forms) signal(name string) int32 {
	n, known := f.ofSignal[name]
	if !known {
		n = f.intern([]term{{f.atom("#"+name, atom{signal: name, signals: []string{name}}), 1}})
		f.ofSignal[name] = n
	}
	return n
}

func (f *forms) atom(key string, a atom) int32 {
	n, ok := f.atomOf[key]
	if !ok {
		if f.atomOf == nil {
			f.atomOf, f.formOf, f.ofSignal = map[string]int32{}, map[string]int32{}, map[string]int32{}
		}
		n = int32(len(f.atoms))
		f.atoms = append(f.atoms, a)
		f.atomOf[key] = n
	}
	return n
}

func (f *forms) intern(terms []term) int32 {
	var key []byte
	for _, t := range terms {
		key = binary.AppendVarint(key, int64(t.atom))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(t.coefficient))
	}
	n, ok := f.formOf[string(key)]
	if !ok {
		n = int32(len(f.list))
		x := form{terms: slices.Clone(terms)}
		for _, t := range terms {
			x.signals = append(x.signals, f.atoms[t.atom].signals...)
			_, square := f.squared(t.atom)
			x.squares = x.squares || square
		}
		f.list = append(f.list, x)
		f.formOf[string(key)] = n
	}
	return n
}

func (v value) times(k float64) value {
	if v.form < 0 {
		return number(v.offset * k)
	}
	if k == 0 {
		return number(0)
	}
	return value{v.form, v.scale * k, v.offset * k}
}

// plus returns v + sign*o.
func (f *forms) plus(v, o value, sign float64) value {
	if sign != 1 {
		o = o.times(sign)
	}
	offset := v.offset + o.offset
	switch {
	case o.form < 0:
		return value{v.form, v.scale, offset}
	case v.form < 0:
		return value{o.form, o.scale, offset}
	case v.form == o.form && v.scale+o.scale == 0:
		return number(offset)
	case v.form == o.form:
		return value{v.form, v.scale + o.scale, offset}
	}
	var sum []term
	x, y := f.list[v.form].terms, f.list[o.form].terms
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].atom < y[0].atom:
			sum = append(sum, term{x[0].atom, x[0].coefficient * v.scale})
			x = x[1:]
		case len(x) == 0 || y[0].atom < x[0].atom:
			sum = append(sum, term{y[0].atom, y[0].coefficient * o.scale})
			y = y[1:]
		default:
			if c := x[0].coefficient*v.scale + y[0].coefficient*o.scale; c != 0 {
				sum = append(sum, term{x[0].atom, c})
			}
			x, y = x[1:], y[1:]
		}
	}
	if len(sum) == 0 {
		return number(offset)
	}
	scale := sum[0].coefficient
	for i := range sum {
		sum[i].coefficient /= scale
	}
	return value{f.intern(sum), scale, offset}
}

// opaque returns a term that is not linear in its arguments.
func (f *forms) opaque(operation string, args ...value) value {
	key := []byte(operation)
	a := atom{operation: operation, args: args}
	for _, v := range args {
		key = binary.AppendVarint(key, int64(v.form))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v.scale))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v.offset))
		if v.form >= 0 {
			a.signals = append(a.signals, f.list[v.form].signals...)
		}
	}
	return value{f.intern([]term{{f.atom(string(key), a), 1}}), 1, 0}
}

// interval is what the answers of an instant show of a form.
type interval struct {
	low, high         float64
	lowOpen, highOpen bool
	not               []float64
}

// above reports whether the form is at least the limit, or beyond it; open is true if it may or may not be.
func (i *interval) above(limit float64, strict bool) (is, open bool) {
	switch {
	case i.low > limit, i.low == limit && (!strict || i.lowOpen):
		return true, false
	case i.high < limit, i.high == limit && (strict || i.highOpen):
		return false, false
	case !strict && i.high == limit && slices.Contains(i.not, limit): // only the limit itself would be
		return false, false
	case strict && i.low == limit && slices.Contains(i.not, limit):
		return true, false
	}
	return false, true
}

func (i *interval) restrict(limit float64, strict, above bool) {
	if above {
		i.low, i.lowOpen = limit, strict
	} else {
		i.high, i.highOpen = limit, !strict
	}
}

// registers is the number of registers of a program.
const registers = 16

// execute interprets a program of an expression with the values that are known. It returns the accumulator and the
// place at which the program ends.
func (w *world) execute(c *expr.Code, program []expr.Instruction) (a value, end uint) {
	var r [registers]value
	f := w.s.forms
	for i := uint(0); ; {
		if i >= uint(len(program)) {
			return a, i
		}
		in := &program[i]
		i++
		jump := false
		reg := &r[in.Register%registers]
		switch in.Op {
		case expr.Constant:
			*reg, a = a, number(in.Value)
		case expr.Signal:
			*reg, a = a, w.signal(int(in.Index))
		case expr.SignalTimes:
			*reg, a = a, w.signal(int(in.Index)).times(in.Value)
		case expr.SignalSquare:
			v := w.signal(int(in.Index))
			*reg, a = a, w.multiply(v, v)
		case expr.Save:
			*reg = a
		case expr.Exchange:
			*reg, a = a, *reg
		case expr.AddValue:
			a.offset += in.Value
		case expr.AddSignal:
			a = f.plus(a, w.signal(int(in.Index)), 1)
		case expr.Add:
			a = f.plus(*reg, a, 1)
		case expr.SubtractSignal:
			a = f.plus(a, w.signal(int(in.Index)), -1)
		case expr.Subtract:
			a = f.plus(*reg, a, -1)
		case expr.MultiplyValue:
			a = a.times(in.Value)
		case expr.MultiplySignal:
			a = w.multiply(a, w.signal(int(in.Index)))
		case expr.Multiply:
			a = w.multiply(*reg, a)
		case expr.DivideValue:
			a = w.divide(a, number(in.Value))
		case expr.DivideSignal:
			a = w.divide(a, w.signal(int(in.Index)))
		case expr.Divide:
			a = w.divide(*reg, a)
		case expr.Negate:
			a = a.times(-1)
		case expr.Square:
			a = w.multiply(a, a)
		case expr.Power:
			a = w.power(*reg, a)
		case expr.Call:
			a = w.call(in, a, value{})
		case expr.CallTwo:
			a = w.call(in, *reg, a)
		case expr.Lookup:
			a = w.lookUp(c.Tables()[in.Index], a, number(0))
		case expr.LookupTwo:
			a = w.lookUp(c.Tables()[in.Index], *reg, a)
		case expr.NonNegative:
			jump = w.nonNegative(a)
		case expr.Equal:
			jump = w.zero(f.plus(*reg, a, -1))
		case expr.Above:
			jump = w.side(int(in.Index))
		case expr.AtLeast:
			jump = w.nonNegative(f.plus(w.signal(int(in.Index)), number(in.Value), -1))
		case expr.AtMost:
			jump = w.nonNegative(f.plus(number(in.Value), w.signal(int(in.Index)), -1))
		case expr.SignalIs:
			jump = w.zero(f.plus(w.signal(int(in.Index)), number(in.Value), -1))
		case expr.Jump:
			jump = true
		default:
			panic("flown: an opcode that does not exist")
		}
		if in.Op >= expr.NonNegative && jump != in.Unless {
			i = in.Target
		}
	}
}

func (w *world) multiply(x, y value) value {
	switch {
	case x.known():
		return y.times(x.offset)
	case y.known():
		return x.times(y.offset)
	}
	if y.form < x.form || y.form == x.form && y.scale < x.scale {
		x, y = y, x
	}
	return w.s.opaque(product, x, y)
}

func (w *world) divide(x, y value) value {
	switch {
	case x.known() && y.known():
		return number(x.offset / y.offset)
	case y.known() && y.offset != 0:
		return value{x.form, x.scale / y.offset, x.offset / y.offset}
	}
	return w.s.opaque(quotient, x, y)
}

func (w *world) power(x, y value) value {
	if x.known() && y.known() {
		return number(math.Pow(x.offset, y.offset))
	}
	return w.s.opaque("power", x, y)
}

// lookUp returns the value of a table, of one argument if it has one.
func (w *world) lookUp(t *expr.Tabulated, x, y value) value {
	if x.known() && y.known() {
		return number(t.Value(x.offset, y.offset))
	}
	f := w.s.forms
	i := slices.IndexFunc(f.tables, func(of *expr.Tabulated) bool { return of == t || reflect.DeepEqual(of, t) })
	if i < 0 {
		i, f.tables = len(f.tables), append(f.tables, t)
	}
	return f.opaque(fmt.Sprintf("table%d", i+1), []value{x, y}[:len(t.Axes)]...)
}

// call applies a function. A piecewise linear one asks which piece counts.
func (w *world) call(in *expr.Instruction, x, y value) value {
	two := in.Op == expr.CallTwo
	switch name := in.Function(); {
	case x.known() && (!two || y.known()):
		return number(in.Apply(x.offset, y.offset))
	case name == "abs":
		if w.nonNegative(x) {
			return x
		}
		return x.times(-1)
	case name == "min" || name == "max":
		if w.nonNegative(w.s.plus(y, x, -1)) == (name == "min") {
			return x
		}
		return y
	case two:
		return w.s.opaque(name, x, y)
	default:
		return w.s.opaque(name, x)
	}
}
