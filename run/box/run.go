package box

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
)

// Flight is what is replayed into a log; [flight.Flight] is one.
type Flight interface {
	Replayable
	snapshot.Stateful
	Header() record.Header
	Attach(record.Recorder)
	Summary() record.Summary
	T() float64 // [s]
}

// Replay is the replay of a box as a run that is flown into a folder. Its header has the date of the flight.
type Replay struct {
	Flight
	*Replayer
	Ending

	From float64 // time of the flight at which the box begins [s]

	dir   string
	tlog  io.Writer
	start flight.Input
}

// NewReplay prepares the replay of the box in a folder to a flight that is made as its description says. If free is
// set, the flight may send what it will: it has another plan. For tlog, see [NewLogger].
//
// Of a box whose beginning was dropped, the replay begins at its first checkpoint, and so do its header and its log.
func NewReplay(dir string, f Flight, free bool, tlog io.Writer) (*Replay, error) {
	r := &Replay{Flight: f, Replayer: NewReplayer(f, free), dir: dir, tlog: tlog}
	first := true
	_, err := Each(dir, func(record Record) error {
		switch {
		case first:
			r.start, first = record.Input(), false
			return r.Feed(record)
		case record.Kind == Checkpoint:
			if err := r.Feed(record); err != nil {
				return err
			}
		}
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	} else if err == nil && first {
		err = fmt.Errorf("%w: it has no record", ErrFormat)
	}
	r.Replayer, r.From = NewReplayer(nil, free), f.T()
	return r, err
}

// errEnough ends the reading of a box.
var errEnough = errors.New("enough")

// Start returns the description of the flight in the box of a folder.
func Start(dir string) (flight.Input, error) {
	var start flight.Input
	end, err := Each(dir, func(r Record) error {
		start = r.Input()
		return errEnough
	})
	if errors.Is(err, errEnough) {
		return start, nil
	}
	if err == nil {
		err = fmt.Errorf("%w: it has no record", ErrFormat)
		if end.Damage != nil {
			err = end.Damage
		}
	}
	return start, err
}

// Header describes the flight for the record.
func (r *Replay) Header() record.Header {
	h := r.Flight.Header()
	h.Date = r.start.At.Unix
	return h
}

// Attach sets the recorder of the log.
func (r *Replay) Attach(to record.Recorder) {
	l := NewLogger(r.Header(), to, r.tlog)
	l.Drive(r.Flight)
	r.Flight.Attach(l)
	r.to = l
}

// errStopped is the error of a replay that its user ended. There is nothing to resume.
var errStopped = errors.New("the replay was interrupted")

// Fly feeds the box to the flight. It calls observe, which may be nil, after each record.
func (r *Replay) Fly(ctx context.Context, observe func(more bool) error) (err error) {
	r.Ending, err = Each(r.dir, func(record Record) error {
		if ctx.Err() != nil {
			return errStopped
		}
		if err := r.Feed(record); err != nil {
			return err
		}
		if observe != nil {
			return observe(true)
		}
		return nil
	})
	if err == nil {
		err = r.End(&r.Ending)
	}
	return err
}

// Stop does nothing: a replay ends where the box does.
func (r *Replay) Stop(string) error { return nil }

// Summary returns the cost of the flight so far.
func (r *Replay) Summary() record.Summary {
	s := r.Flight.Summary()
	if s.Outcome == "" {
		s.Outcome, s.Reason, s.Plan = record.Interrupted, r.Missing(), record.PlanOpen
	}
	return s
}
