package mission

import (
	"io/fs"
	"math"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/diag"
	"canopy/run/record"
	"canopy/vehicle/model"
)

// cart is a vehicle whose runs have closed forms: x' = v, T' = -T / tau.
//
// Its output nearly is x (not direct), its output push is v (direct).
var cart = &model.Vehicle{
	Name: "cart", Text: "a point on a line",
	Parameters: []model.Parameter{
		{Name: "tau", Unit: "s", Default: 100, Min: 1, Max: 1000, Text: "time constant"},
		{Name: "site.noon", Unit: "s", Default: 43200, Min: 0, Max: 1e6, Text: "when the derivative becomes NaN"},
	},
	States: []model.State{
		{Variable: model.Variable{Name: "x", Unit: "m", Text: "position"}, AbsTol: 1e-9, Range: model.Between(-1000, 1000)},
		{Variable: model.Variable{Name: "T", Unit: "K", Text: "temperature"}, AbsTol: 1e-9},
	},
	Outputs: []model.Output{
		{Variable: model.Variable{Name: "nearly", Unit: "m"}},
		{Variable: model.Variable{Name: "push", Unit: "m/s"}, Direct: true},
	},
	Commands: []model.Command{
		{Variable: model.Variable{Name: "v", Unit: "m/s", Text: "speed"}},
		{Variable: model.Variable{Name: "gear", Unit: "1", Text: "kept"}, Default: 1, Hold: true, Range: model.Between(0, 8)},
	},
	New: func(p []float64) (model.Instance, error) { return cartInstance{p[0], p[1]}, nil },
}

type cartInstance struct{ tau, noon float64 }

func (c cartInstance) Initial(y []float64) { y[0], y[1] = 0, 300 }

func (c cartInstance) Derivatives(t float64, y, commands, dydt []float64) {
	dydt[0], dydt[1] = commands[0], -y[1]/c.tau
	if t >= c.noon {
		dydt[1] = math.NaN()
	}
}

func (c cartInstance) Outputs(_ float64, y, commands, out []float64) {
	out[0], out[1] = y[0], commands[0]
}

// files is a file system of test documents.
type files map[string]string

func (f files) open(name string) ([]byte, error) {
	text, ok := f[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

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

const cartHead = "mission: test\nplan: plan.xml\nvehicle: cart\nhorizon: 100\nrecord: {interval: 10}\n"

func planXML(body string) string {
	return `<root BTCPP_format="4" main_tree_to_execute="main"><BehaviorTree ID="main">` + body + `</BehaviorTree></root>`
}

// cartMission reads a mission of the cart from the body of its plan and further YAML.
func cartMission(t *testing.T, body, yaml string, set ...string) *Mission {
	t.Helper()
	m, diags := readCart(body, yaml, set...)
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

func readCart(body, yaml string, set ...string) (*Mission, diag.List) {
	f := files{"m/test.yaml": cartHead + yaml, "m/plan.xml": planXML(body)}
	return Read("m/test.yaml", f.open, []*model.Vehicle{cart}, set)
}

// fly runs a mission to its end.
func fly(t *testing.T, m *Mission) (*Run, *log, error) {
	t.Helper()
	r, err := m.NewRun(math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	l := &log{}
	r.Attach(l)
	for more := true; more && err == nil; {
		more, err = r.Step()
	}
	return r, l, err
}

// at returns the times at which a task took a status.
func (l *log) at(m *Mission, task string, to bt.Status) []float64 {
	var times []float64
	for _, c := range l.statuses {
		if m.Plan.Tree.Name(c.Task) == task && c.To == to {
			times = append(times, c.t)
		}
	}
	return times
}

// column returns the samples of a recorded signal.
func (l *log) column(m *Mission, name string) []float64 {
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
func (l *log) last(m *Mission, name string) float64 {
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

// cartEquations is the cart once more, without the derivative that becomes NaN.
const cartEquations = `vehicle: cart
parameters:
  tau: {unit: s, default: 100, min: 1, max: 1000}
  site.noon: {unit: s, default: 43200}
states:
  x: {unit: m, derivative: v, tolerance: 1e-9, min: -1000, max: 1000}
  T: {unit: K, initial: 300, derivative: -T / tau, tolerance: 1e-9}
outputs:
  nearly: {unit: m, value: x}
  push: {unit: m/s, value: v}
commands:
  v: {unit: m/s}
  gear: {unit: "1", default: 1, hold: true, min: 0, max: 8}
`
