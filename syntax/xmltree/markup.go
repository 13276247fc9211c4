package xmltree

import (
	"slices"
	"strings"
)

// Markup is an element to be written.
type Markup struct {
	Name       string
	Attributes []Pair
	Children   []*Markup
	Text       string // before the children
	Spaced     bool   // blank lines separate the children
}

// Pair is the name of an attribute with its value.
type Pair struct{ Name, Value string }

// New returns an element with attributes: names and values by turns.
func New(name string, attributes ...string) *Markup {
	m := &Markup{Name: name}
	for pair := range slices.Chunk(attributes, 2) {
		m.Add(pair[0], pair[1])
	}
	return m
}

// With adds children and returns the element.
func (m *Markup) With(children ...*Markup) *Markup {
	m.Children = append(m.Children, children...)
	return m
}

// Document returns the text of a document of which the element is the root.
func (m *Markup) Document() string {
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + m.String() + "\n"
}

// Add adds an attribute.
func (m *Markup) Add(name, value string) { m.Attributes = append(m.Attributes, Pair{name, value}) }

// String returns the markup with each element on a separate line, without a line end after the last.
func (m *Markup) String() string { return m.format("\n", "  ") }

// format writes the markup; line is the line end with the indentation of the first line, step the additional
// indentation of children.
func (m *Markup) format(line, step string) string {
	var b strings.Builder
	m.write(&b, line, step)
	return b.String()
}

func (m *Markup) write(b *strings.Builder, line, step string) {
	b.WriteString("<" + m.Name)
	for _, a := range m.Attributes {
		b.WriteString(" " + a.Name + `="` + escape(a.Value, `"`) + `"`)
	}
	if len(m.Children) == 0 && m.Text == "" {
		b.WriteString("/>")
		return
	}
	b.WriteString(">" + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(m.Text))
	if len(m.Children) == 0 {
		b.WriteString("</" + m.Name + ">")
		return
	}
	apart := ""
	if m.Spaced {
		apart = strings.TrimRight(line, " \t")
	}
	inner := line
	if line != "" {
		inner += step
	}
	for _, c := range m.Children {
		b.WriteString(apart + inner)
		c.write(b, inner, step)
	}
	b.WriteString(apart + line + "</" + m.Name + ">")
}

// escape returns a value as it is written between quotation marks.
func escape(value, quote string) string {
	reference := "&quot;"
	if quote == "'" {
		reference = "&apos;"
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", quote, reference, "\t", "&#9;", "\n", "&#10;", "\r", "&#13;").
		Replace(value)
}

// Markup returns the element as one to be written, with the elements in it, without comments and texts.
func (e *Element) Markup() *Markup {
	m := &Markup{Name: e.Name}
	for _, a := range e.Attributes {
		m.Add(a.Name, a.Value)
	}
	for c := range e.Elements() {
		m.Children = append(m.Children, c.Markup())
	}
	return m
}
