package ode

import (
	"cmp"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/snapshot"
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
	source   []int32 // of each entry of the factors: index of the matrix's entry there, -1 if it has none
	identity []int32 // of each pivot row: index of the identity's entry in the factors
}

// lu is the LU factorisation of I - s*J.
type lu struct {
	plan         *elimination
	val          []float64 // entries of the factors; those of U are divided by their pivots only in solving
	inv          []float64 // reciprocals of the pivots
	lower, upper triangle
	work         []float64
	inPlace      bool // all pivots are on the diagonal
	ready        bool
}

// triangle is L or U in the order in which solving reads it. Rows with equally many entries that do not depend on each
// other are solved side by side.
type triangle struct {
	bundles []bundle
	col     []int32   // of the entries, bundle by bundle; in a bundle the first entries of all rows come first
	val     []float64 // of the entries
	inv     []float64 // reciprocals of the pivots, 1 in L
	at      []int32   // of the entries in the factors
	pivots  []int32   // of the rows
}

// bundle is one row, or four rows side by side, of L or U.
type bundle struct {
	row   [abreast]int32 // columns of the pivots
	rows  int32          // 1 or abreast
	count int32          // entries of each row
}

const (
	abreast = 4
	long    = 12 // entries from which a row is summed up in four independent parts
)

// ordering is the state of the choice of pivots: what is left of the matrix, by rows and by columns.
type ordering struct {
	cols    [][]int32   // columns of each row
	rows    [][]inRow   // entries of each column
	low     [][]int32   // of each row: the columns pivoted before it, in their order
	best    []candidate // of each column
	tree    []int32     // tournament of the columns: the winner of 2i and 2i+1 is at i
	touched []int32     // columns whose candidates are outdated
	stamp   []int32     // when a column was touched last
	at      []int32     // scratch: place of each row in a column, from 1; 0 if it has none
}

// inRow is an entry of a column.
type inRow struct {
	row int32
	val float64
}

// candidate is the acceptable pivot of a column with the minimum Markowitz count, the largest among equals.
type candidate struct {
	count int
	size  float64
	row   int32 // or none, or unknown: count is what it is at best, unless a row has a single entry
}

const (
	none, unknown = -1, -2

	// In rows and columns with more entries than this, candidates are not kept exact, as each pivot would touch all of
	// them: one dense row would make the time quadratic.
	dense = 100
)

// plan chooses the pivots for I - s*J, with entry (i, j) scaled by scale[j]/scale[i]. Its time and memory grow with the
// number of entries of the factors, and with the lengths of the rows and columns that meet at the pivots. It returns
// nil if the matrix is singular.
func plan(j *sparsity, val []float64, s float64, scale []float64) *elimination {
	n := j.n
	o := newOrdering(j, val, s, scale)
	p := &elimination{n: n, diag: make([]int32, n)}
	p.factors = sparsity{n: n, ptr: make([]int32, 1, n+1)}
	colStep := make([]int32, n)
	behind := make([][]int32, n)
	for k := range n {
		r, c := o.choose()
		if r < 0 {
			return nil
		}
		p.row, p.col = append(p.row, r), append(p.col, c)
		colStep[c] = int32(k)
		behind[k] = o.eliminate(r, c, int32(k+1))
	}
	for k, r := range p.row {
		for _, c := range o.low[r] {
			p.factors.col = append(p.factors.col, colStep[c])
		}
		p.diag[k] = int32(len(p.factors.col))
		p.factors.col = append(p.factors.col, int32(k))
		for _, c := range behind[k] {
			p.factors.col = append(p.factors.col, colStep[c])
		}
		slices.Sort(p.factors.col[p.diag[k]+1:])
		p.factors.ptr = append(p.factors.ptr, int32(len(p.factors.col)))
	}
	p.read(j, colStep)
	return p
}

func newOrdering(j *sparsity, val []float64, s float64, scale []float64) *ordering {
	n := j.n
	o := &ordering{cols: make([][]int32, n), rows: make([][]inRow, n), low: make([][]int32, n),
		best: make([]candidate, n), stamp: make([]int32, n), at: make([]int32, n)}
	for i := range n {
		add := func(c int, v float64) {
			o.cols[i], o.rows[c] = append(o.cols[i], int32(c)), append(o.rows[c], inRow{int32(i), v})
		}
		identity := 1.0
		for e := j.ptr[i]; e < j.ptr[i+1]; e++ {
			c := int(j.col[e])
			if c > i && identity != 0 {
				add(i, identity)
				identity = 0
			}
			v := s * val[e] * scale[c] / scale[i]
			if c == i {
				v, identity = v-identity, 0
			}
			add(c, -v)
		}
		if identity != 0 {
			add(i, identity)
		}
	}
	size := 1
	for size < n {
		size *= 2
	}
	o.tree = make([]int32, 2*size)
	for c := range size {
		o.tree[size+c] = none
		if c < n {
			o.tree[size+c] = int32(c)
			o.judge(int32(c), len(o.rows[c]) > dense)
		}
	}
	for i := size - 1; i > 0; i-- {
		o.tree[i] = o.better(o.tree[2*i], o.tree[2*i+1])
	}
	return o
}

// judge finds the candidate of a column; roughly, only the count of one in a row with two entries.
func (o *ordering) judge(c int32, roughly bool) {
	const threshold = 0.1
	rows, b := o.rows[c], &o.best[c]
	if roughly {
		*b = candidate{count: len(rows) - 1, size: math.Inf(1), row: unknown}
		return
	}
	*b = candidate{count: math.MaxInt, row: none}
	top := 0.0
	for _, x := range rows {
		top = max(top, math.Abs(x.val))
	}
	for _, x := range rows {
		v := math.Abs(x.val)
		if v == 0 || !(v >= threshold*top) {
			continue
		}
		count := (len(o.cols[x.row]) - 1) * (len(rows) - 1)
		if count < b.count || count == b.count && v > b.size {
			*b = candidate{count, v, x.row}
		}
	}
}

// better returns the column with the better candidate, the first of equal ones.
func (o *ordering) better(a, b int32) int32 {
	switch {
	case b < 0 || a < 0:
		return max(a, b)
	case o.best[b].count < o.best[a].count || o.best[b].count == o.best[a].count && o.best[b].size > o.best[a].size:
		return b
	}
	return a
}

// play repeats the games of a column.
func (o *ordering) play(c int32) {
	for i := (len(o.tree)/2 + int(c)) / 2; i > 0; i /= 2 {
		o.tree[i] = o.better(o.tree[2*i], o.tree[2*i+1])
	}
}

// choose returns the best candidate; no row if there is none.
func (o *ordering) choose() (row, col int32) {
	for {
		c := o.tree[1]
		if o.best[c].row != unknown {
			return o.best[c].row, c
		}
		o.judge(c, false)
		o.play(c)
	}
}

// touch marks the candidate of a column as outdated at a step.
func (o *ordering) touch(c, step int32) {
	if o.stamp[c] != step {
		o.stamp[c] = step
		o.touched = append(o.touched, c)
	}
}

// eliminate takes the pivot row and column out of the matrix. It returns the other columns of the row.
func (o *ordering) eliminate(r, c, step int32) (behind []int32) {
	drop := func(q int32) float64 { // the entry of the pivot row from a column
		i := slices.IndexFunc(o.rows[q], func(x inRow) bool { return x.row == r })
		v := o.rows[q][i].val
		o.rows[q] = slices.Delete(o.rows[q], i, i+1)
		return v
	}
	pivot := drop(c)
	left := o.rows[c]
	o.rows[c] = nil
	without := func(list []int32) []int32 {
		i := slices.Index(list, c)
		return slices.Delete(list, i, i+1)
	}
	o.cols[r] = without(o.cols[r])
	behind = o.cols[r]
	for k := range left {
		i := left[k].row
		o.cols[i], o.low[i] = without(o.cols[i]), append(o.low[i], c)
		left[k].val /= pivot
	}
	o.touched = append(o.touched[:0], c)
	o.stamp[c] = step
	for _, q := range behind {
		u := drop(q)
		o.touch(q, step)
		for k, x := range o.rows[q] {
			o.at[x.row] = int32(k + 1)
		}
		for _, l := range left {
			if k := o.at[l.row]; k > 0 {
				o.rows[q][k-1].val -= l.val * u
			} else {
				o.rows[q], o.cols[l.row] = append(o.rows[q], inRow{l.row, -l.val * u}), append(o.cols[l.row], q)
			}
		}
		for _, x := range o.rows[q] {
			o.at[x.row] = 0
		}
	}
	for _, l := range left {
		if len(o.cols[l.row]) <= dense {
			for _, q := range o.cols[l.row] {
				o.touch(q, step)
			}
		}
	}
	for _, q := range o.touched {
		o.judge(q, len(o.rows[q]) > dense)
		o.play(q)
	}
	return behind
}

// read finds the entries of the matrix in the factors.
func (p *elimination) read(j *sparsity, colStep []int32) {
	p.source = make([]int32, len(p.factors.col))
	for e := range p.source {
		p.source[e] = -1
	}
	at := make([]int32, p.n) // of each column in the row of the factors
	for k, r := range p.row {
		for e := p.factors.ptr[k]; e < p.factors.ptr[k+1]; e++ {
			at[p.factors.col[e]] = e
		}
		for e := j.ptr[r]; e < j.ptr[r+1]; e++ {
			p.source[at[colStep[j.col[e]]]] = e
		}
		p.identity = append(p.identity, at[colStep[r]])
	}
}

// adopt allocates memory for factorisations by plan p.
func (f *lu) adopt(p *elimination) {
	n := p.n
	*f = lu{plan: p, val: make([]float64, len(p.factors.col)), inv: make([]float64, n), work: make([]float64, n),
		inPlace: slices.Equal(p.row, p.col)}
	lower, upper := make([]span, 0, n), make([]span, 0, n)
	for k := range int32(n) {
		if from := p.factors.ptr[k]; from < p.diag[k] {
			lower = append(lower, span{pivot: k, from: from, to: p.diag[k]})
		}
		last := int32(n) - 1 - k
		upper = append(upper, span{pivot: last, from: p.diag[last] + 1, to: p.factors.ptr[last+1]})
	}
	f.lower, f.upper = newTriangle(p, lower), newTriangle(p, upper)
	for i := range f.lower.inv {
		f.lower.inv[i] = 1
	}
}

// span is a part of the row of a pivot in the factors. Its level is 0 if it depends on no row of the triangle, and
// otherwise one more than the highest level of those rows.
type span struct{ pivot, from, to, level int32 }

func (s span) count() int32 { return s.to - s.from }

// newTriangle arranges rows, which are given in an order in which they can be solved, by levels and lengths.
func newTriangle(p *elimination, rows []span) (t triangle) {
	above := make([]int32, p.n) // of each pivot's row: its level + 1; 0 if it is not of the triangle
	for i := range rows {
		r := &rows[i]
		for _, c := range p.factors.col[r.from:r.to] {
			r.level = max(r.level, above[c])
		}
		above[r.pivot] = r.level + 1
	}
	slices.SortStableFunc(rows, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.count(), b.count()))
	})
	for len(rows) > 0 {
		b := bundle{rows: 1, count: rows[0].count()}
		if len(rows) >= abreast && b.count < long {
			if last := rows[abreast-1]; last.level == rows[0].level && last.count() == b.count {
				b.rows = abreast
			}
		}
		for i, r := range rows[:b.rows] {
			b.row[i] = p.col[r.pivot]
			t.pivots = append(t.pivots, r.pivot)
		}
		for e := range b.count {
			for _, r := range rows[:b.rows] {
				t.at = append(t.at, r.from+e)
				t.col = append(t.col, p.col[p.factors.col[r.from+e]])
			}
		}
		t.bundles, rows = append(t.bundles, b), rows[b.rows:]
	}
	t.val, t.inv = make([]float64, len(t.at)), make([]float64, len(t.pivots))
	return t
}

// factorise computes L and U of I - s*J and reports whether all pivots are usable.
func (f *lu) factorise(val []float64, s float64) bool {
	p, w := f.plan, f.work
	f.ready = false
	for e, at := range p.source {
		v := 0.0
		if at >= 0 {
			v = -s * val[at]
		}
		f.val[e] = v
	}
	for _, e := range p.identity {
		f.val[e]++
	}
	for k, diag := range p.diag {
		if from, to := p.factors.ptr[k], p.factors.ptr[k+1]; from < diag {
			row, col := f.val[from:to], p.factors.col[from:to]
			for i, c := range col {
				w[c] = row[i]
			}
			for _, c := range col[:diag-from] {
				l := w[c] * f.inv[c]
				w[c] = l
				if l == 0 {
					continue
				}
				right, end := p.diag[c]+1, p.factors.ptr[c+1]
				values := f.val[right:end]
				for i, u := range p.factors.col[right:end] {
					w[u] -= l * values[i]
				}
			}
			for i, c := range col {
				row[i] = w[c]
			}
		}
		inv := 1 / f.val[diag]
		if inv-inv != 0 || inv == 0 {
			return false
		}
		f.inv[k] = inv
	}
	f.arrange()
	f.ready = true
	return true
}

// arrange copies the factors into the order of solving.
func (f *lu) arrange() {
	for _, t := range []*triangle{&f.lower, &f.upper} {
		for i, e := range t.at {
			t.val[i] = f.val[e]
		}
	}
	for i, k := range f.upper.pivots {
		f.upper.inv[i] = f.inv[k]
	}
}

// solve overwrites b with the solution of (I - s*J) x = b.
func (f *lu) solve(b []float64) {
	x := b
	if !f.inPlace {
		x = f.work
		for k, c := range f.plan.col {
			x[c] = b[f.plan.row[k]]
		}
	}
	kernel.substitute(&f.lower, x)
	kernel.substitute(&f.upper, x)
	if !f.inPlace {
		copy(b, x)
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
	none := func(i int32) bool { return i < -1 || int(i) >= entries }
	return below(p.row, n) && below(p.col, n) && below(p.identity, len(p.factors.col)) &&
		len(p.source) == len(p.factors.col) && !slices.ContainsFunc(p.source, none)
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
		p = &elimination{n: n, factors: sparsity{n: n}}
	}
	p.factors.state(c)
	for _, list := range []*[]int32{&p.row, &p.col, &p.diag, &p.source, &p.identity} {
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
	snapshot.Floats(c, f.val, f.inv)
	snapshot.Bool(c, &f.ready)
	if c.Loading() && f.ready {
		f.arrange()
	}
}
