// Package relay passes the run in a folder to a recorder as time goes by: while it is in progress, as it happens; once
// it is over, from its log, at a speed. It reads only, and a run waits for nobody who follows it.
package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
)

// Begin returns the recorder of a run with this header.
type Begin func(*record.Header) (record.Recorder, error)

// errBegun ends the reading of a log of which only the header is needed.
var errBegun = errors.New("the header is read")

// Header returns the header of the run in a folder. The error is that of the file, or of record.Play.
func Header(dir string) (h *record.Header, err error) {
	_, err = Play(dir, func(read *record.Header) record.Recorder {
		h = read
		return stopped{}
	})
	if h != nil {
		return h, nil
	}
	return nil, err
}

// stopped is a recorder that takes nothing.
type stopped struct{ record.Nothing }

func (stopped) Sample(float64, []float64) error          { return errBegun }
func (stopped) Status(float64, int, bt.Change) error     { return errBegun }
func (stopped) Event(record.Event) error                 { return errBegun }
func (stopped) Message(c record.Channel, _ []byte) error { return errBegun }

// Play plays the log in a folder, as far as it is written, as record.Play does.
func Play(dir string, begin func(*record.Header) record.Recorder) (record.End, error) {
	f, err := files.Open(filepath.Join(dir, folder.LogFile), os.O_RDONLY)
	if err != nil {
		return record.End{}, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return record.End{}, err
	}
	end, err := record.Play(io.NewSectionReader(f, 0, info.Size()), begin)
	if errors.Is(err, record.ErrFormat) {
		err = fmt.Errorf("%s: %w", f.Name(), err)
	}
	return end, err
}

// Live passes the run in progress in a folder to a recorder, from its present state on, until it ends. The recorder's
// header has all tasks in Accept; the present statuses and values follow. The error wraps control.ErrNoRun if no run
// that listens is in progress there, is io.ErrUnexpectedEOF if the run ended without a word or this was too slow, or
// is that of the log or of the recorder.
func Live(dir string, begin Begin) error {
	var l *live
	return control.Follow(control.Folder(dir), func(n control.News) error {
		if l == nil {
			h, err := Header(dir)
			if err != nil {
				return err
			}
			if l, err = newLive(h, begin); err != nil {
				return err
			}
		}
		return l.take(&n)
	})
}

// live turns news into what a recorder receives.
type live struct {
	to       record.Recorder
	log      record.Header // its tasks include those of later plans
	tasks    map[string]bt.Task
	statuses []bt.Status
	row      []float64
}

func newLive(h *record.Header, begin Begin) (*live, error) {
	h.Tasks = slices.Clone(h.Tasks)
	for i := range h.Tasks {
		h.Tasks[i].Initial = bt.Accept
	}
	to, err := begin(h)
	l := &live{to: to, log: *h, tasks: map[string]bt.Task{}, row: make([]float64, len(h.Signals))}
	l.know()
	return l, err
}

// know enters the tasks that are new to the log.
func (l *live) know() {
	for i := len(l.statuses); i < len(l.log.Tasks); i++ {
		l.tasks[l.log.Tasks[i].Name] = bt.Task(i)
		l.statuses = append(l.statuses, l.log.Tasks[i].Initial)
	}
}

func (l *live) take(n *control.News) error {
	switch {
	case n.Takes != nil:
		numbers := l.log.Take(*n.Takes)
		l.know()
		for i, task := range numbers {
			l.statuses[task] = n.Takes.Tasks[i].Initial
		}
		return l.to.Plan(*n.Takes)
	case n.Is != nil:
		return l.to.Message(record.Locations, n.Is)
	case n.Task != "":
		task, known := l.tasks[n.Task]
		status, ok := record.ParseStatus(n.Status)
		if !known || !ok || status == l.statuses[task] { // known: else it is of a plan that was removed before
			return nil
		}
		c := bt.Change{Task: task, From: l.statuses[task], To: status}
		l.statuses[task] = status
		return l.to.Status(n.T, 0, c)
	case n.Kind != "":
		return l.to.Event(record.Event{T: n.T, Kind: n.Kind, Text: n.Text})
	case n.Signals != nil:
		for i, s := range l.log.Signals {
			v, known := n.Signals[s.Name]
			if l.row[i] = v; !known {
				l.row[i] = math.NaN()
			}
		}
		return l.to.Sample(n.T, l.row)
	}
	return nil
}

// Replay passes the run in a folder to a recorder, from its beginning to the end of its log, at a speed [simulated
// seconds per second], until the context is done. The error is that of the log, of the context or of the recorder.
func Replay(ctx context.Context, dir string, speed float64, begin Begin) (record.End, error) {
	var failed error
	end, err := Play(dir, func(h *record.Header) record.Recorder {
		to, err := begin(h)
		if failed = err; err != nil {
			return stopped{}
		}
		since := time.Now()
		return Paced(to, func(t float64) error { return sleep(ctx, time.Until(since.Add(length((t-h.Start)/speed)))) })
	})
	if failed != nil {
		err = failed
	}
	return end, err
}

// length returns a duration [s], at most 30 years.
func length(seconds float64) time.Duration {
	return time.Duration(min(seconds, 1e9) * float64(time.Second))
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	end := time.NewTimer(d)
	defer end.Stop()
	select {
	case <-end.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Paced returns a recorder that passes on what happens at a time of the run [s] when wait has returned for that.
func Paced(to record.Recorder, wait func(t float64) error) record.Recorder { return &paced{to, wait} }

type paced struct {
	record.Recorder
	wait func(t float64) error
}

func (p *paced) Sample(t float64, values []float64) error {
	return p.in(t, func() error { return p.Recorder.Sample(t, values) })
}

func (p *paced) Status(t float64, micro int, c bt.Change) error {
	return p.in(t, func() error { return p.Recorder.Status(t, micro, c) })
}

func (p *paced) Event(e record.Event) error {
	return p.in(e.T, func() error { return p.Recorder.Event(e) })
}

func (p *paced) Plan(t record.Takeover) error {
	return p.in(t.T, func() error { return p.Recorder.Plan(t) })
}

// in passes something on in its time.
func (p *paced) in(t float64, pass func() error) error {
	if err := p.wait(t); err != nil {
		return err
	}
	return pass()
}
