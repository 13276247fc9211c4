package box

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/canopy-uav/canopy/autopilot/service"
)

// Reader reads the records of a box in their order.
type Reader struct {
	place
	from   *bufio.Reader
	err    error
	head   [recordHead]byte
	buffer bytes.Buffer // the body of a record
	scan   bool         // the data of a record is valid until the next one is read only
}

// NewReader returns a reader of a box, or an error that wraps ErrFormat if r does not begin like one.
func NewReader(r io.Reader) (*Reader, error) {
	b := &Reader{from: bufio.NewReaderSize(r, 1<<16), place: place{at: int64(len(Magic))}}
	head := make([]byte, len(Magic))
	if _, err := io.ReadFull(b.from, head); err != nil && !short(err) {
		return nil, err
	}
	if version := len(Magic) - 2; string(head) != Magic && string(head[:version]) == Magic[:version] {
		return nil, fmt.Errorf("%w: another version of canopy has written it", ErrFormat)
	}
	if string(head) != Magic {
		return nil, fmt.Errorf("%w: it does not begin like one", ErrFormat)
	}
	return b, nil
}

// short reports whether an error says that the file ends.
func short(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// Next returns the next record. The error is io.EOF after the last one, a *[Damage] at the first broken one, or that of
// the file; it is the same from then on.
func (b *Reader) Next() (Record, error) {
	if b.err != nil {
		return Record{}, b.err
	}
	var r Record
	if r, b.err = b.next(); b.err != nil {
		return Record{}, b.err
	}
	b.records++
	return r, nil
}

// Records returns the number of records that were read.
func (b *Reader) Records() int64 { return b.records }

func (b *Reader) next() (Record, error) {
	head := b.head[:]
	n, err := io.ReadFull(b.from, head)
	switch {
	case errors.Is(err, io.EOF):
		return Record{}, io.EOF
	case err != nil && !short(err):
		return Record{}, err
	}
	check := crc32.Update(b.sum, castagnoli(), head[:4])
	length := binary.LittleEndian.Uint32(head)
	switch {
	case n >= 8 && check != binary.LittleEndian.Uint32(head[4:]):
		return Record{}, b.damage("has a wrong checksum of its length")
	case n >= 4 && (length < bodyHead || length > maxBody):
		return Record{}, b.damage(fmt.Sprintf("has a length of %d bytes", length))
	case n < recordHead:
		return Record{}, b.torn()
	}
	b.buffer.Reset() // it grows with what the file has, not with the length
	_, err = io.CopyN(&b.buffer, b.from, int64(length))
	body := b.buffer.Bytes()
	switch {
	case short(err):
		return Record{}, b.torn()
	case err != nil:
		return Record{}, err
	}
	sum := crc32.Update(check, castagnoli(), body)
	if sum != binary.LittleEndian.Uint32(head[8:]) {
		return Record{}, b.damage("has a wrong checksum")
	}
	time := func(i int) int64 { return int64(binary.LittleEndian.Uint64(body[1+8*i:])) }
	at := service.Clock{Wall: time(0), Unix: time(1), Vehicle: time(2)}
	r := Record{Kind: Kind(body[0]), At: at, Data: body[bodyHead:]}
	if !b.scan {
		r.Data = bytes.Clone(r.Data)
	}
	if r.Kind.String() == "" {
		return Record{}, b.damage(fmt.Sprintf("has the unknown kind %d", r.Kind))
	}
	b.sum = sum
	b.at += recordHead + int64(length)
	return r, nil
}

func (b *Reader) damage(why string) error { return &Damage{Record: b.records, At: b.at, Why: why} }

func (b *Reader) torn() error {
	return &Damage{Record: b.records, At: b.at, Why: "is cut off", Torn: true}
}
