package folder

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A viewer of the folder has each step of a run that goes on no further, soon after it; neither that nor viewers change
// the log, and nothing of it stays.
func TestViewersSeeEachStep(t *testing.T) {
	dir, plain := t.TempDir(), t.TempDir()
	usual := lag
	defer func() { lag = usual }()
	c := &count{more: 5000}
	if _, err := Fly(t.Context(), c, plain, Options{}); err != nil {
		t.Fatal(err)
	}
	lag = time.Millisecond
	c = &count{more: 5000}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tails, tick := 0, time.NewTicker(time.Millisecond)
	defer tick.Stop()
	_, err := Fly(ctx, c, dir, Options{Observe: func() {
		for ctx.Err() == nil {
			if d, err := read(dir); err == nil && d.Told == c.T() {
				break
			}
			<-tick.C
		}
		if _, err := os.Stat(filepath.Join(dir, TailFile)); err == nil {
			tails++
		}
	}})
	if err != nil || tails < 5 {
		t.Errorf("%v; %d tails", err, tails)
	}
	if _, err := os.Stat(filepath.Join(dir, TailFile)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the tail stays:", err)
	}
	if contents(t, dir)[filepath.Join(dir, LogFile)] != contents(t, plain)[filepath.Join(plain, LogFile)] {
		t.Error("the log differs")
	}
}
