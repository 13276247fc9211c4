package diag

import (
	"fmt"
	"math"
	"strconv"
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

// VisibleLines returns a text of several lines, each of them visible, with its tabs and line ends.
func VisibleLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		end := line[len(strings.TrimRight(line, "\r\n")):]
		b.WriteString(excerpt(line[:len(line)-len(end)]))
		b.WriteString(strings.ReplaceAll(end, "\r", ""))
	}
	return b.String()
}

// Number returns a number for a table: with at most so many significant digits (-1: as many as tell it from others),
// without an exponent if it has less than 16 digits before or five zeros behind the point, never as -0, NaN as "-".
func Number(v float64, digits int) string {
	if digits > 0 {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	}
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case v == 0:
		return "0"
	case size >= 1e-5 && size < 1e15 || math.IsInf(v, 0):
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	power, _ := strconv.Atoi(exponent)
	return fmt.Sprintf("%se%d", mantissa, power)
}
