package temporal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomTrace is a trace of steps and lines, whose tasks change between places of one time.
func (r *maker) randomTrace() *Trace {
	tr := &Trace{Signals: map[string][]float64{}, Tasks: map[string][]bool{}, Partial: r.IntN(3) == 0}
	for at, n := 0.0, 2+r.IntN(8); n > 0; n-- {
		last := len(tr.T) - 1
		for _, name := range []string{"x", "y"} {
			tr.Signals[name] = append(tr.Signals[name], float64(r.IntN(7))/2)
		}
		for _, name := range taskNames {
			v := r.IntN(2) == 0
			if last >= 0 && tr.T[last] < at {
				v = tr.Tasks[name][last]
			}
			tr.Tasks[name] = append(tr.Tasks[name], v)
		}
		tr.T = append(tr.T, at)
		at += float64(r.IntN(3)) / 2
	}
	return tr
}

// TestRobustness: the margin of a property is the least value of its signal for "always", the greatest for
// "eventually", the first for others; and a property is decided at the first place up to which the trace decides it.
func TestRobustness(t *testing.T) {
	r := &maker{Rand: rand.New(rand.NewPCG(8, 7)), signals: true, unit: 0.5}
	cases := 5_000
	if testing.Short() {
		cases = 1_000
	}
	count := map[string]int{}
	for range cases {
		head, text := r.pick("always", "never", "eventually", ""), "("+r.property(1+r.IntN(2))+")"
		tr, p := r.randomTrace(), read(t, head+text)
		j, e1 := tr.Judge(p.Formula)
		got, e2 := tr.Robustness(p.Formula)
		if e1 != nil || e2 != nil {
			t.Fatal(e1, e2)
		}
		if got.Always != (head == "always" || head == "never") && head != "" || got.Eventually != (head == "eventually") && head != "" {
			t.Fatalf("%s%s: always %v, eventually %v", head, text, got.Always, got.Eventually)
		}
		if !slices.IsSorted(got.T) || len(got.T) != len(got.V) {
			t.Fatalf("%s%s: %v", head, text, got)
		}
		margin := got.V[0]
		switch {
		case got.Always:
			margin = slices.Min(got.V)
		case got.Eventually:
			margin = slices.Max(got.V)
		}
		// The end of the part that is recorded has the value of what is not known: it is not that of a place.
		if margin != j.Margin && !tr.Partial || j.Verdict == Violated && margin > 0 || j.Verdict == Satisfied && margin < 0 {
			t.Fatalf("%s%s is %v with margin %g, but the signal has %g\n%+v\n%+v", head, text, j.Verdict, j.Margin, margin, got, tr)
		}
		want := math.NaN()
		for n := 1; n <= len(tr.T) && j.Verdict != Open && want != want; n++ {
			part, err := tr.beginning(n).Judge(p.Formula)
			if err != nil {
				t.Fatal(err)
			}
			if part.Verdict != Open || n == len(tr.T) {
				want = tr.T[n-1]
			}
		}
		if got.Decided != want && (got.Decided == got.Decided || want == want) {
			t.Fatalf("%s%s is decided at %g, not %g\n%+v", head, text, got.Decided, want, tr)
		}
		if last := got.T[len(got.T)-1]; !got.Always && !got.Eventually && last > got.Decided {
			t.Fatalf("%s%s is decided at %g, but its signal goes on to %g", head, text, got.Decided, last)
		}
		count[j.Verdict.String()]++
		if got.Always {
			count["always"]++
		}
		if got.Eventually {
			count["eventually"]++
		}
	}
	t.Log(count)
	for _, of := range []string{"satisfied", "violated", "open", "always", "eventually"} {
		if count[of] < cases/50 {
			t.Errorf("only %d %s", count[of], of)
		}
	}
}
