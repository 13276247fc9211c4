package equations

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"canopy/expr"
	"canopy/syntax/yamldoc"
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

// Any character that is not ASCII counts as a letter of a name here: classes of Unicode take a millisecond to compile,
// and what such a name may be is checked later.
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
	if from, err = b.whole(m[2]); err != nil {
		return "", 0, 0, err
	}
	if to, err = b.whole(m[3]); err != nil {
		return "", 0, 0, err
	}
	if to-from >= maxElements {
		return "", 0, 0, fmt.Errorf("the range has more than %d elements", maxElements)
	}
	return m[1], from, to, nil
}

// whole returns the value of an index.
func (b *builder) whole(text string) (int, error) {
	e, err := expr.Parse(text)
	if err != nil {
		return 0, err
	}
	with, scope := map[string]*expr.Expr{}, expr.Scope{}
	for name, k := range b.index {
		if with[name], err = expr.Parse(strconv.Itoa(k)); err != nil {
			return 0, err
		}
		scope[name] = expr.Variable{Type: expr.Integer}
	}
	if mistakes := e.Check(expr.Real, expr.One, scope); len(mistakes) > 0 {
		return 0, fmt.Errorf("the index %q: %w", strings.TrimSpace(text), mistakes[0])
	}
	value, _ := e.Substitute(with).Constant()
	if value != math.Trunc(value) || math.Abs(value) > 1e6 {
		return 0, fmt.Errorf("the index %q is %g, not a whole number of moderate size", strings.TrimSpace(text), value)
	}
	return int(value), nil
}

// expand returns an expression without indices, sizes and sums: T[i-1] is T.4, and sum(i in 1:2, T[i]) is (T.1 + T.2).
// A mistake in what replaces it is reported at the whole expression.
func (b *builder) expand(n *yamldoc.Node) *yamldoc.Node {
	if n == nil || n.Kind != yamldoc.Scalar {
		return n
	}
	text, err := b.expanded(n.Value)
	if b.bytes += len(text); err == nil && text != n.Value && b.bytes > maxExpanded {
		err = fmt.Errorf("the expressions expand to more than %d characters", maxExpanded)
	}
	switch {
	case err != nil:
		b.Add(n, "wrong-range", "", "%v", err)
		b.replaced[n], b.wrong[n.Offset] = true, true // no further mistake is reported there
		return n
	case text == n.Value:
		return n
	}
	c := *n
	c.Value = text
	b.replaced[&c] = true
	return &c
}

// part finds a number with its unit, a quoted text, or a name.
var part = regexp.MustCompile(`(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:\s*\[[^\]]*\])?|"[^"]*"|'[^']*'|` +
	`[A-Za-z_\x{80}-\x{10FFFF}][\w.\x{80}-\x{10FFFF}]*`)

func (b *builder) expanded(text string) (string, error) {
	var out strings.Builder
	for {
		at := part.FindStringIndex(text)
		if at == nil {
			out.WriteString(text)
			return out.String(), nil
		}
		word := text[at[0]:at[1]]
		out.WriteString(text[:at[0]])
		text = text[at[1]:]
		k, isIndex := b.index[word]
		switch {
		case isIndex:
			out.WriteString(strconv.Itoa(k))
		case word == "sum" && strings.HasPrefix(text, "("):
			inside, rest, ok := enclosed(text, '(', ')')
			if !ok {
				return "", fmt.Errorf("sum( is not closed")
			}
			if err := b.sum(&out, inside); err != nil {
				return "", err
			}
			text = rest
		case strings.HasPrefix(text, "[") && expr.IsName(word):
			inside, rest, ok := enclosed(text, '[', ']')
			if !ok {
				return "", fmt.Errorf("%s[ is not closed", word)
			}
			k, err := b.whole(inside)
			if err != nil {
				return "", err
			}
			out.WriteString(word + "." + strconv.Itoa(k))
			text = rest
		default:
			out.WriteString(word)
		}
	}
}

// sum writes the sum over a range, "i in 1:n, value".
func (b *builder) sum(out *strings.Builder, inside string) error {
	over, body, ok := strings.Cut(inside, ",")
	if !ok {
		return fmt.Errorf("a sum is written sum(i in 1:n, value), not sum(%s)", inside)
	}
	name, from, to, err := b.span(over)
	if err != nil {
		return err
	}
	outer := b.index
	defer func() { b.index = outer }()
	terms := []string{}
	for k := from; k <= to; k++ {
		b.index = maps.Clone(outer)
		b.index[name] = k
		term, err := b.expanded(strings.TrimSpace(body))
		if err != nil {
			return err
		}
		if b.bytes += len(term); b.bytes > maxExpanded {
			return fmt.Errorf("the expressions expand to more than %d characters", maxExpanded)
		}
		terms = append(terms, "("+term+")")
	}
	if len(terms) == 0 {
		terms = []string{"0"}
	}
	out.WriteString("(" + strings.Join(terms, " + ") + ")")
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

// inside reports the mistakes that do finds in an expression: all at the whole of one that was expanded, and only those
// of the first element of an array.
func (b *builder) inside(n *yamldoc.Node, do func()) {
	before := len(b.Diags)
	do()
	if !b.replaced[n] {
		return
	}
	found := slices.Clone(b.Diags[before:])
	b.Diags = b.Diags[:before]
	for _, d := range found {
		d.Offset, d.Length = n.Offset, n.Length
		d.Text = fmt.Sprintf("%s (in %s)", d.Text, short(n.Value))
		if !b.wrong[n.Offset] {
			b.Diags = append(b.Diags, d)
		}
	}
	b.wrong[n.Offset] = b.wrong[n.Offset] || len(found) > 0
}

// short returns a text of moderate length.
func short(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}
