package ode

import (
	"cmp"
	"math"
	"slices"

	"canopy/snapshot"
)

// jacobian holds df/dy by difference quotients. Its pattern is found by probing column by column. After that the
// columns are perturbed in groups whose columns share no row (Curtis, Powell & Reid, On the estimation of sparse
// Jacobian matrices, IMA Journal of Applied Mathematics 13 (1974) 117-119), so that one evaluation serves a group.
//
// A few long rows, which depend on nearly all components, would put each column in a group of its own. They are ignored
// in the grouping: where several columns of a group share a long row, the row gets the minimum correction that explains
// the observed change (Schubert, Modification of a quasi-Newton method for nonlinear equations with a sparse Jacobian,
// Mathematics of Computation 24 (1970) 27-30). The result is exact again after each probing.
type jacobian struct {
	pattern *colouring
	val     []float64
	delta   []float64 // change of each component
	f0, f1  []float64
	ymod    []float64
}

// colouring is the pattern of a Jacobian with its groups of columns. It is immutable.
type colouring struct {
	sparsity
	groups [][]int32 // columns
	short  [][]entry // of each group: entries in rows that only one column of the group reaches
	long   [][]entry // of each group: entries in long rows, row by row
}

type entry struct{ row, col, at int32 }

// fullBelow is the number of unknowns up to which the pattern is assumed to be full: probing could miss entries that
// vanish at the probed point, and there is little to gain.
const fullBelow = 12

func newJacobian(n int) *jacobian {
	return &jacobian{
		delta: make([]float64, n), f0: make([]float64, n), f1: make([]float64, n), ymod: make([]float64, n),
	}
}

// colour groups the columns of a pattern.
func colour(p sparsity) *colouring {
	c := &colouring{sparsity: p}
	n := p.n
	counts := make([]int, n)
	for i := range n {
		counts[i] = int(p.ptr[i+1] - p.ptr[i])
	}
	sorted := slices.Sorted(slices.Values(counts))
	limit := max(fullBelow, 2*sorted[n/2])
	rows := make([][]entry, n) // by column, short rows only
	var long []entry
	for i := range n {
		for e := p.ptr[i]; e < p.ptr[i+1]; e++ {
			x := entry{row: int32(i), col: p.col[e], at: e}
			if counts[i] > limit {
				long = append(long, x)
			} else {
				rows[x.col] = append(rows[x.col], x)
			}
		}
	}
	order := make([]int32, n)
	for j := range order {
		order[j] = int32(j)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(len(rows[b]), len(rows[a])) })
	var taken [][]bool // by group and row
	group := make([]int, n)
	for _, j := range order {
		g := slices.IndexFunc(taken, func(t []bool) bool {
			return !slices.ContainsFunc(rows[j], func(x entry) bool { return t[x.row] })
		})
		if g < 0 {
			g = len(taken)
			taken = append(taken, make([]bool, n))
			c.groups, c.short = append(c.groups, nil), append(c.short, nil)
		}
		group[j] = g
		c.groups[g] = append(c.groups[g], j)
		c.short[g] = append(c.short[g], rows[j]...)
		for _, x := range rows[j] {
			taken[g][x.row] = true
		}
	}
	c.long = make([][]entry, len(c.groups))
	for _, x := range long {
		g := group[x.col]
		c.long[g] = append(c.long[g], x)
	}
	return c
}

// point prepares differences at (t, y): the values there and the change of each component, well above rounding error
// and well below the tolerance w.
func (j *jacobian) point(in *Integrator, t float64, y, w []float64, h float64) {
	in.eval(t, y, j.f0)
	copy(j.ymod, y)
	for i, v := range y {
		d := max(0x1p-26*max(math.Abs(v), math.Abs(h*j.f0[i])), 0.1*w[i])
		j.delta[i] = (v + d) - v // the actual change after rounding
		if j.delta[i] == 0 {
			j.delta[i] = d
		}
	}
}

// probe finds the pattern and all entries at (t, y) with one evaluation per component. Known entries stay in the
// pattern. It reports whether the pattern has grown.
func (j *jacobian) probe(in *Integrator, t float64, y, w []float64, h float64) bool {
	n := in.n
	j.point(in, t, y, w, h)
	full := make([]float64, n*n)
	set := make([]bool, n*n)
	if old := j.pattern; old != nil {
		for i := range n {
			for _, c := range old.col[old.ptr[i]:old.ptr[i+1]] {
				set[i*n+int(c)] = true
			}
		}
	}
	for c := range n {
		j.ymod[c] = y[c] + j.delta[c]
		in.eval(t, j.ymod, j.f1)
		j.ymod[c] = y[c]
		for i := range n {
			d := (j.f1[i] - j.f0[i]) / j.delta[c]
			if d-d != 0 {
				d = 0 // outside the function's domain: no entry is better than a wrong one
			}
			full[i*n+c] = d
			set[i*n+c] = set[i*n+c] || d != 0 || n <= fullBelow
		}
	}
	p := sparsity{n: n, ptr: make([]int32, 1, n+1)}
	for i := range n {
		for c := range n {
			if set[i*n+c] {
				p.col = append(p.col, int32(c))
			}
		}
		p.ptr = append(p.ptr, int32(len(p.col)))
	}
	grown := j.pattern == nil || len(p.col) > len(j.pattern.col)
	if grown {
		j.pattern = colour(p)
	}
	j.val = resize(j.val, len(p.col))
	for i := range n {
		for e := p.ptr[i]; e < p.ptr[i+1]; e++ {
			j.val[e] = full[i*n+int(p.col[e])]
		}
	}
	return grown
}

// refresh computes the entries of the known pattern at (t, y) with one evaluation per group.
func (j *jacobian) refresh(in *Integrator, t float64, y, w []float64, h float64) {
	j.point(in, t, y, w, h)
	p := j.pattern
	for g, columns := range p.groups {
		for _, c := range columns {
			j.ymod[c] = y[c] + j.delta[c]
		}
		in.eval(t, j.ymod, j.f1)
		for _, c := range columns {
			j.ymod[c] = y[c]
		}
		for _, x := range p.short[g] {
			if d := (j.f1[x.row] - j.f0[x.row]) / j.delta[x.col]; d-d == 0 {
				j.val[x.at] = d
			}
		}
		j.correct(p.long[g])
	}
}

// correct applies to the entries of each long row the smallest change, in units of the components' changes, that
// explains the change of the row.
func (j *jacobian) correct(entries []entry) {
	for len(entries) > 0 {
		row := entries[0].row
		miss, count := j.f1[row]-j.f0[row], 0
		for _, x := range entries {
			if x.row != row {
				break
			}
			miss -= j.val[x.at] * j.delta[x.col]
			count++
		}
		if miss-miss == 0 {
			for _, x := range entries[:count] {
				j.val[x.at] += miss / float64(count) / j.delta[x.col]
			}
		}
		entries = entries[count:]
	}
}

// radius estimates the spectral radius by power iteration, from the growth over the last rounds (a pair of complex
// eigenvalues makes the growth of a single round meaningless). Vectors are measured in units of w.
func (j *jacobian) radius(w []float64) float64 {
	const rounds, measured = 16, 8
	p := j.pattern
	x, y := j.f0, j.f1
	for i := range x {
		x[i] = (1 + 0.3*float64(i%7)) * w[i]
	}
	growth := 0.0
	for r := range rounds {
		for i := range x {
			sum := 0.0
			for e := p.ptr[i]; e < p.ptr[i+1]; e++ {
				sum += j.val[e] * x[p.col[e]]
			}
			y[i] = sum
		}
		size := 0.0
		for i, v := range y {
			size += v * v / (w[i] * w[i])
		}
		size = math.Sqrt(size / float64(len(y)))
		if size == 0 || size-size != 0 {
			return 0
		}
		for i := range y {
			y[i] /= size
		}
		if r == 0 {
			size = 1 // the start vector is not of size 1
		}
		if r >= rounds-measured {
			growth += math.Log(size)
		}
		x, y = y, x
	}
	return math.Exp(growth / measured)
}

func (j *jacobian) copyFrom(o *jacobian) {
	j.pattern = o.pattern
	j.val = append(j.val[:0], o.val...)
}

// state passes the pattern, which determines its colouring, and the entries to the codec.
func (j *jacobian) state(c *snapshot.Codec) {
	known := j.pattern != nil
	if snapshot.Bool(c, &known); !known {
		if c.Loading() {
			j.pattern = nil
		}
		return
	}
	p := sparsity{n: len(j.delta)}
	if !c.Loading() {
		p = j.pattern.sparsity
	}
	p.state(c)
	snapshot.List(c, &j.val, snapshot.Float)
	if len(j.val) != len(p.col) {
		c.Fail(snapshot.ErrMismatch)
	}
	if c.Loading() && !c.Failed() {
		j.pattern = colour(p)
	}
}
