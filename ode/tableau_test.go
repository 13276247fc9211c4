package ode

import (
	"math"
	"math/cmplx"
	"testing"
)

// rooted is a rooted tree, given by the subtrees of its root.
type rooted []rooted

// rootedTrees returns all rooted trees of the orders 1 to most, by order.
func rootedTrees(most int) [][]rooted {
	byOrder := [][]rooted{nil, {{}}}
	for n := 2; n <= most; n++ {
		var found []rooted
		// Add subtrees in falling order and, within an order, falling number, until n-1 vertices are spent.
		var grow func(t rooted, left, order, number int)
		grow = func(t rooted, left, order, number int) {
			if left == 0 {
				found = append(found, append(rooted(nil), t...))
				return
			}
			for o := min(order, left); o >= 1; o-- {
				last := len(byOrder[o]) - 1
				if o == order {
					last = min(last, number)
				}
				for i := last; i >= 0; i-- {
					grow(append(t, byOrder[o][i]), left-o, o, i)
				}
			}
		}
		grow(nil, n-1, n-1, math.MaxInt)
		byOrder = append(byOrder, found)
	}
	return byOrder
}

func (t rooted) order() int {
	n := 1
	for _, s := range t {
		n += s.order()
	}
	return n
}

func (t rooted) density() float64 {
	d := float64(t.order())
	for _, s := range t {
		d *= s.density()
	}
	return d
}

// weights returns the elementary weight of each stage without its last sum: of sum_i b_i weights_i.
func (t rooted) weights(m *tableau) []float64 {
	w := make([]float64, len(m.c))
	for i := range w {
		w[i] = 1
	}
	for _, s := range t {
		inner := s.weights(m)
		for i := range w {
			sum := 0.0
			for j := range inner {
				sum += m.coefficient(i, j) * inner[j]
			}
			w[i] *= sum
		}
	}
	return w
}

func (m *tableau) coefficient(i, j int) float64 {
	switch {
	case j < len(m.a[i]):
		return m.a[i][j]
	case j == i && i > 0:
		return m.gamma
	}
	return 0
}

func (m *tableau) weight(i int) float64 { return m.coefficient(m.stages()-1, i) }

func TestRootedTreesAreComplete(t *testing.T) {
	// Hairer, Norsett & Wanner I, table II.2.1
	for n, want := range []int{0, 1, 1, 2, 4, 9, 20, 48, 115, 286} {
		if got := len(rootedTrees(9)[n]); got != want {
			t.Errorf("%d trees of order %d, want %d", got, n, want)
		}
	}
}

func TestOrderConditions(t *testing.T) {
	trees := rootedTrees(9)
	const tiny = 2e-14
	for _, m := range tableaus {
		t.Run(m.name, func(t *testing.T) {
			residual := func(b func(i int) float64, order int) float64 {
				worst := 0.0
				for _, tree := range trees[order] {
					sum := -1 / tree.density()
					for i, w := range tree.weights(m)[:m.stages()] {
						sum += b(i) * w
					}
					worst = max(worst, math.Abs(sum))
				}
				return worst
			}
			estimates := map[int][]float64{m.embedded: m.e}
			if m.coarse != nil { // the first to the power of two by the second is of order 2 (5+1) - (3+1)
				estimates = map[int][]float64{5: m.e, 3: m.coarse}
				if m.embedded != 2*5-3 {
					t.Errorf("estimates of the orders 5 and 3 for one of order %d", m.embedded)
				}
			}
			for known, e := range estimates {
				embedded := func(i int) float64 { return m.weight(i) - e[i] }
				for order := 1; order <= known; order++ {
					if r := residual(embedded, order); r > tiny {
						t.Errorf("embedded weights: order %d has residual %g", order, r)
					}
				}
				// The stated orders are not too modest, or the error estimate would vanish.
				if r := residual(embedded, known+1); r < 1e-6 {
					t.Errorf("the embedded weights are of order %d, too", known+1)
				}
			}
			for order := 1; order <= m.order; order++ {
				if r := residual(m.weight, order); r > tiny && order <= m.order {
					t.Errorf("weights: order %d has residual %g", order, r)
				}
				for p := range m.degree() { // the coefficient of theta^(p+1) on both sides
					for _, tree := range trees[order] {
						if order > m.inside {
							continue
						}
						sum := 0.0
						if p+1 == order {
							sum = -1 / tree.density()
						}
						size := 1.0
						for i, w := range tree.weights(m) {
							if p < len(m.dense[i]) {
								sum += m.dense[i][p] * w
								size += math.Abs(m.dense[i][p])
							}
						}
						if math.Abs(sum) > 10*tiny*size {
							t.Errorf("dense output: order %d, power %d has residual %g", order, p+1, sum)
						}
					}
				}
			}
			if r := residual(m.weight, m.order+1); r < 1e-6 {
				t.Errorf("the weights are of order %d, too", m.order+1)
			}
		})
	}
}

// grown returns the value after a step of y' = lambda y from 1, with weights b.
func (m *tableau) grown(z complex128, b func(i int) float64) complex128 {
	y := make([]complex128, m.stages())
	end := complex(1, 0)
	for i := range y {
		sum := complex(1, 0)
		for j := range i {
			sum += z * complex(m.coefficient(i, j), 0) * y[j]
		}
		y[i] = sum / (1 - z*complex(m.coefficient(i, i), 0))
		end += z * complex(b(i), 0) * y[i]
	}
	return end
}

func TestStability(t *testing.T) {
	m := kennedyCarpenter
	for e := -3.0; e < 6; e += 0.01 {
		if r := cmplx.Abs(m.grown(complex(0, math.Pow(10, e)), m.weight)); r > 1+1e-12 {
			t.Fatalf("not A-stable: |R(i 1e%g)| = %g", e, r)
		}
	}
	if r := cmplx.Abs(m.grown(-1e10, m.weight)); r > 1e-8 {
		t.Errorf("not L-stable: R(-1e10) = %g", r)
	}
	for theta := 0.05; theta < 1; theta += 0.05 {
		dense := func(i int) float64 {
			d := m.dense[i]
			return theta * (d[0] + theta*(d[1]+theta*(d[2]+theta*d[3])))
		}
		for _, z := range []complex128{-1, -10, -100, -1e4, -1e8} {
			if r := cmplx.Abs(m.grown(z, dense)); r > 1 {
				t.Errorf("dense output at %g grows to %g for z = %g", theta, r, real(z))
			}
		}
	}
	// The growth by which stiffness is detected: that of the weights, and the explicit pair's border of stability.
	x := tsitouras
	for _, z := range []complex128{-3.4, -1 + 2i, 1.5i} {
		got, _ := x.response(z)
		if want := x.grown(z, x.weight); cmplx.Abs(got-want) > 1e-12 {
			t.Errorf("R(%v) = %v, want %v", z, got, want)
		}
	}
	for border, want := range map[complex128]bool{-3.4: false, -3.6: true, 1.2i: false, 1.4i: true} {
		growth, _ := x.response(border)
		if r := cmplx.Abs(growth); (r > 1.001) != want {
			t.Errorf("R(%v) = %v", border, r)
		}
	}
}

// TestConvergence halves a fixed step and measures the order of the end point and of the dense output.
func TestConvergence(t *testing.T) {
	f := func(t float64, y, d []float64) {
		d[0] = y[0] * math.Cos(t)
		d[1] = -y[2] * (1 + y[0] - math.Exp(math.Sin(t)))
		d[2] = y[1]
	}
	exact := func(t float64) []float64 { return []float64{math.Exp(math.Sin(t)), math.Cos(t), math.Sin(t)} }
	for _, pair := range tableaus {
		t.Run(pair.name, func(t *testing.T) {
			var ends, insides []float64
			for _, steps := range []int{16, 32, 64} {
				if pair.order == 8 {
					steps /= 3 // rounding errors
				}
				in := New(f, 3, Options{RelTol: 1e-11})
				in.method = pair
				in.Restart(0, exact(0))
				h := 4 / float64(steps)
				in.weigh()
				if err := in.begin(4); err != nil {
					t.Fatal(err)
				}
				end, inside := 0.0, 0.0
				y := make([]float64, 3)
				for i := range steps {
					in.weigh()
					in.newton.due = true // the steps are large for the tolerance
					if _, o := in.try(h); o != stepped {
						t.Fatal("step fails with outcome", o)
					}
					in.accept(float64(i+1) * h)
					for theta := 0.1; theta < 0.95; theta += 0.1 {
						at := in.From() + theta*h
						in.Interpolate(at, y)
						inside = max(inside, distance(y, exact(at)))
					}
					end = max(end, distance(in.Y(), exact(in.T())))
				}
				ends, insides = append(ends, end), append(insides, inside)
			}
			slope := func(e []float64) float64 { return math.Log2(e[len(e)-2] / e[len(e)-1]) }
			t.Logf("errors at the ends %.2g, inside %.2g", ends, insides)
			if s := slope(ends); math.Abs(s-float64(pair.order)) > 0.3 {
				t.Errorf("order %.2f, want %d", s, pair.order)
			}
			if s := slope(insides); s < float64(pair.inside)-0.2 {
				t.Errorf("dense output of order %.2f, want %d", s, pair.inside)
			}
		})
	}
}

func distance(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	return d
}
