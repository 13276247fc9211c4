// Package driver drives a flight: it stamps what arrives on a wire with the readings of the clocks, puts it into the
// black box, passes it to the flight and sends what the flight answers. All decisions are the flight's.
//
// A flight has three rooms, so that each is used without the next: flight is a pure step, box has its files, in which a
// step is replayed without a link, and driver has the clocks, the links and the goroutines.
package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run/box"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
)

// Box receives everything that reaches a flight and everything that it sends, and from time to time the state of the
// flight; box.Writer is one.
type Box interface {
	Append(in flight.Input) error
	Out(datagrams [][]byte) error
	Sync() error
	Due() bool
	Checkpoint(state []byte) error
	Close() error
}

// Options are the settings of a driver.
type Options struct {
	Describe []byte                                // the data of the first input, which describes the flight
	Box      func(start flight.Input) (Box, error) // begins the black box; nil: there is none
	Continue Box                                   // of a flight that was restored; nil: the flight begins
	Listen   func() (*control.Server, error)       // begins to serve operators; nil: nothing does
	Tell     func(e record.Event)                  // is called with each event of the log; nil: nothing is
	Tlog     io.Writer                             // receives the frames in the format of that name; nil: nothing does
}

// Restore makes a flight that has not begun go on from its black box, after its program was killed: open passes the
// records to feed, and returns the box to be continued. What the flight answers to them is not sent: either it was
// then, or it counts as lost on the way. Nothing of it is logged.
func Restore(f *flight.Flight, open func(feed func(box.Record) error) (Box, error)) (Box, error) {
	f.Attach(record.Nothing{})
	r := box.NewReplayer(f, false)
	b, err := open(r.Feed)
	if err != nil {
		return nil, err
	}
	if err = r.End(&box.Ending{}); err == nil && r.Difference != nil {
		err = fmt.Errorf("%w: it would not have done what its black box shows: %v", ErrContinue, r.Difference)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	f.Relog()
	return b, nil
}

// ErrContinue is wrapped by the errors of a flight that cannot go on from its black box.
var ErrContinue = errors.New("driver: the flight cannot be continued")

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
	closed  bool
	decided int
	state   []byte // scratch
	observe func(more bool) error
}

// New returns the driver of a flight, which has not begun.
func New(f *flight.Flight, c FarEnd, o Options) *Driver {
	if o.Tell == nil {
		o.Tell = func(record.Event) {}
	}
	return &Driver{Flight: f, wire: c, o: o, step: f.Step,
		start: flight.Input{Kind: flight.Start, At: c.Now(), Data: o.Describe}}
}

// Header describes the flight for the record.
func (d *Driver) Header() record.Header {
	h := d.Flight.Header()
	h.Date = d.start.At.Unix
	return h
}

// Attach sets the recorder of the log, before Fly.
func (d *Driver) Attach(rec record.Recorder) {
	d.log = log{to: rec, tlog: d.o.Tlog, tell: d.o.Tell}
	var tlog io.Writer
	if d.o.Tlog != nil {
		tlog = &d.log
	}
	l := box.NewLogger(d.Header(), &d.log, tlog)
	l.Drive(d.Flight)
	d.step = l.Step
	d.Flight.Attach(l)
}

// Waited returns the time since the start of the program [s].
func (d *Driver) Waited() float64 { return float64(d.wire.Now().Wall-d.start.At.Wall) / 1e9 }

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
	begin := d.react // the box begins with the first input
	if d.o.Continue != nil {
		d.box, d.decided, d.start.Data = d.o.Continue, d.Decisions(), nil
		begin = d.feed
	} else if d.o.Box != nil {
		b, err := d.o.Box(d.start)
		if err != nil {
			return err // d.box stays nil, whatever b is
		}
		d.box = b
	}
	if d.o.Listen != nil {
		if d.server, err = d.o.Listen(); err != nil {
			return err
		}
	}
	return errors.Join(begin(d.start),
		d.feed(flight.Input{Kind: flight.Open, At: d.wire.Now(), Data: []byte(d.wire.String())}))
}

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
	if err == nil && d.box != nil && d.box.Due() {
		d.state = snapshot.Save(d.state[:0], d.Flight)
		d.record(func(b Box) error { return b.Checkpoint(d.state) })
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
		d.o.Tell(record.Event{T: d.T(), Kind: NotRecorded,
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
	return errors.Join(record.Join(err, d.log.err), d.lost, d.wire.Close())
}

// Operate passes a command of the operator to the flight. It may be called at any time, by any goroutine.
func (d *Driver) Operate(command string) { d.wire.Operate(command) }

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
func (o *operated) Swap(next *mission.Mission, safe bool, from string) error {
	o.Compiled(next)
	if o.operate(flight.From(from, flight.Swap(next.Plan.Source, safe))); o.err != nil {
		return o.err
	}
	list, err := o.Swapped()
	return cmp.Or(err, list.Err())
}

func (o *operated) operate(command string) {
	if o.err == nil {
		o.err = o.feed(flight.Input{Kind: flight.Operator, At: o.wire.Now(), Data: []byte(command)})
	}
}
