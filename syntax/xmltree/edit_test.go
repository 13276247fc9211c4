package xmltree

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// find returns the first element with a name.
func find(t *testing.T, d *Document, name string) *Element {
	t.Helper()
	var search func(e *Element) *Element
	search = func(e *Element) *Element {
		if e.Name == name {
			return e
		}
		for c := range e.Elements() {
			if f := search(c); f != nil {
				return f
			}
		}
		return nil
	}
	e := search(d.Root)
	if e == nil {
		t.Fatalf("no <%s>", name)
	}
	return e
}

// An edit changes only what it must and follows the surrounding layout.
func TestEditsKeepTheLayout(t *testing.T) {
	one := func(e Edit) []Edit { return []Edit{e} }
	fresh := &Markup{Name: "new", Attributes: []Pair{{"a", `<"&`}}, Children: []*Markup{{Name: "in"}}}
	for _, c := range []struct {
		name, before, after string
		edit                func(d *Document, get func(string) *Element) []Edit
	}{
		{"a value", `<r  a = 'x'  b="y" />`, `<r  a = 'it&apos;s "&lt;&amp;"'  b="y" />`,
			func(d *Document, get func(string) *Element) []Edit { return one(d.Set(get("r"), "a", `it's "<&"`)) }},
		{"the same value keeps its spelling", `<r a="&#120;"/>`, `<r a="&#120;"/>`,
			func(d *Document, get func(string) *Element) []Edit { return one(d.Set(get("r"), "a", "x")) }},
		{"line ends in a value", "<r a=''/>", "<r a='&#10;&#13;&#9;\"'/>",
			func(d *Document, get func(string) *Element) []Edit { return one(d.Set(get("r"), "a", "\n\r\t\"")) }},
		{"the first attribute", `<r />`, `<r a="x" />`,
			func(d *Document, get func(string) *Element) []Edit { return one(d.Set(get("r"), "a", "x")) }},
		{"a new attribute on a line of its own", "<r a='1'\n   b='2'/>", "<r a='1'\n   b='2'\n   c=\"3\"/>",
			func(d *Document, get func(string) *Element) []Edit { return one(d.Set(get("r"), "c", "3")) }},
		{"an attribute goes", "<r a='1'\n   b='2'  c='3'/>", "<r a='1'  c='3'/>",
			func(d *Document, get func(string) *Element) []Edit { return one(d.Unset(get("r"), "b")) }},
		{"an element with its line", "<r>\r\n\t<a/>  \r\n\t<b/>\r\n</r>", "<r>\r\n\t<b/>\r\n</r>",
			func(d *Document, get func(string) *Element) []Edit { return one(d.Remove(get("a"))) }},
		{"an element that shares its line", "<r>\n  <a/> <!-- note -->\n</r>", "<r>\n   <!-- note -->\n</r>",
			func(d *Document, get func(string) *Element) []Edit { return one(d.Remove(get("a"))) }},
		{"replaced", "<r>\n\t<a>\n\t\t<b/>\n\t</a>\n</r>", "<r>\n\t<new a=\"&lt;&quot;&amp;\">\n\t\t<in/>\n\t</new>\n</r>",
			func(d *Document, get func(string) *Element) []Edit { return one(d.Replace(get("a"), fresh)) }},
		{"at the end", "<r>\n   <a/>\n</r>", "<r>\n   <a/>\n   <new a=\"&lt;&quot;&amp;\">\n      <in/>\n   </new>\n</r>",
			func(d *Document, get func(string) *Element) []Edit { return one(d.Append(get("r"), []*Markup{fresh})) }},
		{"a comment stays with its element", "<r>\n  <a/> <!-- of a -->\n</r>", "<r>\n  <a/> <!-- of a -->\n  <x/>\n  <y/>\n</r>",
			func(d *Document, get func(string) *Element) []Edit {
				return one(d.Append(get("r"), []*Markup{{Name: "x"}, {Name: "y"}}))
			}},
		{"into an empty element", "\ufeff<r>\r\n  <a b='c' />\r\n</r>", "\ufeff<r>\r\n  <a b='c'>\r\n    <x/>\r\n  </a>\r\n</r>",
			func(d *Document, get func(string) *Element) []Edit {
				return one(d.Append(get("a"), []*Markup{{Name: "x"}}))
			}},
		{"on one line", "<r><p><a/>text<b></b></p></r>", "<r><p><a/>text<b><y/></b><x/></p></r>",
			func(d *Document, get func(string) *Element) []Edit {
				return []Edit{d.Append(get("p"), []*Markup{{Name: "x"}}), d.Append(get("b"), []*Markup{{Name: "y"}})}
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, list := parse(c.before)
			if list != nil {
				t.Fatal(list)
			}
			got, err := d.Apply(c.edit(d, func(name string) *Element { return find(t, d, name) })...)
			if err != nil || got != c.after {
				t.Errorf("%v, got\n%q, want\n%q", err, got, c.after)
			}
		})
	}
}

func TestEditsThatCannotBe(t *testing.T) {
	d, _ := parse("<r><a><b/></a></r>")
	a, b := find(t, d, "a"), find(t, d, "b")
	if _, err := d.Apply(d.Remove(a), d.Set(b, "x", "y")); !errors.Is(err, ErrOverlap) {
		t.Errorf("an edit inside what goes: %v", err)
	}
	for name, edit := range map[string]func(){
		"no such attribute": func() { d.Unset(a, "x") },
		"a root element":    func() { d.Remove(d.Root) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "xmltree: ") || !strings.Contains(text, name) {
					t.Errorf("%q, not a panic about %q", text, name)
				}
			}()
			edit()
		}()
	}
}

// model is what a document means: elements with their attributes, and between them texts, comments and the like.
type model struct {
	name       string
	attributes []Pair
	children   []*model
	token      string // of what is no element
}

// meaning returns the model of an element; blank texts mean nothing.
func meaning(d *Document, e *Element) *model {
	m := &model{name: e.Name}
	for _, a := range e.Attributes {
		m.attributes = append(m.attributes, Pair{a.Name, a.Value})
	}
	for _, n := range e.Content {
		if n.Kind == Tags {
			m.children = append(m.children, meaning(d, n.Element))
		} else if !d.Blank(n) {
			m.children = append(m.children, &model{token: strings.TrimSpace(d.text(n.Span))})
		}
	}
	return m
}

func (m *model) String() string {
	if m.token != "" {
		return m.token
	}
	return fmt.Sprintf("<%s %q %v>", m.name, m.attributes, m.children)
}

// elements returns an element and all in it, parents first.
func elements(e *Element) []*Element {
	all := []*Element{e}
	for c := range e.Elements() {
		all = append(all, elements(c)...)
	}
	return all
}

// all is elements for models.
func (m *model) all() []*model {
	list := []*model{m}
	for _, c := range m.children {
		if c.token == "" {
			list = append(list, c.all()...)
		}
	}
	return list
}

// tokens returns the bytes of all that is no element, without blanks, sorted: texts between which an element goes are
// one text, and a blank that is a reference means something only beside others.
func (m *model) tokens() string {
	var bytes []byte
	for _, e := range m.all() {
		for _, c := range e.children {
			bytes = append(bytes, strings.Join(strings.Fields(strings.ReplaceAll(c.token, "&#32;", " ")), "")...)
		}
	}
	slices.Sort(bytes)
	return string(bytes)
}

// skeleton returns the elements without the text between them.
func (m *model) skeleton() *model {
	s := &model{name: m.name, attributes: m.attributes}
	for _, c := range m.children {
		if c.token == "" {
			s.children = append(s.children, c.skeleton())
		}
	}
	return s
}

// checkEdits makes random edits to a document and holds that each gives a document that means what was meant: the same
// elements and attributes, and no text, comment or value lost.
func checkEdits(t *testing.T, text string, r *rand.Rand, rounds int) {
	t.Helper()
	for range rounds {
		d, list := parse(text)
		if !d.Whole || d.Root == nil || list.HasErrors() {
			return
		}
		for n := range d.Content { // a second root element is a mistake
			if d.Content[n].Kind == Tags && d.Content[n].Element != d.Root {
				return
			}
		}
		want := meaning(d, d.Root)
		all, models := elements(d.Root), want.all()
		k := r.IntN(len(all))
		e, m := all[k], models[k]
		parent := r.IntN(len(all))
		names := []string{"a", "b", "n:c", "name"}
		name, value := names[r.IntN(len(names))], []string{"", "x", `"'<&>`, "ü\n\t\r ]]>", "&amp;"}[r.IntN(5)]
		var edits []Edit
		what := ""
		switch r.IntN(5) {
		case 0:
			what = fmt.Sprintf("set %s of <%s> to %q", name, e.Name, value)
			edits = []Edit{d.Set(e, name, value)}
			if i := slices.IndexFunc(m.attributes, func(p Pair) bool { return p.Name == name }); i >= 0 {
				m.attributes[i].Value = value
			} else {
				m.attributes = append(m.attributes, Pair{name, value})
			}
		case 1:
			if len(e.Attributes) == 0 {
				continue
			}
			name = e.Attributes[r.IntN(len(e.Attributes))].Name
			what = fmt.Sprintf("unset %s of <%s>", name, e.Name)
			edits = []Edit{d.Unset(e, name)}
			i := slices.IndexFunc(m.attributes, func(p Pair) bool { return p.Name == name })
			m.attributes = slices.Delete(m.attributes, i, i+1)
		case 2:
			if e.Parent == nil {
				continue
			}
			what = "remove " + e.Name
			edits = []Edit{d.Remove(e)}
			for _, p := range models {
				p.children = slices.DeleteFunc(p.children, func(c *model) bool { return c == m })
			}
		case 3:
			what = "replace " + e.Name
			edits = []Edit{d.Replace(e, &Markup{Name: "new", Attributes: []Pair{{name, value}}, Children: []*Markup{{Name: "in"}}})}
			*m = model{name: "new", attributes: []Pair{{name, value}}, children: []*model{{name: "in"}}}
		case 4:
			what = fmt.Sprintf("append to %s", all[parent].Name)
			edits = []Edit{d.Append(all[parent], []*Markup{{Name: "new", Attributes: []Pair{{name, value}}}})}
			models[parent].children = append(models[parent].children, &model{name: "new", attributes: []Pair{{name, value}}})
		}
		after, err := d.Apply(edits...)
		if err != nil {
			t.Fatalf("%s: %v in\n%q", what, err, text)
		}
		checkParse(t, after)
		again, list := parse(after)
		if !again.Whole || list.HasErrors() {
			if strings.Contains(list.Error(), "nested") {
				return
			}
			t.Fatalf("%s: %v\n%q\n%q", what, list, text, after)
		}
		got := meaning(again, again.Root)
		if g, w := got.skeleton().String(), want.skeleton().String(); g != w {
			t.Fatalf("%s:\n%q\n%q\nmeans\n%s\nnot\n%s", what, text, after, g, w)
		}
		if g, w := got.tokens(), want.tokens(); g != w {
			t.Fatalf("%s:\n%q\n%q\nhas\n%s\nnot\n%s", what, text, after, g, w)
		}
		text = after
	}
}

// randomDocument returns well-formed XML of every kind of token.
func randomDocument(r *rand.Rand) string {
	var b strings.Builder
	pick := func(list ...string) { b.WriteString(list[r.IntN(len(list))]) }
	between := func() {
		pick("", "", " ", "\n", "\r\n  ", "\n\t", "\n    ", "<!-- a < b & c -->", "<?note x='1'?>", "\n  <!--\n two\n-->\n  ")
	}
	pick("", "\ufeff")
	pick("", `<?xml version="1.0"?>`, `<?xml version='1.0' encoding="ISO-8859-1" standalone="yes" ?>`+"\r\n")
	between()
	pick("", "<!DOCTYPE r [ <!ELEMENT r ANY> <!-- > --> ]>\n", `<!DOCTYPE r SYSTEM "r.dtd">`)
	between()
	var element func(level int)
	element = func(level int) {
		name := []string{"a", "b", "n:c", "Ünit", "x-y.z"}[r.IntN(5)]
		b.WriteString("<" + name)
		used := map[string]bool{}
		for range r.IntN(4) {
			a := []string{"name", "a", "n:b", "ID", "é"}[r.IntN(5)]
			if used[a] {
				continue
			}
			used[a] = true
			pick(" ", "\n  ", "\t", "\r\n")
			b.WriteString(a)
			pick("=", " = ", "=\n")
			pick(`""`, `'"'`, `"it's"`, `"a &lt; b &#38; c"`, "'\n two \r\n lines'", `"&#x41;>"`)
		}
		pick("", " ", "\n")
		if level == 0 || r.IntN(4) == 0 {
			b.WriteString("/>")
			return
		}
		b.WriteString(">")
		for range r.IntN(4) {
			between()
			if r.IntN(4) == 0 {
				pick("text", "a &amp; b", "<![CDATA[ <raw> & ]]>", "&#32;", "<![CDATA[]]>")
			} else {
				element(level - 1)
			}
		}
		between()
		b.WriteString("</" + name)
		pick(">", " >", "\n>")
	}
	element(4)
	between()
	return b.String()
}

// Random documents are read and written byte for byte, and every edit of them has the intended meaning.
func TestRandomDocuments(t *testing.T) {
	const documents = 500
	r := rand.New(rand.NewPCG(1, 2))
	for range documents {
		text := randomDocument(r)
		d, list := parse(text)
		if !d.Whole || list.HasErrors() {
			t.Fatalf("%v\n%q", list, text)
		}
		checkParse(t, text)
		checkEdits(t, text, r, 8)
	}
}

// FuzzEdit holds the same for any document.
func FuzzEdit(f *testing.F) {
	for _, text := range documents(f) {
		f.Add(text, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		checkEdits(t, text, rand.New(rand.NewPCG(seed, 0)), 4)
	})
}
