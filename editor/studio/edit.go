package studio

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"
	"github.com/canopy-uav/canopy/run/simulated"
)

// document is a file of the mission as it is on the disk.
type document struct {
	Name  string `json:"name"`
	Text  string `json:"text"`
	Stamp string `json:"stamp"` // changes with the file
}

// trial is what a mission with an edit is.
type trial struct {
	Problems []problem       `json:"problems"`
	Run      json.RawMessage `json:"run"`   // the data of a run that has not begun; null: there are errors
	Lines    []int           `json:"lines"` // by task: where the document has it, from 1; 0: another one has it
}

// mostText is the size of the largest file that is edited [bytes].
const mostText = mostBody / 2

// documents sends the files of the mission: plans first.
func (s *Studio) documents(w http.ResponseWriter, _ *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	list := []document{}
	if s.Read != nil {
		s.reading.now(s.Read)
	}
	for _, name := range s.reading.files {
		stamp := stampOf(name) // before it is read: a change in between is noticed
		if text, err := files.Read(name, mostText); err == nil && s.contains(name) {
			list = append(list, document{name, string(text), stamp})
		}
	}
	slices.SortStableFunc(list, func(a, b document) int { return strings.Compare(kind(a), kind(b)) })
	send(w, list)
}

// kind is the extension of a document's name: .xml, .yaml or .yml.
func kind(d document) string { return filepath.Ext(d.Name) }

// contains reports whether a name is that of a file of the mission, in its folder or below, and no link.
func (s *Studio) contains(name string) bool {
	below, err := filepath.Rel(filepath.Dir(s.Mission), name)
	info, missing := os.Lstat(name)
	return slices.Contains(s.reading.files, name) && err == nil && filepath.IsLocal(below) &&
		(missing != nil || info.Mode().IsRegular())
}

// edits returns what handles a document of the mission with the text that is to take its place, and with the stamp of
// what was edited.
func (s *Studio) edits(handle func(w http.ResponseWriter, edited document)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var x document
		if !receive(w, r, &x) {
			return
		}
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if !s.contains(x.Name) {
			refuse(w, http.StatusNotFound, "the folder of the mission has no file "+x.Name+" of it")
			return
		}
		handle(w, x)
	}
}

// try tells what the mission would be with an edit.
func (s *Studio) try(w http.ResponseWriter, x document) {
	m, _, found, err := s.Read(nil, map[string]string{x.Name: x.Text})
	answer := trial{Problems: problems(found, err), Run: []byte("null"), Lines: []int{}}
	if err == nil && !found.HasErrors() {
		if data, err := planned(m); err == nil {
			answer.Run = data
		}
		for t := range m.Plan.Tree.Len() {
			line, file := m.Plan.Place(bt.Task(t))
			if file == "" {
				file = m.Plan.Source.Name
			}
			if file != x.Name {
				line = 0
			}
			answer.Lines = append(answer.Lines, line)
		}
	}
	send(w, answer)
}

// planned returns the data of a run that has not begun.
func planned(m *mission.Mission) ([]byte, error) {
	r, err := simulated.New(m, run.Continuous{}, m.Horizon)
	if err != nil {
		return nil, err
	}
	h := r.Header()
	var data bytes.Buffer
	err = report.NewGatherer(&h).Digest(record.End{}).Data(&data)
	return data.Bytes(), err
}

// save saves an edit, unless the file has changed since it was read.
func (s *Studio) save(w http.ResponseWriter, x document) {
	if stampOf(x.Name) != x.Stamp {
		refuse(w, http.StatusConflict, x.Name+" has been changed by another program since it was read here")
		return
	}
	if err := files.Save(x.Name, []byte(x.Text)); err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	send(w, document{x.Name, x.Text, stampOf(x.Name)})
}
