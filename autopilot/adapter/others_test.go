package adapter_test

import (
	"testing"

	"github.com/canopy-uav/canopy/autopilot/adapter"
)

// Two programs that were started within the same millisecond have different numbers, of which the first is the lower.
func TestProgramsOfTheSameMillisecond(t *testing.T) {
	const unix = 1_790_000_000_000_000_000
	if a, b := adapter.Number(unix), adapter.Number(unix+200_000); b-a <= 0 {
		t.Errorf("%d, %d", a, b)
	}
}
