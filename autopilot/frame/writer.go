package frame

import (
	"encoding/binary"
	"fmt"
)

// Writer makes MAVLink 2 frames of one sender, with increasing sequence numbers.
type Writer struct {
	System, Component byte // the sender

	sign     *signer
	sequence byte
	codecs   codecs
}

// Prepare makes the tables of messages, for which the first frame of each would wait otherwise.
func (w *Writer) Prepare(messages ...uint32) { w.codecs.prepare(messages) }

// Write returns the frame of a message. Frames are stamped with unix, in nanoseconds since 1970, if they are signed.
// The error wraps [ErrMessage].
func (w *Writer) Write(m Message, unix int64) ([]byte, error) {
	k := w.codecs.of(m.GetID())
	if _, unknown := m.(*Unknown); k == nil || unknown {
		return nil, fmt.Errorf("message %d: %w", m.GetID(), ErrMessage)
	}
	payload := k.ReadWriter.Write(m, true).Payload
	id := m.GetID()
	raw := make([]byte, 0, header2+len(payload)+checksum+signature)
	raw = append(raw, magic2, byte(len(payload)), 0, 0, w.sequence, w.System, w.Component,
		byte(id), byte(id>>8), byte(id>>16))
	raw = append(raw, payload...)
	if w.sign != nil {
		raw[2] = signed
	}
	raw = binary.LittleEndian.AppendUint16(raw, sum(raw, len(raw), k.CRCExtra()))
	if w.sign != nil {
		raw = w.sign.append(raw, unix)
	}
	w.sequence++
	return raw, nil
}
