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
