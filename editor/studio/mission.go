package studio

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/editor/planedit"
)

// problem is a mistake in a document, or a doubt about it.
type problem struct {
	File     string `json:"file"`
	Line     int    `json:"line"` // from 1
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Text     string `json:"text"`
	Hint     string `json:"hint"`
	Fix      []edit `json:"fix"` // of the file, that write what the hint suggests; may be empty
}

// reading is what was found when the mission was read.
type reading struct {
	name     string // of the mission; "": there is none yet
	problems []problem
	version  int               // changes with what was read, or found
	files    []string          // that were read, sorted
	stamps   map[string]string // of them, by name
	whole    bool              // these are all: else a file is missing, perhaps
}

// mostProblems is how many problems a page shows.
const mostProblems = 100

// now returns the name of the mission and the problems in it. It reads it again if a file has changed, or one may have
// come into being.
func (r *reading) now(read Reader) (name string, found []problem) {
	same := r.whole
	for name, stamp := range r.stamps {
		same = same && stampOf(name) == stamp
	}
	if same {
		return r.name, r.problems
	}
	m, files, diags, err := read(nil, nil)
	stamps := map[string]string{}
	for _, name := range files {
		stamps[name] = stampOf(name)
	}
	if found = problems(diags, err); !maps.Equal(stamps, r.stamps) || !reflect.DeepEqual(found, r.problems) {
		r.version++
	}
	if slices.Sort(files); len(files) > 0 {
		r.files = files
	}
	if m != nil {
		r.name = m.Name
	}
	r.problems, r.stamps, r.whole = found, stamps, err == nil && !diags.HasErrors()
	return r.name, r.problems
}

// problems returns what a page shows of mistakes, or of an error that is not one of the documents.
func problems(found diag.List, err error) []problem {
	list := []problem{}
	if err != nil {
		return append(list, problem{Severity: diag.Error.String(), Text: err.Error()})
	}
	for i, d := range found.Sorted() {
		if i == mostProblems {
			return append(list, problem{Severity: d.Severity.String(), Text: fmt.Sprintf("and %d more problems", len(found)-i)})
		}
		line, column := d.Position()
		x := problem{d.Source.Name, line, column, d.Severity.String(), d.Text, d.Advice(), []edit{}}
		if fix := planedit.Fix(d); len(fix) > 0 {
			in := units(d.Source.Text)
			for _, e := range fix {
				x.Fix = append(x.Fix, edit{in(e.At), in(e.End), e.New})
			}
		}
		list = append(list, x)
	}
	return list
}

// stampOf returns what changes with a file.
func stampOf(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
}
