package xmltree

import (
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
)

// fromJSON reads a JSON text without mistakes.
func fromJSON(t testing.TB, text string) *Document {
	t.Helper()
	src, list := FromJSON(&diag.Source{Name: "x.json", Text: text})
	if src == nil {
		t.Fatalf("%v\n%s", list, text)
	}
	return whole(t, src.Text)
}

func TestJSON(t *testing.T) {
	d := whole(t, `<?xml version="1.0"?><!-- a "plan" --><root x="&lt;1&gt;" y='"'><a/><b><!--1--><c z=""/></b> &amp; <![CDATA[<]]></root>`)
	const want = `[
  {"instruction": "xml version=\"1.0\""},
  {"comment": " a \"plan\" "},
  {"element": "root", "attributes": {"x": "<1>", "y": "\""}, "content": [
    {"element": "a"},
    {"element": "b", "content": [
      {"comment": "1"},
      {"element": "c", "attributes": {"z": ""}}
    ]},
    {"text": " & "},
    {"cdata": "<"}
  ]}
]
`
	if got := d.JSON(); got != want {
		t.Errorf("%s", got)
	}
	if again := fromJSON(t, d.JSON()); essence(again) != essence(d) || again.JSON() != want {
		t.Errorf("%s\n%s", again.Source.Text, again.JSON())
	}
}

// Mistakes in a JSON text are reported at their place, also those that the XML text is found to have.
func TestJSONMistakes(t *testing.T) {
	for _, c := range []struct{ text, at, want string }{
		{``, ``, "ends too early"},
		{`[{"element": "a"}`, ``, "ends too early"},
		{`[{"element": "a"}] x`, `x`, "continues"},
		{`[{"element": "a",}]`, `}`, "invalid character"},
		{`{"element": "a"}`, `{`, "a list of nodes"},
		{`[3]`, `3`, "an object"},
		{`[{"element": 3}]`, `3`, "is a string"},
		{`[{"elment": "a"}]`, `"elment`, "no key"},
		{`[{"element": "a", "text": "b"}]`, `"text`, "either"},
		{`[{"element": "a b"}]`, `"a b`, "cannot be the name"},
		{`[{"element": "a", "attributes": {"1": ""}}]`, `"1"`, "cannot be the name"},
		{`[{"element": "a", "attributes": {"b": null}}]`, `null`, "is a string"},
		{`[{"element": "a", "attributes": {"b": "\u0000"}}]`, `"\u0000`, "character U+0000"},
		{`[{"comment": "a--b"}]`, `"a--b`, "cannot contain"},
		{`[{"comment": "a-"}]`, `"a-`, "cannot contain"},
		{`[{"text": "a", "content": []}]`, `"a"`, "only an element"},
		{`[{}]`, `{`, "neither"},
		{`[{"element": "a", "element": "b"}]`, `"element": "b`, "twice"},
	} {
		_, list := FromJSON(&diag.Source{Name: "x.json", Text: c.text})
		if len(list) != 1 || !strings.Contains(list[0].Text, c.want) {
			t.Errorf("%s: %v", c.text, list)
			continue
		}
		if at := strings.Index(c.text, c.at); c.at != "" && list[0].Offset != at {
			t.Errorf("%s: at %d, not %d", c.text, list[0].Offset, at)
		}
	}
	src, _ := FromJSON(&diag.Source{Name: "x.json", Text: "[\n{\"element\": \"a\",\n\"attributes\": {\"b\": \"c\"}}]"})
	if line, _ := (diag.Diagnostic{Source: src, Offset: strings.Index(src.Text, `"c"`)}).Position(); line != 3 {
		t.Errorf("the place of the attribute is on line %d", line)
	}
}

// A list that is nested too deep, or too long, is refused at once.
func TestJSONBudget(t *testing.T) {
	deep := strings.Repeat(`[{"element": "a", "content": `, MaxDepth+2)
	if _, list := FromJSON(&diag.Source{Name: "x", Text: deep}); len(list) != 1 || !strings.Contains(list[0].Text, "deep") {
		t.Errorf("%v", list)
	}
}

// FuzzJSON: no text breaks the reader; what it accepts is an XML document that says the same.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`[]`, `[{"element": "root", "attributes": {"a": "<\"&\n"}, "content": [{"text": "]]>"}]}]`,
		`[{"comment": " x "}, {"instruction": "xml"}, {"cdata": "x"}, {"directive": "DOCTYPE x"}]`, `[{"element": "é"}]`,
		`[{"element": "a", "content": [{"text": "\r\n \ud800"}]}]`, `[1, {"x": [[[]]]}]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src, list := FromJSON(&diag.Source{Name: "x.json", Text: text})
		for _, m := range list {
			if m.Offset < 0 || m.Offset+m.Length > len(text) {
				t.Errorf("%v: outside the text", m)
			}
		}
		if src == nil {
			return
		}
		d, _ := Parse(src)
		if !d.Whole { // such as two root elements
			return
		}
		if again := fromJSON(t, d.JSON()); again.JSON() != d.JSON() {
			t.Errorf("%s\nbecame\n%s", d.JSON(), again.JSON())
		}
	})
}
