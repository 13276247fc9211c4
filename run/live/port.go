package live

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
)

// The errors of ports.
var (
	ErrNoValue = errors.New("there is no value") // the plan gives the port none, or nothing has written its entry yet
	ErrType    = errors.New("wrong type")
	ErrOver    = errors.New("the activity has ended")
)

// Ports declares the ports of the leaves with one ID, by their names.
type Ports map[string]Port

// Port is the declaration of a port, by In or Out.
type Port struct {
	of     reflect.Type
	unit   string
	writes bool
	or     any // its value where the plan gives none; nil: it must give one
}

// In declares an input port. The plan gives its value as text, or names an entry or a registered value. T is a number,
// a string, a bool, a type that reads text as [encoding.TextUnmarshaler] does, or a type of the program that an output
// port writes. The unit is that in which the program gets a number; without, it is that of a registered Number, or the
// SI unit. A [time.Duration] is a time.
func In[T any](unit ...string) Port {
	p := Port{of: reflect.TypeFor[T](), unit: strings.Join(unit, " ")}
	if p.of == reflect.TypeFor[time.Duration]() {
		p.unit = "ns"
	}
	return p
}

// Out declares an output port, which the action may read, too.
func Out[T any](unit ...string) Port {
	p := In[T](unit...)
	p.writes = true
	return p
}

// Or returns the declaration of an input port that has a value where the plan gives none.
func (p Port) Or(value any) Port {
	v, err := convert(value, p.of, expr.AnyUnit)
	if err != nil {
		panic("live: " + err.Error())
	}
	p.or = v
	return p
}

// code describes the port for the plan.
func (p Port) code() plan.CodePort {
	c := plan.CodePort{Writes: p.writes, Type: expr.Enumeration}
	switch {
	case reflect.PointerTo(p.of).Implements(unmarshaler):
	case numeric(p.of) && p.of.Kind() < reflect.Float32 && p.unit == "":
		c.Type = expr.Integer
	case numeric(p.of):
		c.Type = expr.Real
	case p.of.Kind() == reflect.Bool:
		c.Type = expr.Boolean
	case p.of.Kind() == reflect.String:
		c.Type = expr.Text
	}
	return c
}

var unmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

func numeric(t reflect.Type) bool { return reflect.Int <= t.Kind() && t.Kind() <= reflect.Float64 }

// Leaf is a leaf of the plan while its code is called.
type Leaf struct {
	x    *Execution
	leaf *leaf
}

// Task returns the name of the task.
func (l Leaf) Task() string { return l.leaf.name }

// Port returns the present value of a port: of the declared type or, if the program declares none, a float64 in the SI
// unit, a bool, a string (such as what the plan gives as text), or what an action has set. The error wraps ErrNoValue
// or ErrType. Any goroutine may call it.
func (l Leaf) Port(name string) (any, error) { return l.typed(name, nil) }

// typed is Port, with the value as a type, unless that is nil.
func (l Leaf) typed(name string, of reflect.Type) (any, error) {
	v, err := l.port(name)
	if err == nil && of != nil {
		v, err = convert(v, of, expr.AnyUnit)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: port %q: %w", l.leaf.name, name, err)
	}
	return v, nil
}

func (l Leaf) port(name string) (any, error) {
	l.x.mu.Lock()
	defer l.x.mu.Unlock()
	b := l.leaf.ports[name]
	switch {
	case b == nil || b.entry == "" && b.value == nil:
		return nil, ErrNoValue
	case b.entry == "":
		return b.value, nil
	}
	v, ok := l.leaf.starting[b.slot]
	if !ok {
		v = l.x.shown[b.slot]
	}
	if v == nil {
		return nil, fmt.Errorf("%w: nothing has been written to the entry %q", ErrNoValue, b.entry)
	}
	return convert(v, b.of, b.kind.unit)
}

// Get returns the present value of a port of a leaf as a type, also if the program does not declare the port.
func Get[T any](l interface {
	typed(name string, of reflect.Type) (any, error)
}, name string) (value T, err error) {
	v, err := l.typed(name, reflect.TypeFor[T]())
	if err != nil {
		return value, err
	}
	return v.(T), nil
}

// Set writes an output port: the entry that the plan names there gets the value at the next instant, together with what
// is reported. It keeps it. A port to which the plan gives no entry takes any value. The error wraps ErrType, or
// ErrOver: the activity has ended, and nothing is written. Set does not block.
func (a Activation) Set(name string, value any) error {
	err := a.write(name, value)
	if err != nil {
		return fmt.Errorf("%s: port %q: %w", a.leaf.name, name, err)
	}
	a.x.rouse()
	return nil
}

func (a Activation) write(name string, value any) error {
	x, l := a.x, a.leaf
	x.mu.Lock()
	defer x.mu.Unlock()
	b := l.ports[name]
	switch {
	case b == nil && l.action.Ports[name].of == nil && l.action.Ports != nil:
		return fmt.Errorf("%w: it is not declared", ErrType)
	case b != nil && b.of != nil && !b.writes:
		return fmt.Errorf("%w: it is declared as an input", ErrType)
	case b == nil || b.entry == "":
		return nil
	case l.activation != a.number || l.over:
		return ErrOver
	}
	if b.of != nil {
		var err error
		if value, err = convert(value, b.of, expr.AnyUnit); err != nil {
			return err
		}
	}
	number, shown, err := b.encode(value)
	if err != nil {
		return err
	}
	x.put(b.slot, number)
	delete(l.starting, b.slot)
	if x.shown[b.slot] = shown; b.kind.Type == expr.Text || b.opaque() {
		x.objects[b.slot] = shown
	}
	return nil
}

// bound is a port of a leaf in the plan.
type bound struct {
	Port
	given plan.Port
	value any      // that the plan gives; nil: none
	entry string   // that it names; empty: none
	kind  variable // of the entry, with the unit of the port's numbers
	slot  int      // of the entry
}

// opaque reports whether the values of the port's entry are none of the plan's.
func (b *bound) opaque() bool { return b.kind.Type == expr.Enumeration && b.kind.Values == nil }

// forms are the types of Go by which leaves know the values of the plan's types.
var forms = map[expr.Type]reflect.Type{
	expr.Text: reflect.TypeFor[string](), expr.Enumeration: reflect.TypeFor[string](),
	expr.Boolean: reflect.TypeFor[bool](), expr.Integer: reflect.TypeFor[int](), expr.Real: reflect.TypeFor[float64](),
}

// encode returns the number by which the plan knows a value of an entry, and the value as leaves read it.
func (b *bound) encode(value any) (number float64, shown any, err error) {
	want := forms[b.kind.Type]
	if b.opaque() {
		want = nil
	}
	shown, err = convert(value, want, expr.AnyUnit)
	if err != nil || want == nil {
		return 0, shown, err
	}
	if number, err = b.kind.number(shown); b.kind.Type == expr.Real || b.kind.Type == expr.Integer {
		shown = number
	}
	return number, shown, err
}

// convert returns a value as one of a type; nil: as it is. A number that is converted is in SI, the result in a unit.
func convert(v any, of reflect.Type, unit expr.Unit) (any, error) {
	if n, ok := v.(float64); ok {
		v = unit.Of(n)
	}
	if v != nil && (of == nil || reflect.TypeOf(v).AssignableTo(of)) {
		return v, nil
	}
	if v != nil {
		to := reflect.New(of)
		if err := json.Unmarshal([]byte(notation(v, of, unit)), to.Interface()); err == nil {
			return to.Elem().Interface(), nil
		}
	}
	return nil, fmt.Errorf("%w: %#v is not of the type %v", ErrType, v, of)
}

// notation returns a value in JSON as a type reads it; empty if it cannot.
func notation(v any, of reflect.Type, unit expr.Unit) string {
	from := reflect.ValueOf(v)
	text := fmt.Sprint(v)
	switch kind := from.Kind(); {
	case from.CanFloat():
		text = strconv.FormatFloat(from.Float(), 'f', -1, 64)
	case kind == reflect.Bool, numeric(from.Type()):
	case kind != reflect.String:
		return ""
	case strings.HasPrefix(text, "json:"): // as in BehaviorTree.CPP
		return text[len("json:"):]
	case numeric(of):
		e, err := expr.ParseFor(strings.TrimSpace(text), unit)
		if err != nil || len(e.Check(expr.Real, unit, expr.Scope{})) > 0 {
			return ""
		}
		n, _ := e.Constant()
		return strconv.FormatFloat(unit.Of(n), 'f', -1, 64)
	}
	truth, err := strconv.ParseBool(text)
	switch {
	case of.Kind() == reflect.String, reflect.PointerTo(of).Implements(unmarshaler):
		quoted, _ := json.Marshal(text) // of a text
		return string(quoted)
	case of.Kind() == reflect.Bool && err == nil:
		return strconv.FormatBool(truth)
	case numeric(of) && from.Kind() == reflect.Bool:
		return map[bool]string{false: "0", true: "1"}[truth]
	case numeric(of):
		return text
	}
	return ""
}
