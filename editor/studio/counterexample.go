package studio

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/script"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"
	"github.com/canopy-uav/canopy/run/simulated"
)

// errNoFinding reports a finding that the last proof does not have.
var errNoFinding = errors.New("the last proof has no such finding: prove again")

// finding returns a finding of the last proof, and what else this has found.
func (c *check) finding(n int) (*verify.Finding, Proof, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if n < 0 || n >= len(c.found.Found) {
		return nil, Proof{}, errNoFinding
	}
	return &c.found.Found[n], c.found, nil
}

// flight returns the mission as it was proved, with the start from which its flight shows a finding.
func (c *check) flight(n int) (*mission.Mission, error) {
	f, p, err := c.finding(n)
	switch {
	case err != nil:
		return nil, err
	case !f.Flight:
		return nil, errors.New("no flight shows this finding")
	case f.Start == "":
		return p.Mission, nil
	}
	for k := 0; ; k++ {
		m, start, ok := p.Mission.Corner(k)
		if !ok {
			return nil, errNoFinding
		}
		if start == f.Start {
			return m, nil
		}
	}
}

// trail is a path through the model of a proof, as the tree engine replays it. It is no flight.
type trail struct {
	Run   json.RawMessage `json:"run"` // the data of a run whose seconds are the instants of the path
	Steps []step          `json:"steps"`
	Error string          `json:"error"` // with which it ends; "": none
}

// step is a step of a path.
type step struct {
	Text   string `json:"text"`   // what is known of the signals; "": nothing
	Inputs string `json:"inputs"` // as scripts have them; "": none changes
	At     int    `json:"at"`     // the instant whose statuses the tasks have after it
}

// path sends the path of a finding.
func (s *Studio) path(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Query().Get("n"))
	if err != nil {
		n = -1
	}
	f, p, err := s.proof.finding(n)
	if err == nil && f.Script == "" {
		err = errors.New("this finding has no path")
	}
	if err != nil {
		refuse(w, http.StatusNotFound, err.Error())
		return
	}
	found, err := pathOf(p.Mission, f.Script)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	send(w, found)
}

// pathOf replays the script of a finding.
func pathOf(m *mission.Mission, text string) (*trail, error) {
	planned, err := simulated.New(m, run.Continuous{}, m.Horizon)
	if err != nil {
		return nil, err
	}
	h := planned.Header()
	src := &diag.Source{Name: "path", Text: text}
	start, _, mistakes := script.Parse(m.Plan.Tree, src)
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	begin := bt.NewEngine(m.Plan.Tree, start, 0)
	for t := range h.Tasks {
		h.Tasks[t].Initial = begin.Status(bt.Task(t))
	}
	g := report.NewGatherer(&h)
	x, last := &trail{Steps: steps(text)}, 0
	replayed := script.Play(m.Plan, src, nil, func(n int, _ *bt.Tree, now bt.Instant, _ []script.Written) {
		last = n
		for _, c := range now.Changes {
			err = errors.Join(err, g.Status(float64(n), 1, c))
		}
	})
	if replayed != nil {
		x.Error = diag.VisibleLines(replayed.Error())
	}
	var data bytes.Buffer
	err = errors.Join(err, g.Digest(record.End{Told: float64(last)}).Data(&data))
	x.Run = data.Bytes()
	return x, err
}

// steps returns the steps of a script: a comment is a state of the signals, and the line behind it what changes then.
// The first step is the start.
func steps(text string) []step {
	list, instant, open := []step{}, 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		comment, is := strings.CutPrefix(line, "#")
		inputs, starts := strings.CutPrefix(line, script.Start)
		switch {
		case line == "":
			continue
		case is:
			list = append(list, step{Text: strings.TrimSpace(comment), At: instant})
		case !open:
			list = append(list, step{})
		}
		if open = is; is {
			continue
		}
		if !starts {
			instant++
		}
		last := &list[len(list)-1]
		last.Inputs, last.At = strings.TrimSpace(inputs), instant
	}
	if len(list) == 0 || list[0].At > 0 {
		list = append([]step{{}}, list...)
	}
	return list
}
