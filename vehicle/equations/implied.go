package equations

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// Limits of the search for implied ranges.
const (
	huge      = 1e30   // the magnitude that a value may have
	nothing   = 1e-200 // one that rounding outwards may give to zero
	maxSigned = 2000   // states whose signs are tried
	maxSummed = 40     // states of which sums are tried
)

// Implied returns, by state, the range that the equations imply for a start at y, with the commands in their ranges:
// states that start at zero or more, and that no derivative takes below zero, stay there (M. Nagumo, Über die Lage der
// Integralkurven gewöhnlicher Differentialgleichungen, 1942); where a weighted sum of such states is constant, none
// exceeds its share. Ranges without bounds are those of which nothing is known, as of all states that events set.
func Implied(of model.Instance, y []float64) []model.Range {
	v, ok := of.(*instance)
	if !ok {
		return nil
	}
	n := len(v.states)
	ranges := make([]model.Range, n)
	if n > maxSigned {
		return ranges
	}
	box := make([]interval.Interval, n)
	var signed []int
	for i := range box {
		box[i] = interval.Between(-huge, huge)
		if 0 <= y[i] && y[i] <= huge && !slices.Contains(v.jumps, i) {
			box[i].Low = 0
			signed = append(signed, i)
		}
	}
	for again := true; again; { // a state that may become negative makes the box larger
		again = false
		signed = slices.DeleteFunc(signed, func(i int) bool {
			rate := v.rateAt(i, box)
			if falls := rate.NaN || rate.Low < -nothing; falls {
				box[i].Low, again = -huge, true
				return true
			}
			return false
		})
		slices.Reverse(signed) // a chain of states falls in two rounds, in either direction
	}
	slices.Sort(signed)
	for _, i := range signed {
		ranges[i] = model.AtLeast(0)
	}
	for _, sum := range v.constantSums(signed) {
		total := 0.0
		for k, c := range sum {
			total += c * y[signed[k]]
		}
		for k, c := range sum {
			if c > 0 {
				_, most := ranges[signed[k]].Bounds()
				ranges[signed[k]] = model.Between(0, min(most, total/c))
			}
		}
	}
	return ranges
}

// rateAt bounds the derivative of a state where it is zero and the others are in a box.
func (v *instance) rateAt(state int, box []interval.Interval) interval.Interval {
	known := map[int]interval.Value{}
	var names interval.Names
	names = interval.Names{Scope: v.scope, Value: func(name string) interval.Value {
		place := v.places[name]
		if x, ok := known[place]; ok {
			return x
		}
		var x interval.Value
		switch {
		case place == 0:
			x = interval.Constant(interval.Between(0, 1e10))
		case place == 1+state:
			x = interval.Constant(interval.Point(0))
		case place < v.firstCommand():
			x = interval.Constant(box[place-1])
		case place < v.firstOutput():
			low, high := v.ranges[place-v.firstCommand()].Bounds()
			x = interval.Constant(interval.Between(max(low, -huge), min(high, huge)))
		case place < v.firstParameter():
			x = names.Evaluate(v.written.Outputs[place-v.firstOutput()], v.scope[name])
		default:
			x = interval.Constant(interval.Point(v.signals[place]))
		}
		known[place] = x
		return x
	}}
	return names.Evaluate(v.written.Derivatives[state], expr.Number(expr.AnyUnit)).Interval
}

// constantSums returns weights, at least 0, of those of the given states whose sums the equations keep constant. They
// are found at points: equations without relations and discrete signals whose sum is zero at more points than they have
// states keep it.
func (v *instance) constantSums(states []int) (sums [][]float64) {
	switches := func(c *expr.Code) bool { return len(c.Indicators())+len(c.Discrete()) > 0 }
	if len(states) > maxSummed || slices.ContainsFunc(v.derivatives, switches) ||
		slices.ContainsFunc(v.derive, func(i int) bool { return switches(v.outputs[i]) }) {
		return nil
	}
	var rows [][]float64
	scale := make([]float64, len(states))
	y, dydt, u := make([]float64, len(v.states)), make([]float64, len(v.states)), make([]float64, v.commands)
	for point := range 2*len(states) + 5 {
		vary := func(k int) float64 { _, f := math.Modf(float64(1+point*31+k) * math.Phi); return 0.5 + f }
		for i := range y {
			y[i] = vary(i)
		}
		for i := range u {
			u[i] = vary(len(y) + i)
		}
		v.Derivatives(1000*vary(-1), y, u, dydt)
		row := make([]float64, len(states))
		for k, i := range states {
			row[k] = dydt[i]
			if scale[k] = max(scale[k], math.Abs(row[k])); row[k]-row[k] != 0 {
				return nil
			}
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		for k := range row {
			if scale[k] > 0 {
				row[k] /= scale[k]
			}
		}
	}
	for _, c := range kernel(rows, len(states)) {
		if slices.ContainsFunc(c, func(x float64) bool { return x < 0 }) {
			continue
		}
		least := math.Inf(1)
		for k := range c {
			if scale[k] > 0 {
				c[k] /= scale[k]
			}
			if c[k] > 0 {
				least = min(least, c[k])
			}
		}
		for k := range c { // usually the smallest is 1, the others are whole numbers
			c[k] = math.Round(c[k]/least*1e9) / 1e9
		}
		sums = append(sums, c)
	}
	return sums
}

// kernel returns a basis of the vectors that are orthogonal to all rows, by elimination with full pivoting.
func kernel(rows [][]float64, n int) (basis [][]float64) {
	const none = 1e-9
	pivots, free := []int{}, make([]bool, n)
	for k := range free {
		free[k] = true
	}
	for r := range rows {
		at, column := r, -1
		for i := r; i < len(rows); i++ {
			for k := range n {
				if free[k] && math.Abs(rows[i][k]) > none && (column < 0 || math.Abs(rows[i][k]) > math.Abs(rows[at][column])) {
					at, column = i, k
				}
			}
		}
		if column < 0 {
			break
		}
		rows[r], rows[at] = rows[at], rows[r]
		free[column], pivots = false, append(pivots, column)
		for i, row := range rows {
			if f := row[column] / rows[r][column]; i != r && f != 0 {
				for k := range row {
					row[k] -= f * rows[r][k]
				}
			}
		}
	}
	for k := range n {
		if !free[k] {
			continue
		}
		c := make([]float64, n)
		c[k] = 1
		for r, p := range pivots {
			if c[p] = -rows[r][k] / rows[r][p]; math.Abs(c[p]) < none {
				c[p] = 0
			}
		}
		basis = append(basis, c)
	}
	return basis
}
