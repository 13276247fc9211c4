package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"canopy/document/mission"
	"canopy/run/record"
	"canopy/snapshot"

	"github.com/gofrs/flock"
)

// checkpointFile is the file of an output folder from which a run can be resumed.
const checkpointFile = "run.checkpoint"

// errCheckpoint is wrapped by the errors of a run that cannot be resumed.
var errCheckpoint = errors.New("this run cannot be resumed")

// identity is what a checkpoint holds besides the states of the run and of its log: which run it is, by which build,
// and what it has cost.
type identity struct {
	build string // a digest of the program: what a version names need not be the same to the last bit
	run   string // a digest of the header and the documents that it is made from
	cpu   float64
}

// program is the digest of this program.
var program = sync.OnceValues(func() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	digest := sha256.New()
	_, err = io.Copy(digest, f)
	return string(digest.Sum(nil)), err
})

func newIdentity(h *record.Header) *identity {
	digest := sha256.New()
	_ = json.NewEncoder(digest).Encode(h) // one that is no JSON is refused by the recorder
	for _, a := range h.Attachments {
		fmt.Fprintln(digest, len(a.Data))
		digest.Write(a.Data)
	}
	return &identity{run: string(digest.Sum(nil))}
}

// State passes the identity; loading fails if it is another one.
func (p *identity) State(c *snapshot.Codec) {
	saved := *p
	snapshot.Text(c, &saved.build)
	snapshot.Text(c, &saved.run)
	snapshot.Float(c, &saved.cpu)
	switch {
	case saved.build != p.build:
		c.Fail(errors.New("it was written by another build of canopy"))
	case saved.run != p.run:
		c.Fail(errors.New("it is of another run: a document, a parameter or an option is not the same"))
	default:
		p.cpu = saved.cpu
	}
}

// save writes the checkpoint of a run into its output folder.
func (p *identity) save(out string, r *mission.Run, w *record.Writer) error {
	point, err := w.Point()
	if err != nil {
		return err
	}
	if p.build, err = program(); err != nil {
		return err
	}
	data := snapshot.Save(nil, p, r, &point)
	sum := sha256.Sum256(data)
	return save(filepath.Join(out, checkpointFile), append(sum[:], data...))
}

// load restores a run that has not begun from its output folder, and returns its place in the log.
func (p *identity) load(out string, r *mission.Run) (record.Point, error) {
	var point record.Point
	name := filepath.Join(out, checkpointFile)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return point, fmt.Errorf("%w: there is no %s, which Ctrl-C and --checkpoint leave", errCheckpoint, name)
	} else if err != nil {
		return point, err
	}
	if len(data) < sha256.Size || sha256.Sum256(data[sha256.Size:]) != [sha256.Size]byte(data[:sha256.Size]) {
		return point, fmt.Errorf("%w: %s is damaged", errCheckpoint, name)
	}
	if p.build, err = program(); err != nil {
		return point, err
	}
	if err := snapshot.Load(data[sha256.Size:], p, r, &point); err != nil {
		return point, fmt.Errorf("%w: %s: %w", errCheckpoint, name, err)
	}
	return point, nil
}

// errOccupied is wrapped by the error of a folder into which another run writes.
var errOccupied = errors.New("another run writes into the folder")

// occupy keeps other runs out of an output folder until free is called or the process ends, however it ends.
func occupy(out string) (free func() error, err error) {
	lock := flock.New(filepath.Join(out, "run.lock"), flock.SetPermissions(0o666))
	switch ok, err := lock.TryLock(); {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("%w %s", errOccupied, out)
	}
	return lock.Unlock, nil
}

// logFiles are the files that a run writes while it goes on.
type logFiles struct{ mcap, status, signals *os.File }

// openLog opens the files of a log: the CSV files with the given flags besides O_RDWR, and run.mcap, empty, under a
// name of the caller's choice.
func openLog(out, mcap string, flags int) (*logFiles, error) {
	l := &logFiles{}
	for name, f := range map[string]**os.File{mcap: &l.mcap, "status.csv": &l.status, "signals.csv": &l.signals} {
		how := flags
		if f == &l.mcap {
			how = os.O_CREATE | os.O_TRUNC
		}
		var err error
		if *f, err = os.OpenFile(filepath.Join(out, name), os.O_RDWR|how, 0o666); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	return l, nil
}

func (l *logFiles) files() record.Files {
	return record.Files{MCAP: l.mcap, Status: l.status, Signals: l.signals}
}

func (l *logFiles) close() error {
	var err error
	for _, f := range []*os.File{l.mcap, l.status, l.signals} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// resumeLog goes on with the log in a folder from a place in it. Until it succeeds, the old log stays as it is.
func resumeLog(out string, h record.Header, p record.Point) (*logFiles, *record.Writer, error) {
	const part = "run.mcap.part"
	old, err := os.Open(filepath.Join(out, "run.mcap"))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errCheckpoint, err)
	}
	defer func() { _ = old.Close() }()
	l, err := openLog(out, part, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errCheckpoint, err)
	}
	w, err := record.Resume(h, l.files(), p, record.Earlier{MCAP: old, Status: l.status, Signals: l.signals})
	if err == nil { // the CSV files have been read up to where they are cut off
		err = errors.Join(l.status.Truncate(p.Status.Length), l.signals.Truncate(p.Signals.Length))
	}
	if err == nil {
		err = os.Rename(filepath.Join(out, part), filepath.Join(out, "run.mcap"))
	}
	if err != nil {
		_ = os.Remove(filepath.Join(out, part))
		return nil, nil, fmt.Errorf("%w: %w", errCheckpoint, errors.Join(err, l.close()))
	}
	return l, w, nil
}
