package main

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
	"github.com/canopy-uav/canopy/ode"
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
	for _, p := range problems.All() {
		for _, m := range ode.Methods() {
			if !suits(p, m) {
				continue
			}
			r, err := run(p, m, 1e-4)
			if err != nil {
				t.Fatal(err)
			}
			if (r.Error != nil) != (p.Want != nil) || r.Error != nil && *r.Error > 1e-4*p.Growth {
				t.Errorf("%s %v: error %v", p.Name, m, r.Error)
			}
			// Over a month the phase of a thermostat drifts by the tolerance, so there may be one event more or fewer.
			off := math.Abs(float64(r.Events - len(p.Events)))
			if p.Zeno == 0 && (off > 1e-4*float64(len(p.Events)) || *r.KnownEvents != len(p.Events)) {
				t.Errorf("%s %v: %d events", p.Name, m, r.Events)
			}
			if (r.EventError != nil) != (p.Events != nil && off == 0 || p.Zeno > 0) {
				t.Errorf("%s %v: event error %v", p.Name, m, r.EventError)
			}
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

// Only the lines of the events are printed, `t index`; the method is the automatic one, the tolerance 1e-6. Of the solar
// day there are 418, each within 0.05 s.
func TestEvents(t *testing.T) {
	out, _ := call(t, exitOK, "-problem", "solar72", "-events")
	checkEvents(t, out, problems.Solar72.Events, 0.05)
	for _, p := range []*problems.Problem{problems.Robertson, problems.VanDerPol, problems.BouncingBall} {
		for _, args := range [][]string{nil, {"-method", "implicit", "-rtol", "1e-8"}} {
			out, _ := call(t, exitOK, append(args, "-problem", p.Name, "-events")...)
			checkEvents(t, out, p.Events, 1e-5*p.Events[len(p.Events)-1].T)
		}
	}
	if out, _ := call(t, exitOK, "-problem", "hires", "-events"); out != "" {
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
		`-rtol 2: a relative tolerance lies between 0 and 1`:     {"-rtol", "2"},
		`-events needs -problem`:                                 {"-events"},
		`oregonator is stiff`:                                    {"-problem", "oregonator", "-method", "explicit"},
		`unexpected argument "hires"`:                            {"hires"},
		`flag provided but not defined: -tolerance`:              {"-tolerance", "1"},
	} {
		out, err := call(t, exitInput, args...)
		if out != "" || !strings.Contains(err, message) || !strings.Contains(err, "see -help") {
			t.Errorf("%v: %q%q, want %q", args, out, err, message)
		}
	}
}

func TestHelp(t *testing.T) {
	out, _ := call(t, exitOK, "-help")
	for _, p := range problems.All() {
		if !strings.Contains(out, "\n  "+p.Name+" ") {
			t.Errorf("the help does not list %s", p.Name)
		}
	}
	for _, word := range []string{"-problem NAME", "-method NAME", "-rtol R", "-events\n"} {
		if !strings.Contains(out, word) {
			t.Errorf("the help does not explain %s", word)
		}
	}
}
