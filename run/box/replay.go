package box

import (
	"bytes"
	"errors"
	"fmt"

	"canopy/autopilot/service"
	"canopy/run/flight"
)

// Replayable is what a box is replayed to; flight.Flight is one.
type Replayable interface {
	// Step processes an input and returns the datagrams to send.
	Step(in flight.Input) ([][]byte, error)
}

// Replayer feeds the records of a box to a machine and compares what it sends with what was recorded. It stops
// comparing at the first difference, and goes on feeding.
type Replayer struct {
	Inputs, Frames int         // that were fed, and recorded
	Difference     *Difference // the first; nil: none so far

	to      Replayable
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
	text := func(b []byte) string {
		if b == nil {
			return "nothing"
		}
		return fmt.Sprintf("%x", b)
	}
	return fmt.Sprintf("input %d, %s at %.9f s: datagram %d was %s, is %s", d.Number, d.Kind, float64(d.At.Wall)/1e9,
		d.Place+1, text(d.Recorded), text(d.Replayed))
}

// Feed takes the next record. Errors are those of the machine.
func (r *Replayer) Feed(record Record) error {
	switch {
	case record.Kind == Out:
		r.Frames++
		if r.matched >= len(r.out) {
			r.differ(record.Data, nil)
		} else if sent := Public(r.out[r.matched]); !bytes.Equal(sent, record.Data) {
			r.differ(record.Data, sent)
		}
		r.matched++
		return nil
	case record.Kind.Input():
		// A program that was killed may not have recorded the last datagrams: it has not sent them.
		if record.Kind != Kind(flight.Start) {
			r.complete()
		}
		r.in, r.matched = record.Input(), 0
		r.Inputs++
		var err error
		r.out, err = r.to.Step(r.in)
		return err
	}
	return errors.New("box: the beginning of the flight was dropped; it cannot be replayed")
}

// End takes the end of the box.
func (r *Replayer) End(end *Ending) {
	if end.Ended {
		r.complete()
	}
}

// complete compares the number of datagrams of the last input.
func (r *Replayer) complete() {
	if r.matched < len(r.out) {
		r.differ(nil, Public(r.out[r.matched]))
	}
}

func (r *Replayer) differ(recorded, replayed []byte) {
	if r.Difference == nil && !r.free {
		r.Difference = &Difference{Number: r.Inputs - 1, Kind: r.in.Kind, At: r.in.At, Input: r.in.Data, Place: r.matched,
			Recorded: recorded, Replayed: replayed}
	}
}
