package rates

import (
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
)

// What holds from the declared start, and from nowhere else, is proved of vehicles of equations: limits of states and
// of what depends on them, and rates over their ranges.
func TestFromStart(t *testing.T) {
	x := tableOf(t, `
states:
  h: {unit: m, derivative: (h_cmd - h) / tau}
  soc: {initial: 0.9, derivative: "if(soc le 0, 0, -P / 1 [h])"}
outputs:
  P: {value: "0.2 + 0.001 [1/m] * max(h, 0 [m])"}
  breached: {type: boolean, value: "h gt 110 [m]"}
  low: {type: boolean, value: "soc lt 0.5"}
parameters: {tau: {unit: s, default: 5}}
commands: {h_cmd: {unit: m}}
`, `<ReactiveFallback><ReactiveSequence><Condition name="full" on="soc ge 0.5"/>
	<Action name="climb" write="h_cmd := 100"/></ReactiveSequence><Action name="sink" write="h_cmd := 50"/></ReactiveFallback>`, `
check:
  always: [h le 120, h le 100, soc ge -0.01, soc ge 0.1, not breached, "sink -> P le 0.3", climb or low,
    "h + 10 [m] * soc le 125 [m]"]
`)
	s := x.m.Subject()
	s.Rates = x
	proved := func() map[string]bool {
		all := map[string]bool{}
		for _, f := range verify.Check(s) {
			if f.Question == "always" {
				all[f.About] = f.Verdict == verify.Proved
				for _, a := range f.Assumes {
					if strings.Contains(a.Text, "fact") {
						t.Errorf("%s: assumed that %s", f.About, a.Text)
					}
				}
			}
		}
		return all
	}
	anywhere := proved()
	s = x.FromStart(s)
	for text, is := range proved() {
		if want := text != "h le 100"; is != want || anywhere[text] {
			t.Errorf("%s: from the start %v, from anywhere %v; %v", text, is, anywhere[text], s.Declared.Facts)
		}
	}
}

// The goal is reached from the declared start, though not from everywhere, and in the time that it takes from there.
func TestReachedFromStart(t *testing.T) {
	x := tableOf(t, `
states: {x: {unit: m, derivative: "u * (2 + sin(t / 1 [s]))", initial: 1, min: -100, max: 100}}
commands: {u: {unit: m/s}}
`, `<ReactiveFallback><Condition name="there" on="x ge 3"/>
	<ReactiveSequence><Condition name="right" on="x ge 0"/><Action name="go" write="u := 1"/></ReactiveSequence>
	<Action name="stay"/></ReactiveFallback>`, `
check:
  goal: x ge 3
  properties: [within 2.1 (x ge 3), within 1.9 (x ge 3), never stay]
`)
	s := x.m.Subject()
	s.Rates = x
	answers := func() string {
		var list []string
		for _, f := range verify.Check(s) {
			if f.Question == "reach" || f.Question == "property" {
				list = append(list, f.Verdict.String())
			}
		}
		return strings.Join(list, ", ")
	}
	anywhere := answers()
	s = x.FromStart(s)
	if start := answers(); anywhere != "proved, refuted, not proved, not proved, refuted" ||
		start != "proved, proved, not proved, proved" {
		t.Errorf("from anywhere: %s; from the start: %s; %v", anywhere, start, s.Declared.Facts)
	}
}

// The reserve of an aircraft that returns: a signal that has come to rest where it entered an interval leaves it there.
func TestReserve(t *testing.T) {
	x := tableOf(t, `
states:
  x: {unit: m, derivative: v}
  soc: {initial: 1, derivative: "if(soc le 0, 0, -(1 + 0.1 * sin(t / 1 [s])) / 100 [s])"}
commands: {v: {unit: m/s}}
`, `<ReactiveFallback>
	<ReactiveSequence><Condition name="low" on="soc lt 0.5" off="soc gt 2"/>
		<Action name="back" write="v := -20" done="x le 0"/><Action name="land"/></ReactiveSequence>
	<ReactiveSequence><Condition name="near" on="x lt 300"/><Action name="out" write="v := 20"/></ReactiveSequence>
	<Action name="wait"/></ReactiveFallback>`, `
check:
  always: ["back -> soc ge 0.33", "back -> soc ge 0.37", x le 301]
  properties: [always (back -> within 15.1 (not back)), always (back -> within 14.9 (not back)), eventually land,
    always (t lt 14.9 -> x lt 300), always (t lt 15.1 -> x lt 300)]
`)
	s := x.m.Subject()
	s.Rates = x
	want := map[string]bool{"back -> soc ge 0.33": true, "x le 301": true, "eventually land": true,
		"always (back -> within 15.1 (not back))": true, "always (t lt 14.9 -> x lt 300)": true}
	for _, f := range verify.Check(x.FromStart(s)) {
		if f.Question == "always" || f.Question == "property" {
			if is := f.Verdict == verify.Proved && len(f.Unwatched()) == 0; is != want[f.About] {
				t.Errorf("%s: %s %s", f.About, f.Word(), f.Text)
			}
		}
	}
}
