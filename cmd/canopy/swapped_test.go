package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/simulated"
)

// swapped flies the circuit with a plan that is exchanged at 20 s, in the take-off, and returns its folder. The new
// plan climbs under another name, and has all else in another order of tasks.
func swapped(t *testing.T) string {
	t.Helper()
	m, err := readMission("../../missions/circuit.yaml", nil, io.Discard)
	must(t, err)
	r, err := simulated.New(m, run.Continuous{}, 300)
	must(t, err)
	text := fileText(t, "../../missions/circuit.xml")
	next := strings.NewReplacer(`name="take_off"`, `name="climb"`, `<SubTree ID="round"/>`,
		`<Condition name="high" on="h ge 10 [m]"/><SubTree ID="round"/>`).Replace(text)
	out, done := filepath.Join(t.TempDir(), "swapped"), false
	if _, err := folder.Fly(context.Background(), r, out, folder.Options{Observe: func() {
		if r.T() >= 20 && !done {
			done = true
			m, list := r.Mission().WithPlan(&diag.Source{Name: "next.xml", Text: next})
			if m == nil {
				t.Fatal(list)
			}
			must(t, r.Exchange(m, false))
		}
	}}); err != nil || !done {
		t.Fatal(err)
	}
	return out
}

// TestReadersOfAnExchange: the readers of logs know the tasks of the plan at each time.
func TestReadersOfAnExchange(t *testing.T) {
	out := swapped(t)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"circuit: ", []string{"why", out, "circuit", "10"}},
		{"because the run begins", []string{"why", out, "take_off", "10"}},
		{"because another plan is to take over", []string{"why", out, "take_off"}},
		{"because h >= 200 [m] (h = 200 m)", []string{"why", out, "climb"}},
		{"because the plan circuit takes over", []string{"why", out, "climb", "20.5"}},
		{"distance = ", []string{"why", out, "reached"}},
		{"did you mean", []string{"why", out, "clim"}},
		{"report.html", []string{"report", out}},
		{"1 satisfied", []string{"monitor", out, "--property", "always (h ge 0)"}},
		{"1 violated", []string{"monitor", out, "--property", "always (take_off -> t le 10)"}},
		{"plan    only the plan from 0 s to 20.", []string{"monitor", out, "--property", "always (take_off -> t le 10)"}},
		{"1 satisfied", []string{"monitor", out, "--property", "always (climb -> t ge 20)"}},
		{"1 violated", []string{"monitor", out, "--property", "always (climb -> t ge 30)"}},
		{"plan    only the plan from 20.", []string{"monitor", out, "--property", "eventually climb"}},
		{"--property:1:12: error", []string{"monitor", out, "--property", "eventually clim"}},
	} {
		stdout, stderr, _ := canopy(c.args...)
		if !strings.Contains(stdout+stderr, c.want) || strings.Contains(stdout+stderr, "panic") {
			t.Errorf("%v:\n%s%s", c.args, stdout, stderr)
		}
	}
}
