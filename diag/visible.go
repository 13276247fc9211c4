package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns a text, a name for instance, as it may be shown to a reader on one line: what cannot be seen or
// changes how the rest is seen (control characters, line ends, marks of writing direction, blanks other than the
// space, bytes that are not UTF-8) is escaped as in Go's and JSON's strings. Every other text stays as it is.
//
// A terminal obeys control characters and a viewer reorders text by direction marks (Boucher and Anderson, Trojan
// Source, 2021), so that a document's author could make a table or a message show what is not there.
func Visible(text string) string {
	if strings.IndexFunc(text, hidden) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !hidden(r):
			b.WriteString(text[:size])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		text = text[size:]
	}
	return b.String()
}

// hidden reports whether a character cannot be seen as itself: all that Unicode does not class as a letter, mark,
// number, punctuation, symbol or the plain space, and letters and marks that are drawn as nothing.
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
