package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/run/record"
)

// The solar day is judged alike when it is flown, from its folder and from its log, and at the times of the log.
func TestMonitorSolarDay(t *testing.T) {
	out := t.TempDir()
	if _, stderr, status := canopy("run", solarDay, "--out", out, "--quiet"); status != exitOK {
		t.Fatal(stderr)
	}
	f, err := os.Open(filepath.Join(out, "run.mcap"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	log, err := record.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	became := func(name string, to bt.Status, after float64) float64 {
		for _, c := range log.Changes {
			if log.Tasks[c.Task].Name == name && c.To == to && c.T > after {
				return c.T
			}
		}
		t.Fatalf("%s never became %s", name, to)
		return 0
	}
	least := slices.Min(log.Signal("soc"))
	sink := became("sink", bt.Running, 0)
	again := became("mission", bt.Running, sink)
	tests := []struct {
		property, verdict string
		margin, at        float64 // NaN: none
	}{
		{"never both(climb, sink)", "satisfied", math.NaN(), math.NaN()},
		{"never sink", "violated", math.NaN(), sink},
		{"always (sink -> for 1 [h] (not mission))", "violated", math.NaN(), again},
		{"always (critical -> within 0 [s] (sink or hold))", "satisfied", math.NaN(), math.NaN()},
		{"always (soc >= 0.1)", "satisfied", least - 0.1, math.NaN()},
		{"after climb, (at_top before sink)", "satisfied", math.NaN(), math.NaN()},
		{"always (soc <= 1 and h >= 5900 [m] and h <= 13.1 [km])", "satisfied", 1 - slices.Max(log.Signal("soc")), math.NaN()},
		{"always (hold -> within 48 [h] surplus)", "open", math.NaN(), math.NaN()},
	}
	var flags []string
	for _, test := range tests {
		flags = append(flags, "--property", test.property)
	}
	first, stderr, status := canopy(append([]string{"monitor", solarDay, "--json"}, flags...)...)
	if status != exitRefute {
		t.Fatalf("status %d, %s", status, stderr)
	}
	var rows []judged
	if err := json.Unmarshal([]byte(first), &rows); err != nil {
		t.Fatal(err)
	}
	number := func(p *float64) float64 {
		if p == nil {
			return math.NaN()
		}
		return *p
	}
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	for i, test := range tests {
		r := rows[i]
		if r.Verdict != test.verdict || !same(number(r.Margin), test.margin) || !same(number(r.At), test.at) {
			t.Errorf("%s: %s, margin %g, at %g; want %+v", r.Property, r.Verdict, number(r.Margin), number(r.At), test)
		}
	}
	for _, run := range []string{out, filepath.Join(out, "run.mcap")} {
		if other, _, status := canopy(append([]string{"monitor", run, "--json"}, flags...)...); status != exitRefute || other != first {
			t.Errorf("%s: status %d, other answers:\n%s", run, status, other)
		}
	}
	// What the mission declares is judged without --property, from the mission and from what the log carries of it.
	for _, run := range []string{solarDay, out} {
		stdout, stderr, status := canopy("monitor", run)
		if status != exitOK || !strings.Contains(stdout, "critical before sink") || strings.Contains(stdout, "VIOLATED") {
			t.Errorf("%s: status %d\n%s%s", run, status, stdout, stderr)
		}
	}
	stdout, _, _ := canopy("monitor", out, "--property", "never sink", "--property", "for 30 [h] (soc > 0)")
	says(t, "the text", stdout, "0 satisfied, 1 violated, 1 open", "VIOLATED   never sink", "at      19:18:04", "the run ends before")
}

func TestMonitorWrongInput(t *testing.T) {
	dir := write(t, map[string]string{"run.mcap": "no log", "other.mcap": ""})
	for _, test := range []struct {
		args  []string
		wants []string
	}{
		{[]string{solarDay, "--property", "always (sock > 1)", "--property", "never both(climb, sinc)"},
			[]string{"--property:1:9", `did you mean "soc"`, "--property:1:19", `did you mean "sink"`}},
		{[]string{"../../missions/circuit.yaml"}, []string{"no properties"}},
		{[]string{"none.mcap"}, []string{"none.mcap", "no such file"}},
		{[]string{dir}, []string{"run log"}},
	} {
		stdout, stderr, status := canopy(append([]string{"monitor"}, test.args...)...)
		if status != exitInput || stdout != "" {
			t.Errorf("%v: status %d, stdout %q", test.args, status, stdout)
		}
		says(t, strings.Join(test.args, " "), stderr, test.wants...)
	}
}

// A trace has both sides of each change, whether the log has a sample there, two or none; what is undone at one time is
// not seen, nor how a run that failed is stopped.
func TestTraceOf(t *testing.T) {
	change := func(at float64, to bt.Status) record.Change {
		return record.Change{T: at, Change: bt.Change{Task: 0, To: to}}
	}
	log := &record.Log{
		Header: record.Header{Tasks: []record.Task{{Name: "a", Kind: "Action", Initial: bt.Accept}},
			Signals: []record.Signal{{Name: "x"}}},
		T:      []float64{0, 2, 4, 4, 6, 8},
		Values: [][]float64{{0, 2, 4, 10, 12, 14}},
		Changes: []record.Change{change(0, bt.Activating), change(1, bt.Accept), change(2, bt.Running), change(4, bt.Accept),
			change(5, bt.Running), change(5, bt.Accept), change(8, bt.Running), change(9, bt.Accept)},
		End: record.End{Summary: &record.Summary{Outcome: record.Failed, Ended: 9}},
	}
	tr := traceOf(log)
	wantT := []float64{0, 1, 1, 2, 2, 4, 4, 5, 5, 6, 8, 8}
	wantX := []float64{0, 1, 1, 2, 2, 4, 10, 11, 11, 12, 14, 14}
	wantA := []bool{true, true, false, false, true, true, false, false, false, false, false, true}
	if !slices.Equal(tr.T, wantT) || !slices.Equal(tr.Signals["x"], wantX) || !slices.Equal(tr.Tasks["a"], wantA) {
		t.Errorf("%v\n%v\n%v", tr.T, tr.Signals["x"], tr.Tasks["a"])
	}
}
