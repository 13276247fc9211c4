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
	Changed float64 `json:"changed"` // when its log was last written [s, Unix]
	Outcome string  `json:"outcome"` // of its summary; "": it has none
	Ended   float64 `json:"ended"`   // [s]
}

// place is a folder, as it was read.
type place struct {
	changed, read time.Time
	below         []string // the names of the folders in it
	run           *entry   // nil: it has none
}

// settled reports whether nothing in the folder has changed since it was read, if the folder has not: its time tells
// apart what is further apart than a clock's tick, and a log grows without it.
func (p *place) settled(changed time.Time) bool {
	const tick = 2 * time.Second
	return p != nil && changed.Equal(p.changed) && p.read.Sub(changed) > tick && (p.run == nil || p.run.Outcome != "")
}

// mostRuns is how many runs a page lists, mostSummary the size of the largest summary that is read [bytes].
const (
	mostRuns    = 200
	mostSummary = 1 << 20
)

// runs lists the runs in the folder: those that are folders in it, or in one of these. Links are not followed. Within a
// second, only those in progress are looked at again.
func (s *Studio) runs() []entry {
	flown := func(e entry) bool { return e.ID == s.flight.id }
	if time.Since(s.scanned) > time.Second || s.flight != nil && !slices.ContainsFunc(s.list, flown) {
		s.list, s.scanned = s.scan(), time.Now()
	}
	for i, e := range s.list {
		if e.Outcome != "" {
			continue
		}
		if now, ok := s.look(e.ID); ok {
			s.list[i] = now
		}
	}
	return slices.Clone(s.list)
}

// scan finds them.
func (s *Studio) scan() []entry {
	found := map[string]*place{}
	s.search("", 2, found)
	s.places = found
	list := []entry{}
	for _, p := range found {
		if p.run != nil {
			list = append(list, *p.run)
		}
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.Changed, a.Changed), strings.Compare(a.ID, b.ID))
	})
	return list[:min(len(list), mostRuns)]
}

// search finds the folders below one, so many levels deep. It reads those that have changed.
func (s *Studio) search(id string, levels int, found map[string]*place) {
	dir := filepath.Join(s.Folder, filepath.FromSlash(id))
	info, err := os.Lstat(dir)
	if id == "" {
		info, err = os.Stat(dir)
	}
	if err != nil || !info.IsDir() {
		return
	}
	p := s.places[id]
	if !p.settled(info.ModTime()) {
		p = &place{changed: info.ModTime(), read: time.Now()}
		if levels > 0 {
			p.below = folders(dir)
		}
		if one, ok := s.look(id); ok && id != "" {
			p.run = &one
		}
	}
	found[id] = p
	for _, name := range p.below {
		s.search(path.Join(id, name), levels-1, found)
	}
}

// folders returns the names of the folders in one. Without it there are none.
func folders(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

// look returns the entry of a run, if there is one with this identifier.
func (s *Studio) look(id string) (entry, bool) {
	dir := filepath.Join(s.Folder, filepath.FromSlash(id))
	log, err := os.Lstat(filepath.Join(dir, folder.LogFile))
	if err != nil || !log.Mode().IsRegular() {
		return entry{}, false
	}
	written := log.ModTime()
	if tail, err := os.Lstat(filepath.Join(dir, folder.TailFile)); err == nil && tail.ModTime().After(written) {
		written = tail.ModTime()
	}
	one := entry{ID: id, Changed: float64(written.UnixMilli()) / 1000}
	var x record.Summary
	text, err := files.Read(filepath.Join(dir, folder.SummaryFile), mostSummary)
	if err == nil && json.Unmarshal(text, &x) == nil {
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
