package yamldoc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// Each mistake of syntax is reported at its place, with the hint that it deserves.
func TestSyntax(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\ninitial: {x: 3 [m], y: 4}\n":            `2:14 3 [m] | put the value in quotation marks, "3 [m]"`,
		"initial:\n  {x: 3,\n   y: 4 [m]\n}\nb: 2\n":   `3:7 4 [m] | "4 [m]"`,
		"a: 1\nrecord: [soc, h > 3 [m] and b, x]\n":    `2:15 h > 3 [m] and b | "h > 3 [m] and b"`,
		"b: {c: {d: [e, {f: 4 [m]}]}}\n":               `1:20 4 [m] | "4 [m]"`,
		"a: {x: \"1\" y: 2}\n":                         `1:8 "1" y: 2 | add a comma`,
		"a: 1 [s]\nt: |\n  [x\n\n  it's {\nb: [2 [s]]": `6:5 2 [s] | "2 [s]"`,
		"# [\na: 'it''s [' # [\nb: [2 [s]]":            `3:5 2 [s] | "2 [s]"`,
		"a: 1\nrecord: [soc, # ]\n  x\nb: 2\nc: 3\n":   "2:9 [ | ",
		"a: {x: 1\nb: 2\n":                             "1:4 { | ",
		"a: {x: [1}\n":                                 "1:10 } | ",
		"a: 1\nb: \"text\nc: 2\nd: 3\n":                "2:1  | a quotation mark",
		"a: 1\n\tb: 2\n":                               "2:1  | not with tabs",
		"a:\n  b: 1\n c: 2\n":                          "3:2  | in one column",
		"a: 1\nb: @x\n":                                "2:1  | quote texts",
		"a: 1\nb: c: d\n":                              "2:1  | \": \"",
		"a: 1\nb\nc: 2\n":                              "2:1  | name: value",
		"- a\nb: 1\n":                                  "2:1  | - ",
		"a: 1\n---\nb: 2\n":                            "2:1  | a file of its own",
		"a: 1\n---\n":                                  "2:1  | a file of its own",
		"a: 1\n---\nb: [\n":                            "3:4 [ | ",
		"a: 1\n...\nb: 2\n":                            "3:1  | ",
		"a: 1\nb: &a [*a]\n":                           "2:8  | write the value",
		"a: *none":                                     "1:1  | begin with *",
		bomb(12):                                       "1:1  | fewer aliases",
	} {
		r := NewReader(&diag.Source{Name: "test.yaml", Text: text})
		if root := r.Parse(""); root != nil || len(r.Diags) != 1 {
			t.Errorf("%q: root %v, %v", text, root, r.Diags)
			continue
		}
		d := r.Diags[0]
		line, column := d.Position()
		place, hint, _ := strings.Cut(want, " | ")
		got := fmt.Sprintf("%d:%d %s", line, column, text[d.Offset:d.Offset+d.Length])
		if got != place || !strings.Contains(d.Advice(), hint) {
			t.Errorf("%q: %s | %s\n%v, want %s", text, got, d.Advice(), r.Diags, want)
		}
	}
}

// bomb is a document with this number of lines, each of which expands to eight times the previous one.
func bomb(lines int) string {
	text := "{a0: &a0 [x]"
	for i := 1; i < lines; i++ {
		text += fmt.Sprintf(",\na%d: &a%d [%s]", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8))
	}
	return text + "}\n"
}

// Documents of several forms, and one that repeats a part, are read.
func TestWellFormed(t *testing.T) {
	for _, text := range []string{"---\na: 1\n", "a: 1\n...\n", "%YAML 1.1\n---\na: 1\n", "\ufeffa: 1", "a: &x [1]\nb: [*x, *x]", bomb(5)} {
		r := NewReader(&diag.Source{Name: "test.yaml", Text: text})
		if r.Parse("") == nil || len(r.Diags) > 0 {
			t.Errorf("%q: %v", text, r.Diags)
		}
	}
}

// Comments are found everywhere, and nothing else is one: without them the values are the same, and the library finds
// no comment.
func TestComments(t *testing.T) {
	texts := []string{"# a\n\n# b\nk: x # c\nm: # d\n  - 1 # e\n  # f\n# g\n", "k: [ # a\n  1, # b\n  {c: 2} # d\n] # e\nf: [] # g\n",
		"k: | # a\n  text # no\n  # no\n # b\nm: >2\n    x\n  # no\n# c\n", "k: \"a # no\n  # no\" # a\nm: 'b # no' # b\nn: x#no\n",
		"k: 1 # a\r\n# b\r\nm: 2\r\n", "\ufeff# a\nk: &x 1 # b\nm: *x # c\n... # d\n# e\n", "# a\n%YAML 1.1\n--- # b\nk: it's # c\n"}
	var marked strings.Builder
	for i, text := range texts {
		r := NewReader(&diag.Source{Name: "test.yaml", Text: text})
		marked.Reset()
		for _, c := range r.Comments() {
			if text[c.Offset:c.Offset+len(c.Text)] != c.Text {
				t.Errorf("%q: %+v is not at its place", text, c)
			}
			marked.WriteString(strings.TrimPrefix(c.Text, "# "))
		}
		if want := []string{"abcdefg", "abdeg", "abc", "ab", "ab", "abcde", "abc"}[i]; marked.String() != want {
			t.Errorf("%q: comments %s, want %s", text, marked.String(), want)
		}
		same(t, text)
	}
	documents, err := filepath.Glob("../../*/*.yaml")
	more, err2 := filepath.Glob("../../*/*/*.yaml")
	if documents = append(documents, more...); err != nil || err2 != nil || len(documents) < 10 {
		t.Fatal(documents, err, err2)
	}
	for _, name := range documents {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		same(t, string(text))
	}
}

// same tests that a document without its comments has the same values and no comment.
func same(t *testing.T, text string) {
	t.Helper()
	bare, at := "", 0
	for _, c := range NewReader(&diag.Source{Text: text}).Comments() {
		bare += strings.TrimRight(text[at:c.Offset], " ")
		at = c.Offset + len(c.Text)
	}
	bare += text[at:]
	values := func(text string, comments bool) string {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(text), &n); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var b strings.Builder
		var visit func(n *yaml.Node)
		visit = func(n *yaml.Node) {
			if found := n.HeadComment + n.LineComment + n.FootComment; comments && found != "" {
				t.Errorf("%q still has %q", text, found)
			}
			fmt.Fprintf(&b, "(%q", n.Value)
			for _, c := range n.Content {
				visit(c)
			}
			b.WriteString(")")
		}
		visit(&n)
		return b.String()
	}
	if was, is := values(text, false), values(bare, true); was != is {
		t.Errorf("%q has the values\n%s\nwithout its comments\n%s", text, was, is)
	}
}

// For any text the search for the place of a mistake ends, inside the text.
func TestFlowMistakeEnds(t *testing.T) {
	piece := rapid.SampledFrom([]string{"[", "]", "{", "}", ",", ": ", ":", " ", "\n", "\"", "'", "\\", "#", "|", "- ", "&a ", "*a", "a", "é", "\t"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		NewReader(&diag.Source{Text: text}).Comments()
		if m, found := flowMistake(text); found && (m.at < 0 || m.length < 0 || m.at+m.length > len(text)) {
			t.Fatalf("%q: %+v", text, m)
		}
		r := NewReader(&diag.Source{Name: "test.yaml", Text: text})
		r.Parse("")
		_ = r.Diags.Error()
	})
}
