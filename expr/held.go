package expr

import (
	"fmt"
	"math"
	"slices"
)

// Cell remembers, between events, on which piece the argument of a function with many pieces lies: of floor and mod,
// between which whole numbers; of a table, between which points. While the argument is on that piece, of the cell's two
// indicators the first is above and the second is not.
type Cell struct {
	Slot     int // of the lower bound among the signals; the upper bound is the next one
	argument *Code
	first    int       // of its indicators
	axis     *Abscissa // of a table; nil: whole numbers
	clamp    bool
	text     string // of the call
}

// Argument returns the code of the argument.
func (c *Cell) Argument() *Code { return c.argument }

// Axis returns the points between which the argument may lie, and whether the table has values outside of them; nil for
// whole numbers. The caller must not change them.
func (c *Cell) Axis() (points []float64, clamp bool) {
	if c.axis == nil {
		return nil, false
	}
	return slices.Clip(c.axis.Points), c.clamp
}

// Undefined returns the call of a table that is undefined because the argument is outside of its points; "" if it is
// not.
func (c *Cell) Undefined(signals []float64) string {
	if c.axis == nil || c.clamp {
		return ""
	}
	x, points := c.argument.Real(signals, nil), c.axis.Points
	if low, high := points[0], points[len(points)-1]; x < low || x > high {
		return fmt.Sprintf("%s is undefined: %g is outside of its points, %g to %g", c.text, x, low, high)
	}
	return ""
}

// Update sets the bounds to those of the piece on which the argument lies now, and reports whether they have changed.
// An argument that is not finite changes nothing.
func (c *Cell) Update(signals []float64, above []bool) (changed bool) {
	x, bounds := c.argument.Real(signals, above), signals[c.Slot:c.Slot+2]
	if x-x != 0 || bounds[0] <= x && x < bounds[1] {
		return false
	}
	low, high := c.piece(x)
	changed = bounds[0] != low || bounds[1] != high
	bounds[0], bounds[1] = low, high
	return changed
}

func (c *Cell) piece(x float64) (low, high float64) {
	if c.axis != nil {
		return c.axis.piece(x, c.clamp)
	}
	low = math.Floor(x)
	return low, max(low+1, math.Nextafter(x, math.Inf(1)))
}

// held reports whether a node is a function that is held between events.
func (b *builder) held(n *Node) bool {
	if !b.frozen || b.memory == 0 || n.op != OpCall || n.constant || b.scope.discrete(n) {
		return false
	}
	return n.turns() || b.scope[n.name].Table != nil
}

// turns reports whether a function of the language turns or jumps. The angle of a point that is not below the axis, as
// that of a root, does not.
func (n *Node) turns() bool {
	if n.name == "atan2" {
		y := n.args[0]
		return y.op != OpCall || y.name != "sqrt"
	}
	f := functionIndex(n.name)
	return f >= 0 && functions[f].breaks == switches
}

// Bends reports whether the expression has functions that turn or jump, or relations inside the sides of others: Hold
// may make a difference to its code.
func (e *Expr) Bends() bool { return e.root.bends(false) }

func (n *Node) bends(inside bool) bool {
	switch {
	case n.op.relation():
		if inside {
			return true
		}
		inside = true
	case n.means != nil:
		return n.means.bends(inside)
	case n.op == OpCall:
		if n.turns() || !IsFunction(n.name) { // a table
			return true
		}
	}
	return slices.ContainsFunc(n.args, func(a *Node) bool { return a.bends(inside) })
}

// choice returns the choice that abs, min, max or sign is; abs without its branches. A minimum or maximum of more than
// two values is one of two halves.
func (n *Node) choice() *Node {
	build := func(o Op, args ...*Node) *Node {
		return (&Node{op: o, name: "if", at: n.at, end: n.end, args: args}).complete()
	}
	half := func(args []*Node) *Node {
		if len(args) == 1 {
			return args[0]
		}
		return (&Node{op: OpCall, name: n.name, at: n.at, end: n.end, args: args}).complete()
	}
	middle := (len(n.args) + 1) / 2
	switch x, zero := n.args[0], literal(0); n.name {
	case "abs":
		return build(OpIf, build(OpGreaterEqual, x, zero))
	case "sign":
		return build(OpIf, build(OpGreater, x, zero), literal(1), build(OpIf, build(OpLess, x, zero), literal(-1), zero))
	case "min", "max":
		x, y := half(n.args[:middle]), half(n.args[middle:])
		first := map[string]Op{"min": OpLessEqual, "max": OpGreaterEqual}[n.name]
		return build(OpIf, build(first, x, y), x, y)
	}
	panic(misuse)
}

// half returns the relation that an argument is not negative, as which a function chooses between its branches.
func half(x *Node) *Node { return build(OpGreaterEqual, x, literal(0)) }

// direction writes atan2 of y and x. Where x is not negative, it is smooth; elsewhere it is that of the opposite point
// half a turn farther, which is smooth there: the sign of y says on which side of the jump.
func (b *builder) direction(n *Node, at int) {
	y, x := n.args[0], n.args[1]
	write := func(y, x *Node) {
		b.both(y, x, at, false)
		b.emit(Instruction{Op: CallTwo, Register: uint8(at), Index: uint(functionIndex(n.name))})
	}
	turned := func(half float64) func() {
		return func() {
			write(build(OpNegative, y), build(OpNegative, x))
			b.emit(Instruction{Op: AddValue, Value: half})
		}
	}
	b.choose(half(x), at, func() { write(y, x) }, func() {
		b.choose(half(y), at, turned(math.Pi), turned(-math.Pi)) // before write: a relation of discrete values computes
	})
}

// counted returns the number whose piece a cell remembers: the argument of floor, the quotient of mod, an argument of a
// table. It also returns a key that functions share only if they have the same pieces.
func (n *Node) counted(i int) (x *Node, key string) {
	switch n.name {
	case "floor":
		x = n.args[0]
	case "mod":
		x = (&Node{op: OpDivide, at: n.at, end: n.end, args: n.args}).complete()
	default:
		return n.args[i], fmt.Sprint(n.name, " ", i, " ", n.args[i].key())
	}
	return x, x.key()
}

// piece writes a function as the piece of it that is held.
func (b *builder) piece(n *Node, at int) {
	switch n.name {
	case "abs":
		b.any(n.args[0], at)
		positive := b.branch(n.choice().args[0], at, true)
		b.emit(Instruction{Op: Negate})
		b.land(positive, 0)
	case "floor":
		b.fetch(Instruction{Op: Signal, Index: b.cell(n, 0)})
	case "mod":
		b.both(n.args[0], n.args[1], at, false)
		b.emit(Instruction{Op: MultiplySignal, Index: b.cell(n, 0)})
		b.emit(Instruction{Op: Subtract, Register: uint8(at)})
	case "atan2":
		b.save()
		b.direction(n, at)
	default:
		b.any(n.choice(), at)
	}
}

// cell returns the slot of the lower bound of the piece that a function holds for an argument.
func (b *builder) cell(n *Node, i int) uint {
	_, key := n.counted(i)
	return uint(b.Compiler.cells[b.remembered[key]].Slot)
}

// registerPieces numbers the indicators and cells of a function that is held.
func (b *builder) registerPieces(n *Node) {
	switch n.name {
	case "abs":
		b.register(n.args[0])
		b.relate(n.choice().args[0])
	case "sign", "min", "max":
		b.register(n.choice())
	case "atan2":
		b.relate(half(n.args[0]))
		b.relate(half(n.args[1]))
	default:
		for _, a := range n.args {
			b.register(a)
		}
		b.remember(n, 0)
		if len(n.args) == 2 && n.name != "mod" {
			b.remember(n, 1)
		}
	}
}

// remember numbers the cell of a function for an argument.
func (b *builder) remember(n *Node, arg int) {
	x, key := n.counted(arg)
	if _, ok := b.remembered[key]; !ok {
		argument := b.build(nil, true, func(g *builder) { g.any(x, 0) }, x) // it may have cells itself
		i, cell := len(b.Compiler.cells), Cell{Slot: b.memory, argument: argument, first: len(b.Compiler.indicators)}
		if t := b.scope[n.name].Table; t != nil {
			cell.axis, cell.clamp, cell.text = &t.Axes[arg], t.Clamp, n.String()
		}
		b.memory += 2
		b.remembered[key] = i
		b.Compiler.cells = append(b.Compiler.cells, cell)
		for bound := range 2 {
			g := b.build(nil, true, func(g *builder) {
				g.any(x, 0)
				g.emit(Instruction{Op: SubtractSignal, Index: uint(cell.Slot + bound)})
			}, x)
			g.cells = append(g.cells, i)
			b.Compiler.indicators = append(b.Compiler.indicators, Indicator{Text: n.String(), g: g})
		}
	}
	i := b.remembered[key]
	first := b.Compiler.cells[i].first
	b.indicators = append(b.indicators, first, first+1)
	b.cells = append(b.cells, i)
}
