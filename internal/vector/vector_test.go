package vector

import (
	"math"
	"testing"
)

// TestWithin puts each value at each place of lists of all small lengths, between numbers that are within.
func TestWithin(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x, low, high float64
		want         bool
	}{
		{1, 0, 2, true}, {0, 0, 2, true}, {2, 0, 2, true}, {math.Copysign(0, -1), 0, 0, true}, {inf, -inf, inf, true},
		{-1, 0, 2, false}, {3, 0, 2, false}, {math.Nextafter(2, 3), 0, 2, false}, {inf, 0, math.MaxFloat64, false},
		{-inf, -math.MaxFloat64, 0, false}, {nan, -inf, inf, false}, {1, nan, 2, false}, {1, 0, nan, false},
	} {
		for n := 1; n <= 25; n++ {
			for i := range n {
				x, low, high := make([]float64, n), make([]float64, n), make([]float64, n)
				x[i], low[i], high[i] = c.x, c.low, c.high
				if got := Within(x, low, high); got != c.want {
					t.Fatalf("%v in place %d of %d: %v", c, i, n, got)
				}
			}
		}
	}
	if !Within(nil, nil, nil) {
		t.Error("nothing is not within its bounds")
	}
}

func TestWithinAllocatesNothing(t *testing.T) {
	x := make([]float64, 72)
	if n := testing.AllocsPerRun(10, func() { Within(x, x, x) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
