package xmltree

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
)

// documents returns the texts of all plans of the repository, with mistakes and without.
func documents(t testing.TB) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"../../missions/*.xml", "../../examples/*/*.xml", "../../document/plan/testdata/*/*.xml",
		"../../formalism/*/testdata/*.xml", "../../analysis/*/testdata/*.xml", "testdata/*.xml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(text)
		}
	}
	if len(texts) < 30 {
		t.Fatalf("only %d documents", len(texts))
	}
	return texts
}

func parse(text string) (*Document, diag.List) { return Parse(&diag.Source{Name: "x.xml", Text: text}) }

// FuzzParse holds that the places of diagnostics are inside the text; that the tree of a whole document has all of its
// bytes, in order; and that elements and values are those that encoding/xml reads.
func FuzzParse(f *testing.F) {
	for _, text := range documents(f) {
		f.Add(text)
	}
	f.Fuzz(checkParse)
}

func checkParse(t *testing.T, text string) {
	d, list := parse(text)
	for _, m := range list {
		if m.Offset < 0 || m.Length < 0 || m.Offset+m.Length > len(text) || m.Text == "" || m.Code == "" {
			t.Fatalf("%v at [%d, +%d) of %d bytes", m, m.Offset, m.Length, len(text))
		}
	}
	if !d.Whole {
		if !list.HasErrors() {
			t.Fatal("a tree with gaps without a mistake")
		}
		return
	}
	if got := "\ufeff"[:d.Source.Begin()] + written(t, d, d.Content); got != text {
		t.Fatalf("the tokens are\n%q\nnot\n%q", got, text)
	}
	if len(list) == 0 || list[0].Code != CodeMalformed { // encoding/xml refuses bare signs
		checkAgainstDecoder(t, d)
	}
}

// written joins the tokens of a content: text, comments, and the names, signs, blanks and values of tags.
func written(t *testing.T, d *Document, content []Node) string {
	t.Helper()
	var b strings.Builder
	for _, n := range content {
		e := n.Element
		if (e != nil) != (n.Kind == Tags) {
			t.Fatalf("the node at %d is of kind %d", n.At, n.Kind)
		}
		if e == nil {
			b.WriteString(d.text(n.Span))
			continue
		}
		if e.Span != n.Span {
			t.Fatalf("%s is at %v and %v", e.Name, e.Span, n.Span)
		}
		at := e.Tag.At
		token := func(text string, end int) {
			if got := d.text(Span{at, end}); text != "" && got != text {
				t.Fatalf("the text at %d is %q, not %q", at, got, text)
			}
			b.WriteString(d.text(Span{at, end}))
			at = end
		}
		token("<", at+1)
		token(e.Name, at+len(e.Name))
		for _, a := range e.Attributes {
			token("", a.At) // blanks
			token(a.Name, a.At+len(a.Name))
			token("", a.Raw.At) // the equals sign, a quotation mark
			token("", a.Raw.End)
			token(d.text(Span{a.Raw.At - 1, a.Raw.At}), a.Raw.End+1)
		}
		token("", e.Tag.End)
		b.WriteString(written(t, d, e.Content))
		b.WriteString(d.text(e.Close))
		for c := range e.Elements() {
			if c.Parent != e {
				t.Fatalf("%s is not the parent of %s", e.Name, c.Name)
			}
		}
	}
	return b.String()
}

// checkAgainstDecoder compares the elements of a document with those of encoding/xml, and every value with the bytes at
// its places.
func checkAgainstDecoder(t *testing.T, d *Document) {
	t.Helper()
	text := d.Source.Text
	var want, got []string
	decoder := xml.NewDecoder(strings.NewReader(text[d.Source.Begin():]))
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	for {
		token, err := decoder.RawToken()
		if err != nil {
			break
		}
		if e, ok := token.(xml.StartElement); ok {
			want = append(want, e.Name.Local)
			for _, a := range e.Attr {
				want = append(want, a.Value)
			}
		}
	}
	var collect func(content []Node)
	collect = func(content []Node) {
		for _, n := range content {
			if n.Kind != Tags {
				continue
			}
			e := n.Element
			_, local, found := strings.Cut(e.Name, ":")
			if !found || local == "" || strings.HasPrefix(e.Name, ":") {
				local = e.Name
			}
			got = append(got, local)
			for _, a := range e.Attributes {
				got = append(got, a.Value)
				for i := range len(a.Value) {
					if at := a.Place(i); at < a.Raw.At || at >= a.Raw.End || a.places == nil && text[at] != a.Value[i] {
						t.Fatalf("byte %d of %q is not at %d", i, a.Value, at)
					}
				}
				if a.Place(len(a.Value)) != a.Raw.End {
					t.Fatalf("the end of %q is not at %d", a.Value, a.Raw.End)
				}
			}
			collect(e.Content)
		}
	}
	collect(d.Content)
	if !slices.Equal(got, want) {
		t.Fatalf("elements and values %q, encoding/xml has %q", got, want)
	}
}

// Every plan of the repository is read, and written from its tokens byte for byte.
func TestDocuments(t *testing.T) {
	whole := 0
	for path, text := range documents(t) {
		t.Run(path, func(t *testing.T) { checkParse(t, text) })
		if d, _ := parse(text); d.Whole && d.Root != nil {
			whole++
		}
	}
	if whole < 20 {
		t.Errorf("only %d of the documents are whole", whole)
	}
}

// Parts that a program need not understand are kept: byte order mark, line ends, declarations, encodings, entities.
func TestEveryKindOfNode(t *testing.T) {
	const text = "\ufeff<?xml version='1.0' encoding=\"ISO-8859-1\"?>\r\n<!DOCTYPE r [ <!ENTITY e 'x>'> ]><!-- - -->\r\n" +
		"<r a='1'\r\n\tunknown:b = \"&#x9;&lt;\r\n\">\r\n<![CDATA[<&]]>&amp;<?p i?><!--c--><s/></r >\r\n<?end?>"
	d, list := parse(text)
	if len(list) != 1 || !strings.Contains(list[0].Text, `entities are not supported: "e"`) {
		t.Errorf("the declaration of an entity is the only mistake: %v", list)
	}
	if !d.Whole {
		t.Fatal("the tree has gaps")
	}
	checkParse(t, text)
	var kinds []Kind
	for _, n := range slices.Concat(d.Content, d.Root.Content) {
		kinds = append(kinds, n.Kind)
	}
	want := []Kind{Instruction, Text, Directive, Comment, Text, Tags, Text, Instruction,
		Text, CData, Text, Instruction, Comment, Tags}
	if !slices.Equal(kinds, want) {
		t.Errorf("the nodes are %v, not %v", kinds, want)
	}
	if got := d.Root.Find("unknown:b").Value; got != "\t<\n" {
		t.Errorf("the value is %q", got)
	}
}

// The signs "<" and "&" may stand for themselves in values, as for BehaviorTree.CPP, unless a quotation mark is missing.
func TestBareSigns(t *testing.T) {
	for text, want := range map[string]string{
		`<a b="x < 2 && y" c='"<'><d e="&amp;&"/></a>`: `x < 2 && y|"<|&&`,
		`<a b="bool<true>"/>`:                          `bool<true>`,
		"<a b=\"x <\n y & &#65;;\"/>":                  "x <\n y & A;",
		`<a b="&lt"/>`:                                 `&lt`,
	} {
		d, list := parse(text)
		var values []string
		var visit func(e *Element)
		visit = func(e *Element) {
			for _, a := range e.Attributes {
				values = append(values, a.Value)
			}
			for c := range e.Elements() {
				visit(c)
			}
		}
		visit(d.Root)
		if got := strings.Join(values, "|"); got != want || list.HasErrors() || len(list) == 0 {
			t.Errorf("%s: %q, not %q: %v", text, got, want, list)
		}
		checkParse(t, text)
	}
	for _, text := range []string{`<a b="1><c d="2"/></a>`, `<a b="1`, `<a>1 & 2</a>`, `<a b="&foo;"/>`, `<a b="x &"c="<"/>`,
		`<a><b c="1></b><d e=""/></a>`} {
		if d, list := parse(text); d.Whole || !list.HasErrors() {
			t.Errorf("%s is read: %v", text, list)
		}
		checkParse(t, text)
	}
}

// Depth and number of parts are bounded.
func TestBounds(t *testing.T) {
	for text, code := range map[string]string{
		strings.Repeat("<a>", 3*MaxDepth):                         CodeTooDeep,
		"<a " + strings.Repeat("a='' ", maxTag/4) + "/>":          CodeTooLarge,
		"<a>" + strings.Repeat("<b/>", maxParts) + "</a>":         CodeTooLarge,
		"<a>" + strings.Repeat("<b c='' d=''/>", maxParts/2) + "": CodeTooLarge,
	} {
		if d, list := parse(text); d.Whole || len(list) != 1 || list[0].Code != code {
			t.Errorf("%.20s: %s wanted: %v", text, code, list)
		}
	}
}

// A character that XML does not have is a mistake wherever it stands.
func TestIllegalCharacters(t *testing.T) {
	for _, text := range []string{"<!DOCTYPE\x1b r><r/>", "<!--\x00--><r/>", "<r><?p \ufffe?></r>", "<r a='\x01'/>", "<r>\x02</r>"} {
		d, list := parse(text)
		if d.Whole || len(list) != 1 || !strings.Contains(list[0].Text, "illegal character code U+") {
			t.Errorf("%q: %v", text, list)
		}
	}
}
