package plan

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"canopy/diag"
)

// maxDepth bounds the nesting of elements as well as of expanded subtrees.
const maxDepth = 500

// maxSyntaxErrors ends the search for more where a file is no XML at all.
const maxSyntaxErrors = 20

// element is an element of the document with the places of its parts.
type element struct {
	name        string
	offset, end int // bytes of the start tag, "<" and ">" included
	attributes  []*attribute
	children    []*element
}

// attribute is an attribute of an element with the places of its parts.
type attribute struct {
	name   string
	offset int    // of the name
	value  string // references replaced, line ends normalised
	at     int    // of the value, behind the quotation mark
	end    int    // of the value, at the closing quotation mark
	places []int  // the file's offset for each byte of the value and for its end; nil: at + i
}

// place returns the file's offset of a byte of the value.
func (a *attribute) place(i int) int {
	if a.places == nil {
		return a.at + i
	}
	return a.places[i]
}

// span returns the bytes of the file that stand for bytes of the value.
func (a *attribute) span(offset, length int) (at, n int) {
	at = a.place(offset)
	return at, a.place(offset+length) - at
}

// find returns the attribute with the given name, nil if there is none.
func (e *element) find(name string) *attribute {
	for _, a := range e.attributes {
		if a.name == name {
			return a
		}
	}
	return nil
}

// parser builds the document's elements from the tokens of encoding/xml. What the tokens do not say, the places inside
// a start tag, it scans itself. It goes on behind mistakes so that the rest can be checked as well.
type parser struct {
	*reader
	text  string
	root  *element
	open  []*element // from the root to the innermost element that has no end tag yet
	fails int
	lost  bool // a tag could not be read, so that end tags without a start tag are to be expected

	entities []string // that the document type declares
}

// parse returns the root element, nil if there is none.
func (r *reader) parse() *element {
	p := parser{reader: r, text: r.source.Text}
	for at := r.source.Begin(); at < len(p.text) && p.fails < maxSyntaxErrors; {
		at = p.tokens(at)
	}
	for i := len(p.open) - 1; i >= 0 && p.fails < maxSyntaxErrors; i-- {
		p.unclosed(p.open[i], "the end of the file")
	}
	return p.root
}

// tokens reads from the given offset to the end of the file or to a tag that cannot be read, reports that, and returns
// where to go on.
func (p *parser) tokens(base int) int {
	decoder := xml.NewDecoder(strings.NewReader(p.text[base:]))
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	for {
		start := base + int(decoder.InputOffset())
		token, err := decoder.RawToken()
		end := base + int(decoder.InputOffset())
		switch token := token.(type) {
		case xml.StartElement:
			p.start(start, end)
		case xml.EndElement:
			p.end(start, end)
		case xml.CharData:
			p.characters(start, end, string(token))
		case xml.ProcInst:
			if token.Target == "xml" && start != p.source.Begin() {
				p.report(start, end-start, codeMalformed, "let the file begin with it, or leave it out",
					"<?xml ...?> does not stand at the beginning of the file")
			}
		case xml.Directive:
			p.documentType(start, end, string(token))
		}
		if errors.Is(err, io.EOF) {
			return len(p.text)
		}
		if err != nil {
			return p.malformed(start, end, err)
		}
		if p.fails >= maxSyntaxErrors {
			return len(p.text)
		}
	}
}

func (p *parser) start(start, end int) {
	e := scanTag(p.text, start, end)
	switch {
	case len(p.open) > 0:
		parent := p.open[len(p.open)-1]
		if len(p.open) <= maxDepth {
			parent.children = append(parent.children, e)
		} else {
			p.broken = true
			p.report(e.offset, len(e.name)+1, codeTooDeep, "", "elements are nested more than %d deep", maxDepth)
			p.fails = maxSyntaxErrors
		}
	case p.root == nil:
		p.root = e
	default:
		p.syntax(start, end-start, "a document has one root element; put all trees inside <root>",
			"<%s> stands behind the end of <%s>", e.name, p.root.name)
	}
	p.open = append(p.open, e)
}

// end closes an element. The end tag of a self-closing element is empty.
func (p *parser) end(start, end int) {
	top := len(p.open) - 1
	if start == end {
		p.open = p.open[:top]
		return
	}
	name := strings.TrimSpace(strings.Trim(p.text[start:end], "</>"))
	match := top
	for match >= 0 && p.open[match].name != name {
		match--
	}
	switch {
	case match >= 0:
	case p.lost:
		return
	case top >= 0 && diag.Nearest(name, []string{p.open[top].name}) != "": // misspelt
		p.syntax(start, end-start, fmt.Sprintf("write </%s>", p.open[top].name), "</%s> does not end <%s> on line %d",
			name, p.open[top].name, p.line(p.open[top]))
		match = top
	default:
		p.syntax(start, end-start, "", "</%s> has no start tag", name)
		return
	}
	for ; top > match; top-- {
		p.unclosed(p.open[top], fmt.Sprintf("</%s> on line %d", name, p.line(&element{offset: start})))
	}
	p.open = p.open[:match]
}

func (p *parser) unclosed(e *element, before string) {
	if !p.lost {
		p.syntax(e.offset, e.end-e.offset, fmt.Sprintf("write </%s>, or <%s .../> if it has no children", e.name,
			e.name),
			"<%s> has no end tag before %s", e.name, before)
	}
}

// characters warns of text between the elements, which means nothing in a plan; old models have descriptions there.
// Outside the root element XML does not allow it.
func (p *parser) characters(start, end int, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	raw := p.text[start:end]
	line, _, _ := strings.Cut(strings.TrimSpace(raw), "\n")
	start += strings.Index(raw, line)
	const hint = "write a comment as <!-- ... -->"
	switch {
	case len(p.open) > 0:
		if !strings.HasSuffix(p.open[len(p.open)-1].name, "_port") {
			p.warn(start, len(line), codeStrayText, hint, "text between elements has no effect")
		}
	case p.lost:
	case p.root == nil:
		p.report(start, len(line), codeMalformed, hint, "text stands before the root element")
	default:
		p.report(start, len(line), codeMalformed, hint, "text stands behind the end of <%s>", p.root.name)
	}
}

const insteadOfEntity = "write what it stands for where it is used"

var entity = regexp.MustCompile(`<!ENTITY\s+(?:%\s+)?([^\s>]+)`)

// documentType reports the entities that a document type declares: a plan must say what it means where it means it.
func (p *parser) documentType(start, end int, text string) {
	for _, m := range entity.FindAllStringSubmatch(text, -1) {
		at := max(0, strings.Index(p.text[start:end], m[0]))
		p.entities = append(p.entities, m[1])
		p.report(start+at, len(m[0]), codeMalformed, insteadOfEntity, "entities are not supported: %q", m[1])
	}
}

// malformed reports a tag that encoding/xml refuses and returns where to go on.
func (p *parser) malformed(start, end int, err error) int {
	p.lost = true
	text, hint := strings.TrimPrefix(err.Error(), "xml: "), ""
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		text = syntax.Msg
	}
	at := max(start, end-1)
	switch {
	case strings.HasPrefix(text, "unescaped <"):
		text, hint = `a bare "<" inside an attribute`, `write "lt" or "&lt;"`
	case strings.HasPrefix(text, "expected element name"):
		at, text, hint = start, `"<" begins no tag here`, `for "less than" write "lt" or "&lt;"`
	case strings.HasPrefix(text, "invalid character entity"):
		at = start + max(0, strings.LastIndexByte(p.text[start:end], '&'))
		text, hint = `"&" begins no character reference here`, `for "&" write "&amp;", for a logical and "and"`
		if name, _, _ := strings.Cut(p.text[at+1:end], ";"); slices.Contains(p.entities, name) {
			text, hint = fmt.Sprintf("entities are not supported: %q", name), insteadOfEntity
		}
	case strings.HasPrefix(text, "unquoted or missing attribute value"):
		text, hint = "the value of an attribute is missing its quotation marks", `write name="value"`
	case strings.HasPrefix(text, "attribute name without ="):
		text, hint = "an attribute is missing its value", `write name="value"`
	case strings.HasPrefix(text, "unexpected EOF"):
		at, text = min(start, max(0, len(p.text)-1)), "the file ends in the middle of this"
	}
	p.syntax(at, 0, hint, "%s", text)
	if next := strings.IndexByte(p.text[end:], '<'); next >= 0 && end > start {
		return end + next
	}
	return len(p.text)
}

// syntax reports malformed XML. What needs the whole document is not checked any more.
func (p *parser) syntax(at, length int, hint, format string, args ...any) {
	p.broken = true
	p.fails++
	p.report(at, length, codeMalformed, hint, format, args...)
}

// scanTag returns the element of a start tag that encoding/xml has accepted: every attribute has its value in quotation
// marks.
func scanTag(text string, start, end int) *element {
	e := &element{offset: start, end: end}
	i := start + 1
	skip := func(stop string) string { // moves i to one of the bytes
		from := i
		for i < end && strings.IndexByte(stop, text[i]) < 0 {
			i++
		}
		return text[from:i]
	}
	blanks := func() {
		for i < end && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
			i++
		}
	}
	e.name = skip(" \t\r\n/>")
	for {
		blanks()
		if i >= end || text[i] == '/' || text[i] == '>' {
			return e
		}
		a := &attribute{offset: i}
		a.name = skip(" \t\r\n=")
		blanks()
		i++ // the equals sign
		blanks()
		quote := text[i : i+1]
		i++
		a.at = i
		raw := skip(quote)
		a.end = i
		a.value, a.places = decode(raw, a.at)
		e.attributes = append(e.attributes, a)
		i++
	}
}

// decode replaces references and normalises line ends as encoding/xml does (XML 1.0, 2.11 and 4.1). places is nil if
// the value stands in the file as it is.
func decode(raw string, at int) (value string, places []int) {
	if strings.IndexByte(raw, '&') < 0 && strings.IndexByte(raw, '\r') < 0 {
		return raw, nil
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		piece, n := raw[i:i+1], 1
		switch {
		case strings.HasPrefix(raw[i:], "\r\n"):
			piece, n = "\n", 2
		case raw[i] == '\r':
			piece = "\n"
		case raw[i] == '&':
			name, _, _ := strings.Cut(raw[i+1:], ";")
			piece, n = reference(name), len(name)+2
		}
		for range len(piece) {
			places = append(places, at+i)
		}
		b.WriteString(piece)
		i += n
	}
	return b.String(), append(places, at+len(raw))
}

// reference returns what a character reference stands for.
func reference(name string) string {
	switch name {
	case "lt":
		return "<"
	case "gt":
		return ">"
	case "amp":
		return "&"
	case "apos":
		return "'"
	case "quot":
		return `"`
	}
	digits, base := strings.TrimPrefix(name, "#"), 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	code, _ := strconv.ParseUint(digits, base, 32)
	return string(rune(code))
}
