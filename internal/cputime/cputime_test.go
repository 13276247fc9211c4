package cputime

import (
	"math"
	"testing"
)

// Work takes CPU time.
func TestNow(t *testing.T) {
	began, x := Now(), 1.0
	for range 100_000_000 {
		if x = math.Sqrt(x + 1); Now() > began {
			return
		}
	}
	t.Error("CPU time stands still")
}
