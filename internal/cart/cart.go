// Package cart is a vehicle for tests: its runs have closed forms.
package cart

import (
	"io/fs"
	"math"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// Vehicle is a vehicle whose runs have closed forms: x' = v, T' = -T / tau.
//
// Its output nearly is x (not direct), its output push is v (direct).
var Vehicle = &model.Vehicle{
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
		{Variable: model.Variable{Name: "push", Unit: "m/s"}, Direct: []string{"v"}},
	},
	Commands: []model.Command{
		{Variable: model.Variable{Name: "v", Unit: "m/s", Text: "speed"}},
		{Variable: model.Variable{Name: "gear", Unit: "1", Text: "kept"}, Default: 1, Hold: true, Range: model.Between(0, 8)},
	},
	New: func(p []float64) (model.Instance, error) { return instance{p[0], p[1]}, nil },
}

type instance struct{ tau, noon float64 }

func (c instance) Initial(y []float64) { y[0], y[1] = 0, 300 }

func (c instance) Derivatives(t float64, y, commands, dydt []float64) {
	dydt[0], dydt[1] = commands[0], -y[1]/c.tau
	if t >= c.noon {
		dydt[1] = math.NaN()
	}
}

func (c instance) Outputs(_ float64, y, commands, out []float64) {
	out[0], out[1] = y[0], commands[0]
}

// Files is a file system of test documents.
type Files map[string]string

// Open returns the text of a document.
func (f Files) Open(name string) ([]byte, error) {
	text, ok := f[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

// Head is a mission file of the cart, without the keys that have a default.
const Head = "mission: test\nplan: plan.xml\nvehicle: cart\nhorizon: 100\nrecord: {interval: 10}\n"

// Plan returns a plan from the body of its tree.
func Plan(body string) string {
	return `<root BTCPP_format="4" main_tree_to_execute="main"><BehaviorTree ID="main">` + body + `</BehaviorTree></root>`
}

// Read reads a mission of the cart from the body of its plan and further YAML.
func Read(body, yaml string, set ...string) (*mission.Mission, diag.List) {
	f := Files{"m/test.yaml": Head + yaml, "m/plan.xml": Plan(body)}
	return mission.Read("m/test.yaml", f.Open, model.Offers(Vehicle), set)
}

// Equations is the cart written as equations.
const Equations = `vehicle: cart
parameters:
  tau: {unit: s, default: 100, min: 1, max: 1000}
  site.noon: {unit: s, default: 43200}
states:
  x: {unit: m, derivative: v, tolerance: 1e-9, min: -1000, max: 1000}
  T: {unit: K, initial: 300, derivative: "-T / tau + 0 [K/s] * log((site.noon - t) / 1 [s])", tolerance: 1e-9}
outputs:
  nearly: {unit: m, value: x}
  push: {unit: m/s, value: v}
commands:
  v: {unit: m/s}
  gear: {unit: "1", default: 1, hold: true, min: 0, max: 8}
`
