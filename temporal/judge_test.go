package temporal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
)

var taskNames = []string{"a", "b", "c"}

func read(t testing.TB, text string) *Property {
	t.Helper()
	p, mistakes := Read(text, expr.TaskNames(taskNames), nil)
	for _, m := range mistakes {
		t.Fatalf("%s: %s at %d", text, m.Text, m.Offset)
	}
	return p
}

// maker writes random properties over the tasks a, b, c and the signals x, y.
type maker struct {
	*rand.Rand
	signals bool
	unit    float64 // durations are multiples of it
}

func (r *maker) pick(words ...string) string { return words[r.IntN(len(words))] }

func (r *maker) unary(depth int) string {
	if depth == 0 || r.IntN(4) == 0 {
		if r.signals && r.IntN(3) > 0 {
			return r.pick("x >= 1", "y < x", "abs(x - 1) <= y", "x > 2", "y <= 1.5", "(x >= y or a)")
		}
		return r.pick(taskNames...)
	}
	d := fmt.Sprintf("%g [s]", r.unit*float64(r.IntN(12)))
	of := "(" + r.property(depth-1) + ")"
	return r.pick("always "+of, "eventually "+of, "never "+of, "not "+of, of, "within "+d+" "+of, "for "+d+" "+of,
		"never both("+r.property(depth-1)+", "+r.unary(depth-1)+")")
}

func (r *maker) property(depth int) string {
	if depth == 0 {
		return r.unary(0)
	}
	x, y := "("+r.unary(depth-1)+")", r.unary(depth-1)
	switch r.IntN(12) {
	case 0:
		return "after " + x + ", " + y
	case 1:
		return "after " + r.unary(0) + " before " + r.unary(0) + ", " + r.pick("always ", "never ") + r.unary(0)
	}
	return r.pick(x+" until "+y, x+" before "+y, x+" and "+y, x+" or "+y, x+" -> "+y, y)
}

// slow is the definition of the margin on a finite list of places, as dumb as it can be.
type slow struct {
	*judge
	places []point
	curves map[*expr.Expr]curve
}

// definition returns the definition on a trace: at its places, and in steps between them.
func definition(tr *Trace, step float64) *slow {
	s := &slow{judge: &judge{Trace: tr}, curves: map[*expr.Expr]curve{}}
	k := 0
	for i, at := range tr.T {
		if k++; i == 0 || tr.T[i-1] != at {
			k = 0
			if i > 0 {
				n := math.Round((at - tr.T[i-1]) / step)
				for q := 1.0; q < n; q++ {
					s.places = append(s.places, point{t: tr.T[i-1] + q*step})
				}
			}
		}
		s.places = append(s.places, point{t: at, k: k})
	}
	return s
}

// bounds returns the margins of the worst and the best continuation.
func (s *slow) bounds(f *Formula) (low, high float64) {
	s.beyond = math.Inf(-1)
	low = s.margin(f, 0)
	s.beyond = math.Inf(1)
	return low, s.margin(f, 0)
}

func (s *slow) value(e *expr.Expr, i int) float64 {
	c, ok := s.curves[e]
	if !ok {
		var err error
		if c, err = s.condition(e); err != nil {
			panic(err)
		}
		s.curves[e] = c
	}
	return c.at(s.places[i].t, s.places[i].k)
}

func (s *slow) margin(f *Formula, i int) float64 {
	switch f.Op {
	case Condition:
		return s.value(f.Cond, i)
	case Not:
		o := *s
		o.judge = &judge{Trace: s.Trace, beyond: -s.beyond}
		return -o.margin(f.Args[0], i)
	case And:
		return min(s.margin(f.Args[0], i), s.margin(f.Args[1], i))
	case Or:
		return max(s.margin(f.Args[0], i), s.margin(f.Args[1], i))
	case Within, For:
		best := math.Inf(-1)
		if f.Op == For {
			best = math.Inf(1)
		}
		take := func(v float64) {
			if f.Op == Within {
				best = max(best, v)
			} else {
				best = min(best, v)
			}
		}
		for q := i; q < len(s.places) && s.places[q].t-s.places[i].t <= f.Bound; q++ {
			take(s.margin(f.Args[0], q))
		}
		if s.places[i].t+f.Bound > s.places[len(s.places)-1].t {
			take(s.beyond)
		}
		return best
	}
	best, until := math.Inf(-1), math.Inf(1)
	for q := i; q < len(s.places); q++ {
		best = max(best, min(until, s.margin(f.Args[1], q)))
		until = min(until, s.margin(f.Args[0], q))
	}
	if f.Op == Weak {
		best = max(best, until)
	}
	return best
}

// structure is the truth of a condition at place k of the trace, or later before the next one. A relation whose margin is
// 0 at a time at which it changes is as a positive formula needs it.
func (s *slow) structure(l expr.Logic, k int, at, positive bool) bool {
	switch l.Op {
	case expr.LogicTruth:
		return l.Value
	case expr.LogicProposition:
		return s.Tasks[l.Text][k]
	case expr.LogicNot:
		return !s.structure(l.Args[0], k, at, !positive)
	case expr.LogicAnd, expr.LogicOr:
		decides := func(a expr.Logic) bool { return s.structure(a, k, at, positive) == (l.Op == expr.LogicOr) }
		return slices.ContainsFunc(l.Args, decides) == (l.Op == expr.LogicOr)
	}
	c, err := s.operation(l)
	if err != nil {
		panic(err)
	}
	holds := func(i int) bool { return c[i].v > 0 || c[i].v == 0 && !l.Strict }
	for i := range s.T {
		if at && s.T[i] == s.T[k] && holds(i) != holds(k) && c[k].v == 0 {
			return positive
		}
	}
	return holds(k)
}

// truth is the definition of the truth at a place, where values and tasks do not change between places; later is the
// truth of what lies beyond the end.
func (s *slow) truth(f *Formula, i int, later, positive bool) bool {
	at := func(f *Formula, i int) bool { return s.truth(f, i, later, positive) }
	switch f.Op {
	case Condition:
		k := 0
		for k+1 < len(s.T) && (s.T[k+1] < s.places[i].t || s.T[k+1] == s.places[i].t && s.T[k] < s.places[i].t) {
			k++
		}
		if s.T[k] == s.places[i].t {
			k += s.places[i].k
		}
		task := func(name string) bool { return s.Tasks[name] != nil }
		return s.structure(f.Cond.Logic(task), k, s.T[k] == s.places[i].t, positive)
	case Not:
		return !s.truth(f.Args[0], i, !later, !positive)
	case And:
		return at(f.Args[0], i) && at(f.Args[1], i)
	case Or:
		return at(f.Args[0], i) || at(f.Args[1], i)
	case Within, For:
		beyond := s.places[i].t+f.Bound > s.places[len(s.places)-1].t
		for q := i; q < len(s.places) && s.places[q].t-s.places[i].t <= f.Bound; q++ {
			if at(f.Args[0], q) == (f.Op == Within) {
				return f.Op == Within
			}
		}
		return (f.Op == For) == !(beyond && later == (f.Op == Within))
	}
	for q := i; q < len(s.places); q++ {
		if at(f.Args[1], q) || !at(f.Args[0], q) {
			return at(f.Args[1], q)
		}
	}
	return f.Op == Weak
}

// TestPartial: a property that is satisfied or violated on the beginning of a run has this verdict on the whole run,
// wherever it is cut, also between two places of one time.
func TestPartial(t *testing.T) {
	r := &maker{Rand: rand.New(rand.NewPCG(8, 3)), signals: true, unit: 0.5}
	cases := 20_000
	if testing.Short() {
		cases = 2_000
	}
	decided := map[Verdict]int{}
	for range cases {
		text := r.property(1 + r.IntN(3))
		p := read(t, text)
		whole := &Trace{Signals: map[string][]float64{}, Tasks: map[string][]bool{}}
		at := 0.0
		for range 2 + r.IntN(8) {
			whole.T = append(whole.T, at)
			for _, n := range []string{"x", "y"} {
				whole.Signals[n] = append(whole.Signals[n], float64(r.IntN(7))/2)
			}
			last := len(whole.T) - 1
			for _, n := range taskNames { // tasks change between places of one time only
				v := r.IntN(2) == 0
				if last > 0 && whole.T[last-1] < at {
					v = whole.Tasks[n][last-1]
				}
				whole.Tasks[n] = append(whole.Tasks[n], v)
			}
			at += float64(r.IntN(3)) / 2
		}
		n := 1 + r.IntN(len(whole.T)-1)
		part := &Trace{T: whole.T[:n], Signals: map[string][]float64{}, Tasks: map[string][]bool{}, Partial: true}
		for k, v := range whole.Signals {
			part.Signals[k] = v[:n]
		}
		for k, v := range whole.Tasks {
			part.Tasks[k] = v[:n]
		}
		before, e1 := part.Judge(p.Formula)
		after, e2 := whole.Judge(p.Formula)
		if e1 != nil || e2 != nil {
			t.Fatal(e1, e2)
		}
		decided[before.Verdict]++
		if before.Verdict != Open && before.Verdict != after.Verdict {
			t.Fatalf("%s is %v up to %g s (%d places) and then %v\n%+v", text, before.Verdict, part.T[n-1], n, after.Verdict, whole)
		}
	}
	if least := cases / 20; decided[Satisfied] < least || decided[Violated] < least || decided[Open] < least {
		t.Errorf("decided: %v", decided)
	}
}

// TestStepsAreTheDefinition: on random traces whose values change only at events, at whole and half seconds, the
// verdict and the margin are exactly those of the definition on a fine grid with both sides of each event.
func TestStepsAreTheDefinition(t *testing.T) {
	r := &maker{Rand: rand.New(rand.NewPCG(8, 1)), signals: true, unit: 0.5}
	cases := 20_000
	if testing.Short() {
		cases = 2_000
	}
	count := map[Verdict]int{}
	for range cases {
		text := r.property(1 + r.IntN(3))
		p := read(t, text)
		tr := &Trace{Signals: map[string][]float64{}, Tasks: map[string][]bool{}}
		at := 0.0
		x, tasks := map[string]float64{}, map[string]bool{}
		push := func(change bool) {
			tr.T = append(tr.T, at)
			for _, n := range []string{"x", "y"} {
				if change {
					x[n] = float64(r.IntN(7)) / 2
				}
				tr.Signals[n] = append(tr.Signals[n], x[n])
			}
			for _, n := range taskNames {
				if change {
					tasks[n] = r.IntN(2) == 0
				}
				tr.Tasks[n] = append(tr.Tasks[n], tasks[n])
			}
		}
		push(true)
		for range 1 + r.IntN(5) {
			at += 0.5 * float64(1+r.IntN(4))
			push(false)
			for range r.IntN(3) {
				push(true)
			}
		}
		got, err := tr.Judge(p.Formula)
		if err != nil {
			t.Fatal(err)
		}
		slow := definition(tr, 0.25)
		low, high := slow.bounds(p.Formula)
		want := Judgement{Verdict: Open, Margin: low}
		if slow.truth(p.Formula, 0, false, true) {
			want.Verdict = Satisfied
		} else if !slow.truth(p.Formula, 0, true, true) {
			want = Judgement{Verdict: Violated, Margin: high}
		}
		if got.Verdict != want.Verdict || got.Margin != want.Margin {
			t.Fatalf("%s\n%v\n%v\n%v\n%s %g, by definition %s %g", text, tr.T, tr.Signals, tr.Tasks, got.Verdict, got.Margin,
				want.Verdict, want.Margin)
		}
		count[got.Verdict]++
		if got.Verdict == Violated && !math.IsNaN(got.At) && (got.At < 0 || got.At > at) {
			t.Fatalf("%s: violated at %g", text, got.At)
		}
	}
	t.Log(count)
	for _, v := range []Verdict{Satisfied, Violated, Open} {
		if count[v] < cases/100 {
			t.Errorf("only %d %s", count[v], v)
		}
	}
}

// TestLinesAreTheDefinition: on random piecewise linear traces with jumps the margin is that of the definition on a grid,
// up to what signals can change from one point of the grid to the next.
func TestLinesAreTheDefinition(t *testing.T) {
	r := &maker{Rand: rand.New(rand.NewPCG(8, 2)), signals: true, unit: 0.3}
	cases := 600
	if testing.Short() {
		cases = 60
	}
	const step, slope = 0.05, 8
	for range cases {
		text := r.property(1 + r.IntN(2))
		p := read(t, text)
		tr := &Trace{Signals: map[string][]float64{}, Tasks: map[string][]bool{}}
		at := 0.0
		for n := range 8 {
			tr.T = append(tr.T, at)
			for _, s := range []string{"x", "y"} {
				tr.Signals[s] = append(tr.Signals[s], 3*r.Float64())
			}
			for _, s := range taskNames {
				before := n > 0 && tr.Tasks[s][n-1]
				if n == 0 || tr.T[n-1] == at {
					before = r.IntN(2) == 0
				}
				tr.Tasks[s] = append(tr.Tasks[s], before)
			}
			if n == 0 || tr.T[n-1] == at || r.IntN(2) == 0 {
				at += 1 + float64(r.IntN(3))/2
			}
		}
		got, err := tr.Judge(p.Formula)
		if err != nil {
			t.Fatal(err)
		}
		low, high := definition(tr, step).bounds(p.Formula)
		want := low
		if got.Verdict == Violated {
			want = high
		}
		if d := math.Abs(got.Margin - want); got.Margin != want && !(d <= 2*slope*step) {
			t.Fatalf("%s\n%v\n%v\n%v\n%s %g, on the grid %g to %g", text, tr.T, tr.Signals, tr.Tasks, got.Verdict, got.Margin,
				low, high)
		}
	}
}

// TestTimes: closed forms. x rises from 0 at 0 s to 10 at 10 s, jumps to 4 and falls to 0 at 14 s; task a is active from
// 2 s to 10 s, b from 10 s on.
func TestTimes(t *testing.T) {
	tr := &Trace{
		T:       []float64{0, 2, 2, 10, 10, 14},
		Signals: map[string][]float64{"x": {0, 2, 2, 10, 4, 0}},
		Tasks: map[string][]bool{"a": {false, false, true, true, false, false}, "b": {false, false, false, false, true, true},
			"c": make([]bool, 6)},
	}
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		text    string
		verdict Verdict
		margin  float64
		at      float64
	}{
		{"never both(a, b)", Satisfied, inf, nan},
		{"always (x <= 9)", Violated, -1, 9},
		{"never (x > 7)", Violated, -3, 7},
		{"eventually (x >= 8)", Satisfied, 2, nan},
		{"eventually (x >= 12)", Violated, -2, nan},
		{"within 5 [s] (x >= 3)", Satisfied, 2, nan},
		{"within 0 [s] (x >= 3)", Violated, -3, nan},
		{"for 3 [s] (x <= 5)", Satisfied, 2, nan},
		{"for 3 [s] (x <= 2)", Violated, -1, 2},
		{"a until b", Violated, -inf, nan},
		{"not b until a", Satisfied, inf, nan},
		{"(x < 6) until b", Violated, -4, nan},
		{"a before b", Satisfied, inf, nan},
		{"b before a", Violated, -inf, 2},
		{"c before b", Violated, -inf, 10},
		{"after a, always (x >= 1)", Violated, -1, 13},
		{"after a before b, always (x >= 1)", Satisfied, 1, nan},
		{"after a before b, never (x >= 5)", Violated, -5, 5},
		{"always (b -> within 2 [s] (x <= 2))", Satisfied, 0, nan},
		{"always (b -> within 1.5 [s] (x <= 2))", Violated, -0.5, 10},
		{"always (a -> within 600 [s] b)", Satisfied, inf, nan},
		{"always (b -> within 600 [s] c)", Open, -inf, nan},
		{"always (b -> for 4 [s] (x <= 5))", Open, -inf, nan},
		{"always (b -> for 4 [s] (x <= 3))", Violated, -1, 10},
		{"within 14 [s] c", Violated, -inf, nan},
		{"within 14.5 [s] c", Open, -inf, nan},
		{"abs(x - 5) <= 5 until x >= 10", Satisfied, 0, nan},
		{"always (x >= 0 and (a or b or x <= 2))", Satisfied, 0, nan},
	} {
		got, err := tr.Judge(read(t, test.text).Formula)
		if err != nil {
			t.Fatal(err)
		}
		same := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9 || a != a && b != b }
		if got.Verdict != test.verdict || !same(got.Margin, test.margin) || !same(got.At, test.at) {
			t.Errorf("%s: %s, margin %g, at %g; want %s, %g, %g", test.text, got.Verdict, got.Margin, got.At, test.verdict,
				test.margin, test.at)
		}
	}
	for text, want := range map[string]string{"always (z > 0)": "the values of signal z", "always (z > x)": "signal z"} {
		if _, err := tr.Judge(read(t, text).Formula); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	scope := expr.Scope{"h": expr.Number(mustUnit(t, "m")), "soc": expr.Number(expr.One)}
	for _, test := range []struct{ text, want string }{
		{"", "0+0 a condition is expected"},
		{"always", "6+0 a condition is expected"},
		{"always (h > 3", "13+0 the expression ends"},
		{"always (climb -> soc > 1)", `8+5 no condition or task is called "climb"`},
		{"always (h > 3 [s] -> within 5 [m] (socc > 0))", "12+5 h is in m|28+5 a value in s is expected|35+4"},
		{"always a -> b", `9+2 it is not clear what "->" joins`},
		{"eventually a and b", `13+3 it is not clear what "and" joins`},
		{"a -> within 5 b", ""},
		{"within 1h30m for 90 a", ""},
		{"within 30m1h a", "7+5 \"30m1h\" is not a duration"},
		{"within 5 s (a)", "9+1 the unit s needs brackets"},
		{"a -> eventually b", ""},
		{"a until b until c", "10+5 nothing may follow here"},
		{"never both(a b)", "13+1 found \"b\"|14+1"},
		{"after a before b, c", "18+1 between two conditions"},
		{"after a before b, never c", ""},
		{"after a before b, never eventually c", "18+5 between two conditions"},
		{"after a before b, always (c or h > 3 [km])", ""},
		{"(a) (b)", "4+1"},
		{"{always} and a", "0+8"},
		{"not not (((a)))", ""},
		{"!(always a) && b || not b", ""},
		{"always a && b", `9+2 it is not clear what "&&" joins`},
		{"nevr (h > 3)", `0+12 unknown function "nevr"`},
		{"(h > ) and (3 [ > h)", `5+1 found ")"|14+6 [ is not closed`},
		{"not (a -> b) -> (soc + 1) * 2 > 3", ""},
		{strings.Repeat("(", 2000), "1000+1 the property is too long"},
		{strings.Repeat("not ", 990) + "a", ""},
	} {
		_, mistakes := Read(test.text, expr.TaskNames(taskNames), scope)
		var got []string
		for _, m := range mistakes {
			got = append(got, fmt.Sprintf("%d+%d %s", m.Offset, m.Length, m.Text))
		}
		want := strings.Split(test.want, "|")
		if test.want == "" {
			want = nil
		}
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%.40s: %q, want %q", test.text, got, want)
		}
	}
}

func mustUnit(t testing.TB, text string) expr.Unit {
	u, err := expr.ParseUnit(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// FuzzRead: no text makes the reader panic; mistakes lie inside the text, and what is read can be judged.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"never both(climb, sink)", "always (a -> within 600 [s] b)", "after a before b, never c",
		"a until (b before c)", "for 1e-3 [h] (abs(x - 1 [m]) <= 2)", "always a -> b", "({a} or x > 1 [)", "within 1e+5 [s] a",
		"never both(a, (b)) and", "1 < 2 -> true", "pi > 3 or if(a, 1, 2) > x"} {
		f.Add(text)
	}
	tr := &Trace{T: []float64{0, 1, 1, 2}, Signals: map[string][]float64{"x": {0, 1, 2, 1}},
		Tasks: map[string][]bool{"a": {true, true, false, false}, "b": {false, false, true, true}, "c": make([]bool, 4)}}
	f.Fuzz(func(t *testing.T, text string) {
		p, mistakes := Read(text, expr.TaskNames(taskNames), nil)
		if (p == nil) != (len(mistakes) > 0) {
			t.Fatal("neither a property nor a mistake")
		}
		src := &diag.Source{Name: "p", Text: text}
		for _, m := range mistakes {
			if m.Offset < 0 || m.Length < 0 || m.Offset+m.Length > len(text) || m.Text == "" {
				t.Fatalf("%q: %+v", text, m)
			}
			_ = diag.Diagnostic{Source: src, Offset: m.Offset, Length: m.Length, Text: m.Text}.String()
		}
		if p == nil {
			return
		}
		j, err := tr.Judge(p.Formula)
		if err != nil {
			return
		}
		if o, _ := tr.Judge(join(Not, p.Formula)); j.Verdict != Open && o.Verdict == j.Verdict && j.Margin != 0 {
			t.Fatalf("%q and its opposite are both %s", text, j.Verdict)
		}
	})
}

// A mistyped word of the language comes with the word.
func TestSuggestions(t *testing.T) {
	_, mistakes := Read("alwys (a)", expr.TaskNames(taskNames), nil)
	if len(mistakes) == 0 || !strings.Contains(mistakes[0].Error(), `did you mean "always"?`) {
		t.Error(mistakes)
	}
}

// TestNearTimes: places that differ only by the rounding of their times are at one time. Task a is active from 10 s,
// where a sample was taken just before the event, to 20 s, and from 30 s on, just before a sample.
func TestNearTimes(t *testing.T) {
	const near = 1e-13
	tr := &Trace{T: []float64{0, 10, 10 + near, 10 + near, 20, 20 + near, 20 + near, 30 - near, 30 - near, 30, 60},
		Tasks: map[string][]bool{"a": {false, false, false, true, true, true, false, false, true, true, true}}}
	inf := math.Inf(1)
	for text, want := range map[string]float64{
		"always (a -> within 10 [s] (not a))":                -inf, // from 30 s on it is active for ever
		"always (not a -> within 10 [s] a)":                  inf,
		"always (not a -> within 9.99 [s] a)":                -inf,
		"always within 10 [s] a":                             inf,
		"never for 10.01 [s] (not a)":                        inf,
		"for 20 [s] (not a or within 10 [s] (not a))":        inf,
		"always (a -> within 10.01 [s] (within 10 [s] (a)))": inf,
		"within 20 [s] (for 30 [s] a)":                       -inf,
	} {
		got, err := tr.Judge(read(t, text).Formula)
		if err != nil || got.Margin != want {
			t.Errorf("%s: margin %g, %v; want %g", text, got.Margin, err, want)
		}
	}
}

// The curve of a truth value has points where it changes, and at its ends, not at each place.
func TestTruthHasOnlyChanges(t *testing.T) {
	j := judge{Trace: &Trace{}}
	for i := range 1000 {
		j.T = append(j.T, float64(i))
	}
	c := j.truth(func(i int) bool { return i >= 300 && i < 500 })
	if len(c) != 6 || c.at(299, 0) > 0 || c.at(300, 0) < 0 || c.at(499, 0) < 0 || c.at(500, 0) > 0 {
		t.Errorf("%v", c)
	}
}

// TestMissing: a verdict on a trace in which a signal has no value at some places is that on every trace that has one
// there, and else it is open and says what is missing.
func TestMissing(t *testing.T) {
	r := &maker{Rand: rand.New(rand.NewPCG(31, 1)), signals: true, unit: 0.5}
	cases := 20_000
	if testing.Short() {
		cases = 2_000
	}
	decided := map[Verdict]int{}
	for range cases {
		text := r.property(1 + r.IntN(3))
		p := read(t, text)
		tr := &Trace{Signals: map[string][]float64{}, Tasks: map[string][]bool{}}
		var gaps []int // the places at which x has no value
		missing := false
		for n := range 2 + r.IntN(6) {
			for side := range 2 { // a value comes and goes at events
				if missing = missing != (side == 1 && r.IntN(3) == 0); missing {
					gaps = append(gaps, len(tr.T))
				}
				tr.T = append(tr.T, float64(n)/2)
				for _, s := range []string{"x", "y"} {
					tr.Signals[s] = append(tr.Signals[s], float64(r.IntN(7))/2)
				}
				for _, a := range taskNames {
					v := r.IntN(2) == 0
					if side == 0 && n > 0 {
						v = tr.Tasks[a][len(tr.Tasks[a])-1]
					}
					tr.Tasks[a] = append(tr.Tasks[a], v)
				}
			}
		}
		for _, i := range gaps {
			tr.Signals["x"][i] = math.NaN()
		}
		got, err := tr.Judge(p.Formula)
		if err != nil {
			t.Fatal(err)
		}
		decided[got.Verdict]++
		if got.Verdict == Open {
			if got.Missing == "" && !p.Formula.bounded() {
				t.Fatalf("%s is open, but nothing is missing in\n%+v", text, tr)
			}
			continue
		}
		for range 5 {
			for _, i := range gaps {
				tr.Signals["x"][i] = float64(r.IntN(15))/4 - 0.5
			}
			if filled, err := tr.Judge(p.Formula); err != nil || filled.Verdict != got.Verdict {
				t.Fatalf("%s is %v, and %v (%v) with the values\n%+v", text, got.Verdict, filled.Verdict, err, tr)
			}
		}
	}
	if least := cases / 20; decided[Satisfied] < least || decided[Violated] < least || decided[Open] < least {
		t.Errorf("decided: %v", decided)
	}
}

// TestTaskIsNoSignal: a name that stands alone is that of a task, also if a signal has it; in a relation it is the signal.
func TestTaskIsNoSignal(t *testing.T) {
	tr := &Trace{T: []float64{0, 1, 2}, Signals: map[string][]float64{"a": {5, 5, 5}},
		Tasks: map[string][]bool{"a": {true, true, false}}}
	for text, want := range map[string]Verdict{"eventually not a": Satisfied, "always a": Violated, "always (a > 4)": Satisfied} {
		if j, err := tr.Judge(read(t, text).Formula); err != nil || j.Verdict != want {
			t.Errorf("%s: %v, %v", text, j.Verdict, err)
		}
	}
}
