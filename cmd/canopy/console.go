package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/run/driver"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"

	"golang.org/x/term"
)

// console shows a flight to whoever started it.
type console struct {
	d       *driver.Driver
	quiet   bool
	vehicle string
	bar     *progress
	to      *aside
	state   string // that was shown last
	close   func()
}

func newConsole(w io.Writer, quiet bool, vehicle string, until float64) *console {
	c := &console{quiet: quiet, vehicle: vehicle, bar: newProgress(w, until), to: newAside(w)}
	c.bar.to = c.to
	c.close = sync.OnceFunc(func() {
		c.bar.clear()
		close(c.to.texts)
		select { // wait a second at most until all is shown
		case <-c.to.done:
		case <-time.After(time.Second):
		}
	})
	return c
}

// tell shows an event.
func (c *console) tell(e record.Event) {
	if text, ok := told(e, c.vehicle); ok {
		c.say(text)
	}
}

// show shows the state of the flight, if it has changed, and its progress.
func (c *console) show() {
	if state := stateOf(c.d); state != c.state {
		c.say(state)
		c.state = state
	}
	c.bar.show(c.d.T(), c.d.Events)
}

// say shows a text with the time of the plan; in brackets, before the plan has begun, the time since the program was
// started.
func (c *console) say(text string) {
	if c.quiet {
		return
	}
	at := report.Clock(c.d.T())
	if !c.d.Started() {
		at = "(" + report.Clock(c.d.Waited()) + ")"
	}
	c.bar.clear()
	fmt.Fprintf(c.to, "canopy: %s  %s\n", at, text)
}

// operate passes lines from a terminal to the flight.
func operate(in io.Reader, d *driver.Driver) {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return
	}
	go func() {
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if command := strings.TrimSpace(lines.Text()); command == flight.Resume || command == flight.Stop {
				d.Operate(command)
			}
		}
	}()
}

// told returns what the operator is told of an event: what the vehicle and its link do, not each command and its proof.
func told(e record.Event, vehicle string) (text string, ok bool) {
	text = diag.Visible(e.Text)
	switch e.Kind {
	case adapter.Attaching.String():
		if strings.HasSuffix(text, "still nothing") {
			text += " from " + vehicle
		}
	case adapter.Checked.String(), adapter.Attached.String(), adapter.Observed.String(), adapter.Refused.String(),
		adapter.LinkLost.String(), adapter.LinkBack.String(), adapter.Rebooted.String(), adapter.ModeChanged.String(),
		adapter.PilotTook.String(), adapter.StationTook.String(), adapter.FailsafeTook.String(),
		adapter.Resumed.String(), adapter.Stored.String(), adapter.Text.String(), adapter.Jumped.String(),
		adapter.Waiting.String(), "end", driver.NotRecorded, flight.Connection, flight.Asked, flight.Undefined:
	default:
		return "", false
	}
	return e.Kind + ": " + text, true
}

// stateOf describes the state of a flight in a few words.
func stateOf(d *driver.Driver) string {
	switch {
	case d.Over():
		return "the flight is over"
	case !d.Started() && d.Vehicle() == adapter.Attach:
		return "the plan waits until the vehicle is attached"
	case !d.Started():
		return d.Vehicle().String() + ": the plan waits"
	case d.Awaiting():
		return "the plan goes on when the vehicle's telemetry has arrived"
	case d.Suspended():
		return d.Vehicle().String() + ": the plan is suspended; the line \"resume\" continues it"
	case d.Vehicle() == adapter.Lost:
		return "the link is lost: the plan goes on"
	}
	return "the plan is flown"
}
