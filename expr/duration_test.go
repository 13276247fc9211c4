package expr

import (
	"strings"
	"testing"
)

// A time is written alike wherever one is expected.
func TestDuration(t *testing.T) {
	for text, want := range map[string]float64{
		"90": 90, "90 [s]": 90, "1.5 [min]": 90, "12h30m": 45000, "12h30min": 45000, "2 [d]": 172800, "2d": 172800,
		"1d2h3m4.5s": 93784.5, " 90s ": 90, "0.5h": 1800, "1500ms": 1.5, ".5s": 0.5, "5us": 5e-6, "1e3": 1000, "-1": -1,
		"1 [h] + 90 [s]": 3690, "1e2s": 100, "0.1s": 0.1,
	} {
		if got, err := Duration(text); err != nil || got != want {
			t.Errorf("Duration(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "", "noon": "unknown signal", "30m12h": "from days to seconds", "1h1h": "not a duration", "5q": "not a duration",
		"5 [m]": "[m]", "1h30": "not a duration", "h": "unknown signal", "1e400s": "not a duration", "inf": "unknown signal",
		"1 [s] / 0": "not a finite time", "t": "unknown signal",
	} {
		if got, err := Duration(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Duration(%q) = %v, %v, want the error %q", text, got, err, want)
		}
	}
}

// Where no time is expected, nothing is a span: 3m are neither minutes nor metres.
func TestParseFor(t *testing.T) {
	metre, _ := ParseUnit("m")
	for _, unit := range []Unit{metre, AnyUnit, One} {
		if e, err := ParseFor("3m", unit); err == nil {
			t.Errorf("3m is read as %v in %v", e, unit)
		}
	}
	if e, err := ParseFor("2 * t + 3 [s]", Second); err != nil || len(e.Names()) != 1 {
		t.Errorf("%v, %v", e, err)
	}
}

// The page's table of durations is true.
func TestPageDurations(t *testing.T) {
	for _, row := range tables(t)["example | seconds"][0] {
		if got, err := Duration(row[0]); err != nil || got != number(t, row[1]) {
			t.Errorf("%s: %v, %v, the page has %s", row[0], got, err, row[1])
		}
	}
}
