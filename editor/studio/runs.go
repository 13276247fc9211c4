package studio

import (
	"cmp"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
)

// entry is a run in the list of runs.
type entry struct {
	ID      string  `json:"id"`      // the path of its folder
	Changed int64   `json:"changed"` // when its log was last written [s, Unix]
	Outcome string  `json:"outcome"` // of its summary; "": it has none
	Ended   float64 `json:"ended"`   // [s]
}

// listed is an entry with the stamps of what it was made from.
type listed struct {
	entry
	stamp string
}

// mostRuns is how many runs a page lists, mostSummary the size of the largest summary that is read [bytes].
const (
	mostRuns    = 200
	mostSummary = 1 << 20
)

// runs lists the runs in the folder: those that are folders in it, or in one of these. Links are not followed.
func (s *Studio) runs() []entry {
	found := map[string]listed{}
	s.search("", 2, found)
	s.listed = found
	list := make([]entry, 0, len(found))
	for _, e := range found {
		list = append(list, e.entry)
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.Changed, a.Changed), strings.Compare(a.ID, b.ID))
	})
	return list[:min(len(list), mostRuns)]
}

// search finds the runs in the folders below one, so many levels deep.
func (s *Studio) search(below string, levels int, found map[string]listed) {
	entries, _ := os.ReadDir(filepath.Join(s.Folder, filepath.FromSlash(below))) // without a folder there are none
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		id := path.Join(below, e.Name())
		if one, ok := s.look(id); ok {
			found[id] = one
		}
		if levels > 1 {
			s.search(id, levels-1, found)
		}
	}
}

// look returns the entry of a run, if there is one with this identifier.
func (s *Studio) look(id string) (listed, bool) {
	dir := filepath.Join(s.Folder, filepath.FromSlash(id))
	log, err := os.Lstat(filepath.Join(dir, folder.LogFile))
	if err != nil || !log.Mode().IsRegular() {
		return listed{}, false
	}
	summary := filepath.Join(dir, folder.SummaryFile)
	stamp := log.ModTime().Format(time.RFC3339Nano) + " " + stampOf(summary)
	if old := s.listed[id]; old.stamp == stamp {
		return old, true
	}
	one := listed{entry{ID: id, Changed: log.ModTime().Unix()}, stamp}
	var x record.Summary
	if text, err := files.Read(summary, mostSummary); err == nil && json.Unmarshal(text, &x) == nil {
		one.Outcome, one.Ended = string(x.Outcome), x.Ended
	}
	return one, true
}

// has reports whether there is a run with this identifier: one that was listed, or would be.
func (s *Studio) has(id string) bool {
	if !filepath.IsLocal(filepath.FromSlash(id)) || path.Clean(id) != id || strings.Count(id, "/") > 1 {
		return false
	}
	for dir := id; dir != "."; dir = path.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(s.Folder, filepath.FromSlash(dir))); err != nil || !info.IsDir() {
			return false
		}
	}
	_, found := s.look(id)
	return found
}
