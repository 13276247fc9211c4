package box

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/run/flight"
)

// Replayable is what a box is replayed to; flight.Flight is one.
type Replayable interface {
	// Step processes an input and returns the datagrams to send.
	Step(in flight.Input) ([][]byte, error)
	// Restore makes it go on from the state in a checkpoint, instead of its first step.
	Restore(state []byte) error
	// System is the number of the vehicle's MAVLink system, 0 if there is none.
	System() byte
}

// Replayer feeds the records of a box to a machine and compares what it sends with what was recorded. It stops
// comparing at the first difference, and goes on feeding. Of a box whose beginning was dropped, it begins at the first
// checkpoint.
type Replayer struct {
	Inputs, Frames int         // that were fed, and recorded
	Difference     *Difference // the first; nil: none so far

	to      Replayable
	start   *flight.Input // that was not fed yet: a checkpoint may follow
	in      flight.Input
	out     [][]byte // of the last input
	matched int      // of out
	free    bool     // nothing is compared
}

// NewReplayer returns a replayer. If free is set, the machine may send what it will: it has another plan.
func NewReplayer(to Replayable, free bool) *Replayer { return &Replayer{to: to, free: free} }

// Difference is where a replay departs from a box.
type Difference struct {
	Number             int // of the input in the flight, from 0
	Kind               flight.Kind
	At                 service.Clock // of the input
	Input              []byte
	Place              int    // of the datagram among those of the input, from 0
	Recorded, Replayed []byte // nil: none
}

func (d *Difference) String() string {
	text := func(b []byte) string { return cmp.Or(hex.EncodeToString(b), "nothing") }
	return fmt.Sprintf("input %d, %s at %.9f s: datagram %d was %s, is %s", d.Number, d.Kind, float64(d.At.Wall)/1e9,
		d.Place+1, text(d.Recorded), text(d.Replayed))
}

// Feed takes the next record. Errors are those of the machine.
func (r *Replayer) Feed(record Record) error {
	if record.Kind == Checkpoint {
		return r.restore(&record)
	}
	if r.Inputs == 0 && r.start == nil && record.Kind == Kind(flight.Start) {
		in := record.Input()
		r.start = &in
		return nil
	}
	if err := r.begin(); err != nil {
		return err
	}
	switch {
	case record.Kind == Out:
		r.Frames++
		if r.matched >= len(r.out) {
			r.differ(record.Data, nil)
		} else if sent := frame.Public(r.out[r.matched]); !bytes.Equal(sent, record.Data) {
			r.differ(record.Data, sent)
		}
		r.matched++
		return nil
	default:
		// A program that was killed may not have recorded the last datagrams: it has not sent them.
		if record.Kind != Kind(flight.Start) {
			r.complete()
		}
		return r.step(record.Input())
	}
}

func (r *Replayer) step(in flight.Input) (err error) {
	r.in, r.matched = in, 0
	r.Inputs++
	r.out, err = r.to.Step(in)
	return err
}

// begin feeds the first input, unless that was done.
func (r *Replayer) begin() error {
	if r.start == nil {
		return nil
	}
	in := *r.start
	r.start = nil
	return r.step(in)
}

// restore goes on from a checkpoint, if nothing was fed before.
func (r *Replayer) restore(record *Record) error {
	state, _, ok := record.State()
	switch {
	case !ok:
		return fmt.Errorf("%w: a checkpoint without a state", ErrFormat)
	case r.start == nil:
		return nil
	case r.free:
		return ErrDropped
	}
	r.start, r.Inputs, r.out, r.matched = nil, 1, nil, 0
	if err := r.to.Restore(state); err != nil {
		return fmt.Errorf("box: the checkpoint with which the box begins: %w", err)
	}
	return nil
}

// End takes the end of the box. Errors are those of the machine.
func (r *Replayer) End(end *Ending) error {
	err := r.begin()
	if end.Ended {
		r.complete()
	}
	return err
}

// complete compares the number of datagrams of the last input.
func (r *Replayer) complete() {
	if r.matched < len(r.out) {
		r.differ(nil, frame.Public(r.out[r.matched]))
	}
}

func (r *Replayer) differ(recorded, replayed []byte) {
	if r.Difference == nil && !r.free {
		r.Difference = &Difference{Number: r.Inputs - 1, Kind: r.in.Kind, At: r.in.At, Input: r.in.Data, Place: r.matched,
			Recorded: recorded, Replayed: replayed}
	}
}
