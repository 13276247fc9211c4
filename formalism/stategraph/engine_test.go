package stategraph

import (
	"io"
	"math"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/diag"
)

func read(t testing.TB, text string) *Graph {
	t.Helper()
	g, list := Read(&diag.Source{Name: "graph.yaml", Text: text}, nil)
	if len(list) > 0 {
		t.Fatal(list)
	}
	return g
}

// A delayed transition takes time even where the resolution of numbers is coarser than its delay, so that a loop through it
// comes to an end in every instant.
func TestDelayBelowTheResolutionOfTime(t *testing.T) {
	e := NewEngine(read(t, "steps: {a: {initial: true}, b: }\ntransitions: [{from: a, to: b, after: 0.5}, {from: b, to: a}]"))
	const late = 1e17 // neighbouring numbers are 16 apart
	for now := late; now < late+100; now = e.Alarm() {
		if _, err := e.Settle(now, nil); err != nil {
			t.Fatal(err)
		}
		if got := e.Alarm() - now; got != 16 {
			t.Fatalf("the alarm is %g s after %g", got, now)
		}
	}
}

// Actions come in the order of the steps, each once, appended to what the caller has.
func TestActiveActions(t *testing.T) {
	g := read(t, `
steps:
  p: {initial: true, actions: [x, y], entry: [q, r], steps: {q: {actions: [y, z]}, r: {actions: [z]}}}
  off: {actions: [w]}
transitions: [{suspend: p, to: off, when: stop}]`)
	e := NewEngine(g)
	if got := e.ActiveActions(nil); len(got) > 0 {
		t.Errorf("actions %v are active before the start", got)
	}
	names := func(conditions ...bool) []string {
		if _, err := e.Settle(0, conditions); err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, a := range e.ActiveActions([]Action{0})[1:] {
			list = append(list, g.Actions()[a])
		}
		return list
	}
	if got := names(false); !slices.Equal(got, []string{"x", "y", "z"}) {
		t.Error(got)
	}
	if got := names(true); !slices.Equal(got, []string{"w"}) {
		t.Error(got)
	}
}

// The accessors of a graph return its document.
func TestGraph(t *testing.T) {
	g := read(t, `
graph: G
text: about it
steps:
  a: {initial: true}
  p: {actions: [x], entry: [b], exit: [c], steps: {b: , c: }}
transitions:
  - {from: a, resume: p, when: "!on"}
  - {suspend: p, to: a, after: 2, when: on}
  - {from: b, to: c, loop_check: false}`)
	const p, b, c = Step(1), Step(2), Step(3)
	if g.Name != "G" || g.Text != "about it" || g.Len() != 4 || g.StepName(c) != "c" || !g.Parallel(p) || g.Parallel(c) ||
		g.Parent(c) != p || g.Parent(p) != None || !g.First(b) || g.First(c) || !slices.Equal(g.Exits(p), []Step{c}) ||
		g.StepLine(p) != 6 || !slices.Equal(g.StepActions(p), []Action{0}) || !slices.Equal(g.Conditions(), []string{"on"}) {
		t.Errorf("%+v", g)
	}
	list := g.Transitions()
	when := list[0].When.String()
	list[0].When, list[1].When = nil, nil
	want := []Transition{{From: 0, To: p, Resumes: true, LoopCheck: true, Line: 8},
		{From: p, To: 0, Suspends: true, After: 2, LoopCheck: true, Line: 9}, {From: b, To: c, Line: 10}}
	if when != "not on" || !slices.Equal(list, want) {
		t.Errorf("%s, %+v", when, list)
	}
}

func TestMisuse(t *testing.T) {
	g := read(t, "steps: {a: {initial: true}, b: }\ntransitions: [{from: a, to: b, when: x}]")
	for name, misuse := range map[string]func(e *Engine){
		"too few conditions": func(e *Engine) { _, _ = e.Settle(2, nil) },
		"time goes back":     func(e *Engine) { _, _ = e.Settle(0.5, []bool{false}) },
		"time is no number":  func(e *Engine) { _, _ = e.Settle(math.NaN(), []bool{false}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			e := NewEngine(g)
			if _, err := e.Settle(1, []bool{false}); err != nil {
				t.Fatal(err)
			}
			misuse(e)
		}()
	}
}

// Settling allocates nothing once the log has its size.
func TestSettleAllocatesNothing(t *testing.T) {
	g, _ := solarDay(t, "solar-day")
	e := NewEngine(g)
	conditions := make([]bool, len(g.Conditions()))
	var actions []Action
	now, bits := 0.0, 0
	if n := testing.AllocsPerRun(1000, func() {
		now++
		bits = (bits + 7) % 16
		for i := range conditions {
			conditions[i] = bits>>i&1 == 1
		}
		if _, err := e.Settle(now, conditions); err != nil {
			t.Fatal(err)
		}
		actions = e.ActiveActions(actions[:0])
	}); n > 0 {
		t.Errorf("%g allocations per instant", n)
	}
}

// BenchmarkSettle settles the graph of the solar day after a change of one condition, with a transition every time.
func BenchmarkSettle(b *testing.B) {
	g, _ := solarDay(b, "solar-day")
	e := NewEngine(g)
	conditions := make([]bool, len(g.Conditions()))
	surplus := slices.Index(g.Conditions(), "surplus")
	now := 0.0
	b.ReportAllocs()
	for b.Loop() {
		now++
		conditions[surplus] = !conditions[surplus]
		if instant, err := e.Settle(now, conditions); err != nil || instant.Rounds != 1 && now > 1 {
			b.Fatal(instant, err)
		}
	}
}

// FuzzRead holds that any text gives either a graph or an error, with all places inside the file, and that a graph can be
// drawn and run: nothing but a loop without check ends an instant with an error, and one of each branch is active.
func FuzzRead(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, named bool) {
		var known *Vocabulary
		if named {
			known = &Vocabulary{Conditions: []string{"late", "on", "surplus"}, Actions: []string{"climb", "wait"}}
		}
		g, list := Read(&diag.Source{Name: "fuzz.yaml", Text: text}, known)
		if (g == nil) != list.HasErrors() {
			t.Fatalf("graph %v, list %v", g, list)
		}
		for _, d := range list {
			if d.Offset < 0 || d.Length < 0 || d.Offset+d.Length > len(text) || d.Code == "" || d.Text == "" {
				t.Fatalf("%+v", d)
			}
		}
		list.Write(io.Discard, false)
		if g == nil || g.Len() > 1000 {
			return
		}
		branch := branches(g)
		e := NewEngine(g)
		conditions := make([]bool, len(g.Conditions()))
		for round := range 16 {
			for i := range conditions {
				conditions[i] = (round>>(i%4))&1 == 1
			}
			now := min(float64(round), e.Alarm())
			if _, err := e.Settle(max(now, e.t), conditions); err != nil && g.allChecked() {
				t.Fatal(err)
			}
			checkBranches(t, e, branch)
		}
	})
}

// allChecked reports whether every transition of the graph has a loop check.
func (g *Graph) allChecked() bool {
	return !slices.ContainsFunc(g.transitions, func(t Transition) bool { return !t.LoopCheck })
}
