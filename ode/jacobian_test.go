package ode

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomSystem returns a non-linear function of the given pattern and its exact Jacobian, row by row.
func randomSystem(r *rand.Rand, p sparsity) (Func, func(y []float64) [][]float64) {
	a, b := make([]float64, len(p.col)), make([]float64, len(p.col))
	for e := range a {
		a[e], b[e] = r.NormFloat64(), r.NormFloat64()
	}
	f := func(_ float64, y, d []float64) {
		for i := range d {
			d[i] = 0
			for e := p.ptr[i]; e < p.ptr[i+1]; e++ {
				d[i] += a[e]*y[p.col[e]] + b[e]*math.Sin(y[p.col[e]])
			}
		}
	}
	return f, func(y []float64) [][]float64 {
		j := make([][]float64, p.n)
		for i := range j {
			j[i] = make([]float64, p.n)
			for e := p.ptr[i]; e < p.ptr[i+1]; e++ {
				c := p.col[e]
				j[i][c] = a[e] + b[e]*math.Cos(y[c])
			}
		}
		return j
	}
}

func (j *jacobian) full() [][]float64 {
	p := j.pattern
	m := make([][]float64, p.n)
	for i := range m {
		m[i] = make([]float64, p.n)
		for e := p.ptr[i]; e < p.ptr[i+1]; e++ {
			m[i][p.col[e]] = j.val[e]
		}
	}
	return m
}

func at(in *Integrator, r *rand.Rand) {
	for i := range in.y {
		in.y[i] = r.NormFloat64()
	}
	in.weigh()
}

func TestColouredJacobianEqualsDense(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		n := 5 + r.IntN(60)
		p, _ := randomSparse(r, n, 1+r.IntN(4))
		f, exact := randomSystem(r, p)
		in := New(f, n, Options{})
		j := newJacobian(n)
		at(in, r)
		if !j.probe(in, 0, in.y, in.w, 1) || j.probe(in, 0, in.y, in.w, 1) {
			t.Fatal("the first probing must find the pattern, the second nothing new")
		}
		probed := j.full()
		j.refresh(in, 0, in.y, in.w, 1)
		refreshed := j.full()
		at(in, r) // elsewhere, too
		before := in.Stats().Evaluations
		j.refresh(in, 0, in.y, in.w, 1)
		if got, want := in.Stats().Evaluations-before, 1+len(j.pattern.groups); got != want {
			t.Errorf("%d evaluations, want %d", got, want)
		}
		elsewhere, want := j.full(), exact(in.y)
		for i := range n {
			if d := distance(probed[i], refreshed[i]); d > 1e-12 {
				t.Fatalf("row %d: refreshed differs from probed by %g", i, d)
			}
			if d := distance(elsewhere[i], want[i]); d > 1e-5 {
				t.Fatalf("row %d: off by %g", i, d)
			}
		}
	}
}

func TestLongRowsDoNotSpoilTheGroups(t *testing.T) {
	// Pairs under one common unknown that all feed the last one: a group per column, if the last row counted.
	const n = 62
	f := func(_ float64, y, d []float64) {
		d[0], d[n-1] = -y[0], 0
		for i := 1; i < n-1; i += 2 {
			d[i] = y[0] - y[i]*y[i+1]
			d[i+1] = y[i] - y[i+1]
			d[n-1] += y[i] * y[i+1]
		}
	}
	r := rand.New(rand.NewPCG(9, 10))
	in := New(f, n, Options{})
	j := newJacobian(n)
	at(in, r)
	j.probe(in, 0, in.y, in.w, 1)
	if got := len(j.pattern.groups); got > 4 {
		t.Errorf("%d groups", got)
	}
	at(in, r)
	j.refresh(in, 0, in.y, in.w, 1)
	// The last row explains what has been seen: the changes of whole groups.
	y, a, b := make([]float64, n), make([]float64, n), make([]float64, n)
	for g, columns := range j.pattern.groups {
		copy(y, in.y)
		want := 0.0
		for _, c := range columns {
			y[c] += j.delta[c]
			want += j.full()[n-1][c] * j.delta[c]
		}
		f(0, in.y, a)
		f(0, y, b)
		if got := b[n-1] - a[n-1]; math.Abs(got-want) > 1e-6*math.Abs(got)+1e-14 {
			t.Errorf("group %d changes the long row by %g, its entries say %g", g, got, want)
		}
	}
}

func TestPatternGrowsWhenThingsWakeUp(t *testing.T) {
	// A chain of unknowns that is at rest in the dark: its couplings appear at t = 100.
	const n = 30
	f := func(t float64, y, d []float64) {
		light := 0.0
		if t > 100 {
			light = 50 * (1 - math.Exp(100-t))
		}
		for i := range n {
			d[i] = 40*(math.Cos(0.1*t+float64(i))-y[i]) + light*(y[(i+1)%n]-y[i]+y[(i+7)%n]*y[(i+11)%n]-y[i])
		}
	}
	in := New(f, n, Options{Method: Implicit})
	y0 := make([]float64, n)
	for i := range y0 {
		y0[i] = math.Cos(float64(i))
	}
	in.Restart(0, y0)
	run(t, in, 100)
	dark := len(in.newton.jac.pattern.col)
	run(t, in, 200)
	if got := len(in.newton.jac.pattern.col); dark != n || got != 4*n {
		t.Errorf("%d entries in the dark, %d in the light, want %d and %d", dark, got, n, 4*n)
	}
	if s := in.Stats(); s.Evaluations > 20*s.Steps {
		t.Errorf("%+v", s)
	}
}

func TestJacobianAtTheEdgeOfTheDomain(t *testing.T) {
	// Differences that leave the function's domain give no entry instead of a NaN.
	f := func(_ float64, y, d []float64) {
		for i := range d {
			d[i] = math.Sqrt(1 - y[i])
		}
	}
	const n = 20
	in := New(f, n, Options{})
	for i := range in.y {
		in.y[i] = 1
	}
	in.weigh()
	j := newJacobian(n)
	j.probe(in, 0, in.y, in.w, 1)
	if i := notFinite(j.val); i >= 0 {
		t.Errorf("entry %d is %g", i, j.val[i])
	}
}

func TestSpectralRadius(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Func
		n    int
		want float64
	}{
		{"real", func(_ float64, y, d []float64) { d[0], d[1], d[2] = -3*y[0], -100*y[1]+y[0], y[2] }, 3, 100},
		{"complex", func(_ float64, y, d []float64) { d[0], d[1], d[2] = -3*y[0]+40*y[1], -40*y[0]-3*y[1], -y[2] }, 3, 40.1},
		{"zero", func(_ float64, _, d []float64) { d[0], d[1], d[2] = 1, 2, 3 }, 3, 0},
	} {
		in := New(c.f, c.n, Options{})
		in.weigh()
		j := newJacobian(c.n)
		j.probe(in, 0, in.y, in.w, 1)
		if got := j.radius(in.w); math.Abs(got-c.want) > 0.2*c.want {
			t.Errorf("%s: %g, want about %g", c.name, got, c.want)
		}
	}
}
