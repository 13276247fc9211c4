package interval

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/expr"
)

// TestJets: while the signals move along parabolas, compiled code that follows frozen sides and cells never leaves its
// bounds, and the mean rate between two times never leaves those of the rate. Both are those of the sides at one time.
func TestJets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	rounds, known, narrow := 20_000, 0, 0
	if testing.Short() {
		rounds = 2000
	}
	slot := func(name string) (int, bool) { i := slices.Index(names, name); return i, i >= 0 }
	for range rounds {
		src := number(r, 1+r.IntN(4))
		e, errs := expr.Parse(src)
		if errs != nil {
			continue
		}
		v := expr.Number(expr.One)
		if len(e.CheckFor(v, scope)) > 0 {
			continue
		}
		compiler := expr.NewCompiler(scope, slot).Hold(len(names))
		code := compiler.CompileFor(e, v)
		var paths [3][3]float64
		for i := range paths {
			paths[i] = [3]float64{math.Round(r.NormFloat64()*8) / 4, r.NormFloat64(), r.NormFloat64()}
			if r.IntN(4) == 0 {
				paths[i][1], paths[i][2] = 0, 0
			}
		}
		signals := make([]float64, len(names)+2*len(compiler.Cells()))
		signals[3], signals[4], signals[5], signals[6] = float64(r.IntN(5)), float64(r.IntN(2)), float64(r.IntN(3)), 1.5
		at := func(time float64) {
			for i, p := range paths {
				signals[i] = p[0] + time*(p[1]+time*p[2])
			}
		}
		at(0.25)
		above := settled(compiler, signals)
		a := r.Float64()
		b := a + []float64{1, 0.1, 1e-3, 1e-9}[r.IntN(4)]
		jets := make([]Jet, len(signals))
		for i, x := range signals {
			jets[i] = Steady(x)
		}
		time := Between(a, b)
		for i, p := range paths {
			rate := Point(2 * p[2]).Times(time).Plus(Point(p[1]))
			jets[i] = Jet{Point(p[0]).Plus(time.Times(Point(p[1]).Plus(time.Times(Point(p[2]))))), rate}
		}
		jet := Enclose(code, jets, above)
		if jet.Bounded() && !jet.NaN {
			known++
		}
		if jet.Rate.Bounded() {
			narrow++
		}
		before, last := math.NaN(), 0.0
		for k := range 9 {
			now := a + (b-a)*float64(k)/8
			at(now)
			x := code.Real(signals, above)
			if !jet.Contains(x) && !(math.IsInf(x, 0) && !jet.Bounded()) {
				t.Fatalf("%s: %v at %v, not in %v; %v", src, x, now, jet, paths)
			}
			size := 1e-9 * (1 + math.Abs(x) + math.Abs(before)) / (now - last)
			if rate := (x - before) / (now - last); k > 0 && rate-rate == 0 && b-a > 1e-6 && !jet.NaN &&
				(rate < jet.Rate.Low-size || rate > jet.Rate.High+size) {
				t.Fatalf("%s: rate %v until %v, not in %v; %v", src, rate, now, jet, paths)
			}
			before, last = x, now
		}
	}
	if known < rounds/3 || narrow < rounds/3 {
		t.Errorf("of %d values, %d were bounded, and the rates of %d", rounds, known, narrow)
	}
}

// settled returns sides that belong to signals, whose cells it updates: sides and cells depend on each other.
func settled(c *expr.Compiler, signals []float64) []bool {
	indicators, cells := c.Indicators(), c.Cells()
	above := make([]bool, len(indicators))
	for range 20 {
		for i := range indicators {
			above[i] = indicators[i].Value(signals, above) >= 0
		}
		for i := range cells {
			cells[i].Update(signals, above)
		}
	}
	return above
}
