package rates

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr/interval"
)

const (
	points = 1000 // at which a rate is sampled
	trials = 32   // points at which the influence of a state is tried
	enough = 4    // after which the influence of one state is enough
	delay  = 1e-3 // over which the change of an output is observed [s]
)

// sample finds the extreme rates of a signal at points of the ranges of the time, the states and the slots, and at the
// same points those of the other signals that matter.
func (t *Table) sample(task bt.Task, signal string) answer {
	p := t.newProbe(task)
	if p.unlimited(signal) {
		return answer{open: p}
	}
	signals := []string{signal}
	for _, s := range t.read() {
		if s != signal && !t.closed(task, s) && !p.unlimited(s) {
			signals = append(signals, s)
		}
	}
	found := make([]answer, len(signals))
	for k, s := range signals {
		reads := t.coneOfSignal(task, s)
		found[k].rate = declare.Rate{Low: math.Inf(1), High: math.Inf(-1), From: declare.Sampled,
			Jumps: reads.writes || reads.direct || t.reset(reads)}
	}
	at := make([]float64, len(signals))
	for n := range points {
		p.place(n)
		if p.rate(signals, at); !t.possible(p.names(), nil) {
			continue
		}
		for k, r := range at {
			if a := &found[k]; r-r == 0 {
				a.rate.Low, a.rate.High, a.ok = min(a.rate.Low, r), max(a.rate.High, r), true
				a.rate.Samples++
			}
		}
	}
	for k, s := range signals {
		t.found[key{task, s, ""}] = found[k]
	}
	return found[0]
}

// probe is the vehicle at one point.
type probe struct {
	t        *Table
	box      []interval.Interval // of the time, the states, and the values of slots that do not change
	open     []int               // unbounded ones, given an arbitrary bounded range in the box
	sources  [][]source          // by slot
	at       []float64           // the point
	choice   []int               // by slot: which source it has
	first    []int               // by slot: the place of its first source in the box
	step     float64             // from one point to the next, along the first axis
	commands []float64
	rates    []float64
	outputs  []float64
	known    map[string]interval.Value
	meanings interval.Names
}

// span is the size of the range in which the influence of an unbounded state is tried.
const span = 100

// newProbe returns the vehicle while a task is active.
func (t *Table) newProbe(task bt.Task) *probe {
	v := t.m.Vehicle
	p := &probe{t: t, commands: make([]float64, len(v.Commands)), rates: make([]float64, len(v.States)),
		outputs: make([]float64, len(v.Outputs)), known: map[string]interval.Value{}}
	p.meanings = t.names(p.known, p.variable, p.slot, p.output)
	add := func(x interval.Interval) {
		if !x.Bounded() {
			p.open = append(p.open, len(p.box))
			if near, ok := x.Meet(interval.Between(-span, span)); ok {
				x = near
			} else if x.High > span {
				x = interval.Between(x.Low, x.Low+span)
			} else {
				x = interval.Between(x.High-span, x.High)
			}
		}
		p.box = append(p.box, x)
	}
	add(t.ranges["t"])
	for _, s := range v.States {
		add(t.ranges[s.Name])
	}
	for i := range t.m.Program.Slots {
		list := t.sources(i, task)
		p.sources, p.first = append(p.sources, list), append(p.first, len(p.box))
		for _, s := range list {
			add(s.frozen)
		}
	}
	p.at, p.choice = make([]float64, len(p.box)), make([]int, len(p.sources))
	root := 2.0
	for range 60 {
		root = math.Pow(1+root, 1/(float64(len(p.box))+1))
	}
	p.step = 1 / root
	return p
}

// place goes to a point of a sequence that fills the box evenly: multiples of powers of the root of x^(d+1) = x + 1,
// without their integer parts (M. Roberts, The Unreasonable Effectiveness of Quasirandom Sequences, 2018). Its first
// points are two opposite corners.
func (p *probe) place(n int) {
	step := 1.0
	for i, x := range p.box {
		step *= p.step
		share := 0.5 + float64(n)*step
		share -= math.Floor(share)
		if n < 2 {
			share = float64(n)
		}
		p.at[i] = min(x.Low+share*x.Width(), x.High)
	}
	for i, s := range p.sources {
		p.choice[i] = n % len(s)
		n /= len(s)
	}
}

// names returns the meanings of names at the point; those of an earlier one are no longer valid.
func (p *probe) names() interval.Names {
	clear(p.known)
	return p.meanings
}

// variable returns the time or a state.
func (p *probe) variable(name string) interval.Value {
	d := p.t.signals[name]
	if d.kind == clock {
		return interval.Constant(interval.Point(p.at[0]))
	}
	return interval.Constant(interval.Point(p.at[1+d.index]))
}

// slot returns the value that its source gives a slot.
func (p *probe) slot(i int, n interval.Names) interval.Value {
	k := p.choice[i]
	if s := p.sources[i][k]; s.value != nil {
		return n.Evaluate(s.value, p.t.scope[p.t.m.Program.Slots[i].Name])
	}
	return interval.Constant(interval.Point(p.at[p.first[i]+k]))
}

// output returns an output that the vehicle computes.
func (p *probe) output(i int, n interval.Names) interval.Value {
	if len(p.t.m.Vehicle.Outputs[i].Direct) > 0 {
		p.command(n)
	}
	p.t.vehicle.Outputs(p.at[0], p.states(), p.commands, p.outputs)
	return interval.Constant(interval.Point(p.outputs[i]))
}

func (p *probe) states() []float64 { return p.at[1 : 1+len(p.rates)] }

// command gives the commands their values.
func (p *probe) command(n interval.Names) {
	for i, c := range p.t.m.Vehicle.Commands {
		p.commands[i] = n.Value(c.Name).Middle()
	}
}

// rate writes the rates of signals at the point.
func (p *probe) rate(signals []string, to []float64) {
	n := p.names()
	p.command(n)
	p.t.vehicle.Derivatives(p.at[0], p.states(), p.commands, p.rates)
	moves := false
	for k, signal := range signals {
		if d := p.t.signals[signal]; d.kind == state {
			to[k] = p.rates[d.index]
		} else {
			to[k], moves = n.Value(signal).Middle(), true
		}
	}
	if !moves {
		return
	}
	at := slices.Clone(p.at)
	p.at[0] += delay
	for i, r := range p.rates {
		p.at[1+i] += r * delay
	}
	n = p.names()
	for k, signal := range signals {
		if p.t.signals[signal].kind != state {
			to[k] = (n.Value(signal).Middle() - to[k]) / delay
		}
	}
	copy(p.at, at)
}

// rateOf returns the rate of a signal at the point.
func (p *probe) rateOf(signal string) float64 {
	var r [1]float64
	p.rate([]string{signal}, r[:])
	return r[0]
}

// unlimited reports whether a rate depends on signals without a range, as far as trials show.
func (p *probe) unlimited(signal string) bool {
	for n := range trials {
		p.place(2 + n)
		if p.moves(signal, p.rateOf(signal), p.open) {
			return true
		}
	}
	return false
}

// missing returns these signals.
func (p *probe) missing(signal string) []string {
	var names []string
	rest := slices.Clone(p.open)
	for n := range trials {
		if names != nil && n >= enough {
			break
		}
		p.place(2 + n)
		r := p.rateOf(signal)
		var search func(variables []int)
		search = func(variables []int) {
			switch half := len(variables) / 2; {
			case !p.moves(signal, r, variables):
			case half == 0:
				names = append(names, p.name(variables[0]))
			default:
				search(variables[:half])
				search(variables[half:])
			}
		}
		search(rest)
		rest = slices.DeleteFunc(rest, func(i int) bool { return slices.Contains(names, p.name(i)) })
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// moves reports whether a rate changes with variables, from its value at the point.
func (p *probe) moves(signal string, from float64, variables []int) bool {
	if len(variables) == 0 {
		return false
	}
	at := slices.Clone(p.at)
	for _, i := range variables {
		x, width := p.at[i]-p.box[i].Low, p.box[i].Width()
		p.at[i] = p.box[i].Low + math.Mod(x+width/3, width)
	}
	to := p.rateOf(signal)
	copy(p.at, at)
	return to != from && (to == to || from == from)
}

// name returns the name of a variable: of a value of a slot, that of the slot.
func (p *probe) name(i int) string {
	switch {
	case i == 0:
		return "t"
	case i <= len(p.rates):
		return p.t.m.Vehicle.States[i-1].Name
	}
	k := 0
	for k+1 < len(p.first) && p.first[k+1] <= i {
		k++
	}
	return p.t.m.Program.Slots[k].Name
}
