package simulated

import (
	"math"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/document/mission"
	"canopy/internal/cart"
	"canopy/run"
	"canopy/run/record"
)

// log is a Recorder that keeps everything.
type log struct {
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

// cartMission reads a mission of the cart from the body of its plan and further YAML.
func cartMission(t testing.TB, body, yaml string, set ...string) *mission.Mission {
	t.Helper()
	m, diags := cart.Read(body, yaml, set...)
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

// fly runs a mission to its end.
func fly(t *testing.T, m *mission.Mission) (*run.Run, *log, error) {
	t.Helper()
	r, err := New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	l := &log{}
	r.Attach(l)
	err = r.Fly(t.Context(), nil)
	return r, l, err
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
