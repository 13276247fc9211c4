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
parameters: {tau: {unit: s, default: 5}}
commands: {h_cmd: {unit: m}}
`, `<ReactiveFallback><ReactiveSequence><Condition name="full" on="soc ge 0.5"/>
	<Action name="climb" write="h_cmd := 100"/></ReactiveSequence><Action name="sink" write="h_cmd := 50"/></ReactiveFallback>`, `
check:
  always: [h le 120, h le 100, soc ge -0.01, soc ge 0.1, not breached, "sink -> P le 0.3"]
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
