package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/canopy-uav/canopy/snapshot"
)

// ErrResume is wrapped by the errors of Resume that are caused by the earlier log.
var ErrResume = errors.New("record: the log does not reach to the checkpoint")

// Point is a position in the log of a run from which a Writer can continue: the content of run.mcap on disk up to
// there, the records of the incomplete chunk, and the extent of the CSV files.
type Point struct {
	Status, Signals Extent

	clock   clock
	chunks  uint32
	pending []byte
}

// Extent is the content of a file up to a point: its length in bytes and its checksum (CRC-32, IEEE).
type Extent struct {
	Length int64
	Sum    uint32
}

// resume copies exactly the extent of an earlier file and compares it.
func (f *csvFile) resume(e Extent, r io.Reader) error {
	n, err := io.CopyN(f, r, e.Length)
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %s has %d bytes, at the checkpoint it had %d", ErrResume, f.name, n, e.Length)
	case err != nil:
		return err
	}
	if err := f.Flush(); err != nil {
		return err
	}
	if f.out.Extent != e {
		return fmt.Errorf("%w: %s is not what the run wrote", ErrResume, f.name)
	}
	return nil
}

// State passes the point to the codec.
func (p *Point) State(c *snapshot.Codec) {
	snapshot.Vars(c, &p.Status, &p.Signals, &p.clock.t, &p.clock.written, &p.chunks)
	snapshot.Bytes(c, &p.clock.text)
	snapshot.Bytes(c, &p.pending)
}

// Point returns the current position. The CSV files are written out up to there. It is valid until the next call.
func (w *Writer) Point() (Point, error) {
	w.flushCSV()
	return Point{w.status.out.Extent, w.signals.out.Extent, w.clock, w.mcap.chunks, w.mcap.pending()}, w.err
}

// Earlier are the files of an earlier log, the CSV files from their beginning.
type Earlier struct {
	MCAP            io.ReadSeeker
	Status, Signals io.Reader
	To              Recorder // receives the log in run.mcap up to the point; may be nil
}

// Resume returns a Writer that continues at a point of an earlier log with the same header: it copies the earlier files
// up to there, compares them with the point, and does not change them. The output from there on has the same bytes as
// if the earlier Writer had continued. Errors are those of NewWriter and of the files, or wrap ErrResume.
func Resume(h Header, f Files, p Point, old Earlier) (*Writer, error) {
	w, err := newWriter(h, f)
	if err != nil {
		return nil, err
	}
	if err := w.status.resume(p.Status, old.Status); err != nil {
		return nil, err
	}
	if err := w.signals.resume(p.Signals, old.Signals); err != nil {
		return nil, err
	}
	if err := w.mcap.repeat(&h, &p, old.MCAP, old.To, w.take); err != nil {
		return nil, err
	}
	w.chunks, w.clock = p.chunks, p.clock
	w.flushCSV()
	return w, w.err
}

// errEnough ends the reading of the old file.
var errEnough = errors.New("enough")

// repeat adds the messages of the file old up to a point, after the one on /run, which must be the same. It plays them
// to a recorder if it is not nil, and passes plans that take over to taken.
func (c *container) repeat(h *Header, p *Point, old io.ReadSeeker, to Recorder, taken func(Takeover)) error {
	run, err := h.message()
	if err != nil {
		return err
	}
	replay := newPlayer(func(*Header) Recorder { return to })
	channels := map[uint16]string{}
	repeat := func(topic string, m message) error {
		if topic == topics[runChannel] {
			if !bytes.Equal(m.data, run) {
				return fmt.Errorf("%w: it belongs to another run", ErrResume)
			}
		} else if m.channel == 0 || int(m.channel) >= len(topics) {
			return fmt.Errorf("%w: it has a message on channel %d", ErrResume, m.channel)
		} else if err := c.add(int(m.channel), m.time, m.data); err != nil {
			return err
		}
		if topic == topics[planChannel] {
			var next Takeover
			if err := json.Unmarshal(m.data, &next); err != nil {
				return sound(err)
			}
			taken(next)
		}
		if to == nil {
			return nil
		}
		return replay.message(topic, m)
	}
	chunks := uint32(0)
	_, err = eachRecord(old, func(op opcode, body []byte) error {
		if op != opChunk {
			return nil
		}
		if chunks == p.chunks {
			return errEnough
		}
		chunks++
		records, err := chunk(body)
		if err != nil {
			return sound(err)
		}
		return eachMessage(records, channels, repeat)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if err := eachMessage(p.pending, channels, repeat); err != nil {
		return err
	}
	if chunks < p.chunks || c.chunks != p.chunks {
		return fmt.Errorf("%w: run.mcap has %d of %d chunks", ErrResume, min(chunks, c.chunks), p.chunks)
	}
	return nil
}
