package expr

import (
	"testing"

	"pgregory.net/rapid"
)

// settle returns sides and cells that belong to the signals; ok is false if an indicator is not finite.
func settle(c *Compiler, signals []float64) (above []bool, ok bool) {
	above = make([]bool, len(c.Indicators()))
	for again := true; again; {
		again = false
		for _, cell := range c.Cells() {
			again = cell.Update(signals, above) || again
		}
		for i, x := range c.Indicators() {
			g := x.Value(signals, above)
			if g-g != 0 {
				return nil, false
			}
			again = again || above[i] != (g >= 0)
			above[i] = g >= 0
		}
	}
	return above, true
}

// TestHeldIsExact: with sides and cells that belong to the present signals, functions that are held have the value that
// they have without, to the last bit, and each cell's indicators are on their sides.
func TestHeldIsExact(t *testing.T) {
	compared := 0
	scope := Scope{}
	for i, name := range signalNames {
		scope[name] = Variable{Unit: AnyUnit, Held: i == 0} // which is compared without an indicator
	}
	rapid.Check(t, func(t *rapid.T) {
		c := NewCompiler(scope, slotsOf(signalNames...)).Hold(len(signalNames))
		tree := randomReal(t, 5)
		code := c.Compile(&Expr{tree})
		signals := make([]float64, len(signalNames)+2*len(c.Cells()))
		for i := range signalNames {
			signals[i] = rapid.Float64Range(-10, 10).Draw(t, signalNames[i])
		}
		want := code.Real(signals, nil)
		above, ok := settle(c, signals)
		if !ok || want-want != 0 {
			return
		}
		compared++
		if got := code.Real(signals, above); got != want {
			t.Fatalf("%v is %v if held, want %v, at %v", tree, got, want, signals)
		}
		for _, cell := range c.cells {
			if !above[cell.first] || above[cell.first+1] {
				t.Fatalf("%v: the argument is outside its piece at %v", tree, signals)
			}
		}
	})
	if compared < 20 {
		t.Errorf("only %d expressions compared", compared)
	}
}

// A direction is exact where a discrete argument is computed.
func TestHeldDirection(t *testing.T) {
	scope := Scope{"a": {Unit: AnyUnit}, "n": {Unit: AnyUnit, Held: true}}
	for _, text := range []string{"atan2(n * n - 2, a)", "atan2(a, n * n - 2)"} {
		c := NewCompiler(scope, slotsOf("a", "n")).Hold(2)
		code := compile(t, c, text)
		for _, signals := range [][]float64{{-3, 0}, {-3, 2}, {3, 0}, {3, 2}} {
			above, ok := settle(c, signals)
			if got, want := code.Real(signals, above), code.Real(signals, nil); !ok || got != want {
				t.Errorf("%s is %g if held, want %g, at %v", text, got, want, signals)
			}
		}
	}
}

// Between events a held function continues smoothly: its branch and its piece stay.
func TestHeldBranchContinues(t *testing.T) {
	for _, x := range []struct {
		text      string
		at, until float64
		want      float64
	}{
		{"abs(a)", 1, -2, -2}, {"abs(a)", -1, 2, -2}, {"min(a, 3, 5)", 2, 9, 9}, {"max(a, 3, 5)", 6, 1, 1},
		{"sign(a) + a", 1, -2, -1}, {"floor(a) + a", 1.5, 3.5, 4.5}, {"mod(a, 3)", 4, 7, 4}, {"mod(a, 3)", 4, 2, -1},
		{"if(abs(a) ge 1, 2, 3)", -1, 0, 2}, {"floor(abs(a) / 2)", -3, 5, 1}, {"mod(floor(a), 2)", 3.5, 8, 1},
	} {
		c := NewCompiler(nil, slotsOf("a")).Hold(1)
		code := compile(t, c, x.text)
		signals := make([]float64, 1+2*len(c.Cells()))
		signals[0] = x.at
		above, ok := settle(c, signals)
		signals[0] = x.until
		if got := code.Real(signals, above); !ok || got != x.want {
			t.Errorf("%s, held at %g, is %g at %g, want %g", x.text, x.at, got, x.until, x.want)
		}
	}
}
