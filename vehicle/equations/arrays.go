package equations

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
)

// Limits of what a file may expand to.
const (
	maxElements = 10_000    // of all arrays, and of one sum
	maxExpanded = 1_000_000 // bytes of all expressions
)

// sizes reads the whole numbers that ranges and indices may contain.
func (b *builder) sizes(n *yamldoc.Node) {
	if n == nil {
		return
	}
	b.Mapping(n, "sizes", func(key, value *yamldoc.Node) {
		if !expr.IsName(key.Value) {
			b.Add(key, "wrong-name", "", "%q cannot be a name", key.Value)
			return
		}
		size := b.Bounded(value, expr.One, "a size", func(v float64) bool { return v == math.Trunc(v) && v >= 0 },
			"be a whole number", "")
		b.index[key.Value] = int(size)
		b.scope[key.Value] = expr.Variable{Type: expr.Integer}
	})
}

// each calls visit for a declaration, or for each element of an array: once for each value of the variable of its
// range, "i in 1:n", which is in b.index meanwhile. of is the suffix of an element's name.
func (b *builder) each(n *yamldoc.Node, visit func(of string)) {
	loop := n.Entry("for")
	if loop == nil {
		visit("")
		return
	}
	name, from, to, err := b.span(loop.Value)
	if err == nil {
		if b.elements += to - from + 1; b.elements > maxElements {
			err = fmt.Errorf("the arrays have more than %d elements", maxElements)
		}
	}
	if err != nil {
		b.Add(loop, "wrong-range", "write a range such as `i in 1:10`", "%v", err)
		return
	}
	outer, before := b.index, len(b.Diags)
	for k := from; k <= to && len(b.Diags) == before; k++ { // the other elements have the same mistakes
		b.index = maps.Clone(outer)
		b.index[name] = k
		visit("." + strconv.Itoa(k))
	}
	b.index = outer
}

// Any character that is not ASCII counts as a letter of a name here: classes of Unicode are slow to compile, and what
// such a name may be is checked later.
var isRange = regexp.MustCompile(`^\s*([A-Za-z_\x{80}-\x{10FFFF}][\w\x{80}-\x{10FFFF}]*)\s+in\s+([^:]+):([^:]+)$`)

// span reads a range.
func (b *builder) span(text string) (name string, from, to int, err error) {
	m := isRange.FindStringSubmatch(text)
	if m == nil {
		return "", 0, 0, fmt.Errorf("%q is not a range", text)
	}
	if _, taken := b.scope[m[1]]; taken || !expr.IsName(m[1]) {
		return "", 0, 0, fmt.Errorf("%q cannot be the name of an index: it has another meaning", m[1])
	}
	if from, err = b.whole(m[2], 0); err != nil {
		return "", 0, 0, err
	}
	if to, err = b.whole(m[3], 0); err != nil {
		return "", 0, 0, err
	}
	if to-from >= maxElements {
		return "", 0, 0, fmt.Errorf("the range has more than %d elements", maxElements)
	}
	return m[1], from, to, nil
}

// whole returns the value of an index, which is at an offset in an expression.
func (b *builder) whole(text string, at int) (int, error) {
	e, err := expr.Parse(text)
	if err != nil {
		return 0, misplaced(at, len(text), "the index %q: %v", strings.TrimSpace(text), err)
	}
	with, scope := map[string]*expr.Expr{}, expr.Scope{}
	for name, k := range b.index {
		if with[name], err = expr.Parse(strconv.Itoa(k)); err != nil {
			return 0, err
		}
		scope[name] = expr.Variable{Type: expr.Integer}
	}
	if mistakes := e.Check(expr.Real, expr.One, scope); len(mistakes) > 0 {
		first := mistakes[0]
		m := misplaced(at+first.Offset, first.Length, "the index %q: %s", strings.TrimSpace(text), first.Text)
		m.Hint, m.Suggest = first.Hint, first.Suggest
		return 0, m
	}
	value, _ := e.Substitute(with).Constant()
	if value != math.Trunc(value) || math.Abs(value) > 1e6 {
		return 0, misplaced(at, len(text), "the index %q is %g, not a whole number of moderate size",
			strings.TrimSpace(text), value)
	}
	return int(value), nil
}

// expansion is an expression without indices, sizes and sums, and where its parts come from.
type expansion struct {
	strings.Builder
	parts []origin
}

// origin is a part of an expansion, from an offset on, and the part of the expression from which it comes: the same
// text, or another one.
type origin struct {
	at, from, to int
	same         bool
}

// add writes a text that comes from a part of the expression.
func (x *expansion) add(text string, from, to int, same bool) {
	if text != "" {
		x.parts = append(x.parts, origin{x.Len(), from, to, same})
		x.WriteString(text)
	}
}

// source returns the part of the expression from which a part of the expansion comes.
func (x *expansion) source(offset, length int) (from, to int) {
	find := func(at int) origin {
		i, found := slices.BinarySearchFunc(x.parts, at, func(o origin, at int) int { return o.at - at })
		if !found {
			i--
		}
		return x.parts[max(i, 0)]
	}
	first, last := find(offset), find(max(offset+length-1, offset))
	from, to = first.from, last.to
	if first.same {
		from = min(first.from+offset-first.at, first.to)
	}
	if last.same {
		to = min(last.from+offset+length-last.at, last.to)
	}
	return from, max(from, to)
}

// expand returns an expression without indices, sizes and sums: T[i-1] is T.4, and sum(i in 1:2, T[i]) is (T.1 + T.2).
// A mistake in what replaces a part is reported at this part.
func (b *builder) expand(n *yamldoc.Node) *yamldoc.Node {
	if n == nil || n.Kind != yamldoc.Scalar {
		return n
	}
	x := &expansion{}
	err := b.expanded(x, n.Value, 0)
	text := x.String()
	if b.bytes += len(text); err == nil && text != n.Value && b.bytes > maxExpanded {
		err = tooLong(0, len(n.Value))
	}
	switch {
	case err != nil:
		if !b.wrong[n.Offset] {
			b.Inside(n, err)
		}
		b.replaced[n], b.wrong[n.Offset] = x, true // no further mistake is reported there
		return n
	case text == n.Value:
		return n
	}
	c := *n
	c.Value = text
	b.replaced[&c] = x
	return &c
}

// misplaced is a mistake in a part of an expression.
func misplaced(offset, length int, format string, args ...any) *expr.Error {
	return &expr.Error{Offset: offset, Length: length, Code: "wrong-range", Text: fmt.Sprintf(format, args...)}
}

func tooLong(offset, length int) *expr.Error {
	return misplaced(offset, length, "the expressions expand to more than %d characters", maxExpanded)
}

// part describes a number with its unit, a quoted text, or a name. Its classes of Unicode are compiled when the first
// expression is expanded: that takes a tenth of the start of a command.
const part = `(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:\s*\[[^\]]*\])?|"[^"]*"|'[^']*'|[\pL_][\pL\pN_.]*`

// expanded writes the expansion of a text, which is at an offset in the expression.
func (b *builder) expanded(x *expansion, text string, offset int) error {
	if b.part == nil {
		b.part = regexp.MustCompile(part)
	}
	for {
		at := b.part.FindStringIndex(text)
		if at == nil {
			x.add(text, offset, offset+len(text), true)
			return nil
		}
		x.add(text[:at[0]], offset, offset+at[0], true)
		word, from := text[at[0]:at[1]], offset+at[0]
		text, offset = text[at[1]:], offset+at[1]
		k, isIndex := b.index[word]
		switch {
		case isIndex:
			x.add(strconv.Itoa(k), from, offset, false)
		case word == "sum" && strings.HasPrefix(text, "("):
			inside, rest, ok := enclosed(text, '(', ')')
			if !ok {
				return misplaced(from, len(word)+1, "sum( is not closed")
			}
			if err := b.sum(x, inside, offset+1); err != nil {
				return err
			}
			text, offset = rest, offset+len(text)-len(rest)
		case strings.HasPrefix(text, "[") && expr.IsName(word):
			inside, rest, ok := enclosed(text, '[', ']')
			if !ok {
				return misplaced(from, len(word)+1, "%s[ is not closed", word)
			}
			k, err := b.whole(inside, offset+1)
			if err != nil {
				return err
			}
			text, offset = rest, offset+len(text)-len(rest)
			x.add(word+"."+strconv.Itoa(k), from, offset, false)
		default:
			x.add(word, from, offset, true)
		}
	}
}

// sum writes the sum over a range, "i in 1:n, value", which is at an offset in the expression.
func (b *builder) sum(x *expansion, inside string, offset int) error {
	over, body, ok := strings.Cut(inside, ",")
	if !ok {
		return misplaced(offset, len(inside), "a sum is written sum(i in 1:n, value), not sum(%s)", inside)
	}
	name, from, to, err := b.span(over)
	if err != nil {
		return misplaced(offset, len(over), "%v", err)
	}
	outer := b.index
	defer func() { b.index = outer }()
	offset += len(over) + 1
	end := offset + len(body)
	offset += len(body) - len(strings.TrimLeft(body, " \t\n"))
	body = strings.TrimSpace(body)
	x.add("(", offset, end, false)
	for k := from; k <= to; k++ {
		b.index = maps.Clone(outer)
		b.index[name] = k
		separator := " + ("
		if k == from {
			separator = "("
		}
		x.add(separator, offset, end, false)
		before := x.Len()
		if err := b.expanded(x, body, offset); err != nil {
			return err
		}
		x.add(")", offset, end, false)
		if b.bytes += x.Len() - before; b.bytes > maxExpanded {
			return tooLong(offset, end-offset)
		}
	}
	if from > to {
		x.add("0", offset, end, false)
	}
	x.add(")", offset, end, false)
	return nil
}

// enclosed splits a text that begins with an opening bracket at the bracket that closes it.
func enclosed(text string, opens, closes rune) (inside, rest string, ok bool) {
	depth := 0
	for i, r := range text {
		switch r {
		case opens:
			depth++
		case closes:
			if depth--; depth == 0 {
				return text[1:i], text[i+1:], true
			}
		}
	}
	return "", "", false
}

// inside reports the mistakes that do finds in an expression: each where it is before the expansion, and only those of
// the first element of an array.
func (b *builder) inside(n *yamldoc.Node, do func()) {
	before := len(b.Diags)
	do()
	x := b.replaced[n]
	if x == nil {
		return
	}
	found := slices.Clone(b.Diags[before:])
	b.Diags = b.Diags[:before]
	seen := map[[2]int]bool{}
	for _, d := range found {
		if len(x.parts) > 0 && d.Offset >= n.Offset {
			from, to := x.source(d.Offset-n.Offset, d.Length)
			d.Offset, d.Length = n.Offset+from, to-from
		}
		place := [2]int{d.Offset, d.Length}
		again := seen[place] // the next term of a sum
		seen[place] = true
		if !b.wrong[n.Offset] && !again {
			b.Diags = append(b.Diags, d)
		}
	}
	b.wrong[n.Offset] = b.wrong[n.Offset] || len(found) > 0
}
