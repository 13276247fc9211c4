// Package folder flies a run into an output folder: its log, checkpoints to resume from, its summary and its report.
//
// A run that cannot start leaves the folder unchanged. From the start on, the files under the final names are those of
// the new run. If it is killed, they are readable up to their last complete part.
package folder

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/canopy-uav/canopy/internal/cputime"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/monitor"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"
	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/temporal"
)

// The files of a folder.
const (
	LogFile        = "run.mcap"
	StatusFile     = "status.csv"
	SignalsFile    = "signals.csv"
	SummaryFile    = "summary.json"
	ReportFile     = "report.html"
	CheckpointFile = "run.checkpoint"
	lockFile       = "run.lock"
)

// Run is a run to fly; run.Run is one.
type Run interface {
	Header() record.Header
	Attach(record.Recorder)
	Fly(ctx context.Context, observe func(more bool) error) error
	Stop(reason string) error
	Summary() record.Summary
	T() float64 // simulated time [s]
	State(*snapshot.Codec)
}

// Options configures a flight. The zero value flies a run from its start, without checkpoints on the way.
type Options struct {
	Every   float64         // simulated time [s]: a checkpoint is saved after each step that reaches a multiple of it
	Resume  bool            // continue from the folder's checkpoint
	Observe func()          // called after each step; may be nil
	Also    record.Recorder // receives the log, too; may be nil
	Table   io.Writer       // receives the closing table; may be nil
	Bare    bool            // without a report
	Limit   int64           // bytes of the log at which the run ends, unless the disk is full before; 0: none of both
	Guard   sync.Locker     // held while files are incomplete: lock it before ending the process; may be nil

	Watch temporal.Watch // is judged; the summary has the verdicts
}

// Name returns the folder name for a mission's results: the name of its file, without its extension unless only dots
// would remain.
func Name(file string) string {
	base := filepath.Base(file)
	if name := strings.TrimSuffix(base, filepath.Ext(base)); strings.Trim(name, ".") != "" {
		return name
	}
	return base
}

// flight is a run in progress with its folder.
type flight struct {
	Run
	Options
	dir   string
	id    *identity
	began float64 // CPU time of the process when the flight began [s]
	log   []*files.File
	w     *record.Writer
	tail  tail
	judge *monitor.Monitor // of the assertions
	shown *report.Gatherer // for the report and the table
	free  func(dir string) int64
	spare int64 // bytes of the disk that the log leaves free
	full  error // why the log is full; nil: it is not
}

// Fly flies a run that has not begun to its end, and returns its summary, nil if nothing was flown. However the run
// ends, the files are complete up to there, and the report is written. If the log could not be written, or the folder
// is gone, the error wraps [ErrLog], and neither summary nor report are saved; the closing table is written. A context
// that is done ends it with [record.ErrInterrupted] and a checkpoint; so does a log that is full, whose error wraps
// [ErrFull] as well. If one step fills the log far beyond that, the run fails with [ErrFull]. Errors wrap
// [ErrCheckpoint], [ErrOccupied] or [record.ErrHeader] if the run cannot start because of the checkpoint, another run,
// or its header; others are those of the run or of the files.
func Fly(ctx context.Context, r Run, dir string, o Options) (*record.Summary, error) {
	header := r.Header()
	f := &flight{Run: r, Options: o, dir: dir, id: &identity{header: &header}, began: cputime.Now(), free: files.Free}
	if len(o.Watch.Assertions) > 0 {
		f.judge = monitor.New(&header, o.Watch)
	}
	if !o.Bare || o.Table != nil {
		f.shown = report.NewGatherer(&header)
	}
	if f.Guard == nil {
		f.Guard = &sync.Mutex{}
	}
	release, err := f.start(header)
	if err != nil {
		return nil, err
	}
	defer release()
	f.Attach(append(record.Tee{f.w}, f.readers()...))
	stop := f.writeTails()
	err = f.Run.Fly(ctx, f.observe())
	if errors.Is(err, record.ErrInterrupted) {
		err = errors.Join(err, f.checkpoint())
	}
	if err != nil {
		err = record.Join(err, f.Stop(cmp.Or(f.full, err).Error())) // unless it is over already
	}
	stop()
	return f.finish(err)
}

// readers are the recorders that receive the log beside its files.
func (f *flight) readers() (list record.Tee) {
	if f.judge != nil {
		list = append(list, f.judge)
	}
	if f.shown != nil {
		list = append(list, f.shown)
	}
	if f.Also != nil {
		list = append(list, f.Also)
	}
	return list
}

// observe returns the function to call after each step.
func (f *flight) observe() func(more bool) error {
	every := f.Every
	if every == 0 {
		every = math.Inf(1)
	}
	due := math.Floor(f.T()/every) + 1
	return func(more bool) error {
		f.tail.follow(f.w)
		if f.Observe != nil {
			f.Observe()
		}
		if more && f.full != nil {
			return fmt.Errorf("%w: %w", record.ErrInterrupted, f.full)
		}
		if !more || f.T() < due*every {
			return nil
		}
		due = math.Floor(f.T()/every) + 1
		return f.checkpoint()
	}
}

// reserve is what the log leaves free on the disk [bytes], unless half of what was free is less: for the summary, the
// report and a checkpoint.
const reserve = 256 << 20

// room finds out whether the log may grow. If not, the run is to end after the present step. If that takes much more
// again, or the end does, the error ends the run at once.
func (f *flight) room(written int64) error {
	before := f.full
	switch {
	case written > f.Limit:
		f.full = cmp.Or(before, fmt.Errorf("%w: its limit is %d MiB", ErrFull, f.Limit>>20))
		f.Limit = written + f.Limit/8
	case f.free(f.dir) < f.spare:
		f.full = cmp.Or(before, fmt.Errorf("%w: less than %d MiB of the disk are free", ErrFull, f.spare>>20))
		f.spare /= 2
	default:
		return nil
	}
	return before
}

// path is the path of a file of the folder.
func (f *flight) path(name string) string { return filepath.Join(f.dir, name) }

// guarded runs a function during which files are incomplete.
func (f *flight) guarded(do func() error) error {
	f.Guard.Lock()
	defer f.Guard.Unlock()
	return do()
}

func (f *flight) save(name string, data []byte) error {
	return f.guarded(func() error { return files.Save(f.path(name), data) })
}

// spent is the CPU time that the run and its process have cost, and that of the flight [s].
func (f *flight) spent() (all, flight float64) {
	now := cputime.Now()
	return f.id.cpu + now, f.id.flight + now - f.began
}

// start prepares everything, then replaces the files of an earlier run. If it fails, it leaves the earlier files. The
// folder belongs to the run until release is called or the process ends in any way.
func (f *flight) start(header record.Header) (release func(), err error) {
	made, err := f.folder()
	if err != nil {
		return nil, err
	}
	free, err := Occupy(f.dir)
	if err == nil {
		if err = f.open(header); err == nil {
			return func() { _ = free() }, nil
		}
		_ = free()
	}
	for i := range made { // the folders that are empty, from the innermost
		_ = os.Remove(made[len(made)-1-i])
	}
	return nil, err
}

// folder creates the folder of a new run; for a resumed run, it checks for the checkpoint. It returns the folders that
// it created.
func (f *flight) folder() (made []string, err error) {
	if f.Resume {
		_, err := f.id.read(f.dir)
		return nil, err
	}
	for dir := filepath.Clean(f.dir); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		made = append([]string{dir}, made...)
	}
	return made, os.MkdirAll(f.dir, 0o777)
}

// open opens the log, from its beginning or at the checkpoint.
func (f *flight) open(header record.Header) error {
	return f.guarded(func() (err error) {
		var b files.Batch
		defer func() {
			if err != nil {
				b.Cancel()
			}
		}()
		names := []string{SummaryFile, ReportFile, TailFile}
		if !f.Resume {
			names = append(names, CheckpointFile)
		}
		for _, name := range names {
			if err := b.Remove(f.path(name)); err != nil {
				return err
			}
		}
		names = []string{StatusFile, SignalsFile, LogFile}
		for _, name := range names {
			file, err := b.Create(f.path(name))
			if err != nil {
				return err
			}
			f.log = append(f.log, file)
		}
		into := record.Files{Status: f.log[0], Signals: f.log[1], MCAP: f.log[2]}
		if f.Limit > 0 {
			into.Room, f.spare = f.room, min(reserve, f.free(f.dir)/2)
		}
		if f.Resume {
			f.w, err = f.resume(header, into)
		} else {
			f.w, err = record.NewWriter(header, into)
		}
		if err != nil {
			return err
		}
		return b.Commit()
	})
}

// finish completes the files of a run that is over and returns its summary; err is the error that ended it, if any.
func (f *flight) finish(err error) (*record.Summary, error) {
	summary := f.Summary()
	_, summary.Flight = f.spent()
	if f.judge != nil {
		list, unjudged := f.judge.Judge(&record.End{Told: summary.Ended, Summary: &summary})
		err = record.Join(err, unjudged)
		summary.Take(list)
	}
	lost := f.guarded(func() error {
		lost := f.w.Close(summary)
		for _, file := range f.log {
			lost = record.Join(record.Join(lost, file.There()), file.Close())
		}
		return lost
	})
	complete := lost == nil // else the summary and the report would fail as well
	if err = record.Join(err, lost); !complete {
		err = fmt.Errorf("%w: %w", ErrLog, err)
	}
	lost = f.report(&summary, complete)
	if summary.CPU, _ = f.spent(); complete {
		text, e := Text(&summary)
		lost = errors.Join(lost, e, f.save(SummaryFile, text))
	}
	return &summary, record.Join(err, lost)
}

// Text returns a summary in the format of summary.json.
func Text(s *record.Summary) ([]byte, error) {
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

// report writes the table, and if saved the report, as far as they are wanted.
func (f *flight) report(s *record.Summary, saved bool) error {
	if f.shown == nil {
		return nil
	}
	digest := f.shown.Digest(record.End{Told: s.Ended, Summary: s})
	var err error
	if !f.Bare && saved {
		digest.Judge(f.judge)
		err = f.guarded(func() error { return page(f.path(ReportFile), digest) })
	}
	if f.Table != nil {
		err = errors.Join(err, digest.Table(f.Table))
	}
	return err
}

// Report rewrites the report of a folder from its log, and writes the closing table to table. It returns how the log
// ends.
func Report(dir string, table io.Writer) (record.End, error) {
	digest, err := read(dir)
	if err != nil {
		return record.End{}, err
	}
	return digest.End, errors.Join(page(filepath.Join(dir, ReportFile), digest), digest.Table(table))
}

// Overlay writes a report of the run in a folder with that in another one laid over it. It returns how the logs end.
func Overlay(name, dir, against string) (ends [2]record.End, err error) {
	var digests [2]*report.Digest
	for i, from := range []string{dir, against} {
		if digests[i], err = read(from); err != nil {
			return ends, err
		}
		ends[i] = digests[i].End
	}
	return ends, files.Write(name, func(w io.Writer) error { return digests[0].HTML(w, digests[1]) })
}

// Data writes the data of the page of the run in a folder, as [report.Digest.Data] does.
func Data(dir string, w io.Writer) error {
	digest, err := read(dir)
	if err != nil {
		return err
	}
	return digest.Data(w)
}

// read digests the log in a folder; of a run in progress, the part that exists, with its tail.
func read(dir string) (*report.Digest, error) {
	tail, _ := files.Read(filepath.Join(dir, TailFile), MostTail) // a run that is over has none
	f, err := files.Open(filepath.Join(dir, LogFile), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	digest, err := report.Read(record.Joined(f, info.Size(), tail))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return digest, nil
}

// page writes the report of a digest.
func page(name string, digest *report.Digest) error {
	return files.Write(name, func(w io.Writer) error { return digest.HTML(w, nil) })
}

// What the errors of a run wrap.
var (
	ErrOccupied   = errors.New("another run writes into the folder")
	ErrFull       = errors.New("the log is full")              // it has reached its limit, or has nearly filled the disk
	ErrLog        = errors.New("the results are not complete") // the log could not be completed
	ErrCheckpoint = errors.New("this run cannot be resumed")
)
