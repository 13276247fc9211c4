package driver

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/link"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/flight"
)

// FarEnd is what a flight is connected with: a way to a vehicle, with the clocks by which it is driven.
type FarEnd interface {
	// Now returns the reading of the clocks.
	Now() service.Clock
	// Next waits for the next input, until the wall clock shows due [ns] or the context is done: then it is a Wake. If an
	// operator asks for something first, it returns that instead.
	Next(ctx context.Context, due int64, asks <-chan Ask) (flight.Input, Ask)
	// Write sends a frame. What cannot be sent is lost.
	Write(frame []byte)
	// Operate passes a command of the operator to Next. It may be called at any time, by any goroutine.
	Operate(command string)
	Close() error
	// String returns the address.
	String() string
}

// Ask is what an operator asks for; the loop of the flight must call it.
type Ask = func(control.Controlled)

// live is a link, driven by the clocks of the computer.
type live struct {
	link   link.Link
	clock  func() service.Clock
	inputs chan flight.Input
	done   chan struct{}
	stuck  bool           // the link takes no bytes
	own    []flight.Input // what Write noticed
}

// Live returns the far end of an open link. The wall clock begins at a time [ns], 1 for a new flight.
func Live(l link.Link, wall int64) FarEnd {
	began := time.Now()
	return newLive(l, func() service.Clock {
		now := time.Now()
		return service.Clock{Wall: wall + now.Sub(began).Nanoseconds(), Unix: now.UnixNano()}
	})
}

func newLive(l link.Link, clock func() service.Clock) *live {
	c := &live{link: l, clock: clock, inputs: make(chan flight.Input, 1024), done: make(chan struct{})}
	go c.read()
	return c
}

func (c *live) String() string { return c.link.String() }

// Now implements FarEnd.
func (c *live) Now() service.Clock { return c.clock() }

// read stamps what arrives.
func (c *live) read() {
	buf := make([]byte, link.Datagram)
	for {
		n, err := c.link.Read(buf)
		in := flight.Input{Kind: flight.Frame, At: c.Now(), Data: append([]byte(nil), buf[:n]...)}
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			in.Kind, in.Data = flight.Close, []byte(err.Error())
		case n == 0:
			in.Kind, in.Data = flight.Open, []byte(c.link.String())
		}
		select {
		case c.inputs <- in:
		case <-c.done:
			return
		}
	}
}

// Next implements FarEnd.
func (c *live) Next(ctx context.Context, due int64, asks <-chan Ask) (flight.Input, Ask) {
	if len(c.own) > 0 {
		in := c.own[0]
		c.own = c.own[1:]
		return in, nil
	}
	timer := time.NewTimer(time.Duration(max(0, due-c.Now().Wall)))
	defer timer.Stop()
	select {
	case in := <-c.inputs:
		return in, nil
	case ask := <-asks:
		return flight.Input{}, ask
	case <-timer.C:
	case <-ctx.Done():
	}
	return flight.Input{Kind: flight.Wake, At: c.Now()}, nil
}

// Write implements FarEnd. Telemetry shows what arrived; a link that takes nothing is lost until it does.
func (c *live) Write(frame []byte) {
	err := c.link.Write(frame)
	switch stuck := errors.Is(err, link.ErrStuck); {
	case stuck && !c.stuck:
		c.own = append(c.own, flight.Input{Kind: flight.Close, At: c.Now(), Data: []byte(err.Error())})
	case err == nil && c.stuck:
		c.own = append(c.own, flight.Input{Kind: flight.Open, At: c.Now(), Data: []byte(c.link.String())})
	default:
		return
	}
	c.stuck = !c.stuck
}

// Operate implements FarEnd.
func (c *live) Operate(command string) {
	select {
	case c.inputs <- flight.Input{Kind: flight.Operator, At: c.Now(), Data: []byte(command)}:
	case <-c.done:
	}
}

// Close implements FarEnd.
func (c *live) Close() error {
	close(c.done)
	return c.link.Close()
}

// simulated is a fake autopilot in this program. Its clock is that of the flight.
type simulated struct {
	vehicle  *fake.Autopilot
	name     string
	start    int64 // Unix time [ns]
	wall     int64
	arrived  [][]byte
	speed    float64 // of real time; 0: as fast as possible
	began    time.Time
	commands chan string // of the operator
}

// Fake returns the far end of a fake autopilot, which is switched on at a Unix time [ns]. Its clock runs at a multiple
// of real time; 0 is as fast as possible.
func Fake(name string, v *fake.Autopilot, unix int64, speed float64) FarEnd {
	return &simulated{vehicle: v, name: name, start: unix, wall: 1, speed: speed, began: time.Now(),
		commands: make(chan string, 1024)}
}

func (c *simulated) String() string { return c.name }

// Now implements FarEnd.
func (c *simulated) Now() service.Clock { return service.Clock{Wall: c.wall, Unix: c.start + c.wall} }

// step is the longest time that passes at once [ns].
const step = 20_000_000

// Next implements FarEnd.
func (c *simulated) Next(ctx context.Context, due int64, asks <-chan Ask) (flight.Input, Ask) {
	for {
		select {
		case ask := <-asks:
			return flight.Input{}, ask
		case command := <-c.commands:
			return flight.Input{Kind: flight.Operator, At: c.Now(), Data: []byte(command)}, nil
		default:
		}
		if len(c.arrived) > 0 {
			in := flight.Input{Kind: flight.Frame, At: c.Now(), Data: c.arrived[0]}
			c.arrived = c.arrived[1:]
			return in, nil
		}
		if due <= c.wall || ctx.Err() != nil {
			return flight.Input{Kind: flight.Wake, At: c.Now()}, nil
		}
		dt := min(step, due-c.wall)
		c.vehicle.Step(dt)
		c.wall += dt
		c.arrived = c.vehicle.Out()
		if c.speed > 0 {
			time.Sleep(time.Until(c.began.Add(time.Duration(float64(c.wall) / c.speed))))
		}
	}
}

// Write implements FarEnd.
func (c *simulated) Write(frame []byte) { c.vehicle.Receive(frame) }

// Operate implements FarEnd.
func (c *simulated) Operate(command string) { c.commands <- command }

// Close implements FarEnd.
func (c *simulated) Close() error { return nil }
