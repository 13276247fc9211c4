package expr

import (
	"fmt"
	"testing"
)

// A time is written alike wherever one is expected.
func TestDuration(t *testing.T) {
	for text, want := range map[string]float64{
		"90": 90, "90 [s]": 90, "1.5 [min]": 90, "12h30m": 45000, "12h30min": 45000, "2 [d]": 172800, "2d": 172800,
		"1d2h3m4.5s": 93784.5, " 90s ": 90, "0.5h": 1800, "1500ms": 1.5, ".5s": 0.5, "5us": 5e-6, "1e3": 1000, "-1": -1,
		"1 [h] + 90 [s]": 3690, "1e2s": 100, "0.1s": 0.1,
		"13:57:06": 50226, "12:00": 43200, "0:00:01.250": 1.25, "100:00:00": 360000, "-0:01:40": -100, "−0:01:40": -100,
		"1 d 03:20:10.5": 98410.5, "2d 1:00": 176400, "50226.091 s": 50226.091, "4.2e+05 s": 420000, "12 h": 43200,
	} {
		if got, err := Duration(text); err != nil || got != want {
			t.Errorf("Duration(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "noon", "30m12h", "1h1h", "5q", "5 [m]", "1h30", "h", "1e400s", "inf", "1 [s] / 0", "t",
		"12:60", "1:2:3", "12:", "12:00:60", "1:00:00:00", "12:00pm", "12:00:0.5", ":30", "12:00 + 1", "5 q", "12:0", "1:00 s",
		"1 d 2", "1 h 1:00",
	} {
		got, err := Duration(text)
		if err == nil || err.Error() != fmt.Sprintf("%q is not a time: %s", text, TimeForms) {
			t.Errorf("Duration(%q) = %v, %v", text, got, err)
		}
	}
}

// In an expression a clock time with its seconds is a number in s; a choice keeps its colon.
func TestClockTimesInExpressions(t *testing.T) {
	for text, want := range map[string]string{
		"t ge 13:57:06": "t >= 50226 [s]", "2 * (0:00:01.5 + t)": "2 * (1.5 [s] + t)", "if(a, 0:10:00, 5)": "if(a, 600 [s], 5)",
		"a ? 1:20": "if(a, 1, 20)", "a ? 1 : 20": "if(a, 1, 20)", "t > 1:00:60": "", "t > 12:00": "", "t > 1:2:3": "",
	} {
		if e, err := Parse(text); want == "" && err == nil || want != "" && (err != nil || e.String() != want) {
			t.Errorf("%s: %v, %v", text, e, err)
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
