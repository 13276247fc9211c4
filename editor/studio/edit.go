package studio

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/editor/planedit"
	"github.com/canopy-uav/canopy/internal/files"
)

// document is a file of the mission as it is on the disk.
type document struct {
	Name  string `json:"name"`
	Text  string `json:"text"`
	Stamp string `json:"stamp"` // changes with the file
}

// request is what is asked about a document of the mission.
type request struct {
	document
	Texts map[string]string `json:"texts"` // of other documents as they are edited, by name
	Op    planedit.Op       `json:"op"`
	At    int               `json:"at"`  // a place in the text, as in box
	New   string            `json:"new"` // the new name of what is there
}

// with returns the texts that are edited, with another text of the document.
func (x *request) with(text string) map[string]string {
	texts := map[string]string{x.Name: text}
	for name, text := range x.Texts {
		if name != x.Name {
			texts[name] = text
		}
	}
	return texts
}

// trial is what a mission with edits is.
type trial struct {
	Problems []problem `json:"problems"`
	Boxes    []box     `json:"boxes"` // of the document; none: it is no plan, or is not well-formed
}

// mostText is the size of the largest file that is edited [bytes].
const mostText = 1 << 20

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

// edits returns what handles a request about a document that has an edit.
func (s *Studio) edits(handle func(w http.ResponseWriter, x request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var x request
		if !receive(w, r, &x) {
			return
		}
		s.mutex.Lock()
		defer s.mutex.Unlock()
		for name := range x.with(x.Text) {
			if !s.contains(name) {
				refuse(w, http.StatusNotFound, "the folder of the mission has no file "+name+" of it")
				return
			}
		}
		handle(w, x)
	}
}

// try tells what the mission would be with edits.
func (s *Studio) try(w http.ResponseWriter, x request) {
	_, _, found, err := s.Read(nil, x.with(x.Text))
	answer := trial{problems(found, err), []box{}}
	if kind(x.document) == ".xml" {
		answer.Boxes = boxes(x.Text)
	}
	send(w, answer)
}

// save saves an edit, unless the file has changed since it was read.
func (s *Studio) save(w http.ResponseWriter, x request) {
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
