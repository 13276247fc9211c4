package expr

import "testing"

// slotsOf gives the names of a list their index.
func slotsOf(names ...string) func(string) (int, bool) {
	return func(name string) (int, bool) {
		for i, n := range names {
			if n == name {
				return i, true
			}
		}
		return 0, false
	}
}

const (
	conditionText = "soc >= 0.996 and h lt 12980 [m]"
	realText      = "0.5 * rho * v^2 * s * (cd0 + k * cl^2) + m * 9.80665 [m/s^2] * sin(gamma)"
)

func condition(s []float64) bool { return s[0] >= 0.996 && s[1] < 12980 }
func BenchmarkCondition(b *testing.B) {
	e, _ := Parse(conditionText)
	c := NewCompiler(slotsOf("soc", "h"))
	code := c.Compile(e)
	s := []float64{0.997, 9000}
	above := []bool{true, false}
	b.Run("compiled", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			code.Bool(s, nil)
		}
	})
	b.Run("frozen", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			code.Bool(s, above)
		}
	})
	peer := condition
	b.Run("peer", func(b *testing.B) {
		for b.Loop() {
			peer(s)
		}
	})
}
func BenchmarkReal(b *testing.B) {
	e, err := Parse("0.5 * rho * v^2 * s * (cd0 + k * cl^2) + m * 9.80665 [m/s^2] * gamma")
	if err != nil {
		b.Fatal(err)
	}
	c := NewCompiler(slotsOf("rho", "v", "s", "cd0", "k", "cl", "m", "gamma"))
	code := c.Compile(e)
	s := []float64{0.6, 20, 25, 0.013, 0.03, 0.95, 110, 0.03}
	b.Run("compiled", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			code.Real(s, nil)
		}
	})
	peer := func(s []float64) float64 {
		return 0.5*s[0]*(s[1]*s[1])*s[2]*(s[3]+s[4]*(s[5]*s[5])) + s[6]*9.80665*s[7]
	}
	b.Run("peer", func(b *testing.B) {
		for b.Loop() {
			peer(s)
		}
	})
}
