package simulated

import (
	"testing"

	"github.com/canopy-uav/canopy/bt"
)

// Computed signals may be discrete: they change where an event inside their expressions happens, and nowhere else. What
// reads them is judged again in the same instant.
func TestComputedDiscreteSignals(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback>
		<ReactiveSequence><Condition ID="halfway" on="label == 'half way' and level == 2"/><Action ID="through" write="v := 2"/></ReactiveSequence>
		<ReactiveSequence><Condition ID="gone" on="zone == away and not steep and counted"/><Action name="rest"/></ReactiveSequence>
		<Action ID="go" write="v := 1; laps := level"/></ReactiveFallback>`, `signals:
  counted: {type: boolean, value: "laps != 1 or t gt 3 [s]"}
  zone: {type: enumeration, values: [close, between, away], value: "if(x lt 5 [m], close, if(x lt 10 [m], between, away))"}
  level: {type: integer, value: "if(steep, 2, 1)"}
  label: {type: text, value: "if(steep, 'half way', 'elsewhere')"}
  steep: {type: boolean, value: "zone == between"}
  laps: {type: integer}
`, "tolerance=1e-10", "horizon=20")
	_, l := flown(t, m)
	near(t, "half way", l.at(m, "halfway", bt.Success), 1e-8, 5)
	near(t, "gone", l.at(m, "gone", bt.Success), 1e-8, 7.5)
	near(t, "rest", l.at(m, "rest", bt.Running), 1e-8, 7.5)
	zone, level := l.column(m, "zone"), l.column(m, "level")
	for i, x := range l.column(m, "x") {
		if z := zone[i]; z != 0 && x < 5-1e-6 || z != 1 && x > 5+1e-6 && x < 10-1e-6 || z != 2 && x > 10+1e-6 {
			t.Errorf("the zone is %v at %v m", z, x)
		}
		if level[i] == 2 != (zone[i] == 1) {
			t.Errorf("level %v in zone %v", level[i], zone[i])
		}
	}
	if d, _ := m.Signal("zone"); d.Type.Name() != "enumeration" || len(d.Values) != 3 {
		t.Errorf("the log describes the zone as %+v", d)
	}
	if d, _ := m.Signal("label"); d.Type.Name() != "text" || len(d.Values) != 2 {
		t.Errorf("the log describes the label as %+v", d)
	}
}
