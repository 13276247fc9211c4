package smv

import (
	"fmt"
	"strings"

	"github.com/canopy-uav/canopy/bt"
)

// formula is a formula over names. Constants are never and always, and no others.
type formula struct {
	op   byte // '&', '|', '!' (of a); 0: a name
	text string
	a, b *formula
}

var never, always = &formula{text: "FALSE"}, &formula{text: "TRUE"}

func (f *formula) String() string { return f.within('|') }

// within returns a formula as an operand: & binds stronger than |, and ! stronger than &.
func (f *formula) within(op byte) string {
	var b strings.Builder
	f.write(&b, op)
	return b.String()
}

func (f *formula) write(b *strings.Builder, within byte) {
	open, end := "", ""
	if f.op == '|' && within == '&' || f.op != 0 && within == '!' {
		open, end = "(", ")"
	}
	b.WriteString(open)
	switch f.op {
	case '!':
		b.WriteByte('!')
		f.a.write(b, '!')
	case '&', '|':
		f.a.write(b, f.op)
		b.WriteString(" " + string(f.op) + " ")
		f.b.write(b, f.op)
	default:
		b.WriteString(f.text)
	}
	b.WriteString(end)
}

// algebra is that of formulas in which a task decides (bt.Decide).
type algebra struct {
	*writer
	task bt.Task
}

func (algebra) Constant(is bool) *formula {
	if is {
		return always
	}
	return never
}

func (algebra) Not(x *formula) *formula {
	switch x {
	case never:
		return always
	case always:
		return never
	}
	return &formula{op: '!', a: x}
}

func (algebra) And(x, y *formula) *formula {
	switch {
	case x == never || y == never:
		return never
	case x == always:
		return y
	case y == always:
		return x
	}
	return &formula{op: '&', a: x, b: y}
}

// Or takes nil for never.
func (algebra) Or(x, y *formula) *formula {
	switch {
	case x == always || y == always:
		return always
	case x == never || x == nil:
		return y
	case y == never:
		return x
	}
	return &formula{op: '|', a: x, b: y}
}

// Part defines a state of an automaton, or a count.
func (a algebra) Part(x *formula, numbers ...int) *formula {
	name := fmt.Sprintf("at_%s", a.writer.task[a.task])
	if len(numbers) > 1 {
		name = fmt.Sprintf("count_%s", a.writer.task[a.task])
	}
	for _, n := range numbers {
		name += fmt.Sprintf("_%d", n)
	}
	name = a.name(name)
	a.define(name, "%s", x)
	return &formula{text: name}
}

// Full reports whether the text is too long.
func (a algebra) Full() bool { return a.size > maxText }
