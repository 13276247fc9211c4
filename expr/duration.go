package expr

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
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

// TimeForms says how a time is written.
const TimeForms = "write seconds, 12h30m, a clock time such as 13:57:06, or a number with its unit, as in 2 [d]"

// Duration reads a constant time [s], as flags and documents write it: 90, 90 [s], 12h30m, 13:57:06, 28 [d].
func Duration(text string) (float64, error) {
	e, err := ParseFor(text, Second)
	if err == nil {
		if t, mistake := e.duration(); mistake == nil {
			return t, nil
		}
	}
	return 0, fmt.Errorf("%q is not a time: %s", text, TimeForms)
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

// clockTime matches a clock time, after the days if there are any: 13:57:06, 13:57, 0:00:01.25, 1 d 03:20:10. It also
// matches what looks like one and is wrong.
var clockTime = regexp.MustCompile(`^([-−])?(?:(\d+) ?d ?)?(\d+):(\d*)(?::(\d*\.?\d*))?([\w.:]*)`)

// clockSeconds returns the time [s] of a match of clockTime; NaN if it is wrong.
func clockSeconds(match []string) float64 {
	sixty := func(text string) bool {
		whole, _, _ := strings.Cut(text, ".")
		return text == "" || len(whole) == 2 && whole < "60"
	}
	if match[4] == "" || !sixty(match[4]) || !sixty(match[5]) || match[6] != "" {
		return math.NaN()
	}
	seconds := 0.0
	for i, length := range [...]float64{86400, 3600, 60, 1} {
		value, _ := strconv.ParseFloat(cmp.Or(match[2+i], "0"), 64)
		seconds += value * length
	}
	if match[1] != "" {
		return -seconds
	}
	return seconds
}
