package studio

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"

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
		if text, err := files.Read(name, mostBody/2); err == nil {
			list = append(list, document{name, string(text), stamp})
		}
	}
	plans := func(d document) bool { return filepath.Ext(d.Name) == ".xml" }
	send(w, slices.Concat(slices.DeleteFunc(slices.Clone(list), func(d document) bool { return !plans(d) }),
		slices.DeleteFunc(list, plans)))
}

// edited reads a document of the mission with the text that is to take its place, and with the stamp of what was
// edited. If it is none, it refuses it.
func (s *Studio) edited(w http.ResponseWriter, r *http.Request) (x document, ok bool) {
	if !receive(w, r, &x) {
		return x, false
	}
	if !slices.Contains(s.reading.files, x.Name) {
		refuse(w, http.StatusNotFound, "the mission has no file "+x.Name)
		return x, false
	}
	return x, true
}

// try tells what the mission would be with an edit.
func (s *Studio) try(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	x, ok := s.edited(w, r)
	if !ok {
		return
	}
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
func (s *Studio) save(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	x, ok := s.edited(w, r)
	if !ok {
		return
	}
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
