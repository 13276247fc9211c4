package diag

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns a text, for instance a name, in a form that is safe to show on one line: characters that are
// invisible or change the display of others (control characters, line ends, marks of writing direction, blanks other
// than the space, bytes that are not UTF-8) are escaped as in Go's and JSON's strings. All other characters are
// unchanged.
//
// A terminal obeys control characters and a viewer reorders text by direction marks (Boucher and Anderson, Trojan
// Source, 2021), so a document's author could otherwise forge a table or a message.
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

// hidden reports whether a character is invisible: any that Unicode does not classify as a letter, mark, number,
// punctuation, symbol or the plain space, and letters and marks without a glyph.
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// VisibleLines returns a text of several lines, each escaped as by Visible, with its tabs and line ends.
func VisibleLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		end := line[len(strings.TrimRight(line, "\r\n")):]
		b.WriteString(excerpt(line[:len(line)-len(end)]))
		b.WriteString(strings.ReplaceAll(end, "\r", ""))
	}
	return b.String()
}

// Number returns a number for a table: with at most the given number of significant digits (-1: as many as identify
// it), without an exponent if it has fewer than 16 digits before or five zeros after the point, never as -0, and NaN as
// "-".
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
