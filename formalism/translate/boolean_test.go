package translate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/expr"
)

var letters = []string{"a", "b", "c", "d", "e", "f"}

// truth evaluates a formula for every word by the compiler of expressions.
func truth(t *testing.T, text string, n int) table {
	t.Helper()
	f := make(table, 1<<n)
	if text == "" {
		text = "true"
	}
	e, err := expr.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	slot := func(name string) (int, bool) { i := slices.Index(letters, name); return i, i >= 0 }
	code := expr.NewCompiler(nil, slot).CompileFor(e, expr.Variable{Type: expr.Boolean})
	signals := make([]float64, len(letters))
	for w := range f {
		for i := range n {
			signals[i] = float64(w >> i & 1)
		}
		f[w] = code.Bool(signals, nil)
	}
	return f
}

// TestSum holds on random functions what sum promises: between the bounds, and nothing can be left out.
func TestSum(t *testing.T) {
	rounds := 20000
	if testing.Short() {
		rounds = 2000
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(1, uint64(seed)))
		n := r.IntN(len(letters) + 1)
		must, may := make(table, 1<<n), make(table, 1<<n)
		for w := range must {
			must[w] = r.IntN(3) == 0
			may[w] = must[w] || r.IntN(4) == 0
		}
		products, f := sum(must, may, n)
		text := formula(products, letters[:n])
		for w, holds := range truth(t, text, n) {
			if holds != f[w] || must[w] && !holds || holds && !may[w] {
				t.Fatalf("seed %d: %s is wrong at %b", seed, text, w)
			}
		}
		for i := range products {
			rest := append(append([]product{}, products[:i]...), products[i+1:]...)
			if covers(rest, must) {
				t.Fatalf("seed %d: a product of %s can be left out", seed, text)
			}
			for bit := range n {
				p := products[i]
				if p.yes |= 1 << bit; p.yes != products[i].yes && p.no>>bit&1 == 0 {
					continue
				}
				p = product{products[i].yes &^ (1 << bit), products[i].no &^ (1 << bit)}
				if inside([]product{p}, may) {
					t.Fatalf("seed %d: variable %s of a product of %s can be left out", seed, letters[bit], text)
				}
			}
		}
	}
}

func holdsIn(products []product, w int) bool {
	for _, p := range products {
		if uint32(w)&p.yes == p.yes && uint32(w)&p.no == 0 {
			return true
		}
	}
	return false
}

func covers(products []product, f table) bool {
	for w, must := range f {
		if must && !holdsIn(products, w) {
			return false
		}
	}
	return true
}

func inside(products []product, f table) bool {
	for w, may := range f {
		if !may && holdsIn(products, w) {
			return false
		}
	}
	return true
}

func TestFormula(t *testing.T) {
	for want, products := range map[string][]product{
		"false":                        nil,
		"":                             {{}},
		"a and not b":                  {{yes: 1, no: 2}},
		"a or b":                       {{yes: 1}, {yes: 2}},
		"not (a and b)":                {{no: 1}, {no: 2}},
		"a and (b or c)":               {{yes: 3}, {yes: 5}},
		"not a and not (b and c)":      {{no: 3}, {no: 5}},
		"a and b or not a and not b":   {{yes: 3}, {no: 3}},
		"a and (b and not c or not b)": {{yes: 3, no: 4}, {yes: 1, no: 2}},
	} {
		if got := formula(products, letters); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
