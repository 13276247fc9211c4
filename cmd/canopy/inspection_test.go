package main

import (
	"strings"
	"testing"
)

// The inspection ends at home; with a small battery it returns home early, with charge left.
func TestInspection(t *testing.T) {
	clone(t)
	for battery, inspected := range map[string]bool{"60": true, "30": false} {
		_, stderr, status := canopy("run", "missions/inspection.yaml", "--set", "battery.E_Wh="+battery, "--out", battery)
		if status != exitOK {
			t.Fatalf("status %d: %s", status, stderr)
		}
		text := fileText(t, battery+"/status.csv")
		if got := strings.Contains(text, ",inspect,Running,Finished"); got != inspected {
			t.Errorf("%s Wh: inspected %v, want %v", battery, got, inspected)
		}
		if !strings.Contains(text, ",inspection,Running,Finished") {
			t.Errorf("%s Wh: the plan does not finish", battery)
		}
	}
}
