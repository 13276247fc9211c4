package simulated

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/vehicle/equations"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// log is a Recorder that keeps everything.
type log struct {
	record.Nothing
	times    []float64
	rows     [][]float64
	statuses []change
	events   []record.Event
}

type change struct {
	t     float64
	micro int
	bt.Change
}

func (l *log) Sample(t float64, values []float64) error {
	l.times = append(l.times, t)
	l.rows = append(l.rows, append([]float64(nil), values...))
	return nil
}

func (l *log) Status(t float64, micro int, c bt.Change) error {
	l.statuses = append(l.statuses, change{t, micro, c})
	return nil
}

func (l *log) Event(e record.Event) error {
	l.events = append(l.events, e)
	return nil
}

// read reads a mission, in which there is nothing to object to.
func read(t testing.TB, name string, open func(string) ([]byte, error), offers []model.Offer, set []string) *mission.Mission {
	t.Helper()
	m, diags := mission.Read(name, open, offers, set)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return m
}

// edited opens the files of the folder of missions, and changes those with an ending.
func edited(ending string, edit func(text string) string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, err := os.ReadFile(filepath.Join("../../missions", name))
		if strings.HasSuffix(name, ending) {
			text = []byte(edit(string(text)))
		}
		return text, err
	}
}

// shipped are the vehicles that Canopy has.
var shipped = equations.Offers()

// cartMission reads a mission of the cart from the body of its plan and further YAML.
func cartMission(t testing.TB, body, yaml string, set ...string) *mission.Mission {
	t.Helper()
	m, diags := cart.Read(body, yaml, set...)
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

// begin begins a run of a mission with a recorder.
func begin(t testing.TB, m *mission.Mission, c run.Configuration, until float64, r record.Recorder) *run.Run {
	t.Helper()
	begun, err := New(m, c, until)
	if err != nil {
		t.Fatal(err)
	}
	begun.Attach(r)
	return begun
}

// fly runs a mission to its end.
func fly(t *testing.T, m *mission.Mission) (*run.Run, *log, error) {
	t.Helper()
	l := &log{}
	r := begin(t, m, run.Continuous{}, math.Inf(1), l)
	return r, l, r.Fly(t.Context(), nil)
}

// flown runs a mission, which must not fail, to its end.
func flown(t *testing.T, m *mission.Mission) (*run.Run, *log) {
	t.Helper()
	r, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	return r, l
}

// at returns the times at which a task took a status.
func (l *log) at(m *mission.Mission, task string, to bt.Status) []float64 {
	var times []float64
	for _, c := range l.statuses {
		if m.Plan.Tree.Name(c.Task) == task && c.To == to {
			times = append(times, c.t)
		}
	}
	return times
}

// column returns the samples of a recorded signal.
func (l *log) column(m *mission.Mission, name string) []float64 {
	var values []float64
	for i, s := range m.Record {
		if s == name {
			for _, row := range l.rows {
				values = append(values, row[i])
			}
		}
	}
	return values
}

// last returns the last recorded value of a signal.
func (l *log) last(m *mission.Mission, name string) float64 {
	c := l.column(m, name)
	return c[len(c)-1]
}

// ends returns the last recorded values of signals.
func (l *log) ends(m *mission.Mission, names ...string) (values []float64) {
	for _, name := range names {
		values = append(values, l.last(m, name))
	}
	return values
}

// kinds returns the texts of the events of a kind.
func (l *log) kinds(kind string) []string {
	var texts []string
	for _, e := range l.events {
		if e.Kind == kind {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

func near(t *testing.T, what string, got []float64, tolerance float64, want ...float64) {
	t.Helper()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(got); i++ {
		ok = math.Abs(got[i]-want[i]) <= tolerance
	}
	if !ok {
		t.Errorf("%s: got %v, want %v within %g", what, got, want, tolerance)
	}
}

func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s does not say %q:\n%s", what, p, text)
		}
	}
}
