// Package snapshot writes the state of a computation as bytes and reads it back. A type lists its mutable variables
// once, in a method State, which serves both directions; so writing and reading always agree. A restored computation
// continues exactly as the saved one, to the last bit.
package snapshot

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
)

// ErrMismatch reports bytes that do not hold the state of the computation to be restored.
var ErrMismatch = errors.New("the saved state belongs to another computation")

// Stateful is implemented by types that can be saved: the method passes a pointer to each mutable variable to the
// codec, always in the same order. The variables of an immutable description are not listed.
type Stateful interface{ State(c *Codec) }

// Codec visits the variables of a state in one of two directions: it writes them, or it sets them.
type Codec struct {
	data    []byte
	at      int // bytes of data already read
	loading bool
	err     error
}

// Save appends the states, one after the other, to data. Equal states give equal bytes.
func Save(data []byte, states ...Stateful) []byte {
	var c Codec
	return c.Save(data, states...)
}

// Save is the function Save with a codec of the caller's, which need not be allocated anew.
func (c *Codec) Save(data []byte, states ...Stateful) []byte {
	*c = Codec{data: data}
	for _, s := range states {
		s.State(c)
	}
	return c.data
}

// Load sets the states from the output of Save, for states created in the same way. If the error, which wraps
// [ErrMismatch], is not nil, the states are undefined.
func Load(data []byte, states ...Stateful) error {
	c := Codec{data: data, loading: true}
	for _, s := range states {
		s.State(&c)
	}
	if c.err == nil && c.left() != 0 {
		c.Fail(ErrMismatch)
	}
	return c.err
}

// left is the number of bytes that have not been read.
func (c *Codec) left() int { return len(c.data) - c.at }

// Loading reports the direction: whether variables are set. Derived values must then be recomputed.
func (c *Codec) Loading() bool { return c.loading }

// Fail ends loading with an error; the first one counts. The variables that follow are not set.
func (c *Codec) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Failed reports whether loading has failed: values derived from the variables cannot be computed.
func (c *Codec) Failed() bool { return c.err != nil }

// Integer is any integer type.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Int passes an integer.
func Int[T Integer](c *Codec, p *T) {
	if !c.loading {
		if v := int64(*p); uint64(v) < 0x40 { // the most frequent case: the same bytes, faster
			c.data = append(c.data, byte(v<<1))
		} else {
			c.data = binary.AppendVarint(c.data, v)
		}
		return
	}
	v, n := binary.Varint(c.data[c.at:])
	if n <= 0 || int64(T(v)) != v {
		c.Fail(ErrMismatch)
	}
	if c.err == nil {
		*p = T(v)
		c.at += n
	}
}

// Within passes an integer between two bounds, both included, such as an index.
func Within[T Integer](c *Codec, p *T, least, most T) {
	Int(c, p)
	if c.loading && (*p < least || *p > most) {
		c.Fail(ErrMismatch)
		*p = least
	}
}

// Bool passes a truth value.
func Bool(c *Codec, p *bool) {
	var v uint8
	if *p {
		v = 1
	}
	if !c.loading {
		c.data = append(c.data, v<<1) // as Int does
		return
	}
	Int(c, &v)
	*p = v != 0
}

// Float passes a number; NaN and the sign of zero are kept.
func Float(c *Codec, p *float64) {
	if !c.loading {
		c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(*p))
		return
	}
	if c.left() < 8 {
		c.Fail(ErrMismatch)
	}
	if c.err == nil {
		*p = math.Float64frombits(binary.LittleEndian.Uint64(c.data[c.at:]))
		c.at += 8
	}
}

// Vars passes variables, given by pointers, of any types of truth values, numbers and texts, of arrays and structures
// of these with exported fields, and of pointers to such, which may be nil. It is slower than the functions for one
// type: it is for states that are seldom saved.
func Vars(c *Codec, pointers ...any) {
	for _, p := range pointers {
		variable(c, reflect.ValueOf(p).Elem())
	}
}

func variable(c *Codec, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			variable(c, v.Field(i))
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			variable(c, v.Index(i))
		}
	case v.Kind() == reflect.Pointer:
		there := !v.IsNil()
		Bool(c, &there)
		if c.loading {
			v.SetZero()
		}
		if c.loading && there {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if there {
			variable(c, v.Elem())
		}
	case v.Kind() == reflect.Bool:
		b := v.Bool()
		Bool(c, &b)
		v.SetBool(b)
	case v.Kind() == reflect.String:
		s := v.String()
		Text(c, &s)
		v.SetString(s)
	case v.CanFloat():
		f := v.Float()
		Float(c, &f)
		v.SetFloat(f)
	case v.CanInt():
		n := v.Int()
		if Int(c, &n); v.OverflowInt(n) {
			c.Fail(ErrMismatch)
		}
		v.SetInt(n)
	case v.CanUint():
		n := v.Uint()
		if Int(c, &n); v.OverflowUint(n) {
			c.Fail(ErrMismatch)
		}
		v.SetUint(n)
	default:
		panic("snapshot: a variable of a type that Vars does not pass")
	}
}

// Bytes passes a byte slice of variable length.
func Bytes(c *Codec, p *[]byte) {
	n := len(*p)
	Int(c, &n)
	switch {
	case !c.loading:
		c.data = append(c.data, *p...)
	case n < 0 || n > c.left():
		c.Fail(ErrMismatch)
	case c.err == nil:
		*p = append((*p)[:0], c.data[c.at:c.at+n]...)
		c.at += n
	}
}

// Text passes a string.
func Text(c *Codec, p *string) {
	if !c.loading {
		n := len(*p)
		Int(c, &n)
		c.data = append(c.data, *p...)
		return
	}
	var b []byte
	Bytes(c, &b)
	*p = string(b)
}

// Each passes the elements of a slice of fixed length.
func Each[T any](c *Codec, s []T, element func(*Codec, *T)) {
	n := len(s)
	Int(c, &n)
	if n != len(s) {
		c.Fail(ErrMismatch)
		return
	}
	for i := range s {
		element(c, &s[i])
	}
}

// List passes a slice of variable length.
func List[T any](c *Codec, p *[]T, element func(*Codec, *T)) {
	n := len(*p)
	Int(c, &n)
	if c.loading {
		if n < 0 || n > c.left() { // an element takes at least one byte
			c.Fail(ErrMismatch)
			return
		}
		*p = append((*p)[:0], make([]T, n)...)
	}
	for i := range *p {
		element(c, &(*p)[i])
	}
}

// Floats passes a fixed number of floats.
func Floats(c *Codec, s ...[]float64) {
	for _, s := range s {
		Each(c, s, Float)
	}
}
