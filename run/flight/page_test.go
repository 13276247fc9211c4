package flight

import (
	"testing"

	"canopy/internal/golden"
)

// docs/flying.md names the golden script of each policy, and no others.
func TestPage(t *testing.T) { golden.Documented(t, "../../docs/flying.md", "testdata/*.txt") }
