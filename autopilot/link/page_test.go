package link_test

import (
	"os"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/link"
)

// The table of docs/flying-reference.md has each form of an address.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/flying-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(link.Forms()) {
		if form, _, _ := strings.Cut(line, " "); !strings.Contains(string(page), "\n| `"+form+"` |") {
			t.Errorf("no row of %s", form)
		}
	}
}
