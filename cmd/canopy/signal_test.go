package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// process is this test's program, run once more for one test, which exchanges lines with it.
type process struct {
	*exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

// child is set in the process of a test: its task.
const child = "CANOPY_CHILD"

func start(t *testing.T, what string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")}
	p.Env = append(os.Environ(), child+"="+what)
	in, e1 := p.StdinPipe()
	out, e2 := p.StdoutPipe()
	must(t, errors.Join(e1, e2, p.Start()))
	p.in, p.lines = in, bufio.NewScanner(out)
	return p
}

// expect waits for a line, then sends a signal, if it is given one.
func (p *process) expect(t *testing.T, line string, then os.Signal) {
	t.Helper()
	if !p.lines.Scan() || p.lines.Text() != line {
		t.Fatalf("%q, want %q", p.lines.Text(), line)
	}
	if then != nil {
		must(t, p.Process.Signal(then))
	}
}

// A signal that arrives twice, as from a wrapper that signals the process and its group, interrupts once. The end of the
// terminal is such a signal.
func TestInterruptTwice(t *testing.T) {
	if os.Getenv(child) != "" {
		patience = time.Hour
		arrived := make(chan os.Signal, 2)
		signal.Notify(arrived, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		ctx, stop := interruptible(context.Background())
		defer stop()
		fmt.Println("ready")
		<-ctx.Done()
		fmt.Println("interrupted")
		<-arrived
		<-arrived // the second one is delivered before stop restores the default action
		return
	}
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		p := start(t, "yes")
		p.expect(t, "ready", sig)
		p.expect(t, "interrupted", sig)
		if err := p.Wait(); err != nil {
			t.Errorf("%v, the second: %v", sig, err)
		}
	}
}

// TestInterruptedAtOnce: a signal while the mission is read is not lost: the run begins, is interrupted at its start,
// and leaves its results.
func TestInterruptedAtOnce(t *testing.T) {
	text, err := os.ReadFile(solarDay)
	must(t, err)
	t.Chdir("../../missions")
	r, w, err := os.Pipe()
	must(t, err)
	before := os.Stdin
	defer func() { os.Stdin = before }()
	os.Stdin = r
	sent := make(chan error)
	go func() {
		_, err := w.Write(append(text, bytes.Repeat([]byte("\n"), 1<<18)...)) // returns when most of it has been read
		sent <- errors.Join(err, syscall.Kill(os.Getpid(), syscall.SIGINT), w.Close())
	}()
	out := t.TempDir()
	_, stderr, status := canopy("run", "-", "--out", out)
	if err := <-sent; err != nil || status != exitFailed {
		t.Errorf("%v, status %d", err, status)
	}
	says(t, "run", stderr, "interrupted", "the results up to")
	if _, err := os.Stat(filepath.Join(out, "summary.json")); err != nil {
		t.Error(err)
	}
}

// One more signal later ends the process, but not before the files are whole that are being written.
func TestInterruptForGood(t *testing.T) {
	if os.Getenv(child) != "" {
		patience = 0
		ctx, stop := interruptible(context.Background())
		defer stop()
		fmt.Println("ready")
		<-ctx.Done()
		unfinished.Lock()
		fmt.Println("interrupted")
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Println("whole")
		unfinished.Unlock()
		select {}
	}
	p := start(t, "yes")
	p.expect(t, "ready", syscall.SIGINT)
	p.expect(t, "interrupted", syscall.SIGINT)
	must(t, p.in.Close())
	p.expect(t, "whole", nil)
	var exit *exec.ExitError
	if err := p.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitFailed {
		t.Errorf("%v, want exit status %d", err, exitFailed)
	}
}

// A process that is to outlive its terminal does.
func TestNohup(t *testing.T) {
	if os.Getenv(child) != "" {
		signal.Ignore(syscall.SIGHUP) // as nohup does before
		ctx, stop := interruptible(context.Background())
		defer stop()
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Println(ctx.Err())
		return
	}
	p := start(t, "yes")
	p.expect(t, "ready", syscall.SIGHUP)
	must(t, p.in.Close())
	p.expect(t, "<nil>", nil)
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}
