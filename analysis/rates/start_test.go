package rates

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
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

// A state that events of the vehicle set goes where its rate leads, or to what they give it where they may occur.
func TestEventsSetStates(t *testing.T) {
	x := tableOf(t, `
states: {x: {derivative: "1 [1/s]", initial: 1}, y: {derivative: "if(heat, 0.5, -0.7) / 1 [s]", initial: 1.5}}
discrete: {n: {type: integer}, heat: {type: boolean}}
events:
  - {when: x ge 3, then: x := 2.5; n := n + 1}
  - {when: y le 1, then: heat := true}
  - {when: y ge 2, then: heat := false}
commands: {u: {}}
`, `<Condition name="c" on="x ge 2"/>`, `
check:
  properties:
    - after (x ge 2) before (t lt 0), never (x lt 2)
    - after (x ge 2.7) before (t lt 0), never (x lt 2.7)
    - after (n ge 1) before (t lt 0), never not c
    - after (n ge 2) before (t lt 0), never (n lt 2)
    - (heat lt 0.5) until (y lt 1.1)
    - after (heat gt 0.5) before (y gt 1.9), never (heat lt 0.5)
    - after (heat gt 0.5) before (y gt 2.1), never (heat lt 0.5)
`)
	s := x.m.Subject()
	s.Rates = x
	s.Start = func() declare.Subject { return x.FromStart(s) }
	var got []bool
	for _, f := range verify.Check(s) {
		if f.Question == "property" {
			got = append(got, f.Verdict == verify.Proved)
		}
	}
	if want := []bool{true, false, true, true, true, true, false}; !slices.Equal(got, want) {
		t.Errorf("proved %v, want %v", got, want)
	}
}

// course keeps the signals of a flight at multiples of an interval.
type course struct {
	record.Nothing
	values map[float64][]float64
}

func (c course) Sample(t float64, values []float64) error {
	if n := t / 0.25; math.Abs(n-math.Round(n)) < 1e-9 {
		c.values[math.Round(n)] = slices.Clone(values)
	}
	return nil
}

// TestUnforcedTakesOneCourse: of random vehicles, what no task changes is the same in flights with different plans.
func TestUnforcedTakesOneCourse(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 29))
	unforced, forced := 0, 0
	for range 120 {
		states := []string{"s0", "s1", "s2", "s3"}
		vehicle := "commands: {u: {}}\nstates:\n"
		for i, s := range states {
			rate := []string{"u + 0.3", "0.8", "0", randomNumber(r, 1, "s0", "s1", "s2", "s3", "t / 1 [s]")}[i]
			vehicle += fmt.Sprintf("  %s: {initial: %.2f, derivative: \"(%s) / 1 [s]\"}\n", s, 0.3*r.Float64(), rate)
		}
		vehicle += fmt.Sprintf("events:\n  - {when: %s gt 0.5, then: %s := %s - 1}\n", states[r.IntN(4)], states[r.IntN(4)],
			states[r.IntN(4)])
		vehicle += fmt.Sprintf("outputs: {o: {value: \"%s\"}}\n", randomNumber(r, 1, states[r.IntN(4)], states[r.IntN(4)]))
		courses := [2]course{{values: map[float64][]float64{}}, {values: map[float64][]float64{}}}
		var x *Table
		for i, u := range []string{"0", "0.7"} {
			x = tableOf(t, vehicle, `<Action name="a" write="u := `+u+`"/>`, "record: {interval: 0.25}\n")
			w, err := simulated.New(x.m, run.Continuous{}, 3)
			if err != nil {
				t.Fatal(err)
			}
			w.Attach(courses[i])
			for more := true; more && err == nil; {
				more, err = w.Step()
			}
		}
		for i, name := range x.m.Record {
			same := true
			for k, values := range courses[0].values {
				if other := courses[1].values[k]; other != nil {
					same = same && math.Abs(values[i]-other[i]) < 1e-3
				}
			}
			switch {
			case !x.Unforced([]string{name}) && same:
			case !x.Unforced([]string{name}):
				forced++
			case !same:
				t.Fatalf("%s depends on u\n%s", name, vehicle)
			default:
				unforced++
			}
		}
	}
	if unforced < 30 || forced < 30 {
		t.Errorf("%d signals take one course, %d do not", unforced, forced)
	}
}
