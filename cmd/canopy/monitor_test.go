package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
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
		// A full battery is full to the accuracy of the solution.
		{"always (soc <= 1.000001 and h >= 5900 [m] and h <= 13.1 [km])", "satisfied", 1.000001 - slices.Max(log.Signal("soc")),
			math.NaN()},
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
	var rows []record.Property
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
		{[]string{dir}, []string{"run log"}},
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
	if err != nil {
		t.Fatal(err)
	}
	turned := func(at int) []byte {
		data := bytes.Clone(whole)
		data[at] ^= 1
		return data
	}
	for name, data := range map[string][]byte{"cut": whole[:2*len(whole)/3], "damaged": turned(2 * len(whole) / 3),
		"of a damaged mission": turned(bytes.Index(whole, []byte("check:")) - 2)} {
		file := filepath.Join(dir, "other.mcap")
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
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
		if err := os.Remove(filepath.Join(dir, "run.mcap")); err != nil {
			t.Fatal(err)
		}
	}
}

// The log names the values of discrete signals: properties, the table and the report use the names.
func TestNamesOfDiscreteValues(t *testing.T) {
	dir := write(t, map[string]string{
		"tank.vehicle.yaml": "vehicle: tank\nstates: {x: {unit: m, derivative: u}}\ncommands: {u: {unit: m/s, default: 1}}\n",
		"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="p"><ReactiveFallback>
			<ReactiveSequence><Condition ID="far" on="mode == home and high"/><Action ID="stay" write="u := 0"/></ReactiveSequence>
			<Action ID="fill" write="u := 1"/></ReactiveFallback></BehaviorTree></root>`,
		"m.yaml": `plan: p.xml
vehicle: tank.vehicle.yaml
horizon: 20
signals:
  mode: {type: enumeration, values: [cruise, home], value: "if(x lt 5 [m], cruise, home)"}
  high: {type: boolean, value: "x ge 7 [m]"}
  note: {type: text, value: "if(high, 'full', 'not yet')"}
plots: [{title: Mode, signals: [mode, high, note]}]
check: {properties: [always (mode == cruise or mode == home)]}
`})
	out := filepath.Join(dir, "out")
	stdout, stderr, status := canopy("run", filepath.Join(dir, "m.yaml"), "--out", out)
	if status != exitOK {
		t.Fatal(stderr)
	}
	for _, row := range []string{"mode +1 +cruise +.* home ", "high +1 +false +.* true ", "note +1 +"} {
		if !regexp.MustCompile(row).MatchString(stdout) {
			t.Errorf("the table has no row %s:\n%s", row, stdout)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil || !bytes.Contains(page, []byte(`<td class="number">cruise</td>`)) {
		t.Errorf("the report does not name the values: %v", err)
	}
	for _, run := range []string{filepath.Join(dir, "m.yaml"), out} {
		for property, verdict := range map[string]string{
			"":                                    "satisfied",
			"always (mode == cruise)":             "violated",
			"(mode == cruise) until (x ge 5 [m])": "satisfied",
			"always (stay -> high and note == 'full')":     "satisfied",
			"always (high -> mode == home)":                "satisfied",
			"always (mode != cruise or note == 'not yet')": "satisfied",
		} {
			args := []string{"monitor", run, "--json"}
			if property != "" {
				args = append(args, "--property", property)
			}
			stdout, stderr, _ := canopy(args...)
			if !strings.Contains(stdout, `"verdict": "`+verdict+`"`) {
				t.Errorf("%s, %q: %s%s", run, property, stdout, stderr)
			}
		}
		for property, message := range map[string]string{
			"always (mode == crusie)": `did you mean "cruise"`,
			"always (mode > 1)":       "is a value of an enumeration",
			"always x":                `write a relation such as "x > 0 [m]"`,
		} {
			if _, stderr, status := canopy("monitor", run, "--property", property); status != exitInput ||
				!strings.Contains(stderr, message) {
				t.Errorf("%s, %q: exit status %d, %s", run, property, status, stderr)
			}
		}
	}
}
