package picture

import (
	"os"
	"strings"
	"testing"
)

// The colours are those of the report's page.
func TestColoursOfTheReport(t *testing.T) {
	text, err := os.ReadFile("../../web/src/style.css")
	if err != nil {
		t.Fatal(err)
	}
	light, _, _ := strings.Cut(string(text), "@media")
	for name, colour := range map[string]string{"muted": muted, "accept": line, "curve2": green, "curve3": purple,
		"curve4": amber, "curve0": blue} {
		if !strings.Contains(light, "--"+name+": "+colour+";") {
			t.Errorf("the page's colour %s is not %s", name, colour)
		}
	}
}

func TestTint(t *testing.T) {
	for share, want := range map[float64]string{0: "#ffffff", 1: "#0072b2", 0.5: "#80b9d9"} {
		if got := tint(blue, share); got != want {
			t.Errorf("%g: %s, want %s", share, got, want)
		}
	}
}
