package smv

import (
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/expr"
)

// graph writes the states in which instants of a run can end. Two ends that agree in the tasks, the statements and the
// future of the run are one state.
func (w *writer) graph(over func() string) error {
	g := explorer{w: w, over: over, x: flown.New(w.Subject), ends: explore.New[string, end](explore.Budget{}),
		classes: explore.New[flown.Key, struct{}](explore.Budget{})}
	for _, s := range w.statements() {
		g.statements = append(g.statements, g.x.Statement(s))
	}
	if err := g.explore(); err != nil {
		return err
	}
	if g.write(); w.size > maxText {
		return w.large()
	}
	return nil
}

type explorer struct {
	w          *writer
	over       func() string
	edges      int // from states to the next ones, with repetitions
	x          *flown.Stepper
	statements []expr.Logic
	ends       *explore.Search[string, end]         // the states, by their texts
	classes    *explore.Search[flown.Key, struct{}] // of states with the same successors
	next       [][]int                              // by class
	first      []int
}

// end is the end of an instant.
type end struct {
	quiet                      bool
	good, bad, active, entered []bool // by task
	holds                      []bool // by statement
	class                      int
}

// explore visits all states breadth first.
func (g *explorer) explore() error {
	var err error
	g.first = g.successors("", &err)
	for class := range g.classes.Leave() {
		if err != nil {
			break
		}
		g.next = append(g.next, g.successors(g.classes.Key(class), &err))
	}
	return err
}

// successors returns the numbers of the states in which the next instant can end.
func (g *explorer) successors(from flown.Key, err *error) []int {
	var list []int
	g.x.Steps(from, func(m *flown.Moment) {
		defer func() { m.Stop = *err != nil }()
		if why := g.over(); *err == nil && why != "" {
			*err = fmt.Errorf("%w: %d so far, and %s; %s", ErrLarge, g.ends.Len(), why, advice)
		}
		if !m.Over || *err != nil {
			return
		}
		e, ok := g.end(m)
		if !ok {
			return
		}
		e.class, _ = g.classes.Arrive(-1, m.After(), struct{}{})
		n, _ := g.ends.Arrive(-1, fmt.Sprint(e), e)
		list = append(list, n)
		if g.edges++; g.ends.Len() > maxStates {
			*err = fmt.Errorf("%w: more than %d; %s", ErrLarge, maxStates, advice)
		} else if g.edges > maxText/8 { // each takes more than 2 bytes of text, and 8 of memory
			*err = g.w.large()
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// end describes the end of an instant; ok is false if a fact excludes it.
func (g *explorer) end(m *flown.Moment) (e end, ok bool) {
	n := g.x.Tree.Len()
	e = end{m.Quiet(), make([]bool, n), make([]bool, n), make([]bool, n), make([]bool, n), nil, 0}
	for t := range bt.Task(n) {
		e.good[t], e.active[t] = m.Good(t), m.Active(t)
		status := m.Status(t)
		e.bad[t] = !e.good[t] && (status == bt.Failure || status == bt.Aborted)
	}
	for _, t := range m.Entered() {
		e.entered[t] = true
	}
	for i := range g.statements {
		e.holds = append(e.holds, m.Holds(&g.statements[i]))
	}
	return e, m.Possible()
}

// write writes the graph.
func (g *explorer) write() {
	w := g.w
	w.variables = append(w.variables, fmt.Sprintf("state : 0..%d;", max(1, g.ends.Len()-1)))
	w.next = append(w.next, "init(state) := "+set(g.first)+";", "next(state) := case")
	by := make([][]int, len(g.next))
	for n := range g.ends.Len() {
		class := g.ends.Move(n).class
		by[class] = append(by[class], n)
	}
	for class, next := range g.next {
		if w.size > maxText {
			return
		}
		if len(next) == 0 { // no run goes on
			next = by[class]
		}
		w.next = append(w.next, fmt.Sprintf("  state in %s : %s;", set(by[class]), set(next)))
		w.size += len(w.next[len(w.next)-1])
	}
	w.next = append(w.next, "  TRUE : state;", "esac;")
	where := func(name string, is func(e *end) bool) string {
		var list []int
		for n := range g.ends.Len() {
			if e := g.ends.Move(n); w.size <= maxText && is(&e) {
				list = append(list, n)
			}
		}
		text := "FALSE"
		if len(list) > 0 {
			text = "state in " + set(list)
		}
		w.define(name, "%s", text)
		return name
	}
	where("quiet", func(e *end) bool { return e.quiet })
	for t := range bt.Task(w.tree.Len()) {
		where(w.good(t), func(e *end) bool { return e.good[t] })
		where(w.bad(t), func(e *end) bool { return e.bad[t] })
		if w.acts(t) || slices.Contains(w.tree.Timers(), t) {
			where(w.active(t), func(e *end) bool { return e.active[t] })
		}
		if w.acts(t) {
			where("entered_"+w.task[t], func(e *end) bool { return e.entered[t] })
		}
	}
	texts := map[string]string{}
	for i, s := range w.statements() {
		texts[s.Text] = where(w.name(fmt.Sprintf("holds_%d", i+1)), func(e *end) bool { return e.holds[i] })
	}
	w.questions(func(s declare.Statement) string { return texts[s.Text] },
		func(t bt.Task) string { return w.active(t) + " | entered_" + w.task[t] }, "quiet")
}

// set writes a set of states.
func set(list []int) string {
	var b strings.Builder
	for i, n := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	return "{" + b.String() + "}"
}
