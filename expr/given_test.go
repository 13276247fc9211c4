package expr

import (
	"strings"
	"testing"
)

// TestGiven: conditions that read given signals have the same value by the sides of indicators as directly, for all
// values of the signals.
func TestGiven(t *testing.T) {
	scope, names := discrete()
	for name, v := range scope {
		if v.Type != Real && v.Type != Text {
			v.Given = true
			scope[name] = v
		}
	}
	scope["zone"] = Variable{Type: Enumeration, Values: []string{"near", "away"}}
	computed := map[string]*Expr{"zone": parsed(t, "if(armed, near, away)")}
	for text, indicators := range map[string]string{
		"armed":                                    "armed",
		"not armed and h gt 5":                     "armed; h > 5",
		"mode == transit":                          "mode >= 0.5; mode < 1.5",
		"transit != mode":                          "mode >= 0.5; mode < 1.5",
		"mode == last":                             "mode - last >= -0.5; mode - last < 0.5",
		"armed == (legs lt 2)":                     "armed; legs < 2",
		"if(armed, survey, home) == mode":          "armed; if(armed >= 0.5, 0, 2) - mode >= -0.5; if(armed >= 0.5, 0, 2) - mode < 0.5",
		"zone != away":                             "armed; if(armed >= 0.5, 0, 1) >= 0.5; if(armed >= 0.5, 0, 1) < 1.5",
		"legs + 1 == 4":                            "legs + 1 >= 3.5; legs + 1 < 4.5",
		"armed == true":                            "armed",
		"if(mode == home, h, 2 * h) gt 5":          "mode >= 1.5; mode < 2.5; if(mode == home, h, 2 * h) > 5",
		"gear == up or legs ge 2 and mode != home": "gear >= -0.5; gear < 0.5; legs >= 2; mode >= 1.5; mode < 2.5",
	} {
		e := parsed(t, text)
		c := NewCompiler(scope, slotsOf(names...))
		if errs := e.CheckFor(Variable{Type: Boolean}, scope); errs != nil {
			t.Fatal(text, errs)
		}
		code := c.CompileFor(e.Substitute(computed), Variable{Type: Boolean})
		var texts []string
		for _, i := range c.Indicators() {
			texts = append(texts, i.Text)
		}
		if got := strings.Join(texts, "; "); got != indicators {
			t.Errorf("%s has the indicators %s", text, got)
		}
		if len(code.Discrete()) > 0 {
			t.Errorf("%s: %v are changed by tasks", text, code.Discrete())
		}
		for k := range 2 * 3 * 3 * 2 * 5 * 2 {
			values := []float64{float64(k%2) * 10, 0, float64(k / 2 % 3), float64(k / 6 % 3), float64(k / 18 % 2),
				float64(k / 36 % 5), float64(k / 180 % 2), 0}
			sides := make([]bool, len(texts))
			for i, x := range c.Indicators() {
				sides[i] = x.Value(values, sides) >= 0
			}
			if code.Bool(values, nil) != code.Bool(values, sides) {
				t.Errorf("%s is %v by its sides, of %v", text, code.Bool(values, sides), values)
			}
		}
	}
}
