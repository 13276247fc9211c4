package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

const (
	solarDay = "../../missions/solar-day.yaml"
	circuit  = "../../missions/circuit-plane.yaml"
)

// canopy runs a command line and returns its output and its exit status.
func canopy(args ...string) (stdout, stderr string, status int) {
	var out, err bytes.Buffer
	status = execute(args, &out, &err)
	return out.String(), err.String(), status
}

// write writes files into a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		save(t, filepath.Join(dir, name), text)
	}
	return dir
}

func says(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s does not say %q:\n%s", what, p, text)
		}
	}
}

func TestRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a", "b")
	stdout, stderr, status := canopy("run", solarDay, "--until", "12h", "--out", out)
	if status != exitOK || stderr != "" {
		t.Fatalf("status %d, stderr %s", status, stderr)
	}
	says(t, "the table", stdout, "climb", "state", "soc", "12:00:00")
	for _, name := range []string{"run.mcap", "status.csv", "signals.csv", "summary.json", "report.html"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	must(t, err)
	again, stderr, status := canopy("report", out)
	if status != exitOK || again != stdout {
		t.Errorf("canopy report: status %d, %s, and another table:\n%s", status, stderr, again)
	}
	if second, err := os.ReadFile(filepath.Join(out, "report.html")); err != nil || !bytes.Equal(page, second) {
		t.Errorf("the report from the log is not that of the run: %v", err)
	}
}

// Without a report there is none, also not that of an earlier run; the table is printed unless it is not wanted.
func TestRunWithoutReport(t *testing.T) {
	out := t.TempDir()
	for _, c := range []struct {
		options []string
		table   bool
	}{{nil, true}, {[]string{"--report=false"}, true}, {[]string{"--report=false", "-q"}, false}} {
		stdout, stderr, status := canopy(append([]string{"run", solarDay, "--until", "600", "--out", out}, c.options...)...)
		_, err := os.Stat(filepath.Join(out, "report.html"))
		if written := err == nil; status != exitOK || written != (c.options == nil) || strings.Contains(stdout, "report:") != written {
			t.Errorf("%v: status %d, report written: %v\n%s%s", c.options, status, written, stdout, stderr)
		}
		if strings.Contains(stdout, "status changes") != c.table {
			t.Errorf("%v: printed %q", c.options, stdout)
		}
	}
}

func TestRunJSON(t *testing.T) {
	out := t.TempDir()
	stdout, _, status := canopy("run", solarDay, "--until", "3600", "--out", out, "--json", "--set", "battery.E_Wh=5000", "--set", "tolerance=1e-5")
	if status != exitOK {
		t.Fatal(status)
	}
	var summary map[string]any
	must(t, json.Unmarshal([]byte(stdout), &summary))
	for _, key := range []string{"cpu_s", "steps", "rhs_evaluations", "jacobians", "state_events", "time_events", "max_event_iterations", "ended", "outcome", "reason"} {
		if _, ok := summary[key]; !ok {
			t.Errorf("no %s in %s", key, stdout)
		}
	}
	all, _ := summary["cpu_s"].(float64)
	if flight, ok := summary["cpu_flight_s"].(float64); !ok || !(0 < flight && flight <= all) {
		t.Errorf("the flight has cost %v s of %v s", summary["cpu_flight_s"], all)
	}
	if summary["ended"] != 3600.0 {
		t.Errorf("ended at %v, want 3600", summary["ended"])
	}
	if file, err := os.ReadFile(filepath.Join(out, "summary.json")); err != nil || string(file) != stdout {
		t.Errorf("summary.json differs from what --json prints: %v\n%s", err, file)
	}
}

// A run that fails: exit status 1, one message with the time, and files that open.
func TestFailedRuns(t *testing.T) {
	head := "plan: plan.xml\nvehicle: solar\nhorizon: 86400\n"
	plan := func(body string) string {
		return `<root BTCPP_format="4"><BehaviorTree ID="main">` + body + `</BehaviorTree></root>`
	}
	for name, c := range map[string]struct {
		yaml, plan string
		wants      []string
		ended      float64
	}{
		"NaN at noon": {head, plan(`<Action ID="a" write="h_cmd := 6000 [m] + sqrt((43200 [s] - t) / 1 [s]) * 0 [m]"/>`), []string{"not finite", "w", "4320"}, 43200},
		"never settles": {head, plan(`<ReactiveFallback><ReactiveSequence><Condition ID="low" on="h_cmd lt 7000 [m]"/><Action ID="up" write="h_cmd := 8000 [m]"/></ReactiveSequence>
			<Action ID="down" write="h_cmd := 6000 [m]"/></ReactiveFallback>`), []string{"do not settle", "low", "up", "down"}, 0},
		"chattering": {head, plan(`<ReactiveFallback><ReactiveSequence><Condition ID="high" on="w gt 0.1 [m/s]"/><Action ID="down" write="h_cmd := 5000 [m]"/></ReactiveSequence>
			<Action ID="up" write="h_cmd := 7000 [m]"/></ReactiveFallback>`), []string{"chattering", "w > 0.1"}, -1},
	} {
		dir := write(t, map[string]string{"m.yaml": c.yaml, "plan.xml": c.plan})
		out := filepath.Join(dir, "out")
		_, stderr, status := canopy("run", filepath.Join(dir, "m.yaml"), "--out", out)
		if status != exitFailed {
			t.Errorf("%s: status %d, want %d: %s", name, status, exitFailed, stderr)
		}
		says(t, name, stderr, c.wants...)
		log := readLog(t, out)
		if log.Summary == nil || c.ended >= 0 && math.Abs(log.Summary.Ended-c.ended) > 1 || log.Summary.Outcome != record.Failed {
			t.Errorf("%s: the log ends with %+v, want %g s", name, log.Summary, c.ended)
		}
		if page, err := os.ReadFile(filepath.Join(out, "report.html")); err != nil || len(page) == 0 {
			t.Errorf("%s: no report: %v", name, err)
		}
	}
}

func readLog(t *testing.T, out string) *record.Log {
	t.Helper()
	f, err := os.Open(filepath.Join(out, "run.mcap"))
	must(t, err)
	defer f.Close() //nolint:errcheck // only read
	log := &record.Log{}
	log.End, err = record.Play(f, log.Begin)
	must(t, err)
	return log
}

// An output folder that cannot be made or written is a failed run.
func TestOutputFolder(t *testing.T) {
	dir := write(t, map[string]string{"file": ""})
	_, stderr, status := canopy("run", solarDay, "--until", "60", "--out", filepath.Join(dir, "file", "out"))
	if status != exitFailed {
		t.Errorf("a folder below a file: status %d", status)
	}
	says(t, "the message", stderr, "file")
}

// A full disk is a failed run, and reported once. One that is full at the start leaves what an earlier run has written.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no device here that is always full, as Linux has it")
	}
	full := t.TempDir()
	must(t, os.Symlink("/dev/full", filepath.Join(full, "signals.csv")))
	save(t, filepath.Join(full, "summary.json"), "old")
	_, stderr, status := canopy("run", solarDay, "--until", "10h", "--out", full)
	if status != exitFailed {
		t.Errorf("a full disk: status %d", status)
	}
	says(t, "the message", stderr, "signals.csv", "the disk is full")
	if strings.Count(stderr, "the disk is full") != 1 {
		t.Errorf("the message comes more than once: %s", stderr)
	}
	if old, err := os.ReadFile(filepath.Join(full, "summary.json")); err != nil || string(old) != "old" {
		t.Errorf("the summary of the earlier run is lost: %q, %v", old, err)
	}
}

// TestLogLimit: a run whose log reaches its limit says so and what would help, leaves everything that an interrupted one
// leaves, and goes on with a higher limit to the same bytes.
func TestLogLimit(t *testing.T) {
	dir := t.TempDir()
	whole, out := filepath.Join(dir, "whole"), filepath.Join(dir, "out")
	fly := func(out string, more ...string) (string, int) {
		_, stderr, status := canopy(append([]string{"run", solarDay, "-q", "--report=false", "--out", out}, more...)...)
		return stderr, status
	}
	if stderr, status := fly(whole); status != exitOK {
		t.Fatal(stderr)
	}
	stderr, status := fly(out, "--log-limit", "1")
	if status != exitFailed {
		t.Errorf("status %d", status)
	}
	says(t, "the message", stderr, "interrupted: the log is full: its limit is 1 MiB", "--resume continues", "--log-limit")
	summary, err := os.ReadFile(filepath.Join(out, "summary.json"))
	must(t, err)
	says(t, "the summary", string(summary), `"interrupted"`, `"the log is full: its limit is 1 MiB"`)
	if stderr, status := fly(out, "--resume"); status != exitOK {
		t.Fatal(stderr)
	}
	for _, name := range []string{"run.mcap", "status.csv", "signals.csv"} {
		a, e1 := os.ReadFile(filepath.Join(whole, name))
		b, e2 := os.ReadFile(filepath.Join(out, name))
		if e1 != nil || e2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v %v", name, e1, e2)
		}
	}
	if stderr, status := fly(out, "--log-limit", "0"); status != exitInput {
		t.Errorf("no limit: %d, %s", status, stderr)
	}
}

// TestLogIsLost: a run whose log cannot be completed, because the disk is full or its folder was removed, says so, prints
// its table, and fails; a folder that was removed is not made again.
func TestLogIsLost(t *testing.T) {
	if line := os.Getenv(child); line != "" {
		signal.Ignore(syscall.SIGXFSZ)
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100_000, Max: 100_000}))
		os.Exit(execute(strings.Split(line, "\n"), os.Stdout, os.Stderr))
	}
	for _, args := range [][]string{{"run", solarDay, "--until", "10h"}, {"fly", circuit, "--link", "fake:plane"}} {
		args = append(args, "--out", filepath.Join(t.TempDir(), "out"))
		c := exec.Command(os.Args[0], "-test.run", "^TestLogIsLost$")
		c.Env = append(os.Environ(), child+"="+strings.Join(args, "\n"))
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		_ = c.Run()
		stdout, stderr, status := out.String(), errs.String(), c.ProcessState.ExitCode()
		if status != exitFailed {
			t.Errorf("%s: a full disk: status %d", args[0], status)
		}
		says(t, args[0], stderr, "run.mcap", "file too large")
		says(t, args[0], stdout, "mission  ", "plan  ")
	}
	for _, from := range []string{"run.mcap", "run.box"} { // before the black box is created, and in flight
		gone := filepath.Join(t.TempDir(), "gone")
		removed := make(chan error)
		go func() {
			for {
				if _, err := os.Stat(filepath.Join(gone, from)); err == nil {
					removed <- os.Rename(gone, gone+".elsewhere")
					return
				}
				runtime.Gosched()
			}
		}()
		stdout, stderr, status := canopy("fly", circuit, "--link", "fake:plane", "--out", gone)
		must(t, <-removed)
		if status != exitFailed {
			t.Errorf("a folder that was removed: status %d", status)
		}
		says(t, "the message", stderr, "run.mcap", "removed or replaced")
		says(t, "the table", stdout, "mission  ")
		if _, err := os.Stat(gone); err == nil {
			t.Error("the folder was made again")
		}
	}
}

// TestFlightsArePrivate: the folder of a flight and its files are for its user only; those of a run are not.
func TestFlightsArePrivate(t *testing.T) {
	out := filepath.Join(t.TempDir(), "flight")
	if _, stderr, status := canopy("fly", circuit, "--link", "fake:plane", "--out", out, "--tlog"); status != exitOK {
		t.Fatalf("status %d: %s", status, stderr)
	}
	files, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(files) < 7 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range append(files, out) {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if mask := syscall.Umask(0o022); mask == 0o077 {
		t.Error("other commands are changed")
	} else {
		syscall.Umask(mask)
	}
}

// A folder that may only be read is a failed run.
func TestReadOnlyFolder(t *testing.T) {
	read := t.TempDir()
	must(t, os.Chmod(read, 0o555))
	if os.Mkdir(filepath.Join(read, "try"), 0o777) == nil {
		t.Skip("no folder is read-only for root")
	}
	_, stderr, status := canopy("run", solarDay, "--until", "60", "--out", filepath.Join(read, "out"))
	if status != exitFailed {
		t.Errorf("a read-only folder: status %d", status)
	}
	says(t, "the message", stderr, "permission denied")
}

// Interrupted: an error that states this, and complete files up to that time.
func TestInterrupt(t *testing.T) {
	m, diags := mission.Read(solarDay, os.ReadFile, equations.Offers(), nil)
	if m == nil {
		t.Fatal(diags)
	}
	r, err := simulated.New(m, run.Continuous{}, math.Inf(1))
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := t.TempDir()
	var table bytes.Buffer
	_, err = folder.Fly(ctx, r, out, folder.Options{Table: &table})
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Fatalf("error %v", err)
	}
	if log := readLog(t, out); log.Summary == nil || log.Summary.Outcome != record.Interrupted {
		t.Errorf("the log's summary is %+v", log.Summary)
	}
	says(t, "the table", table.String(), "interrupted")
	if _, stderr, status := canopy("run", solarDay, "-q", "--out", out, "--resume"); status != exitOK {
		t.Errorf("the interrupted run is not resumed: %s", stderr)
	}
	if log := readLog(t, out); log.Summary == nil || log.Summary.Outcome != record.Complete {
		t.Errorf("the resumed log's summary is %+v", log.Summary)
	}
}

// A run that is interrupted, or killed after a checkpoint, is resumed by the same command with --resume, and leaves the
// files of a run that was not; a checkpoint that does not serve is refused, and nothing is touched.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	whole, part := filepath.Join(dir, "whole"), filepath.Join(dir, "part")
	run := func(out string, more ...string) (string, int) {
		_, stderr, status := canopy(append([]string{"run", solarDay, "-q", "--out", out}, more...)...)
		return stderr, status
	}
	if stderr, status := run(whole); status != exitOK {
		t.Fatal(stderr)
	}
	if _, status := run(part, "--checkpoint", "5h"); status != exitOK { // the last one at 20:00
		t.Fatal("no run with checkpoints")
	}
	same := func(what string) {
		t.Helper()
		for _, name := range []string{"run.mcap", "status.csv", "signals.csv"} {
			a, e1 := os.ReadFile(filepath.Join(whole, name))
			b, e2 := os.ReadFile(filepath.Join(part, name))
			if e1 != nil || e2 != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: %s of %d bytes, want that of %d bytes: %v %v", what, name, len(b), len(a), e1, e2)
			}
		}
	}
	same("with checkpoints")
	for _, name := range []string{"run.mcap", "status.csv", "signals.csv"} { // what a run that is killed later leaves
		b, err := os.ReadFile(filepath.Join(part, name))
		if err != nil || os.WriteFile(filepath.Join(part, name), b[:len(b)-len(b)/20], 0o666) != nil {
			t.Fatal(err)
		}
	}
	for flag, says := range map[string]string{"--set=battery.E_Wh=6000": "to another run", "--until=23h": "to another run",
		"--set=method=explicit": "to another run"} {
		if stderr, status := run(part, "--resume", flag); status != exitInput || !strings.Contains(stderr, says) {
			t.Errorf("%s: status %d: %s", flag, status, stderr)
		}
	}
	if stderr, status := run(part, "--resume"); status != exitOK {
		t.Fatal(stderr)
	}
	same("resumed")
	for name, spoil := range map[string]func(){
		"at the checkpoint it had": func() { _ = os.Truncate(filepath.Join(part, "signals.csv"), 1000) },
		"is not what the run wrote": func() { // what a spreadsheet makes of it
			name := filepath.Join(part, "status.csv")
			data, _ := os.ReadFile(name)
			_ = os.WriteFile(name, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), 0o666)
		},
		"no such file": func() { _ = os.Remove(filepath.Join(part, "run.mcap")) },
		"is damaged":   func() { _ = os.Truncate(filepath.Join(part, folder.CheckpointFile), 1000) },
		"there is no":  func() { _ = os.Remove(filepath.Join(part, folder.CheckpointFile)) },
	} {
		if stderr, status := run(part); status != exitOK { // leaves no checkpoint
			t.Fatal(stderr)
		}
		if stderr, status := run(part, "--resume"); status != exitInput || !strings.Contains(stderr, "there is no") {
			t.Errorf("a run without checkpoints: status %d: %s", status, stderr)
		}
		if stderr, status := run(part, "--checkpoint", "5h"); status != exitOK {
			t.Fatal(stderr)
		}
		spoil()
		before := contents(t, part)
		if stderr, status := run(part, "--resume"); status != exitInput || !strings.Contains(stderr, name) {
			t.Errorf("want %q: status %d: %s", name, status, stderr)
		}
		if !maps.Equal(before, contents(t, part)) {
			t.Errorf("%q: a refused command has changed the folder", name)
		}
	}
}

// contents returns the files of a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	files := map[string]string{}
	for _, f := range list {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		must(t, err)
		files[f.Name()] = string(data)
	}
	return files
}

func TestVehicle(t *testing.T) {
	stdout, _, status := canopy("vehicle")
	if status != exitOK {
		t.Error(status)
	}
	says(t, "the list", stdout, "solar")
	stdout, _, _ = canopy("vehicle", "solar")
	says(t, "the vehicle", stdout, "battery.E_Wh", "h_cmd", "soc", "Psol", "A  ")
	stdout, _, _ = canopy("vehicle", "solar", "--json")
	var v map[string]any
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		t.Error(err)
	}
	says(t, "the JSON", stdout, `"tag": "D"`)
	if key := regexp.MustCompile(`"[^"]*[A-Z][^"]*":`).FindString(stdout); key != "" {
		t.Errorf("the key %s is not in small letters", key)
	}
}

func TestCompare(t *testing.T) {
	stdout, stderr, status := canopy("compare", solarDay, "--until", "13h", "--repeat", "2", "--period", "60", "--json")
	if status != exitOK || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	var rows []map[string]any
	must(t, json.Unmarshal([]byte(stdout), &rows))
	names := []string{"continuous", "tick 60 s, interpolated", "tick 60 s", "tick 60 s, restart", "state graph", "recorded inputs"}
	timeEvents := []float64{0, 780, 780, 780, 0, 2}
	if len(rows) != len(names) {
		t.Fatalf("%d rows, want %d", len(rows), len(names))
	}
	for i, row := range rows {
		for _, key := range []string{"configuration", "cpu_s", "ratio", "time_events", "state_events", "steps", "rhs_evaluations",
			"max_event_iterations", "same"} {
			if _, ok := row[key]; !ok {
				t.Errorf("%s: no %s", names[i], key)
			}
		}
		if row["configuration"] != names[i] || row["time_events"] != timeEvents[i] || row["same"] != true {
			t.Errorf("row %d: %v, want %s with %g time events and the same result", i, row, names[i], timeEvents[i])
		}
	}
	if d := rows[4]["signal_difference"]; d != 0.0 {
		t.Errorf("the state graph's signals differ from the tree's by %v", d)
	}
	stdout, _, status = canopy("compare", solarDay, "--until", "600", "--repeat", "1", "--period", "60")
	if status != exitOK {
		t.Error(status)
	}
	says(t, "the table", stdout, "configuration", "recorded inputs", "yes")
	if _, stderr, status := canopy("compare", solarDay, "--until", "600", "--period", "60", "--budget", "1e-9"); status != exitOK {
		t.Errorf("a budget for one round: status %d, %s", status, stderr)
	}
	if _, _, status := canopy("compare", solarDay, "--repeat", "0"); status != exitInput {
		t.Errorf("no rounds: status %d", status)
	}
	_, stderr, status = canopy("compare", solarDay, "--period", "1e-300")
	if status != exitInput {
		t.Errorf("ticks without end: status %d", status)
	}
	says(t, "the mistake", stderr, "--period 1e-300 is too short", "write a longer one, or an earlier --until")
}

// A time is given in the notation of missions.
func TestTimes(t *testing.T) {
	_, stderr, status := canopy("run", "../../examples/09-regression/courier.yaml", "--until", "9 [h]", "--out", t.TempDir())
	if status != exitOK {
		t.Errorf("status %d", status)
	}
	says(t, "a time after the horizon", stderr, "after the mission's horizon", "--set horizon=32400")
}
