package studio

import (
	"fmt"
	"os"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
)

// problem is a mistake in a document, or a doubt about it.
type problem struct {
	File     string `json:"file"`
	Line     int    `json:"line"` // from 1
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Text     string `json:"text"`
	Hint     string `json:"hint"`
}

// reading is what was found when the mission was read.
type reading struct {
	name     string // of the mission; "": there is none yet
	problems []problem
	version  int               // counts readings
	stamps   map[string]string // of the files that were read, by name; nil: they are to be read again
}

// mostProblems is how many problems a page shows.
const mostProblems = 100

// now returns the name of the mission and the problems in it. It reads it again if a file has changed, or one may have
// come into being.
func (r *reading) now(read func(set []string) (*mission.Mission, []string, diag.List, error)) (string, []problem) {
	same := r.stamps != nil
	for name, stamp := range r.stamps {
		same = same && stampOf(name) == stamp
	}
	if same {
		return r.name, r.problems
	}
	m, files, found, err := read(nil)
	r.version++
	r.problems, r.stamps = []problem{}, map[string]string{}
	if err != nil {
		found, r.problems = nil, append(r.problems, problem{Severity: diag.Error.String(), Text: err.Error()})
	}
	for i, d := range found.Sorted() {
		if i == mostProblems {
			r.problems = append(r.problems, problem{Severity: d.Severity.String(),
				Text: fmt.Sprintf("and %d more problems", len(found)-i)})
			break
		}
		line, column := d.Position()
		r.problems = append(r.problems, problem{d.Source.Name, line, column, d.Severity.String(), d.Text, d.Advice()})
	}
	if m != nil {
		r.name = m.Name
	}
	for _, name := range files {
		r.stamps[name] = stampOf(name)
	}
	if err != nil || found.HasErrors() { // a file that is missing is not among them
		r.stamps = nil
	}
	return r.name, r.problems
}

// stampOf returns what changes with a file.
func stampOf(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
}
