package yamldoc

import (
	"fmt"
	"strings"
	"testing"

	"canopy/diag"

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

// bomb is a document of so many lines, each of which stands for eight times the one before.
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

// Whatever the text, looking for the place of a mistake ends, inside the text.
func TestFlowMistakeEnds(t *testing.T) {
	piece := rapid.SampledFrom([]string{"[", "]", "{", "}", ",", ": ", ":", " ", "\n", "\"", "'", "\\", "#", "|", "- ", "&a ", "*a", "a", "é", "\t"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		if m, found := flowMistake(text); found && (m.at < 0 || m.length < 0 || m.at+m.length > len(text)) {
			t.Fatalf("%q: %+v", text, m)
		}
		r := NewReader(&diag.Source{Name: "test.yaml", Text: text})
		r.Parse("")
		_ = r.Diags.Error()
	})
}
