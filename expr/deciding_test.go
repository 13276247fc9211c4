package expr

import "testing"

// Of a condition that holds, what decides is shown: the alternatives that hold, or may hold at their limit.
func TestDeciding(t *testing.T) {
	at := map[string]float64{"a": 1, "b": 0, "x": 5, "y": 3000, "t": 60}
	for text, want := range map[string]string{
		"a or b":                     "a",
		"b or x > 4":                 "x > 4",
		"b or x > 5":                 "x > 5",
		"b or x > 5.01":              "b or x > 5.01",
		"not (a and b)":              "not b",
		"not (x < 4 and y > 1 [km])": "x >= 4", "not (x >= 7)": "x < 7", "not (b or x >= 7)": "not (b or x >= 7)",
		"a and x > 4": "a and x > 4", "a and x > 9 or not b and t > 60 or y / x > 601": "not b and t > 60",
		"mode == guided or b": "mode == guided", "x == 5 or b": "x == 5", "not (mode == auto)": "mode != auto",
		"z > 3 or b": "z > 3", "min(x, 7) > 6 or sqrt(y) > 50": "sqrt(y) > 50", "true": "true", "(x - 0 [m])^2 + if(0 [m] > 0 [m], 7, y) > 3000": "x^2 + y > 3000", "x - 1 > 3": "x - 1 > 3",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		got, ok := e.Deciding(at)
		if got.String() != want || ok != (text != "b or x > 5.01") {
			t.Errorf("%s: %v, %t, want %s", text, got, ok, want)
		}
	}
}
