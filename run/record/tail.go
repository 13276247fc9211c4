package record

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// Tail is what a Writer has recorded and run.mcap does not have yet: a copy of the chunk in progress, which another
// goroutine may write out. The log does not depend on it.
type Tail struct {
	at      uint64 // bytes of run.mcap before it
	chunk   span
	records []byte
}

// Follow adds what has been recorded since, before the Writer is closed, and reports whether there is anything.
func (t *Tail) Follow(w *Writer) bool {
	a := &w.mcap.archive
	pending := a.pending()
	if t.at != a.size {
		t.at, t.records = a.size, t.records[:0]
	}
	known := len(t.records)
	t.chunk, t.records = a.chunk, append(t.records, pending[known:]...)
	return len(pending) > known
}

// Bytes returns the content of a file of the tail: its place in run.mcap, and what run.mcap would have there.
func (t *Tail) Bytes() []byte {
	size := uint64(len(t.records))
	return appendRecord(binary.LittleEndian.AppendUint64(nil, t.at), opChunk, t.chunk.first, t.chunk.last, size,
		crc32.ChecksumIEEE(t.records), "", size, raw(t.records))
}

// Joined returns a log of some size with the content of a file of its tail behind it, if that belongs there. Of a log
// in progress, read the tail first.
func Joined(log io.ReaderAt, size int64, tail []byte) io.ReadSeeker {
	j := &joined{log: log, size: size}
	if len(tail) >= 8 && binary.LittleEndian.Uint64(tail) == uint64(size) {
		j.tail = tail[8:]
	}
	return io.NewSectionReader(j, 0, size+int64(len(j.tail)))
}

// joined is a log with what follows it.
type joined struct {
	log  io.ReaderAt
	size int64
	tail []byte
}

// ReadAt implements [io.ReaderAt].
func (j *joined) ReadAt(p []byte, at int64) (n int, err error) {
	if first := min(int64(len(p)), j.size-at); first > 0 {
		if n, err = j.log.ReadAt(p[:first], at); int64(n) < first {
			return n, err
		}
	}
	if from := at + int64(n) - j.size; n < len(p) && from < int64(len(j.tail)) {
		n += copy(p[n:], j.tail[from:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
