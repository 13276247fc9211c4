package executive

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// Carry returns the discrete inputs with which an execution of a new program goes on, given those of the old one: kept
// leaves keep their phase and what they have captured, slots with Hold their held values, by name. The function returns
// the value of the new slot that a value of the old one is; ok is false if there is none. An assignment that only the
// new program makes has the default of its slot until it is made again.
func Carry(old *Program, u []float64, x *bt.Exchange, p *Program,
	value func(old, now int, v float64) (is float64, ok bool),
) []float64 {
	next := p.Initial()
	carry := func(slot, to, was, from int) {
		is, ok := math.NaN(), !old.Marked(from, u)
		if ok {
			is, ok = value(was, slot, u[from])
		}
		p.put(next, to, is, ok)
	}
	for i := range p.Leaves {
		l := &p.Leaves[i]
		k := x.Kept(l.Task)
		if k < 0 {
			continue
		}
		from := &old.Leaves[old.leafOf[k]]
		next[i] = u[old.leafOf[k]]
		for _, r := range p.Kept {
			w := &p.Slots[r.Slot].Writers[r.Writer]
			for _, q := range old.Kept {
				v := &old.Slots[q.Slot].Writers[q.Writer]
				if w.Leaf == i && v.Leaf == old.leafOf[k] && old.Slots[q.Slot].Name == p.Slots[r.Slot].Name &&
					old.Marked(old.Capture(v.Captured), u) {
					at := p.Capture(w.Captured)
					next[at], _ = value(q.Slot, r.Slot, u[old.Capture(v.Captured)])
					next[p.mark(at)] = 1
				}
			}
		}
		for _, lists := range [][2][]Assignment{{l.Entry, from.Entry}, {l.Exit, from.Exit}} {
			for _, a := range lists[0] {
				at := p.Capture(a.Captured)
				p.start(next, at, a.Slot)
				if n := slices.IndexFunc(lists[1], func(b Assignment) bool {
					return old.Slots[b.Slot].Name == p.Slots[a.Slot].Name
				}); n >= 0 {
					carry(a.Slot, at, lists[1][n].Slot, old.Capture(lists[1][n].Captured))
				}
			}
		}
	}
	for i, s := range p.Slots {
		if k := old.slot(s.Name); k >= 0 && s.Hold {
			carry(i, p.Held(i), k, old.Held(k))
		}
		counts := slices.IndexFunc(s.Writers, func(w Writer) bool { return next[w.Leaf] == w.Phase })
		next[p.counts(i)] = float64(counts + 1)
	}
	return next
}

// slot returns the slot with a name, -1 for none.
func (p *Program) slot(name string) int {
	return slices.IndexFunc(p.Slots, func(s Slot) bool { return s.Name == name })
}

// Continue returns an execution of a new program that goes on with what both plans have, in a world whose inputs are
// those of Carry. The decider's engine continues the old one's (bt.Engine.Exchange); the old execution stays as it is.
func Continue(old *Executive, x *bt.Exchange, p *Program, w World, d Decider) *Executive {
	n := create(p, w, d)
	for i := range p.Leaves {
		if k := x.Kept(p.Leaves[i].Task); k >= 0 {
			n.leaves[i] = old.leaves[old.p.leafOf[k]]
		}
	}
	for i, t := range p.Tree.Timers() {
		if k := x.Kept(t); k >= 0 {
			at, _ := slices.BinarySearch(old.p.Tree.Timers(), k)
			n.timers[i] = old.timers[at]
		}
	}
	for i, s := range p.Slots {
		if k := old.p.slot(s.Name); k >= 0 {
			n.conflicts[i] = old.conflicts[k]
		}
	}
	if x.Whole() {
		n.root, n.over = old.root, old.over
		copy(n.waits, old.waits)
	}
	n.released = old.released
	n.halted, n.micro, n.pass.rests = old.halted, old.micro, true
	n.renew()
	d.begin(n)
	return n
}

// Withhold withholds the actions that an exchange removes; nil ends this. The next Settle settles the tree.
func (x *Executive) Withhold(change *bt.Exchange) {
	x.tree.exchanger().Withhold(change)
	x.tree.begun = false // it settles also without inputs
}

// Await is Withhold for actions that are to end by themselves (bt.Engine.Await).
func (x *Executive) Await(change *bt.Exchange) {
	x.tree.exchanger().Await(change)
	x.tree.begun = false
}

// Exchanged returns the decider for Continue: the old execution's engine, which goes on with another tree. The old one
// must be one that Exchanges. always is by task of the new tree, as for Listening.
func Exchanged(old *Executive, x *bt.Exchange, always []bool) Decider {
	from := old.tree.exchanger()
	if old.tree.always == nil {
		return Tree(func(in []bt.Input) Engine { return from.Exchange(x, in) })
	}
	return Listening(func(in []bt.Input) Listener { return from.Exchange(x, in) }, always, Heard)
}

// Exchanges reports whether the plan of the execution can be exchanged: a tree in continuous time decides, with an
// Exchanger.
func (x *Executive) Exchanges() bool { return x.tree != nil && x.tree.exchanger() != nil }

// Ready reports whether an exchange can take place: no action that it removes is engaged.
func (x *Executive) Ready(change *bt.Exchange) bool { return x.tree.exchanger().Ready(change) }

// exchanger returns the engine, if it can go on with another tree; else nil.
func (d *tree) exchanger() Exchanger {
	e, _ := d.engine.(Exchanger)
	return e
}
