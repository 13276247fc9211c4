package bt

import (
	"slices"

	"github.com/canopy-uav/canopy/snapshot"
)

// Exchange is the change from one tree to another while the first one runs (docs/semantics.md, section 9). It is a
// description: it never changes.
type Exchange struct {
	from, to *Tree
	kept     []Task // by task of the new tree: the same task of the old one; -1: none
	gone     []Task // the actions of the old tree that the new one does not have
	whole    bool   // the trees are the same: nothing is gone, and nothing is new
}

// NewExchange returns the change from one tree to another. A task is kept if both have one of the same name, kind and
// parameters, and of a leaf if same holds.
func NewExchange(from, to *Tree, same func(old, now Task) bool) *Exchange {
	x := &Exchange{from: from, to: to, kept: make([]Task, to.Len()), whole: from.Len() == to.Len()}
	stays := make([]bool, from.Len())
	for t := range Task(to.Len()) {
		old, ok := from.Find(to.Name(t))
		if !ok || from.kinds[old] != to.kinds[t] || !slices.Equal(from.params[old], to.params[t]) ||
			to.nodes[t].family == Leaf && !same(old, t) {
			x.kept[t], x.whole = none, false
			continue
		}
		x.kept[t], stays[old] = old, true
		x.whole = x.whole && old == t && from.Parent(old) == to.Parent(t)
	}
	for _, t := range from.leaves {
		if from.kinds[t].Acts() && !stays[t] {
			x.gone = append(x.gone, t)
		}
	}
	return x
}

// To returns the new tree.
func (x *Exchange) To() *Tree { return x.to }

// Kept returns the task of the old tree that is the same as one of the new tree, -1 for none.
func (x *Exchange) Kept(t Task) Task { return x.kept[t] }

// Whole reports whether the trees are the same.
func (x *Exchange) Whole() bool { return x.whole }

// Gone returns the actions of the old tree that the new one does not have. The caller must not change the slice.
func (x *Exchange) Gone() []Task { return x.gone }

// Difference returns the number of kept tasks, and the names of those that only the old tree and only the new one has.
func (x *Exchange) Difference() (kept int, removed, added []string) {
	stays := make([]bool, x.from.Len())
	for t, k := range x.kept {
		if k >= 0 {
			kept++
			stays[k] = true
		} else {
			added = append(added, x.to.Name(Task(t)))
		}
	}
	for t, stays := range stays {
		if !stays {
			removed = append(removed, x.from.Name(Task(t)))
		}
	}
	return kept, removed, added
}

// exchanging is the state of an engine whose tree is being exchanged.
type exchanging struct {
	withheld []bool // by task: it has no activity, as it is removed
	gentle   bool   // what is engaged is not withheld
	awaited  []Task // nothing is withheld until each of these has been transient
}

// withholds reports whether a task has no activity because it is removed.
func (e *Engine) withholds(t Task) bool {
	x := e.exchanging
	return x != nil && x.withheld[t] &&
		(!x.gentle || len(x.awaited) == 0 && e.Status(t).Transient())
}

// Withhold withholds the actions that an exchange removes, from the next Settle on: they have no activity. What wants
// one of them waits. Nil ends this.
func (e *Engine) Withhold(x *Exchange) {
	e.reconsider()
	if e.exchanging = nil; x != nil && len(x.gone) > 0 {
		e.exchanging = &exchanging{withheld: make([]bool, len(e.tasks))}
		for _, t := range x.gone {
			e.exchanging.withheld[t] = true
		}
	}
	e.reconsider()
}

// Await lets the actions that an exchange removes end by themselves: until those that are engaged now have ended, the
// tree goes on as it is; from that iteration on, removed actions are withheld unless they are engaged.
func (e *Engine) Await(x *Exchange) {
	e.Withhold(x)
	for _, t := range x.gone {
		if e.exchanging.gentle = true; !e.Status(t).Transient() {
			e.exchanging.awaited = append(e.exchanging.awaited, t)
		}
	}
}

// reconsider visits what grants activity to the actions that an exchange removes.
func (e *Engine) reconsider() {
	if e.exchanging == nil {
		return
	}
	for t, withheld := range e.exchanging.withheld {
		if withheld {
			e.down.add(Task(t))
			if p := e.tree.Parent(Task(t)); p >= 0 {
				e.down.add(p)
			}
		}
	}
}

// awaits forgets awaited actions that have ended.
func (e *Engine) awaits() {
	x, before := e.exchanging, len(e.exchanging.awaited)
	x.awaited = slices.DeleteFunc(x.awaited, func(t Task) bool { return e.Status(t).Transient() })
	if len(x.awaited) == 0 && before > 0 {
		e.reconsider()
	}
}

// Ready reports whether an exchange can take place: no action that it removes is engaged.
func (e *Engine) Ready(x *Exchange) bool {
	return !slices.ContainsFunc(x.gone, func(t Task) bool { return !e.Status(t).Transient() })
}

// Exchange returns an engine for the new tree, which goes on with what both trees have; the old engine is Ready and
// stays as it is. The initial inputs are applied before new tasks are judged, as by [NewEngine]. The next Settle
// settles the new tree for the first time.
//
// A kept task keeps its status and its activity. It keeps its held or pinned result below the same parent, where a
// chain keeps pins only of children in front of which nothing is new. An automaton is kept if all children are. The
// root keeps a result only if the trees are the same.
func (e *Engine) Exchange(x *Exchange, initial []Input) *Engine {
	if e.tree != x.from {
		panic("bt: an exchange for an engine of another tree")
	}
	n := newEngine(x.to, e.limit)
	n.halted = e.halted
	for _, t := range x.to.leaves {
		if old := x.kept[t]; old >= 0 {
			*n.task(t) = *e.task(old)
		}
	}
	n.take(initial)
	for t := range Task(x.to.Len()) {
		n.resume(t, e, x)
		n.up.add(t)
		n.down.add(t)
	}
	return n
}

// resume sets the state of a task from that of the same one in the old engine, if there is one; the children's are set.
func (e *Engine) resume(t Task, from *Engine, x *Exchange) {
	n, s, old := &e.tree.nodes[t], e.task(t), x.kept[t]
	if n.family != Leaf {
		if old >= 0 {
			o := from.task(old)
			s.status, s.effective, s.hold, s.active = o.status, o.effective, o.hold, o.active
		}
		e.gather(t, from, x)
	}
	if n.up == nil && !x.whole && s.hold != free {
		s.hold, s.effective = free, s.status
	}
	if old < 0 || !from.Hears(old) && s.status.Transient() {
		s.status = s.Request
		if s.hold == free {
			s.effective = s.status
		}
	}
}

// gather counts the children of a composite, and takes its memory over.
func (e *Engine) gather(t Task, from *Engine, x *Exchange) {
	n, old := &e.tree.nodes[t], x.kept[t]
	c := &e.composites[n.composite]
	same := old >= 0 && len(from.tree.Children(old)) == int(n.n) // all children are kept
	front := true                                                // all children so far are pinned
	for place := range n.n {
		child, k := e.child(n, place), x.kept[e.tree.kids[n.kids+place]]
		below := old >= 0 && k >= 0 && from.tree.Parent(k) == old
		same = same && below && from.tree.Children(old)[place] == k
		front = front && below && child.hold == pinned
		switch {
		case child.hold == free:
		case !below, child.hold == pinned && !front && n.family == Chain && child.status.in(judged):
			child.hold, child.effective = free, child.status
		case child.hold == pinned && !front && n.family == Chain:
			child.hold = held
		}
		if child.hold != free {
			c.held++
		}
		if front && n.family == Chain {
			c.pinned = place + 1
		}
		c.statuses += inStatuses[child.status%room]
		if child.active {
			c.active++
		}
		if n.family == Count {
			c.results += inResults[child.effective%room]
		}
	}
	s := e.task(t)
	if n.family == Script && same {
		e.at[n.script] = from.at[from.tree.nodes[old].script]
	}
	s.judge(e.verdict(n, c))
	s.Busy = c.statuses.switching()
}

// passExchange passes the state of an exchange to the codec.
func (e *Engine) passExchange(c *snapshot.Codec) {
	some := e.exchanging != nil
	if snapshot.Bool(c, &some); !some {
		e.exchanging = nil
		return
	}
	if c.Loading() {
		e.exchanging = &exchanging{withheld: make([]bool, len(e.tasks))}
	}
	x := e.exchanging
	snapshot.Each(c, x.withheld, snapshot.Bool)
	snapshot.Bool(c, &x.gentle)
	snapshot.List(c, &x.awaited, func(c *snapshot.Codec, t *Task) { snapshot.Within(c, t, 0, Task(len(e.tasks)-1)) })
}
