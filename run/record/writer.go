package record

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"

	"github.com/canopy-uav/canopy/bt"
)

// Files are the destinations of a Writer. Nil is io.Discard.
type Files struct {
	MCAP, Status, Signals io.Writer

	// Room is called with the bytes of all files whenever they were written out. Its error is returned once, by what
	// was recorded last; the log goes on. It may be nil.
	Room func(written int64) error
}

// ErrHeader is wrapped by the errors of NewWriter that are caused by the header.
var ErrHeader = errors.New("record: header that cannot be recorded")

// Writer records a run in progress. It collects records in chunks; a chunk of 64 KiB is written out together with the
// lines of the CSV files: a killed run loses at most the last, incomplete chunk. The times of writing depend only on
// the recorded data. The memory does not grow with the run, except for the index of the chunks, less than 1 % of
// run.mcap. The first error of a destination is returned by every later call. A Writer is not safe for concurrent use.
type Writer struct {
	header  Header
	mcap    *container
	chunks  uint32 // of run.mcap that have been written out
	status  *csvFile
	signals *csvFile
	room    func(written int64) error
	fields  [][]byte // what rows call the tasks, as CSV fields
	clock   clock    // of status.csv
	time    memo     // of the other files
	values  []memo   // of the signals
	line    []byte
	err     error
}

// csvFile is a file of lines.
type csvFile struct {
	*bufio.Writer
	name string
	out  *counted
}

// counted is a destination and what was written there.
type counted struct {
	Extent
	to io.Writer
}

func (c *counted) Write(data []byte) (int, error) {
	c.Length += int64(len(data))
	c.Sum = crc32.Update(c.Sum, crc32.IEEETable, data)
	return c.to.Write(data)
}

func newCSVFile(name string, to io.Writer) *csvFile {
	out := &counted{to: to}
	return &csvFile{Writer: bufio.NewWriterSize(out, chunkSize/2), name: name, out: out}
}

// NewWriter starts a log and writes out its header, so that a run killed at any later time leaves readable files.
// Errors are those of the destinations, or wrap ErrHeader: two signals or two tasks with the same name, a signal named
// t, tasks that are not in post-order, a number that is not finite, a start or horizon outside 0 to 9.2e9 s, which
// run.mcap cannot count in nanoseconds.
func NewWriter(h Header, f Files) (*Writer, error) {
	w, err := newWriter(h, f)
	if err != nil {
		return nil, err
	}
	w.write(w.status, []byte("t,micro,task,from,to\n"))
	line := []byte("t")
	for _, s := range h.Signals {
		line = append(line, ',')
		line = appendField(line, s.Name+" ["+s.UnitOrOne()+"]")
	}
	w.write(w.signals, append(line, '\n'))
	w.flushCSV()
	if w.err != nil {
		return nil, w.err
	}
	return w, nil
}

// newWriter begins run.mcap, but not the CSV files.
func newWriter(h Header, f Files) (*Writer, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	for _, to := range []*io.Writer{&f.MCAP, &f.Status, &f.Signals} {
		if *to == nil {
			*to = io.Discard
		}
	}
	w := &Writer{header: h, room: f.Room, values: make([]memo, len(h.Signals)),
		status: newCSVFile("status.csv", f.Status), signals: newCSVFile("signals.csv", f.Signals)}
	w.label()
	var err error
	if w.mcap, err = newContainer(&h, f.MCAP); err != nil {
		return nil, fmt.Errorf("writing run.mcap: %w", err)
	}
	return w, nil
}

// UnitOrOne returns the unit, "1" for a pure number.
func (s Signal) UnitOrOne() string { return cmp.Or(s.Unit, "1") }

// check reports errors that would make the log ambiguous.
func (h *Header) check() error {
	signals := map[string]bool{"t": true}
	for _, s := range h.Signals {
		if signals[s.Name] {
			return fmt.Errorf("%w: there is more than one signal %q", ErrHeader, s.Name)
		}
		signals[s.Name] = true
	}
	if h.Date < 0 {
		return fmt.Errorf("%w: its date is before 1970", ErrHeader)
	}
	if err := checkTasks(h.Tasks); err != nil {
		return fmt.Errorf("%w: %w", ErrHeader, err)
	}
	return nil
}

// checkTasks reports errors in the tasks of one plan.
func checkTasks(tasks []Task) error {
	known := map[string]bool{}
	for i, t := range tasks {
		if t.Parent != -1 && (t.Parent <= i || t.Parent >= len(tasks)) {
			return fmt.Errorf("the parent of task %q does not come after it", t.Name)
		}
		if known[t.Name] {
			return fmt.Errorf("there is more than one task %q", t.Name)
		}
		known[t.Name] = true
	}
	return nil
}

// Sample records the values of all signals, in the header's order, at simulated time t [s]. Both sides of a
// discontinuity are two samples of the same t.
func (w *Writer) Sample(t float64, values []float64) error {
	if len(values) != len(w.header.Signals) {
		panic("record: wrong number of values in a sample")
	}
	if w.err != nil {
		return w.err
	}
	w.line = append(w.line[:0], w.time.text(t)...)
	for i, v := range values {
		w.line = append(append(w.line, ','), w.values[i].text(v)...)
	}
	w.line = append(w.line, '\n')
	w.write(w.signals, w.line)
	return w.logged(w.mcap.sample(t, w.line))
}

// Status records a status change at simulated time t [s] in the event iteration micro of the instant, from 1. The
// iteration number of c itself, which starts again at every settling, is not recorded.
func (w *Writer) Status(t float64, micro int, c bt.Change) error {
	if int(c.Task) < 0 || int(c.Task) >= len(w.header.Tasks) {
		panic("record: status change of an unknown task")
	}
	if w.err != nil {
		return w.err
	}
	b := strconv.AppendInt(append(append(w.line[:0], w.clock.write(t)...), ','), int64(micro), 10)
	b = append(append(append(b, ','), w.fields[c.Task]...), ',')
	b = append(append(append(b, c.From.String()...), ','), c.To.String()...)
	w.line = append(b, '\n')
	w.write(w.status, w.line)
	return w.logged(w.mcap.status(t, w.time.text(t), micro, c))
}

// Event records e.
func (w *Writer) Event(e Event) error {
	if w.err != nil {
		return w.err
	}
	return w.logged(w.mcap.event(w.time.text(e.T), e))
}

// logged handles the error of a message of run.mcap. If the message completed a chunk, all files are written out.
func (w *Writer) logged(err error) error {
	w.keep("run.mcap", err)
	if n := w.mcap.chunks; n > w.chunks {
		w.chunks = n
		w.flushCSV()
		if w.err == nil && w.room != nil {
			return w.room(int64(w.mcap.size) + w.status.out.Length + w.signals.out.Length)
		}
	}
	return w.err
}

func (w *Writer) flushCSV() {
	for _, f := range []*csvFile{w.status, w.signals} {
		w.keep(f.name, f.Flush())
	}
}

// Close records the summary and completes the files; it does not close the destinations. After an error it still
// completes as much as possible, and returns the first error.
func (w *Writer) Close(s Summary) error {
	w.keep("run.mcap", w.mcap.close(s))
	w.flushCSV()
	return w.err
}

// write adds a line. What is written out ends with a whole line, so that a run that is killed leaves no half of one.
func (w *Writer) write(to *csvFile, line []byte) {
	if to.Available() < len(line) {
		w.keep(to.name, to.Flush())
	}
	_, err := to.Write(line)
	w.keep(to.name, err)
}

// keep stores the first error.
func (w *Writer) keep(name string, err error) {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("writing %s: %w", name, err)
	}
}
