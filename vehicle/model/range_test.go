package model

import (
	"encoding/json"
	"math"
	"testing"
)

// An undeclared range has no bounds.
func TestRange(t *testing.T) {
	for _, c := range []struct {
		r       Range
		text    string
		json    string
		in, out []float64
	}{
		{Between(-1e6, 1e-5), "-1000000 to 0.00001", `{"min":-1e+06,"max":1e-05}`, []float64{0}, []float64{1}},
		{Range{}, "", `{"min":null,"max":null}`, []float64{0, -1e300, math.Inf(1)}, []float64{math.NaN()}},
		{Between(0, 1), "0 to 1", `{"min":0,"max":1}`, []float64{0, 1}, []float64{-1e-300, 1.1, math.NaN()}},
		{Between(0, 0), "0 to 0", `{"min":0,"max":0}`, []float64{0}, []float64{1}},
		{AtLeast(1), "at least 1", `{"min":1,"max":null}`, []float64{1, math.Inf(1)}, []float64{0.9, math.NaN()}},
		{Between(math.Inf(-1), 2), "at most 2", `{"min":null,"max":2}`, []float64{-1e300, 2}, []float64{2.1}},
	} {
		if got := c.r.String(); got != c.text {
			t.Errorf("%q, want %q", got, c.text)
		}
		if got, err := json.Marshal(c.r); err != nil || string(got) != c.json {
			t.Errorf("%s, want %s: %v", got, c.json, err)
		}
		for _, v := range c.in {
			if !c.r.Contains(v) {
				t.Errorf("%q does not contain %g", c.text, v)
			}
		}
		for _, v := range c.out {
			if c.r.Contains(v) {
				t.Errorf("%q contains %g", c.text, v)
			}
		}
	}
	defer func() {
		if got := recover(); got != "model: empty range" {
			t.Errorf("panic %v", got)
		}
	}()
	Between(1, 0)
}
