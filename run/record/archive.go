package record

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
)

// magic are the first and the last bytes of an MCAP file.
const magic = "\x89MCAP0\r\n"

// opcode is the kind of a record of an MCAP file.
type opcode byte

// The records of our files (https://mcap.dev/spec).
const (
	opHeader          opcode = 0x01
	opFooter          opcode = 0x02
	opSchema          opcode = 0x03
	opChannel         opcode = 0x04
	opMessage         opcode = 0x05
	opChunk           opcode = 0x06
	opMessageIndex    opcode = 0x07
	opChunkIndex      opcode = 0x08
	opAttachment      opcode = 0x09
	opAttachmentIndex opcode = 0x0a
	opStatistics      opcode = 0x0b
	opSummaryOffset   opcode = 0x0e
	opDataEnd         opcode = 0x0f
)

const (
	recordHead = 1 + 8                              // bytes: operation code, length
	chunkHead  = recordHead + 8 + 8 + 8 + 4 + 4 + 8 // bytes before the records of a chunk
	chunkSize  = 1 << 16                            // bytes of messages; the maximum loss of a killed process
)

// raw are bytes of a record that no length precedes.
type raw []byte

// appendRecord appends a record with these fields.
func appendRecord(b []byte, op opcode, fields ...any) []byte {
	from := len(b)
	b = append(b, byte(op), 0, 0, 0, 0, 0, 0, 0, 0)
	for _, field := range fields {
		switch x := field.(type) {
		case opcode:
			b = append(b, byte(x))
		case uint16:
			b = binary.LittleEndian.AppendUint16(b, x)
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, x)
		case uint64:
			b = binary.LittleEndian.AppendUint64(b, x)
		case string:
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(x))), x...)
		case []byte:
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(x))), x...)
		case raw:
			b = append(b, x...)
		default:
			panic("record: a field of no known type")
		}
	}
	complete(b, from)
	return b
}

// complete enters the length of a record that begins at from and ends with b.
func complete(b []byte, from int) {
	binary.LittleEndian.PutUint64(b[from+1:], uint64(len(b)-from-recordHead))
}

// archive writes an MCAP file of uncompressed chunks, each with a checksum and an index. The channels are those of
// topics. A chunk is written out when a message makes it larger than chunkSize.
type archive struct {
	to   io.Writer
	err  error  // the first one of to: nothing is written after it
	out  []byte // what is not written yet: the chunk in progress, from its head on
	size uint64 // bytes that are written
	sum  uint32 // checksum of them

	at       int                 // where the message in progress begins in out
	chunk    span                // of the chunk
	index    [len(topics)][]byte // of the messages of the chunk, by channel
	all      span                // of all messages
	messages [len(topics)]uint64 // by channel
	chunks   uint32
	attached uint32 // attachments
	declared uint16 // channels

	// Records that are repeated or added at the end.
	schemas, channels, chunkIndex, attachmentIndex []byte
}

// span are the first and the last log time of messages.
type span struct{ first, last uint64 }

var empty = span{first: math.MaxUint64}

func (s *span) extend(time uint64) { s.first, s.last = min(s.first, time), max(s.last, time) }

// attach adds an attachment, before the first chunk.
func (a *archive) attach(time uint64, name, mediaType string, data []byte) {
	from := len(a.out)
	a.out = appendRecord(a.out, opAttachment, time, time, name, mediaType, uint64(len(data)), raw(data), uint32(0))
	sum := a.out[len(a.out)-4:]
	binary.LittleEndian.PutUint32(sum, crc32.ChecksumIEEE(a.out[from+recordHead:len(a.out)-4]))
	a.attachmentIndex = appendRecord(a.attachmentIndex, opAttachmentIndex, a.size+uint64(from),
		uint64(len(a.out)-from), time, time, uint64(len(data)), name, mediaType)
	a.attached++
}

// start begins the first chunk with the channels of every log.
func (a *archive) start(schema func(channel int) []byte) error {
	err := a.write()
	a.out = make([]byte, chunkHead, chunkSize+chunkSize/8)
	for id := 1; id <= summaryChannel; id++ {
		a.declare(id, schema(id))
	}
	return err
}

// declare declares a channel with the schema of its number.
func (a *archive) declare(channel int, schema []byte) {
	n, topic := uint16(channel), topics[channel]
	s, c := len(a.schemas), len(a.channels)
	a.schemas = appendRecord(a.schemas, opSchema, n, cmp.Or(foxglove[channel], "canopy"+topic), "jsonschema", schema)
	a.channels = appendRecord(a.channels, opChannel, n, n, topic, "json", "")
	a.out = append(append(a.out, a.schemas[s:]...), a.channels[c:]...)
	a.declared++
}

// write writes out what is not written yet.
func (a *archive) write() error {
	a.size += uint64(len(a.out))
	a.sum = crc32.Update(a.sum, crc32.IEEETable, a.out)
	if a.err == nil {
		_, a.err = a.to.Write(a.out)
	}
	a.out = a.out[:0]
	return a.err
}

// begin begins a message. Its data is what is appended to out until end is called.
func (a *archive) begin(channel int, time uint64) {
	if channel > summaryChannel && a.messages[channel] == 0 {
		a.declare(channel, schema(channel))
	}
	a.at = len(a.out)
	b := append(a.out, byte(opMessage), 0, 0, 0, 0, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(channel))
	b = binary.LittleEndian.AppendUint32(b, uint32(a.messages[channel])) // its sequence number
	b = binary.LittleEndian.AppendUint64(b, time)
	a.out = binary.LittleEndian.AppendUint64(b, time)

	index := binary.LittleEndian.AppendUint64(a.index[channel], time)
	a.index[channel] = binary.LittleEndian.AppendUint64(index, uint64(a.at-chunkHead))
	a.messages[channel]++
	a.chunk.extend(time)
	a.all.extend(time)
}

// end completes the message.
func (a *archive) end() error {
	complete(a.out, a.at)
	if len(a.out)-chunkHead > chunkSize {
		return a.endChunk()
	}
	return nil
}

// pending are the records of the chunk in progress.
func (a *archive) pending() []byte { return a.out[chunkHead:] }

// endChunk writes out the chunk and its index, and begins the next.
func (a *archive) endChunk() error {
	length := uint64(len(a.out))
	records := a.pending()
	appendRecord(a.out[:0], opChunk, a.chunk.first, a.chunk.last, uint64(len(records)), crc32.ChecksumIEEE(records), "",
		uint64(len(records)))
	complete(a.out, 0)
	var offsets []byte
	for id, entries := range a.index {
		if len(entries) > 0 {
			offsets = binary.LittleEndian.AppendUint16(offsets, uint16(id))
			offsets = binary.LittleEndian.AppendUint64(offsets, a.size+uint64(len(a.out)))
			a.out = appendRecord(a.out, opMessageIndex, uint16(id), entries)
			a.index[id] = entries[:0]
		}
	}
	a.chunkIndex = appendRecord(a.chunkIndex, opChunkIndex, a.chunk.first, a.chunk.last, a.size, length, offsets,
		uint64(len(a.out))-length, "", uint64(len(records)), uint64(len(records)))
	a.chunks++
	a.chunk = empty
	err := a.write()
	a.out = a.out[:chunkHead]
	return err
}

// close completes the file.
func (a *archive) close() error {
	if len(a.pending()) > 0 {
		_ = a.endChunk() // a.err
	}
	a.out = appendRecord(a.out[:0], opDataEnd, a.sum)
	_ = a.write()
	a.sum = 0
	start := a.size
	var counts, offsets []byte
	total := uint64(0)
	for id, n := range a.messages {
		if n > 0 {
			counts = binary.LittleEndian.AppendUint16(counts, uint16(id))
			counts = binary.LittleEndian.AppendUint64(counts, n)
			total += n
		}
	}
	for _, group := range []struct {
		op      opcode
		records []byte
	}{
		{opSchema, a.schemas},
		{opChannel, a.channels},
		{opStatistics, appendRecord(nil, opStatistics, total, a.declared, uint32(a.declared), a.attached, uint32(0), a.chunks,
			a.all.first, a.all.last, counts)},
		{opChunkIndex, a.chunkIndex},
		{opAttachmentIndex, a.attachmentIndex},
	} {
		if len(group.records) > 0 {
			offsets = appendRecord(offsets, opSummaryOffset, group.op, start+uint64(len(a.out)),
				uint64(len(group.records)))
			a.out = append(a.out, group.records...)
		}
	}
	end := start + uint64(len(a.out))
	a.out = appendRecord(append(a.out, offsets...), opFooter, start, end, uint32(0))
	sum := a.out[len(a.out)-4:]
	binary.LittleEndian.PutUint32(sum, crc32.ChecksumIEEE(a.out[:len(a.out)-4]))
	a.out = append(a.out, magic...)
	return a.write()
}
