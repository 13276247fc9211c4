package run

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/run/record"
)

// History holds the data for comparing runs of one mission: the discrete inputs and the signals on the recording grid.
type History struct {
	Inputs  Recorded
	leaves  int
	signals int
	grid    float64 // interval [s]
	times   []float64
	values  []float64 // signals for each time
}

// NewHistory returns an empty history for a run of the mission.
func NewHistory(m *mission.Mission) *History {
	return &History{leaves: len(m.Program.Leaves), signals: len(m.Record), grid: m.Interval}
}

// history is the recorder of a History; a separate type hides its methods from users of the History.
type history struct {
	record.Nothing
	*History
}

// Recorder returns the recorder that writes into the history.
func (h *History) Recorder() record.Recorder { return history{History: h} }

func (h history) Sample(at float64, values []float64) error {
	if at == float64(len(h.times))*h.grid {
		h.times = append(h.times, at)
		h.values = append(h.values, values...)
	}
	return nil
}

func (h history) Inputs(at float64, u []float64) error {
	h.History.Inputs = append(h.History.Inputs, executive.Inputs{T: at, U: slices.Clone(u)})
	return nil
}

// Difference is the difference between two runs of one mission.
type Difference struct {
	Same   bool    // the same actions were active, in the same order
	Time   float64 // maximum time difference of changes of the active actions [s]; of matching ones if not Same
	Signal float64 // maximum difference of a signal on the recording grid, as a fraction of its range
	Which  int     // that signal, in the order of Mission.Record
}

// Minus compares a run with another: it matches, in order, the instants at which the set of active actions changes.
func (h *History) Minus(o *History) Difference {
	a, b := h.activity(), o.activity()
	d := Difference{Same: len(a) == len(b)}
	for i := range min(len(a), len(b)) {
		if !slices.Equal(a[i].U, b[i].U) {
			d.Same = false
			break
		}
		d.Time = max(d.Time, math.Abs(a[i].T-b[i].T))
	}
	for s := range h.signals {
		low, high, apart := math.Inf(1), math.Inf(-1), 0.0
		for i := s; i < min(len(h.values), len(o.values)); i += h.signals {
			low, high = min(low, o.values[i]), max(high, o.values[i])
			apart = max(apart, math.Abs(h.values[i]-o.values[i]))
		}
		if share := apart / (high - low); apart > 0 && share > d.Signal {
			d.Signal, d.Which = share, s
		}
	}
	return d
}

// activity returns the instants at which the set of active actions changes.
func (h *History) activity() []executive.Inputs {
	var list []executive.Inputs
	for _, in := range h.Inputs {
		if u := in.U[:h.leaves]; len(list) == 0 || !slices.Equal(list[len(list)-1].U, u) {
			list = append(list, executive.Inputs{T: in.T, U: u})
		}
	}
	return list
}
