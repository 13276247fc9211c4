package model

import (
	"os"
	"strings"
	"testing"
)

// TestPage: docs/vehicles-built-in.md describes each built-in vehicle.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/vehicles-built-in.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range Vehicles() {
		if !strings.Contains(string(text), "Vehicle `"+v.Name+"` is ") {
			t.Errorf("the page does not describe %s", v.Name)
		}
	}
}
