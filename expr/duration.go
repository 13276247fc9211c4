package expr

import (
	"fmt"
	"math"
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
	t, mistake := e.duration()
	if mistake != nil {
		return 0, mistake
	}
	return t, nil
}

// duration returns the value of a constant time [s].
func (e *Expr) duration() (float64, *Error) {
	for _, mistake := range e.Check(Real, Second, Scope{}) {
		return 0, mistake
	}
	t, _ := e.Constant()
	if at, end := e.root.Span(); t-t != 0 {
		return 0, fail(at, end, fmt.Sprintf("%v is not a finite time", e), "")
	}
	return t, nil
}

// spanSeconds returns the length [s] of a text such as 12h30m: numbers, each with its unit, from the longest unit to
// the shortest. It is NaN if the text is no span.
func spanSeconds(text string) (seconds float64) {
	units := spans[:]
	for text != "" {
		size := numberSize(text)
		value, err := strconv.ParseFloat(text[:size], 64)
		if err != nil {
			return math.NaN()
		}
		text = text[size:]
		size = len(wordIn(text)) - len(strings.TrimLeftFunc(wordIn(text), unicode.IsLetter))
		for len(units) > 0 && units[0].name != text[:size] {
			units = units[1:]
		}
		if len(units) == 0 {
			return math.NaN()
		}
		seconds += value * units[0].num / units[0].den
		text, units = text[size:], units[1:]
	}
	return seconds
}
