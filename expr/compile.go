package expr

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Compiler turns expressions into code. Equivalent relations share one Indicator, in whatever expressions they occur. A
// compiler is for one goroutine; its results may be shared.
type Compiler struct {
	scope      Scope
	slot       func(name string) (index int, ok bool)
	indicators []Indicator
	numbers    map[string]int // of the indicators, by the key of their difference
	texts      []string
}

// NewCompiler returns a compiler that gets the index of a signal's value from the given function and its type from the
// scope. In a nil scope all signals are real, or Boolean where they are used as conditions.
func NewCompiler(scope Scope, slot func(name string) (index int, ok bool)) *Compiler {
	return &Compiler{scope: scope, slot: slot, numbers: map[string]int{}}
}

// Indicators returns all distinct indicators of the expressions compiled so far, in the order of their first use. An
// indicator's index never changes.
func (c *Compiler) Indicators() []Indicator { return slices.Clone(c.indicators) }

// Texts returns the texts of the expressions compiled so far. A text is stored among the signals as its index in this
// list.
func (c *Compiler) Texts() []string { return slices.Clone(c.texts) }

// Text returns the index of a text in the list of Texts, and adds it if necessary.
func (c *Compiler) Text(text string) float64 {
	i := slices.Index(c.texts, text)
	if i < 0 {
		i = len(c.texts)
		c.texts = append(c.texts, text)
	}
	return float64(i)
}

// Indicator is the event indicator g of a relation; the relation may change only at the zeros of g. It depends on its
// signals only through the side g >= 0, called above:
//
//	a >= b   above of g = a - b        a < b   not above of g = a - b
//	a <= b   above of g = b - a        a > b   not above of g = b - a
//
// so that a < b is always the negation of a >= b, and a <= b that of a > b. A NaN is not above, hence >= and <= of a
// NaN are false while < and > are true. A caller that cannot accept this checks whether Value is NaN.
type Indicator struct {
	Text    string // the relation as first written, in canonical text
	negated bool   // Text holds below, not above
	g       []Instruction

	isThreshold bool
	threshold   Threshold
}

// Threshold is an indicator that compares a signal with a number: g is the signal minus the level.
type Threshold struct {
	Slot  int // of the signal
	Level float64
	Falls bool // g is the level minus the signal instead
}

// Holds reports whether the relation of Text holds on a side.
func (i *Indicator) Holds(above bool) bool { return above != i.negated }

// Threshold returns the relation as a threshold, if it is one.
func (i *Indicator) Threshold() (h Threshold, ok bool) { return i.threshold, i.isThreshold }

// Value returns g. Relations inside the sides of the relation, in an if, are evaluated directly from the signals.
func (i *Indicator) Value(signals []float64) float64 {
	switch h := &i.threshold; {
	case !i.isThreshold:
		return run(i.g, signals, nil)
	case h.Falls:
		return h.Level - signals[h.Slot]
	default:
		return signals[h.Slot] - h.Level
	}
}

// misuse is the panic of Compile.
const misuse = "expr: Compile of an expression that Check refuses"

// Compile returns the expression's code. It panics if Check would find a mistake other than one of units.
func (c *Compiler) Compile(e *Expr) *Code { return c.CompileFor(e, Variable{Type: e.Type(c.scope)}) }

// CompileFor is Compile for an expression that gives the value of a variable, as accepted by CheckFor.
func (c *Compiler) CompileFor(e *Expr, v Variable) *Code { return c.code(e, v, true) }

// CompileAtOnce is CompileFor for a value that is used once, at an instant: its relations are evaluated from the
// signals and are not indicators.
func (c *Compiler) CompileAtOnce(e *Expr, v Variable) *Code { return c.code(e, v, false) }

func (c *Compiler) code(e *Expr, v Variable, frozen bool) *Code {
	if e.root.parts > MaxParts {
		panic(misuse)
	}
	b := builder{Compiler: c, values: v.Values, aside: spare}
	code := &Code{boolean: v.Type == Boolean}
	b.root(e.root, code.boolean)
	code.direct = b.finish()
	code.frozen = code.direct
	if frozen {
		b.frozen = true
		b.register(e.root)
		b.root(e.root, code.boolean)
		code.frozen = b.finish()
	}
	code.indicators, code.reads, code.discrete = sorted(b.indicators), sorted(b.reads), sorted(b.discrete)
	code.fixed, code.value = e.root.constant, e.root.folded
	return code
}

func sorted(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}

// builder writes the program of one expression and collects its dependencies.
type builder struct {
	*Compiler
	frozen     bool     // relations are sides of indicators
	values     []string // of the enumeration that a name may belong to
	program    []Instruction
	aside      uint8 // register in which the next fetch saves the accumulator
	indicators []int
	reads      []int
	discrete   []int // of reads
}

// finish returns the program. A jump to a jump that is taken in the same case goes directly to the final target.
func (b *builder) finish() []Instruction {
	p := b.program
	for i := len(p) - 1; i >= 0; i-- {
		for p[i].Op == JumpIf || p[i].Op == JumpUnless {
			t := p[i].Index
			if int(t) == len(p) || p[t].Op != p[i].Op {
				break
			}
			p[i].Index = p[t].Index
		}
	}
	b.program = nil
	return slices.Clip(p)
}

func (b *builder) emit(in Instruction) { b.program = append(b.program, in) }

// spare is the register for values that are not needed.
const spare = registers - 1

// fetch writes an instruction that fetches a value.
func (b *builder) fetch(in Instruction) {
	in.Register, b.aside = b.aside, spare
	b.emit(in)
}

// jump leaves the target of a jump open and returns it.
func (b *builder) jump(o Opcode) (place int) {
	b.emit(Instruction{Op: o})
	return len(b.program) - 1
}

// land sets the target of a jump to the next instruction.
func (b *builder) land(place int) { b.program[place].Index = uint32(len(b.program)) }

// registers returns how many registers the value of a node needs. Of two arguments, the one that needs more is computed
// first, before the other value occupies a register.
func (n *Node) registers() int {
	most, next := 0, -1
	for _, a := range n.args {
		most, next = max(most, a.need), max(next, min(most, a.need))
	}
	switch {
	case n.op == OpAnd, n.op == OpOr, n.op == OpIf, len(n.args) < 2:
		return most
	case n.op == OpAdd, n.op == OpSubtract, n.op == OpMultiply, n.op == OpDivide, n.op.relation():
		if x, y := n.fused(); y.fusable() {
			return x.need
		}
	}
	return max(most, next+1)
}

// fusable reports whether an instruction can take the node as an argument without a register.
func (n *Node) fusable() bool { return n.constant || n.op == OpName }

// fused returns the arguments of a sum, a difference, a product, a quotient or a relation, in the order in which they
// are computed.
func (n *Node) fused() (x, y *Node) {
	x, y = n.sides()
	if (n.op == OpAdd || n.op == OpMultiply) && x.fusable() {
		return y, x
	}
	return x, y
}

// fold returns the value of a constant whose arguments are constants.
func (n *Node) fold() float64 {
	b := builder{Compiler: &Compiler{}, aside: spare}
	b.computed(n, 0)
	return run(b.program, nil, nil)
}

// number writes the program of a number, an enumeration or a text. It uses the registers from `at` on.
func (b *builder) number(n *Node, at int) {
	if n.constant {
		b.fetch(Instruction{Op: Constant, Value: n.folded})
		return
	}
	b.computed(n, at)
}

func (b *builder) computed(n *Node, at int) {
	switch n.op {
	case OpNumber:
		b.fetch(Instruction{Op: Constant, Value: n.SI()})
	case OpPi:
		b.fetch(Instruction{Op: Constant, Value: math.Pi})
	case OpText:
		b.fetch(Instruction{Op: Constant, Value: b.Text(n.name)})
	case OpName:
		b.name(n)
	case OpNegative:
		b.number(n.args[0], at)
		b.emit(Instruction{Op: Negate})
	case OpAdd:
		x, y := n.fused()
		b.binary(x, y, at, Add, AddValue, AddSignal)
	case OpSubtract:
		b.difference(n.args[0], n.args[1], at)
	case OpMultiply:
		x, y := n.fused()
		b.binary(x, y, at, Multiply, MultiplyValue, MultiplySignal)
	case OpDivide:
		b.binary(n.args[0], n.args[1], at, Divide, DivideValue, DivideSignal)
	case OpPower:
		if e := n.args[1]; e.constant && e.folded == 2 { // faster than math.Pow, never less exact
			b.number(n.args[0], at)
			b.emit(Instruction{Op: Square})
			return
		}
		b.both(n.args[0], n.args[1], at, Power)
	case OpIf:
		b.choice(n, at, b.any)
	case OpCall:
		b.call(n, at)
	default:
		panic(misuse)
	}
}

// any writes the program of a value of any type.
func (b *builder) any(n *Node, at int) {
	if b.scope.variable(n).Type == Boolean {
		b.condition(n, at)
	} else {
		b.number(n, at)
	}
}

func (b *builder) root(n *Node, boolean bool) {
	if boolean {
		b.condition(n, 0)
	} else {
		b.any(n, 0)
	}
}

// name writes the value of a signal, or of a value of the expected enumeration.
func (b *builder) name(n *Node) {
	if i := slices.Index(b.values, n.name); i >= 0 && !b.scope.declares(n.name) {
		b.fetch(Instruction{Op: Constant, Value: float64(i)})
		return
	}
	b.fetch(Instruction{Op: Signal, Index: b.signal(n)})
}

// signal returns the slot of a name.
func (b *builder) signal(n *Node) uint32 {
	i, ok := b.slot(n.name)
	if !ok {
		panic(misuse)
	}
	b.reads = append(b.reads, i)
	if v, declared := b.scope[n.name]; declared && v.Type != Real {
		b.discrete = append(b.discrete, i)
	}
	return uint32(i)
}

// both writes the arguments of an operation, the one that needs more registers first, and the operation.
func (b *builder) both(x, y *Node, at int, o Opcode) {
	if y.need > x.need {
		b.any(y, at)
		b.aside = uint8(at)
		b.any(x, at+1)
		b.emit(Instruction{Op: Exchange, Register: uint8(at)})
	} else {
		b.any(x, at)
		b.aside = uint8(at)
		b.any(y, at+1)
	}
	b.emit(Instruction{Op: o, Register: uint8(at)})
}

// binary is like both, but a constant or a signal as second argument needs no instruction of its own.
func (b *builder) binary(x, y *Node, at int, o, value, signal Opcode) {
	switch {
	case y.constant:
		b.number(x, at)
		b.emit(Instruction{Op: value, Value: y.folded})
	case y.op == OpName:
		b.number(x, at)
		b.emit(Instruction{Op: signal, Index: b.signal(y)})
	default:
		b.both(x, y, at, o)
	}
}

// difference writes x - y. A constant y becomes the addition of its negative.
func (b *builder) difference(x, y *Node, at int) {
	if y.constant {
		b.number(x, at)
		b.emit(Instruction{Op: AddValue, Value: -y.folded})
		return
	}
	b.binary(x, y, at, Subtract, AddValue, SubtractSignal)
}

// call writes a function. Of more than two arguments it is the minimum or the maximum, whatever their order.
func (b *builder) call(n *Node, at int) {
	f, ok := functions[n.name]
	if !ok || len(n.args) < f.least || len(n.args) > f.most {
		panic(misuse)
	}
	switch len(n.args) {
	case 1:
		b.number(n.args[0], at)
		b.emit(Instruction{Op: f.opcode})
	case 2:
		b.both(n.args[0], n.args[1], at, f.opcode)
	default:
		args := slices.SortedStableFunc(slices.Values(n.args), func(x, y *Node) int { return cmp.Compare(y.need, x.need) })
		b.number(args[0], at)
		for _, a := range args[1:] {
			b.aside = uint8(at)
			b.number(a, at+1)
			b.emit(Instruction{Op: f.opcode, Register: uint8(at)})
		}
	}
}

// choice writes an if.
func (b *builder) choice(n *Node, at int, branch func(*Node, int)) {
	if len(n.args) != 3 {
		panic(misuse)
	}
	b.condition(n.args[0], at)
	otherwise := b.jump(JumpUnless)
	branch(n.args[1], at)
	end := b.jump(Jump)
	b.land(otherwise)
	branch(n.args[2], at)
	b.land(end)
}

// condition writes the program of a condition.
func (b *builder) condition(n *Node, at int) {
	switch {
	case n.op.relation():
		b.relation(n, at)
	case n.op.equality():
		b.equality(n, at)
	case n.op == OpTruth:
		b.fetch(Instruction{Op: Constant, Value: n.value})
	case n.op == OpName:
		b.fetch(Instruction{Op: Signal, Index: b.signal(n)})
	case n.op == OpAnd, n.op == OpOr:
		b.condition(n.args[0], at)
		o := JumpUnless
		if n.op == OpOr {
			o = JumpIf
		}
		end := b.jump(o)
		b.condition(n.args[1], at)
		b.land(end)
	case n.op == OpNot:
		b.condition(n.args[0], at)
		b.emit(Instruction{Op: Not})
	case n.op == OpIf:
		b.choice(n, at, b.condition)
	default:
		panic(misuse)
	}
}

// relation writes a relation as its indicator's side, or the opposite of it. A relation between discrete values needs
// no indicator: they change only at instants.
func (b *builder) relation(n *Node, at int) {
	over, under := n.sides()
	which := 0
	if n.op == OpLess || n.op == OpGreater {
		which = 1
	}
	if b.frozen && !b.scope.discrete(n) {
		b.fetch(Instruction{Op: [2]Opcode{Above, Below}[which], Index: uint32(b.numbers[difference(over, under)])})
		return
	}
	switch {
	case over.op == OpName && under.constant:
		b.fetch(Instruction{Op: [2]Opcode{AtLeast, LessThan}[which], Index: b.signal(over), Value: under.folded})
	case under.op == OpName && over.constant:
		b.fetch(Instruction{Op: [2]Opcode{AtMost, MoreThan}[which], Index: b.signal(under), Value: over.folded})
	default:
		b.difference(over, under, at)
		b.emit(Instruction{Op: [2]Opcode{NonNegative, Negative}[which]})
	}
}

// sides returns the sides of a relation whose indicator is over - under.
func (n *Node) sides() (over, under *Node) {
	if n.op == OpGreater || n.op == OpLessEqual {
		return n.args[1], n.args[0]
	}
	return n.args[0], n.args[1]
}

// register numbers the indicators of the relations in a tree, those inside the sides of a relation before its own.
func (b *builder) register(n *Node) {
	if !n.op.relation() {
		for _, a := range n.args {
			b.register(a)
		}
		return
	}
	over, under := n.sides()
	b.register(over)
	b.register(under)
	if b.scope.discrete(n) {
		return
	}
	key := difference(over, under)
	i, ok := b.numbers[key]
	if !ok {
		i = len(b.Compiler.indicators)
		b.numbers[key] = i
		b.Compiler.indicators = append(b.Compiler.indicators, b.newIndicator(n, over, under))
	}
	b.indicators = append(b.indicators, i)
}

func (b *builder) newIndicator(n, over, under *Node) Indicator {
	g := builder{Compiler: b.Compiler, aside: spare}
	g.difference(over, under, 0)
	x := Indicator{Text: n.String(), negated: n.op == OpLess || n.op == OpGreater, g: g.finish()}
	switch {
	case over.op == OpName && under.constant:
		x.threshold, x.isThreshold = Threshold{Slot: int(g.signal(over)), Level: under.folded}, true
	case under.op == OpName && over.constant:
		x.threshold, x.isThreshold = Threshold{Slot: int(g.signal(under)), Level: over.folded, Falls: true}, true
	}
	return x
}

// equality writes the comparison of two discrete values.
func (b *builder) equality(n *Node, at int) {
	outer := b.values
	for _, a := range n.args {
		if v := b.scope.variable(a); v.Values != nil {
			b.values = v.Values
		}
	}
	b.both(n.args[0], n.args[1], at, Equal)
	b.values = outer
	if n.op == OpNotEqual {
		b.emit(Instruction{Op: Not})
	}
}

// difference returns a text that two pairs of nodes share only if over - under is always the same.
func difference(over, under *Node) string { return over.key() + " - " + under.key() }

// key returns a text that two nodes share only if they always have the same value.
func (n *Node) key() string {
	var b strings.Builder
	n.writeKey(&b)
	return b.String()
}

func (n *Node) writeKey(b *strings.Builder) {
	if n.constant {
		b.WriteString("#" + strconv.FormatUint(math.Float64bits(n.folded), 16))
		return
	}
	b.WriteString(strconv.Itoa(int(n.op)))
	switch n.op {
	case OpText:
		b.WriteString(strconv.Quote(n.name))
	case OpTruth:
		b.WriteString(strconv.FormatBool(n.value != 0))
	default:
		b.WriteString(n.name)
	}
	for _, a := range n.args {
		b.WriteByte('(')
		a.writeKey(b)
		b.WriteByte(')')
	}
}

// same reports whether the keys of two nodes are alike.
func (n *Node) same(m *Node) bool {
	if n.constant || m.constant {
		return n.constant && m.constant && math.Float64bits(n.folded) == math.Float64bits(m.folded)
	}
	return n.op == m.op && n.name == m.name && n.value == m.value && slices.EqualFunc(n.args, m.args, (*Node).same)
}
