package diag

import (
	"strings"
	"testing"
)

// A message about an assembled text is at the place where its part comes from, also if that text was assembled itself.
func TestAssembly(t *testing.T) {
	outer := &Source{Name: "outer", Text: "first\nsecond line\n"}
	inner := &Source{Name: "inner", Text: "one\ntwo\n"}
	var a, b Assembly
	a.Insert("zero ", inner, 4)
	a.Copy(inner, 4, 8)
	middle := a.Source("middle")
	b.Copy(outer, 0, 6)
	b.Copy(middle, 0, len(middle.Text))
	b.Copy(outer, 6, len(outer.Text))
	all := b.Source("outer")
	if want := "first\nzero two\nsecond line\n"; all.Text != want || b.Len() != len(want) {
		t.Fatalf("%q", all.Text)
	}
	for _, c := range []struct {
		word, want string
		length     int
	}{
		{"first", "outer:1:1: error: x [y]", 5},
		{"zero", "inner:2:1: error: x [y]", 0},
		{"two", "inner:2:1: error: x [y]", 3},
		{"second", "outer:2:1: error: x [y]", 6},
	} {
		d := Diagnostic{Source: all, Offset: strings.Index(all.Text, c.word), Length: len(c.word), Code: "y", Text: "x"}
		if got := d.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.word, got, c.want)
		}
		if got := (List{d}).Sorted()[0]; got.Length != c.length || got.String() != c.want {
			t.Errorf("%s: %+v", c.word, got)
		}
	}
	if s, at := all.Origin(len(all.Text)); s != outer || at != len(outer.Text) {
		t.Errorf("the end is %s:%d", s.Name, at)
	}
}
