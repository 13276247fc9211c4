package oracle

import (
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
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
	Faults   map[Fault]Seen
}

// Fault is what a state may show.
type Fault struct {
	Of    string // a question: complete, goal, always or command; or wait: guards wait for each other; or open
	Which int    // goal: 0: success without the goal, 1: the goal without success; the statement or slot
}

// shows reports whether a flight shows a fault.
func (f *Flight) shows(x Fault) bool {
	switch x.Of {
	case "complete":
		return !f.good() && !slices.ContainsFunc(f.Tree.Leaves(), func(t bt.Task) bool {
			return f.Tree.Kind(t).Acts() && f.engine.Active(t)
		}) && !slices.ContainsFunc(f.Tree.Timers(), func(t bt.Task) bool {
			return f.engine.Active(t) && !slices.ContainsFunc(f.Tree.Children(t), f.engine.Active)
		})
	case "goal":
		goal := f.Goal.in(f, nil) > 0
		return f.good() != goal && goal == (x.Which == 1)
	case "always":
		return f.Always[x.Which].in(f, nil) == 0 && !f.unwritten(f.Always[x.Which])
	case "open": // whether the statement holds depends on an entry without a value: random ones are not negated
		return f.Always[x.Which].in(f, nil) == 0 && f.unwritten(f.Always[x.Which])
	case "command":
		return !slices.ContainsFunc(f.writers(x.Which), f.engine.Active)
	case "wait":
		return f.deadlock()
	}
	panic("oracle: a fault of an unknown question")
}

// faults returns all faults that a state may show.
func (m *Mission) faults() []Fault {
	list := []Fault{{Of: "complete"}, {Of: "wait"}}
	if m.Goal != nil {
		list = append(list, Fault{"goal", 0}, Fault{"goal", 1})
	}
	for i := range m.Always {
		list = append(list, Fault{"always", i}, Fault{"open", i})
	}
	for _, s := range m.Written {
		list = append(list, Fault{"command", s})
	}
	return list
}

// Truth visits all states up to a limit.
func (m *Mission) Truth(limit int) Truth {
	t := Truth{Together: map[[2]bt.Task]Seen{}, Faults: map[Fault]Seen{}}
	faults := m.faults()
	t.Space = m.Explore(limit, func(f *Flight, rest bool) {
		if t.Entered == nil {
			t.Entered, t.Active = make([]bool, f.Tree.Len()), make([]Seen, f.Tree.Len())
		}
		for i := range t.Active {
			if f.engine.Active(bt.Task(i)) {
				t.Active[i].add(f, rest)
			}
			t.Entered[i] = t.Entered[i] || f.Entered[i]
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
		for _, x := range faults {
			if f.shows(x) {
				seen := t.Faults[x]
				seen.add(f, rest)
				t.Faults[x] = seen
			}
		}
	})
	return t
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

// deadlock reports whether guards wait for each other: one waits for a resource that another one has, below which one
// waits that comes back to the first in this way.
func (f *Flight) deadlock() bool {
	var guards []bt.Task
	for t := range bt.Task(f.Tree.Len()) {
		if trees.Guards(f.Tree.Kind(t)) {
			guards = append(guards, t)
		}
	}
	leads := map[[2]bt.Task]bool{}
	for _, g := range guards {
		for _, h := range guards {
			for _, next := range guards {
				if g != h && f.waits(g) && f.has(h) && f.waits(next) && f.above(h, next) &&
					f.Tree.Params(g)[0] == f.Tree.Params(h)[0] {
					leads[[2]bt.Task{g, next}] = true
				}
			}
		}
	}
	for _, k := range guards {
		for _, i := range guards {
			for _, j := range guards {
				if leads[[2]bt.Task{i, k}] && leads[[2]bt.Task{k, j}] {
					leads[[2]bt.Task{i, j}] = true
				}
			}
		}
	}
	return slices.ContainsFunc(guards, func(g bt.Task) bool { return leads[[2]bt.Task{g, g}] })
}

// stuck reports whether there is a state in which guards wait for each other, and after which some always do.
func (m *Mission) stuck(limit int) bool {
	var found []*Flight
	m.Explore(limit, func(f *Flight, rest bool) {
		if rest && len(found) < 20 && f.deadlock() {
			found = append(found, f.clone())
		}
	})
	return slices.ContainsFunc(found, func(f *Flight) bool {
		f.round = nil
		out := false
		s := f.from(limit, func(f *Flight, rest bool) { out = out || rest && !f.deadlock() },
			func(try func(*Flight, error)) { try(f, nil) })
		return s.Complete && !out
	})
}

// waits reports whether a guard is active whose child asks in vain.
func (f *Flight) waits(guard bt.Task) bool {
	child := f.Tree.Children(guard)[0]
	return f.engine.Status(guard) == bt.Running && f.engine.Status(child) == bt.Accept && !f.engine.Active(child)
}

// has reports whether a guard has its resource.
func (f *Flight) has(guard bt.Task) bool {
	return !f.engine.Status(f.Tree.Children(guard)[0]).Transient()
}

func (f *Flight) above(t, low bt.Task) bool {
	for low = f.Tree.Parent(low); low >= 0 && low != t; low = f.Tree.Parent(low) {
	}
	return low >= 0
}
