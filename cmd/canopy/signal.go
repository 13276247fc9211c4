package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// patience is the time within which a second signal counts as the same request: programs that run others (timeout, npm,
// a container) send one signal to the process and one to its group.
var patience = time.Second

// unfinished is held while files are written and incomplete.
var unfinished sync.Mutex

// interruptible returns a context that ends with Ctrl-C, a request to terminate, or the end of the terminal, unless the
// process is to outlive it (nohup). A second signal, after [patience], ends the process, but not while it writes files.
// The caller calls stop when the work is done.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	wishes := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		wishes = append(wishes, syscall.SIGHUP)
	}
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, wishes...)
	ctx, cancel := context.WithCancel(parent)
	go func() {
		var impatient time.Time
		for {
			select {
			case <-done:
				return
			case <-signals:
			}
			switch now := time.Now(); {
			case ctx.Err() == nil:
				cancel()
				impatient = now.Add(patience)
			case now.After(impatient):
				unfinished.Lock()
				os.Exit(exitFailed)
			}
		}
	}()
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(done)
		cancel()
	})
}
