package diag

import (
	"regexp"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	src := &Source{Name: "plan.xml", Text: "first\n\tübel <Clibm/>\r\nlast"}
	at := strings.Index(src.Text, "Clibm")
	list := List{
		{Source: src, Offset: len(src.Text), Severity: Warning, Code: "end", Text: "nothing follows"},
		{Source: src, Offset: at, Length: 5, Code: "unknown-node", Text: `there is no node "Clibm"`, Hint: `did you mean "Climb"?`},
	}
	want := "plan.xml:2:8: error: there is no node \"Clibm\" [unknown-node]\n" +
		"    2 | \tübel <Clibm/>\n" +
		"      | \t      ^~~~~\n" +
		"  hint: did you mean \"Climb\"?\n" +
		"plan.xml:3:5: warning: nothing follows [end]\n" +
		"    3 | last\n" +
		"      |     ^"
	if got := list.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !list.HasErrors() || list[:1].HasErrors() || list[:1].Err() != nil || list.Err() == nil {
		t.Error("only a list with an error is an error")
	}
	var b strings.Builder
	list.Write(&b, true)
	if plain := strings.NewReplacer(red, "", yellow, "", cyan, "", reset, "").Replace(b.String()); strings.TrimSpace(plain) != want || plain == b.String() {
		t.Errorf("colours change the text:\n%s", plain)
	}
}

// A diagnostic of a very long line shows the part around the caret, also of characters of several bytes.
func TestWriteCutsLongLines(t *testing.T) {
	for _, c := range []struct {
		text       string
		at, length int
		line, mark string
	}{
		{strings.Repeat("a", 99) + "ü", 99, 2, strings.Repeat("a", 99) + "ü", strings.Repeat(" ", 99) + "^"},
		{strings.Repeat("ü", 400), 400, 6, "…" + strings.Repeat("ü", 100) + "…", strings.Repeat(" ", 51) + "^~~"},
		{strings.Repeat("a", 400), 3, 1000, strings.Repeat("a", 100) + "…", "   ^" + strings.Repeat("~", 96)},
		{strings.Repeat("a", 400), 399, 1, "…" + strings.Repeat("a", 100), strings.Repeat(" ", 100) + "^"},
		{strings.Repeat("\t", 400), 60, 1, "…" + strings.Repeat("\t", 100) + "…", " " + strings.Repeat("\t", 50) + "^"},
	} {
		src := &Source{Name: "x", Text: "first\n" + c.text + "\r\nlast"}
		got := List{{Source: src, Offset: 6 + c.at, Length: c.length, Code: "c", Text: "t"}}.Error()
		lines := strings.Split(got, "\n")
		if len(lines) != 3 || lines[1] != "    2 | "+c.line || lines[2] != "      | "+c.mark {
			t.Errorf("%d of %.9q...: got\n%s", c.at, c.text, got)
		}
	}
}

// Of many diagnostics the first are printed, errors before warnings.
func TestWriteStopsAtFifty(t *testing.T) {
	src := &Source{Name: "x", Text: strings.Repeat("word\n", 100)}
	var list List
	for i := range 100 {
		list = append(list, Diagnostic{Source: src, Offset: 5 * i, Severity: Warning, Code: "c", Text: "t"})
	}
	list[99].Severity = Error
	got := list.Error()
	if n := strings.Count(got, "warning: t"); n != 49 {
		t.Errorf("%d warnings", n)
	}
	if !strings.Contains(got, "x:49:1: warning: t") || !strings.HasSuffix(got, "x:100:1: error: t [c]\n"+
		"  100 | word\n      | ^\nand 50 more") {
		t.Errorf("got\n%s", got)
	}
	if got := list[:50].Error(); strings.Contains(got, "more") {
		t.Errorf("got\n%s", got)
	}
}

// The output of a list is bounded, and the positions of its diagnostics are counted in one pass over each source.
func TestWriteManyOnOneLine(t *testing.T) {
	const n = 20_000
	src := &Source{Name: "x", Text: strings.Repeat("ü", 100*n)}
	var list List
	for i := range n {
		list = append(list, Diagnostic{Source: src, Offset: 200 * i, Code: "c", Text: "t"})
	}
	got := list.Error()
	if len(got) > 50*1000 {
		t.Errorf("%d bytes are written", len(got))
	}
	if !strings.Contains(got, "x:1:4901: error") {
		t.Errorf("got\n%s", got)
	}
}

// Places are counted on from one diagnostic to the next, in one source or several of the same name.
func TestWriteCountsOn(t *testing.T) {
	a, b := &Source{Name: "x", Text: "\ufeffü\nü b\n\nd"}, &Source{Name: "x", Text: "one\ntwo"}
	var list List
	for at := range len(a.Text) + 2 {
		list = append(list, Diagnostic{Source: a, Offset: at}, Diagnostic{Source: b, Offset: at})
	}
	var want strings.Builder
	for _, d := range list.Sorted() {
		want.WriteString(d.String() + "\n")
	}
	got := regexp.MustCompile(`(?m)^ .*\n`).ReplaceAllString(list.Error()+"\n", "")
	if got != want.String() {
		t.Errorf("got\n%s\nwant\n%s", got, want.String())
	}
}

// A byte order mark is neither a column nor shown.
func TestByteOrderMark(t *testing.T) {
	src := &Source{Name: "x", Text: "\ufeffab\ncd"}
	for at, want := range []string{"x:1:1", "x:1:1", "x:1:1", "x:1:1", "x:1:2", "x:1:3", "x:2:1"} {
		d := Diagnostic{Source: src, Offset: at}
		if got := d.String(); !strings.HasPrefix(got, want+":") {
			t.Errorf("offset %d: %s", at, got)
		}
	}
	if got := (List{{Source: src, Offset: 4, Length: 1}}).Error(); !strings.HasSuffix(got, "\n    1 | ab\n      |  ^") {
		t.Errorf("got\n%s", got)
	}
}
