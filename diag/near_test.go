package diag

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	names := []string{"battery.E_Wh", "battery.R0", "soc", "h", "T"}
	for word, want := range map[string]string{
		"batery.E_Wh": "battery.E_Wh", "BATTERY.r0": "battery.R0", "sco": "soc", "sox": "soc", "s": "", "y": "", "": "",
		"altitude": "", "H": "h", "hh": "h",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	long := strings.Repeat("x", maxWord+1)
	if got := Nearest(long, []string{long + "y"}); got != "" {
		t.Errorf("a name of %d bytes has the suggestion %q", len(long), got)
	}
}

// The distance within a band equals that of the whole table if it is smaller than the limit.
func TestDistance(t *testing.T) {
	word := rapid.StringMatching(`[ab]{0,9}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, most := word.Draw(t, "a"), word.Draw(t, "b"), rapid.IntRange(1, maxMistakes+1).Draw(t, "most")
		if got, want := distance(a, b, most), min(most, dumbDistance(a, b)); got != want {
			t.Fatalf("distance(%q, %q, %d) = %d, want %d", a, b, most, got, want)
		}
	})
}

// dumbDistance is the definition, by recursion.
func dumbDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	last, before := len(a)-1, len(b)-1
	if a[last] == b[before] {
		return dumbDistance(a[:last], b[:before])
	}
	d := 1 + min(dumbDistance(a[:last], b), dumbDistance(a, b[:before]), dumbDistance(a[:last], b[:before]))
	if last > 0 && before > 0 && a[last] == b[before-1] && a[last-1] == b[before] {
		d = min(d, 1+dumbDistance(a[:last-1], b[:before-1]))
	}
	return d
}

// Of 20,000 unknown names those are compared with the known ones that are shown, no others, and that without memory.
func TestSuggestionsOfManyMistakes(t *testing.T) {
	const n = 20_000
	src := &Source{Name: "x", Text: strings.Repeat("word\n", n)}
	known := make([]string, n)
	for i := range known {
		known[i] = fmt.Sprintf("signal_%05d", i)
	}
	searched := 0
	var list List
	for i := range n {
		list = append(list, Diagnostic{Source: src, Offset: 5 * i, Code: "c", Text: "t", Hint: "another",
			Suggest: Near(fmt.Sprintf("singal_%05d", i), func() []string { searched++; return known })})
	}
	got := list.Error()
	if searched != maxPrinted {
		t.Errorf("%d searches for %d messages", searched, maxPrinted)
	}
	if !strings.Contains(got, `did you mean "signal_00007"?`) || strings.Contains(got, "another") {
		t.Errorf("got\n%s", got)
	}
	if allocs := testing.AllocsPerRun(1, func() { Nearest("singal_00007", known) }); allocs > 10 {
		t.Errorf("a search allocates %v times", allocs)
	}
}

// Without a suggestion the hint stays.
func TestAdvice(t *testing.T) {
	none := func() []string { return nil }
	for _, d := range []Diagnostic{{Hint: "h"}, {Hint: "h", Suggest: Near("a", none)}} {
		if got := d.Advice(); got != "h" {
			t.Errorf("advice %q", got)
		}
	}
	if got := OneOf("write ", nil) + OneOf("write ", []string{"a", "b"}); got != "write a, b" {
		t.Error(got)
	}
	names := slices.Repeat([]string{"a"}, 17)
	if got := Names(names[:3]) + Names(names); got != "a, a, a"+strings.Repeat("a, ", 16)+"… (17 in all)" {
		t.Error(got)
	}
}

// TestNear: a name that is not similar to any is a part of some, or all are few.
func TestNear(t *testing.T) {
	for name, want := range map[string]string{
		"airsped": `did you mean "airspeed"?`, "air": `did you mean "airspeed"?`, "altitude": `did you mean "alt"?`,
		"speed": "did you mean one of airspeed, groundspeed?", "xyz": "known: airspeed, groundspeed, alt, h",
		"at": `did you mean "alt"?`, "": "known: airspeed, groundspeed, alt, h",
	} {
		if got := Near(name, func() []string { return []string{"airspeed", "groundspeed", "alt", "h"} })(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	many := make([]string, 20)
	if got := Near("xyz", func() []string { return many })(); got != "" {
		t.Error(got)
	}
}

// A hint that suggests one word means that word, and no other hint means one.
func TestMeant(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("ab\"\\\n😀?")), 1, 5, -1)
	rapid.Check(t, func(t *rapid.T) {
		names := []string{word.Draw(t, "a"), word.Draw(t, "b")}
		name := word.Draw(t, "name")
		meant, ok := Meant(DidYouMean(name, names))
		if want := Nearest(name, names); ok != (want != "") || meant != want {
			t.Fatalf("%q is meant, not %q", meant, want)
		}
	})
	for _, hint := range []string{"", "write \"x\"", "did you mean one of a, b?", "known: a", `did you mean "a" or "b"?`} {
		if word, ok := Meant(hint); ok {
			t.Errorf("%q means %q", hint, word)
		}
	}
}
