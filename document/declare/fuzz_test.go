package declare

import (
	"testing"

	"github.com/canopy-uav/canopy/diag"
)

// FuzzReadFile: any declarations are read, or each mistake is at a place inside them.
func FuzzReadFile(f *testing.F) {
	p := read(f, `<ReactiveFallback><ReactiveSequence><Condition ID="low" on="h lt 10 [m]"/>
		<Action ID="climb" write="v := 1"/></ReactiveSequence><Action ID="hold" write="v := 0"/></ReactiveFallback>`)
	for _, text := range []string{
		"facts: [low -> climb, not (low and hold)]",
		"goal: h ge 10 [m]\nfree: [climb]\nwritten: [v]\nperiod: 2 [min]",
		"properties: [always (low implies climb within 10 [s]), eventually hold]",
		"resources: {motor: [climb, hold]}",
		"effects: {climb: {h: 0.5 [m/s] .. 2 [m/s]}, hold: {h: 0}}",
		"accept: [{question: conflict, about: v, reason: intended}]",
		"always: [", "facts: {a: 1}", "goal: 1", "--- {}\n--- {}", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, list := ReadFile(&diag.Source{Name: "facts.yaml", Text: text}, p)
		for _, d := range list {
			if d.Offset < 0 || d.Length < 0 || d.Offset+d.Length > len(d.Source.Text) || d.Text == "" || d.Code == "" {
				t.Errorf("%#v", d)
			}
		}
	})
}
