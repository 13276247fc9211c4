package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/temporal"
)

// description is the payload of the first record of a black box: everything from which the flight is made again.
type description struct {
	Version   string            `json:"version"` // of canopy
	Mission   string            `json:"mission"` // name of its file
	Set       []string          `json:"set,omitempty"`
	Documents map[string][]byte `json:"documents"` // by name of the file: the mission, and those that it names
	Options   flight.Options    `json:"options"`
}

// describeFlight describes a flight of a mission, of which all documents have been read.
func describeFlight(name string, set []string, o flight.Options) ([]byte, error) {
	return json.Marshal(description{
		Version: thisBuild().Version, Mission: name, Set: set, Documents: documents, Options: o,
	})
}

// described reads a description.
func described(data []byte) (*description, error) {
	var d description
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("the black box does not describe its flight: %w", err)
	}
	return &d, nil
}

// flight makes the flight that is described, with another plan if there is one: p may be nil.
func (d *description) flight(p *plan.Plan, stderr io.Writer) (*flight.Flight, temporal.Watch, error) {
	maps.Copy(documents, d.Documents)
	m, err := readMission(d.Mission, d.Set, stderr)
	if err == nil && p != nil {
		var other *mission.Mission
		other, diags := m.WithPlan(p.Source)
		if err = accepted(diags, stderr); err == nil {
			m = other
		}
	}
	if err != nil {
		return nil, temporal.Watch{}, err
	}
	return newFlight(m, d.Options)
}

// newFlight makes a flight of a mission, and what is judged on it.
func newFlight(m *mission.Mission, o flight.Options) (*flight.Flight, temporal.Watch, error) {
	w := m.Watch()
	f, err := flight.New(m.Judging(w), o)
	return f, w, err
}
