package studio

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
)

// latest has the time of what was recorded last.
type latest struct {
	record.Nothing
	t float64
}

func (l *latest) Sample(t float64, _ []float64) error {
	l.t = t
	return nil
}

// A run of another program is followed: soon after a step, also if none follows for a while, a page that asks has all of
// it, whether it has asked before or not. Pages, also those that never read, change nothing in its log.
func TestOthersAreFollowed(t *testing.T) {
	b := newBench(t)
	want := b.flown()
	m, _, _, err := b.read(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulated.New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	changed := func() float64 {
		for _, e := range b.state().Runs {
			if e.ID == "other" {
				return e.Changed
			}
		}
		return 0
	}
	before, steps, last, tick := 0.0, 0, &latest{}, time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	_, err = folder.Fly(t.Context(), r, filepath.Join(b.runs, "other"), folder.Options{Bare: true, Also: last, Observe: func() {
		if steps++; steps != 3 && steps != 9 {
			return
		}
		for n := 0; n < 20; n++ {
			go b.handler.ServeHTTP(&stuck{}, httptest.NewRequest(http.MethodGet, "/api/run?id=other", nil))
		}
		recorded := time.Now()
		for {
			var data struct{ End float64 }
			_, answer := b.ask(http.MethodGet, "/api/run?id=other", nil)
			if err := json.Unmarshal([]byte(answer), &data); err == nil && data.End == last.t {
				break
			}
			if time.Since(recorded) > time.Minute {
				t.Fatalf("at %v the page has %.200s", r.T(), answer)
			}
			<-tick.C
		}
		if now := changed(); now <= before {
			t.Errorf("at %v the list of runs tells of no change since %v: %v", r.T(), before, now)
		} else {
			before = now
		}
	}})
	if err != nil || steps < 9 || !bytes.Equal(b.log("other"), want) {
		t.Errorf("%v; %d steps; the log differs: %v", err, steps, !bytes.Equal(b.log("other"), want))
	}
}
