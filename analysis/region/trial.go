package region

import (
	"context"
	"errors"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
)

// looks is the number of times a run is checked for leaving the vehicle's ranges, in addition to events.
const looks = 100

// Trial asks for the result of a plan, at once or later.
type Trial struct {
	space   *Space
	mission *mission.Mission
	name    string
}

// NewTrial returns the trial of the whole plan of a mission.
func NewTrial(s *Space, m *mission.Mission, name string) *Trial { return &Trial{s, m, name} }

// Name implements [Question].
func (t *Trial) Name() string { return t.name }

// Classes implements [Question].
func (t *Trial) Classes() []string {
	return []string{"S: success", "F: failure", "R': success later", "R: failure later", "R: running until the end",
		"R: the run broke off", "skipped, at once or later"}
}

// Sample implements [Question].
func (t *Trial) Sample(x, y float64) Sample {
	return t.follow(t.space.start(t.mission, x, y, nil, t.space.Until/looks), &watcher{})
}

// Path is a trajectory: the values of both states in time, and the actions that began on the way.
type Path struct {
	X, Y   []float64
	Begins []Begin
	Sample Sample
}

// Begin is an action's activation.
type Begin struct {
	T    float64 // s
	Name string
}

// Path returns the trajectory from an initial state.
func (t *Trial) Path(x, y float64) Path {
	s := t.space
	w := &watcher{keep: true}
	names := []string{s.Axes[0].Name, s.Axes[1].Name}
	sample := t.follow(s.start(t.mission, x, y, names, max(1e-3, s.Until/2000)), w)
	p := Path{Sample: sample, X: w.xs, Y: w.ys}
	tree := t.mission.Plan.Tree
	for _, c := range w.changes {
		if c.To == bt.Activating && tree.Kind(c.Task).Acts() {
			p.Begins = append(p.Begins, Begin{c.t, tree.Name(c.Task)})
		}
	}
	return p
}

// follow runs a mission until its plan's root gives a result.
func (t *Trial) follow(m *mission.Mission, w *watcher) Sample {
	root := m.Plan.Tree.Root()
	result := Late
	at, err := w.run(m, t.space.Until, func(before []bt.Status, changes []change) bool {
		success, failure := Attracted, Failing
		if before != nil { // the first instant
			success, failure = Success, Failure
			changes = append([]change{{0, bt.Change{Task: root, To: before[root]}}}, changes...)
		}
		for _, c := range changes {
			switch {
			case c.Task != root:
			case c.To == bt.Success || c.To == bt.Finished:
				result = success
				return false
			case c.To == bt.Failure || c.To == bt.Aborted:
				result = failure
				return false
			case c.To == bt.Skipped || c.To == bt.Dropped:
				result = Passed
				return false
			}
		}
		return true
	})
	if err != nil {
		return Sample{Broken, at, err.Error()}
	}
	return Sample{Class: result, Time: at}
}

// change is a status change with its time.
type change struct {
	t float64
	bt.Change
}

// watcher records a run whose plan is watched.
type watcher struct {
	record.Nothing
	keep    bool // samples, and all changes
	changes []change
	outside string // the state that left the vehicle's ranges
	xs, ys  []float64
}

// Sample implements [record.Recorder].
func (w *watcher) Sample(_ float64, values []float64) error {
	if w.keep {
		w.xs, w.ys = append(w.xs, values[0]), append(w.ys, values[1])
	}
	return nil
}

// Status implements [record.Recorder].
func (w *watcher) Status(t float64, _ int, c bt.Change) error {
	w.changes = append(w.changes, change{t, c})
	return nil
}

// Event implements [record.Recorder].
func (w *watcher) Event(e record.Event) error {
	if e.Kind == "range" && w.outside == "" {
		w.outside = e.Text
	}
	return nil
}

// run runs a mission and returns the time at which it stopped. After each instant it calls goes, with the changes of
// the instant and, the first time, the statuses before it.
func (w *watcher) run(m *mission.Mission, until float64, goes func(before []bt.Status, changes []change) bool) (
	float64, error) {
	r, err := simulated.New(m, run.Continuous{}, until)
	if err != nil {
		return 0, err
	}
	r.Attach(w)
	before := r.Statuses()
	from := 0
	err = r.Fly(context.Background(), func(bool) error {
		if w.outside != "" { // on the way to this instant
			return errors.New(w.outside)
		}
		if !goes(before, w.changes[from:]) {
			return errEnough
		}
		if !w.keep {
			w.changes = w.changes[:0]
		}
		before, from = nil, len(w.changes)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return r.T(), err
}

// errEnough ends a run that has an answer.
var errEnough = errors.New("enough")
