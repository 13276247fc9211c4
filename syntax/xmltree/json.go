package xmltree

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/diag"
)

// The keys of a node in JSON. A node has one of the first six; an element may have the other two.
const (
	keyElement     = "element"
	keyComment     = "comment"
	keyText        = "text"
	keyCData       = "cdata"
	keyInstruction = "instruction"
	keyDirective   = "directive"
	keyAttributes  = "attributes"
	keyContent     = "content"
)

var nodeKeys = []string{keyElement, keyComment, keyText, keyCData, keyInstruction, keyDirective, keyAttributes,
	keyContent}

// markupOf has the text around the content of nodes that are written as they are.
var markupOf = map[string]struct {
	kind        Kind
	begin, end  string
	not, reason string // what the content cannot have
}{
	keyComment:     {Comment, "<!--", "-->", "--", "a comment cannot contain -- or end with -"},
	keyCData:       {CData, cdata, "]]>", "]]>", "CDATA cannot contain ]]>"},
	keyInstruction: {Instruction, "<?", "?>", "?>", "an instruction cannot contain ?>"},
	keyDirective:   {Directive, "<!", ">", ">", "a directive cannot contain >"},
}

// JSON returns the document as a JSON list of its nodes. An element is an object with its name, its attributes in their
// order and its content; {"comment": " text "} and the like are the other nodes. Blanks between nodes are left out. The
// document must be whole.
func (d *Document) JSON() string {
	var b strings.Builder
	d.writeJSON(&b, d.Content, "")
	return b.String() + "\n"
}

func (d *Document) writeJSON(b *strings.Builder, nodes []Node, indent string) {
	b.WriteString("[")
	first := true
	for _, n := range nodes {
		if d.Blank(n) {
			continue
		}
		if !first {
			b.WriteString(",")
		}
		first = false
		b.WriteString("\n" + indent + "  {")
		switch n.Kind {
		case Tags:
			d.elementJSON(b, n.Element, indent+"  ")
		case Text:
			text, _ := decode(d.text(n.Span), n.At)
			b.WriteString(quoteJSON(keyText) + ": " + quoteJSON(text))
		default:
			for key, m := range markupOf {
				if m.kind == n.Kind {
					text := strings.TrimSuffix(strings.TrimPrefix(d.text(n.Span), m.begin), m.end)
					b.WriteString(quoteJSON(key) + ": " + quoteJSON(text))
				}
			}
		}
		b.WriteString("}")
	}
	if !first {
		b.WriteString("\n" + indent)
	}
	b.WriteString("]")
}

func (d *Document) elementJSON(b *strings.Builder, e *Element, indent string) {
	b.WriteString(quoteJSON(keyElement) + ": " + quoteJSON(e.Name))
	if len(e.Attributes) > 0 {
		b.WriteString(", " + quoteJSON(keyAttributes) + ": {")
		for i, a := range e.Attributes {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(quoteJSON(a.Name) + ": " + quoteJSON(a.Value))
		}
		b.WriteString("}")
	}
	if !d.empty(e) {
		b.WriteString(", " + quoteJSON(keyContent) + ": ")
		d.writeJSON(b, e.Content, indent)
	}
}

// quoteJSON returns a text as a JSON string.
func quoteJSON(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("xmltree: a text that JSON cannot represent: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// FromJSON returns the XML document that a JSON text in the form of [Document.JSON] represents, in the canonical
// layout. The places of the document are those in the JSON text. The list holds its mistakes; with an error there is no
// document.
func FromJSON(src *diag.Source) (*diag.Source, diag.List) {
	r := &jsonReader{src: src, decoder: json.NewDecoder(strings.NewReader(src.Text[src.Begin():])), begin: src.Begin()}
	nodes := r.nodes(0)
	if r.found == nil {
		if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
			r.fail(r.place(), 0, "the text continues after its end", "")
		}
	}
	if r.found != nil {
		return nil, r.found
	}
	r.lines(nodes, "\n")
	r.out.Insert("\n", src, len(src.Text))
	return r.out.Source(src.Name), nil
}

// jsonNode is a node as it was read.
type jsonNode struct {
	key, text  string // the text of a node, or an element's name
	at         int    // in the source
	attributes []jsonPair
	content    []jsonNode
}

type jsonPair struct {
	name, value     string
	nameAt, valueAt int
}

type jsonReader struct {
	src     *diag.Source
	decoder *json.Decoder
	begin   int // offset of the decoder's first byte
	parts   int
	found   diag.List
	out     diag.Assembly
}

// place returns the offset of the next token.
func (r *jsonReader) place() int {
	at := r.begin + int(r.decoder.InputOffset())
	return at + len(r.src.Text[at:]) - len(strings.TrimLeft(r.src.Text[at:], blank+",:"))
}

func (r *jsonReader) fail(at, length int, text, hint string) {
	r.found = append(r.found, diag.Diagnostic{Source: r.src, Offset: at, Length: length, Code: CodeJSON, Text: text,
		Hint: hint})
}

// token returns the next token with its place; nil after a mistake, which ends the reading.
func (r *jsonReader) token() (json.Token, int) {
	if len(r.found) > 0 {
		return nil, 0
	}
	at := r.place()
	t, err := r.decoder.Token()
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at = min(max(at, r.begin+int(syntax.Offset)-1), len(r.src.Text))
		r.fail(at, 0, strings.TrimPrefix(syntax.Error(), "json: "), "")
		return nil, at
	case err != nil:
		r.fail(len(r.src.Text), 0, "the text ends too early", "")
		return nil, at
	}
	return t, at
}

// delimiter reads a delimiter.
func (r *jsonReader) delimiter(want json.Delim, what string) bool {
	t, at := r.token()
	if len(r.found) == 0 && t != want {
		r.fail(at, 1, what+" should begin here", "")
	}
	return len(r.found) == 0
}

// string reads a string, the text of what.
func (r *jsonReader) string(what string) (string, int) {
	t, at := r.token()
	text, ok := t.(string)
	if len(r.found) == 0 && !ok {
		r.fail(at, 1, what+" is a string", "")
	}
	if i := illegal(text); i >= 0 {
		c, _ := utf8.DecodeRuneInString(text[i:])
		r.fail(at, 1, fmt.Sprintf("XML does not have the character %U", c), "")
	}
	return text, at
}

// nodes reads a list of nodes.
func (r *jsonReader) nodes(depth int) []jsonNode {
	if depth > MaxDepth {
		r.fail(r.place(), 1, fmt.Sprintf("elements are nested more than %d deep", MaxDepth), "")
		return nil
	}
	if !r.delimiter('[', "a list of nodes") {
		return nil
	}
	var list []jsonNode
	for len(r.found) == 0 && r.decoder.More() {
		list = append(list, r.node(depth))
	}
	r.delimiter(']', "the end of the list")
	return list
}

func (r *jsonReader) node(depth int) jsonNode {
	n := jsonNode{at: r.place()}
	if r.parts++; r.parts > maxParts {
		r.fail(n.at, 1, fmt.Sprintf("the document has more than %d nodes", maxParts), "")
	}
	if !r.delimiter('{', "an object for a node") {
		return n
	}
	seen := map[string]bool{}
	for len(r.found) == 0 && r.decoder.More() {
		key, at := r.string("a key")
		switch {
		case len(r.found) > 0:
		case seen[key]:
			r.fail(at, 1, fmt.Sprintf("the key %q is given twice", key), "")
		case key == keyAttributes:
			n.attributes = r.pairs()
		case key == keyContent:
			n.content = r.nodes(depth + 1)
		case !slices.Contains(nodeKeys, key):
			r.fail(at, 1, fmt.Sprintf("a node has no key %q", key), diag.DidYouMean(key, nodeKeys))
		case n.key != "":
			r.fail(at, 1, fmt.Sprintf("a node is either %q or %q", n.key, key), "")
		default:
			n.key = key
			n.text, n.at = r.string("a node's " + key)
		}
		seen[key] = true
	}
	r.delimiter('}', "the end of the node")
	if len(r.found) > 0 {
		return n
	}
	switch m, simple := markupOf[n.key]; {
	case n.key == "":
		r.fail(n.at, 1, `the node has neither "element" nor "comment", "text" and the like`, "")
	case n.key != keyElement && (seen[keyAttributes] || seen[keyContent]):
		r.fail(n.at, 1, "only an element has attributes and content", "")
	case n.key == keyElement && !IsName(n.text):
		r.fail(n.at, 1, fmt.Sprintf("%q cannot be the name of an element", n.text), "")
	case simple && m.kind == Directive && isDirective(n.text):
	case simple && strings.Contains(n.text, m.not), n.key == keyComment && strings.HasSuffix(n.text, "-"):
		r.fail(n.at, 1, m.reason, "")
	case depth == 0 && n.inline():
		r.fail(n.at, 1, "text is outside the root element", "")
	}
	return n
}

// pairs reads the attributes of an element.
func (r *jsonReader) pairs() []jsonPair {
	if !r.delimiter('{', "an object of attributes") {
		return nil
	}
	var list []jsonPair
	for len(r.found) == 0 && r.decoder.More() {
		var p jsonPair
		p.name, p.nameAt = r.string("a name")
		if len(r.found) == 0 && !IsName(p.name) {
			r.fail(p.nameAt, 1, fmt.Sprintf("%q cannot be the name of an attribute", p.name), "")
		}
		p.value, p.valueAt = r.string("the value of an attribute")
		r.parts++
		list = append(list, p)
	}
	r.delimiter('}', "the end of the attributes")
	return list
}

// IsName reports whether a text can be the name of an element or attribute.
func IsName(s string) bool {
	for i, c := range s {
		if c != '_' && c != ':' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c) && c != '-' && c != '.') {
			return false
		}
	}
	return s != "" && strings.Count(s, ":") < 2
}

// isDirective reports whether a text is one directive: it may contain > at its beginning and in quotation marks.
func isDirective(s string) bool {
	doc, _ := Parse(&diag.Source{Text: "<!" + s + "><a/>"})
	return len(doc.Content) == 2 && doc.Content[0].Kind == Directive && doc.Content[1].Kind == Tags
}

// lines writes nodes, each on a line unless one of them is text.
func (r *jsonReader) lines(nodes []jsonNode, line string) {
	mixed := slices.ContainsFunc(nodes, jsonNode.inline)
	for i, n := range nodes {
		if i > 0 && !mixed {
			r.out.Insert(line, r.src, n.at)
		}
		r.write(n, line)
	}
}

// inline reports whether the blanks around a node belong to the text.
func (n jsonNode) inline() bool { return n.key == keyText || n.key == keyCData }

func (r *jsonReader) write(n jsonNode, line string) {
	put := func(text string, at int) { r.out.Insert(text, r.src, at) }
	switch n.key {
	case keyElement:
		put("<"+n.text, n.at)
		for _, p := range n.attributes {
			put(" "+p.name, p.nameAt)
			put(`="`+escape(p.value, `"`)+`"`, p.valueAt)
		}
		if len(n.content) == 0 {
			put("/>", n.at)
			return
		}
		put(">", n.at)
		mixed := slices.ContainsFunc(n.content, jsonNode.inline)
		if !mixed {
			put(line+"  ", n.at)
		}
		r.lines(n.content, line+"  ")
		if !mixed {
			put(line, n.at)
		}
		put("</"+n.text+">", n.at)
	case keyText:
		put(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;").Replace(n.text), n.at)
	default:
		m := markupOf[n.key]
		put(m.begin+n.text+m.end, n.at)
	}
}
