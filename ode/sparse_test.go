package ode

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// randomSparse returns a pattern with about perRow entries in each row, and values over some orders of magnitude.
func randomSparse(r *rand.Rand, n, perRow int) (sparsity, []float64) {
	p := sparsity{n: n, ptr: []int32{0}}
	var val []float64
	for range n {
		for c := range n {
			if r.IntN(n) < perRow {
				p.col = append(p.col, int32(c))
				val = append(val, r.NormFloat64()*math.Pow(10, float64(r.IntN(5)-2)))
			}
		}
		p.ptr = append(p.ptr, int32(len(p.col)))
	}
	return p, val
}

// dense returns I - s*J in full.
func (p sparsity) dense(val []float64, s float64) *mat.Dense {
	m := mat.NewDense(p.n, p.n, nil)
	for i := range p.n {
		m.Set(i, i, 1)
	}
	for i := range p.n {
		for e := p.ptr[i]; e < p.ptr[i+1]; e++ {
			c := int(p.col[e])
			m.Set(i, c, m.At(i, c)-s*val[e])
		}
	}
	return m
}

func TestSparseSolutionAgreesWithDense(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	for round := range rounds {
		n := 1 + r.IntN(60)
		p, val := randomSparse(r, n, 1+r.IntN(6))
		s := math.Pow(10, float64(r.IntN(7)-3))
		scale := make([]float64, n)
		for i := range scale {
			scale[i] = math.Pow(10, float64(r.IntN(5)-2))
		}
		const spread = 1e4 // of the scale: pivots are good in its units only
		plan := plan(&p, val, s, scale)
		var full mat.LU
		full.Factorize(p.dense(val, s))
		if plan == nil {
			if full.Cond() < 1e12 {
				t.Fatalf("round %d: no pivots for a matrix of condition %g", round, full.Cond())
			}
			continue
		}
		var f lu
		f.adopt(plan)
		for again := range 3 { // the plan serves other values of the pattern
			if again > 0 {
				for i := range val {
					val[i] *= 1 + 0.2*r.NormFloat64()
				}
				full.Factorize(p.dense(val, s))
			}
			if full.Cond() > 1e10 {
				continue
			}
			if !f.factorise(val, s) {
				t.Fatalf("round %d: not factorised at condition %g", round, full.Cond())
			}
			b := make([]float64, n)
			for i := range b {
				b[i] = r.NormFloat64()
			}
			var want mat.VecDense
			if err := full.SolveVecTo(&want, false, mat.NewVecDense(n, append([]float64(nil), b...))); err != nil {
				t.Fatal(err)
			}
			f.solve(b)
			if d := distance(b, want.RawVector().Data); d > 1e-13*spread*full.Cond()*mat.Norm(&want, math.Inf(1)) {
				t.Fatalf("round %d: off by %g at condition %g", round, d, full.Cond())
			}
		}
	}
}

func TestSingularMatrixHasNoPlan(t *testing.T) {
	p := sparsity{n: 2, ptr: []int32{0, 2, 4}, col: []int32{0, 1, 0, 1}} // I - J has equal rows
	if plan(&p, []float64{0, -1, -1, 0}, 1, []float64{1, 1}) != nil {
		t.Error("plan for a singular matrix")
	}
	var f lu
	f.adopt(plan(&p, []float64{0, 0, 0, 0}, 1, []float64{1, 1}))
	if f.factorise([]float64{1, 0, 0, 0}, 1) || f.ready {
		t.Error("factorised a matrix with a zero pivot")
	}
}
