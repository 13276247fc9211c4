package box

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"canopy/autopilot/service"
	"canopy/run/flight"
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
// the others. It passes the description of the flight once, and a checkpoint only where the records before it were
// dropped. Errors are those of the files and of visit, or wrap ErrFormat.
func Each(dir string, visit func(Record) error) (Ending, error) {
	var end Ending
	old, err := os.Open(filepath.Join(dir, Old))
	if err == nil {
		defer old.Close() //nolint:errcheck // only read
		if _, err = end.read(old, visit); err != nil || end.Damage != nil {
			return end, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return end, err
	}
	f, err := os.Open(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) {
		stopped, e := os.Open(filepath.Join(dir, Stopped))
		switch {
		case e == nil:
			f, end.Stopped, err = stopped, true, nil
		case !errors.Is(e, fs.ErrNotExist):
			return end, e
		case old != nil:
			return end, nil // a checkpoint was being made
		}
	}
	if err != nil {
		return end, err
	}
	defer f.Close() //nolint:errcheck // only read
	_, err = end.read(f, visit)
	return end, err
}

// read reads one file, after end, and returns its reader.
func (end *Ending) read(f *os.File, visit func(Record) error) (*Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := NewReader(bufio.NewReader(io.NewSectionReader(f, 0, info.Size()))) // of a flight in progress, what exists
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	later := end.Records > 0
	for {
		record, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return r, nil
		case errors.As(err, new(*Damage)):
			end.Damage = fmt.Errorf("%s: %w", f.Name(), err)
			return r, nil
		case err != nil:
			return r, err
		case r.Records() == 1 && record.Kind != Kind(flight.Start):
			return r, fmt.Errorf("%s: %w: it does not begin with a start", f.Name(), ErrFormat)
		}
		if _, before, ok := record.State(); ok {
			switch {
			case r.Records() != 2 || later && before != end.Records:
				return r, fmt.Errorf("%s: %w: a checkpoint is not where it belongs", f.Name(), ErrFormat)
			case later:
				continue
			}
			end.Records, end.Dropped = before, before-1
		} else if later && r.Records() == 1 {
			continue
		} else {
			end.Records++
		}
		if record.Kind.Input() {
			end.Last, end.Ended = record.At, record.Kind == Kind(flight.End)
		}
		if err := visit(record); err != nil {
			return r, err
		}
	}
}

// Continue passes the records of the box in a folder to visit, from its last checkpoint on, and returns a writer that
// continues it after the last record: one that was being written when the program was killed is overwritten. A box that
// is not [Ending.Continuable] remains as it is, and the error says why.
func Continue(dir string, o Options, visit func(Record) error) (w *Writer, end Ending, err error) {
	name, old := filepath.Join(dir, File), filepath.Join(dir, Old)
	if _, err := os.Stat(filepath.Join(dir, Stopped)); err == nil {
		end.Stopped = true
		return nil, end, end.Continuable()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, end, err
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) { // a checkpoint was being made
		if err := os.Rename(old, name); err != nil {
			return nil, end, err
		}
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, end, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	w = newWriter(f, dir, o)
	r, err := end.read(f, func(record Record) error {
		if w.start.Data == nil {
			w.start = record.Input()
		}
		return visit(record)
	})
	if err != nil {
		return nil, end, err
	}
	if err := end.Continuable(); err != nil {
		return nil, end, err
	}
	w.size, w.sum, w.records, w.at, w.synced = r.Place(), r.sum, end.Records, end.Last, end.Last.Wall
	if info, err := os.Stat(old); err == nil {
		w.dropped = info.Size()
	}
	if err := f.Truncate(w.size); err != nil {
		return nil, end, err
	}
	if _, err := f.Seek(w.size, io.SeekStart); err != nil {
		return nil, end, err
	}
	return w, end, nil
}

// Time returns the clocks at a restart, given what the clocks of the box showed last and the present Unix time [ns]:
// the wall clock of the flight continues as the Unix clock, and does not go back.
func (end *Ending) Time(unix int64) service.Clock {
	return service.Clock{Wall: end.Last.Wall + max(0, unix-end.Last.Unix), Unix: unix}
}
