package folder

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

	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"

	"github.com/gofrs/flock"
)

// identity is the part of a checkpoint in addition to the states of the run and of its log: the run, the build, and the
// cost.
type identity struct {
	build string // a digest of the program: builds of one version may differ in the last bit
	run   string // a digest of the header and its source documents

	header *record.Header

	// CPU times up to the checkpoint from which the run continues [s].
	cpu, flight float64
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

// digest computes the digests, which only checkpoints need.
func (p *identity) digest() (err error) {
	digest := sha256.New()
	_ = json.NewEncoder(digest).Encode(p.header) // the recorder rejects a header that cannot be written as JSON
	for _, a := range p.header.Attachments {
		fmt.Fprintln(digest, len(a.Data))
		digest.Write(a.Data)
	}
	p.run = string(digest.Sum(nil))
	p.build, err = program()
	return err
}

// State passes the identity to the codec; loading fails if it differs.
func (p *identity) State(c *snapshot.Codec) {
	saved := *p
	snapshot.Vars(c, &saved.build, &saved.run, &saved.cpu, &saved.flight)
	switch {
	case saved.build != p.build:
		c.Fail(errors.New("it was written by another build of canopy"))
	case saved.run != p.run:
		c.Fail(errors.New("it belongs to another run: a document, a parameter or an option differs"))
	default:
		p.cpu, p.flight = saved.cpu, saved.flight
	}
}

// checkpoint saves the current state of the run.
func (f *flight) checkpoint() error {
	var point record.Point
	err := f.guarded(func() (err error) {
		point, err = f.w.Point()
		return err
	})
	if err != nil {
		return err
	}
	saved := *f.id
	saved.cpu, saved.flight = f.spent()
	if err := saved.digest(); err != nil {
		return err
	}
	data := snapshot.Save(nil, &saved, f.Run, &point)
	sum := sha256.Sum256(data)
	return f.save(CheckpointFile, append(sum[:], data...))
}

// read returns the state in the checkpoint of a folder, and checks that it belongs to the run.
func (p *identity) read(dir string) ([]byte, error) {
	name := filepath.Join(dir, CheckpointFile)
	data, err := files.Read(name, 1<<30)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no %s, which Ctrl-C and --checkpoint leave", ErrCheckpoint, name)
	} else if err != nil {
		return nil, err
	}
	if len(data) < sha256.Size || sha256.Sum256(data[sha256.Size:]) != [sha256.Size]byte(data[:sha256.Size]) {
		return nil, fmt.Errorf("%w: %s is damaged", ErrCheckpoint, name)
	}
	if err := p.digest(); err != nil {
		return nil, err
	}
	data = data[sha256.Size:]
	size := min(len(data), len(snapshot.Save(nil, p))) // digests have one length
	if err := snapshot.Load(data[:size], p); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCheckpoint, name, err)
	}
	return data[size:], nil
}

// resume restores the run from the folder's checkpoint and rewrites its log up to there. The earlier log is unchanged.
func (f *flight) resume(h record.Header, into record.Files) (*record.Writer, error) {
	data, err := f.id.read(f.dir)
	if err != nil {
		return nil, err
	}
	var point record.Point
	if err := snapshot.Load(data, f.Run, &point); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCheckpoint, f.path(CheckpointFile), err)
	}
	var old [3]*os.File
	for i, name := range []string{LogFile, StatusFile, SignalsFile} {
		if old[i], err = files.Open(f.path(name), os.O_RDONLY); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
		}
		defer old[i].Close() //nolint:errcheck // only read
	}
	earlier := record.Earlier{MCAP: old[0], Status: old[1], Signals: old[2], To: f.readers()}
	w, err := record.Resume(h, into, point, earlier)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return w, nil
}

// Occupy locks a folder against other runs until free is called or the process ends in any way. The lock file exists
// only during a run, or after one was killed. Other users cannot open it, and so cannot lock it. The error for a folder
// that is locked wraps ErrOccupied.
func Occupy(dir string) (free func() error, err error) {
	name := filepath.Join(dir, lockFile)
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // a pipe blocks
		return nil, &fs.PathError{Op: "lock", Path: name, Err: files.ErrSpecial}
	}
	for {
		lock := flock.New(name, flock.SetPermissions(0o600))
		switch ok, err := lock.TryLock(); {
		case err != nil:
			return nil, err
		case !ok:
			return nil, fmt.Errorf("%w %s", ErrOccupied, dir)
		}
		mine, e1 := lock.Stat()
		there, e2 := os.Stat(name)
		if e1 == nil && e2 == nil && os.SameFile(mine, there) {
			return func() error { return errors.Join(os.Remove(name), lock.Unlock()) }, nil
		}
		if err := lock.Unlock(); err != nil { // another run has just removed it: this is not a lock
			return nil, err
		}
		if e2 != nil && !errors.Is(e2, fs.ErrNotExist) {
			return nil, e2
		}
	}
}
