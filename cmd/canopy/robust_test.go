//go:build unix

package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/canopy-uav/canopy/run/folder"
)

var cases = flag.Int("cases", 2, "how often TestRobust tries each way to end a run, or to spoil its files")

// TestMain makes this program the command itself, for tests that end it from outside: its arguments are then in the
// environment, one a line, and the maximum size of a file [bytes].
func TestMain(m *testing.M) {
	if args := os.Getenv("CANOPY_ARGS"); args != "" {
		var size uint64
		if _, err := fmt.Sscan(os.Getenv("CANOPY_FILE_SIZE"), &size); err == nil {
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}); err != nil {
				panic(err)
			}
		}
		os.Exit(execute(strings.Split(args, "\n"), os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// logFiles are the files of a run that are the same whenever it is flown.
var logFiles = []string{folder.LogFile, folder.StatusFile, folder.SignalsFile}

// robust is a mission flown into folders, and what its files are if nothing happens.
type robust struct {
	*rand.Rand
	dir   string
	whole map[string]string
}

func (r *robust) command(out string, more ...string) []string {
	return append([]string{"run", solarDay, "--until", "18h", "--checkpoint", "20m", "-q", "--out", out}, more...)
}

// start starts a process that runs a command.
func (r *robust) start(t *testing.T, args []string, size int) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "CANOPY_ARGS="+strings.Join(args, "\n"))
	if size > 0 {
		c.Env = append(c.Env, fmt.Sprintf("CANOPY_FILE_SIZE=%d", size))
	}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	must(t, c.Start())
	return c, &stderr
}

// goesOn resumes the run in a folder, or flies it again if there is no checkpoint that serves, and compares its files.
func (r *robust) goesOn(t *testing.T, what, out string) {
	t.Helper()
	before := contents(t, out)
	_, stderr, status := canopy(r.command(out, "--resume")...)
	if status == exitInput {
		if !maps.Equal(before, contents(t, out)) {
			t.Errorf("%s: a refused resumption has changed the folder: %s", what, stderr)
		}
		_, stderr, status = canopy(r.command(out)...)
	}
	after := contents(t, out)
	for _, name := range logFiles {
		if status != exitOK || after[name] != r.whole[name] {
			t.Errorf("%s: status %d, %s of %d bytes, want %d bytes: %s", what, status, name, len(after[name]),
				len(r.whole[name]), stderr)
		}
	}
	for name := range after {
		if strings.HasSuffix(name, ".old") {
			t.Errorf("%s: %s is left", what, name)
		}
	}
}

// reads lets every reader read a folder: each answers or refuses.
func (r *robust) reads(t *testing.T, what, out string) {
	t.Helper()
	for _, args := range [][]string{{"report", out}, {"monitor", out}, {"monitor", out, "--property", "never climb"}} {
		if _, stderr, status := canopy(args...); status > exitRefute {
			t.Errorf("%s: %v: status %d, %s", what, args, status, stderr)
		}
	}
}

// TestRobust ends runs from outside at many moments, fills their disk and spoils their files: no reader panics, what is
// there can be read, and the run continues from it to the bytes of an undisturbed one, or is refused.
func TestRobust(t *testing.T) {
	r := &robust{Rand: rand.New(rand.NewPCG(8, 20)), dir: t.TempDir()}
	if testing.Short() {
		*cases = 1
	}
	first := filepath.Join(r.dir, "whole")
	if _, stderr, status := canopy(r.command(first)...); status != exitOK {
		t.Fatal(stderr)
	}
	r.whole = contents(t, first)
	t.Run("kill", func(t *testing.T) { r.signals(t, syscall.SIGKILL, *cases) })
	t.Run("interrupt", func(t *testing.T) { r.signals(t, syscall.SIGINT, *cases) })
	t.Run("hangup", func(t *testing.T) {
		if signal.Ignored(syscall.SIGHUP) {
			t.Skip("no hangup: SIGHUP is ignored here and by the runs, as under nohup")
		}
		r.signals(t, syscall.SIGHUP, 1+*cases/10)
	})
	t.Run("full", r.full)
	t.Run("corrupt", r.corrupt)
}

// signals sends a signal when the log has grown to some size, and a while later.
func (r *robust) signals(t *testing.T, sig syscall.Signal, cases int) {
	early := 0
	for k := range cases {
		out := filepath.Join(r.dir, fmt.Sprint(sig, k))
		size, later := r.IntN(len(r.whole[folder.LogFile])), r.IntN(300)
		what := fmt.Sprintf("%v at %d bytes", sig, size)
		c, stderr := r.start(t, r.command(out), 0)
		over := make(chan error, 1)
		go func() { over <- c.Wait() }()
		var err error
		for waiting := true; waiting; {
			if info, e := os.Stat(filepath.Join(out, folder.LogFile)); e == nil && info.Size() >= int64(size) {
				later--
			}
			select {
			case err = <-over:
				waiting = false
			default:
				if later < 0 {
					_ = c.Process.Signal(sig)
					err, waiting = <-over, false
				}
			}
		}
		if err != nil {
			early++
		}
		if sig != syscall.SIGKILL && err != nil {
			if code := c.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(stderr.String(), "interrupted") {
				t.Errorf("%s: exit status %d: %s", what, code, stderr)
			}
			for _, name := range []string{folder.SummaryFile, folder.ReportFile, folder.CheckpointFile} {
				if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
					t.Errorf("%s: %s: %v", what, name, err)
				}
			}
		}
		if _, err := os.Stat(out); err == nil {
			r.reads(t, what, out)
			r.goesOn(t, what, out)
		}
	}
	if early < cases/2 {
		t.Errorf("only %d of %d runs were ended from outside", early, cases)
	}
}

// full limits the size of files, in a folder with the files of an earlier run.
func (r *robust) full(t *testing.T) {
	for k := range *cases {
		out := filepath.Join(r.dir, fmt.Sprint("full", k))
		size := 1 + r.IntN(len(r.whole[folder.LogFile]))
		if k%4 == 0 {
			size = 1 + r.IntN(10_000) // not even the beginning of the log
		}
		what := fmt.Sprintf("files of at most %d bytes", size)
		if _, stderr, status := canopy(r.command(out, "--until", "1h")...); status != exitOK {
			t.Fatal(stderr)
		}
		before := contents(t, out)
		c, stderr := r.start(t, r.command(out), size)
		if err := c.Wait(); err == nil || c.ProcessState.ExitCode() != exitFailed ||
			!strings.Contains(stderr.String(), "file too large") || strings.Count(stderr.String(), "writing "+folder.LogFile) > 1 {
			t.Errorf("%s: %v: %s", what, err, stderr)
		}
		after := contents(t, out)
		begun := after[folder.LogFile] != before[folder.LogFile]
		if _, there := after[folder.SummaryFile]; there == begun {
			t.Errorf("%s: the run has begun: %v, there is a summary: %v", what, begun, there)
		}
		if !begun && !maps.Equal(before, after) {
			t.Errorf("%s: a run that cannot start has changed the folder", what)
		}
		r.reads(t, what, out)
		r.goesOn(t, what, out)
	}
}

// corrupt changes, cuts or lengthens a file of a run.
func (r *robust) corrupt(t *testing.T) {
	for k := range *cases {
		out := filepath.Join(r.dir, fmt.Sprint("corrupt", k))
		must(t, os.Mkdir(out, 0o777))
		name := append(logFiles, folder.CheckpointFile)[r.IntN(len(logFiles)+1)]
		what := ""
		for n, text := range r.whole {
			data := []byte(text)
			if n == name {
				at := r.IntN(len(data))
				switch how := r.IntN(3); how {
				case 0:
					data[at] ^= 1 << r.IntN(8)
				case 1:
					data = data[:at]
				default:
					data = append(data[:at:at], append(bytes.Repeat([]byte{byte(r.IntN(256))}, 1+r.IntN(100)), data[at:]...)...)
				}
				what = fmt.Sprintf("%s spoiled at %d of %d", name, at, len(text))
			}
			must(t, os.WriteFile(filepath.Join(out, n), data, 0o666))
		}
		r.reads(t, what, out)
		r.goesOn(t, what, out)
	}
}
