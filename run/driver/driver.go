// Package driver drives a flight: it stamps what arrives on a wire with the readings of the clocks, puts it into the
// black box, passes it to the flight and sends what the flight answers. All decisions are the flight's.
package driver

import (
	"context"
	"errors"
	"fmt"
	"io"

	"canopy/diag"
	"canopy/run/box"
	"canopy/run/control"
	"canopy/run/flight"
	"canopy/run/record"
	"canopy/snapshot"
)

// Box receives everything that reaches a flight and everything that it sends; box.Writer is one.
type Box interface {
	Append(in flight.Input) error
	Out(datagrams [][]byte) error
	Sync() error
	Close() error
}

// Options are the settings of a driver.
type Options struct {
	Describe []byte                                // the data of the first input, which describes the flight
	Box      func(start flight.Input) (Box, error) // begins the black box; nil: there is none
	Continue *Continuation                         // of a flight whose program was killed; nil: the flight begins
	Listen   func() (*control.Server, error)       // begins to serve operators; nil: nothing does
	Tell     func(e record.Event)                  // is called with each event of the log; nil: nothing is
	Tlog     io.Writer                             // receives the frames in the format of that name; nil: nothing does
}

// Continuation is what a flight goes on from whose program was killed.
type Continuation struct {
	Began int64 // Unix time [ns] at which the flight began
	// Open passes the records of the black box to feed, and returns the box to be continued.
	Open func(feed func(box.Record) error) (Box, error)
}

// Driver is a flight with its wire. It is a run that a folder can hold.
type Driver struct {
	*flight.Flight
	wire    FarEnd
	o       Options
	step    func(in flight.Input) ([][]byte, error)
	box     Box
	server  *control.Server
	start   flight.Input
	log     log
	lost    error // of the black box
	begun   bool
	silent  bool // what happens was told by the program that was killed
	closed  bool
	decided int
	observe func(more bool) error
}

// New returns the driver of a flight, which has not begun.
func New(f *flight.Flight, c FarEnd, o Options) *Driver {
	return &Driver{Flight: f, wire: c, o: o, step: f.Step,
		start: flight.Input{Kind: flight.Start, At: c.Now(), Data: o.Describe}}
}

// Header describes the flight for the record.
func (d *Driver) Header() record.Header {
	h := d.Flight.Header()
	h.Date = d.start.At.Unix
	if d.o.Continue != nil {
		h.Date = d.o.Continue.Began
	}
	return h
}

// Attach sets the recorder of the log, before Fly.
func (d *Driver) Attach(rec record.Recorder) {
	d.log = log{to: rec, tlog: d.o.Tlog, tell: d.tell}
	if _, ok := rec.(record.FlightRecorder); !ok {
		d.Flight.Attach(&d.log)
		return
	}
	var tlog io.Writer
	if d.o.Tlog != nil {
		tlog = &d.log
	}
	l := box.NewLogger(d.Header(), &d.log, tlog)
	l.Drive(d.Flight)
	d.step = l.Step
	d.Flight.Attach(l)
}

// tell tells an event.
func (d *Driver) tell(e record.Event) {
	if d.o.Tell != nil && !d.silent {
		d.o.Tell(e)
	}
}

// Fly drives the flight until it is over. Errors of the log and of the black box are returned at the end. After each
// input it calls observe, which may be nil, with whether the flight goes on; an error of observe ends Fly. A context
// that is done ends it with [record.ErrInterrupted]: Stop then ends the flight in good order.
func (d *Driver) Fly(ctx context.Context, observe func(more bool) error) error {
	d.observe = observe
	if err := d.begin(); err != nil {
		return err
	}
	if err := d.drive(ctx); err != nil {
		return err
	}
	return errors.Join(d.Err(), d.end())
}

// Stop lets the operator stop the flight: the exit procedures of the plan run, and the vehicle is told how to go on.
func (d *Driver) Stop(string) error {
	if d.closed {
		return nil
	}
	observe := d.observe
	d.observe = func(more bool) error {
		if observe != nil {
			_ = observe(more) // it cannot end the flight again
		}
		return nil
	}
	err := d.begin()
	if err == nil && !d.Over() {
		if err = d.feed(flight.Input{Kind: flight.Operator, At: d.wire.Now(), Data: []byte(flight.Stop)}); err == nil {
			err = d.drive(context.Background())
		}
	}
	return errors.Join(err, d.Err(), d.end())
}

// begin opens the black box and tells the flight that the program has started and the wire is open.
func (d *Driver) begin() (err error) {
	if d.begun {
		return nil
	}
	d.begun = true
	begin := d.react
	if d.o.Continue != nil {
		if err := d.again(); err != nil {
			d.closed = true // nothing is sent to a vehicle of which nothing is known
			return errors.Join(err, d.wire.Close())
		}
		begin = d.feed
	} else if d.o.Box != nil {
		if d.box, err = d.o.Box(d.start); err != nil {
			return err
		}
	}
	if d.o.Listen != nil {
		if d.server, err = d.o.Listen(); err != nil {
			return err
		}
	}
	return errors.Join(begin(d.start),
		d.feed(flight.Input{Kind: flight.Open, At: d.wire.Now(), Data: []byte(d.wire.String())}))
}

// ErrContinue is wrapped by the errors of a flight that cannot go on from its black box.
var ErrContinue = errors.New("driver: the flight cannot be continued")

// again feeds the flight what reached it until its program was killed. What it answers is not sent: either it was then,
// or it counts as lost on the way.
func (d *Driver) again() error {
	r := box.NewReplayer(stepper(d.step), false)
	d.silent = true
	b, err := d.o.Continue.Open(r.Feed)
	d.silent = false
	if err != nil {
		return err
	}
	if r.Difference != nil {
		return errors.Join(fmt.Errorf("%w: it would not have done what its black box shows: %v", ErrContinue, r.Difference),
			b.Close())
	}
	d.box, d.decided = b, d.Decisions()
	d.start = flight.Input{Kind: flight.Start, At: d.wire.Now()}
	return nil
}

// stepper is the step of a flight, to which a box is replayed.
type stepper func(in flight.Input) ([][]byte, error)

func (s stepper) Step(in flight.Input) ([][]byte, error) { return s(in) }

// drive feeds the flight until it is over.
func (d *Driver) drive(ctx context.Context) error {
	var asks <-chan Ask
	if d.server != nil {
		asks = d.server.Asks()
	}
	for !d.Over() {
		in, ask := d.wire.Next(ctx, d.Due(), asks)
		if ctx.Err() != nil {
			return record.ErrInterrupted
		}
		if ask != nil {
			o := operated{d, nil}
			if ask(&o); o.err != nil {
				return o.err
			}
		} else if err := d.feed(in); err != nil {
			return err
		}
		if d.observe != nil {
			if err := d.observe(!d.Over()); err != nil {
				return err
			}
		}
	}
	return nil
}

// feed records an input before the flight reacts to it.
func (d *Driver) feed(in flight.Input) error {
	d.record(func(b Box) error { return b.Append(in) })
	return d.react(in)
}

// react lets the flight react to an input. What it answers is sent before it is on the disk: a command does not wait.
func (d *Driver) react(in flight.Input) error {
	out, err := d.step(in)
	d.record(func(b Box) error { return b.Out(out) })
	for _, frame := range out {
		d.wire.Write(frame)
	}
	if d.Decisions() > d.decided {
		d.decided = d.Decisions()
		d.record(Box.Sync)
	}
	return err
}

// NotRecorded is the kind of the event that is told when the black box is full or broken. It is not in the log: a
// replay of the box has the same log.
const NotRecorded = "not recorded"

// record writes into the black box. One that is full or broken does not end the flight.
func (d *Driver) record(write func(b Box) error) {
	if d.box == nil {
		return
	}
	if err := write(d.box); err != nil {
		d.lost = errors.Join(err, d.box.Close())
		d.box = nil
		d.tell(record.Event{T: d.T(), Kind: NotRecorded,
			Text: "the black box is full or broken; the flight goes on, but --resume cannot continue it"})
	}
}

// end ends the record and closes the wire.
func (d *Driver) end() error {
	if d.closed {
		return nil
	}
	d.closed = true
	err := d.feed(flight.Input{Kind: flight.End, At: d.wire.Now()})
	if d.server != nil {
		err = errors.Join(err, d.server.Close())
	}
	if d.box != nil {
		err = errors.Join(err, d.box.Close())
	}
	return errors.Join(also(err, d.log.err), d.lost, d.wire.Close())
}

// Operate passes a command of the operator to the flight. It may be called at any time, by any goroutine.
func (d *Driver) Operate(command string) { d.wire.Operate(command) }

// State implements the state of a run.
func (d *Driver) State(c *snapshot.Codec) { d.Flight.State(c) }

// operated is a flight as its operators command it: by inputs, which the black box holds.
type operated struct {
	*Driver
	err error // of the flight
}

// Command implements control.Controlled.
func (o *operated) Command(v control.Verb, from string) error {
	o.operate(flight.From(from, string(v)))
	return o.err
}

// Swap implements control.Controlled.
func (o *operated) Swap(src *diag.Source, safe bool, from string) (diag.List, error) {
	if o.operate(flight.From(from, flight.Swap(src, safe))); o.err != nil {
		return nil, o.err
	}
	return o.Swapped()
}

func (o *operated) operate(command string) {
	if o.err == nil {
		o.err = o.feed(flight.Input{Kind: flight.Operator, At: o.wire.Now(), Data: []byte(command)})
	}
}
