package expr

import (
	"cmp"
	"maps"
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
	tables     []*Tabulated
	memory     int // slot of the next cell; 0: functions are not held
	cells      []Cell
	remembered map[string]int // the cells, by the key of their argument
}

// NewCompiler returns a compiler that gets the index of a signal's value from the given function and its type from the
// scope. In a nil scope all signals are real, or Boolean where they are used as conditions.
func NewCompiler(scope Scope, slot func(name string) (index int, ok bool)) *Compiler {
	return &Compiler{scope: scope, slot: slot, numbers: map[string]int{}}
}

// Hold returns a compiler that continues with the same indicators and treats functions that turn or jump, such as max,
// sign and floor, like the choices that they are: their branches are sides of indicators or pieces that cells remember,
// so that every value is smooth as long as these stay the same. The slots from memory on are for the cells.
func (c *Compiler) Hold(memory int) *Compiler {
	n := c.Clone()
	n.memory, n.remembered = memory, map[string]int{}
	for i := range c.indicators {
		relation := c.indicators[i].relation
		over, under := relation.sides()
		held := (&builder{Compiler: n}).newIndicator(relation, over, under) // it may add others
		n.indicators[i] = held
	}
	return n
}

// Cells returns the cells of the expressions compiled so far.
func (c *Compiler) Cells() []Cell { return slices.Clone(c.cells) }

// Clone returns a compiler that continues independently with the same scope, indicators and texts.
func (c *Compiler) Clone() *Compiler {
	n := *c
	n.indicators, n.texts, n.numbers = slices.Clone(c.indicators), slices.Clone(c.texts), maps.Clone(c.numbers)
	n.tables = slices.Clone(c.tables)
	n.cells, n.remembered = slices.Clone(c.cells), maps.Clone(c.remembered)
	return &n
}

// Slot returns the index of a signal's value.
func (c *Compiler) Slot(name string) (index int, ok bool) { return c.slot(name) }

// Type returns the type of a signal.
func (c *Compiler) Type(signal string) Type { return c.scope[signal].Type }

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
	g       *Code

	relation *Node // nil for the bound of a piece

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

// Bound reports whether it is the bound of a piece of a function, no relation.
func (i *Indicator) Bound() bool { return i.relation == nil }

// Threshold returns the relation as a threshold, if it is one.
func (i *Indicator) Threshold() (h Threshold, ok bool) { return i.threshold, i.isThreshold }

// Difference returns the code of g.
func (i *Indicator) Difference() *Code { return i.g }

// Reads returns the slots of the signals that g reads, in ascending order.
func (i *Indicator) Reads() []int { return i.g.Reads() }

// Alone reports whether g depends on signals alone, on no side and no cell.
func (i *Indicator) Alone() bool { return len(i.g.indicators)+len(i.g.cells) == 0 }

// Value returns g. Relations inside the sides of the relation follow the sides of their indicators; without sides, they
// are evaluated from the signals.
func (i *Indicator) Value(signals []float64, above []bool) float64 {
	switch h := &i.threshold; {
	case !i.isThreshold:
		g, _ := i.g.run(signals, above, 0)
		return g
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
	held := e.root
	if frozen {
		held = c.scope.given(e.root)
	}
	code := c.build(v.Values, frozen, func(b *builder) {
		n := e.root
		if b.frozen {
			n = held
		}
		if v.Type == Boolean {
			b.land(b.branch(n, 0, true), 1)
		} else {
			b.any(n, 0)
		}
	}, held)
	code.kind, code.fixed, code.value = v.Type, e.root.constant, e.root.folded
	return code
}

// build returns the code of what write writes: evaluated from the signals and, if that makes a difference, with the
// sides frozen on which the nodes depend.
func (c *Compiler) build(values []string, frozen bool, write func(*builder), from ...*Node) *Code {
	b := builder{Compiler: c, values: values, aside: spare}
	write(&b)
	code := &Code{direct: slices.Clip(b.program)}
	code.frozen = code.direct
	if b.frozen = frozen; frozen {
		for _, n := range from {
			b.register(n)
		}
	}
	if len(b.indicators)+len(b.cells) > 0 {
		b.program = nil
		write(&b)
		code.frozen = slices.Clip(b.program)
	}
	code.indicators, code.reads, code.discrete = sorted(b.indicators), sorted(b.reads), sorted(b.discrete)
	code.cells, code.tables = sorted(b.cells), c.tables
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
	cells      []int
}

func (b *builder) emit(in Instruction) { b.program = append(b.program, in) }

// spare is the register for values that are not needed.
const spare = registers - 1

// fetch writes an instruction that fetches a value.
func (b *builder) fetch(in Instruction) {
	in.Register, b.aside = b.aside, spare
	b.emit(in)
}

// save saves the accumulator now, before the program branches.
func (b *builder) save() {
	if b.aside != spare {
		b.fetch(Instruction{Op: Save})
	}
}

// jump writes a jump or a test with an open target and returns its place.
func (b *builder) jump(in Instruction) (places []int) {
	b.emit(in)
	return []int{len(b.program) - 1}
}

// land sets open targets to the next instruction, or to one beyond it.
func (b *builder) land(places []int, beyond int) {
	for _, i := range places {
		b.program[i].Target = uint(len(b.program) + beyond)
	}
}

// registers returns how many registers the value of a node needs. Of two arguments, the one that needs more is computed
// first, before the other value occupies a register.
func (n *Node) registers() int {
	if n.means != nil {
		return n.means.need
	}
	most, next := 0, -1
	for _, a := range n.args {
		most, next = max(most, a.need), max(next, min(most, a.need))
	}
	switch {
	case n.op == OpAnd, n.op == OpOr, n.op == OpIf, len(n.args) < 2, n.squares():
		return most
	case n.op == OpAdd, n.op == OpSubtract, n.op == OpMultiply, n.op == OpDivide, n.op.relation():
		if x, y := n.fused(); y.fusable() {
			return x.need
		}
	}
	return max(most, next+1)
}

// squares reports whether the node is the square of its first argument.
func (n *Node) squares() bool {
	return n.op == OpPower && n.args[1].constant && n.args[1].folded == 2
}

// fusable reports whether an instruction can take the node as an argument without a register.
func (n *Node) fusable() bool { return n.constant || n.op == OpName }

// fused returns the arguments of a sum, a difference, a product, a quotient or a relation, in the order in which they
// are computed.
func (n *Node) fused() (x, y *Node) {
	x, y = n.sides()
	if (n.op == OpAdd || n.op == OpMultiply) && x.fusable() && !y.constant {
		return y, x
	}
	return x, y
}

// fold returns the value of a constant whose arguments are constants.
func (n *Node) fold() float64 {
	switch n.op {
	case OpNumber:
		return n.SI()
	case OpPi:
		return math.Pi
	}
	b := builder{Compiler: &Compiler{}, aside: spare}
	b.computed(n, 0)
	value, _ := (&Code{direct: b.program}).run(nil, nil, 0)
	return value
}

// literal returns the value of a node that is always the same.
func (b *builder) literal(n *Node) (value float64, ok bool) {
	switch i := slices.Index(b.values, n.name); {
	case n.constant:
		return n.folded, true
	case n.op == OpText:
		return b.Text(n.name), true
	case n.op == OpName && i >= 0 && !b.scope.declares(n.name):
		return float64(i), true
	}
	return n.value, n.op == OpTruth
}

// any writes the program of a value of any type. It uses the registers from `at` on.
func (b *builder) any(n *Node, at int) {
	switch value, ok := b.literal(n); {
	case ok:
		b.fetch(Instruction{Op: Constant, Value: value})
	case n.op == OpName:
		b.fetch(Instruction{Op: Signal, Index: b.signal(n)})
	case b.scope.variable(n).Type == Boolean:
		b.save()
		b.choose(n, at, func() { b.fetch(Instruction{Op: Constant, Value: 1}) },
			func() { b.fetch(Instruction{Op: Constant}) })
	default:
		b.computed(n, at)
	}
}

// forms are the instructions of an operator whose second argument is in a register, a constant or a signal.
var forms = map[Op][3]Opcode{
	OpAdd: {Add, AddValue, AddSignal}, OpSubtract: {Subtract, AddValue, SubtractSignal},
	OpMultiply: {Multiply, MultiplyValue, MultiplySignal}, OpDivide: {Divide, DivideValue, DivideSignal},
}

// computed writes the program of a number, or of an if.
func (b *builder) computed(n *Node, at int) {
	if n.op != OpIf {
		b.numbersOnly(n.args)
	}
	switch n.op {
	case OpNegative:
		b.any(n.args[0], at)
		b.emit(Instruction{Op: Negate})
	case OpAdd, OpSubtract, OpMultiply, OpDivide:
		x, y := n.fused()
		b.binary(n.op, x, y, at)
	case OpPower:
		switch x := n.args[0]; {
		case !n.squares():
			b.both(x, n.args[1], at, false)
			b.emit(Instruction{Op: Power, Register: uint8(at)})
		case x.op == OpName:
			b.fetch(Instruction{Op: SignalSquare, Index: b.signal(x)})
		default: // faster than math.Pow, never less exact
			b.any(x, at)
			b.emit(Instruction{Op: Square})
		}
	case OpIf:
		if len(n.args) != 3 {
			panic(misuse)
		}
		b.save()
		b.choose(n.args[0], at, func() { b.any(n.args[1], at) }, func() { b.any(n.args[2], at) })
	case OpCall:
		b.call(n, at)
	default:
		panic(misuse)
	}
}

// signal returns the slot of a name.
func (b *builder) signal(n *Node) uint {
	i, ok := b.slot(n.name)
	if !ok {
		panic(misuse)
	}
	b.reads = append(b.reads, i)
	if v, declared := b.scope[n.name]; declared && v.discrete() {
		b.discrete = append(b.discrete, i)
	}
	return uint(i)
}

// both writes two values, the one that needs more registers first: x to the register `at` and y to the accumulator, or
// the reverse if the operation on them commutes.
func (b *builder) both(x, y *Node, at int, commutes bool) {
	first, second := x, y
	if y.need > x.need {
		first, second = y, x
	}
	b.any(first, at)
	b.aside = uint8(at)
	b.any(second, at+1)
	if first == y && !commutes {
		b.emit(Instruction{Op: Exchange, Register: uint8(at)})
	}
}

// numbersOnly refuses conditions in place of numbers.
func (b *builder) numbersOnly(args []*Node) {
	if slices.ContainsFunc(args, func(a *Node) bool { return b.scope.variable(a).Type == Boolean }) {
		panic(misuse)
	}
}

// binary writes an operation. A constant or a signal as second argument needs no instruction of its own.
func (b *builder) binary(o Op, x, y *Node, at int) {
	register, value, signal := forms[o][0], forms[o][1], forms[o][2]
	switch {
	case o == OpSubtract && x.same(y): // +0, or NaN of what is not finite: bounds show it, too
		b.any(x, at)
		b.emit(Instruction{Op: MultiplyValue})
		b.emit(Instruction{Op: AddValue})
	case y.constant && o == OpMultiply && x.op == OpName:
		b.fetch(Instruction{Op: SignalTimes, Index: b.signal(x), Value: y.folded})
	case y.constant:
		b.any(x, at)
		v := y.folded
		if o == OpSubtract {
			v = -v
		}
		b.emit(Instruction{Op: value, Value: v})
	case y.op == OpName:
		b.any(x, at)
		b.emit(Instruction{Op: signal, Index: b.signal(y)})
	default:
		b.both(x, y, at, o == OpAdd || o == OpMultiply)
		b.emit(Instruction{Op: register, Register: uint8(at)})
	}
}

// call writes a function. Of more than two arguments it is the minimum or the maximum, whatever their order.
func (b *builder) call(n *Node, at int) {
	if t := b.scope[n.name].Table; t != nil {
		b.lookUp(n, t, at)
		return
	}
	if n.means != nil {
		b.any(n.means, at)
		return
	}
	f := functionIndex(n.name)
	if f < 0 || !functions[f].takes(len(n.args)) {
		panic(misuse)
	}
	if b.held(n) {
		b.piece(n, at)
		return
	}
	in := Instruction{Op: CallTwo, Register: uint8(at), Index: uint(f)}
	switch len(n.args) {
	case 1:
		b.any(n.args[0], at)
		in.Op = Call
		b.emit(in)
	case 2:
		b.both(n.args[0], n.args[1], at, false)
		b.emit(in)
	default:
		args := slices.SortedStableFunc(slices.Values(n.args), func(x, y *Node) int { return cmp.Compare(y.need, x.need) })
		b.any(args[0], at)
		for _, a := range args[1:] {
			b.aside = uint8(at)
			b.any(a, at+1)
			b.emit(in)
		}
	}
}

// branch writes a program that jumps if the value of a condition is `when`, else continues behind it. It returns the
// places of the jumps, whose targets are open.
func (b *builder) branch(n *Node, at int, when bool) (jumps []int) {
	switch {
	case n.op.relation():
		return b.relation(n, at, when)
	case n.op.equality():
		return b.equality(n, at, when)
	case n.op == OpTruth && (n.value != 0) == when:
		return b.jump(Instruction{Op: Jump})
	case n.op == OpTruth:
		return nil
	case n.op == OpName:
		return b.jump(Instruction{Op: SignalIs, Index: b.signal(n), Unless: when})
	case n.op == OpNot:
		return b.branch(n.args[0], at, !when)
	case (n.op == OpAnd || n.op == OpOr) && (n.op == OpOr) == when: // each argument decides
		jumps = b.branch(n.args[0], at, when)
		return append(jumps, b.branch(n.args[1], at, when)...)
	case n.op == OpAnd || n.op == OpOr:
		skip := b.branch(n.args[0], at, !when)
		jumps = b.branch(n.args[1], at, when)
		b.land(skip, 0)
		return jumps
	case n.op == OpIf && len(n.args) == 3:
		decide := func(i int) func() { return func() { jumps = append(jumps, b.branch(n.args[i], at, when)...) } }
		b.choose(n.args[0], at, decide(1), decide(2))
		return jumps
	}
	panic(misuse)
}

// choose writes the program of one of two alternatives, by a condition.
func (b *builder) choose(condition *Node, at int, yes, no func()) {
	otherwise := b.branch(condition, at, false)
	yes()
	end := b.jump(Instruction{Op: Jump})
	b.land(otherwise, 0)
	no()
	b.land(end, 0)
}

// relation writes a relation as the test of its indicator's side, or of the opposite. A relation between discrete
// values needs no indicator: they change only at instants.
func (b *builder) relation(n *Node, at int, when bool) []int {
	b.numbersOnly(n.args)
	over, under := n.sides()
	unless := (n.op == OpLess || n.op == OpGreater) == when
	if b.frozen && !b.scope.discrete(n) {
		return b.jump(Instruction{Op: Above, Unless: unless, Index: uint(b.numbers[difference(over, under)])})
	}
	test := Instruction{Op: NonNegative, Unless: unless}
	if h, ok := b.threshold(over, under); ok {
		test.Op, test.Index, test.Value = AtLeast, uint(h.Slot), h.Level
		if h.Falls {
			test.Op = AtMost
		}
	} else {
		b.binary(OpSubtract, over, under, at)
	}
	return b.jump(test)
}

// threshold returns over - under as a threshold, if it is one.
func (b *builder) threshold(over, under *Node) (h Threshold, ok bool) {
	switch {
	case over.op == OpName && under.constant:
		return Threshold{Slot: int(b.signal(over)), Level: under.folded}, true
	case under.op == OpName && over.constant:
		return Threshold{Slot: int(b.signal(under)), Level: over.folded, Falls: true}, true
	}
	return Threshold{}, false
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
	switch {
	case n.op.relation():
		b.relate(n)
	case b.held(n):
		b.registerPieces(n)
	case n.means != nil:
		b.register(n.means)
	default:
		for _, a := range n.args {
			b.register(a)
		}
	}
}

// relate numbers the indicator of a relation, and those inside its sides.
func (b *builder) relate(n *Node) {
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
	text := n.String()
	if n.given != nil {
		text = n.given.String()
	}
	x := Indicator{Text: text, negated: n.op == OpLess || n.op == OpGreater, relation: n,
		g: b.build(nil, true, func(g *builder) { g.binary(OpSubtract, over, under, 0) }, over, under)}
	g := builder{Compiler: b.Compiler}
	x.threshold, x.isThreshold = g.threshold(over, under)
	return x
}

// Tolerance is the largest difference of equal reals, as in BehaviorTree.CPP, in SI units.
const Tolerance = 0x1p-23

// near reports whether an equality compares reals.
func (s Scope) near(n *Node) bool {
	whole := true
	for _, a := range n.args {
		if t := s.variable(a).Type; t != Real && t != Integer || len(s.literals(a)) > 0 {
			return false
		}
		whole = whole && s.integer(a)
	}
	return !whole
}

// equality writes the comparison of two values that change only at instants.
func (b *builder) equality(n *Node, at int, when bool) []int {
	outer := b.values
	b.values = b.scope.values(n)
	x, y := n.args[0], n.args[1]
	if _, ok := b.literal(x); ok {
		x, y = y, x
	}
	test := Instruction{Op: Equal, Register: uint8(at)}
	_, signal := b.literal(x)
	if b.scope.near(n) {
		b.binary(OpSubtract, x, y, at)
		b.emit(Instruction{Op: Call, Index: uint(functionIndex("abs"))})
		b.emit(Instruction{Op: Negate})
		b.emit(Instruction{Op: AddValue, Value: Tolerance})
		test = Instruction{Op: NonNegative}
	} else if value, ok := b.literal(y); ok && !signal && x.op == OpName {
		test = Instruction{Op: SignalIs, Index: b.signal(x), Value: value}
	} else {
		b.both(x, y, at, true)
	}
	b.values = outer
	test.Unless = (n.op == OpNotEqual) == when
	return b.jump(test)
}

// values returns the values of the enumeration of which an equality compares two. If it compares no signal, they are
// those that it names, for the order does not matter.
func (s Scope) values(n *Node) (named []string) {
	for _, a := range n.args {
		if v := s.variable(a); v.Values != nil {
			return v.Values
		}
		named = append(named, s.literals(a)...)
	}
	return named
}

// literals returns the values of an enumeration that an if may have.
func (s Scope) literals(n *Node) []string {
	switch {
	case n.op == OpName && !s.declares(n.name):
		return []string{n.name}
	case n.op == OpIf && len(n.args) == 3:
		return append(s.literals(n.args[1]), s.literals(n.args[2])...)
	}
	return nil
}

// difference returns a text that two pairs of nodes share only if over - under always has one sign, up to rounding:
// what is the same relation in a proof ([Logic]) is the same one in a run.
func difference(over, under *Node) string {
	f := over.linear().plus(under.linear().times(-1))
	for _, t := range f.terms {
		if x := t.factor * f.offset; t.factor == 0 || x-x != 0 { // what cancels itself may have no value
			return over.key() + " - " + under.key()
		}
	}
	return f.key()
}

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
