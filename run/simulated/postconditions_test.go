package simulated

import (
	"slices"
	"testing"
)

// Postconditions assign when a node has ended, well or badly, and when it is deactivated without having ended: by its
// parent, by its own _while, and at the end of the run. Several are made from the inside to the outside.
func TestPostconditions(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       map[string]float64
	}{
		{"success", `<Action name="a" done="t ge 2 [s]" _onSuccess="p := p + 1" _onFailure="p := 100" _onHalted="p := 200" _post="q := p + 1"/>`,
			map[string]float64{"p": 1, "q": 2}},
		{"failure", `<Action name="a" failed="t ge 2 [s]" _onSuccess="p := 100" _onFailure="p := p + 2" _onHalted="p := 200" _post="q := p + 1"/>`,
			map[string]float64{"p": 2, "q": 3}},
		{"halted by its parent", `<ReactiveSequence><Condition name="c" on="t lt 3 [s]"/>
			<Action name="a" done="false" _onSuccess="p := 100" _onHalted="p := p + 3" _post="q := p + 1"/></ReactiveSequence>`,
			map[string]float64{"p": 3, "q": 4}},
		{"halted by its precondition", `<Sequence><Action name="a" done="false" _while="t lt 3 [s]" _onSuccess="p := 100" _onHalted="p := p + 4"/>
			<Action name="b" entry="q := p + 1" done="true"/></Sequence>`, map[string]float64{"p": 4, "q": 5}},
		{"a composite is halted", `<ReactiveSequence><Condition name="c" on="t lt 3 [s]"/>
			<Sequence _onHalted="p := 2 * p"><Action name="a" done="t gt 1 [s]" _onHalted="q := 100"/>
			<Action name="b" done="false" _onHalted="p := p + 5"/></Sequence></ReactiveSequence>`, map[string]float64{"p": 10, "q": 0}},
		{"halted by the end of the run", `<Sequence _onHalted="q := 7"><Action name="a" done="false" _onHalted="p := 6"/></Sequence>`,
			map[string]float64{"p": 6, "q": 7}},
		{"nothing is halted", `<Sequence><Action name="a" done="t gt 1 [s]" _onHalted="p := 100"/>
			<Action name="b" done="t gt 2 [s]" _successIf="t ge 0 [s]" _onHalted="p := 200" _onSuccess="q := 1"/></Sequence>`,
			map[string]float64{"p": 0, "q": 1}},
		{"a condition", `<Fallback><Condition name="c" on="t gt 100 [s]" _onFailure="p := p + 6"/><Action name="a" done="t gt 1 [s]"/></Fallback>`,
			map[string]float64{"p": 6, "q": 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := cartMission(t, test.body, "signals:\n  p: {default: 0, hold: true}\n  q: {default: 0, hold: true}\n", "horizon=5")
			_, l := flown(t, m)
			row := l.rows[len(l.rows)-1]
			for name, want := range test.want {
				if got := row[slices.Index(m.Record, name)]; got != want {
					t.Errorf("%s is %g, not %g", name, got, want)
				}
			}
		})
	}
}
