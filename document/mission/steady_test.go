package mission_test

import (
	"testing"

	"github.com/canopy-uav/canopy/internal/cart"
)

// An indicator is steady exactly if no slot and no side can change it at an instant.
func TestSteady(t *testing.T) {
	m, diags := cart.Read(`<Sequence><Condition ID="a" on="x gt 1 [m] and x * x lt 2 [m^2] and nearly gt 3 [m] and t gt 4 [s] and twice gt 5 [m]"/>
		<Condition ID="b" on="v gt 6 [m/s] and push gt 7 [m/s] and pushed gt 8 [m/s] and bent gt 9 [m] and x + kept gt 10 [m]"/>
		<Action ID="c" write="v := 1 [m/s]"/></Sequence>`, `signals:
  twice: {unit: m, value: 2 * x}
  pushed: {unit: m/s, value: 2 * push}
  bent: {unit: m, value: "if(x gt 11 [m], x, 0 [m])"}
  kept: {unit: m, value: "gear * x"}
`)
	if m == nil {
		t.Fatal(diags)
	}
	want := map[string]bool{"x > 1 [m]": true, "x * x < 2 [m^2]": true, "nearly > 3 [m]": true, "t > 4 [s]": true,
		"twice > 5 [m]": true, "v > 6 [m/s]": false, "push > 7 [m/s]": false, "pushed > 8 [m/s]": false,
		"bent > 9 [m]": false, "x + kept > 10 [m]": false, "x > 11 [m]": true}
	if len(m.Program.Indicators) != len(want) {
		t.Errorf("%d indicators", len(m.Program.Indicators))
	}
	for i := range m.Program.Indicators {
		text := m.Program.Indicators[i].Text
		if steady, known := want[text]; !known || steady != m.Program.Steady[i] {
			t.Errorf("%s: %t", text, m.Program.Steady[i])
		}
	}
}
