package expr

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Second is the unit of time.
var Second, _ = ParseUnit("s")

// spans are the units of a span such as 12h30m, from the longest, with their length as numerator and denominator of
// seconds.
var spans = [...]struct {
	name     string
	num, den float64
}{
	{"d", 86400, 1}, {"h", 3600, 1}, {"min", 60, 1}, {"m", 60, 1}, {"s", 1, 1},
	{"ms", 1, 1e3}, {"us", 1, 1e6}, {"ns", 1, 1e9},
}

// Duration reads a constant time [s], as flags and documents write it: 90, 90 [s], 12h30m, 28 [d].
func Duration(text string) (float64, error) {
	e, err := ParseFor(text, Second)
	if err != nil {
		return 0, err
	}
	for _, mistake := range e.Check(Real, Second, Scope{}) {
		return 0, mistake
	}
	t, _ := e.Constant()
	if t-t != 0 {
		return 0, &Error{Length: len(text), Code: CodeSyntax, Text: fmt.Sprintf("%s is not a finite time", text)}
	}
	return t, nil
}

// ParseFor parses an expression for a quantity with a unit: as [Parse] does and, if the quantity is a time, also a span
// such as 12h30m. The m of a span is a minute.
func ParseFor(text string, unit Unit) (*Expr, error) {
	word := strings.TrimSpace(text)
	size := numberSize(word)
	if unit.any || !unit.Same(Second) || size == len(word) || size == 0 || wordIn(word[size:]) == "" {
		return Parse(text)
	}
	seconds, ok := span(word)
	if !ok {
		at := strings.Index(text, word)
		return nil, &Error{Offset: at, Length: len(word), Code: CodeSyntax, Text: fmt.Sprintf("%q is not a duration", word),
			Hint: "write seconds, 12h30m with the parts from days to seconds, or a number with its unit, as in 2 [d]"}
	}
	return Parse(strconv.FormatFloat(seconds, 'g', -1, 64) + " [s]")
}

// span reads a text such as 12h30m: numbers, each with its unit, from the longest unit to the shortest.
func span(text string) (seconds float64, ok bool) {
	units := spans[:]
	for text != "" {
		size := numberSize(text)
		value, err := strconv.ParseFloat(text[:size], 64)
		if err != nil {
			return 0, false
		}
		text = text[size:]
		size = strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
		if size < 0 {
			size = len(text)
		}
		for len(units) > 0 && units[0].name != text[:size] {
			units = units[1:]
		}
		if len(units) == 0 {
			return 0, false
		}
		seconds += value * units[0].num / units[0].den
		text, units = text[size:], units[1:]
	}
	return seconds, true
}
