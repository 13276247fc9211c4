// Package flight flies missions in memory and draws the results: the figures of the examples.
package flight

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// Flight is the log of one run.
type Flight struct {
	Mission *mission.Mission
	record.Log
}

// Read reads a mission file. Edits come in pairs: in the plan, the first text is replaced by the second. It is an
// error if the plan does not contain the first.
func Read(name string, edits ...string) (*mission.Mission, error) {
	missing := ""
	open := func(name string) ([]byte, error) {
		text, err := os.ReadFile(name)
		if err != nil || !strings.HasSuffix(name, ".xml") {
			return text, err
		}
		edited := string(text)
		for i := 0; i < len(edits); i += 2 {
			if !strings.Contains(edited, edits[i]) {
				missing = edits[i]
			}
			edited = strings.ReplaceAll(edited, edits[i], edits[i+1])
		}
		return []byte(edited), nil
	}
	m, diags := mission.Read(name, open, model.Offers(model.Vehicles()...), nil)
	if diags.HasErrors() {
		return nil, diags
	}
	if missing != "" {
		return nil, fmt.Errorf("%s: the plan does not have %q", name, missing)
	}
	return m, nil
}

// Fly flies a mission to its end, or until a simulated time [s].
func Fly(m *mission.Mission, c run.Configuration, until float64) (*Flight, error) {
	r, err := simulated.New(m, c, until)
	if err != nil {
		return nil, err
	}
	f, h := &Flight{Mission: m}, r.Header()
	r.Attach(f.Begin(&h))
	if err := r.Fly(context.Background(), nil); err != nil {
		return nil, err
	}
	f.Told = r.T()
	return f, nil
}

// Instants returns when a task took a status [s].
func (f *Flight) Instants(task string, to bt.Status) []float64 {
	var times []float64
	for _, s := range f.Changes {
		if s.To == to && f.Mission.Plan.Tree.Name(s.Task) == task {
			times = append(times, s.T)
		}
	}
	return times
}
