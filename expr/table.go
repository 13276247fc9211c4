package expr

import (
	"fmt"
	"math"
	"slices"
)

// Tabulated is a function of one or two numbers that is given at points, and linear between them: of two numbers
// bilinear. It is immutable. All values are in coherent SI units.
type Tabulated struct {
	Text   string
	Axes   []Abscissa // one or two
	Values []float64  // at the points, those of the last axis one after the other
	Clamp  bool       // outside of its points, the function has the value at the nearest one; else it is undefined, NaN
}

// Abscissa is an argument of a table.
type Abscissa struct {
	Name   string
	Unit   Unit
	Points []float64 // ascending, at least two
}

// piece returns the bounds of the piece of the axis on which a number lies, which is below the upper one.
func (a *Abscissa) piece(x float64, clamp bool) (low, high float64) {
	last := len(a.Points) - 1
	end := a.Points[last]
	if !clamp {
		end = math.Nextafter(end, math.Inf(1)) // the function is defined there
	}
	switch i := a.below(x); {
	case x >= end:
		return end, math.MaxFloat64
	case i < 0:
		return -math.MaxFloat64, a.Points[0]
	case i >= last-1:
		return a.Points[last-1], end
	default:
		return a.Points[i], a.Points[i+1]
	}
}

// below returns the place of the last point that is not above a number, -1 if there is none.
func (a *Abscissa) below(x float64) int {
	i, found := slices.BinarySearch(a.Points, x)
	if found {
		return i
	}
	return i - 1
}

// share returns the piece for the place of a number on an axis: the point at which it begins, and the share of the way
// to the next point; ok is false if the function is undefined. low is the lower bound of the piece.
func (a *Abscissa) share(x, low float64, clamp bool) (i int, share float64, ok bool) {
	last := len(a.Points) - 1
	switch i = a.below(low); {
	case i < 0:
		return 0, 0, clamp
	case i == last && (clamp || low > a.Points[last]):
		return last - 1, 1, clamp
	}
	i = min(i, last-1)
	return i, (x - a.Points[i]) / (a.Points[i+1] - a.Points[i]), true
}

// at returns the value at (x, y), on the pieces that begin at the given bounds, or beyond these on the same patch.
func (t *Tabulated) at(x, y, lowX, lowY float64) float64 {
	i, p, ok := t.Axes[0].share(x, lowX, t.Clamp)
	if !ok {
		return math.NaN()
	}
	if len(t.Axes) == 1 {
		return between(t.Values[i], t.Values[i+1], p)
	}
	j, q, ok := t.Axes[1].share(y, lowY, t.Clamp)
	if !ok {
		return math.NaN()
	}
	n := len(t.Axes[1].Points)
	first, second := t.Values[i*n+j:], t.Values[(i+1)*n+j:]
	return between(between(first[0], first[1], q), between(second[0], second[1], q), p)
}

// between returns the value on the way from a to b; exactly b at its end.
func between(a, b, share float64) float64 {
	if share == 1 {
		return b
	}
	return a + share*(b-a)
}

// Value returns the value at x or, of a table of two arguments, at (x, y).
func (t *Tabulated) Value(x, y float64) float64 {
	lowX, _ := t.Axes[0].piece(x, t.Clamp)
	lowY := 0.0
	if len(t.Axes) == 2 {
		lowY, _ = t.Axes[1].piece(y, t.Clamp)
	}
	if x != x || y != y {
		return math.NaN()
	}
	return t.at(x, y, lowX, lowY)
}

// table checks a call of a table.
func (c *checker) table(n *Node, v Variable) quantity {
	if !c.counted(n, len(v.Table.Axes), len(v.Table.Axes)) {
		return unknown
	}
	for i, a := range n.args {
		q, want := c.number(a, n.name+" needs numbers"), v.Table.Axes[i].Unit
		if !q.fits(quantity{unit: want}) {
			c.report(a, CodeIncoherence, fmt.Sprintf("%s takes a value in %v, but %s", n.name, want, q.of(a)), "")
		}
	}
	return quantity{unit: v.Unit}
}

// lookUp writes a call of a table.
func (b *builder) lookUp(n *Node, t *Tabulated, at int) {
	if len(n.args) != len(t.Axes) {
		panic(misuse)
	}
	i := slices.Index(b.Compiler.tables, t)
	if i < 0 {
		i = len(b.Compiler.tables)
		b.Compiler.tables = append(b.Compiler.tables, t)
	}
	in := Instruction{Op: Lookup, Index: uint(i)}
	if len(n.args) == 1 {
		b.any(n.args[0], at)
	} else {
		in.Op, in.Register = LookupTwo, uint8(at)
		b.both(n.args[0], n.args[1], at, false)
	}
	if b.held(n) {
		in.Target = b.cell(n, 0)
		if len(n.args) == 2 {
			in.Value = float64(b.cell(n, 1))
		}
	}
	b.emit(in)
}

// Patch is a piece of a table, on which it is v[0] + p (v[1] - v[0]) of one argument x, and of two linear between this
// and the same of v[2] and v[3] by q: p = (x - X) / Width and q = (y - Y) / Height, which are 0 of an infinite width.
type Patch struct {
	X, Width, Y, Height float64
	V                   [4]float64
}

// Patch returns the piece that begins at the given bounds; ok is false if the table is undefined there.
func (t *Tabulated) Patch(lowX, lowY float64) (p Patch, ok bool) {
	along := func(a *Abscissa, low float64) (i, step int, at, width float64) {
		i, share, defined := a.share(low, low, t.Clamp)
		if ok = ok && defined; share == 1 {
			i++
		}
		if i == len(a.Points)-1 || low < a.Points[0] {
			return i, 0, a.Points[i], math.Inf(1)
		}
		return i, 1, a.Points[i], a.Points[i+1] - a.Points[i]
	}
	ok = true
	i, di, x, width := along(&t.Axes[0], lowX)
	p = Patch{X: x, Width: width, Height: math.Inf(1)}
	j, dj, n := 0, 0, 1
	if len(t.Axes) == 2 {
		n = len(t.Axes[1].Points)
		j, dj, p.Y, p.Height = along(&t.Axes[1], lowY)
	}
	at := func(i, j int) float64 { return t.Values[i*n+j] }
	p.V = [4]float64{at(i, j), at(i+di, j), at(i, j+dj), at(i+di, j+dj)}
	return p, ok
}
