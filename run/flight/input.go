// Package flight flies a mission on a vehicle that is observed and commanded over a link: an executive, a world whose
// trajectory is telemetry, an adapter to the vehicle, and the policies of a flight.
//
// A [Flight] is a pure function of its inputs: the same inputs give the same frames, log entries and statuses. Whoever
// drives it stamps what arrives with clock readings, passes it to Step and sends the frames that Step returns.
package flight

import (
	"strings"

	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/diag"
)

// Input is one thing that happens to a flight, with the reading of the clocks then. At.Vehicle is not used: the adapter
// maps the other clocks to that of the vehicle.
type Input struct {
	Kind Kind
	At   service.Clock
	Data []byte // what the kind says
}

// Stream reports whether an input of kind Open opens a stream: its frames may be cut between inputs of kind Frame.
func (in Input) Stream() bool {
	kind, _, _ := strings.Cut(string(in.Data), ":")
	return kind == "tcp" || kind == "tcpin" || kind == "serial"
}

// Kind is the kind of an input.
type Kind uint8

// The kinds of inputs.
const (
	Start    Kind = iota // the program has started; Data describes the flight, for those who record it
	Open                 // the link was opened; Data is its address
	Close                // the link was closed; Data is the reason
	Frame                // bytes arrived on the link: one datagram, or a part of a stream
	Wake                 // the time that Due gave has come
	Operator             // the operator commands: Data is Stop, Resume, Withdraw or what Swap or From returns
	End                  // the program ends
)

var kindNames = [...]string{"start", "open", "close", "frame", "wake", "operator", "end"}

// String returns the name of the kind; "" if there is no such kind.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return ""
	}
	return kindNames[k]
}

// The commands of an operator.
const (
	Stop   = "stop"   // the plan's exit procedures, then the vehicle is left as the flight's options say
	Resume = "resume" // the plan commands the vehicle again

	Withdraw = "withdraw" // an exchange of the plan that is under way ends: the present one stays
)

// Heads of the command to exchange the plan.
const (
	exchange       = "swap"
	exchangeSafely = "swap-safely"
)

// Swap returns the command to go on with another plan, given as a document; safely: without interrupting an action. It
// has the name and the text of the document.
func Swap(src *diag.Source, safely bool) string {
	head := exchange
	if safely {
		head = exchangeSafely
	}
	return head + " " + strings.ReplaceAll(src.Name, "\n", " ") + "\n" + src.Text
}

// remote is how the first line of a command begins that came over the network; an address follows.
const remote = "from "

// From returns a command with the address from which it came over the network. "" is none: the user of this computer.
func From(address, command string) string {
	if address == "" {
		return command
	}
	return remote + strings.ReplaceAll(address, "\n", " ") + "\n" + command
}
