package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"canopy/snapshot"

	"github.com/foxglove/mcap/go/mcap"
)

// ErrResume is wrapped by the errors of Resume that the earlier log is to blame for.
var ErrResume = errors.New("record: the log does not reach to the checkpoint")

// Point is a place in the log of a run, from which a Writer can go on: what run.mcap holds up to there on disk, the
// messages of the chunk that was not full yet, and the lengths of the CSV files.
type Point struct {
	Status, Signals int64 // lengths of status.csv and signals.csv [bytes]

	chunks  int
	pending []mcap.Message
}

// State passes the point.
func (p *Point) State(c *snapshot.Codec) {
	snapshot.Int(c, &p.Status)
	snapshot.Int(c, &p.Signals)
	snapshot.Int(c, &p.chunks)
	snapshot.List(c, &p.pending, func(c *snapshot.Codec, m *mcap.Message) {
		snapshot.Int(c, &m.ChannelID)
		snapshot.Int(c, &m.LogTime)
		snapshot.List(c, &m.Data, snapshot.Int)
	})
}

// Point returns the present place. The CSV files are written out up to there. It serves until the next call.
func (w *Writer) Point() (Point, error) {
	p := Point{}
	w.flushCSV()
	if w.mcap != nil {
		p.chunks, p.pending = w.mcap.chunks(), w.mcap.pending
	}
	if w.status != nil {
		p.Status = w.status.n
	}
	if w.signals != nil {
		p.Signals = w.signals.n
	}
	return p, w.err
}

// Resume returns a Writer that goes on at a point of an earlier log with the same header. Its run.mcap is written anew
// from the old one; the CSV files are to be the old ones, cut off at the point's lengths. What is recorded from there
// on gives the same bytes as if the earlier Writer had gone on. Errors are those of NewWriter and of old, or wrap
// ErrResume.
func Resume(h Header, f Files, p Point, old io.ReadSeeker) (*Writer, error) {
	w, err := newWriter(h, f)
	if err != nil {
		return nil, err
	}
	if w.status != nil {
		w.status.n = p.Status
	}
	if w.signals != nil {
		w.signals.n = p.Signals
	}
	if w.mcap != nil {
		if err := w.mcap.repeat(&h, &p, old); err != nil {
			return nil, err
		}
		w.chunks = p.chunks
	}
	w.flush()
	return w, w.err
}

// errEnough ends the reading of the old file.
var errEnough = errors.New("enough")

// repeat adds the messages up to a point of the file old, after that on /run, which has to be the same.
func (c *container) repeat(h *Header, p *Point, old io.ReadSeeker) error {
	run, err := h.message()
	if err != nil {
		return err
	}
	chunks := 0
	channels := map[uint16]string{}
	err = eachRecord(old, func(op mcap.OpCode, body []byte) error {
		if op != mcap.OpChunk {
			return nil
		}
		if chunks == p.chunks {
			return errEnough
		}
		chunks++
		return eachMessage(body, channels, func(topic string, m *mcap.Message) error {
			if topic != topics[runChannel] {
				return c.add(m)
			}
			if !bytes.Equal(m.Data, run) {
				return fmt.Errorf("%w: it is of another run", ErrResume)
			}
			return nil
		})
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	for i := range p.pending {
		if err := c.add(&p.pending[i]); err != nil {
			return err
		}
	}
	if chunks < p.chunks || c.chunks() != p.chunks {
		return fmt.Errorf("%w: run.mcap has %d of %d chunks", ErrResume, min(chunks, c.chunks()), p.chunks)
	}
	return nil
}
