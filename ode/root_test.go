package ode

import (
	"math"
	"math/rand/v2"
	"testing"
)

// located runs Root and checks all that it promises.
func located(t *testing.T, g func(float64) float64, a, b float64) (right float64, evaluations int) {
	t.Helper()
	left, right := Root(func(x float64) float64 {
		if x < a || x > b {
			t.Fatalf("evaluated at %v outside [%v, %v]", x, a, b)
		}
		evaluations++
		return g(x)
	}, a, b)
	unit := max(ulp(a), ulp(b))
	if !(a <= left && left < right && right <= b) || right-left > 4*unit {
		t.Fatalf("bracket [%v, %v] in [%v, %v]", left, right, a, b)
	}
	if above := g(b) >= 0; g(right) >= 0 != above || g(left) >= 0 == above {
		t.Fatalf("sides %v and %v, at the ends %v and %v", g(left), g(right), g(a), g(b))
	}
	if most := int(math.Ceil(math.Log2(math.Max((b-a)/(4*unit), 1)))) + 6; evaluations > most {
		t.Fatalf("%d evaluations, bisection would need %d", evaluations, most-4)
	}
	return right, evaluations
}

func TestRoot(t *testing.T) {
	sign := func(at float64) func(float64) float64 {
		return func(x float64) float64 {
			if x < at {
				return -1e-300
			}
			return 1e300
		}
	}
	for _, c := range []struct {
		name  string
		g     func(float64) float64
		a, b  float64
		want  float64
		close float64 // accuracy of the root of g, given rounding
		most  int     // evaluations
	}{
		{"line", func(x float64) float64 { return x - 41376.538 }, 41370, 41390, 41376.538, 0, 12},
		{"fall", func(x float64) float64 { return 9 - x*x }, 0, 7, 3, 0, 16},
		{"cosine", func(x float64) float64 { return math.Cos(x) - x }, 0, 1, 0.7390851332151607, 0, 14},
		{"exponential", func(x float64) float64 { return math.Exp(50*x) - 2 }, 0, 1, math.Ln2 / 50, 0, 20},
		{"steep", func(x float64) float64 { return math.Atan(1e8 * (x - 0.3)) }, 0, 1, 0.3, 0, 60},
		{"cubic", func(x float64) float64 { return math.Pow(x-1, 3) }, 0, 3, 1, 0, 60},
		{"ninth", func(x float64) float64 { return math.Pow(x-1, 9) }, 0, 3, 1, 0, 60},
		{"expanded cubic", func(x float64) float64 { return ((x-3)*x+3)*x - 1 }, 0, 3, 1, 1e-5, 60},
		{"step", sign(2.3), 0, 3, 2.3, 0, 60},
		{"step at the end", sign(3), 0, 3, 3, 0, 60},
		{"step after the start", sign(1e-300), 0, 3, 0, 2e-15, 60},
		{"pole", func(x float64) float64 { return 1 / (x - 0.2) }, 0, 7, 0.2, 0, 60},
		{"edge of the domain", func(x float64) float64 { return math.Sqrt(x - 0.2) }, 0, 7, 0.2, 0, 60},
		{"zero at the end", func(x float64) float64 { return x - 3 }, 0, 3, 3, 0, 12},
		{"zero at the start, falling", func(x float64) float64 { return -x }, 0, 3, 0, 2e-15, 12},
		{"negative times", func(x float64) float64 { return x*x*x + 8 }, -5, 1, -2, 0, 16},
		{"plateau", func(x float64) float64 { return math.Max(x-1, 0) + math.Min(x, 0) - 1e-9 }, -4, 9, 1 + 1e-9, 0, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			right, n := located(t, c.g, c.a, c.b)
			if tol := math.Max(c.close, 8*max(ulp(c.a), ulp(c.b))); math.Abs(right-c.want) > tol {
				t.Errorf("at %v, want %v", right, c.want)
			}
			if n > c.most {
				t.Errorf("%d evaluations", n)
			}
		})
	}
}

func TestRootOfRandomFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	rounds, smooth, spent := 20000, 0, 0
	if testing.Short() {
		rounds = 2000
	}
	for range rounds {
		a := (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(9)))
		b := a + math.Pow(10, float64(r.IntN(9)-6))
		if b-a < 8*max(ulp(a), ulp(b)) {
			continue
		}
		root, power := a+(b-a)*r.Float64(), float64(1+2*r.IntN(4))
		scale := math.Pow(10, float64(r.IntN(40)-20))
		jump, kink := r.Float64() < 0.2, 1.0
		if r.IntN(2) == 0 {
			kink = math.Exp(3 * r.NormFloat64())
		}
		if r.IntN(2) == 0 {
			scale = -scale
		}
		g := func(x float64) float64 {
			u := (x - root) / (b - a)
			v := math.Copysign(math.Pow(math.Abs(u), power), u) * (1 + 0.3*math.Sin(4*u))
			if x > root {
				v *= kink
			}
			if jump {
				v += math.Copysign(0.1, x-root)
			}
			return scale * v
		}
		if (g(a) >= 0) == (g(b) >= 0) {
			continue
		}
		_, n := located(t, g, a, b)
		if power == 1 && kink == 1 && !jump {
			smooth++
			spent += n
		}
	}
	if mean := float64(spent) / float64(smooth); mean > 14 {
		t.Errorf("%.1f evaluations on average for smooth functions", mean)
	}
}

func TestRootRefusesABracketWithoutChange(t *testing.T) {
	for _, c := range [][2]float64{{0, 1}, {1, 1}, {3, 2}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic for", c)
				}
			}()
			Root(func(x float64) float64 { return x - 2 }, c[0], c[1])
		}()
	}
}
