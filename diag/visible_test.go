package diag

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Invisible characters are escaped, all others are unchanged.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"plain \"text\" \\ größe 東京":  "plain \"text\" \\ größe 東京",
		"a\x1b[31mred\x00\x7f":        `a\x1b[31mred\x00\x7f`,
		"two\r\n\tlines":              `two\r\n\tlines`,
		"\u202etxt.exe\u2066\u200f":   `\u202etxt.exe\u2066\u200f`,
		"\u0085\u009b31m\u2028":       `\u0085\u009b31m\u2028`,
		"zero\u200bwidth\u00ad\ufeff": `zero\u200bwidth\u00ad\ufeff`,
		"3\u00a0m":                    `3\u00a0m`,
		"\u3164\u115f\U000e0041":      `\u3164\u115f\U000e0041`,
		"f\xfcr \xed\xa0\x80":         `f\xfcr \xed\xa0\x80`,
		"\ufffd":                      "\ufffd",
	} {
		if got := Visible(text); got != want {
			t.Errorf("Visible(%+q) = %s, want %s", text, got, want)
		}
	}
}

// The visible form is one line of valid text, and visible text is unchanged.
func TestVisibleIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		got := Visible(text)
		if !utf8.ValidString(got) || strings.IndexFunc(got, hidden) >= 0 || Visible(got) != got {
			t.Fatalf("%q becomes %q", text, got)
		}
	})
}

// The text, the hint, the file's name and the line of a diagnostic are escaped; the caret is below its place, and tabs
// stay.
func TestWriteEscapes(t *testing.T) {
	src := &Source{Name: "a\x1bb", Text: "\t\x1b[2J <\u202eClimb/>"}
	at := strings.Index(src.Text, "Climb")
	got := List{{Source: src, Offset: at - 3, Length: 8, Code: "c", Text: "no \x1bname\nhere", Hint: "\u2066 hint"}}.Error()
	want := `a\x1bb:1:8: error: no \x1bname\nhere [c]
    1 | 	\x1b[2J <\u202eClimb/>
      | 	         ^~~~~~~~~~~
  hint: \u2066 hint`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestVisibleLines(t *testing.T) {
	if got, want := VisibleLines("a\tb\x1b\r\n\n\u202ec"), "a\tb\\x1b\n\n\\u202ec"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Numbers of tables have no exponent where a reader does not need one, and no sign before zero.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v      float64
		digits int
		want   string
	}{
		{math.Copysign(0, -1), 6, "0"}, {-1e-30, -1, "-1e-30"}, {100, 2, "100"}, {99.96, 2, "100"}, {123456789, 6, "123457000"},
		{1e21, 6, "1e21"}, {-2.5e-7, 3, "-2.5e-7"}, {0.00012345, 3, "0.000123"}, {1e6, -1, "1000000"}, {0.1, -1, "0.1"},
		{math.NaN(), 6, "-"}, {math.Inf(-1), 6, "-Inf"}, {6200, 6, "6200"},
	} {
		if got := Number(c.v, c.digits); got != c.want {
			t.Errorf("Number(%v, %d) = %s, want %s", c.v, c.digits, got, c.want)
		}
	}
}
