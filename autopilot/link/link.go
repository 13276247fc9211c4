// Package link opens the channels to vehicles: UDP, TCP and serial lines. It is the only room with sockets. A channel
// carries bytes. Of MAVLink it knows which frames are the vehicle's, and their signatures.
package link

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
)

// Link is a channel to a vehicle. Read and Write may be called at the same time; Close ends a Read that waits.
type Link interface {
	// Read waits for bytes: one datagram, or a part of a stream. An error that wraps [ErrBroken] says that the
	// connection was lost; the next Read waits until it is there again, and returns 0. After Close the error wraps
	// [net.ErrClosed].
	Read(buf []byte) (int, error)

	// Write sends one frame. It does not wait for a connection: what cannot be sent is lost, with an error that wraps
	// [ErrBroken] or, before a vehicle is heard, [ErrUnheard].
	Write(frame []byte) error

	// Close ends the channel.
	Close() error

	// Stream reports whether frames may be cut between two calls of Read.
	Stream() bool

	// String returns the address. The port is the one in use, also if 0 was asked for.
	String() string
}

// ErrBroken reports a connection that was lost.
var ErrBroken = errors.New("the connection is lost")

// ErrUnheard reports that no vehicle has sent anything to the address, so that there is no address to answer to.
var ErrUnheard = errors.New("no vehicle has sent anything yet")

// Datagram is the length of a buffer that holds any datagram.
const Datagram = 1 << 16

// kinds are the kinds of addresses.
var kinds = []struct {
	name, form, text string
	read             func(rest string) (at string, err error) // what is opened
	open             func(at string) (channel, error)
}{
	{"udp", "udp:HOST:PORT", "wait for a vehicle's datagrams at a port of this computer, and answer", hostPort, listen},
	{"udpout", "udpout:HOST:PORT", "send datagrams to a port where a vehicle waits", hostPort, dialUDP},
	{"tcp", "tcp:HOST:PORT", "connect to a vehicle or simulator", hostPort, dialTCP},
	{"tcpin", "tcpin:HOST:PORT", "wait for one connection at a port of this computer", hostPort, listenTCP},
	{"serial", "serial:DEVICE[:BAUD]", "a serial line or telemetry radio; 57600 baud unless given", device, openSerial},
}

// Forms describes the addresses, one in a line.
func Forms() string {
	var b strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&b, "%-21s %s\n", k.form, k.text)
	}
	return b.String()
}

// Open opens the channel of an address: udp:HOST:PORT, udpout:HOST:PORT, tcp:HOST:PORT,
// tcpin:HOST:PORT or serial:DEVICE[:BAUD]. An empty host is this computer. Where the vehicle is that the guard names,
// only its valid frames say; while they come, what others send there is ignored.
func Open(address string, g Guard) (Link, error) {
	l, err := opened(address, true)
	if err != nil {
		return nil, err
	}
	return guardedBy(l, g), nil
}

// Check returns the error of an address that cannot be one, without opening it.
func Check(address string) error {
	_, err := opened(address, false)
	return err
}

func opened(address string, open bool) (l channel, err error) {
	kind, rest, _ := strings.Cut(address, ":")
	var names, forms []string
	for _, k := range kinds {
		if k.name == kind {
			at, err := k.read(rest)
			if err == nil && open {
				l, err = k.open(at)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", address, Plain(err))
			}
			return l, nil
		}
		names, forms = append(names, k.name), append(forms, k.form)
	}
	hint := diag.DidYouMean(kind, names)
	if hint == "" {
		hint = "write " + strings.Join(forms, ", ")
	}
	return nil, fmt.Errorf("%s: not the address of a link: %s", address, hint)
}

// loopback is the host unless another is given.
const loopback = "127.0.0.1"

// hostPort completes and checks an address. Names of computers are looked up.
func hostPort(rest string) (string, error) {
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		return "", fmt.Errorf("%q is not HOST:PORT, as in %s:14550", rest, loopback)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("the port %q is not a number from 0 to 65535", port)
	}
	if host == "" {
		host = loopback
	}
	_, err = net.ResolveIPAddr("ip", host)
	return net.JoinHostPort(host, port), err
}
