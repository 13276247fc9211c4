package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
)

// TestWatch: a watcher of a run that listens is told the statuses of active tasks, then what happens, and the outcome.
func TestWatch(t *testing.T) {
	for _, args := range [][]string{{"--signal", "h"}, {"--json"}} {
		m, err := readMission("../../missions/circuit.yaml", nil, io.Discard)
		must(t, err)
		r, err := simulated.New(m, run.Continuous{}, 200)
		must(t, err)
		dir := t.TempDir()
		feed := control.NewFeed(r.Header())
		s, err := control.Listen(dir, nil, 0, feed)
		must(t, err)
		defer s.Close() //nolint:errcheck // a test
		var text strings.Builder
		status := make(chan int, 1)
		watching := false
		summary, err := folder.Fly(context.Background(), r, t.TempDir(), folder.Options{Also: feed, Observe: func() {
			if r.T() < 50 || watching {
				return
			}
			watching = true
			first := make(chan struct{})
			go func() {
				out := &opening{Writer: &text, first: first}
				status <- execute(append([]string{"watch", dir}, args...), out, io.Discard)
			}()
			<-first
		}})
		must(t, err)
		feed.End(summary)
		if got := <-status; got != exitOK {
			t.Errorf("%v: exit status %d", args, got)
		}
		if args[0] == "--json" {
			d := json.NewDecoder(strings.NewReader(text.String()))
			var last control.News
			count := 0
			for ; d.More(); count++ {
				last = control.News{}
				must(t, d.Decode(&last))
			}
			if count < 150 || last.Outcome != record.Complete {
				t.Errorf("%d lines, %+v", count, last)
			}
			continue
		}
		for _, want := range []string{"take_off  Running\n", "take_off  Deactivating\n", "  h = ", "altitude  Success\n",
			"the run is complete; the plan: "} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("no %q in\n%s", want, text.String())
			}
		}
	}
	if _, stderr, status := canopy("watch", t.TempDir()); status != exitInput || !strings.Contains(stderr, "no run listens") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// opening closes a channel at the first write.
type opening struct {
	io.Writer
	first chan struct{}
	begun bool
}

func (o *opening) Write(p []byte) (int, error) {
	if !o.begun {
		o.begun = true
		close(o.first)
	}
	return o.Writer.Write(p)
}
