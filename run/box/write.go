package box

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/run/flight"
)

// Options configures a box.
type Options struct {
	Limit int64 // of all files of the box [bytes], at least MinLimit; 0: DefaultLimit
}

// Limits of a box [bytes].
const (
	DefaultLimit = 1 << 30 // some days of a usual flight's telemetry
	MinLimit     = 1 << 20
)

// Every is the time between two checkpoints [ns of the wall clock]: what a flight that continues is fed.
const Every = 60e9

// second is how old a record may become before it is on the disk [ns].
const second = 1e9

// ErrFull is the error of a box that has reached its limit, because the description or the state of the flight is too
// large for it.
var ErrFull = errors.New("box: the black box has reached its limit; nothing is recorded any more")

// Writer writes a box. The first error is returned by every later call but Close: what follows a gap could not be
// replayed. The file then has the name Stopped. It is not safe for concurrent use.
type Writer struct {
	to      file
	dir     string       // "" in a test without a folder
	start   flight.Input // describes the flight: every file begins with it
	limit   int64
	size    int64 // of the file
	dropped int64 // size of the other one
	records int64 // of the flight, those in earlier files included
	sum     uint32
	at      service.Clock // of the last input
	synced  int64         // wall time
	pointed int64         // wall time of the last checkpoint
	prepare func() error  // is done before the next record is written; nil: it was
	buffer  []byte
	err     error
}

// file is what a Writer needs of an [os.File].
type file interface {
	io.WriteCloser
	Sync() error
}

// Create begins the box of a flight that its first record describes, an input [flight.Start]. It replaces an earlier
// one.
func Create(dir string, start flight.Input, o Options) (*Writer, error) {
	for _, name := range []string{Old, Stopped} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	to, err := os.Create(filepath.Join(dir, File))
	if err != nil {
		return nil, err
	}
	w := newWriter(to, dir, o)
	w.begin(start)
	if w.err == nil {
		w.fail(syncFolder(dir))
	}
	if w.err != nil {
		return nil, errors.Join(w.err, to.Close())
	}
	return w, nil
}

func newWriter(to file, dir string, o Options) *Writer {
	return &Writer{to: to, dir: dir, limit: cmp.Or(o.Limit, DefaultLimit)}
}

// begin writes the head of the file and the first record.
func (w *Writer) begin(start flight.Input) {
	start.Data = bytes.Clone(start.Data)
	w.start, w.at, w.pointed = start, start.At, start.At.Wall
	w.write([]byte(Magic))
	w.add(Record{Kind: Kind(start.Kind), At: start.At, Data: start.Data})
	w.sync()
}

// Append records an input. It must be called before the flight makes its step.
func (w *Writer) Append(in flight.Input) error {
	w.at = in.At
	w.add(Record{Kind: Kind(in.Kind), At: in.At, Data: in.Data})
	if in.At.Wall-w.synced >= second {
		w.sync()
	}
	return w.err
}

// Out records the datagrams of the step, which follow from the last input. It must be called before they are sent: what
// is not recorded was not sent. Of a message that contains a key, only the head is recorded.
func (w *Writer) Out(datagrams [][]byte) error {
	for _, d := range datagrams {
		w.add(Record{Kind: Out, At: w.at, Data: frame.Public(d)})
	}
	return w.err
}

// Sync returns when everything is on the disk. It is called after a step in which the plan decided.
func (w *Writer) Sync() error {
	w.sync()
	return w.err
}

// Due reports whether it is time for a checkpoint.
func (w *Writer) Due() bool { return w.err == nil && (w.full() || w.at.Wall-w.pointed >= Every) }

// full reports whether the box needs a new file to stay below its limit: two files, and the steps until then.
func (w *Writer) full() bool { return w.size >= w.limit/8*3 }

// Checkpoint records the state of the flight after its last step. If the file is large enough, it begins a new one: the
// file before it becomes the old one, and what was the old one is dropped.
func (w *Writer) Checkpoint(state []byte) error {
	w.pointed = w.at.Wall
	data := append(binary.LittleEndian.AppendUint64(nil, uint64(w.records)), state...)
	if w.err != nil || !w.full() {
		w.add(Record{Kind: Checkpoint, At: w.at, Data: data})
		return w.err
	}
	if w.ready(); w.err != nil {
		return w.err
	}
	name, old := filepath.Join(w.dir, File), filepath.Join(w.dir, Old)
	to, err := os.Create(name + ".part")
	if err != nil {
		w.fail(err)
		return w.err
	}
	next := &Writer{to: to, limit: w.limit} // without a folder: it has no name yet
	next.begin(w.start)
	next.at, next.pointed = w.at, w.at.Wall
	next.add(Record{Kind: Checkpoint, At: w.at, Data: data})
	if next.size > next.limit/8*2 { // it would soon be full again
		next.fail(ErrFull)
	}
	next.sync()
	next.records, next.dropped = w.records, w.size
	w.sync()
	err = errors.Join(next.err, w.err, w.to.Close())
	for _, move := range [][2]string{{name, old}, {name + ".part", name}} {
		if err == nil {
			err = os.Rename(move[0], move[1])
		}
	}
	if err == nil {
		err = syncFolder(w.dir)
	}
	next.dir, next.err = w.dir, nil
	*w = *next
	w.fail(err)
	return w.err
}

// Close writes everything to the disk and closes the file. An error that an earlier call returned is not repeated.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.to.Close()
	}
	if w.prepare == nil {
		w.sync()
	}
	return errors.Join(w.err, w.to.Close())
}

func (w *Writer) sync() {
	if w.err == nil {
		w.fail(w.to.Sync())
	}
	w.synced = w.at.Wall
}

// fail ends the recording because of an error, if it is one. The mark is made at once: the caller goes on with the
// flight, and may be killed.
func (w *Writer) fail(err error) {
	if err == nil || w.err != nil {
		return
	}
	w.err = err
	if w.dir == "" {
		return
	}
	name := filepath.Join(w.dir, File)
	if _, missing := os.Stat(name); missing != nil { // a checkpoint was being made
		name = filepath.Join(w.dir, Old)
	}
	mark := os.Rename(name, filepath.Join(w.dir, Stopped))
	if mark == nil {
		mark = syncFolder(w.dir)
	}
	if mark != nil {
		w.err = fmt.Errorf("%w; box: this could not be marked (%w): do not continue the flight with --resume", err, mark)
	}
}

// add writes a record with one call.
func (w *Writer) add(r Record) {
	switch {
	case w.err != nil:
		return
	case len(r.Data) > maxBody-bodyHead:
		w.fail(fmt.Errorf("box: a record of %d bytes", len(r.Data)))
		return
	case w.size+w.dropped+int64(recordHead+bodyHead+len(r.Data)) > w.limit:
		w.fail(ErrFull)
		return
	}
	if w.ready(); w.err != nil {
		return
	}
	var sum uint32
	w.buffer, sum = appendRecord(w.buffer[:0], w.sum, &r)
	if w.write(w.buffer); w.err == nil {
		w.sum = sum
		if r.Kind != Checkpoint {
			w.records++
		}
	}
}

// ready makes the file of a flight that continues ready to be written.
func (w *Writer) ready() {
	if w.prepare != nil {
		err := w.prepare()
		w.prepare = nil
		w.fail(err)
	}
}

func (w *Writer) write(data []byte) {
	n, err := w.to.Write(data)
	w.size += int64(n)
	w.fail(err)
}

// syncFolder writes the names of a folder's files to the disk.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
