package simulated

import "testing"

// gearbox is a vehicle with variables of discrete types.
const gearbox = `
states:
  x: {unit: m, derivative: speed}
discrete:
  gear: {type: enumeration, values: [neutral, low, high], initial: low}
  turns: {type: integer}
commands:
  brake: {type: boolean, hold: true}
  wanted: {type: enumeration, values: [neutral, low, high], hold: true}
outputs:
  speed: {unit: m/s, value: "if(brake, 0 [m/s], if(gear == high, 4 [m/s], if(gear == low, 1 [m/s], 0)))"}
  goal: {unit: m, value: "if(turns == 1, 50 [m], 1000 [m])"}
  far: {type: boolean, value: "x ge goal"}
events:
  - {when: "x ge 10 [m]", then: "gear := wanted; turns := turns + 1"}
`

// The Boolean and the enumerations of a vehicle are such to a plan, and what depends on them changes at the instant at
// which they do; a relation that reads a value which only events change is found exactly.
func TestTypesOfAVehicle(t *testing.T) {
	m := equationsMission(t, gearbox, `<Sequence>
		<Action name="slow" entry="wanted := high" done="gear == high"/>
		<Action name="fast" done="far and gear != low"/>
		<Action name="stop" write="brake := true" done="false"/></Sequence>`, "horizon: 40\n")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "changes of slow", l.changes(m, "slow"), 1e-8, 10, 10, 10)
	near(t, "changes of fast", l.changes(m, "fast"), 1e-8, 10, 10, 20, 20, 20)
	near(t, "x, gear, brake", []float64{l.last(m, "x"), l.last(m, "gear"), l.last(m, "brake")}, 1e-6, 50, 2, 1)
}
