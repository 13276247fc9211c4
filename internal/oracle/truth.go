package oracle

import (
	"slices"

	"canopy/bt"
)

// Seen is whether something was seen: at the end of an instant, with no procedure under way, or within one.
type Seen struct{ Settled, Rest, Within bool }

func (s *Seen) add(f *Flight, rest bool) {
	s.Within = true
	s.Rest = s.Rest || rest
	s.Settled = s.Settled || rest && f.settled()
}

// Truth is what all flights show together.
type Truth struct {
	Space
	Entered  []bool              // by task: it was active, if only for a moment
	Active   []Seen              // by task
	Together map[[2]bt.Task]Seen // two tasks write one slot
	Gap      Seen                // no action is active, and the plan has not succeeded
	Violated []Seen              // by statement of Always
	Statuses map[string]bool     // all tasks, after a settling
}

// Truth visits all states up to a limit.
func (m *Mission) Truth(limit int) Truth {
	t := Truth{Together: map[[2]bt.Task]Seen{}, Violated: make([]Seen, len(m.Always)), Statuses: map[string]bool{}}
	t.Space = m.Explore(limit, func(f *Flight, rest bool) {
		if t.Entered == nil {
			t.Entered, t.Active = make([]bool, f.Tree.Len()), make([]Seen, f.Tree.Len())
		}
		t.Statuses[Statuses(f.Tree, f.engine.Status)] = true
		busy := false
		for i := range t.Active {
			if f.engine.Active(bt.Task(i)) {
				t.Active[i].add(f, rest)
				busy = busy || f.Tree.Kind(bt.Task(i)).Acts()
			}
			t.Entered[i] = t.Entered[i] || f.Entered[i]
		}
		if !busy && !f.good() {
			t.Gap.add(f, rest)
		}
		for pair := range f.Met {
			together := t.Together[pair]
			together.Within = true
			t.Together[pair] = together
		}
		for s := range f.slots {
			w := f.writers(s)
			for i := range w {
				for _, o := range w[i+1:] {
					pair := t.Together[[2]bt.Task{w[i], o}]
					pair.add(f, rest)
					t.Together[[2]bt.Task{w[i], o}] = pair
				}
			}
		}
		for i, e := range m.Always {
			if e.in(f, nil) == 0 {
				t.Violated[i].add(f, rest)
			}
		}
	})
	return t
}

// Statuses returns the statuses of all tasks of a tree.
func Statuses(tree *bt.Tree, of func(bt.Task) bt.Status) string {
	text := make([]byte, tree.Len())
	for i := range text {
		text[i] = byte('0' + of(bt.Task(i)))
	}
	return string(text)
}

// settled reports whether no procedure is under way.
func (f *Flight) settled() bool {
	return !slices.ContainsFunc(f.leaves, func(l leafState) bool { return l.procedure != resting })
}

// good reports whether the plan has succeeded: by its root's status, or by its held result.
func (f *Flight) good() bool {
	root := f.Tree.Root()
	if held, ok := f.engine.Held(root); ok {
		return held == bt.Success
	}
	s := f.engine.Status(root)
	return s == bt.Success || s == bt.Finished
}

// writers returns the leaves that write a slot now.
func (f *Flight) writers(slot int) []bt.Task {
	var tasks []bt.Task
	for i, n := range f.nodes {
		var list []assignment
		switch f.leaves[i].phase {
		case active:
			list = slices.Concat(n.write, n.entry)
		case leaving:
			list = n.exit
		}
		if slices.ContainsFunc(list, func(a assignment) bool { return a.slot == slot }) {
			tasks = append(tasks, f.Tree.Leaves()[i])
		}
	}
	return tasks
}
