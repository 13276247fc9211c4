package ode

import (
	"math"
	"slices"

	"canopy/snapshot"
)

// sparsity is the pattern of a square sparse matrix, row by row: row i has its entries in the columns
// col[ptr[i]:ptr[i+1]], in ascending order. It is immutable.
type sparsity struct {
	n   int
	ptr []int32
	col []int32
}

// elimination is the plan of an LU factorisation for all matrices of one pattern: an order of pivots, chosen once for
// little fill (Markowitz, The elimination form of the inverse, Management Science 3 (1957) 255-269) among pivots of at
// least a tenth of their column (threshold pivoting: Duff, Erisman & Reid, Direct Methods for Sparse Matrices, 2nd ed.,
// 2017, chapters 7 and 10), and the pattern of the factors. It is immutable; factorisations follow it without a search.
type elimination struct {
	n        int
	row, col []int32 // row and column of pivot k in the matrix
	factors  sparsity
	diag     []int32 // index of the pivot of row k in the factors: L before it, U after it
	source   sparsity
	// The entries of row k of the matrix, in the order of pivots: their indices in the matrix and their columns by
	// pivot.
	sourceAt []int32
	identity []int32 // column by pivot of the identity matrix's entry in pivot row k
}

// lu is the LU factorisation of I - s*J.
type lu struct {
	plan    *elimination
	entries []factor // of the factors, row by row
	rows    []pivotRow
	work    []float64
	ready   bool
}

// pivotRow is what solving reads of one row of the factors: looked up once, as rows are short.
type pivotRow struct {
	lower, upper []factor // before and behind the pivot
	inv          float64  // of the pivot
	row, col     int32    // position of the pivot in the matrix
}

// factor is an entry of L or U. Value and column are adjacent in memory: solving does little more than read them.
type factor struct {
	val float64
	col int32
}

// plan chooses the pivots for I - s*J, with entry (i, j) scaled by scale[j]/scale[i]. It works on a full matrix and
// takes O(n^3) time in the worst case: it is meant for hundreds of unknowns and rare use. It returns nil if the matrix
// is singular.
func plan(j *sparsity, val []float64, s float64, scale []float64) *elimination {
	n := j.n
	m := make([]float64, n*n)
	set := make([]bool, n*n)
	rows, cols := make([][]int, n), make([][]int, n) // of the entries of each column, and of each row
	for i := range n {
		m[i*n+i], set[i*n+i] = 1, true
		for e := j.ptr[i]; e < j.ptr[i+1]; e++ {
			c := int(j.col[e])
			m[i*n+c] -= s * val[e] * scale[c] / scale[i]
			set[i*n+c] = true
		}
	}
	p := &elimination{n: n}
	rowCount, colCount := make([]int, n), make([]int, n)
	rowStep, colStep := make([]int32, n), make([]int32, n) // when the row or column was pivoted, -1 not yet
	for i := range n {
		rowStep[i], colStep[i] = -1, -1
		for c := range n {
			if set[i*n+c] {
				rows[c], cols[i] = append(rows[c], i), append(cols[i], c)
				rowCount[i]++
				colCount[c]++
			}
		}
	}
	for k := range n {
		r, c := choosePivot(n, m, rows, rowCount, colCount, rowStep, colStep)
		if r < 0 {
			return nil
		}
		rowStep[r], colStep[c] = int32(k), int32(k)
		p.row, p.col = append(p.row, int32(r)), append(p.col, int32(c))
		for _, i := range rows[c] {
			if rowStep[i] >= 0 {
				continue
			}
			rowCount[i]--
			l := m[i*n+c] / m[r*n+c]
			for _, q := range cols[r] {
				if colStep[q] >= 0 {
					continue
				}
				if !set[i*n+q] {
					set[i*n+q] = true
					rows[q], cols[i] = append(rows[q], i), append(cols[i], q)
					rowCount[i]++
					colCount[q]++
				}
				m[i*n+q] -= l * m[r*n+q]
			}
		}
		for _, q := range cols[r] {
			if colStep[q] < 0 {
				colCount[q]--
			}
		}
	}
	p.layOut(j, set, colStep)
	return p
}

// choosePivot returns the acceptable entry with the minimum Markowitz count, the largest among equals; -1 if there is
// none.
func choosePivot(n int, m []float64, rows [][]int, rowCount, colCount []int, rowStep, colStep []int32) (row, col int) {
	const threshold = 0.1
	row, col = -1, -1
	least, size := math.MaxInt, 0.0
	for c := range n {
		if colStep[c] >= 0 || row >= 0 && colCount[c] == 0 {
			continue
		}
		top := 0.0
		for _, i := range rows[c] {
			if rowStep[i] < 0 {
				top = max(top, math.Abs(m[i*n+c]))
			}
		}
		for _, i := range rows[c] {
			if rowStep[i] >= 0 {
				continue
			}
			v := math.Abs(m[i*n+c])
			if v == 0 || !(v >= threshold*top) {
				continue
			}
			count := (rowCount[i] - 1) * (colCount[c] - 1)
			if count < least || count == least && v > size {
				row, col, least, size = i, c, count, v
			}
		}
	}
	return row, col
}

// layOut writes the pattern of the factors, set[i, c], in the order of pivots.
func (p *elimination) layOut(j *sparsity, set []bool, colStep []int32) {
	n := p.n
	p.factors.n, p.source.n = n, n
	p.factors.ptr, p.source.ptr = make([]int32, 1, n+1), make([]int32, 1, n+1)
	p.diag = make([]int32, n)
	for k := range n {
		r := int(p.row[k])
		for q := range n {
			if set[r*n+int(p.col[q])] {
				if q == k {
					p.diag[k] = int32(len(p.factors.col))
				}
				p.factors.col = append(p.factors.col, int32(q))
			}
		}
		p.factors.ptr = append(p.factors.ptr, int32(len(p.factors.col)))
		for e := j.ptr[r]; e < j.ptr[r+1]; e++ {
			p.sourceAt = append(p.sourceAt, e)
			p.source.col = append(p.source.col, colStep[j.col[e]])
		}
		p.source.ptr = append(p.source.ptr, int32(len(p.source.col)))
		p.identity = append(p.identity, colStep[r])
	}
}

// adopt allocates memory for factorisations by plan p.
func (f *lu) adopt(p *elimination) {
	f.plan, f.ready = p, false
	f.entries = make([]factor, len(p.factors.col))
	for e, c := range p.factors.col {
		f.entries[e].col = c
	}
	f.rows, f.work = make([]pivotRow, p.n), make([]float64, p.n)
	for k, diag := range p.diag {
		f.rows[k] = pivotRow{lower: f.entries[p.factors.ptr[k]:diag], upper: f.entries[diag+1 : p.factors.ptr[k+1]],
			row: p.row[k], col: p.col[k]}
	}
}

// factorise computes L and U of I - s*J and reports whether all pivots are usable.
func (f *lu) factorise(val []float64, s float64) bool {
	p, w := f.plan, f.work
	f.ready = false
	for k := range p.n {
		row := f.entries[p.factors.ptr[k]:p.factors.ptr[k+1]]
		for _, x := range row {
			w[x.col] = 0
		}
		w[p.identity[k]] = 1
		from, to := p.source.ptr[k], p.source.ptr[k+1]
		at := p.sourceAt[from:to]
		for e, c := range p.source.col[from:to] {
			w[c] -= s * val[at[e]]
		}
		for _, x := range f.rows[k].lower {
			j := x.col
			l := w[j] * f.rows[j].inv
			w[j] = l
			if l == 0 {
				continue
			}
			for _, u := range f.rows[j].upper {
				w[u.col] -= l * u.val
			}
		}
		for e := range row {
			row[e].val = w[row[e].col]
		}
		inv := 1 / w[k]
		if inv-inv != 0 || inv == 0 {
			return false
		}
		f.rows[k].inv = inv
	}
	f.ready = true
	return true
}

// solve overwrites b with the solution of (I - s*J) x = b.
func (f *lu) solve(b []float64) {
	w := f.work[:len(f.rows)]
	for k := range f.rows {
		r := &f.rows[k]
		x := b[r.row]
		if len(r.lower) >= long {
			x -= product(r.lower, w)
		} else {
			for _, e := range r.lower {
				x -= e.val * w[e.col]
			}
		}
		w[k] = x
	}
	for k := len(w) - 1; k >= 0; k-- {
		r := &f.rows[k]
		x := w[k]
		if len(r.upper) >= long {
			x -= product(r.upper, w)
		} else {
			for _, e := range r.upper {
				x -= e.val * w[e.col]
			}
		}
		x *= r.inv
		w[k] = x
		b[r.col] = x
	}
}

// long is the number of entries from which product is worthwhile for a row.
const long = 12

// product returns the product of a long row with x, as independent partial sums.
func product(row []factor, x []float64) float64 {
	var a, b, c, d float64
	for len(row) >= 4 {
		a += row[0].val * x[row[0].col]
		b += row[1].val * x[row[1].col]
		c += row[2].val * x[row[2].col]
		d += row[3].val * x[row[3].col]
		row = row[4:]
	}
	for _, e := range row {
		a += e.val * x[e.col]
	}
	return (a + b) + (c + d)
}

func (f *lu) copyFrom(o *lu) {
	if o.plan == nil {
		f.plan, f.ready = nil, false
		return
	}
	if f.plan != o.plan {
		f.adopt(o.plan)
	}
	f.ready = o.ready
	copy(f.entries, o.entries)
	for k := range f.rows {
		f.rows[k].inv = o.rows[k].inv
	}
}

// state passes the pattern of a matrix of known size to the codec.
func (p *sparsity) state(c *snapshot.Codec) {
	snapshot.List(c, &p.ptr, snapshot.Int)
	snapshot.List(c, &p.col, snapshot.Int)
	if len(p.ptr) != p.n+1 || p.ptr[0] != 0 || int(p.ptr[p.n]) != len(p.col) || !slices.IsSorted(p.ptr) ||
		!below(p.col, p.n) {
		c.Fail(snapshot.ErrMismatch)
	}
}

// below reports whether all are in 0..n-1.
func below(indices []int32, n int) bool {
	return !slices.ContainsFunc(indices, func(i int32) bool { return i < 0 || int(i) >= n })
}

// fits reports whether the plan is valid for matrices with n rows and the given number of entries.
func (p *elimination) fits(n, entries int) bool {
	for _, list := range [][]int32{p.row, p.col, p.diag, p.identity} {
		if len(list) != n {
			return false
		}
	}
	for k, d := range p.diag {
		if d < p.factors.ptr[k] || d >= p.factors.ptr[k+1] {
			return false
		}
	}
	return below(p.row, n) && below(p.col, n) && below(p.identity, n) && len(p.sourceAt) == len(p.source.col) &&
		below(p.sourceAt, entries)
}

// state passes the plan and its factors to the codec, for matrices with the given numbers of rows and entries.
func (f *lu) state(c *snapshot.Codec, rows, entries int) {
	n := 0
	if f.plan != nil {
		n = f.plan.n
	}
	snapshot.Int(c, &n)
	if c.Loading() {
		f.plan, f.ready = nil, false
	}
	if n != 0 && n != rows {
		c.Fail(snapshot.ErrMismatch)
	}
	if n == 0 || c.Failed() {
		return
	}
	p := f.plan
	if c.Loading() {
		p = &elimination{n: n, factors: sparsity{n: n}, source: sparsity{n: n}}
	}
	p.factors.state(c)
	p.source.state(c)
	for _, list := range []*[]int32{&p.row, &p.col, &p.diag, &p.sourceAt, &p.identity} {
		snapshot.List(c, list, snapshot.Int)
	}
	if c.Loading() && !c.Failed() && !p.fits(rows, entries) {
		c.Fail(snapshot.ErrMismatch)
	}
	if c.Failed() {
		return
	}
	if c.Loading() {
		f.adopt(p)
	}
	snapshot.Each(c, f.entries, func(c *snapshot.Codec, e *factor) { snapshot.Float(c, &e.val) })
	snapshot.Each(c, f.rows, func(c *snapshot.Codec, r *pivotRow) { snapshot.Float(c, &r.inv) })
	snapshot.Bool(c, &f.ready)
}

// resize returns x with length n and undefined contents.
func resize(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}
