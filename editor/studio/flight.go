package studio

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"
)

// Breakpoint pauses a run after an instant at which a task changes to a status, or after a condition over the signals
// has changed: at the next point of the record at the latest. What changes back before that may be passed over.
type Breakpoint struct {
	Task      string `json:"task"`      // "": it is about the condition
	Condition string `json:"condition"` // "": it is about the task
	Status    string `json:"status"`    // of the task, or true or false; "": any

	holds func() bool // the condition
	held  bool        // when it was judged last
}

// flight is a run in progress. The goroutine of the run has the mutex while it steps; between two steps, and while the
// run is paused, viewers and commands have it.
type flight struct {
	id     string // of its folder
	run    *run.Run
	tasks  []record.Task
	cancel func()
	done   chan struct{} // closed when the run is over

	record.Nothing
	mutex       sync.Mutex
	changed     *sync.Cond
	gathered    *report.Gatherer
	steps       int
	paused      string  // why; "": it is not
	until       float64 // it is to pause at this time [s]
	stepping    bool    // it is to pause after the next event
	stepped     string  // or after the next change of this task; "": any event
	events      int     // and status changes, when it began to
	breakpoints []Breakpoint
	hit         string  // a breakpoint that was reached at the present instant
	looked      float64 // when conditions were judged last [s]
	speed       float64
	began       time.Time // when it had its speed from on
	from        float64   // and the simulated time then [s]
	cancelled   bool
	err         error // of the run that is over
	over        bool
}

// Wish is what a run is to do.
type Wish struct {
	Do          string       `json:"do"`     // go, pause, step, until, stop, set, or change: only what follows
	Task        string       `json:"task"`   // a step goes on to its next change; "": to the next event or change of any
	Until       float64      `json:"until"`  // [s]
	Signal      string       `json:"signal"` // that is set: a state of the vehicle, or a slot
	Value       float64      `json:"value"`  // of it
	Speed       *float64     `json:"speed"`  // simulated seconds per second, at most; 0: no limit; null: as before
	Breakpoints []Breakpoint `json:"breakpoints"`
}

// newFlight returns the flight of a run into the folder with an identifier. The error tells what is wrong with the wish
// with which it begins.
func newFlight(id string, r *run.Run, w Wish) (*flight, error) {
	h := r.Header()
	f := &flight{id: id, run: r, tasks: h.Tasks, cancel: func() {}, done: make(chan struct{}),
		gathered: report.NewGatherer(&h), until: math.Inf(1)}
	f.changed = sync.NewCond(&f.mutex)
	return f, f.take(w)
}

// fly flies the run to its end.
func (f *flight) fly(dir string, o folder.Options) {
	ctx, cancel := context.WithCancel(context.Background())
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.cancel = cancel
	if f.cancelled {
		cancel()
	}
	o.Also, o.Observe = record.Tee{f.gathered, f}, f.observe
	_, f.err = folder.Fly(ctx, f.run, dir, o)
	f.over = true
	f.changed.Broadcast()
	cancel()
	close(f.done)
}

// Status implements [record.Recorder].
func (f *flight) Status(_ float64, _ int, c bt.Change) error {
	name := f.tasks[c.Task].Name
	for _, b := range f.breakpoints {
		if b.Task == name && (b.Status == "" || b.Status == c.To.String()) {
			f.hit = b.Task + " became " + c.To.String()
		}
	}
	if f.stepping && f.stepped == name {
		f.hit = name + " became " + c.To.String()
	}
	return nil
}

// look judges the conditions of breakpoints after a step.
func (f *flight) look() {
	for i := range f.breakpoints {
		b := &f.breakpoints[i]
		if b.holds == nil {
			continue
		}
		now := b.holds()
		if word := strconv.FormatBool(now); now != b.held && (b.Status == "" || b.Status == word) {
			f.hit = fmt.Sprintf("%s became %s after t = %s s", b.Condition, word, diag.Number(f.looked, 6))
		}
		b.held = now
	}
	f.looked = f.run.T()
}

// observe waits after a step as long as the run is paused, or ahead of its speed.
func (f *flight) observe() {
	f.steps++
	if f.run.Over() {
		return
	}
	f.look()
	switch events := f.run.Events() + f.run.StatusChanges(); {
	case f.hit != "":
		f.pause(f.hit)
	case f.stepping && f.stepped == "" && events > f.events:
		f.pause("after an event")
	case f.run.T() >= f.until:
		f.pause("as wanted")
	}
	for !f.cancelled && !f.run.Over() && (f.paused != "" || f.ahead()) {
		paused := f.paused != ""
		if f.changed.Wait(); paused {
			f.began, f.from = time.Now(), f.run.T()
		}
	}
	f.mutex.Unlock() // others may look
	f.mutex.Lock()
	f.bound()
}

// bound lets the next step end where the run is to pause, or conditions are to be judged.
func (f *flight) bound() {
	at := f.until
	if slices.ContainsFunc(f.breakpoints, func(b Breakpoint) bool { return b.holds != nil }) {
		every := f.run.Mission().Interval
		at = min(at, (math.Floor(f.run.T()/every)+1)*every)
	}
	f.run.PauseAt(at)
}

// ahead reports whether the run is ahead of its speed, and sees to it that it is waked when it is not.
func (f *flight) ahead() bool {
	if f.speed == 0 {
		return false
	}
	d := time.Until(f.began.Add(time.Duration((f.run.T() - f.from) / f.speed * float64(time.Second))))
	if d <= 0 {
		return false
	}
	time.AfterFunc(d, func() {
		f.mutex.Lock() // which it has until it waits
		defer f.mutex.Unlock()
		f.changed.Broadcast()
	})
	return true
}

func (f *flight) pause(why string) {
	f.paused, f.hit, f.stepping, f.until = why, "", false, math.Inf(1)
	f.changed.Broadcast()
}

// take takes a wish. The mutex must be locked. The error tells what is wrong with it.
func (f *flight) take(w Wish) error {
	breakpoints := slices.Clone(w.Breakpoints)
	for i := range breakpoints {
		if err := f.check(&breakpoints[i]); err != nil {
			return err
		}
	}
	if !f.has(w.Task) && w.Task != "" {
		return fmt.Errorf("there is no task %s", diag.Visible(w.Task))
	}
	if s := w.Speed; s != nil && !(*s >= 0 && *s <= 1e9) {
		return fmt.Errorf("the speed is a number from 0, which is no limit, to 1e9")
	}
	switch w.Do {
	case "change":
	case "go":
		f.paused = ""
	case "pause":
		f.pause("as wanted")
	case "step":
		f.paused, f.stepping, f.stepped = "", true, w.Task
		f.events = f.run.Events() + f.run.StatusChanges()
	case "until":
		if !(w.Until > f.run.T()) {
			return fmt.Errorf("the run is at %s already", report.Clock(f.run.T()))
		}
		f.paused, f.until = "", w.Until
	case "stop":
		f.cancelled = true
		f.cancel()
	case "set":
		if err := f.run.Set(w.Signal, w.Value); err != nil {
			return err
		}
		f.steps++
		f.look()
		f.hit = "" // it is paused
	default:
		return fmt.Errorf("a run cannot do %q: it can go, pause, step, go until a time, stop, set, or change", w.Do)
	}
	if w.Speed != nil {
		f.speed, f.began, f.from = *w.Speed, time.Now(), f.run.T()
	}
	if w.Breakpoints != nil {
		f.breakpoints = breakpoints
	}
	f.bound()
	f.changed.Broadcast()
	return nil
}

func (f *flight) has(task string) bool {
	return slices.ContainsFunc(f.tasks, func(t record.Task) bool { return t.Name == task })
}

// check tells what is wrong with a breakpoint, and prepares its condition.
func (f *flight) check(b *Breakpoint) (err error) {
	allowed := statuses
	switch {
	case b.Condition == "" && !f.has(b.Task):
		return fmt.Errorf("there is no task %s", diag.Visible(b.Task))
	case b.Condition != "" && b.Task != "":
		return fmt.Errorf("a breakpoint is about a task or a condition, not both")
	case b.Condition != "":
		if b.holds, err = f.run.Condition(b.Condition); err != nil {
			return fmt.Errorf("%s: %w", diag.Visible(b.Condition), err)
		}
		allowed, b.held = []string{"true", "false"}, b.holds()
	}
	if !slices.Contains(allowed, b.Status) && b.Status != "" {
		return fmt.Errorf("there is no status %s", diag.Visible(b.Status))
	}
	return nil
}

// statuses are the names of the statuses.
var statuses = func() (list []string) {
	for s := bt.Success; s <= bt.Dropped; s++ {
		list = append(list, s.String())
	}
	return list
}()
