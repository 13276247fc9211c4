package studio

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/run/folder"

	"pgregory.net/rapid"
)

// settle makes all folders look as if they had not changed for a while.
func settle(t testing.TB, dir string, ago time.Duration) {
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if then := time.Now().Add(-ago); err == nil && d.IsDir() {
			err = os.Chtimes(path, then, then)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The list of runs is that of a studio that has just been started, whatever was written, replaced, removed and read
// before, whether folders have settled or not.
func TestRunsAreThoseOfTheFolder(t *testing.T) {
	rapid.Check(t, func(random *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		s := New(Options{Folder: dir})
		list := func(s *Studio) (list string) {
			runs := s.scan()
			slices.SortFunc(runs, func(a, b entry) int { return strings.Compare(a.ID, b.ID) })
			for _, e := range runs {
				list += fmt.Sprintf("%s %s %v\n", e.ID, e.Outcome, e.Ended)
			}
			return list
		}
		for n := range rapid.IntRange(1, 12).Draw(random, "changes") {
			run := filepath.Join(dir, rapid.SampledFrom([]string{"a", "b", "a/1", "a/2", "b/1"}).Draw(random, "run"))
			switch rapid.IntRange(0, 4).Draw(random, "kind") {
			case 0, 1:
				err = os.MkdirAll(run, 0o700)
				if err == nil {
					err = os.WriteFile(filepath.Join(run, folder.LogFile), []byte{byte(n)}, 0o600)
				}
			case 2:
				if _, missing := os.Stat(run); missing == nil { // a summary is renamed into its place
					text := fmt.Sprintf(`{"outcome": "complete", "ended_s": %d}`, n)
					err = os.WriteFile(filepath.Join(run, "new"), []byte(text), 0o600)
					if err == nil {
						err = os.Rename(filepath.Join(run, "new"), filepath.Join(run, folder.SummaryFile))
					}
				}
			case 3:
				err = os.RemoveAll(run)
			case 4:
				settle(t, dir, time.Duration(rapid.IntRange(3, 9).Draw(random, "ago"))*time.Second+time.Duration(n))
			}
			if err != nil {
				random.Fatal(err)
			}
			if rapid.Bool().Draw(random, "is read") {
				if got, want := list(s), list(New(Options{Folder: dir})); got != want {
					random.Fatalf("the runs are\n%s, not\n%s", got, want)
				}
			}
		}
	})
}

// BenchmarkState prints what it costs to look for changes among 5,000 runs that are over, as a studio does at most once
// a second.
func BenchmarkState(b *testing.B) {
	dir := b.TempDir()
	for n := range 5000 {
		run := filepath.Join(dir, "mission", fmt.Sprint("run-", n))
		err := os.MkdirAll(run, 0o700)
		for name, text := range map[string]string{folder.LogFile: "x", folder.SummaryFile: `{"outcome": "complete"}`} {
			if err == nil {
				err = os.WriteFile(filepath.Join(run, name), []byte(text), 0o600)
			}
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	settle(b, dir, time.Minute)
	s := New(Options{Folder: dir})
	s.scan()
	for b.Loop() {
		s.scan()
	}
}
