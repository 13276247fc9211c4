package verify

import (
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
)

// told returns a random plan, its model, and that which tells apart what the plan remembers; nil: there is none.
func (r *randomPlan) told(t *testing.T) (s declare.Subject, m, x *Model) {
	r.slow, r.relations = r.IntN(2) == 0, r.IntN(4) == 0
	s = r.subject(t)
	m = NewModel(s)
	return s, m, m.telling()
}

// Each settled state of a plan that remembers, in which no procedure is under way, is a state of the model that tells
// apart what tasks remember: in none of them more or fewer tasks are active, or judged otherwise, than sets allow that
// the model calls empty.
func TestToldStatesCoverFlights(t *testing.T) {
	r := &randomPlan{Rand: rand.New(rand.NewPCG(31, 7)), memory: true}
	told, states, empty := 0, 0, 0
	for range map[bool]int{true: 300, false: 5000}[testing.Short()] {
		s, m, x := r.told(t)
		if x == nil {
			continue
		}
		told++
		f := m.flights()
		for f.states.Len() < 200 && f.more() {
		}
		n, seen := m.tree.Len(), map[set]bool{}
		of := func(at *flown.Moment) set {
			in := always
			for t := range bt.Task(n) {
				is := map[bool]set{true: x.active[t], false: x.space.not(x.active[t])}[at.Active(t)]
				if m.tree.Kind(t).Acts() || !m.natures[t].Acts {
					in = x.space.and(in, is)
				}
			}
			for i := range m.leaves {
				if t := m.leaves[i].task; m.leaves[i].condition && at.Engine().Hears(t) {
					is := map[bool]set{true: x.truth[i], false: x.space.not(x.truth[i])}[at.Engine().Status(t) == bt.Success]
					in = x.space.and(in, is)
				}
			}
			root := m.tree.Root()
			if at.Good(root) {
				return x.space.and(in, x.judged[root].Good)
			}
			return x.space.and(in, x.space.not(x.judged[root].Good))
		}
		for i := 1; i < f.states.Len(); i++ {
			f.At(f.states.Key(i).key, func(at *flown.Moment) {
				if !at.Quiet() {
					return
				}
				in := of(at)
				if states++; !seen[in] && x.empty(in) {
					empty++
					t.Errorf("%s\nno state of the model: active %q, good %t, slow %t", s.Plan.Source.Text,
						m.tree.Names(m.activeAt(at)), at.Good(m.tree.Root()), m.slow())
				}
				seen[in] = true
			})
			if empty > 5 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d plans with %d states", told, states)
}

// At each settling of an instant, the tasks that are active are so in a state of that model, perhaps with others, in
// which no action keeps a result that has not been active before.
func TestToldStatesCoverSettlings(t *testing.T) {
	r := &randomPlan{Rand: rand.New(rand.NewPCG(3, 17)), memory: true}
	told, moments := 0, 0
	for range map[bool]int{true: 150, false: 5000}[testing.Short()] {
		s, m, x := r.told(t)
		if x == nil {
			continue
		}
		told++
		type state struct {
			key flown.Key
			ran string // by task: was active before
		}
		steps, seen := m.abstract(), map[string]bool{}
		m.plain(steps)
		queue := []state{{"", string(make([]byte, m.tree.Len()))}}
		for i := 0; i < len(queue) && i < 60; i++ {
			moves := 0
			was := queue[i].ran
			steps.Steps(queue[i].key, func(at *flown.Moment) {
				if moves++; at.Err != nil || moves > 200 {
					at.Stop = moves > 200
					return
				}
				ran := []byte(was)
				for _, u := range at.Entered() {
					ran[u] = 1
				}
				in := always
				for _, u := range m.actions() {
					if at.Active(u) {
						in = x.space.and(in, x.active[u])
					}
					if l := &m.leaves[m.leafOf[u]]; ran[u] == 0 && l.successIf == nil && l.failureIf == nil {
						in = x.space.and(in, x.space.not(x.ended(u)))
					}
				}
				if moments++; x.space.empty(in) {
					at.Stop, queue = true, nil
					t.Errorf("%s\nno state of the model: active %q", s.Plan.Source.Text, m.tree.Names(m.activeAt(at)))
				}
				if at.Over && at.Possible() {
					if class := at.Class() + string(ran); !seen[class] {
						seen[class] = true
						queue = append(queue, state{at.After(), string(ran)})
					}
				}
			})
		}
	}
	t.Logf("%d plans with %d settlings", told, moments)
}

// What that model proves of runs, no search refutes.
func TestToldPropertiesAreNotRefuted(t *testing.T) {
	r := &randomPlan{Rand: rand.New(rand.NewPCG(5, 23)), memory: true, slow: true}
	proved, decided := 0, 0
	for range map[bool]int{true: 300, false: 4000}[testing.Short()] {
		s := r.subject(t)
		if len(r.actions) < 2 || len(s.Plan.Tree.Shared()) > 0 {
			continue
		}
		a, b := r.pick(r.actions...), r.pick(r.actions...)
		text := r.pick(a+" before "+b, "never both("+a+", "+b+")", "("+a+" or "+r.pick(r.actions...)+") before "+b)
		s.Declared = declare.Declarations{Facts: s.Declared.Facts}
		d, list := declare.ReadFile(&diag.Source{Name: "f.yaml", Text: "properties: [\"" + text + "\"]"}, s.Plan)
		if list.HasErrors() {
			continue
		}
		s.Declared.Properties = d.Properties
		m := NewModel(s)
		m.effort = 1
		x := m.newPropertyModel(d.Properties[0].Property)
		if !x.inMemory() {
			continue
		}
		proved++
		switch c, _ := x.prove(x.abstract(), followed(x.formula, true), anyTime); c.verdict {
		case Refuted:
			t.Errorf("%s: %s\n%s", s.Plan.Source.Text, text, c.script)
		case Proved:
			decided++
		}
	}
	if t.Logf("%d proved, %d of them by a search", proved, decided); proved < 15 || decided*2 < proved {
		t.Error("too few")
	}
}

// A result that an action has without having been active is no sign that it was.
func TestJudgedIsNotActive(t *testing.T) {
	for text, want := range map[string]Verdict{
		`<Action name="a" entry_time="1 [s]" done="x ge 1"/>`:                             Proved,
		`<Action name="a" entry_time="1 [s]" done="x ge 1" _successIf="y ge 1"/>`:         Refuted,
		`<Action name="a" done="x ge 1"/>`:                                                Refuted, // it ends at once
		`<Fallback><Condition name="c"/><Action name="a" entry_time="1 [s]"/></Fallback>`: Refuted,
	} {
		s := subjectOf(t, `<Sequence>`+text+`<Action name="b"/></Sequence>`, "properties: [a before b]")
		if f := askProperties(NewModel(s))[0]; f.Verdict != want {
			t.Errorf("%s: %s %s", text, f.Verdict, f.Text)
		}
	}
}
