package flown

import (
	"maps"
	"slices"

	"canopy/bt"
	"canopy/document/declare"
	"canopy/executive"
	"canopy/expr"
)

// loose is the conditions with hysteresis that free inputs replace. Each is alone with its signals: nothing else that
// tasks or statements depend on reads these, and the facts about them allow values for which it becomes true, and
// others for which it becomes false, whatever it was before.
type loose struct {
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

// loose finds the conditions that free inputs can replace, apart from some; nil if there are none.
func (s *Stepper) loose(subject *declare.Subject, except []bt.Task) *loose {
	type definition struct {
		leaves  []int
		signals map[int]bool
	}
	identity := func(i int) string {
		l := &s.p.Leaves[i]
		if !l.Condition || l.Formulas[executive.Off] == nil || slices.Contains(except, l.Task) {
			return ""
		}
		text, _ := subject.Plan.Input(&subject.Plan.Leaves[i], nil)
		return text
	}
	var order []string
	latches := map[string]*definition{}
	for i := range s.p.Leaves {
		if text := identity(i); text != "" {
			if latches[text] == nil {
				order, latches[text] = append(order, text), &definition{signals: map[int]bool{}}
			}
			d := latches[text]
			d.leaves = append(d.leaves, i)
			for _, f := range []executive.Criterion{executive.On, executive.Off} {
				s.sources(s.p.Leaves[i].Formulas[f].Reads(), d.signals)
			}
		}
	}
	if len(order) == 0 {
		return nil
	}
	used := map[int]bool{} // by other than latches and facts
	for i := range s.p.Leaves {
		l := &s.p.Leaves[i]
		codes := []*expr.Code{l.EntryTime, l.ExitTime}
		if identity(i) == "" {
			codes = append(codes, l.Formulas[:]...)
		}
		for _, a := range slices.Concat(l.Entry, l.Exit) {
			codes = append(codes, a.Value)
		}
		for _, c := range codes {
			if c != nil {
				s.sources(c.Reads(), used)
			}
		}
	}
	facts := make([]map[int]bool, len(subject.Declared.Facts))
	about := func(e *expr.Expr, all map[int]bool) (signals bool) {
		signals = true
		for _, name := range e.Names() {
			place, ok := s.compiler.Slot(name)
			if _, task := s.Tree.Find(name); task || !ok {
				signals = false
			} else {
				s.sources([]int{place}, all)
			}
		}
		return signals
	}
	for i, statement := range subject.Declared.Facts {
		facts[i] = map[int]bool{}
		signals := true
		for _, e := range statement.Parts {
			signals = about(e, facts[i]) && signals
		}
		if !signals { // it names tasks
			maps.Copy(used, facts[i])
		}
	}
	others := subject.Declared
	others.Facts = nil
	for _, e := range others.Expressions() {
		about(e, used)
	}
	count := map[int]int{} // by place: the definitions that read it
	for _, text := range order {
		for place := range latches[text].signals {
			count[place]++
		}
	}
	factsOf := map[int][]int{} // by place
	for i := range facts {
		for place := range facts[i] {
			factsOf[place] = append(factsOf[place], i)
		}
	}
	all := &loose{facts: map[int]bool{}, signals: map[string]bool{}}
	for _, text := range order {
		d := latches[text]
		var own []int // facts
		alone := true
		places := slices.Collect(maps.Keys(d.signals))
		of := len(places)
		for k := 0; k < len(places) && alone; k++ { // those of facts join
			place := places[k]
			alone = !used[place] && s.physical(place) && (k < of) == (count[place] == 1) && count[place] < 2
			for _, i := range factsOf[place] {
				if slices.Contains(own, i) {
					continue
				}
				own = append(own, i)
				for other := range facts[i] {
					if !slices.Contains(places, other) {
						places = append(places, other)
					}
				}
			}
		}
		if !alone || !s.opens(d.leaves[0], own, subject) {
			continue
		}
		all.leaves = append(all.leaves, d.leaves...)
		for _, i := range own {
			all.facts[i] = true
		}
		for _, place := range places {
			all.signals[s.names[place]] = true
		}
	}
	if all.leaves == nil {
		return nil
	}
	return all
}

// physical reports whether the signal at a place is one of the vehicle that does not depend on commands directly, or of
// such signals.
func (s *Stepper) physical(place int) bool {
	l := &s.p.Layout
	return place > 0 && (place < l.Slots || place >= l.Computed) && !s.jumps(place)
}

// sources adds the places on which the signals at some places depend, themselves included.
func (s *Stepper) sources(places []int, all map[int]bool) {
	l := &s.p.Layout
	for _, place := range places {
		if all[place] {
			continue
		}
		switch all[place] = true; {
		case place >= l.Signals:
		case place >= l.Computed:
			s.sources(s.p.Computed[place-l.Computed].Reads(), all)
		case place >= l.Slots:
			for _, w := range s.p.Slots[place-l.Slots].Writers {
				if w.Value != nil {
					s.sources(w.Value.Reads(), all)
				}
			}
			for i := range s.p.Leaves {
				for _, a := range slices.Concat(s.p.Leaves[i].Entry, s.p.Leaves[i].Exit) {
					if a.Slot == place-l.Slots && a.Value != nil {
						s.sources(a.Value.Reads(), all)
					}
				}
			}
		case place >= l.Outputs && place-l.Outputs < len(s.p.Direct):
			for _, command := range s.p.Direct[place-l.Outputs] {
				s.sources([]int{s.p.Signal(command)}, all)
			}
		}
	}
}

// opens reports whether facts allow signals for which a condition becomes true, and others for which it becomes false.
func (s *Stepper) opens(leaf int, facts []int, subject *declare.Subject) bool {
	formulas := &s.p.Leaves[leaf].Formulas
	for _, f := range []executive.Criterion{executive.On, executive.Off} {
		if len(formulas[f].Indicators()) > 0 && slices.ContainsFunc(formulas[f].Indicators(), func(k int) bool {
			return len(s.inner[k]) > 0
		}) {
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
func (x *loose) apply(s *Stepper, subject *declare.Subject) {
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
	s.loosened = x.signals
}
