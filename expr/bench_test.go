package expr

import (
	"math"
	"testing"
)

// The peer of each benchmark is the same calculation as a hand-written closure, called through a variable.
// docs/performance.md compares the interpreter with compiled closures, which it replaced.

func BenchmarkCondition(b *testing.B) {
	c := NewCompiler(nil, slotsOf("soc", "h"))
	code := compile(b, c, "soc >= 0.996 and h lt 12980 [m]")
	signals, above := []float64{0.997, 9000}, []bool{true, false}
	peer := func(s []float64) bool { return s[0] >= 0.996 && s[1] < 12980 }
	result := true
	b.Run("direct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			result = code.Bool(signals, nil)
		}
	})
	b.Run("frozen", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			result = code.Bool(signals, above)
		}
	})
	b.Run("peer", func(b *testing.B) {
		for b.Loop() {
			result = peer(signals)
		}
	})
	if !result {
		b.Error("the condition holds")
	}
}

// BenchmarkReal evaluates ten operations (two of them squares).
func BenchmarkReal(b *testing.B) {
	c := NewCompiler(nil, slotsOf("rho", "v", "s", "cd0", "k", "cl", "m", "gamma"))
	code := compile(b, c, "0.5 * rho * v^2 * s * (cd0 + k * cl^2) + m * 9.80665 [m/s^2] * gamma")
	signals := []float64{0.6, 20, 25, 0.013, 0.03, 0.95, 110, 0.03}
	peer := func(s []float64) float64 {
		return 0.5*s[0]*(s[1]*s[1])*s[2]*(s[3]+s[4]*(s[5]*s[5])) + s[6]*9.80665*s[7]
	}
	result := peer(signals)
	if got := code.Real(signals, nil); math.Abs(got-result) > 1e-12*math.Abs(result) {
		b.Fatalf("compiled %v, by hand %v", got, result)
	}
	b.Run("compiled", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			result = code.Real(signals, nil)
		}
	})
	b.Run("peer", func(b *testing.B) {
		for b.Loop() {
			result = peer(signals)
		}
	})
}
