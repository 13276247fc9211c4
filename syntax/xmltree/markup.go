package xmltree

import (
	"errors"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
)

// Markup is an element to be written.
type Markup struct {
	Name       string
	Attributes []Pair
	Children   []*Markup
	Text       string // before the children
	Spaced     bool   // blank lines separate the children

	copied []string // instead of all this: the lines of a text, those that may be indented anew without their indentation
	as     string   // that text as it stands
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
	if m.copied != nil {
		m.copy(b, line)
		return
	}
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

// Copy returns the elements and comments of a text. Written, they stand as in the text, with the layout of their
// place: lines that begin with the blanks of the first one are indented anew, unless a value or a text goes on there.
// The error says that the text does not consist of whole elements.
func Copy(text string) (*Markup, error) {
	rest := strings.TrimLeft(text, blank)
	lead := text[:len(text)-len(rest)]
	return copied(rest, lead[strings.LastIndexByte(lead, '\n')+1:])
}

// Copy returns the elements and comments of a part of the text as [Copy] does.
func (d *Document) Copy(s Span) (*Markup, error) {
	text := d.text(s)
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r"), "\n") {
		return Copy(text)
	}
	indent, _ := d.indent(s.At)
	return copied(text, indent)
}

var errNoElements = errors.New("this is no text of whole elements")

func copied(text, indent string) (*Markup, error) {
	text = strings.Trim(text, blank)
	d, found := Parse(&diag.Source{Text: "<x>" + text + "</x>"})
	if found.HasErrors() || d.Root == nil || d.Root.Name != "x" || len(d.Root.Content) == 0 {
		return nil, errNoElements
	}
	elements := 0
	for _, n := range d.Root.Content {
		if n.Kind == Tags {
			elements++
		} else if n.Kind != Comment && !d.Blank(n) {
			return nil, errNoElements
		}
	}
	if elements == 0 {
		return nil, errNoElements
	}
	m, from := &Markup{as: text}, 0
	fixed := d.fixed(d.Root, nil)
	for i := range text {
		for len(fixed) > 0 && fixed[0].End <= i+len("<x>") {
			fixed = fixed[1:]
		}
		if text[i] != '\n' || len(fixed) > 0 && fixed[0].At <= i+len("<x>") || !strings.HasPrefix(text[i+1:], indent) {
			continue
		}
		m.copied = append(m.copied, strings.TrimSuffix(text[from:i], "\r"))
		from = i + 1 + len(indent)
	}
	m.copied = append(m.copied, text[from:])
	return m, nil
}

// fixed appends the parts of an element in which blanks count: values and texts.
func (d *Document) fixed(e *Element, list []Span) []Span {
	for _, a := range e.Attributes {
		list = append(list, a.Raw)
	}
	for _, n := range e.Content {
		switch {
		case n.Kind == Tags:
			list = d.fixed(n.Element, list)
		case n.Kind != Comment && !d.Blank(n):
			list = append(list, n.Span)
		}
	}
	return list
}

// copy writes the copied lines.
func (m *Markup) copy(b *strings.Builder, line string) {
	if line == "" {
		b.WriteString(m.as)
		return
	}
	for i, text := range m.copied {
		switch {
		case i == 0:
		case strings.Trim(text, blank) == "":
			b.WriteString(strings.TrimRight(line, " \t"))
		default:
			b.WriteString(line)
		}
		b.WriteString(text)
	}
}
