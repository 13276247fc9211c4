package verify

import (
	"maps"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/document/declare"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// linear is a linear program over unknowns that are not negative.
type linear struct {
	cost  []float64 // by unknown
	rows  []sum
	least []float64 // by row: the sum is this or more
}

// sum is a sum of multiples of unknowns.
type sum map[int]float64

// plus returns the sum with a multiple of another one.
func (s sum) plus(o sum, factor float64) sum {
	all := maps.Clone(s)
	for v, f := range o {
		all[v] += factor * f
	}
	return all
}

// unknown returns a new unknown with a cost.
func (p *linear) unknown(cost float64) int {
	p.cost = append(p.cost, cost)
	return len(p.cost) - 1
}

// displacement returns by how much a signal changes in an unknown time at a rate.
func (p *linear) displacement(r declare.Rate, time int) sum {
	switch {
	case r.Low == r.High:
		return sum{time: r.Low}
	case math.IsInf(r.Low, 0) && math.IsInf(r.High, 0):
		return sum{p.unknown(0): 1, p.unknown(0): -1}
	case math.IsInf(r.Low, 0):
		return sum{time: r.High, p.unknown(0): -1}
	}
	more := p.unknown(0)
	if !math.IsInf(r.High, 0) {
		p.between(sum{time: r.High - r.Low, more: -1}, 0, math.Inf(1))
	}
	return sum{time: r.Low, more: 1}
}

// between demands that a sum is in a range.
func (p *linear) between(s sum, low, high float64) {
	if !math.IsInf(low, 0) {
		p.rows, p.least = append(p.rows, s), append(p.least, low)
	}
	if !math.IsInf(high, 0) {
		p.rows, p.least = append(p.rows, sum{}.plus(s, -1)), append(p.least, -high)
	}
}

// of returns the sum for values of the unknowns.
func (s sum) of(values []float64) (total float64) {
	for v, f := range s {
		total += f * values[v]
	}
	return total
}

// minimum returns the minimum cost; ok is false if nothing meets all demands.
func (p *linear) minimum() (cost float64, ok bool) {
	values, ok := p.solution()
	for v, x := range values {
		cost += p.cost[v] * x
	}
	return max(cost, 0), ok
}

// solution returns values of the unknowns with the minimum cost; ok is false if nothing meets all demands.
func (p *linear) solution() (values []float64, ok bool) {
	values = make([]float64, len(p.cost))
	var c []float64
	var occur []int // the unknowns that do; the solver has no others
	for v := range p.cost {
		if slices.ContainsFunc(p.rows, func(s sum) bool { return s[v] != 0 }) {
			occur, c = append(occur, v), append(c, p.cost[v])
		}
	}
	if len(p.rows) == 0 {
		return values, true
	}
	n := len(c)
	c = append(c, make([]float64, len(p.rows))...)
	a := mat.NewDense(len(p.rows), len(c), nil)
	for k, s := range p.rows {
		for i, v := range occur {
			a.Set(k, i, s[v])
		}
		a.Set(k, n+k, -1)
	}
	_, x, err := lp.Simplex(c, a, p.least, 1e-9, nil)
	if err != nil {
		return nil, false
	}
	for i, v := range occur {
		values[v] = x[i]
	}
	return values, true
}
