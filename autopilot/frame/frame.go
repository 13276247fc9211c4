// Package frame converts between bytes and MAVLink messages: it cuts datagrams and streams into frames, counts what was
// lost and repeated, signs and verifies. It contains no socket and no clock.
//
// The messages are the structures of the dialect ardupilotmega, which includes common. Rooms that read them switch on
// their types. The source of the format is the MAVLink guide, "Packet Serialization" and "Message Signing".
package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/message"
	"github.com/bluenviron/gomavlib/v3/pkg/x25"
)

// Message is a pointer to a message structure of the dialect, or [Unknown].
type Message interface{ GetID() uint32 }

// Unknown is a message that the dialect does not contain. Its checksum cannot be verified.
type Unknown struct{ ID uint32 }

// GetID returns the number of the message.
func (u *Unknown) GetID() uint32 { return u.ID }

// Frame is one message with its addresses.
type Frame struct {
	System, Component             byte // the sender
	TargetSystem, TargetComponent byte // the addressee; 0: everyone, and for messages without a target
	Sequence                      byte
	Late                          bool   // a later frame of the sender was received before, or this one already
	Boot                          uint32 // the message's time since the sender's boot, in milliseconds
	Stamped                       bool   // the message contains Boot
	Message                       Message
	Raw                           []byte // the frame as it was received: part of the Reader's bytes
}

// From reports whether the frame comes from this component.
func (f Frame) From(system, component byte) bool {
	return f.System == system && f.Component == component
}

// For reports whether the frame is addressed to this component, or to everyone.
func (f Frame) For(system, component byte) bool {
	return (f.TargetSystem == 0 || f.TargetSystem == system) &&
		(f.TargetComponent == 0 || f.TargetComponent == component)
}

// The two versions of the format; each frame begins with one of them.
const (
	magic1 = 0xFE
	magic2 = 0xFD

	header1, header2 = 6, 10 // bytes before the payload
	checksum         = 2
	signature        = 13
	signed           = 1 // the only incompatibility flag that is defined
)

// ErrMessage reports a message that the dialect does not contain.
var ErrMessage = errors.New("the dialect has no such message")

// codecs contains what is needed to read and write messages, by their numbers. The dialect's tables are made for each
// message when it first occurs: making them all takes tens of milliseconds.
type codecs map[uint32]*codec

type codec struct {
	message.ReadWriter
	system, component int // places of the target's fields, or -1
	boot              int // place of the time since boot, or -1
}

// of returns the codec of a message, or nil if the dialect does not contain it.
func (c *codecs) of(id uint32) *codec {
	if *c == nil {
		*c = codecs{}
		for _, m := range mav.Dialect.Messages {
			(*c)[m.GetID()] = &codec{ReadWriter: message.ReadWriter{Message: m}, system: none, component: none}
		}
	}
	k := (*c)[id]
	if k != nil && k.system == none {
		if err := k.Initialize(); err != nil {
			panic("frame: a message of the dialect is not valid")
		}
		k.system, k.component = place(k.Message, "TargetSystem"), place(k.Message, "TargetComponent")
		k.boot = place(k.Message, "TimeBootMs")
	}
	return k
}

// prepare makes the tables of messages.
func (c *codecs) prepare(ids []uint32) {
	for _, id := range ids {
		c.of(id)
	}
}

// none is the place of a field in a codec that has not been used.
const none = -2

// place returns the index of a field of a message, or -1.
func place(m Message, name string) int {
	field, ok := reflect.TypeOf(m).Elem().FieldByName(name)
	if !ok {
		return -1
	}
	return field.Index[0]
}

// Size returns the number of bytes of the frame at the start of data, from its header alone, or 0 if data does not
// begin with a frame. If it is greater than len(data), the end is missing.
func Size(data []byte) int {
	switch {
	case len(data) == 0:
		return 0
	case data[0] == magic1 && len(data) == 1, data[0] == magic2 && len(data) < 3:
		return header1 + checksum // the smallest of all frames: more is known when more bytes are there
	case data[0] == magic1:
		return header1 + int(data[1]) + checksum
	case data[0] == magic2 && data[2] == 0:
		return header2 + int(data[1]) + checksum
	case data[0] == magic2 && data[2] == signed:
		return header2 + int(data[1]) + checksum + signature
	}
	return 0
}

// header returns the fields of a complete frame, its payload and the place of its checksum.
func header(raw []byte) (f Frame, id uint32, payload []byte, end int) {
	f.Raw = raw
	if raw[0] == magic1 {
		f.Sequence, f.System, f.Component, id = raw[2], raw[3], raw[4], uint32(raw[5])
		end = header1 + int(raw[1])
		return f, id, raw[header1:end:end], end
	}
	f.Sequence, f.System, f.Component = raw[4], raw[5], raw[6]
	id = uint32(raw[7]) | uint32(raw[8])<<8 | uint32(raw[9])<<16
	end = header2 + int(raw[1])
	return f, id, raw[header2:end:end], end
}

// sum returns the checksum of a frame whose checksum begins at end.
func sum(raw []byte, end int, extra byte) uint16 {
	h := x25.New()
	h.Write(raw[1:end])
	h.Write([]byte{extra})
	return h.Sum16()
}

// errChecksum reports bytes that are not a frame.
var errChecksum = errors.New("wrong checksum")

// decode reads one complete frame.
func (c *codecs) decode(raw []byte) (Frame, error) {
	f, id, payload, end := header(raw)
	k := c.of(id)
	if k == nil {
		f.Message = &Unknown{ID: id}
		return f, nil
	}
	if binary.LittleEndian.Uint16(raw[end:]) != sum(raw, end, k.CRCExtra()) {
		return f, errChecksum
	}
	m, err := k.Read(&message.MessageRaw{ID: id, Payload: payload}, raw[0] == magic2)
	if err != nil {
		return f, fmt.Errorf("message %d: %w", id, err)
	}
	f.Message = m
	v := reflect.ValueOf(m).Elem()
	if k.system >= 0 {
		f.TargetSystem = byte(v.Field(k.system).Uint())
	}
	if k.component >= 0 {
		f.TargetComponent = byte(v.Field(k.component).Uint())
	}
	if f.Stamped = k.boot >= 0; f.Stamped {
		f.Boot = uint32(v.Field(k.boot).Uint())
	}
	return f, nil
}
