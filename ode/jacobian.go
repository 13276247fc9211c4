package ode

import (
	"cmp"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/snapshot"
)

// jacobian holds df/dy by difference quotients. Its pattern is found by probing. After that the columns are perturbed
// in groups whose columns share no row (Curtis, Powell & Reid, On the estimation of sparse Jacobian matrices, IMA
// Journal of Applied Mathematics 13 (1974) 117-119), so that one evaluation serves a group.
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
// and well below the tolerance w. It is zero for a constant component, which has no entries then: a derivative may jump
// where it changes.
func (j *jacobian) point(in *Integrator, t float64, y, w []float64, h float64) {
	in.eval(t, y, j.f0)
	copy(j.ymod, y)
	constant := in.options.Constant
	for i, v := range y {
		if j.delta[i] = 0; constant != nil && constant[i] {
			continue
		}
		d := max(0x1p-26*max(math.Abs(v), math.Abs(h*j.f0[i])), 0.1*w[i])
		j.delta[i] = (v + d) - v // the actual change after rounding
		if j.delta[i] == 0 {
			j.delta[i] = d
		}
	}
}

// cell is an entry of a row.
type cell struct {
	col int32
	val float64
}

// block is a run of columns and the rows that may depend on them.
type block struct {
	from, to int
	rows     []int32
}

// probe finds the pattern and all entries at (t, y). Known entries stay in the pattern. It reports whether the pattern
// has grown.
//
// Few columns are probed one by one. Many are bisected: of each block it finds the rows that change with it, among
// those that change with the block of which it is a half, and blocks without a common row share an evaluation. The
// number of evaluations grows with the logarithm of the number of unknowns, if each row depends on few of them; it is
// one per column if a row depends on all.
func (j *jacobian) probe(in *Integrator, t float64, y, w []float64, h float64) bool {
	const few = 128
	n := in.n
	if n <= fullBelow {
		grown := j.pattern == nil
		if grown {
			j.pattern, j.val = colour(full(n)), make([]float64, n*n)
		}
		j.refresh(in, t, y, w, h)
		return grown
	}
	j.point(in, t, y, w, h)
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	blocks := []block{{0, n, all}}
	for len(blocks) < n {
		blocks = halves(blocks)
		if n > few && len(blocks) < n {
			j.together(in, t, y, blocks, func(c int) float64 { return j.delta[c] * uneven(c) }, func(b *block) {
				var rows []int32
				for _, i := range b.rows {
					if j.f1[i] != j.f0[i] { // or not a number
						rows = append(rows, i)
					}
				}
				b.rows = rows
			})
		}
	}
	found := make([][]cell, n) // by row
	j.together(in, t, y, blocks, func(c int) float64 { return j.delta[c] }, func(b *block) {
		for _, i := range b.rows {
			d := (j.f1[i] - j.f0[i]) / j.delta[b.from]
			if d-d != 0 {
				d = 0 // outside the function's domain: no entry is better than a wrong one
			}
			if d != 0 {
				found[i] = append(found[i], cell{int32(b.from), d})
			}
		}
	})
	return j.adopt(found)
}

// full returns the pattern with all entries.
func full(n int) sparsity {
	p := sparsity{n: n, ptr: make([]int32, 1, n+1)}
	for range n {
		for c := range n {
			p.col = append(p.col, int32(c))
		}
		p.ptr = append(p.ptr, int32(len(p.col)))
	}
	return p
}

// halves splits each block of several columns in two.
func halves(blocks []block) []block {
	var list []block
	for _, b := range blocks {
		if middle := (b.from + b.to) / 2; middle > b.from {
			list = append(list, block{b.from, middle, b.rows})
			b.from = middle
		}
		list = append(list, b)
	}
	return list
}

// uneven returns a number from 0.5 to 1 that has nothing to do with those of neighbours: changes that cancel each other
// hide a row. It is the finaliser of SplitMix64 (Steele, Lea & Flood, Fast splittable pseudorandom number generators,
// OOPSLA 2014).
func uneven(c int) float64 {
	z := uint64(c+1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return 0.5 + 0.5*float64((z^z>>31)>>11)*0x1p-53
}

// together changes the columns of blocks, of those without a common row in one evaluation, and calls visit for each
// block with the derivatives in f1, in the order of the blocks among those of one evaluation.
func (j *jacobian) together(in *Integrator, t float64, y []float64, blocks []block, change func(column int) float64,
	visit func(*block)) {
	evaluation := int32(0)
	taken := make([]int32, in.n) // of each row: the last evaluation with a block that has it
	left := make([]*block, len(blocks))
	for i := range blocks {
		left[i] = &blocks[i]
	}
	for len(left) > 0 {
		evaluation++
		var now, later []*block
		for _, b := range left {
			if slices.ContainsFunc(b.rows, func(i int32) bool { return taken[i] == evaluation }) {
				later = append(later, b)
				continue
			}
			now = append(now, b)
			for _, i := range b.rows {
				taken[i] = evaluation
			}
			for c := b.from; c < b.to; c++ {
				j.ymod[c] = y[c] + change(c)
			}
		}
		in.eval(t, j.ymod, j.f1)
		for _, b := range now {
			copy(j.ymod[b.from:b.to], y[b.from:b.to])
			visit(b)
		}
		left = later
	}
}

// adopt takes over the entries found by probing, by rows, and keeps the known ones in the pattern. It reports whether
// that has grown.
func (j *jacobian) adopt(found [][]cell) bool {
	n := len(found)
	known := sparsity{n: n, ptr: make([]int32, n+1)}
	if j.pattern != nil {
		known = j.pattern.sparsity
	}
	p := sparsity{n: n, ptr: make([]int32, 1, n+1)}
	j.val = j.val[:0]
	for i, row := range found {
		byColumn := func(a, b cell) int { return cmp.Compare(a.col, b.col) }
		slices.SortFunc(row, byColumn)
		for _, c := range known.col[known.ptr[i]:known.ptr[i+1]] {
			if at, seen := slices.BinarySearchFunc(row, cell{col: c}, byColumn); !seen {
				row = slices.Insert(row, at, cell{col: c})
			}
		}
		for _, x := range row {
			p.col, j.val = append(p.col, x.col), append(j.val, x.val)
		}
		p.ptr = append(p.ptr, int32(len(p.col)))
	}
	grown := j.pattern == nil || len(p.col) > len(known.col)
	if grown {
		j.pattern = colour(p)
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
