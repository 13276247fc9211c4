package oracle

import (
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
)

// flownTruth visits all states with package flown.
func flownTruth(m *Mission, s declare.Subject, limit int) Truth {
	x := flown.New(s)
	t := Truth{Faults: map[Fault]Seen{}, Entered: make([]bool, x.Tree.Len()), Active: make([]Seen, x.Tree.Len())}
	t.Complete = true
	var always []expr.Logic
	for _, a := range s.Declared.Always {
		always = append(always, x.Statement(a))
	}
	add := func(s *Seen, f *flown.Moment) {
		s.Within = true
		s.Rest = s.Rest || f.Over
		s.Settled = s.Settled || f.Over && f.Quiet()
	}
	seen, todo := map[flown.Key]bool{}, []flown.Key{""}
	for ; len(todo) > 0; todo = todo[1:] {
		if t.States++; t.States > limit {
			t.Complete = false
			return t
		}
		x.Steps(todo[0], func(f *flown.Moment) {
			if !f.Over && f.Err == nil {
				return
			}
			var violated []int
			for i := range always {
				if f.Err == nil && !f.Lacks(&always[i]) && !f.Holds(&always[i]) {
					violated = append(violated, i)
				}
			}
			if !f.Possible() {
				return
			}
			for _, e := range f.Entered() {
				t.Entered[e] = true
			}
			if f.Err != nil {
				t.Unstable = true
				return
			}
			fault := func(x Fault) {
				seen := t.Faults[x]
				add(&seen, f)
				t.Faults[x] = seen
			}
			for _, i := range violated {
				fault(Fault{"always", i})
			}
			busy := false
			for i := range t.Active {
				if f.Active(bt.Task(i)) {
					add(&t.Active[i], f)
					busy = busy || x.Tree.Kind(bt.Task(i)).Acts()
				}
			}
			for _, i := range x.Tree.Timers() {
				busy = busy || f.Active(i) && !slices.ContainsFunc(x.Tree.Children(i), f.Active)
			}
			if !busy && !f.Good(x.Tree.Root()) {
				fault(Fault{Of: "complete"})
			}
			if key := f.After(); !seen[key] {
				seen[key] = true
				todo = append(todo, key)
			}
		})
	}
	return t
}

// differ reports whether an answer differs from what flights show. A run may end an instant, and begin another one at
// the same time, while a signal that depends on signals still follows: either may count.
func differ(got bool, want Seen) bool { return got && !want.Within || !got && want.Rest }

// TestFlownStatesAgree: package flown reaches what all flights reach, and nothing else.
func TestFlownStatesAgree(t *testing.T) {
	eachClass(t, 480, 31, func(x *trial) {
		want := x.m.Truth(400)
		if !want.Complete {
			x.counts["left out"]++
			return
		}
		got := flownTruth(x.m, x.read.Subject(), 2000)
		if !got.Complete {
			x.counts["left out"]++
			return
		}
		x.counts["states"], x.counts["states of flown"] = x.counts["states"]+want.States, x.counts["states of flown"]+got.States
		if got.Unstable && !want.Unstable { // a slot that held a signal is forgotten when it is written
			x.counts["loops"]++
		} else if got.Unstable != want.Unstable {
			x.wrong("unstable", "flights: %t", want.Unstable)
		}
		if want.Entered == nil {
			return
		}
		gap := Fault{Of: "complete"}
		if seen := want.Faults[gap]; got.Faults[gap].Settled && !seen.Within || !got.Faults[gap].Settled && seen.Settled {
			x.wrong("complete", "a gap in flights: %+v", seen)
		}
		for i, a := range x.m.Always {
			if v := want.Faults[Fault{"always", i}]; differ(got.Faults[Fault{"always", i}].Rest, v) {
				x.wrong("always", "%s violated in flights: %+v", a, v)
			}
		}
		for i := range want.Active {
			if name := want.Tree.Name(bt.Task(i)); got.Entered[i] != want.Entered[i] {
				x.wrong("entered", "%s in flights: %t", name, want.Entered[i])
			} else if differ(got.Active[i].Rest, want.Active[i]) {
				x.wrong("active", "%s in flights: %+v", name, want.Active[i])
			}
		}
	}, func(t *testing.T, _ Shape, cases int, counts map[string]int) {
		if loops := counts["loops"]; loops > 1+cases/100 {
			t.Errorf("%d of %d missions settle although flown finds that they do not", loops, cases)
		}
	})
}
