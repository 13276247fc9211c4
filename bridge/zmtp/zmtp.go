// Package zmtp answers requests of ZeroMQ's clients: ZMTP 3.0 with the mechanism NULL (https://rfc.zeromq.org/spec/23),
// the sides of a REP and of a PUB socket.
package zmtp

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"
)

// Limits of a client, which may be anybody on this computer.
const (
	mostClients = 32
	mostFrames  = 64
	mostBytes   = 1 << 20         // of a message
	patience    = 2 * time.Second // for the handshake, and to take an answer
)

// ErrProtocol is wrapped by the errors of a client that does not keep to the protocol.
var ErrProtocol = errors.New("not ZMTP 3")

// Serve serves clients until the listener is closed. Each request, a message of some frames, is answered by the frames
// that answer returns, which is called by several goroutines. If it is nil, the socket is a PUB that has nothing to
// say. A client that does not take an answer, or breaks the protocol, is dropped; the others do not notice.
func Serve(l net.Listener, answer func(request [][]byte) [][]byte) {
	slots := make(chan struct{}, mostClients)
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files: that passes
			time.Sleep(patience / 20)
			continue
		}
		select {
		case slots <- struct{}{}:
			go func() {
				defer func() { <-slots }()
				defer c.Close() //nolint:errcheck // what was written before counts
				_ = serve(c, answer)
			}()
		default:
			_ = c.Close()
		}
	}
}

// serve serves one client, and returns why it is over.
func serve(c net.Conn, answer func([][]byte) [][]byte) error {
	in := bufio.NewReader(c)
	_ = c.SetDeadline(time.Now().Add(patience))
	socket, clients := "REP", []string{"REQ", "DEALER"}
	if answer == nil {
		socket, clients = "PUB", []string{"SUB", "XSUB"}
	}
	if err := shake(in, c, socket, clients); err != nil {
		return err
	}
	_ = c.SetDeadline(time.Time{})
	say := func(b []byte) error {
		_ = c.SetWriteDeadline(time.Now().Add(patience))
		_, err := c.Write(b)
		return err
	}
	for {
		frames, err := message(in, say)
		if err != nil {
			return err
		}
		if answer == nil {
			continue // a subscription
		}
		// The addresses of those through whom a request has come, with an empty frame behind them, precede the answer, too.
		body := slices.IndexFunc(frames, func(f []byte) bool { return len(f) == 0 }) + 1
		if body == 0 {
			continue // it is no request
		}
		if err := say(appendMessage(nil, append(frames[:body:body], answer(frames[body:])...))); err != nil {
			return err
		}
	}
}

// The flags of a frame.
const (
	flagMore = 1 << iota
	flagLong
	flagCommand
)

const mechanism = "NULL"

// greeting is what both sides send at first: signature, version, mechanism, whether this is its server, and padding.
func greeting() []byte {
	b := make([]byte, 64)
	b[0], b[8], b[9], b[10] = 0xff, 1, 0x7f, 3
	copy(b[12:32], mechanism)
	return b
}

// shake does the handshake as a socket that serves those of some types.
func shake(in *bufio.Reader, out io.Writer, socket string, clients []string) error {
	if _, err := out.Write(greeting()); err != nil {
		return err
	}
	theirs := make([]byte, 64)
	if _, err := io.ReadFull(in, theirs); err != nil {
		return err
	}
	if theirs[0] != 0xff || theirs[9]&1 == 0 || theirs[10] < 3 ||
		string(bytes.TrimRight(theirs[12:32], "\x00")) != mechanism {
		return fmt.Errorf("%w with the mechanism %s", ErrProtocol, mechanism)
	}
	flags, body, err := frame(in, mostBytes)
	if err != nil {
		return err
	}
	client, err := ready(body)
	if flags&flagCommand == 0 || err != nil {
		return fmt.Errorf("%w: no READY", ErrProtocol)
	}
	if !slices.Contains(clients, client) {
		reason := fmt.Sprintf("%s serves %s", socket, strings.Join(clients, " and "))
		_, _ = out.Write(command("ERROR", append([]byte{byte(len(reason))}, reason...)))
		return fmt.Errorf("%w: a client of type %.20q", ErrProtocol, client)
	}
	b := property(nil, "Socket-Type", socket)
	_, err = out.Write(command("READY", property(b, "Identity", "")))
	return err
}

func property(b []byte, name, value string) []byte {
	b = append(append(b, byte(len(name))), name...)
	return append(binary.BigEndian.AppendUint32(b, uint32(len(value))), value...)
}

// command returns a short command.
func command(name string, data []byte) []byte {
	b := append([]byte{flagCommand, byte(1 + len(name) + len(data)), byte(len(name))}, name...)
	return append(b, data...)
}

// named splits off a name that its length precedes in one byte.
func named(b []byte) (name string, rest []byte, ok bool) {
	if len(b) == 0 || len(b) <= int(b[0]) {
		return "", nil, false
	}
	return string(b[1 : 1+b[0]]), b[1+b[0]:], true
}

// ready returns the type of the socket that sent a READY command.
func ready(body []byte) (socket string, err error) {
	name, rest, ok := named(body)
	if !ok || name != "READY" {
		return "", ErrProtocol
	}
	for len(rest) > 0 {
		if name, rest, ok = named(rest); !ok || len(rest) < 4 {
			return "", ErrProtocol
		}
		size := uint64(binary.BigEndian.Uint32(rest))
		if rest = rest[4:]; size > uint64(len(rest)) {
			return "", ErrProtocol
		}
		if strings.EqualFold(name, "Socket-Type") {
			socket = string(rest[:size])
		}
		rest = rest[size:]
	}
	return socket, nil
}

// frame reads a frame of at most a number of bytes.
func frame(in *bufio.Reader, most int) (flags byte, body []byte, err error) {
	head := make([]byte, 8)
	if flags, err = in.ReadByte(); err != nil {
		return 0, nil, err
	}
	size := head[7:]
	if flags&flagLong != 0 {
		size = head
	}
	if _, err = io.ReadFull(in, size); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint64(head)
	if flags > flagMore|flagLong|flagCommand || flags&flagMore != 0 && flags&flagCommand != 0 || n > uint64(most) {
		return 0, nil, fmt.Errorf("%w: a frame with the flags %#x and %d bytes", ErrProtocol, flags, n)
	}
	body = make([]byte, n)
	_, err = io.ReadFull(in, body)
	return flags, body, err
}

// message reads the frames of a message. It answers the commands before it and between them: a PING by a PONG.
func message(in *bufio.Reader, say func([]byte) error) (frames [][]byte, err error) {
	left := mostBytes
	for {
		flags, body, err := frame(in, left)
		if err != nil {
			return nil, err
		}
		if flags&flagCommand != 0 {
			const context = 4 + 1 + 2 // the name with its length, and the time that a connection may be silent
			if bytes.HasPrefix(body, []byte("\x04PING")) && context <= len(body) && len(body) <= context+16 {
				err = say(command("PONG", body[context:]))
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		left -= len(body)
		if frames = append(frames, body); len(frames) > mostFrames {
			return nil, fmt.Errorf("%w: a message of more than %d frames", ErrProtocol, mostFrames)
		}
		if flags&flagMore == 0 {
			return frames, nil
		}
	}
}

// appendMessage appends a message of these frames.
func appendMessage(b []byte, frames [][]byte) []byte {
	for i, f := range frames {
		flags := byte(0)
		if i < len(frames)-1 {
			flags = flagMore
		}
		if len(f) > 255 {
			b = binary.BigEndian.AppendUint64(append(b, flags|flagLong), uint64(len(f)))
		} else {
			b = append(b, flags, byte(len(f)))
		}
		b = append(b, f...)
	}
	return b
}
