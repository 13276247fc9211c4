package simulated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
)

// guess is a truth value, or none.
type guess int

const (
	isFalse guess = iota
	isTrue
	isUnknown
)

func truth(b bool) guess {
	if b {
		return isTrue
	}
	return isFalse
}

// lossy is the world of TestUnknown at one time: x = t, T falls, both may be lost.
type lossy struct {
	t    float64
	lost map[string]float64 // by source that is lost: since when
}

// guess evaluates a condition in three values, node by node.
func (w lossy) guess(n *expr.Node) guess {
	switch n.Op() {
	case expr.OpNot:
		return [...]guess{isTrue, isFalse, isUnknown}[w.guess(n.Arg(0))]
	case expr.OpAnd:
		switch a, b := w.guess(n.Arg(0)), w.guess(n.Arg(1)); {
		case a == isFalse || b == isFalse:
			return isFalse
		default:
			return max(a, b)
		}
	case expr.OpOr:
		switch a, b := w.guess(n.Arg(0)), w.guess(n.Arg(1)); {
		case a == isTrue || b == isTrue:
			return isTrue
		default:
			return max(a, b)
		}
	case expr.OpIf:
		switch w.guess(n.Arg(0)) {
		case isTrue:
			return w.guess(n.Arg(1))
		case isFalse:
			return w.guess(n.Arg(2))
		}
		return isUnknown
	case expr.OpCall: // known(x)
		_, lost := w.lost[n.Arg(0).Name()]
		return truth(!lost)
	}
	x, limit := n.Arg(0), n.Arg(1).Value() // x > limit, age(x) > limit
	if x.Op() == expr.OpCall {
		since, lost := w.lost[x.Arg(0).Name()]
		return truth(lost && w.t-since > limit)
	}
	if _, lost := w.lost[x.Name()]; lost {
		return isUnknown
	}
	return truth(map[string]float64{"x": w.t, "T": 300 * math.Exp(-w.t/100)}[x.Name()] > limit)
}

// TestUnknown flies random conditions with random outages, and compares them with an evaluation in three values.
func TestUnknown(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 25
	}
	r := rand.New(rand.NewPCG(3, 11))
	for range rounds {
		testUnknown(t, r)
	}
}

// tested is a condition, with what it is while it is unknown.
type tested struct{ on, off, unknown string }

// outages are the times of the outages of sources.
type outages map[string][][2]float64

// since returns the beginning of the outages of a source that join up to a time.
func (o outages) since(name string, t float64) (from float64, lost bool) {
	from = t
	for again := true; again; {
		again = false
		for _, o := range o[name] {
			if o[0] <= from && (from < o[1] || lost && from <= o[1]) && (o[0] < from || !lost) {
				from, lost, again = o[0], true, true
			}
		}
	}
	return from, lost
}

func testUnknown(t *testing.T, r *rand.Rand) {
	const horizon = 20.0
	times := []float64{0, horizon} // at which something may change
	when := func() float64 { return math.Round(1e4*horizon*r.Float64()) / 1e4 }
	limits := map[string][]float64{}
	var condition func(depth int) string
	condition = func(depth int) string {
		name, c := []string{"x", "T"}[r.IntN(2)], func() string { return "(" + condition(depth-1) + ")" }
		switch k := r.IntN(10); {
		case k < 2:
			at := when()
			times = append(times, at)
			if name == "T" {
				at = 300 * math.Exp(-at/100)
			}
			return fmt.Sprintf("%s gt %.12g", name, at)
		case k == 2:
			return "known(" + name + ")"
		case k == 3:
			limit := when() / 10
			limits[name] = append(limits[name], limit)
			return fmt.Sprintf("age(%s) gt %g", name, limit)
		case depth == 0:
			return condition(0)
		case k == 4:
			return "not " + c()
		case k == 5:
			return "if(" + c() + ", " + c() + ", " + c() + ")"
		default:
			return c() + []string{" and ", " or "}[r.IntN(2)] + c()
		}
	}
	var all []tested
	body := `<ReactiveParallel success_count="1" failure_count="2"><Action name="go" write="v := 1"/><ForceFailure>` +
		`<ReactiveParallel failure_count="-1" success_count="-1"><AlwaysFailure/>`
	for i := range 12 {
		c := tested{on: condition(3), unknown: []string{"failure", "hold", "success"}[r.IntN(3)]}
		body += fmt.Sprintf(`<Condition name="c%d" on="%s" unknown="%s"`, i, c.on, c.unknown)
		if r.IntN(3) == 0 {
			c.off = condition(2)
			body += fmt.Sprintf(` off="%s"`, c.off)
		}
		body += "/>"
		all = append(all, c)
	}
	body += "</ReactiveParallel></ForceFailure></ReactiveParallel>"
	yaml, lost := "outages:\n  - {source: x}\n  - {source: T}\n", outages{}
	for range r.IntN(6) {
		name, from := []string{"x", "T"}[r.IntN(2)], when()
		to := from + 0.0101 + when()/4
		yaml += fmt.Sprintf("  - {source: %s, from: %g, to: %g}\n", name, from, to)
		lost[name] = append(lost[name], [2]float64{from, to})
	}
	for name, list := range lost {
		for _, o := range list {
			times = append(times, o[0], o[1])
			start, _ := lost.since(name, o[0])
			for _, limit := range limits[name] {
				times = append(times, start+limit)
			}
		}
	}
	slices.Sort(times)
	times = slices.DeleteFunc(times, func(at float64) bool { return at > horizon })
	values := judge(t, body, yaml, len(all))
	for i, c := range all {
		c.compare(t, times, lost, func(at float64) bool { return values(i, at) })
	}
}

// compare compares the truth of a condition between the times at which something changes with that in three values.
func (c tested) compare(t *testing.T, times []float64, lost outages, truth func(at float64) bool) {
	on, off := parse(t, c.on), (*expr.Node)(nil)
	if c.off != "" {
		off = parse(t, c.off)
	}
	value := false
	for k := range len(times) - 1 {
		at := (times[k] + times[k+1]) / 2
		if times[k+1]-times[k] < 1e-6 {
			continue
		}
		w := lossy{at, map[string]float64{}}
		for _, name := range []string{"x", "T"} {
			if from, is := lost.since(name, at); is {
				w.lost[name] = from
			}
		}
		is := w.guess(on) // on or value and not off
		if off != nil && is != isTrue && value {
			if stays := [...]guess{isTrue, isFalse, isUnknown}[w.guess(off)]; stays == isTrue {
				is = isTrue
			} else {
				is = max(is, stays)
			}
		}
		switch {
		case is != isUnknown:
			value = is == isTrue
		case c.unknown != "hold":
			value = c.unknown == "success"
		}
		if got := truth(at); got != value {
			t.Fatalf("%+v with outages %v is %t at t = %g, not %t", c, lost, got, at, value)
		}
	}
}

func parse(t *testing.T, text string) *expr.Node {
	t.Helper()
	e, err := expr.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return e.Root()
}

// truths records the truth values of conditions.
type truths struct {
	record.Nothing
	names   []string
	changes []map[float64]bool
}

func (r *truths) Status(at float64, _ int, c bt.Change) error {
	var i int
	if _, err := fmt.Sscanf(r.names[c.Task], "c%d", &i); err == nil {
		r.changes[i][at] = c.To == bt.Success
	}
	return nil
}

// judge flies a mission of the cart and returns the truth of its conditions, by number, at any time.
func judge(t *testing.T, body, yaml string, conditions int) func(i int, at float64) bool {
	t.Helper()
	m, diags := cart.Read(body, yaml, "horizon=20")
	if m == nil {
		t.Fatalf("%v\n%s", diags, body)
	}
	x, err := New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	rec := &truths{changes: make([]map[float64]bool, conditions)}
	for i := range rec.changes {
		rec.changes[i] = map[float64]bool{}
	}
	for i, task := range x.Header().Tasks {
		rec.names = append(rec.names, task.Name)
		var k int
		if _, err := fmt.Sscanf(task.Name, "c%d", &k); err == nil {
			rec.changes[k][-1] = x.Header().Tasks[i].Initial == bt.Success
		}
	}
	x.Attach(rec)
	if err := x.Fly(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return func(i int, at float64) bool {
		last, value := -2.0, false
		for when, is := range rec.changes[i] {
			if last < when && when <= at {
				last, value = when, is
			}
		}
		return value
	}
}
