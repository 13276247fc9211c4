package simulated

import (
	"testing"

	"github.com/canopy-uav/canopy/internal/golden"
)

// Shorthands leave what the scripts say.
func TestShorthands(t *testing.T) {
	golden.Run(t, func() golden.Machine {
		return func(t *testing.T, d golden.Directive) string {
			got, err := left(`<BehaviorTree ID="main">` + d.Input + `</BehaviorTree>`)
			if err != nil {
				t.Errorf("%s: %v", d.At, err)
			}
			return got
		}
	}, "testdata/shorthands/*.txt")
}
