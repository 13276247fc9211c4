// Package box is the black box of a flight: a file of everything that reached the flight and everything that it sent,
// each with the readings of the clocks, from which the flight is flown again.
//
// A box is a folder's file [File]. It begins with [Magic]; the records follow. A record is
//
//	length  4 bytes  of the body
//	check   4 bytes  CRC-32C of the sums of the records before and of length
//	sum     4 bytes  CRC-32C of the sums of the records before, of length and of the body
//	body    kind (1 byte), wall, unix and vehicle time (8 bytes each, signed, ns), payload
//
// with the low byte of a number first. Each CRC goes on from the last sum, 0 before the first record, so no record can
// be lost, moved or exchanged without notice. What follows the first broken record is not read. As the length has a
// checksum of its own, a record that was cut off by the end of the file is told from one that was damaged.
//
// A record is written at once, with one call, before anything acts on it: a killed program loses nothing. It is on the
// disk at the latest when one second of wall time has passed, or when Sync was called: a power cut loses no more.
//
// When a record cannot be written, recording stops, and the file gets the name [Stopped]: to rename a file takes no
// space on a full disk.
package box

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/run/flight"
)

// The files of a box in a folder.
const (
	File = "run.box"
	Old  = "run.box.old" // what was recorded before the last checkpoint that began a new file

	// Stopped is the name of the file when recording has stopped before the end of the flight. Such a flight cannot be
	// continued: what happened afterwards is not known.
	Stopped = "run.box.stopped"
)

// Magic is how a box begins.
const Magic = "\x89CNPBX3\n"

const (
	recordHead = 4 + 4 + 4     // bytes: length, check, sum
	bodyHead   = 1 + 8 + 8 + 8 // bytes: kind, three times
	maxBody    = 1 << 26       // bytes; the documents of a mission are the largest payloads
)

// castagnoli returns the table of the sums, which is made at its first use.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Kind is the kind of a record: that of a [flight.Input], or one of those below.
type Kind uint8

// The kinds of records that are no inputs.
const (
	Out        Kind = 0x80 + iota // a datagram that the flight sends
	Checkpoint                    // the state of the flight after the step before
)

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

// Errors of boxes.
var (
	ErrFormat  = errors.New("box: not a valid black box") // is wrapped by those for no box, or a damaged one
	ErrStopped = errors.New("box: recording stopped before the end of the flight: what happened then is not known")
	ErrOver    = errors.New("box: the flight is over")
	ErrDropped = errors.New("box: the beginning of the flight was dropped: another plan cannot be replayed")
)

// Damage is the error for the first broken record of a box. It wraps ErrFormat.
type Damage struct {
	Record int64 // number of the broken record in its file, from 0
	At     int64 // its place in the file [bytes]
	Why    string
	Torn   bool // the file ends in it, as if the program was killed while it wrote; what there is of it is valid
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
	check := crc32.Update(before, castagnoli(), b[from:])
	b = binary.LittleEndian.AppendUint32(b, check)
	b = append(b, 0, 0, 0, 0, byte(r.Kind))
	for _, t := range [...]int64{r.At.Wall, r.At.Unix, r.At.Vehicle} {
		b = binary.LittleEndian.AppendUint64(b, uint64(t))
	}
	b = append(b, r.Data...)
	sum := crc32.Update(check, castagnoli(), b[from+recordHead:])
	binary.LittleEndian.PutUint32(b[from+8:], sum)
	return b, sum
}
