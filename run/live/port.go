package live

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
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
// port writes. The unit is that in which the program gets a number; without, that is the SI unit.
func In[T any](unit ...string) Port {
	return Port{of: reflect.TypeFor[T](), unit: strings.Join(unit, " ")}
}

// Out declares an output port, which the action may read, too.
func Out[T any](unit ...string) Port {
	p := In[T](unit...)
	p.writes = true
	return p
}

// Or returns the declaration of an input port that has a value where the plan gives none.
func (p Port) Or(value any) Port {
	p.or = value
	return p
}

// code describes the port for the plan.
func (p Port) code() plan.CodePort {
	c := plan.CodePort{Writes: p.writes, Type: expr.Enumeration}
	switch {
	case reflect.PointerTo(p.of).Implements(unmarshaler):
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
func (l Leaf) Port(name string) (any, error) {
	v, err := l.port(name)
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
	case l.x.shown[b.slot] == nil:
		return nil, fmt.Errorf("%w: nothing has been written to the entry %q", ErrNoValue, b.entry)
	}
	return convert(l.x.shown[b.slot], b.of, b.number)
}

// Get returns the present value of a port of a leaf as a type, also if the program does not declare the port.
func Get[T any](l interface {
	Port(name string) (any, error)
}, name string) (value T, err error) {
	v, err := l.Port(name)
	if err == nil {
		if v, err = convert(v, reflect.TypeFor[T](), expr.AnyUnit); err != nil {
			err = fmt.Errorf("port %q: %w", name, err)
		}
	}
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
	number, shown, err := encode(value, b)
	if err != nil {
		return err
	}
	x.put(b.slot, number)
	if x.shown[b.slot] = shown; b.kind.Type == expr.Text || b.opaque() {
		x.objects[b.slot] = shown
	}
	return nil
}

// bound is a port of a leaf in the plan.
type bound struct {
	Port
	given  plan.Port
	number expr.Unit // of its numbers
	value  any       // that the plan gives; nil: none
	entry  string    // that it names; empty: none
	kind   expr.Variable
	slot   int // of the entry
}

// opaque reports whether the values of the port's entry are none of the plan's.
func (b *bound) opaque() bool { return b.kind.Type == expr.Enumeration && b.kind.Values == nil }

// encode returns the number by which the plan knows a value of an entry, and the value as leaves read it.
func encode(value any, b *bound) (number float64, shown any, err error) {
	switch v := b.kind; {
	case value == nil:
		err = fmt.Errorf("%w: nil", ErrType)
	case b.opaque():
		return 0, value, nil
	case v.Type == expr.Text:
		shown, err = convert(value, reflect.TypeFor[string](), b.number)
	case v.Type == expr.Enumeration:
		if shown, err = convert(value, reflect.TypeFor[string](), b.number); err == nil {
			if number = float64(slices.Index(v.Values, shown.(string))); number < 0 {
				err = fmt.Errorf("%w: %q is none of the words %q", ErrType, shown, v.Values)
			}
		}
	case v.Type == expr.Boolean:
		if shown, err = convert(value, reflect.TypeFor[bool](), b.number); shown == true {
			number = 1
		}
	default:
		if shown, err = convert(value, reflect.TypeFor[float64](), expr.AnyUnit); err == nil {
			number = b.number.SI(shown.(float64))
			shown = number
		}
		if v.Type == expr.Integer && number != math.Trunc(number) {
			err = fmt.Errorf("%w: %v is no whole number", ErrType, value)
		}
	}
	return number, shown, err
}

// convert returns a value as one of a type; nil: as it is. A number that is converted is in SI, the result in a unit.
func convert(v any, of reflect.Type, unit expr.Unit) (any, error) {
	if v == nil {
		return nil, fmt.Errorf("%w: nil", ErrType)
	}
	from := reflect.ValueOf(v)
	if n, ok := v.(float64); ok {
		v = unit.Of(n)
	}
	if of == nil || from.Type().AssignableTo(of) {
		return v, nil
	}
	to := reflect.New(of).Elem()
	fail := fmt.Errorf("%w: %#v is no %v", ErrType, v, of)
	if text, ok := v.(string); ok {
		if u, ok := to.Addr().Interface().(encoding.TextUnmarshaler); ok {
			err := u.UnmarshalText([]byte(text))
			if err != nil {
				err = fmt.Errorf("%w: %w", fail, err)
			}
			return to.Interface(), err
		}
	}
	n, truth, ok := plain(from, of, unit)
	switch {
	case !ok:
		return nil, fail
	case of.Kind() == reflect.String && truth:
		to.SetString(strconv.FormatBool(n != 0))
	case of.Kind() == reflect.String:
		to.SetString(strconv.FormatFloat(n, 'g', -1, 64))
	case of.Kind() == reflect.Bool && (n == 0 || n == 1):
		to.SetBool(n == 1)
	case to.CanFloat():
		to.SetFloat(n)
	case to.CanInt() && n == math.Trunc(n) && math.Abs(n) <= 1<<53 && !to.OverflowInt(int64(n)):
		to.SetInt(int64(n))
	case to.CanUint() && n == math.Trunc(n) && 0 <= n && n <= 1<<53 && !to.OverflowUint(uint64(n)):
		to.SetUint(uint64(n))
	default:
		return nil, fail
	}
	return to.Interface(), nil
}

// plain returns a value that is a number, a truth value, or the text of one, as a number.
func plain(v reflect.Value, of reflect.Type, unit expr.Unit) (n float64, truth, ok bool) {
	switch {
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			n = 1
		}
		return n, true, true
	case v.CanFloat():
		return unit.Of(v.Float()), false, true
	case v.CanInt():
		return unit.Of(float64(v.Int())), false, true
	case v.CanUint():
		return unit.Of(float64(v.Uint())), false, true
	case v.Kind() != reflect.String || !numeric(of) && of.Kind() != reflect.Bool:
		return 0, false, false
	}
	text := strings.TrimSpace(v.String())
	if b, err := strconv.ParseBool(text); err == nil && of.Kind() == reflect.Bool {
		return plain(reflect.ValueOf(b), of, unit)
	}
	e, err := expr.ParseFor(text, unit)
	if err != nil || len(e.Check(expr.Real, unit, expr.Scope{})) > 0 {
		return 0, false, false
	}
	n, ok = e.Constant()
	return unit.Of(n), false, ok
}

// bind gives the leaves of the present plan their ports.
func (x *Execution) bind() {
	b := x.binder(x.plan)
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, l := range x.leaves {
		l.ports = b.bind(&x.plan.Leaves[i])
		for _, p := range l.ports {
			if p.entry == "" {
				continue
			}
			if p.slot = x.places[p.entry]; !slices.Contains(x.named, p.slot) {
				x.named = append(x.named, p.slot)
			}
			x.watchers[p.slot] = nil
			for _, w := range p.given.Watchers {
				x.watchers[p.slot] = append(x.watchers[p.slot], [2]int{x.places[w[0]], x.places[w[1]]})
			}
		}
	}
}

// checkUnits reports units of ports that do not exist.
func (x *Execution) checkUnits(id string, ports Ports) {
	for name, p := range ports {
		x.unit(id+": "+name, p.unit)
	}
}

// codes describes the registered code for a plan.
func (x *Execution) codes() map[string]plan.Code {
	codes := map[string]plan.Code{}
	add := func(id string, condition bool, ports Ports) {
		c := plan.Code{Condition: condition}
		for name, p := range ports {
			if c.Ports == nil {
				c.Ports = map[string]plan.CodePort{}
			}
			c.Ports[name] = p.code()
		}
		codes[id] = c
	}
	for _, s := range x.signals {
		if s.Type == expr.Boolean && !s.hidden {
			add(s.name, true, nil)
		}
	}
	for id, q := range x.queries {
		add(id, true, q.ports)
	}
	for id, a := range x.actions {
		add(id, false, a.Ports)
	}
	return codes
}

// binder finds what the ports of a plan's leaves mean.
type binder struct {
	*Execution
	plan    *plan.Plan
	known   map[string]expr.Variable // entries and signals
	fixed   map[string]bool          // signals that no port may write
	writers map[string]*bound        // of entries: the first one with a declaration
}

func (x *Execution) binder(p *plan.Plan) *binder {
	b := &binder{x, p, map[string]expr.Variable{}, map[string]bool{}, map[string]*bound{}}
	for _, s := range x.signals {
		if !s.entry {
			b.known[s.name], b.fixed[s.name] = s.Variable, !s.hold
		}
	}
	for i := range p.Entries {
		b.known[p.Entries[i].Name] = p.Entries[i].Variable()
	}
	for i := range p.Leaves {
		for name, o := range b.bind(&p.Leaves[i]) {
			if declared := b.declared(&p.Leaves[i])[name]; declared.writes && b.writers[o.entry] == nil {
				b.writers[o.entry] = o
			}
		}
	}
	return b
}

// declared returns the ports that the program declares for a leaf; nil: it does not.
func (x *binder) declared(l *plan.Leaf) Ports {
	id := x.plan.Called(l)
	if a := x.actions[id]; a != nil && x.plan.Tree.Kind(l.Task).Acts() {
		return a.Ports
	}
	if q := x.queries[id]; q != nil {
		return q.ports
	}
	return nil
}

// bind returns the ports of a leaf as the plan and the program give them.
func (x *binder) bind(l *plan.Leaf) map[string]*bound {
	ports, declared := map[string]*bound{}, x.declared(l)
	for _, p := range slices.Concat(l.Ports, l.Defaults) {
		b := &bound{Port: declared[p.Name], given: p, entry: p.Entry, number: expr.AnyUnit}
		if b.unit != "" {
			b.number, _ = expr.ParseUnit(b.unit)
		}
		if b.entry == "" {
			b.value, _ = convert(p.Value, b.of, b.number)
		}
		if b.kind = x.known[b.entry]; b.unit == "" && b.kind.Type == expr.Real {
			if i, ok := x.places[b.entry]; ok {
				b.number = x.signals[i].unit
			}
		}
		ports[p.Name] = b
	}
	for name, p := range declared {
		if ports[name] == nil && p.or != nil {
			ports[name] = &bound{Port: p, value: p.or}
		}
	}
	return ports
}

// check returns the mistakes in the ports of a leaf.
func (x *binder) check(l *plan.Leaf) diag.List {
	declared, ports := x.declared(l), x.bind(l)
	var found diag.List
	report := func(at, length int, hint, format string, args ...any) {
		found = append(found, diag.Diagnostic{Source: x.plan.Source, Offset: at, Length: length, Code: "bad-port",
			Text: fmt.Sprintf(format, args...), Hint: hint})
	}
	for name, p := range declared {
		if ports[name] == nil && !p.writes {
			report(l.Offset, l.Length, fmt.Sprintf(`write %s="..."`, name), "%q needs a value for its port %q",
				x.plan.Called(l), name)
		}
	}
	for name, b := range ports {
		at, length := b.given.Offset, b.given.Length
		w := x.writers[b.entry]
		_, known := x.known[b.entry]
		switch {
		case b.of == nil && declared != nil:
			report(at, length, "", "the Go code of %q has no port %q", x.plan.Called(l), name)
			found[len(found)-1].Suggest = diag.Near(name, func() []string {
				return slices.Collect(func(yield func(string) bool) {
					for n := range declared {
						if !yield(n) {
							return
						}
					}
				})
			})
		case b.entry == "" && b.writes:
			report(at, length, "write {"+name+"}", "the output port %q names no entry", name)
		case b.entry == "" && b.value == nil:
			report(at, length, "", "%q is no %v, which the port %q takes", b.given.Value, b.of, name)
		case b.entry == "" || b.of == nil:
		case !known:
			report(at, length, "use letters, digits and _, a letter first", "%q cannot be the name of an entry", b.entry)
		case b.writes && x.fixed[b.entry]:
			report(at, length, "", "%q can be read but not written", b.entry)
		case !b.fits() || w != nil && !b.writes && b.kind.Type == expr.Enumeration && w.of != b.of:
			what := w.typeOf(b.kind)
			report(at, length, "", "the entry %q has %s, but the port %q takes a %v", b.entry, what, name, b.of)
		case b.kind.Type == expr.Real && !b.number.Same(b.kind.Unit):
			report(at, length, "", "the unit of %q is %v, but the port %q takes %v", b.entry, b.kind.Unit, name, b.number)
		}
	}
	return found
}

// typeOf describes the values of an entry, which the port may write.
func (b *bound) typeOf(v expr.Variable) string {
	switch {
	case v.Type == expr.Enumeration && b != nil:
		return fmt.Sprintf("values of the type %v", b.of)
	case v.Type == expr.Enumeration:
		return "words"
	}
	return map[expr.Type]string{expr.Real: "numbers", expr.Integer: "whole numbers", expr.Boolean: "truth values",
		expr.Text: "texts"}[v.Type]
}

// fits reports whether values of the port's entry may be those of its type.
func (b *bound) fits() bool {
	t := b.code().Type
	switch b.kind.Type {
	case expr.Enumeration:
		return b.kind.Values == nil || t == expr.Text || t == expr.Enumeration && !b.writes
	case expr.Text:
		return t == expr.Text || !b.writes && t != expr.Boolean || t == expr.Enumeration
	}
	return t == expr.Real || t == expr.Boolean || t == expr.Text && !b.writes
}
