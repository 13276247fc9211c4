package simulated

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"canopy/analysis/verify"
	"canopy/bt"
	"canopy/document/mission"
	"canopy/vehicle/model"
)

// TestEveningSwitchingIsForeseen: the check reports before any flight that sinking and the mission take turns at the
// critical charge, and no faster than the flight then shows; with a wider margin it reports nothing and the flight
// switches once.
func TestEveningSwitchingIsForeseen(t *testing.T) {
	for _, test := range []struct {
		name, margin string
		want         verify.Verdict
		least, most  int // times that sinking begins
	}{
		{"as published", `on="soc lt 0.992" off="soc gt 0.993"`, verify.Refuted, 4, 100},
		{"with a wider margin", `on="soc lt 0.983" off="soc gt 0.993"`, verify.Proved, 1, 1},
	} {
		open := func(name string) ([]byte, error) {
			text, err := os.ReadFile(name)
			if filepath.Ext(name) == ".xml" {
				text = []byte(strings.Replace(string(text), `on="soc lt 0.992" off="soc gt 0.993"`, test.margin, 1))
			}
			return text, err
		}
		m, diags := mission.Read("../../missions/solar-day.yaml", open, model.Vehicles(), nil)
		if m == nil {
			t.Fatal(diags)
		}
		sink, _ := m.Plan.Tree.Find("sink")
		found := false
		for _, f := range verify.Check(m.Subject()) {
			if f.Question == "chatter" && strings.HasPrefix(f.Text, "sink and mission") {
				if found = true; f.Verdict != test.want {
					t.Errorf("%s: %s %s", test.name, f.Verdict, f.Text)
				}
			}
		}
		if !found {
			t.Errorf("%s: the check does not speak of sinking and the mission", test.name)
		}
		_, l, err := fly(t, m)
		if err != nil {
			t.Fatal(err)
		}
		begun, last, shortest := 0, 0.0, 1e9
		for _, s := range l.statuses {
			if s.Task == sink && s.To == bt.Running {
				if begun++; begun > 1 {
					shortest = min(shortest, s.t-last)
				}
				last = s.t
			}
		}
		if begun < test.least || begun > test.most {
			t.Errorf("%s: in flight sinking begins %d times", test.name, begun)
		}
		if begun > 1 && shortest < 39 { // the bound of the check: 0.001/1.7e-4 + 0.001/3e-5
			t.Errorf("%s: a turn takes %g s, less than the least that was proved", test.name, shortest)
		}
	}
}
