package ode

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The kernels for this processor give the same bits as the portable ones, for all numbers of components and orders,
// with values that are not finite as well.
func TestKernelsAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	odd := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}
	for n := 1; n <= 41; n++ {
		for round := range 10 {
			q := 1 + round%highest
			stride := n + round%3
			vector := func(n int) []float64 {
				x := make([]float64, n)
				for i := range x {
					x[i] = r.NormFloat64()
					if round >= 5 && r.IntN(n) == 0 {
						x[i] = odd[r.IntN(len(odd))]
					}
				}
				return x
			}
			// All kernels use the same arguments, so that the results of one are arguments of the next.
			a, b, c, d, e := vector(n), vector(n), vector(n), vector(n), vector(n)
			low, high := slices.Clone(a), slices.Clone(a) // a is within, perhaps except in one place
			low[r.IntN(n)], high[r.IntN(n)] = math.Inf(-1), odd[r.IntN(len(odd))]
			rows, weights, s := vector(7*stride), vector(q), r.NormFloat64()
			run := func(k *kernels) []string {
				var log []string
				copies := map[*float64][]float64{}
				of := func(x []float64) []float64 {
					if copies[&x[0]] == nil {
						copies[&x[0]] = slices.Clone(x)
					}
					return copies[&x[0]]
				}
				a, b, c, d, e, rows := of(a), of(b), of(c), of(d), of(e), of(rows)
				note := func(name string, results ...any) {
					bits := func(x []float64) (list []string) {
						for _, v := range x {
							if v != v {
								v = math.NaN() // any
							}
							list = append(list, fmt.Sprintf("%016x", math.Float64bits(v)))
						}
						return
					}
					log = append(log, fmt.Sprint(name, results, bits(a), bits(b), bits(c), bits(d), bits(e), bits(rows)))
				}
				note("within", k.within(a, a, a), k.within(a, low, a), k.within(a, low, high))
				note("weigh", k.weigh(a, b, c, d, e, s))
				k.axpy(a, s, b)
				note("axpy")
				k.combine(c, a, rows, stride, weights)
				note("combine")
				k.combine(b, nil, rows, stride, weights)
				note("combine without base")
				k.shift(rows, stride, a, q)
				note("shift")
				note("residual", k.residual(d, b, c, s))
				note("update", k.update(d, a, b, c, e, s))
				note("squares", k.squares(a, e))
				square, image, mixed := k.moments(a, c, e)
				note("moments", square, image, mixed)
				return log
			}
			got, want := run(&kernel), run(&portable)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%d components, order %d:\n%s\nportable:\n%s", n, q, got[i], want[i])
				}
			}
		}
	}
}

// Both versions of the substitution give the same bits, with long rows, rows side by side and rows without entries.
func TestSubstitutionsAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	sideBySide, inParts := 0, 0
	for range 300 {
		n := 1 + r.IntN(60)
		p, val := randomSparse(r, n, 1+r.IntN(8))
		scale := make([]float64, n)
		for i := range scale {
			scale[i] = 1
		}
		plan := plan(&p, val, 0.1, scale)
		var f lu
		if plan == nil {
			continue
		}
		if f.adopt(plan); !f.factorise(val, 0.1) {
			continue
		}
		for _, tri := range []*triangle{&f.lower, &f.upper} {
			for _, b := range tri.bundles {
				if b.rows == abreast {
					sideBySide++
				} else if b.count >= long {
					inParts++
				}
			}
			a, b := make([]float64, n), make([]float64, n)
			for i := range a {
				a[i] = r.NormFloat64()
				b[i] = a[i]
			}
			kernel.substitute(tri, a)
			portable.substitute(tri, b)
			for i := range a {
				if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
					t.Fatalf("unknown %d of %d: %v, portable %v", i, n, a[i], b[i])
				}
			}
		}
	}
	if sideBySide < 100 || inParts < 100 {
		t.Errorf("%d bundles of rows side by side, %d long rows", sideBySide, inParts)
	}
}
