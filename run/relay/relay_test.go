package relay

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
)

// script is a run whose log is given: what happens is passed to the recorders step by step.
type script struct {
	header record.Header
	steps  []func(record.Recorder) error
	before func(step int)
	to     record.Recorder
}

func newScript() *script {
	tasks := []record.Task{{Name: "a", Kind: "Action", Parent: 1, Initial: bt.Failure}, {Name: "top", Kind: "Inverter", Parent: -1}}
	next := record.Takeover{T: 2, Name: "next", Tasks: []record.Task{{Name: "b", Kind: "Action", Parent: 1, Initial: bt.Success},
		{Name: "top", Kind: "Inverter", Parent: -1, Initial: bt.Failure}}}
	change := func(t float64, task bt.Task, from, to bt.Status) func(record.Recorder) error {
		return func(r record.Recorder) error {
			return r.Status(t, 1, bt.Change{Task: task, From: from, To: to, Iteration: 1})
		}
	}
	return &script{header: record.Header{Mission: "m", Horizon: 9, Tasks: tasks, Signals: []record.Signal{{Name: "x"}, {Name: "y"}}},
		steps: []func(record.Recorder) error{
			func(r record.Recorder) error { return r.Sample(0, []float64{1, 2}) },
			change(0, 0, bt.Failure, bt.Accept), change(0, 1, bt.Success, bt.Accept), change(.5, 0, bt.Accept, bt.Running),
			change(.5, 1, bt.Accept, bt.Running),
			func(r record.Recorder) error {
				return r.Event(record.Event{T: 1, Micro: 1, Kind: "time", Text: "timer"})
			},
			func(r record.Recorder) error { return r.Sample(1, []float64{3, 4}) },
			func(r record.Recorder) error { return r.Plan(next) },
			change(2, 2, bt.Success, bt.Accept), change(2.5, 1, bt.Failure, bt.Running),
			func(r record.Recorder) error { return r.Message(record.Locations, []byte(`{"latitude":1}`)) },
			func(r record.Recorder) error { return r.Message(record.Incoming, []byte(`{}`)) },
			func(r record.Recorder) error { return r.Sample(3, []float64{5, 6}) },
		}}
}

func (s *script) Header() record.Header     { return s.header }
func (s *script) Attach(to record.Recorder) { s.to = to }
func (s *script) Stop(string) error         { return nil }
func (s *script) Summary() record.Summary   { return record.Summary{Ended: 3, Outcome: record.Complete} }
func (s *script) T() float64                { return 0 }
func (s *script) State(*snapshot.Codec)     {}

func (s *script) Fly(_ context.Context, observe func(bool) error) error {
	for i, step := range s.steps {
		if s.before != nil {
			s.before(i)
		}
		if err := errors.Join(step(s.to), observe(i < len(s.steps)-1)); err != nil {
			return err
		}
	}
	return nil
}

// listener keeps what it receives, and tells of the first and of all.
type listener struct {
	record.Log
	statuses map[string]bt.Status
	location string
	began    chan struct{}
}

func (l *listener) begin(h *record.Header) (record.Recorder, error) {
	l.Begin(h)
	l.statuses = map[string]bt.Status{}
	for _, t := range h.Tasks {
		l.statuses[t.Name] = t.Initial
	}
	if l.began != nil {
		close(l.began)
	}
	return l, nil
}

func (l *listener) Status(t float64, micro int, c bt.Change) error {
	if l.statuses[l.Tasks[c.Task].Name] != c.From {
		return errors.New("a change from another status")
	}
	l.statuses[l.Tasks[c.Task].Name] = c.To
	return l.Log.Status(t, micro, c)
}

func (l *listener) Message(c record.Channel, data []byte) error {
	if c == record.Locations {
		l.location = string(data)
	}
	return nil
}

func (l *listener) Plan(p record.Takeover) error {
	for _, t := range p.Tasks {
		l.statuses[t.Name] = t.Initial
	}
	return l.Log.Plan(p)
}

// TestLive: whoever joins a run, at any time, has its statuses from then on, and what is recorded after that.
func TestLive(t *testing.T) {
	steps := len(newScript().steps)
	for join := range steps {
		s, l := newScript(), &listener{began: make(chan struct{})}
		dir, ended := t.TempDir(), make(chan error, 1)
		feed := control.NewFeed(s.header)
		server, err := control.Listen(dir, nil, 0, feed)
		if err != nil {
			t.Fatal(err)
		}
		s.before = func(step int) {
			if step == join+1 || step == 1 && join == 0 { // something is known
				go func() { ended <- Live(dir, l.begin) }()
				<-l.began
			}
		}
		if join == steps-1 {
			s.before = nil
		}
		summary, err := folder.Fly(t.Context(), s, dir, folder.Options{Also: feed, Bare: true})
		if err != nil {
			t.Fatal(err)
		}
		feed.End(summary)
		if join < steps-1 {
			if err := <-ended; err != nil {
				t.Fatal(join, err)
			}
			want := map[string]bt.Status{"a": bt.Running, "b": bt.Accept, "top": bt.Running}
			if last := []float64{l.Values[0][len(l.T)-1], l.Values[1][len(l.T)-1]}; !reflect.DeepEqual(l.statuses, want) ||
				!slices.Equal(last, []float64{5, 6}) || l.T[len(l.T)-1] != 3 {
				t.Errorf("joined after %d: %v, %v", join, l.statuses, last)
			}
			if l.location != `{"latitude":1}` && join < steps-3 {
				t.Errorf("joined after %d: the vehicle is at %q", join, l.location)
			}
		}
		_ = server.Close()
		if err := Live(dir, l.begin); !errors.Is(err, control.ErrNoRun) {
			t.Errorf("the run is over: %v", err)
		}
	}
}

// TestReplay: a replay has what the log has, and takes its time; it ends when nobody wants it any more.
func TestReplay(t *testing.T) {
	s, dir := newScript(), t.TempDir()
	if _, err := folder.Fly(t.Context(), s, dir, folder.Options{Bare: true}); err != nil {
		t.Fatal(err)
	}
	var l listener
	began := time.Now()
	end, err := Replay(t.Context(), dir, 30, l.begin)
	if took := time.Since(began); err != nil || end.Summary == nil || took < 100*time.Millisecond {
		t.Errorf("%v, %+v, after %v", err, end, took)
	}
	if len(l.T) != 3 || len(l.Changes) != 6 || len(l.Events) != 1 || len(l.Plans) != 1 || l.statuses["top"] != bt.Running {
		t.Errorf("%+v", l.Log)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Replay(ctx, dir, 1e-6, l.begin); !errors.Is(err, context.Canceled) {
		t.Errorf("a replay that is over: %v", err)
	}
	refused := errors.New("refused")
	if _, err := Replay(t.Context(), dir, 1, func(*record.Header) (record.Recorder, error) { return nil, refused }); err != refused { //nolint:errorlint // the same one
		t.Errorf("a recorder that is refused: %v", err)
	}
	if h, err := Header(dir); err != nil || h.Mission != "m" || len(h.Tasks) != 2 {
		t.Errorf("%+v, %v", h, err)
	}
	if _, err := Header(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no run: %v", err)
	}
}
