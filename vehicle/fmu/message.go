package fmu

import (
	"encoding/binary"
	"math"
	"slices"
)

// answer reads the numbers of an answer.
type answer struct{ data []byte }

func (a *answer) flags() uint64 { return math.Float64bits(a.number()) }

// number takes the next number; NaN: there is none.
func (a *answer) number() float64 {
	x := a.at(0)
	a.data = a.data[min(8, len(a.data)):]
	return x
}

func (a *answer) at(i int) float64 {
	if len(a.data) < 8*i+8 {
		return math.NaN()
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(a.data[8*i:]))
}

// states takes the states, and keeps them if wanted.
func (a *answer) states(u *Unit, y []float64, wanted bool) {
	place := 0
	for _, s := range u.states {
		for range s.size {
			if x := a.number(); wanted {
				y[place] = s.signal(x)
			}
			place++
		}
	}
}

func (a *answer) rates(u *Unit, dydt []float64) {
	place := 0
	for _, s := range u.states {
		for range s.size {
			dydt[place] = s.factor * a.number()
			place++
		}
	}
}

func (a *answer) outputs(u *Unit, out []float64) {
	place := 0
	for _, o := range u.outputs {
		for range o.size {
			out[place] = o.signal(a.number())
			place++
		}
	}
}

// first writes the flags with which a request begins.
func first(to []byte, flags uint32) []byte {
	return binary.LittleEndian.AppendUint64(to, uint64(flags))
}

func numbers(to []byte, list []float64) []byte {
	for _, x := range list {
		to = binary.LittleEndian.AppendUint64(to, math.Float64bits(x))
	}
	return to
}

// place writes a time and states.
func (u *Unit) place(to []byte, t float64, y []float64) []byte {
	to = binary.LittleEndian.AppendUint64(to, math.Float64bits(t))
	i := 0
	for _, s := range u.states {
		for range s.size {
			to = binary.LittleEndian.AppendUint64(to, math.Float64bits(s.native(y[i])))
			i++
		}
	}
	return to
}

// inputs writes the values of inputs, given as commands.
func inputs(to []byte, of []*variable, commands []float64) []byte {
	i := 0
	for _, in := range of {
		for range in.size {
			to = binary.LittleEndian.AppendUint64(to, math.Float64bits(in.native(commands[i])))
			i++
		}
	}
	return to
}

// writer writes the request that loads an FMU.
type writer struct{ data []byte }

func (w *writer) word(x uint32) { w.data = binary.LittleEndian.AppendUint32(w.data, x) }

func (w *writer) text(s string) {
	w.word(uint32(len(s)))
	w.data = append(w.data, s...)
}

// list writes variables, in groups of one type.
func (w *writer) list(of []*variable) {
	var groups [][]*variable
	for i, v := range of {
		if i == 0 || of[i-1].kind != v.kind {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], v)
	}
	w.word(uint32(len(groups)))
	for _, g := range groups {
		values := 0
		for _, v := range g {
			values += v.size
		}
		w.word(uint32(g[0].kind))
		w.word(uint32(len(g)))
		w.word(uint32(values))
		for _, v := range g {
			w.word(v.ref)
		}
	}
}

// values writes values, at a multiple of eight bytes.
func (w *writer) values(list []float64) {
	w.data = numbers(append(w.data, make([]byte, (8-len(w.data)%8)%8)...), list)
}

// load writes the request that loads the FMU, with the parameters that differ from their start values.
func (u *Unit) load(p Process, parameters []float64) []byte {
	w := &writer{}
	library, resources := p.Library()
	flags := uint32(0)
	for i, on := range []bool{u.events, u.early} {
		if on {
			flags |= 1 << i
		}
	}
	for _, x := range []int{u.Version, int(u.Interface - ModelExchange), int(flags), u.nx, u.nz} {
		w.word(uint32(x))
	}
	w.data = numbers(w.data, []float64{0, math.NaN(), u.tolerance})
	for _, s := range []string{library, u.Name, u.Identifier, u.Token, resources} {
		w.text(s)
	}
	var set []*variable
	var values []float64
	place := 0
	for _, v := range u.parameters {
		list := parameters[place : place+v.size]
		place += v.size
		differs := false
		native := make([]float64, v.size)
		for i, x := range list {
			native[i] = v.native(x)
			differs = differs || x != v.begins(i)
		}
		if differs {
			set, values = append(set, v), slices.Concat(values, native)
		}
	}
	w.list(set)
	w.values(values)
	for _, list := range [][]*variable{u.continuous, u.discrete, u.outputs} {
		w.list(list)
	}
	return w.data
}
