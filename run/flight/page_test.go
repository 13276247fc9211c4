package flight

import (
	"testing"

	"github.com/canopy-uav/canopy/internal/golden"
)

// docs/flying-reference.md names the golden script of each policy, and no others; the tests that it names exist.
func TestPage(t *testing.T) {
	golden.Documented(t, "../../docs/flying-reference.md", "testdata/*.txt")
	golden.Tests(t, "../../docs/flying-reference.md", "*_test.go", "../box/*_test.go", "../control/*_test.go", "../driver/*_test.go",
		"../../autopilot/fake/*_test.go", "../../autopilot/adapter/*_test.go", "../../autopilot/service/*_test.go",
		"../../autopilot/link/*_test.go", "../../cmd/canopy/*_test.go")
}
