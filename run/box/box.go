// Package box is the black box of a flight: a file of everything that reached the flight and everything that it sent,
// each with the readings of the clocks, from which the flight is flown again.
//
// A box is a folder's file [File]. It begins with [Magic]; the records follow. A record is
//
//	length  4 bytes  of the body
//	sum     4 bytes  CRC-32C of the sum of the record before (0 before the first), of length and of the body
//	body    kind (1 byte), wall, unix and vehicle time (8 bytes each, signed, ns), payload
//
// with the low byte of a number first. As a sum contains the one before it, no record can be lost, moved or exchanged
// without notice. What follows the first broken record is not read.
//
// A record is written at once, with one call, before anything acts on it: a killed program loses nothing. It is on the
// disk at the latest when one second of wall time has passed, or when Sync was called: a power cut loses no more.
package box

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"canopy/autopilot/service"
	"canopy/run/flight"
)

// The files of a box in a folder.
const (
	File = "run.box"
	Old  = "run.box.old" // what was recorded before the last checkpoint that began a new file
)

// Magic is how a box begins.
const Magic = "\x89CNPBX1\n"

const (
	recordHead = 4 + 4         // bytes: length, sum
	bodyHead   = 1 + 8 + 8 + 8 // bytes: kind, three times
	maxBody    = 1 << 26       // bytes; the documents of a mission are the largest payloads
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Kind is the kind of a record: that of a [flight.Input], or one of those below.
type Kind uint8

// The kinds of records that are no inputs.
const (
	Out        Kind = 0x80 + iota // a datagram that the flight sends
	Checkpoint                    // the state of the flight: a file begins with it whose earlier part was dropped
)

// Input reports whether the record is an input of the flight.
func (k Kind) Input() bool { return flight.Kind(k).String() != "" }

// String returns the name of the kind; "" if there is no such kind.
func (k Kind) String() string {
	switch k {
	case Out:
		return "out"
	case Checkpoint:
		return "checkpoint"
	}
	return flight.Kind(k).String()
}

// Record is one record of a box.
type Record struct {
	Kind Kind
	At   service.Clock // of an outgoing datagram: that of the input to which it is the answer
	Data []byte
}

// Input returns the input of a record whose kind is one.
func (r *Record) Input() flight.Input {
	return flight.Input{Kind: flight.Kind(r.Kind), At: r.At, Data: r.Data}
}

// State returns the state of the flight in a checkpoint, and the number of the flight's records before it.
func (r *Record) State() (state []byte, before int64, ok bool) {
	if r.Kind != Checkpoint || len(r.Data) < 8 {
		return nil, 0, false
	}
	return r.Data[8:], int64(binary.LittleEndian.Uint64(r.Data)), true
}

// The places in a frame of MAVLink 2: its first byte, the number of its message, and the message that sets a key.
const (
	frameMagic   = 0xfd
	frameHead    = 10
	setupSigning = 256
)

// Public returns what may be recorded of a datagram that is sent: all of it, or its head if it sets a key.
func Public(datagram []byte) []byte {
	if len(datagram) > frameHead && datagram[0] == frameMagic {
		if id := int(datagram[7]) | int(datagram[8])<<8 | int(datagram[9])<<16; id == setupSigning {
			return datagram[:frameHead]
		}
	}
	return datagram
}

// ErrFormat is wrapped by the errors for a file that is not a box, or a damaged one.
var ErrFormat = errors.New("box: not a valid black box")

// Damage is the error for the first broken record of a box. It wraps ErrFormat.
type Damage struct {
	Record int64 // number of the broken record in its file, from 0
	At     int64 // its place in the file [bytes]
	Why    string
}

func (d *Damage) Error() string {
	return fmt.Sprintf("%v: record %d, at byte %d, %s", ErrFormat, d.Record, d.At, d.Why)
}

// Unwrap returns ErrFormat.
func (d *Damage) Unwrap() error { return ErrFormat }

// appendRecord appends a record that follows one with the sum before, and returns its own sum.
func appendRecord(b []byte, before uint32, r *Record) ([]byte, uint32) {
	from := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(bodyHead+len(r.Data)))
	b = append(b, 0, 0, 0, 0, byte(r.Kind))
	for _, t := range [...]int64{r.At.Wall, r.At.Unix, r.At.Vehicle} {
		b = binary.LittleEndian.AppendUint64(b, uint64(t))
	}
	b = append(b, r.Data...)
	sum := sumOf(before, b[from:])
	binary.LittleEndian.PutUint32(b[from+4:], sum)
	return b, sum
}

// sumOf returns the sum that belongs into a record.
func sumOf(before uint32, record []byte) uint32 {
	sum := crc32.Update(0, castagnoli, binary.LittleEndian.AppendUint32(nil, before))
	sum = crc32.Update(sum, castagnoli, record[:4])
	return crc32.Update(sum, castagnoli, record[recordHead:])
}
