package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The comparison is math.Exp, itself within 1 ulp (1.1e-16 to 2.2e-16 relative).
func TestExp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	for range 1_000_000 {
		x := (2*random.Float64() - 1) * 700
		if random.IntN(2) == 0 {
			x /= 100
		}
		want := math.Exp(x)
		worst = max(worst, math.Abs(exp(x)-want)/want)
	}
	if worst > 5e-16 {
		t.Errorf("largest relative error %g", worst)
	}
	t.Logf("largest relative error %g", worst)
	for _, x := range []float64{0, math.Copysign(0, -1), -1e9, 1e9, math.Inf(1), math.Inf(-1), 710, -745} {
		if got := exp(x); got != math.Exp(x) {
			t.Errorf("exp(%g) = %g", x, got)
		}
	}
	if !math.IsNaN(exp(math.NaN())) {
		t.Error("exp(NaN) is a number")
	}
}

func TestLog(t *testing.T) {
	check := func(x float64) {
		t.Helper()
		got, want := log(x), math.Log(x)
		if allowed := max(3e-16, 5e-16*math.Abs(want)); !(math.Abs(got-want) <= allowed) {
			t.Errorf("log(%g) = %.17g, want %.17g", x, got, want)
		}
	}
	for i := range 200000 {
		check(math.Exp2(float64(i-100000) / 100))
		check(1 + float64(i)*1e-5)
		check(1 - float64(i)*1e-6)
	}
	for _, x := range []float64{1, 2, 0.5, math.Nextafter(1, 2), math.Nextafter(1, 0), 0x1p-1022, math.MaxFloat64} {
		check(x)
	}
	if log(1) != 0 {
		t.Errorf("log(1) = %g", log(1))
	}
	for _, x := range []float64{0, math.Inf(1), 0x1p-1060} {
		if got, want := log(x), math.Log(x); got != want {
			t.Errorf("log(%g) = %g, want %g", x, got, want)
		}
	}
	for _, x := range []float64{-1, math.NaN(), math.Inf(-1)} {
		if got := log(x); got == got {
			t.Errorf("log(%g) = %g, want NaN", x, got)
		}
	}
}
