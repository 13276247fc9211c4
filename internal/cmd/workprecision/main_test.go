package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"canopy/internal/problems"
	"canopy/ode"
)

// call runs one command line, which must end with this status.
func call(t *testing.T, status int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	if got := execute(args, &out, &err); got != status {
		t.Fatalf("%v: exit status %d, want %d\n%s", args, got, status, err.String())
	}
	return out.String(), err.String()
}

// Every problem is solved by every method that is meant for it, also at the loosest tolerance of the table.
func TestWholeTable(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: not all problems, which ode and sim solve in their own tests")
	}
	out, _ := call(t, exitOK, "-rtol", "1e-4", "-json")
	var list []map[string]any
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	runs := map[string]int{}
	for _, r := range list {
		name, what := r["problem"].(string), fmt.Sprint(r["problem"], " ", r["method"])
		runs[name]++
		p, err := choose("problem", name, problems.All(), func(p *problems.Problem) string { return p.Name })
		if err != nil {
			t.Fatal(err)
		}
		e, known := r["error"].(float64)
		if known != (p.Want != nil) || e > 1e-4*p.Growth {
			t.Errorf("%s: error %v", what, r["error"])
		}
		// Over a month the phase of a thermostat drifts by the tolerance, so there may be one event more or fewer.
		events, _ := r["events"].(float64)
		off := math.Abs(events - float64(len(p.Events)))
		if p.Zeno == 0 && (off > 1e-4*float64(len(p.Events)) || r["known_events"] != float64(len(p.Events))) {
			t.Errorf("%s: events %v of %v", what, r["events"], r["known_events"])
		}
		_, known = r["event_error_s"].(float64)
		if known != (p.Events != nil && off == 0 || p.Zeno > 0) {
			t.Errorf("%s: event error %v", what, r["event_error_s"])
		}
		for _, key := range []string{"rtol", "steps", "rhs_evaluations", "cpu_s"} {
			if x, _ := r[key].(float64); !(x > 0) {
				t.Errorf("%s: %s is %v", what, key, r[key])
			}
		}
	}
	for _, p := range problems.All() {
		if want := meant(p); runs[p.Name] != want {
			t.Errorf("%s: %d runs, want %d", p.Name, runs[p.Name], want)
		}
	}
}

// meant returns how many methods are meant for a problem.
func meant(p *problems.Problem) (n int) {
	for _, m := range ode.Methods() {
		if suits(p, m) {
			n++
		}
	}
	return n
}

// The text has one line per run, its columns under their titles, and one about CVODE.
func TestTableIsAligned(t *testing.T) {
	out, _ := call(t, exitOK, "-problem", "Robertson")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 1+4*meant(problems.Robertson)+1 || !strings.HasPrefix(lines[len(lines)-1], "CVODE") {
		t.Fatalf("%d lines:\n%s", len(lines), out)
	}
	for _, line := range lines[:len(lines)-1] {
		if len(line) != len(lines[0]) {
			t.Errorf("not aligned:\n%s", out)
		}
	}
	if row := strings.Fields(lines[6]); row[0] != "robertson" || row[1] != "implicit" || row[2] != "1e-06" || row[4] != "2/2" {
		t.Errorf("row %v", row)
	}
}

// The 418 events of the solar day at 1e-6, each within 0.05 s, are written one per line, `t index`.
func TestEventsOfTheSolarDay(t *testing.T) {
	name := filepath.Join(t.TempDir(), "events.txt")
	out, _ := call(t, exitOK, "-problem", "solar72", "-rtol", "1e-6", "-events", name)
	if !strings.Contains(out, "418/418") {
		t.Errorf("table:\n%s", out)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	checkEvents(t, string(text), problems.Solar72.Events, 0.05)
}

// With "-" only the lines are printed; the method is the automatic one, the tolerance 1e-6.
func TestEventsToTheStandardOutput(t *testing.T) {
	for _, p := range []*problems.Problem{problems.Robertson, problems.VanDerPol, problems.BouncingBall} {
		for _, args := range [][]string{nil, {"-json"}, {"-method", "implicit", "-rtol", "1e-8"}} {
			out, _ := call(t, exitOK, append(args, "-problem", p.Name, "-events", "-")...)
			checkEvents(t, out, p.Events, 1e-5*p.Events[len(p.Events)-1].T)
		}
	}
	if out, _ := call(t, exitOK, "-problem", "hires", "-events", "-"); out != "" {
		t.Errorf("events of a problem without: %q", out)
	}
}

func checkEvents(t *testing.T, text string, want []problems.Event, tolerance float64) {
	t.Helper()
	form := regexp.MustCompile(`^\d+\.\d{9,} \d+$`)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d events, want %d", len(lines), len(want))
	}
	for k, line := range lines {
		var e problems.Event
		if _, err := fmt.Sscan(line, &e.T, &e.Index); err != nil || !form.MatchString(line) {
			t.Fatalf("line %q: %v", line, err)
		}
		if e.Index != want[k].Index || math.Abs(e.T-want[k].T) > tolerance {
			t.Fatalf("event %d is %q, want %v", k, line, want[k])
		}
	}
}

func TestMistakes(t *testing.T) {
	for message, args := range map[string][]string{
		`unknown problem "robertsen": did you mean "robertson"?`: {"-problem", "robertsen"},
		`unknown problem "xyz": known are mode-0.001, `:          {"-problem", "xyz"},
		`unknown method "implizit": did you mean "implicit"?`:    {"-method", "implizit"},
		`-rtol 0: a relative tolerance lies between 0 and 1`:     {"-rtol", "0"},
		`-events needs -problem`:                                 {"-events", "-"},
		`oregonator is stiff`:                                    {"-problem", "oregonator", "-method", "explicit"},
		`unexpected argument "hires"`:                            {"hires"},
		`flag provided but not defined: -tolerance`:              {"-tolerance", "1"},
	} {
		out, err := call(t, exitInput, args...)
		if out != "" || !strings.Contains(err, message) || !strings.Contains(err, "see -help") {
			t.Errorf("%v: %q%q, want %q", args, out, err, message)
		}
	}
	_, err := call(t, exitFailed, "-problem", "zeno", "-events", filepath.Join(t.TempDir(), "none", "events.txt"))
	if !strings.Contains(err, "events.txt") {
		t.Errorf("a file that cannot be written: %q", err)
	}
}

func TestHelp(t *testing.T) {
	out, _ := call(t, exitOK, "-help")
	for _, p := range problems.All() {
		if !strings.Contains(out, "\n  "+p.Name+" ") {
			t.Errorf("the help does not list %s", p.Name)
		}
	}
	for _, word := range []string{"-problem NAME", "-method NAME", "-rtol R", "-events FILE\n", "-json"} {
		if !strings.Contains(out, word) {
			t.Errorf("the help does not explain %s", word)
		}
	}
}
