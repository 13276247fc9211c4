package xmltree

import (
	"strings"
	"unicode/utf8"
)

// Canonical returns the document's text in the canonical layout. Elements, attributes and their order, values, comments
// and texts are preserved. The document must be whole.
//
//   - Elements, comments and instructions have lines of their own, two blanks deeper than the element around them. An
//     element that has no line break between its tags keeps its line, and a comment that follows on a line stays there.
//   - Blank lines become one, and none at the beginning and the end of the document.
//   - Attributes are separated by one blank. A line break before an attribute is kept: it is below the first one, or
//     four blanks deeper than the tag if that has its own line, too.
//   - An element without content has one tag, <a/>. What is between the tags of an element with text is preserved.
//   - The text ends with a line end. Line ends are those of the document's first line.
func (d *Document) Canonical() string {
	l := layout{Document: d, end: d.lineEnd()}
	l.out.WriteString(d.Source.Text[:d.Source.Begin()])
	l.lines(d.Content, "")
	return l.out.String() + l.end
}

type layout struct {
	*Document
	out strings.Builder
	end string // of a line
}

// lines writes nodes on lines of their own, without the first and the last line end. It returns the line breaks after
// the last one.
func (l *layout) lines(nodes []Node, indent string) (breaks int) {
	first := true
	for _, n := range nodes {
		if n.Kind == Text {
			breaks += strings.Count(l.text(n.Span), "\n")
			continue
		}
		switch {
		case first:
		case n.Kind == Comment && breaks == 0:
			l.out.WriteString(" ")
		default:
			l.out.WriteString(l.blank(breaks) + l.end + indent)
		}
		l.node(n, indent)
		breaks, first = 0, false
	}
	return breaks
}

// blank returns another line end if there are several line breaks.
func (l *layout) blank(breaks int) string {
	if breaks > 1 {
		return l.end
	}
	return ""
}

func (l *layout) node(n Node, indent string) {
	if n.Kind != Tags {
		l.out.WriteString(l.text(n.Span))
		return
	}
	e := n.Element
	l.tag(e, indent)
	inside := Span{e.Tag.End, e.Close.At}
	text, broken := false, false
	for _, c := range e.Content {
		text = text || c.Kind == CData || c.Kind == Text && !l.Blank(c)
		broken = broken || c.Kind == Text && strings.Contains(l.text(c.Span), "\n")
	}
	switch {
	case l.empty(e):
		l.out.WriteString("/>")
		return
	case text:
		l.out.WriteString(">" + l.text(inside))
	case !broken:
		l.out.WriteString(">")
		for _, c := range e.Content {
			if c.Kind != Text {
				l.node(c, indent)
			}
		}
	default:
		begin := e.Content[0]
		breaks := 0
		if begin.Kind == Text {
			breaks = strings.Count(l.text(begin.Span), "\n")
		}
		l.out.WriteString(">" + l.blank(breaks) + l.end + indent + "  ")
		breaks = l.lines(e.Content, indent+"  ")
		l.out.WriteString(l.blank(breaks) + l.end + indent)
	}
	l.out.WriteString("</" + e.Name + ">")
}

// tag writes a start tag without its end.
func (l *layout) tag(e *Element, indent string) {
	l.out.WriteString("<" + e.Name)
	below := indent + strings.Repeat(" ", len("< ")+utf8.RuneCountInString(e.Name))
	for i, a := range e.Attributes {
		if gap := (Span{e.before(i), a.At}); strings.Contains(l.text(gap), "\n") {
			if i == 0 {
				below = indent + "    "
			}
			l.out.WriteString(l.end + below)
		} else {
			l.out.WriteString(" ")
		}
		quote := l.Source.Text[a.Raw.End : a.Raw.End+1]
		l.out.WriteString(a.Name + "=" + quote + l.text(a.Raw) + quote)
	}
}
