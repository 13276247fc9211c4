// Package studio serves a mission to browsers on this computer: its runs, each as the page of its report, and a run in
// progress, which a person pauses, steps and stops.
//
// Pages ask for the state again and again, and for a run when it has changed: any number of them can look, and none is
// waited for. What they ask for is JSON:
//
//	POST /api/session   begins a session: {"token": ...}
//	GET  /api/state     the State
//	GET  /api/run?id=   the data of a run, as web/src/model/run.ts describes it
//	POST /api/fly       flies the mission, as a Start says; returns the identifier of the run
//	POST /api/wish      changes what the run in progress does: a Wish
//	POST /api/check     proves what the mission declares, as canopy check; {"stop": true} ends the proof
//	GET  /api/findings  what it has found, as canopy check --json
//	GET  /api/path?n=   the path of one of these findings through the model of the proof
//	GET  /api/documents the files of the mission
//	POST /api/try       tells what the mission would be with another text of a file, and the tree that this text has
//	POST /api/change    tells which edits of a plan do what a person wants with its tree
//	POST /api/palette   what a person may add to a plan
//	POST /api/complete  proposes what may be written at a place
//	POST /api/rename    tells which edits give what is at a place another name
//	POST /api/head      a file as the last commit has it
//	POST /api/save      saves that, unless the file has changed meanwhile
package studio

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/web"
)

// Reader reads a mission with some settings and, instead of some files, other texts, and tells which files it has read.
// The error is not one of the documents.
type Reader func(set []string, instead map[string]string) (m *mission.Mission, files []string, found diag.List,
	err error)

// Options are what a studio works on.
type Options struct {
	Mission string // file; "": there is none
	Folder  string // of the folders of runs
	First   string // the run to show first, by its path in the folder; ""; the latest

	Read Reader // nil: there is no mission

	// Check reads the mission, and returns what proves it until a context ends.
	Check func() (prove func(context.Context) Proof, err error)

	Limit int64       // bytes of the log of a run
	Guard sync.Locker // held while files are incomplete
}

// Studio is a studio: use New. It can be used by several goroutines.
type Studio struct {
	Options
	mutex   sync.Mutex
	reading reading
	places  map[string]*place // in which runs were looked for, by path
	list    []entry           // of runs
	scanned time.Time         // when all were looked for last
	flight  *flight           // the last one; nil: none yet
	proof   check
}

// New returns a studio.
func New(o Options) *Studio { return &Studio{Options: o} }

// State is what a page shows beside a run.
type State struct {
	File     string    `json:"file"` // of the mission; "": there is none
	Mission  string    `json:"mission"`
	Problems []problem `json:"problems"` // of the mission as it is now
	Runs     []entry   `json:"runs"`     // the latest first
	First    string    `json:"first"`    // the run to show first; "": the latest
	Flight   *Progress `json:"flight"`   // the last run that this studio flew; null: none yet
	Check    *Checked  `json:"check"`
	Version  int       `json:"version"` // changes with the files of the mission
}

// Progress is how far a run has come.
type Progress struct {
	ID          string       `json:"id"`
	Over        bool         `json:"over"`
	Steps       int          `json:"steps"`
	T           float64      `json:"t"`     // [s]
	Until       float64      `json:"until"` // [s]
	Paused      string       `json:"paused"`
	Speed       float64      `json:"speed"`
	Breakpoints []Breakpoint `json:"breakpoints"`
	Settable    []settable   `json:"settable"` // what can be set, while it is paused
	Error       string       `json:"error"`    // with which it ended
}

// settable is a signal that can be set by hand.
type settable struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	Value  *float64 `json:"value"`  // null: none
	Values []string `json:"values"` // the names of the values from 0 on; null: numbers
	Writer string   `json:"writer"` // the task that writes it now, so that it cannot be set; "": none
}

// Start is how a run begins.
type Start struct {
	Wish
	Set     []string `json:"set"`     // settings, as of `canopy run --set`
	Finding *int     `json:"finding"` // fly what shows this finding of the last proof instead; null: none
}

// Serve serves the studio until the listener is closed, and returns the error of that. It first calls ready with the
// address for a browser. The last part of this, the token, stays there.
func (s *Studio) Serve(l net.Listener, ready func(address string)) error {
	g := newGuard(l.Addr(), s.handler())
	ready(g.address())
	server := &http.Server{Handler: g, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16}
	err := server.Serve(l)
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}

// Close stops the proof and the run in progress, and waits until the files of that are complete.
func (s *Studio) Close() {
	s.proof.stop()
	s.proof.serving.Wait()
	s.mutex.Lock()
	f := s.flight
	s.mutex.Unlock()
	if f == nil {
		return
	}
	f.mutex.Lock()
	_ = f.take(Wish{Do: "stop"}) // which is a right one
	f.mutex.Unlock()
	<-f.done
}

func (s *Studio) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", file("text/html; charset=utf-8", web.StudioPage))
	mux.HandleFunc("GET /studio.js", file("text/javascript; charset=utf-8", web.Studio))
	mux.HandleFunc("GET /studio.css", file("text/css; charset=utf-8", web.Style))
	mux.HandleFunc("GET /api/state", func(w http.ResponseWriter, _ *http.Request) { send(w, s.state()) })
	mux.HandleFunc("GET /api/run", s.show)
	mux.HandleFunc("POST /api/fly", s.fly)
	mux.HandleFunc("POST /api/wish", s.wish)
	mux.HandleFunc("POST /api/check", s.check)
	mux.HandleFunc("GET /api/findings", s.findings)
	mux.HandleFunc("GET /api/path", s.path)
	mux.HandleFunc("GET /api/documents", s.documents)
	mux.HandleFunc("POST /api/try", s.edits(s.try))
	mux.HandleFunc("POST /api/change", s.edits(s.change))
	mux.HandleFunc("POST /api/palette", s.edits(s.palette))
	mux.HandleFunc("POST /api/complete", s.edits(s.complete))
	mux.HandleFunc("POST /api/rename", s.edits(s.rename))
	mux.HandleFunc("POST /api/head", s.edits(s.committed))
	mux.HandleFunc("POST /api/save", s.edits(s.save))
	return mux
}

func file(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text) // a page that is gone needs no answer
	}
}

// state returns the state of the moment.
func (s *Studio) state() *State {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	x := &State{File: s.Mission, First: s.First, Problems: []problem{}, Runs: s.runs()}
	if s.Read != nil {
		x.Mission, x.Problems = s.reading.now(s.Read)
	}
	x.Check, x.Version = s.proof.state(s.reading.version), s.reading.version
	if f := s.flight; f != nil {
		f.mutex.Lock()
		defer f.mutex.Unlock()
		x.Flight = f.progress()
	}
	return x
}

// progress tells how far the run has come. The mutex must be locked.
func (f *flight) progress() *Progress {
	p := &Progress{ID: f.id, Over: f.over, Steps: f.steps, T: f.run.T(), Until: f.run.Until(), Paused: f.paused,
		Speed: f.speed, Breakpoints: f.breakpoints, Settable: []settable{}}
	if f.err != nil {
		p.Error = f.err.Error()
	}
	if f.paused != "" && !f.over {
		for _, s := range f.run.HandSignals() {
			value := &s.Value
			if math.IsNaN(s.Value) {
				value = nil
			}
			p.Settable = append(p.Settable, settable{s.Name, s.Unit, value, s.Values, s.Writer})
		}
	}
	return p
}

// show sends the data of a run: of the one in progress, of what was recorded so far.
func (s *Studio) show(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	var data bytes.Buffer
	s.mutex.Lock()
	f, known := s.flight, s.has(id)
	s.mutex.Unlock()
	var err error
	switch {
	case f != nil && f.id == id && f.data(&data):
	case !known:
		refuse(w, http.StatusNotFound, "there is no run "+id)
		return
	default:
		err = folder.Data(filepath.Join(s.Folder, filepath.FromSlash(id)), &data)
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = data.WriteTo(w) // as above
}

// data writes the data of a run in progress; false: it is over, or has not begun.
func (f *flight) data(to io.Writer) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.over || f.steps == 0 {
		return false
	}
	return f.gathered.Digest(record.End{Told: f.run.T()}).Data(to) == nil
}

// fly starts a run of the mission.
func (s *Studio) fly(w http.ResponseWriter, r *http.Request) {
	var x Start
	if !receive(w, r, &x) {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if f := s.flight; f != nil && !f.isOver() {
		refuse(w, http.StatusConflict, "a run is in progress: stop it first")
		return
	}
	if s.Read == nil {
		refuse(w, http.StatusConflict, "there is no mission: start canopy studio with one")
		return
	}
	m, err := s.toFly(x)
	if err == nil {
		err = s.begin(m, x.Wish)
	}
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	send(w, s.flight.id)
}

// toFly returns the mission that is to be flown.
func (s *Studio) toFly(x Start) (*mission.Mission, error) {
	if x.Finding != nil {
		return s.proof.flight(*x.Finding)
	}
	m, _, found, err := s.Read(x.Set, nil)
	if err == nil {
		err = found.Err()
	}
	return m, err
}

// begin begins a run of a mission.
func (s *Studio) begin(m *mission.Mission, wish Wish) error {
	watch := m.Watch()
	flown, err := simulated.New(m.Judging(watch), run.Continuous{}, m.Horizon)
	if err != nil {
		return err
	}
	name := folder.Name(s.Mission)
	n := 1
	for s.has(name + "/studio-" + strconv.Itoa(n)) {
		n++
	}
	f, err := newFlight(name+"/studio-"+strconv.Itoa(n), flown, wish)
	if err != nil {
		return err
	}
	s.flight = f
	dir := filepath.Join(s.Folder, filepath.FromSlash(f.id))
	go f.fly(dir, folder.Options{Guard: s.Guard, Limit: s.Limit, Watch: watch})
	return nil
}

func (f *flight) isOver() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.over
}

// wish passes a wish to the run in progress.
func (s *Studio) wish(w http.ResponseWriter, r *http.Request) {
	var x Wish
	if !receive(w, r, &x) {
		return
	}
	s.mutex.Lock()
	f := s.flight
	s.mutex.Unlock()
	if f == nil || f.isOver() {
		refuse(w, http.StatusConflict, "no run is in progress")
		return
	}
	f.mutex.Lock()
	err := f.take(x)
	f.mutex.Unlock()
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// receive reads a request. If it cannot, it refuses it.
func receive(w http.ResponseWriter, r *http.Request, x any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody))
	d.DisallowUnknownFields()
	if err := d.Decode(x); err != nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("the request is not as it should be: %v", err))
		return false
	}
	return true
}

// send sends an answer.
func send(w http.ResponseWriter, x any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(x) // as above
}

// refuse sends why a request is refused.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct { // as above
		Error string `json:"error"`
	}{cmp.Or(diag.VisibleLines(why), http.StatusText(status))})
}
