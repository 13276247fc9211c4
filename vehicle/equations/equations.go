// Package equations reads vehicles given as equations in a YAML file.
//
// The result is a [model.Vehicle] like a built-in one: derivatives and outputs are compiled expressions, which run
// without allocation. docs/vehicles.md describes the file format.
package equations

import (
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// IsFile reports whether a name is that of a file of equations, not of a built-in vehicle.
func IsFile(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// program is the compiled equations of a vehicle. It is immutable.
//
// The signal vector has the clock, the states, the commands, the outputs, the parameters and the memory, in this order.
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
	relations   []expr.Indicator
	related     []int // outputs that relations read, likewise
	scope       expr.Scope
	places      map[string]int // in the signal vector
	ranges      []model.Range  // of the commands
	jumps       []int          // the states that events set
	events      []expr.Event
	cells       []expr.Cell // behind the parameters, and behind whether each event's condition held
}

// Formulas are the equations of a vehicle.
type Formulas struct {
	Derivatives, Outputs []*expr.Expr // of all states and of all outputs, in the vehicle's order
	Resets               []Reset
	Tables               map[string]*expr.Tabulated
}

// Reset is what an event gives a state.
type Reset struct {
	State int
	As    expr.Variable // the state
	Value *expr.Expr
	When  *expr.Expr
}

// FormulasOf returns the equations of an instance, with its parameters, and all discrete values, as
// numbers; ok is false if the vehicle is not given as equations.
func FormulasOf(of model.Instance) (f Formulas, ok bool) {
	v, ok := of.(*instance)
	if !ok {
		return f, false
	}
	with := map[string]*expr.Expr{}
	for i, p := range v.parameters {
		value := v.signals[v.firstParameter()+i]
		number, err := expr.Parse(strconv.FormatFloat(value, 'g', -1, 64))
		if err != nil {
			panic("equations: a parameter that is not a number")
		}
		with[p.Name] = number
	}
	numbers := v.scope.Numbers()
	fixed := func(list []*expr.Expr) []*expr.Expr {
		out := make([]*expr.Expr, len(list))
		for i, e := range list {
			out[i] = numbers(e).Substitute(with)
		}
		return out
	}
	f = Formulas{fixed(v.written.Derivatives), fixed(v.written.Outputs), slices.Clone(v.written.Resets), v.written.Tables}
	for i := range f.Resets {
		f.Resets[i].Value = numbers(f.Resets[i].Value).Substitute(with)
		f.Resets[i].When = numbers(f.Resets[i].When).Substitute(with)
	}
	return f, true
}

// SystemOf returns the compiled equations of an instance; nil if the vehicle is not given as equations.
func SystemOf(of model.Instance) *expr.System {
	v, ok := of.(*instance)
	if !ok {
		return nil
	}
	s := &expr.System{Units: v.units, Inputs: v.commands, Initial: v.initial, Derivatives: v.derivatives,
		Outputs: v.outputs, Derive: v.derive, All: v.all, Related: v.related, Switches: v.relations, Events: v.events,
		Cells: v.cells}
	bounds := func(r model.Range) [2]float64 {
		least, most := r.Bounds()
		return [2]float64{least, most}
	}
	for _, p := range v.parameters {
		s.Limits = append(s.Limits, bounds(p.Range()))
	}
	for _, state := range v.states {
		s.Ranges = append(s.Ranges, bounds(state.Range))
	}
	return s
}

func (p *program) firstCommand() int   { return 1 + len(p.states) }
func (p *program) firstOutput() int    { return p.firstCommand() + p.commands }
func (p *program) firstParameter() int { return p.firstOutput() + len(p.outputs) }
func (p *program) memory() int         { return p.firstParameter() + len(p.parameters) }

// order completes the lists of outputs and returns for each output the commands on which it depends, ascending. If
// outputs depend on each other in a cycle, it returns the cycle.
func (p *program) order() (direct [][]int, circle []int) {
	const onPath, done = 1, 2
	direct = make([][]int, len(p.outputs))
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
					direct[i] = append(direct[i], direct[j]...)
				}
				if p.firstCommand() <= signal && signal < p.firstOutput() {
					direct[i] = append(direct[i], signal-p.firstCommand())
				}
			}
			slices.Sort(direct[i])
			direct[i] = slices.Compact(direct[i])
			state[i], path = done, path[:len(path)-1]
			p.all = append(p.all, i)
		}
	}
	for i := range p.outputs {
		visit(i)
	}
	for _, c := range p.derivatives {
		p.derive = append(p.derive, c.Reads()...)
	}
	for i := range p.relations {
		p.related = append(p.related, p.relations[i].Reads()...)
	}
	p.derive, p.related = p.towards(p.derive), p.towards(p.related)
	return direct, circle
}

// prompt returns, by place of a state or an output, the commands whose change may set off events that change it at the
// same instant, ascending. The outputs' order must be complete.
func (p *program) prompt() map[int][]int {
	by := map[int][]int{} // by place: the commands on which it depends at once, also without events
	note := func(place int, commands []int) (more bool) {
		for _, c := range commands {
			if !slices.Contains(by[place], c) {
				by[place], more = append(by[place], c), true
			}
		}
		return more
	}
	for c := range p.commands {
		note(p.firstCommand()+c, []int{c})
	}
	gather := func(x *expr.Code) (commands []int) {
		for _, place := range x.Reads() {
			commands = append(commands, by[place]...)
		}
		return commands
	}
	outputs := func() {
		for _, i := range p.all {
			note(p.firstOutput()+i, gather(p.outputs[i]))
		}
	}
	outputs()
	set := map[int][]int{}
	for more := true; more; outputs() {
		more = false
		for _, e := range p.events {
			off := gather(e.Condition)
			for _, r := range e.Resets {
				more = note(1+r.State, off) || more
			}
		}
	}
	for place, commands := range by {
		if place < p.firstCommand() || place >= p.firstOutput() {
			slices.Sort(commands)
			set[place] = commands
		}
	}
	return set
}

// towards returns the outputs among signals, and those that they read themselves, which come first.
func (p *program) towards(signals []int) (outputs []int) {
	needed := make([]bool, len(p.outputs))
	need := func(signals []int) {
		for _, s := range signals {
			if i := s - p.firstOutput(); 0 <= i && i < len(p.outputs) {
				needed[i] = true
			}
		}
	}
	need(signals)
	for _, i := range slices.Backward(p.all) {
		if needed[i] {
			need(p.outputs[i].Reads())
			outputs = append(outputs, i)
		}
	}
	slices.Reverse(outputs)
	return outputs
}
