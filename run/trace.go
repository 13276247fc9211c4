package run

import (
	"math"
	"slices"

	"canopy/bt"
	"canopy/document/mission"
	"canopy/executive"
	"canopy/run/record"
)

// Trace is a recorder that keeps what runs of one mission are compared by: the discrete inputs and the signals on the
// recording grid.
type Trace struct {
	Inputs  Recorded
	leaves  int
	signals int
	grid    float64 // interval [s]
	times   []float64
	values  []float64 // signals for each time
}

// NewTrace makes a trace for runs of the mission.
func NewTrace(m *mission.Mission) *Trace {
	return &Trace{leaves: len(m.Program.Leaves), signals: len(m.Record), grid: m.Interval}
}

// trace is the recorder of a Trace; a type of its own keeps its methods from users of the Trace.
type trace struct{ *Trace }

// Recorder returns what a run records into the trace with.
func (t *Trace) Recorder() record.Recorder { return trace{t} }

func (t trace) Sample(at float64, values []float64) error {
	if at == float64(len(t.times))*t.grid {
		t.times = append(t.times, at)
		t.values = append(t.values, values...)
	}
	return nil
}

func (t trace) Status(float64, int, bt.Change) error { return nil }

func (t trace) Event(record.Event) error { return nil }

func (t trace) Inputs(at float64, u []float64) error {
	t.Trace.Inputs = append(t.Trace.Inputs, executive.Inputs{T: at, U: slices.Clone(u)})
	return nil
}

// Difference says how far two runs of one mission are apart.
type Difference struct {
	Same   bool    // the same actions were active, in the same order
	Time   float64 // largest distance in time of a change of the active actions [s]; of those that agree if not Same
	Signal float64 // largest distance of a signal on the recording grid, as a share of its range
	Which  int     // that signal, in the order of Mission.Record
}

// Minus compares a run with another: matched in order are the instants at which the set of active actions changes.
func (t *Trace) Minus(o *Trace) Difference {
	a, b := t.activity(), o.activity()
	d := Difference{Same: len(a) == len(b)}
	for i := range min(len(a), len(b)) {
		if !slices.Equal(a[i].U, b[i].U) {
			d.Same = false
			break
		}
		d.Time = max(d.Time, math.Abs(a[i].T-b[i].T))
	}
	for s := range t.signals {
		low, high, apart := math.Inf(1), math.Inf(-1), 0.0
		for i := s; i < min(len(t.values), len(o.values)); i += t.signals {
			low, high = min(low, o.values[i]), max(high, o.values[i])
			apart = max(apart, math.Abs(t.values[i]-o.values[i]))
		}
		if share := apart / (high - low); apart > 0 && share > d.Signal {
			d.Signal, d.Which = share, s
		}
	}
	return d
}

// activity returns the instants at which the set of active actions changes.
func (t *Trace) activity() []executive.Inputs {
	var list []executive.Inputs
	for _, in := range t.Inputs {
		if u := in.U[:t.leaves]; len(list) == 0 || !slices.Equal(list[len(list)-1].U, u) {
			list = append(list, executive.Inputs{T: in.T, U: u})
		}
	}
	return list
}
