package expr

import "math"

// Cell remembers, between events, on which piece the argument of a function with many pieces lies: of floor and mod,
// between which whole numbers. While the argument is on that piece, of the cell's two indicators the first is above and
// the second is not.
type Cell struct {
	Slot     int // of the lower bound among the signals; the upper bound is the next one
	argument *Code
	first    int // of its indicators
}

// Update sets the bounds to those of the piece on which the argument lies now, and reports whether they have changed.
// An argument that is not finite changes nothing.
func (c *Cell) Update(signals []float64, above []bool) (changed bool) {
	x, bounds := c.argument.Real(signals, above), signals[c.Slot:c.Slot+2]
	if x-x != 0 || bounds[0] <= x && x < bounds[1] {
		return false
	}
	low := math.Floor(x)
	changed = bounds[0] != low
	bounds[0], bounds[1] = low, max(low+1, math.Nextafter(x, math.Inf(1)))
	return changed
}

// held reports whether a node is a function that is held between events.
func (b *builder) held(n *Node) bool {
	if !b.frozen || b.memory == 0 || n.op != OpCall || n.constant || b.scope.discrete(n) {
		return false
	}
	switch n.name {
	case "abs", "min", "max":
		return b.kinks
	case "sign", "floor", "mod":
		return true
	}
	return false
}

// choice returns the choice that abs, min, max or sign is; abs without its branches. A minimum or maximum of more than
// two values is one of two halves.
func (n *Node) choice() *Node {
	build := func(o Op, args ...*Node) *Node {
		return (&Node{op: o, name: "if", at: n.at, end: n.end, args: args}).complete()
	}
	number := func(x float64) *Node { return (&Node{op: OpNumber, value: x, unit: AnyUnit}).complete() }
	half := func(args []*Node) *Node {
		if len(args) == 1 {
			return args[0]
		}
		return (&Node{op: OpCall, name: n.name, at: n.at, end: n.end, args: args}).complete()
	}
	middle := (len(n.args) + 1) / 2
	switch x, zero := n.args[0], number(0); n.name {
	case "abs":
		return build(OpIf, build(OpGreaterEqual, x, zero))
	case "sign":
		return build(OpIf, build(OpGreater, x, zero), number(1), build(OpIf, build(OpLess, x, zero), number(-1), zero))
	case "min":
		x, y := half(n.args[:middle]), half(n.args[middle:])
		return build(OpIf, build(OpLessEqual, x, y), x, y)
	case "max":
		x, y := half(n.args[:middle]), half(n.args[middle:])
		return build(OpIf, build(OpGreaterEqual, x, y), x, y)
	}
	panic(misuse)
}

// counted returns the number whose whole part a cell remembers: the argument of floor, the quotient of mod.
func (n *Node) counted() *Node {
	if n.name == "floor" {
		return n.args[0]
	}
	return (&Node{op: OpDivide, at: n.at, end: n.end, args: n.args}).complete()
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
		b.fetch(Instruction{Op: Signal, Index: b.count(n)})
	case "mod":
		b.both(n.args[0], n.args[1], at, false)
		b.emit(Instruction{Op: MultiplySignal, Index: b.count(n)})
		b.emit(Instruction{Op: Subtract, Register: uint8(at)})
	default:
		b.any(n.choice(), at)
	}
}

// count returns the slot of the whole number that a function holds.
func (b *builder) count(n *Node) uint {
	return uint(b.Compiler.cells[b.remembered[n.counted().key()]].Slot)
}

// registerPieces numbers the indicators and cells of a function that is held.
func (b *builder) registerPieces(n *Node) {
	switch n.name {
	case "abs":
		b.register(n.args[0])
		b.relate(n.choice().args[0])
	case "floor", "mod":
		for _, a := range n.args {
			b.register(a)
		}
		b.remember(n)
	default:
		b.register(n.choice())
	}
}

// remember numbers the cell of a function.
func (b *builder) remember(n *Node) {
	x := n.counted()
	key := x.key()
	if _, ok := b.remembered[key]; !ok {
		argument := b.part(func(g *builder) { g.any(x, 0) }, x) // it may have cells itself
		i, cell := len(b.Compiler.cells), Cell{b.memory, argument, len(b.Compiler.indicators)}
		b.memory += 2
		b.remembered[key] = i
		b.Compiler.cells = append(b.Compiler.cells, cell)
		for bound := range 2 {
			g := b.part(func(g *builder) {
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
