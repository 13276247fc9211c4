package ode

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// heat returns the heat equation in a rod, or in a square plate, of k points per side with cold edges and a source.
func heat(k int, plate bool) (f Func, n int) {
	s := 0.01 * float64((k+1)*(k+1))
	if !plate {
		return func(_ float64, y, d []float64) {
			for i := range d {
				v := -2 * y[i]
				if i > 0 {
					v += y[i-1]
				}
				if i < k-1 {
					v += y[i+1]
				}
				d[i] = s*v + 1
			}
		}, k
	}
	return func(_ float64, y, d []float64) {
		for q := range d {
			v := -4 * y[q]
			if q >= k {
				v += y[q-k]
			}
			if q < k*(k-1) {
				v += y[q+k]
			}
			if q%k > 0 {
				v += y[q-1]
			}
			if q%k < k-1 {
				v += y[q+1]
			}
			d[q] = s*v + 1
		}
	}, k * k
}

// arrow is a chain of pairs that all hang together with the first unknown, which depends on all of them.
func arrow(n int) Func {
	return func(_ float64, y, d []float64) {
		d[0] = -y[0]
		for i := 1; i < n; i++ {
			d[i] = y[0] - float64(2+i%3)*y[i] + 0.5*y[n-i]
			d[0] += y[i] / float64(n)
		}
	}
}

func heated(tb testing.TB, f Func, n int) *Integrator {
	in := New(f, n, Options{Method: Multistep})
	in.Restart(0, make([]float64, n))
	run(tb, in, 10)
	return in
}

// What a large sparse system costs beside its evaluations grows like its size: the evaluations hardly grow, and the
// factors have the entries of a good order of elimination.
func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		name        string
		k           int
		plate       bool
		evaluations int // at most
		entries     int // of the factors, at most
	}{
		{"rod", 500, false, 450, 3*500 - 2}, {"rod", 4000, false, 500, 3*4000 - 2},
		{"plate", 20, true, 500, 22 * 400}, {"plate", 60, true, 500, 45 * 3600},
	} {
		f, n := heat(c.k, c.plate)
		in := heated(t, f, n)
		entries := len(in.newton.lu.plan.factors.col)
		if s := in.Stats(); s.Evaluations > c.evaluations || entries > c.entries {
			t.Errorf("%s of %d: %d evaluations, %d entries, at most %d and %d wanted", c.name, c.k, s.Evaluations, entries,
				c.evaluations, c.entries)
		}
	}
}

// The pattern found by bisection is that found column by column, also if a row depends on all unknowns.
func TestBisectionFindsThePattern(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	check := func(name string, f Func, n int) {
		in := New(f, n, Options{})
		at(in, r)
		j := newJacobian(n)
		j.probe(in, 0, in.y, in.w, 1)
		j.point(in, 0, in.y, in.w, 1)
		y, d := slices.Clone(in.y), make([]float64, n)
		entries := 0
		for c := range n {
			y[c] += j.delta[c]
			f(0, y, d)
			y[c] = in.y[c]
			for i := range n {
				want := (d[i] - j.f0[i]) / j.delta[c]
				got := 0.0
				row := j.pattern.col[j.pattern.ptr[i]:j.pattern.ptr[i+1]]
				if e, found := slices.BinarySearch(row, int32(c)); found {
					got = j.val[int(j.pattern.ptr[i])+e]
					entries++
				}
				if math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
					t.Fatalf("%s: entry %d, %d is %g, want %g", name, i, c, got, want)
				}
			}
		}
		if entries != len(j.pattern.col) {
			t.Errorf("%s: %d entries of %d are seen", name, entries, len(j.pattern.col))
		}
	}
	for range 5 {
		p, _ := randomSparse(r, 150+r.IntN(200), 1+r.IntN(4))
		f, _ := randomSystem(r, p)
		check("random", f, p.n)
	}
	f, n := heat(300, false)
	check("rod", f, n)
	f, n = heat(15, true)
	check("plate", f, n)
	check("arrow", arrow(301), 301)
}

// Rows and columns that hang together with all others are taken last, and the factors have no more entries than needed.
func TestLargeArrowHasNoFill(t *testing.T) {
	const n = 1001
	in := New(arrow(n), n, Options{})
	at(in, rand.New(rand.NewPCG(13, 14)))
	j := newJacobian(n)
	j.probe(in, 0, in.y, in.w, 1)
	p := plan(&j.pattern.sparsity, j.val, 0.1, in.w)
	if got := len(p.factors.col); got != len(j.pattern.col) {
		t.Errorf("%d entries in the factors of a matrix with %d", got, len(j.pattern.col))
	}
}

// BenchmarkGrowth integrates the heat equation in rods and plates of growing size.
func BenchmarkGrowth(b *testing.B) {
	run := func(name string, k int, plate bool) {
		f, n := heat(k, plate)
		b.Run(fmt.Sprintf("%s/states=%d", name, n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				in := heated(b, f, n)
				b.ReportMetric(float64(in.Stats().Evaluations), "rhs/op")
				b.ReportMetric(float64(len(in.newton.lu.plan.factors.col))/float64(n), "entries/state")
			}
		})
	}
	for _, n := range []int{1000, 3000, 10_000, 30_000} {
		run("rod", n, false)
	}
	for _, k := range []int{32, 55, 100} {
		run("plate", k, true)
	}
}
