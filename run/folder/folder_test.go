package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/temporal"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// count is a run that counts to ten, a sample and a status change each second.
type count struct {
	n    int
	over bool
	end  record.Outcome
	rec  record.Recorder
	text string // of the mission; another text makes another run
	more int    // samples of each second beyond one
}

func (c *count) Header() record.Header {
	return record.Header{Mission: "count", Horizon: 10, Signals: []record.Signal{{Name: "n"}},
		Tasks:       []record.Task{{Name: "act", Kind: "Action", Parent: -1, Initial: bt.Accept}},
		Attachments: []record.Attachment{{Name: "mission.yaml", Data: []byte(c.text)}}}
}

func (c *count) Attach(rec record.Recorder) { c.rec = rec }

func (c *count) Fly(ctx context.Context, observe func(bool) error) error {
	for c.n < 10 {
		if ctx.Err() != nil {
			return record.ErrInterrupted
		}
		c.n++
		change := bt.Change{From: bt.Accept, To: bt.Activating}
		err := errors.Join(c.rec.Sample(c.T(), []float64{c.T()}), c.rec.Status(c.T(), 1, change))
		for n := 0; n < c.more && err == nil; n++ {
			err = c.rec.Sample(c.T(), []float64{float64(n)})
		}
		if err != nil {
			return err
		}
		if err := observe(c.n < 10); err != nil {
			return err
		}
	}
	c.over, c.end = true, record.Complete
	return nil
}

func (c *count) Stop(string) error {
	if !c.over {
		c.over, c.end = true, record.Interrupted
	}
	return nil
}

func (c *count) T() float64                  { return float64(c.n) }
func (c *count) Summary() record.Summary     { return record.Summary{Ended: c.T(), Outcome: c.end} }
func (c *count) State(codec *snapshot.Codec) { snapshot.Int(codec, &c.n) }
func stopped(after *count, n int) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	return ctx, func() {
		if after.n == n {
			cancel()
		}
	}
}

// contents returns the files of a folder and of those in it.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			found[path] = "folder"
			return err
		}
		data, err := os.ReadFile(path)
		found[path] = string(data)
		return err
	})
	must(t, err)
	return found
}

var all = []string{LogFile, StatusFile, SignalsFile, SummaryFile, ReportFile, CheckpointFile}

// TestLockIsPrivate: other users cannot open, and so cannot lock, the lock of a run.
func TestLockIsPrivate(t *testing.T) {
	dir := t.TempDir()
	free, err := Occupy(dir)
	must(t, err)
	defer free() //nolint:errcheck // a test
	if info, err := os.Stat(filepath.Join(dir, lockFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A run that cannot start, because a file of its folder cannot be replaced, leaves the folder as it was.
func TestNothingIsLostByStarting(t *testing.T) {
	for _, resume := range []bool{false, true} {
		for _, name := range all {
			dir := t.TempDir()
			if _, err := Fly(t.Context(), &count{}, dir, Options{Every: 4}); err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(dir, name)
			must(t, errors.Join(os.Remove(at), os.MkdirAll(filepath.Join(at, "in the way"), 0o777)))
			before := contents(t, dir)
			if _, err := Fly(t.Context(), &count{}, dir, Options{Resume: resume}); err == nil {
				t.Errorf("%s is a folder, the run starts; resumed: %v", name, resume)
			}
			if after := contents(t, dir); !maps.Equal(before, after) {
				t.Errorf("%s is a folder; resumed: %v; before\n%v\nafter\n%v", name, resume, before, after)
			}
		}
	}
}

// A run that cannot be recorded leaves no folder, one that cannot be resumed no file.
func TestRefusedLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "mine"), []byte("text"), 0o666))
	before := contents(t, dir)
	_, err := Fly(t.Context(), &unrecordable{}, filepath.Join(dir, "a", "b"), Options{})
	if !errors.Is(err, record.ErrHeader) {
		t.Error(err)
	}
	for _, out := range []string{dir, filepath.Join(dir, "none")} {
		if _, err := Fly(t.Context(), &count{}, out, Options{Resume: true}); !errors.Is(err, ErrCheckpoint) {
			t.Error(err)
		}
	}
	if after := contents(t, dir); !maps.Equal(before, after) {
		t.Errorf("before\n%v\nafter\n%v", before, after)
	}
}

// Declared properties are judged in flight. Those of an interrupted run are open beyond its end; those of a run that was
// interrupted, before or after the first chunk was written, and resumed are judged on the whole run.
func TestPropertiesAreJudged(t *testing.T) {
	var assertions []temporal.Assertion
	for _, text := range []string{"always (n < 3)", "always (n < 8)", "always (n > 0)", "eventually act", "always (t < 20 [s])"} {
		p, mistakes := temporal.Read(text, expr.TaskNames{"act"}, nil)
		if mistakes != nil {
			t.Fatal(mistakes)
		}
		assertions = append(assertions, temporal.Assertion{Text: p.Text, Formula: p.Formula})
	}
	verdicts := func(dir string, n int, o Options) string {
		c := &count{}
		ctx, stop := stopped(c, n)
		o.Watch, o.Observe = temporal.Watch{Assertions: assertions}, stop
		s, err := Fly(ctx, c, dir, o)
		if s == nil || err != nil && !errors.Is(err, record.ErrInterrupted) {
			t.Fatal(err)
		}
		text := ""
		for _, p := range s.Properties {
			text += p.Verdict + judgedAt(p) + ", "
		}
		f, err := os.Open(filepath.Join(dir, LogFile))
		must(t, err)
		defer f.Close() //nolint:errcheck // only read
		var log record.Log
		log.End, err = record.Play(f, log.Begin)
		if err != nil || !reflect.DeepEqual(log.Summary.Properties, s.Properties) {
			t.Errorf("the log has %+v, %v", log.Summary, err)
		}
		return text
	}
	const whole = "violated 3, violated 8, satisfied, satisfied, satisfied, "
	if got := verdicts(t.TempDir(), 11, Options{}); got != whole {
		t.Error(got)
	}
	for n, want := range map[int]string{2: "open 2, open 2, ", 5: "violated 3, open 5, ", 9: "violated 3, violated 8, "} {
		dir, since := t.TempDir(), fmt.Sprintf("open %d, ", n)
		if got := verdicts(dir, n, Options{}); got != want+since+"satisfied, "+since {
			t.Errorf("interrupted at %d: %s", n, got)
		}
		if got := verdicts(dir, 11, Options{Resume: true}); got != whole {
			t.Errorf("resumed from %d: %s", n, got)
		}
	}
}

func judgedAt(p record.Property) string {
	for _, at := range []*float64{p.At, p.After} {
		if at != nil {
			return fmt.Sprintf(" %g", *at)
		}
	}
	return ""
}

// unrecordable has two signals of one name.
type unrecordable struct{ count }

func (u *unrecordable) Header() record.Header {
	h := u.count.Header()
	h.Signals = append(h.Signals, h.Signals[0])
	return h
}

// A run that is interrupted after any step and resumed leaves the log of one that was not, and nothing else.
func TestResume(t *testing.T) {
	whole := t.TempDir()
	if _, err := Fly(t.Context(), &count{}, whole, Options{}); err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		dir := t.TempDir()
		first := &count{}
		ctx, observe := stopped(first, n)
		observe()
		s, err := Fly(ctx, first, dir, Options{Observe: observe})
		if !errors.Is(err, record.ErrInterrupted) || s.Outcome != record.Interrupted || s.Ended != float64(n) {
			t.Fatalf("%d steps: %+v, %v", n, s, err)
		}
		before := contents(t, dir)
		if _, err := Fly(t.Context(), &count{text: "another"}, dir, Options{Resume: true}); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("another run: %v", err)
		}
		if !maps.Equal(before, contents(t, dir)) {
			t.Error("a refused run has changed the folder")
		}
		if s, err := Fly(t.Context(), &count{}, dir, Options{Resume: true}); err != nil || s.Outcome != record.Complete {
			t.Fatalf("%d steps: %+v, %v", n, s, err)
		}
		for _, name := range []string{LogFile, StatusFile, SignalsFile} {
			a, e1 := os.ReadFile(filepath.Join(whole, name))
			b, e2 := os.ReadFile(filepath.Join(dir, name))
			if e1 != nil || e2 != nil || !bytes.Equal(a, b) {
				t.Errorf("%d steps: %s differs: %v %v", n, name, e1, e2)
			}
		}
		if entries, _ := os.ReadDir(dir); len(entries) != len(all) {
			t.Errorf("the folder has %v", entries)
		}
	}
}

// A log that has reached its limit ends the run with complete files and a checkpoint, from which it goes on with a higher
// limit; within a single step it ends the run an eighth later. So does a disk that is nearly full.
func TestFullLog(t *testing.T) {
	const more, limit, chunks = 5_000, 1_500_000, 200_000 // bytes that are not written out yet
	size := func(dir string) (n int) {
		for _, name := range []string{LogFile, StatusFile, SignalsFile} {
			n += len(contents(t, dir)[filepath.Join(dir, name)])
		}
		return n
	}
	whole, dir := t.TempDir(), t.TempDir()
	if _, err := Fly(t.Context(), &count{more: more}, whole, Options{Limit: 1 << 40}); err != nil || size(whole) < 2*limit {
		t.Fatal(err, size(whole))
	}
	s, err := Fly(t.Context(), &count{more: more}, dir, Options{Limit: limit})
	if n := size(dir); !errors.Is(err, ErrFull) || !errors.Is(err, record.ErrInterrupted) || s.Outcome != record.Interrupted ||
		n < limit || n > limit+size(whole)/10+chunks {
		t.Errorf("%v, %+v, %d bytes", err, s, n)
	}
	if s, err := Fly(t.Context(), &count{more: more}, dir, Options{Limit: 1 << 40, Resume: true}); err != nil ||
		s.Outcome != record.Complete || size(dir) != size(whole) {
		t.Errorf("%v, %+v, %d bytes, want %d", err, s, size(dir), size(whole))
	}
	_, err = Fly(t.Context(), &count{more: 100 * more}, dir, Options{Limit: limit})
	if n := size(dir); !errors.Is(err, ErrFull) || errors.Is(err, record.ErrInterrupted) || n > limit+limit/8+2*chunks {
		t.Errorf("in one step: %v, %d bytes", err, n)
	}
	log, err := os.Open(filepath.Join(dir, LogFile))
	must(t, err)
	defer log.Close() //nolint:errcheck // only read
	if _, err := record.Play(log, (&record.Log{}).Begin); err != nil {
		t.Error(err)
	}
}

// A log leaves some of the disk free, whatever its limit.
func TestFullDisk(t *testing.T) {
	free := int64(1000)
	f := &flight{Options: Options{Limit: 1 << 40}, spare: 500, free: func(string) int64 { return free }}
	for _, step := range []struct {
		free       int64
		full, ends bool
	}{{500, false, false}, {499, true, false}, {250, true, false}, {249, true, true}} {
		free = step.free
		if err := f.room(1); errors.Is(f.full, ErrFull) != step.full || errors.Is(err, ErrFull) != step.ends {
			t.Errorf("%d bytes: %v, %v", free, f.full, err)
		}
	}
	if n := files.Free(t.TempDir()); n <= 0 {
		t.Errorf("%d bytes are free", n)
	}
}

// Two runs do not write into one folder at once; a run that is over, or killed, leaves it free.
func TestTwoRunsInOneFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := Fly(t.Context(), &count{}, dir, Options{Every: 4}); err != nil {
		t.Fatal(err)
	}
	free, err := Occupy(dir)
	must(t, err)
	before := contents(t, dir)
	for _, resume := range []bool{false, true} {
		if _, err := Fly(t.Context(), &count{}, dir, Options{Resume: resume}); !errors.Is(err, ErrOccupied) {
			t.Errorf("two runs at once: %v", err)
		}
	}
	if !maps.Equal(before, contents(t, dir)) {
		t.Error("a refused run has changed the folder")
	}
	must(t, free())
	if err := os.WriteFile(filepath.Join(dir, lockFile), nil, 0o666); err != nil { // as one that was killed leaves it
		t.Fatal(err)
	}
	if _, err := Fly(t.Context(), &count{}, dir, Options{Resume: true}); err != nil {
		t.Error(err)
	}
}

// A checkpoint that cannot be saved ends the run, with an entry in its log.
func TestLostCheckpoint(t *testing.T) {
	dir := t.TempDir()
	run := &count{}
	block := func() {
		if run.n == 3 {
			if err := os.Mkdir(filepath.Join(dir, CheckpointFile), 0o777); err != nil {
				t.Error(err)
			}
		}
	}
	s, err := Fly(t.Context(), run, dir, Options{Every: 5, Observe: block})
	if err == nil || s == nil || s.Outcome != record.Interrupted || s.Ended != 5 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A folder is named after the mission's file, and lies below the one it is made in.
func TestName(t *testing.T) {
	for file, want := range map[string]string{
		"day.yaml": "day", "a/b.c/day.night.yaml": "day.night", "day": "day", "...yaml": "...yaml", "..yaml": "..yaml",
		".yaml": ".yaml", "....yaml": "....yaml", "a/...": "...", "-": "-",
	} {
		got := Name(file)
		if got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
		if path := filepath.Join("out", got); path != fmt.Sprint("out", string(filepath.Separator), got) {
			t.Errorf("%s lies in %s", file, path)
		}
	}
}
