package studio

import (
	"context"
	"net/http"
	"sync"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/document/mission"
)

// check is the proof that is in progress, or the last one.
type check struct {
	mutex   sync.Mutex
	cancel  func() // ends the one in progress; nil: none is
	done    int    // how many have ended
	version int    // of the mission that the last one was about
	found   Proof  // what the last one has found
	serving sync.WaitGroup
}

// Proof is what a proof has found.
type Proof struct {
	Mission  *mission.Mission
	Found    []verify.Finding
	Findings any // the same, as JSON has them
}

// Checked tells of the proofs of the mission.
type Checked struct {
	Running bool `json:"running"`
	Done    int  `json:"done"`  // how many have ended: /api/findings has what the last one found
	Stale   bool `json:"stale"` // the files of the mission have changed since
}

// state tells of the proofs of a mission that is now of a version.
func (c *check) state(version int) *Checked {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return &Checked{c.cancel != nil, c.done, c.done > 0 && c.version != version}
}

// begin begins a proof of a mission of a version, unless one is in progress.
func (c *check) begin(version int, prove func(context.Context) Proof) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.cancel != nil {
		return false
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.serving.Go(func() {
		found := prove(ctx)
		c.mutex.Lock()
		defer c.mutex.Unlock()
		cancel()
		c.cancel, c.found, c.version = nil, found, version
		c.done++
	})
	return true
}

// stop ends the proof in progress, which finds less then.
func (c *check) stop() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}

// check begins a proof of the mission, or ends the one in progress.
func (s *Studio) check(w http.ResponseWriter, r *http.Request) {
	var x struct {
		Stop bool `json:"stop"`
	}
	if !receive(w, r, &x) {
		return
	}
	if x.Stop {
		s.proof.stop()
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.Check == nil {
		refuse(w, http.StatusConflict, "there is no mission: start canopy studio with one")
		return
	}
	s.reading.now(s.Read)
	prove, err := s.Check()
	switch {
	case err != nil:
		refuse(w, http.StatusUnprocessableEntity, err.Error())
	case !s.proof.begin(s.reading.version, prove):
		refuse(w, http.StatusConflict, "a proof is in progress")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// findings sends what the last proof has found.
func (s *Studio) findings(w http.ResponseWriter, _ *http.Request) {
	s.proof.mutex.Lock()
	defer s.proof.mutex.Unlock()
	if s.proof.done == 0 {
		refuse(w, http.StatusNotFound, "nothing has been proved yet")
		return
	}
	send(w, s.proof.found.Findings)
}
