package flown

import (
	"maps"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// abstraction is the conditions with hysteresis that free inputs replace. Each is alone with its signals: nothing else
// that tasks or statements depend on reads these, and the facts about them allow values for which it becomes true, and
// others for which it becomes false, whatever it was before.
type abstraction struct {
	leaves  []int
	facts   map[int]bool // that are about these signals alone
	signals map[string]bool
}

// latch is a condition with hysteresis that a free input replaces.
type latch struct {
	task    bt.Task
	on, off string // texts of regions in which it becomes true, and false
}

// Freed returns the conditions that are free inputs, the first of each definition, by the names of these inputs.
func (s *Stepper) Freed() map[string]bt.Task {
	freed := map[string]bt.Task{}
	for name, l := range s.latches {
		freed[name[len(free):]] = l.task
	}
	return freed
}

// definition is a condition with hysteresis, in all leaves that have it, with the places of the signals that it reads.
type definition struct {
	leaves  []int
	signals map[int]bool
}

// abstraction finds the conditions that free inputs can replace, apart from some; nil if there are none.
func (s *Stepper) abstraction(subject *declare.Subject, except []bt.Task) *abstraction {
	definitions := s.hysteresis(subject, except)
	if len(definitions) == 0 {
		return nil
	}
	used, facts := s.used(subject, definitions)
	readers := map[int]int{} // by place: the definitions that read it
	for _, d := range definitions {
		for place := range d.signals {
			readers[place]++
		}
	}
	all := &abstraction{facts: map[int]bool{}, signals: map[string]bool{}}
	for _, d := range definitions {
		own, joined := d.with(facts)
		alone := true
		for place := range joined {
			others := readers[place]
			if d.signals[place] {
				others--
			}
			alone = alone && others == 0 && !used[place] && s.physical(place)
		}
		if !alone || !s.opens(d.leaves[0], own, subject) {
			continue
		}
		all.leaves = append(all.leaves, d.leaves...)
		for _, i := range own {
			all.facts[i] = true
		}
		for place := range joined {
			all.signals[s.names[place]] = true
		}
	}
	if all.leaves == nil {
		return nil
	}
	return all
}

// hysteresis returns the conditions with hysteresis, apart from some.
func (s *Stepper) hysteresis(subject *declare.Subject, except []bt.Task) []*definition {
	var list []*definition
	byText := map[string]*definition{}
	for i := range s.p.Leaves {
		l := &s.p.Leaves[i]
		if !l.Condition || l.Formulas[executive.Off] == nil || slices.Contains(except, l.Task) {
			continue
		}
		text, _ := subject.Plan.Input(&subject.Plan.Leaves[i], nil)
		d := byText[text]
		if d == nil {
			d = &definition{signals: map[int]bool{}}
			list, byText[text] = append(list, d), d
		}
		d.leaves = append(d.leaves, i)
		for _, c := range l.Formulas {
			s.sources(c, d.signals)
		}
	}
	return list
}

// used returns the places on which something else depends than some conditions and the facts about signals, and those
// on which each of these facts depends.
func (s *Stepper) used(subject *declare.Subject, apart []*definition) (used map[int]bool, facts []map[int]bool) {
	used = map[int]bool{}
	for i := range s.p.Leaves {
		l := &s.p.Leaves[i]
		codes := []*expr.Code{l.EntryTime, l.ExitTime}
		if !slices.ContainsFunc(apart, func(d *definition) bool { return slices.Contains(d.leaves, i) }) {
			codes = append(codes, l.Formulas[:]...)
		}
		for _, a := range slices.Concat(l.Entry, l.Exit) {
			codes = append(codes, a.Value)
		}
		for _, c := range codes {
			s.sources(c, used)
		}
	}
	others := subject.Declared
	others.Facts = nil
	for _, e := range others.Expressions() {
		s.about(e, used)
	}
	for _, fact := range subject.Declared.Facts {
		about, signals := map[int]bool{}, true
		for _, e := range fact.Parts {
			signals = s.about(e, about) && signals
		}
		if facts = append(facts, about); !signals {
			maps.Copy(used, about)
		}
	}
	return used, facts
}

// about adds the places on which an expression depends, and reports whether it names signals only.
func (s *Stepper) about(e *expr.Expr, all map[int]bool) (signals bool) {
	signals = true
	for _, name := range s.subject.Expanded(e).Names() {
		place, ok := s.compiler.Slot(name)
		if ok { // also if a task has the name: a relation reads the signal
			s.depends(place, all)
		}
		_, task := s.Tree.Find(name)
		signals = signals && ok && !task
	}
	return signals
}

// with returns the facts that bind the signals of a condition, directly or through others, and the places of all these.
func (d *definition) with(facts []map[int]bool) (own []int, joined map[int]bool) {
	joined = maps.Clone(d.signals)
	for again := true; again; {
		again = false
		for i, about := range facts {
			shared := false
			for place := range about {
				shared = shared || joined[place]
			}
			if shared && !slices.Contains(own, i) {
				own, again = append(own, i), true
				maps.Copy(joined, about)
			}
		}
	}
	return own, joined
}

// physical reports whether the signal at a place is one of the vehicle that does not depend on commands directly, or of
// such signals.
func (s *Stepper) physical(place int) bool {
	l := &s.p.Layout
	return place > 0 && (place < l.Slots || place >= l.Computed) && !s.jumps(place)
}

// sources adds the places on which the value of a code depends; nil: none.
func (s *Stepper) sources(c *expr.Code, all map[int]bool) {
	if c != nil {
		for _, place := range c.Reads() {
			s.depends(place, all)
		}
	}
}

// depends adds the places on which the signal at a place depends, itself included.
func (s *Stepper) depends(place int, all map[int]bool) {
	if all[place] {
		return
	}
	l := &s.p.Layout
	switch all[place] = true; {
	case place >= l.Signals:
	case place >= l.Computed:
		s.sources(s.p.Computed[place-l.Computed], all)
	case place >= l.Slots:
		for _, w := range s.p.Slots[place-l.Slots].Writers {
			s.sources(w.Value, all)
			s.sources(w.Known, all)
		}
		for i := range s.p.Leaves {
			for _, a := range slices.Concat(s.p.Leaves[i].Entry, s.p.Leaves[i].Exit) {
				if a.Slot == place-l.Slots {
					s.sources(a.Value, all)
				}
			}
		}
	case 1 <= place && place <= len(s.p.Direct):
		for _, command := range s.p.Direct[place-1] {
			s.depends(s.p.Signal(command), all)
		}
	}
}

// opens reports whether facts allow signals for which a condition becomes true, and others for which it becomes false.
func (s *Stepper) opens(leaf int, facts []int, subject *declare.Subject) bool {
	formulas := &s.p.Leaves[leaf].Formulas
	for _, f := range []executive.Criterion{executive.On, executive.Off} {
		if slices.ContainsFunc(formulas[f].Indicators(), func(k int) bool { return len(s.inner[k]) > 0 }) {
			return false
		}
	}
	rises, falls := false, false
	s.moment.begin(s, false)
	for again := true; again && !(rises && falls); again = s.w.tape.next() {
		s.w.begin(false)
		on, off := s.w.truth(formulas[executive.On], true), s.w.truth(formulas[executive.Off], true)
		possible := on != off
		for _, i := range facts {
			l := s.Statement(subject.Declared.Facts[i])
			possible = possible && s.moment.Holds(&l)
		}
		rises, falls = rises || possible && on, falls || possible && off
	}
	s.w.tape = tape{}
	s.w.begin(false)
	return rises && falls
}

// apply replaces the conditions.
func (x *abstraction) apply(s *Stepper, subject *declare.Subject) {
	if x == nil {
		return
	}
	for _, i := range x.leaves {
		l := &subject.Plan.Leaves[i]
		identity, _ := subject.Plan.Input(l, nil)
		formulas := &s.p.Leaves[i].Formulas
		formulas[executive.On], formulas[executive.Off] = s.pseudo(identity), nil
		if _, known := s.latches[free+identity]; !known {
			s.latches[free+identity] = latch{l.Task, l.On.String(), l.Off.String()}
		}
	}
	s.hidden = x.signals
}
