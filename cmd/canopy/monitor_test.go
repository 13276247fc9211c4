package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/record"
)

// The solar day is judged alike when it is flown, from its folder and from its log, and at the times of the log.
func TestMonitorSolarDay(t *testing.T) {
	out := t.TempDir()
	if _, stderr, status := canopy("run", solarDay, "--out", out, "--quiet"); status != exitOK {
		t.Fatal(stderr)
	}
	f, err := os.Open(filepath.Join(out, "run.mcap"))
	must(t, err)
	defer f.Close() //nolint:errcheck // only read
	var log record.Log
	log.End, err = record.Play(f, log.Begin)
	must(t, err)
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
	tests := []struct{ property, want string }{
		{"never both(climb, sink)", "satisfied - -"},
		{"never sink", fmt.Sprint("violated - ", sink)},
		{"always (sink -> for 1 [h] (not mission))", fmt.Sprint("violated - ", again)},
		{"always (critical -> within 0 [s] (sink or hold))", "satisfied - -"},
		{"always (soc >= 0.1)", fmt.Sprintf("satisfied %v -", least-0.1)},
		{"after climb, (at_top before sink)", "satisfied - -"},
		// A full battery is full to the accuracy of the solution.
		{"always (soc <= 1.000001 and h >= 5900 [m] and h <= 13.1 [km])",
			fmt.Sprintf("satisfied %v -", 1.000001-slices.Max(log.Signal("soc")))},
		{"always (hold -> within 48 [h] surplus)", "open - -"},
	}
	var flags []string
	for _, test := range tests {
		flags = append(flags, "--property", test.property)
	}
	first, stderr, status := canopy(append([]string{"monitor", solarDay, "--json"}, flags...)...)
	if status != exitRefute {
		t.Fatalf("status %d, %s", status, stderr)
	}
	var rows []record.Property
	must(t, json.Unmarshal([]byte(first), &rows))
	number := func(p *float64) any {
		if p == nil {
			return "-"
		}
		return *p
	}
	for i, test := range tests {
		r := rows[i]
		if got := fmt.Sprint(r.Verdict, " ", number(r.Margin), " ", number(r.At)); got != test.want {
			t.Errorf("%s: %s, want %s", r.Property, got, test.want)
		}
	}
	for _, run := range []string{out, filepath.Join(out, "run.mcap")} {
		if other, _, status := canopy(append([]string{"monitor", run, "--json"}, flags...)...); status != exitRefute || other != first {
			t.Errorf("%s: status %d, other answers:\n%s", run, status, other)
		}
	}
	// The properties that the mission declares are judged without --property, from the mission and from the log.
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
		{[]string{"../../examples/08-finite-time/boat.yaml"}, []string{"no properties"}},
		{[]string{"none.mcap"}, []string{"none.mcap", "no such file"}},
		{[]string{dir}, []string{"the log of a run"}},
	} {
		stdout, stderr, status := canopy(append([]string{"monitor"}, test.args...)...)
		if status != exitInput || stdout != "" {
			t.Errorf("%v: status %d, stdout %q", test.args, status, stdout)
		}
		says(t, strings.Join(test.args, " "), stderr, test.wants...)
	}
}

// A log that is not whole is not believed beyond its end, and the exit status shows this.
func TestMonitorBelievesWholeLogs(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "run")
	if _, stderr, status := canopy("run", solarDay, "--out", out, "--quiet"); status != exitOK {
		t.Fatal(stderr)
	}
	whole, err := os.ReadFile(filepath.Join(out, "run.mcap"))
	must(t, err)
	turned := func(at int) []byte {
		data := bytes.Clone(whole)
		data[at] ^= 1
		return data
	}
	for name, data := range map[string][]byte{"cut": whole[:2*len(whole)/3], "damaged": turned(2 * len(whole) / 3),
		"of a damaged mission": turned(bytes.Index(whole, []byte("check:")) - 2)} {
		file := filepath.Join(dir, "other.mcap")
		must(t, os.WriteFile(file, data, 0o666))
		stdout, stderr, status := canopy("monitor", file, "--property", "always (soc >= 0.1)", "--property", "eventually climb")
		if status != exitFailed {
			t.Errorf("%s: status %d", name, status)
		}
		says(t, name, stdout, "1 satisfied, 0 violated, 1 open", "open       always (soc >= 0.1)", "open    beyond", "the log is")
		says(t, name, stderr, "it contains nothing after")
		stdout, _, status = canopy("monitor", file, "--property", "never climb")
		if status != exitRefute || !strings.Contains(stdout, "VIOLATED") {
			t.Errorf("%s: status %d\n%s", name, status, stdout)
		}
		_, _, status = canopy("report", dir)
		if _ = os.Rename(file, filepath.Join(dir, "run.mcap")); status == exitOK {
			t.Error("a report of no log")
		}
		want := exitFailed
		if name == "cut" { // as that of a run in progress
			want = exitOK
		}
		if stdout, stderr, status = canopy("report", dir); status != want || (status == exitOK) != (stderr == "") {
			t.Errorf("%s: the report has status %d\n%s%s", name, status, stdout, stderr)
		}
		says(t, "the report", stdout, map[bool]string{true: "cut off: ", false: "damaged: "}[name == "cut"])
		if stdout, _, status = canopy("report", out, dir); status != want || !strings.Contains(stdout, overlayFile) {
			t.Errorf("%s: the report of two runs has status %d\n%s", name, status, stdout)
		}
		must(t, os.Remove(filepath.Join(dir, "run.mcap")))
	}
}
