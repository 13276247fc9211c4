package xmltree

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/diag"
)

// maxFails bounds the number of mistakes in a file that is not XML.
const maxFails = 20

// The codes of the mistakes that Parse reports.
const (
	CodeMalformed = "malformed-xml"
	CodeTooDeep   = "too-deep"
	CodeTooLarge  = "too-large"
)

// parser builds the tree from the tokens of encoding/xml, which follow each other without gaps. It scans the places
// inside a start tag itself, because the tokens do not have them. It continues after mistakes so that the rest can be
// checked.
type parser struct {
	*Document
	text  string
	plain []byte // the text without the signs that encoding/xml refuses in values; nil: it is the text
	found diag.List
	open  []*Element // from the root to the innermost element that has no end tag yet
	parts int        // that were read
	fails int
	lost  bool // a tag could not be read, so end tags without a start tag are expected

	comment, entity *regexp.Regexp // made for the first document type: most documents have none
	entities        []string       // that the document type declares
}

// Parse reads a document. The list holds all mistakes at once. Entities that a document declares itself are not
// supported: their declaration is a mistake, and so is their use, which makes the text malformed.
func Parse(src *diag.Source) (*Document, diag.List) {
	p := parser{Document: &Document{Source: src, Whole: true}, text: src.Text}
	for i := range p.text {
		if p.text[i] == '\n' {
			p.ends = append(p.ends, i)
		}
	}
	if at := invalidUTF8(p.text); at >= 0 {
		text := "the file is not UTF-8 text"
		if head := p.text[:min(2, len(p.text))]; head == "\xff\xfe" || head == "\xfe\xff" {
			text = "the file is UTF-16 text, not UTF-8"
		}
		p.syntax(at, 1, "save the file as UTF-8", "%s", text)
		return p.Document, p.found
	}
	for at := src.Begin(); at < len(p.text) && p.fails < maxFails; {
		at = p.tokens(at)
	}
	for len(p.open) > 0 {
		if e := p.open[len(p.open)-1]; p.fails < maxFails {
			p.unclosed(e, "the end of the file")
		}
		p.pop(Span{len(p.text), len(p.text)})
	}
	return p.Document, p.found
}

// invalidUTF8 returns the place of the first byte that is not part of a character, -1 if there is none.
func invalidUTF8(s string) int {
	for i, c := range s {
		if c == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}

// tokens reads from the given offset to the end of the file or to a tag that cannot be read, reports that, and returns
// where to continue.
func (p *parser) tokens(base int) int {
	var text io.Reader = strings.NewReader(p.text[base:])
	if p.plain != nil {
		text = bytes.NewReader(p.plain[base:])
	}
	decoder := xml.NewDecoder(text)
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	for {
		at := Span{At: base + int(decoder.InputOffset())}
		token, err := decoder.RawToken()
		at.End = base + int(decoder.InputOffset())
		switch token := token.(type) {
		case xml.StartElement:
			p.start(at)
		case xml.EndElement:
			p.end(at)
		case xml.CharData:
			p.characters(at, string(token))
		case xml.Comment:
			p.opaque(Comment, at)
		case xml.ProcInst:
			if token.Target == "xml" && at.At != p.Source.Begin() {
				p.report(at.At, at.Len(), CodeMalformed, "begin the file with it, or omit it",
					"<?xml ...?> is not at the beginning of the file")
			}
			p.opaque(Instruction, at)
		case xml.Directive:
			p.documentType(at)
		}
		if errors.Is(err, io.EOF) {
			return len(p.text)
		}
		if err != nil && p.bareSigns(at) {
			return at.At
		}
		if err != nil {
			return p.malformed(at, err)
		}
		if p.parts > maxParts {
			p.stop(at.At, 1, CodeTooLarge, "the document has more than %d elements, attributes and texts", maxParts)
		}
		if p.fails >= maxFails {
			return len(p.text)
		}
	}
}

// add puts a node into the innermost open element, or else into the document.
func (p *parser) add(n Node) {
	p.parts++
	if len(p.open) > 0 {
		e := p.open[len(p.open)-1]
		e.Content = append(e.Content, n)
	} else {
		p.Content = append(p.Content, n)
	}
}

// opaque adds a node whose content has no structure here. encoding/xml does not look at its characters.
func (p *parser) opaque(kind Kind, at Span) {
	if i := illegal(p.text[at.At:at.End]); i >= 0 {
		c, size := utf8.DecodeRuneInString(p.text[at.At+i:])
		p.syntax(at.At+i, size, "", "illegal character code %U", c)
	}
	p.add(Node{Kind: kind, Span: at})
}

// illegal returns the place of the first character that XML does not have (XML 1.0, 2.2), -1 if there is none.
func illegal(s string) int {
	return strings.IndexFunc(s, func(c rune) bool {
		return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == '\ufffe' || c == '\uffff'
	})
}

func (p *parser) start(tag Span) {
	if tag.Len() > maxTag {
		p.stop(tag.At, 1, CodeTooLarge, "the tag is longer than %d bytes", maxTag)
		return
	}
	e := scanTag(p.text, tag)
	p.parts += len(e.Attributes)
	switch {
	case len(p.open) > MaxDepth:
		p.stop(tag.At, len(e.Name)+1, CodeTooDeep, "elements are nested more than %d deep", MaxDepth)
		return
	case len(p.open) > 0:
		e.Parent = p.open[len(p.open)-1]
	case p.Root == nil:
		p.Root = e
	default:
		p.syntax(tag.At, tag.Len(), "a document has one root element; put all trees inside <root>",
			"<%s> follows the end of <%s>", e.Name, p.Root.Name)
	}
	p.open = append(p.open, e)
}

// pop closes the innermost element and puts it into the one around it.
func (p *parser) pop(tag Span) {
	e := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	e.Close, e.End = tag, tag.End
	p.add(Node{Kind: Tags, Span: e.Span, Element: e})
}

// end closes an element. The end tag of a self-closing element is empty.
func (p *parser) end(tag Span) {
	top := len(p.open) - 1
	if tag.Len() == 0 {
		p.pop(tag)
		return
	}
	name := strings.TrimSpace(strings.Trim(p.text[tag.At:tag.End], "</>"))
	match := top
	for match >= 0 && p.open[match].Name != name {
		match--
	}
	switch {
	case match >= 0:
	case p.lost:
		return
	case top >= 0 && diag.Nearest(name, []string{p.open[top].Name}) != "": // misspelt
		p.syntax(tag.At, tag.Len(), fmt.Sprintf("write </%s>", p.open[top].Name), "</%s> does not end <%s> on line %d",
			name, p.open[top].Name, p.Line(p.open[top].At))
		match = top
	default:
		p.syntax(tag.At, tag.Len(), "", "</%s> has no start tag", name)
		return
	}
	for ; top > match; top-- {
		p.unclosed(p.open[top], fmt.Sprintf("</%s> on line %d", name, p.Line(tag.At)))
		p.pop(Span{tag.At, tag.At})
	}
	p.pop(tag)
}

func (p *parser) unclosed(e *Element, before string) {
	if !p.lost {
		p.syntax(e.At, e.Tag.Len(), fmt.Sprintf("write </%s>, or <%s .../> if it has no children", e.Name, e.Name),
			"<%s> has no end tag before %s", e.Name, before)
	}
}

// characters reads text, which is not allowed outside the root element.
func (p *parser) characters(at Span, text string) {
	kind := Text
	if strings.HasPrefix(p.text[at.At:at.End], cdata) {
		kind = CData
	}
	p.add(Node{Kind: kind, Span: at})
	if len(p.open) > 0 || p.lost || strings.TrimSpace(text) == "" {
		return
	}
	place := "before the root element"
	if p.Root != nil {
		place = fmt.Sprintf("after the end of <%s>", p.Root.Name)
	}
	first := p.FirstLine(at)
	p.report(first.At, first.Len(), CodeMalformed, "write a comment as <!-- ... -->", "there is text %s", place)
}

// bareSigns warns of the signs "<" and "&" in the values of a tag that stand for themselves, as they do for
// BehaviorTree.CPP, and hides them from encoding/xml. It returns false if there are none.
func (p *parser) bareSigns(tag Span) (found bool) {
	rest := p.text[tag.At:min(len(p.text), tag.At+maxTag)]
	if len(rest) < 2 || rest[0] != '<' || strings.IndexByte("/!?", rest[1]) >= 0 {
		return false
	}
	for at := 0; ; {
		open := strings.IndexAny(rest[at:], `"'>`)
		if open < 0 || rest[at+open] == '>' {
			return found
		}
		from := at + open + 1
		size := strings.IndexByte(rest[from:], rest[from-1])
		at = from + size + 1
		if size < 0 || at >= len(rest) || strings.IndexByte(blank+"/>?", rest[at]) < 0 || rest[max(from, at-2)] == '=' {
			return found // a quotation mark is missing
		}
		for i := tag.At + from; i < tag.At+at-1; i++ {
			sign, hint := p.text[i:i+1], `write "&lt;" or "lt"`
			switch {
			case sign == "&" && !isReference.MatchString(p.text[i:]):
				if hint = `write "&amp;"`; p.text[i+1] == '&' {
					sign, hint = "&&", `write "&amp;&amp;" or "and"`
				}
			case sign != "<":
				continue
			}
			if p.hide(i, len(sign)) {
				found = true
				p.report(i, len(sign), CodeMalformed, hint,
					"a bare %q inside an attribute is not XML: other programs may refuse it", sign)
				p.found[len(p.found)-1].Severity = diag.Warning
			}
			i += len(sign) - 1
		}
	}
}

// hide replaces bytes for encoding/xml; false: they are hidden already.
func (p *parser) hide(at, length int) bool {
	if p.plain == nil {
		p.plain = []byte(p.text)
	}
	shown := p.plain[at] == p.text[at]
	copy(p.plain[at:], "xx"[:length])
	return shown
}

// isReference matches the reference of a character or entity.
var isReference = regexp.MustCompile(`^&(#?[\pL\pN_:.-]+);`)

const insteadOfEntity = "write its replacement text where it is used"

// documentType reports the entities that a document type declares: a document must spell out its content in place.
func (p *parser) documentType(at Span) {
	if p.comment == nil {
		p.comment = regexp.MustCompile(`(?s)<!--.*?-->`)
		p.entity = regexp.MustCompile(`<!ENTITY\s+(?:%\s+)?([^\s>]+)`)
	}
	text := p.comment.ReplaceAllStringFunc(p.text[at.At:at.End], func(s string) string {
		return strings.Repeat(" ", len(s))
	})
	for _, m := range p.entity.FindAllStringSubmatchIndex(text, maxFails) {
		name := text[m[2]:m[3]]
		p.entities = append(p.entities, name)
		p.report(at.At+m[0], m[1]-m[0], CodeMalformed, insteadOfEntity, "entities are not supported: %q", name)
	}
	p.opaque(Directive, at)
}

// malformed reports a tag that encoding/xml refuses and returns where to continue.
func (p *parser) malformed(tag Span, err error) int {
	p.lost = true
	start, end := tag.At, tag.End
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
		at, text, hint = start, `"<" does not begin a tag here`, `for "less than" write "lt" or "&lt;"`
	case strings.HasPrefix(text, "invalid character entity"):
		at = start + max(0, strings.LastIndexByte(p.text[start:end], '&'))
		text, hint = `"&" does not begin a character reference here`, `for "&" write "&amp;", for a logical and "and"`
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

// report adds a mistake about bytes of the text.
func (p *parser) report(at, length int, code, hint, format string, args ...any) {
	p.found = append(p.found, diag.Diagnostic{Source: p.Source, Offset: at, Length: length, Code: code, Hint: hint,
		Text: fmt.Sprintf(format, args...)})
}

// syntax reports malformed XML.
func (p *parser) syntax(at, length int, hint, format string, args ...any) {
	p.Whole = false
	p.fails++
	p.report(at, length, CodeMalformed, hint, format, args...)
}

// stop reports why the rest is not read.
func (p *parser) stop(at, length int, code, format string, args ...any) {
	p.Whole = false
	p.fails = maxFails
	p.report(at, length, code, "", format, args...)
}

// scanTag returns the element of a start tag that encoding/xml has accepted: every attribute has its value in quotation
// marks.
func scanTag(text string, tag Span) *Element {
	e := &Element{Span: tag, Tag: tag}
	i, end := tag.At+1, tag.End
	skip := func(stop string) string { // moves i to one of the bytes
		from := i
		for i < end && strings.IndexByte(stop, text[i]) < 0 {
			i++
		}
		return text[from:i]
	}
	blanks := func() {
		for i < end && strings.IndexByte(blank, text[i]) >= 0 {
			i++
		}
	}
	e.Name = skip(blank + "/>")
	for {
		blanks()
		if i >= end || text[i] == '/' || text[i] == '>' {
			return e
		}
		a := &Attribute{At: i}
		a.Name = skip(blank + "=")
		blanks()
		i++ // the equals sign
		blanks()
		quote := text[i : i+1]
		i++
		a.Raw.At = i
		raw := skip(quote)
		a.Raw.End = i
		a.Value, a.places = decode(raw, a.Raw.At)
		e.Attributes = append(e.Attributes, a)
		i++
	}
}

// The signs of XML.
const (
	blank = " \t\r\n"
	cdata = "<![CDATA["
)

// decode replaces references and normalises line ends as encoding/xml does (XML 1.0, 2.11 and 4.1). places is nil if
// the value is in the file unchanged.
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
		case raw[i] == '&' && isReference.MatchString(raw[i:]):
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

// reference returns the character of a character reference.
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
