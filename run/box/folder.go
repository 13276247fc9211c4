package box

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/flight"
)

// Ending is how a box ends.
type Ending struct {
	Records int64         // of the flight, those that were dropped included
	Dropped int64         // of them, those before the first checkpoint in the box
	Last    service.Clock // of the last input
	Ended   bool          // the program ended the flight; else it was killed, or still flies
	Stopped bool          // recording stopped before the flight ended
	Damage  error         // wraps a *[Damage]: nothing after it was read; nil if there is none
}

// Torn reports whether the box ends in a record that is cut off, as that of a program that was killed may.
func (end *Ending) Torn() bool {
	var d *Damage
	return errors.As(end.Damage, &d) && d.Torn
}

// Continuable returns nil if a flight can go on from what its box contains: if its program was killed. Else the error
// wraps ErrOver, ErrStopped or ErrFormat.
func (end *Ending) Continuable() error {
	switch {
	case end.Stopped:
		return ErrStopped
	case end.Damage != nil && !end.Torn():
		return end.Damage
	case end.Records == 0:
		return fmt.Errorf("%w: it has no record", ErrFormat)
	case end.Ended:
		return ErrOver
	}
	return nil
}

// Missing returns the reason why the box does not contain the whole flight, "" if it does.
func (end *Ending) Missing() string {
	switch {
	case end.Stopped:
		return ErrStopped.Error()
	case end.Damage != nil:
		return end.Damage.Error()
	case end.Dropped > 0:
		return fmt.Sprintf("box: the first %d records were dropped at the limit of the black box", end.Dropped)
	case !end.Ended:
		return "box: the black box has no end: the program was killed"
	}
	return ""
}

// Each passes the records of the box in a folder to visit, in their order: those of the old file, if there is one, then
// the others. It passes the description of the flight once. Errors are those of the files and of visit, or wrap
// ErrFormat.
func Each(dir string, visit func(Record) error) (Ending, error) {
	var end Ending
	_, err := os.Stat(filepath.Join(dir, Old))
	former := err == nil
	if former {
		if err := end.file(dir, Old, visit); err != nil || end.Damage != nil {
			return end, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return end, err
	}
	name, err := last(dir)
	if err != nil || name == Old {
		return end, err
	}
	end.Stopped = name == Stopped
	err = end.file(dir, name, visit)
	return end, err
}

// last returns the name of the last file of the box in a folder. It is Old if the program was killed while it began a
// new file.
func last(dir string) (name string, err error) {
	for _, name := range []string{File, Stopped, Old} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return name, err
		}
	}
	_, err = os.Stat(filepath.Join(dir, File)) // which is the one to name
	return File, err
}

// file reads a file of the box.
func (end *Ending) file(dir, name string, visit func(Record) error) error {
	f, err := files.Open(filepath.Join(dir, name), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	r, err := open(f)
	if err != nil {
		return err
	}
	err = end.read(r, f.Name(), visit)
	if d := (*Damage)(nil); name == Old && errors.As(end.Damage, &d) {
		d.Torn = false // another file follows
	}
	return err
}

// open returns a reader of a file, of a flight in progress up to its present end.
func open(f *os.File) (*Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := NewReader(io.NewSectionReader(f, 0, info.Size()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return r, nil
}

// read reads a file that follows what was read before, if anything was.
func (end *Ending) read(r *Reader, name string, visit func(Record) error) error {
	later := end.Records > 0
	for {
		record, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, new(*Damage)):
			end.Damage = fmt.Errorf("%s: %w", name, err)
			return nil
		case err != nil:
			return err
		case r.Records() == 1 && record.Kind != Kind(flight.Start):
			return fmt.Errorf("%s: %w: it does not begin with a start", name, ErrFormat)
		}
		if record.Kind == Checkpoint {
			switch _, before, ok := record.State(); {
			case ok && r.Records() == 2 && !later && before > 0:
				end.Records, end.Dropped = before, before-1
			case !ok || before != end.Records:
				return fmt.Errorf("%s: %w: record %d is a checkpoint that does not belong there", name, ErrFormat,
					r.Records()-1)
			}
		} else if later && r.Records() == 1 {
			continue
		} else {
			end.Records++
		}
		if flight.Kind(record.Kind).String() != "" {
			end.Last, end.Ended = record.At, record.Kind == Kind(flight.End)
		}
		if err := visit(record); err != nil {
			return err
		}
	}
}

// place is where a reader goes on.
type place struct {
	at      int64 // of the next record [bytes]
	records int64 // before it
	sum     uint32
}

// rest is the last file of a box.
type rest struct {
	Ending
	start   Record // with which the file begins
	pointed int64  // wall time of its last checkpoint, or of its start
	point   place  // where that checkpoint is; of the second record if there is none
	end     place  // behind its last whole record
}

// scan reads the last file of a box.
func scan(f *os.File) (*rest, error) {
	r, err := open(f)
	if err != nil {
		return nil, err
	}
	r.scan = true
	x := &rest{}
	err = x.read(r, f.Name(), func(record Record) error {
		if r.Records() == 1 {
			x.start = record
			x.start.Data = bytes.Clone(record.Data)
			x.point, x.pointed = r.place, record.At.Wall
		} else if record.Kind == Checkpoint {
			x.point, x.pointed = x.end, record.At.Wall
		}
		x.end = r.place
		return nil
	})
	return x, err
}

// Continue passes the description of the flight in a folder to visit, then the records of its box from the last
// checkpoint on, and returns a writer that continues it after the last record: one that was being written when the
// program was killed is overwritten by the first record that is written. A box that is not [Ending.Continuable] remains
// as it is, and the error says why. Damage of the old file does not matter.
func Continue(dir string, o Options, visit func(Record) error) (w *Writer, end Ending, err error) {
	if _, err := os.Stat(filepath.Join(dir, Stopped)); err == nil {
		end.Stopped = true
		return nil, end, end.Continuable()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, end, err
	}
	name, err := last(dir)
	if err != nil {
		return nil, end, err
	}
	f, err := files.Open(filepath.Join(dir, name), os.O_RDWR)
	if err != nil {
		return nil, end, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	x, err := scan(f)
	if err == nil {
		err = x.Continuable()
	}
	if err == nil {
		err = x.pass(f, visit)
	}
	if err != nil {
		return nil, end, err
	}
	w = newWriter(f, dir, o)
	w.start, w.size, w.sum, w.records = x.start.Input(), x.end.at, x.end.sum, x.Records
	w.at, w.synced, w.pointed = x.Last, x.Last.Wall, x.pointed
	if info, err := os.Stat(filepath.Join(dir, Old)); err == nil && name != Old {
		w.dropped = info.Size()
	}
	w.prepare = func() error { return x.prepare(f, dir, name) }
	return w, x.Ending, nil
}

// pass passes the first record and those from the last checkpoint on.
func (x *rest) pass(f *os.File, visit func(Record) error) error {
	if err := visit(x.start); err != nil {
		return err
	}
	from := io.NewSectionReader(f, x.point.at, x.end.at-x.point.at)
	r := &Reader{from: bufio.NewReaderSize(from, 1<<16), place: x.point}
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = visit(record)
		}
		if err != nil {
			return err
		}
	}
}

// prepare makes a file of a name ready for the next record.
func (x *rest) prepare(f *os.File, dir, name string) error {
	if name != File {
		if err := os.Rename(f.Name(), filepath.Join(dir, File)); err != nil {
			return err
		}
	}
	if err := f.Truncate(x.end.at); err != nil {
		return err
	}
	_, err := f.Seek(x.end.at, io.SeekStart)
	return err
}

// Time returns the clocks at a restart, given what the clocks of the box showed last and the present Unix time [ns]:
// the wall clock of the flight continues as the Unix clock, and does not go back.
func (end *Ending) Time(unix int64) service.Clock {
	return service.Clock{Wall: end.Last.Wall + max(0, unix-end.Last.Unix), Unix: unix}
}
