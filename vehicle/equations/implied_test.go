package equations

import (
	"fmt"
	"testing"

	"github.com/canopy-uav/canopy/diag"
)

// The equations imply ranges where nothing takes a state below zero, and where sums are constant.
func TestImpliedRanges(t *testing.T) {
	for text, want := range map[string]string{
		// Robertson's reaction
		`states:
  y1: {initial: 1, derivative: "-0.04 [1/s] * y1 + 1e4 [1/s] * y2 * y3"}
  y2: {derivative: "0.04 [1/s] * y1 - 1e4 [1/s] * y2 * y3 - 3e7 [1/s] * y2 * y2"}
  y3: {derivative: "3e7 [1/s] * y2 * y2"}
`: "[0 to 1 0 to 1 0 to 1]",
		// 2 A -> B: A + 2 B is constant
		`states: {a: {initial: 4, derivative: "-2 [1/s] * a^2"}, b: {initial: 1, derivative: "a^2 * 1 [1/s]"}, c: {derivative: "-1 [1/s]"}}
`: "[0 to 6 0 to 3 ]",
		// an oscillator, and a sum of states that may be negative
		"states: {x: {initial: 1, derivative: 'v / 1 [s]'}, v: {derivative: '-x / 1 [s]'}}\n":   "[ ]",
		"states: {x: {initial: 1, derivative: '-1 [1/s]'}, y: {derivative: '1 [1/s]'}}\n":       "[ at least 0]",
		"states: {x: {initial: -1, derivative: 'x / 1 [s]'}}\n":                                 "[]",
		"states: {x: {derivative: 'y / 1 [s]'}, y: {initial: 1, derivative: '-y^3 / 1 [s]'}}\n": "[at least 0 at least 0]",
		// commands are in their ranges; outputs are followed
		`states: {h: {unit: m, initial: 1, derivative: '(inflow - drain) * 1 [m]'}}
outputs: {drain: {unit: 1/s, value: "k * sqrt(max(h, 0) / 1 [m])"}}
parameters: {k: {unit: 1/s, default: 2, min: 0}}
commands: {inflow: {unit: 1/s, min: 0}}
`: "[at least 0]",
		"states: {h: {initial: 1, derivative: inflow}}\ncommands: {inflow: {unit: 1/s}}\n": "[]",
		// events may set anything
		`states: {x: {initial: 1, derivative: '-x / 1 [s]'}, n: {derivative: '1 [1/s]'}}
events: [{when: n ge 1, then: x := -1}]
`: "[ at least 0]",
		// a discrete signal hides it likewise
		`states: {x: {derivative: "if(gear == low, 1, 0) * 1 [1/s]"}}
discrete: {gear: {type: enumeration, values: [neutral, low], initial: low}}
`: "[at least 0 at least 0]",
		// a relation hides a sum that is constant on one side only
		`states: {x: {initial: 1, derivative: "-x * 1 [1/s]"}, y: {derivative: "if(x gt 3, 2, 1) * x * 1 [1/s]"}}
`: "[at least 0 at least 0]",
		`sizes: {n: 5}
states: {T: {for: i in 1:n, initial: 1, derivative: "(T[i-1] - 2 * T[i] + T[i+1]) / 1 [s]"}}
outputs: {T.0: {value: T.1}, T.6: {value: T.5}}
`: "[0 to 5 0 to 5 0 to 5 0 to 5 0 to 5]",
	} {
		v, diags := Read(&diag.Source{Name: "v.yaml", Text: text})
		if v == nil {
			t.Fatal(diags)
		}
		i, err := v.New(v.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float64, len(v.States))
		i.Initial(y)
		if got := fmt.Sprint(Implied(i, y)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
