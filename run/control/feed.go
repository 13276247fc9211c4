package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/record"
)

// News is a piece of what is told of a run: at first its state, then what happens, and how it ended at last.
type News struct {
	T       float64            `json:"t"` // time of the run [s]
	Task    string             `json:"task,omitempty"`
	Status  string             `json:"status,omitempty"` // of the task
	Kind    string             `json:"kind,omitempty"`   // of an event
	Text    string             `json:"text,omitempty"`   // of the event
	Signals map[string]float64 `json:"signals,omitempty"`
	Outcome record.Outcome     `json:"outcome,omitempty"`
	Plan    record.Verdict     `json:"plan,omitempty"`  // its result
	Takes   *record.Takeover   `json:"takes,omitempty"` // the plan that takes over
	Is      json.RawMessage    `json:"is,omitempty"`    // where the vehicle is: foxglove.LocationFix
}

const (
	mostWatchers = 16
	mostLines    = 1 << 14 // that a watcher may be behind
)

// Feed tells watchers what is recorded of a run. It is a recorder of it. A watcher that is too slow is dropped: the run
// never waits.
type Feed struct {
	record.Nothing
	mutex    sync.Mutex
	header   record.Header
	statuses []bt.Status // by task of the log
	t        float64
	sample   []float64
	took     *record.Takeover // the last one; nil: the first plan goes on
	watchers map[chan News]bool
	ended    time.Time // zero: the run goes on
	serving  sync.WaitGroup
}

// NewFeed returns the feed of a run.
func NewFeed(h record.Header) *Feed {
	f := &Feed{header: h, t: h.Start, watchers: map[chan News]bool{}}
	f.begin()
	return f
}

// begin enters the statuses of tasks that are new to the log.
func (f *Feed) begin() {
	for _, t := range f.header.Tasks[len(f.statuses):] {
		f.statuses = append(f.statuses, t.Initial)
	}
}

// Sample implements record.Recorder.
func (f *Feed) Sample(t float64, values []float64) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.t, f.sample = t, append(f.sample[:0], values...)
	if len(f.watchers) > 0 {
		f.tell(f.signals())
	}
	return nil
}

// Status implements record.Recorder.
func (f *Feed) Status(t float64, _ int, c bt.Change) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.t, f.statuses[c.Task] = t, c.To
	f.tell(f.status(int(c.Task)))
	return nil
}

// Event implements record.Recorder.
func (f *Feed) Event(e record.Event) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.t = e.T
	f.tell(News{T: e.T, Kind: e.Kind, Text: e.Text})
	return nil
}

// Plan implements record.Recorder.
func (f *Feed) Plan(p record.Takeover) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.header.Take(p)
	f.begin()
	f.t, f.took = p.T, &p
	f.tell(News{T: p.T, Takes: &p})
	return nil
}

// Message implements record.Recorder.
func (f *Feed) Message(c record.Channel, data []byte) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if c == record.Locations && len(f.watchers) > 0 {
		f.tell(News{T: f.t, Is: bytes.Clone(data)})
	}
	return nil
}

func (f *Feed) status(task int) News {
	return News{T: f.t, Task: f.header.Tasks[task].Name, Status: f.statuses[task].String()}
}

// signals returns the last sample. Values that are no numbers are left out.
func (f *Feed) signals() News {
	l := News{T: f.t, Signals: make(map[string]float64, len(f.sample))}
	for i, v := range f.sample {
		if v-v == 0 {
			l.Signals[f.header.Signals[i].Name] = v
		}
	}
	return l
}

// tell tells all watchers a line.
func (f *Feed) tell(l News) {
	for w := range f.watchers {
		select {
		case w <- l:
		default:
			f.drop(w)
		}
	}
}

func (f *Feed) drop(w chan News) {
	if f.watchers[w] {
		delete(f.watchers, w)
		close(w)
	}
}

// End tells the watchers how the run ended, and waits until they know, at most some seconds.
func (f *Feed) End(s *record.Summary) {
	f.mutex.Lock()
	f.ended = time.Now()
	if s != nil {
		f.tell(News{T: f.t, Outcome: s.Outcome, Plan: s.Plan})
	}
	for w := range f.watchers {
		f.drop(w)
	}
	f.mutex.Unlock()
	f.serving.Wait()
}

// enter returns the lines for a new watcher, which begin with the present state; nil if there are too many watchers, or
// the run has ended.
func (f *Feed) enter() chan News {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if !f.ended.IsZero() || len(f.watchers) >= mostWatchers {
		return nil
	}
	w := make(chan News, 1+mostLines+len(f.statuses))
	if f.took != nil { // the statuses follow
		p := *f.took
		p.Tasks = slices.Clone(p.Tasks)
		for i := range p.Tasks {
			p.Tasks[i].Initial = bt.Accept
		}
		w <- News{T: p.T, Takes: &p}
	}
	for i, s := range f.statuses {
		if s != bt.Accept {
			w <- f.status(i)
		}
	}
	if len(f.sample) > 0 {
		w <- f.signals()
	}
	f.watchers[w] = true
	f.serving.Add(1)
	return w
}

// serve tells a watcher everything until the run ends, and closes the connection.
func (f *Feed) serve(c net.Conn) {
	defer c.Close() //nolint:errcheck // what was written before counts
	w := f.enter()
	if w == nil {
		return
	}
	defer f.serving.Done()
	e := json.NewEncoder(c)
	for l := range w {
		if _ = c.SetWriteDeadline(f.limit()); e.Encode(l) != nil {
			break
		}
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.drop(w)
}

// limit returns until when a watcher may take its next line.
func (f *Feed) limit() time.Time {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	from := f.ended
	if from.IsZero() {
		from = time.Now()
	}
	return from.Add(patience)
}

// ErrRefused is wrapped by the errors of a run that does not let this client watch.
var ErrRefused = errors.New("the run refuses that")

// Follow passes what a run tells to tell, until the run has ended. The error wraps ErrNoRun or ErrUnreached if there is
// no such run, ErrRefused, or is that of the connection, such as io.ErrUnexpectedEOF, or of tell.
func Follow(at Endpoint, tell func(News) error) error {
	return request(at, Demand{Verb: Watch}, func(d *json.Decoder) (bool, error) {
		var l struct {
			News
			Progress Progress
		}
		if err := d.Decode(&l); err != nil {
			return false, err
		}
		if l.Progress == Refused {
			return false, fmt.Errorf("%w: %s", ErrRefused, l.Text)
		}
		return l.Outcome == "", tell(l.News)
	})
}
