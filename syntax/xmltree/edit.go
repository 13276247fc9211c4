package xmltree

import (
	"cmp"
	"errors"
	"slices"
	"sort"
	"strings"
)

// Edit is a change of a document's text: New replaces the bytes of the span. The methods of [Document] that make edits
// need a whole document. They change as few bytes as possible and follow the surrounding layout.
type Edit struct {
	Span
	New string
}

// ErrOverlap is the error of edits that change the same bytes.
var ErrOverlap = errors.New("xmltree: edits overlap")

// Apply returns the document's text with edits made to it, all at once. Of two insertions at one place the first given
// comes first. The error is ErrOverlap.
func (d *Document) Apply(edits ...Edit) (string, error) {
	text := d.Source.Text
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.End, b.End)) })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.At < at {
			return "", ErrOverlap
		}
		b.WriteString(text[at:e.At] + e.New)
		at = e.End
	}
	return b.String() + text[at:], nil
}

// Set gives an element's attribute a value. A new attribute follows the others, on a separate line if the last of them
// has one.
func (d *Document) Set(e *Element, name, value string) Edit {
	a := e.Find(name)
	if a == nil {
		at, gap := e.head(), " "
		if n := len(e.Attributes); n > 0 {
			last := e.Attributes[n-1]
			if blanks := d.text(Span{e.before(n - 1), last.At}); blanks != "" {
				gap = blanks
			}
		}
		return Edit{Span{at, at}, gap + name + `="` + escape(value, `"`) + `"`}
	}
	if a.Value == value {
		return Edit{a.Raw, d.text(a.Raw)}
	}
	return Edit{a.Raw, escape(value, d.Source.Text[a.Raw.End:a.Raw.End+1])}
}

// Unset removes an attribute that the element has, with the blanks before it. They stay if the next attribute has none.
func (d *Document) Unset(e *Element, name string) Edit {
	i := slices.IndexFunc(e.Attributes, func(a *Attribute) bool { return a.Name == name })
	if i < 0 {
		panic("xmltree: the element has no such attribute")
	}
	from, next := e.before(i), i+1
	if next < len(e.Attributes) && e.before(next) == e.Attributes[next].At {
		from = e.Attributes[i].At
	}
	return Edit{Span{from, e.Attributes[i].Raw.End + 1}, ""}
}

// before returns where the blanks before an attribute begin.
func (e *Element) before(i int) int {
	if i == 0 {
		return e.Tag.At + 1 + len(e.Name)
	}
	return e.Attributes[i-1].Raw.End + 1
}

// head returns the end of the last attribute, or of the name.
func (e *Element) head() int { return e.before(len(e.Attributes)) }

// Remove removes an element that is not the root, with its lines if nothing else is on them.
func (d *Document) Remove(e *Element) Edit { return d.remove(e, e.Span) }

// Cut removes an element as Remove does, with the comments of its block.
func (d *Document) Cut(e *Element) Edit { return d.remove(e, d.Block(e)) }

func (d *Document) remove(e *Element, s Span) Edit {
	if e.Parent == nil {
		panic("xmltree: a document has a root element")
	}
	text := d.Source.Text
	indent, first := d.indent(s.At)
	end := s.End + len(text[s.End:]) - len(strings.TrimLeft(text[s.End:], " \t"))
	if rest := strings.TrimPrefix(text[end:], "\r"); !first || !strings.HasPrefix(rest, "\n") {
		return Edit{s, ""}
	}
	begin := strings.TrimSuffix(strings.TrimSuffix(text[:s.At-len(indent)], "\n"), "\r")
	return Edit{Span{len(begin), end}, ""}
}

// Block returns an element with the comments that belong to it: those on the lines directly above it, and those behind
// it on its last line.
func (d *Document) Block(e *Element) Span {
	content, block := d.Content, e.Span
	if e.Parent != nil {
		content = e.Parent.Content
	}
	i := sort.Search(len(content), func(i int) bool { return content[i].At >= e.At })
	for _, n := range slices.Backward(content[:i]) {
		_, first := d.indent(n.At)
		if n.Kind == Comment && first {
			block.At = n.At
		} else if !d.Blank(n) || strings.Count(d.text(n.Span), "\n") > 1 {
			break
		}
	}
	for _, n := range content[i+1:] {
		switch {
		case n.Kind == Comment:
			block.End = n.End
		case !d.Blank(n):
			block.End = e.End
			return block
		case strings.Contains(d.text(n.Span), "\n"):
			return block
		}
	}
	block.End = e.End
	return block
}

// Insert puts new markup into an element, before one of those in it, nil: after the last. It is set apart from that one
// as that one is from what precedes it.
func (d *Document) Insert(parent, before *Element, m *Markup) Edit {
	near := before
	for c := range parent.Elements() {
		if before == nil {
			near = c
		}
	}
	if near == nil {
		return d.Append(parent, []*Markup{m})
	}
	block := d.Block(near)
	rest := strings.TrimRight(d.Source.Text[:block.At], blank)
	gap, line := d.Source.Text[len(rest):block.At], ""
	if i := strings.LastIndexByte(gap, '\n'); i >= 0 {
		line = d.lineEnd() + gap[i+1:]
	}
	if text := m.format(line, d.step(parent)); before != nil {
		return Edit{Span{block.At, block.At}, text + gap}
	}
	return Edit{Span{block.End, block.End}, gap + m.format(line, d.step(parent))}
}

// Replace replaces an element by new markup, on separate lines if the element begins a line.
func (d *Document) Replace(e *Element, m *Markup) Edit {
	line, first := d.indent(e.At)
	if line = d.lineEnd() + line; !first {
		line = ""
	}
	return Edit{e.Span, m.format(line, d.step(e))}
}

// Append puts new markup at the end of an element. It gets separate lines where the elements have separate lines. A
// comment on the line of the last element stays with it.
func (d *Document) Append(parent *Element, all []*Markup) Edit {
	outer, lines := d.indent(parent.At)
	step := d.step(parent)
	inner, at := outer+step, parent.Tag.End
	if elements := slices.Collect(parent.Elements()); len(elements) > 0 {
		last := elements[len(elements)-1]
		inner, lines = d.indent(last.At)
		at = last.End
	}
	inside := len(parent.Content) > 0
	if inside {
		at, lines = d.restOfLine(parent, at, lines)
	}
	before, after := "", ""
	if lines {
		before = d.lineEnd() + inner
		if !inside {
			after = d.lineEnd() + outer
		}
	}
	place, text := Span{at, at}, ""
	for _, m := range all {
		text += before + m.format(before, step)
	}
	text += after
	if parent.Close.Len() == 0 { // <a/>
		place.At -= len("/>")
		if gap := (Span{parent.head(), place.At}); !strings.Contains(d.text(gap), "\n") {
			place.At = gap.At
		}
		text = ">" + text + "</" + parent.Name + ">"
	}
	return Edit{place, text}
}

// restOfLine returns the end of the line of a place between the nodes of an element if only blanks and comments follow
// there, else the place itself.
func (d *Document) restOfLine(parent *Element, at int, lines bool) (place int, ends bool) {
	place = at
	for _, n := range parent.Content {
		switch {
		case n.At < at || !lines:
		case n.Kind == Comment:
			place = n.End
		case !d.Blank(n):
			return at, false
		case strings.Contains(d.text(n.Span), "\n"):
			return place, true
		}
	}
	return at, false
}

// indent returns the blanks with which the line of an offset begins, and whether nothing else is before the offset.
func (d *Document) indent(at int) (indent string, first bool) {
	begin := max(d.Source.Begin(), strings.LastIndexByte(d.Source.Text[:at], '\n')+1)
	before := d.Source.Text[begin:at]
	rest := strings.TrimLeft(before, " \t")
	return before[:len(before)-len(rest)], rest == ""
}

// step returns the additional indentation of the elements in an element.
func (d *Document) step(e *Element) string {
	for p := e; p != nil; p = p.Parent {
		outer, _ := d.indent(p.At)
		for c := range p.Elements() {
			if inner, first := d.indent(c.At); first && len(inner) > len(outer) && strings.HasPrefix(inner, outer) {
				return inner[len(outer):]
			}
		}
	}
	return "  "
}

// lineEnd returns the line end that the document uses.
func (d *Document) lineEnd() string {
	if before, _, found := strings.Cut(d.Source.Text, "\n"); found && strings.HasSuffix(before, "\r") {
		return "\r\n"
	}
	return "\n"
}
