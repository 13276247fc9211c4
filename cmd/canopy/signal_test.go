package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
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
	if err := errors.Join(e1, e2, p.Start()); err != nil {
		t.Fatal(err)
	}
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
		if err := p.Process.Signal(then); err != nil {
			t.Fatal(err)
		}
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
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
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
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	p.expect(t, "<nil>", nil)
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}
