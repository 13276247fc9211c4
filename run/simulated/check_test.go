package simulated

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
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
		m := read(t, "solar-day.yaml", edited(".xml", func(text string) string {
			return strings.Replace(text, `on="soc lt 0.992" off="soc gt 0.993"`, test.margin, 1)
		}), shipped, nil)
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
		_, l := flown(t, m)
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

// TestLegsAreFlownAsTheyAreProved: each leg of a sequence sets its waypoint as it begins, so that the distance jumps.
// What is said of the legs, in a flight too, follows from the step as it is flown.
func TestLegsAreFlownAsTheyAreProved(t *testing.T) {
	leg := func(name, waypoint, more string) string {
		return `<Action name="` + name + `" entry="waypoint := ` + waypoint + `" write="navigate := 1; V_cmd := 18; h_cmd := 250" ` +
			more + ` done="distance le 60 [m]"/>`
	}
	near := leg("leg1", "1", "") + leg("leg2", "2", "") + leg("leg3", "3", "")
	plan := `<root BTCPP_format="4"><BehaviorTree ID="main"><Sequence name="legs">` + near + `</Sequence></BehaviorTree></root>`
	checks := `
check:
  always: ["not leg1", "not leg2", "not leg3", "not (leg1 and leg2)", "leg2 -> waypoint ge 2", "legs -> waypoint ge 1"]
`
	open := func(name string) ([]byte, error) {
		text, err := os.ReadFile(filepath.Join("../../missions", name))
		switch filepath.Ext(name) {
		case ".xml":
			text = []byte(plan)
		case ".yaml":
			text = append(text, checks...)
		}
		return text, err
	}
	m := read(t, "circuit.yaml", open, shipped, nil)
	var verdicts []string
	for _, f := range verify.Check(m.Subject()) {
		if f.Question == "always" {
			verdicts = append(verdicts, f.About+": "+f.Verdict.String())
		}
		if f.Question == "dead" && f.Verdict != verify.Proved {
			t.Errorf("%s %s", f.Verdict, f.Text)
		}
	}
	want := []string{"not leg1: refuted", "not leg2: refuted", "not leg3: refuted", "not (leg1 and leg2): proved",
		"leg2 -> waypoint ge 2: proved", "legs -> waypoint ge 1: proved"}
	if !slices.Equal(verdicts, want) {
		t.Errorf("%q", verdicts)
	}
	_, l := flown(t, m)
	for _, leg := range []string{"leg1", "leg2"} {
		if len(l.at(m, leg, bt.Running)) != 1 {
			t.Errorf("the flight has no %s", leg)
		}
	}
}
