// Package equations reads vehicles given as equations in a YAML file.
//
// The result is a [model.Vehicle] like a built-in one: derivatives and outputs are compiled expressions, which run
// without allocation. docs/vehicles.md describes the file format.
package equations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"canopy/expr"
	"canopy/vehicle/model"
)

// IsFile reports whether a name is that of a file of equations, not of a built-in vehicle.
func IsFile(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// program is the compiled equations of a vehicle. It is immutable.
//
// The signal vector has the clock, the states, the commands, the outputs and the parameters, in this order.
type program struct {
	parameters  []model.Parameter
	units       []expr.Unit // of the parameters
	states      []model.State
	commands    int
	initial     []*expr.Code // of the states, depends on parameters only
	derivatives []*expr.Code
	outputs     []*expr.Code
	written     Formulas // with parameters as names
	derive      []int    // outputs that derivatives read, each after those that it reads itself
	all         []int    // all outputs, likewise
}

// Formulas are the equations of a vehicle.
type Formulas struct {
	Derivatives, Outputs []*expr.Expr // of all states and of all outputs, in the vehicle's order
}

// FormulasOf returns the equations of an instance, with its parameters as numbers; ok is false if the vehicle is not
// given as equations.
func FormulasOf(of model.Instance) (f Formulas, ok bool) {
	v, ok := of.(*instance)
	if !ok {
		return f, false
	}
	numbers := map[string]*expr.Expr{}
	for i, p := range v.parameters {
		value := v.signals[v.firstParameter()+i]
		number, err := expr.Parse(strconv.FormatFloat(value, 'g', -1, 64))
		if err != nil {
			panic("equations: a parameter that is not a number")
		}
		numbers[p.Name] = number
	}
	fixed := func(list []*expr.Expr) []*expr.Expr {
		out := make([]*expr.Expr, len(list))
		for i, e := range list {
			out[i] = e.Substitute(numbers)
		}
		return out
	}
	return Formulas{fixed(v.written.Derivatives), fixed(v.written.Outputs)}, true
}

func (p *program) firstCommand() int   { return 1 + len(p.states) }
func (p *program) firstOutput() int    { return p.firstCommand() + p.commands }
func (p *program) firstParameter() int { return p.firstOutput() + len(p.outputs) }

// instance is a vehicle with its parameters fixed.
type instance struct {
	*program
	signals []float64
}

// new is the New of the vehicle.
func (p *program) new(parameters []float64) (model.Instance, error) {
	if len(parameters) != len(p.parameters) {
		panic("equations: wrong number of parameters")
	}
	v := &instance{p, make([]float64, p.firstParameter()+len(parameters))}
	for i, value := range parameters {
		if err := p.parameters[i].Check(value); err != nil {
			return nil, err
		}
		v.signals[p.firstParameter()+i] = p.units[i].SI(value)
	}
	y := make([]float64, len(p.states))
	v.Initial(y)
	for i, s := range p.states {
		if !s.Range.Contains(y[i]) || y[i]-y[i] != 0 {
			return nil, fmt.Errorf("%w: they put the initial %s to %g, outside its range %v", model.ErrParameters, s.Name,
				y[i], s.Range)
		}
	}
	return v, nil
}

// Initial implements [model.Instance].
func (v *instance) Initial(y []float64) {
	for i, c := range v.initial {
		y[i] = c.Real(v.signals, nil)
	}
}

// Derivatives implements [model.Instance].
func (v *instance) Derivatives(t float64, y, commands, dydt []float64) {
	v.fill(v.derive, t, y, commands)
	for i, c := range v.derivatives {
		dydt[i] = c.Real(v.signals, nil)
	}
}

// Outputs implements [model.Instance].
func (v *instance) Outputs(t float64, y, commands, out []float64) {
	v.fill(v.all, t, y, commands)
	copy(out, v.signals[v.firstOutput():v.firstParameter()])
}

// fill evaluates the signal vector with the given outputs.
func (v *instance) fill(outputs []int, t float64, y, commands []float64) {
	s := v.signals
	s[0] = t
	copy(s[1:], y)
	copy(s[v.firstCommand():], commands)
	for _, i := range outputs {
		s[v.firstOutput()+i] = v.outputs[i].Real(s, nil)
	}
}

// order completes the lists of outputs and returns for each output whether it depends on commands. If outputs depend on
// each other in a cycle, it returns the cycle.
func (p *program) order() (direct []bool, circle []int) {
	const onPath, done = 1, 2
	direct = make([]bool, len(p.outputs))
	state := make([]int, len(p.outputs))
	var path []int
	var visit func(i int)
	visit = func(i int) {
		switch {
		case state[i] == onPath && circle == nil:
			circle = slices.Clone(path[slices.Index(path, i):])
		case state[i] == 0:
			state[i], path = onPath, append(path, i)
			for _, signal := range p.outputs[i].Reads() {
				if j := signal - p.firstOutput(); 0 <= j && j < len(p.outputs) {
					visit(j)
					direct[i] = direct[i] || direct[j]
				}
				direct[i] = direct[i] || p.firstCommand() <= signal && signal < p.firstOutput()
			}
			state[i], path = done, path[:len(path)-1]
			p.all = append(p.all, i)
		}
	}
	for i := range p.outputs {
		visit(i)
	}
	needed := make([]bool, len(p.outputs))
	need := func(c *expr.Code) {
		for _, signal := range c.Reads() {
			if j := signal - p.firstOutput(); 0 <= j && j < len(p.outputs) {
				needed[j] = true
			}
		}
	}
	for _, c := range p.derivatives {
		need(c)
	}
	for _, i := range slices.Backward(p.all) { // an output comes before those that read it
		if needed[i] {
			need(p.outputs[i])
			p.derive = append(p.derive, i)
		}
	}
	slices.Reverse(p.derive)
	return direct, circle
}
