// Package flight flies missions in memory and draws the results: the figures of the examples.
package flight

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/document/mission"
	"canopy/run"
	"canopy/run/record"
	"canopy/run/simulated"
	"canopy/vehicle/model"
)

// Flight is the log of one run.
type Flight struct {
	Mission  *mission.Mission
	Times    []float64 // of the samples [s]
	Statuses []Status
	End      float64 // [s]
	samples  [][]float64
	initial  []bt.Status // by task
}

// Status is a change of a task's status.
type Status struct {
	T float64 // [s]
	bt.Change
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
	f := &Flight{Mission: m, initial: r.Statuses()}
	r.Attach(f)
	if err := r.Fly(context.Background(), nil); err != nil {
		return nil, err
	}
	f.End = r.T()
	return f, nil
}

// Sample is called by the run.
func (f *Flight) Sample(t float64, values []float64) error {
	f.Times = append(f.Times, t)
	f.samples = append(f.samples, slices.Clone(values))
	return nil
}

// Status is called by the run.
func (f *Flight) Status(t float64, _ int, c bt.Change) error {
	f.Statuses = append(f.Statuses, Status{t, c})
	return nil
}

// Event is called by the run.
func (f *Flight) Event(record.Event) error { return nil }

// Signal returns the samples of a recorded signal. It panics if the mission does not record it.
func (f *Flight) Signal(name string) []float64 {
	i := slices.Index(f.Mission.Record, name)
	if i < 0 {
		panic("flight: the signal is not recorded")
	}
	values := make([]float64, len(f.samples))
	for k, row := range f.samples {
		values[k] = row[i]
	}
	return values
}

// Instants returns when a task took a status [s].
func (f *Flight) Instants(task string, to bt.Status) []float64 {
	var times []float64
	for _, s := range f.Statuses {
		if s.To == to && f.Mission.Plan.Tree.Name(s.Task) == task {
			times = append(times, s.T)
		}
	}
	return times
}
