// Package xmltree reads an XML document into a concrete syntax tree. The text is preserved, with comments, order,
// blanks and all unknown parts; the tree covers each of its bytes. An edit is a change of text.
package xmltree

import (
	"iter"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/canopy-uav/canopy/diag"
)

// The bounds of a document.
const (
	MaxDepth = 500       // levels of elements
	maxParts = 1_000_000 // elements, attributes and other nodes
	maxTag   = 1 << 20   // bytes of a start tag
)

// Span is the bytes [At, End) of a document's text.
type Span struct{ At, End int }

// Len returns the number of bytes.
func (s Span) Len() int { return s.End - s.At }

// Document is an XML document. It is immutable.
type Document struct {
	Source  *diag.Source
	Content []Node   // the content of the text, after a byte order mark, in order and without gaps
	Root    *Element // nil if there is none
	Whole   bool     // the whole text is in the tree; otherwise it is malformed, and unreadable parts are missing

	ends []int // offsets of the line ends
}

// Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	Text        Kind = iota // character data, blanks between elements included
	CData                   // <![CDATA[ ... ]]>
	Comment                 // <!-- ... -->
	Instruction             // <?target ... ?>
	Directive               // <!DOCTYPE ... >
	Tags                    // an element with its content
)

// Node is a part of a document or of an element's content.
type Node struct {
	Kind Kind
	Span
	Element *Element // of Tags
}

// Element is an element with the places of its parts.
type Element struct {
	Name       string
	Span            // from the start tag to the end tag
	Tag        Span // the start tag, "<" and ">" included
	Close      Span // the end tag; empty if the start tag ends with "/>"
	Parent     *Element
	Attributes []*Attribute
	Content    []Node // between the tags, in order and without gaps
}

// Attribute is an attribute with the places of its parts.
type Attribute struct {
	Name   string
	At     int    // of the name
	Value  string // references replaced, line ends normalised
	Raw    Span   // the value as it is written, between the quotation marks
	places []int  // the text's offset for each byte of the value and for its end; nil: Raw.At + i
}

// Elements visits the elements in the element.
func (e *Element) Elements() iter.Seq[*Element] {
	return func(yield func(*Element) bool) {
		for _, n := range e.Content {
			if n.Kind == Tags && !yield(n.Element) {
				return
			}
		}
	}
}

// NameSpan returns the place of the name in the start tag.
func (e *Element) NameSpan() Span { return Span{e.At + 1, e.At + 1 + len(e.Name)} }

// Find returns the attribute with the given name, nil if there is none.
func (e *Element) Find(name string) *Attribute {
	for _, a := range e.Attributes {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Place returns the text's offset of a byte of the value.
func (a *Attribute) Place(i int) int {
	if a.places == nil {
		return a.Raw.At + i
	}
	return a.places[i]
}

// As returns the attribute under another name.
func (a *Attribute) As(name string) *Attribute {
	b := *a
	b.Name = name
	return &b
}

// Equation returns an attribute that equates the values of two others, with their places in the text.
func Equation(name string, a, b *Attribute) *Attribute { return Compose(name, "(%) == (%)", a, b) }

// Compose returns an attribute made of the values of others, each in the place of a percent sign of the form, with
// their places in the text.
func Compose(name, form string, of ...*Attribute) *Attribute {
	end := of[len(of)-1]
	e := &Attribute{Name: name, At: end.At, Raw: end.Raw}
	add := func(text string, place func(i int) int) {
		e.Value += text
		for i := range len(text) {
			e.places = append(e.places, place(i))
		}
	}
	at := func(place int) func(int) int { return func(int) int { return place } }
	for i, text := range strings.Split(form, "%") {
		closing, opening, _ := strings.Cut(text, ")")
		switch {
		case i == 0:
			add(text, at(of[0].Raw.At))
		case i == len(of):
			add(text, at(of[i-1].Raw.End))
		default:
			add(closing+")", at(of[i-1].Raw.End))
			add(opening, at(of[i].Raw.At))
		}
		if i < len(of) {
			add(of[i].Value, of[i].Place)
		}
	}
	e.places = append(e.places, end.Raw.End)
	return e
}

// Inside returns the bytes of the text that represent bytes of the value.
func (a *Attribute) Inside(offset, length int) (at, n int) {
	from, to := a.Place(offset), a.Place(offset+length)
	at = min(from, to) // a composed value may have its parts in another order
	return at, max(from, to) - at
}

// text returns the bytes of a span.
func (d *Document) text(s Span) string { return d.Source.Text[s.At:s.End] }

// Blank reports whether a node is text of blanks only.
func (d *Document) Blank(n Node) bool {
	text, _ := decode(d.text(n.Span), n.At)
	return n.Kind == Text && strings.TrimSpace(text) == ""
}

// empty reports whether only blanks are in an element.
func (d *Document) empty(e *Element) bool {
	return !slices.ContainsFunc(e.Content, func(n Node) bool { return !d.Blank(n) })
}

// FirstLine returns the first line of a text, without the blanks around it.
func (d *Document) FirstLine(s Span) Span {
	raw := d.text(s)
	line, _, _ := strings.Cut(strings.TrimSpace(raw), "\n")
	at := s.At + strings.Index(raw, line)
	return Span{at, at + len(line)}
}

// Line returns the line of an offset, from 1.
func (d *Document) Line(at int) int { return sort.SearchInts(d.ends, at) + 1 }

// IsName reports whether a text can be the name of an element or attribute.
func IsName(s string) bool {
	for i, c := range s {
		if c != '_' && c != ':' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c) && c != '-' && c != '.') {
			return false
		}
	}
	return s != "" && strings.Count(s, ":") < 2
}
