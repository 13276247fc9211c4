package verify

import (
	"slices"
	"strconv"

	"github.com/canopy-uav/canopy/expr"
)

// A condition with hysteresis, a latch, follows
//
//	value = on or (before and not off)
//
// and its value is its next memory, initially false. Whether a run leads to the memory that a state needs is decided
// from its end: some latches got their values last, together in one world, in which the facts hold and no other latch
// got the opposite of its value; before that world, they may have had any value. So
//
//	repeat: find a world that gives some of the latches their values, and none the opposite; leave these latches out
//
// until the rest is as at first, or there is no such world: then no run leads to these values of the rest. Any world
// will do, because with fewer latches more worlds are possible. What no run leads to is excluded, when it is met. Where
// facts are about latches, they must hold on the way, too: what is excluded so is not all that no run leads to.

// latch is a condition with hysteresis.
type latch struct {
	variable     int // it was true before
	rises, falls set // the worlds in which it becomes true, false
}

// latchGroup is the latches that depend on each other through signals, inputs and facts.
type latchGroup struct {
	latches []latch
	inputs  []int   // the variables of these signals and inputs
	facts   set     // that concern them
	calm    []value // a world, by input, in which none of the latches becomes true; nil: unknown, or there is none
}

// maxPaired is the maximum number of latches of a group whose pairs are compared before it is needed.
const maxPaired = 16

// restrictLatches groups the latches and excludes the memories of pairs that no run leads to.
func (m *Model) restrictLatches() {
	m.groups = m.latchGroups()
	for _, g := range m.groups {
		if len(g.latches) <= maxPaired {
			m.pair(g)
		}
	}
}

// pair excludes the values of two latches that no run leads to.
func (m *Model) pair(g *latchGroup) {
	for i := range g.latches {
		for j := range i + 1 {
			for _, v := range [][2]bool{{true, true}, {true, false}, {false, true}} {
				if i == j && v[0] != v[1] || m.space.full() {
					continue
				}
				values := make([]bool, len(g.latches))
				values[i], values[j] = v[0], v[1]
				if rest, _ := g.lead(m.space, values, slices.Compact([]int{i, j})); rest != nil {
					m.exclude(m.memoryOf(g, values, rest))
				}
			}
		}
	}
}

// lead returns worlds that give some of a group's latches their values. If there are none it returns latches for whose
// values alone there are none either.
func (g *latchGroup) lead(s *diagrams, values []bool, some []int) (rest []int, path [][]value) {
	rest = slices.Clone(some)
	for slices.ContainsFunc(rest, func(i int) bool { return values[i] }) { // they are not as at first
		decides := s.none()
		for _, i := range rest {
			decides = s.or(decides, g.decides(i, values[i]))
		}
		in := s.and(decides, g.spares(s, values, rest))
		if s.empty(in) {
			return rest, nil
		}
		w := s.witness(in)
		path = append(path, g.part(w))
		rest = slices.DeleteFunc(rest, func(i int) bool { return s.has(g.decides(i, values[i]), w) })
	}
	slices.Reverse(path)
	return nil, path
}

// part returns the values of a witness for the group's inputs.
func (g *latchGroup) part(w []value) []value {
	part := make([]value, len(g.inputs))
	for i, v := range g.inputs {
		part[i] = w[v]
	}
	return part
}

// decides returns the worlds that give a latch a value.
func (g *latchGroup) decides(i int, value bool) set {
	if value {
		return g.latches[i].rises
	}
	return g.latches[i].falls
}

// spares returns the worlds that give none of the latches the opposite of its value.
func (g *latchGroup) spares(s *diagrams, values []bool, some []int) set {
	in := g.facts
	for _, i := range some {
		in = s.and(in, s.not(g.decides(i, !values[i])))
	}
	return in
}

// memoryOf returns the states in which some of a group's latches had these values before.
func (m *Model) memoryOf(g *latchGroup, values []bool, some []int) set {
	in := m.space.all()
	for _, i := range some {
		in = m.space.and(in, m.literal(g.latches[i].variable, values[i]))
	}
	return in
}

func (m *Model) literal(v int, value bool) set {
	if value {
		return m.space.variable(v)
	}
	return m.space.not(m.space.variable(v))
}

// exclude removes states from those that are considered: no run leads to them.
func (m *Model) exclude(a set) {
	m.latches, m.lawful = m.space.and(m.latches, m.space.not(a)), m.space.and(m.lawful, m.space.not(a))
}

// found is a state of a set and the worlds that lead to its latches from the beginning of a run.
type found struct {
	world  []bool
	before [][]bool
}

// find returns a state of a set that is lawful and to whose latches a run leads; ok is false if there is none.
func (m *Model) find(a set) (f found, ok bool) {
	for {
		in := m.space.and(a, m.lawful)
		if m.space.empty(in) {
			return found{}, false
		}
		w := m.space.witness(in)
		if f, ok = m.reach(w); ok {
			return f, true
		}
	}
}

// reach returns the worlds that lead to the latches of a state. If there are none it excludes what cannot be.
func (m *Model) reach(w []value) (f found, ok bool) {
	f.world = concrete(w)
	if !slices.ContainsFunc(m.memories, func(v int) bool { return w[v] == yes }) {
		return f, true // as at first
	}
	paths := make([][][]value, len(m.groups))
	moved := never // the memory of a latch that was not so at first
	longest := 0
	for k, g := range m.groups {
		if !g.holdsIn(w) {
			continue
		}
		values, some := g.in(w)
		var rest []int
		if rest, paths[k] = g.lead(m.space, values, some); rest != nil {
			m.exclude(m.memoryOf(g, values, m.fewer(rest, func(some []int) []int {
				rest, _ := g.lead(m.space, values, some)
				return rest
			})))
			return f, false
		}
		if longest = max(longest, len(paths[k])); len(paths[k]) > 0 && moved == never {
			i := slices.IndexFunc(some, func(i int) bool { return values[i] })
			moved = m.memoryOf(g, values, some[i:i+1])
		}
	}
	for k, g := range m.groups { // each world is one for all groups
		if longest == 0 || len(paths[k]) > 0 {
			continue
		}
		if g.calm != nil {
			paths[k] = [][]value{g.calm}
			continue
		}
		values, some := g.in(w)
		in := g.spares(m.space, values, some)
		if m.space.empty(in) { // a latch that the first world changes
			m.exclude(m.space.and(moved, m.memoryOf(g, values, m.fewer(some, func(some []int) []int {
				if m.space.empty(g.spares(m.space, values, some)) {
					return some
				}
				return nil
			}))))
			return f, false
		}
		paths[k] = [][]value{g.part(m.space.witness(in))}
		if len(some) == len(g.latches) {
			g.calm = paths[k][0]
		}
	}
	for at := range longest {
		world := slices.Clone(f.world)
		for k, g := range m.groups {
			if p := paths[k]; len(p) > 0 { // a shorter path stays in its first world
				step := p[max(0, at-(longest-len(p)))]
				for i, v := range g.inputs {
					world[v] = step[i] != no
				}
			}
		}
		f.before = append(f.before, world)
	}
	return f, true
}

// holdsIn reports whether one of the latches was true before.
func (g *latchGroup) holdsIn(w []value) bool {
	return slices.ContainsFunc(g.latches, func(l latch) bool { return w[l.variable] == yes })
}

// in returns the values of a group's latches in a witness, and which of them matter.
func (g *latchGroup) in(w []value) (values []bool, some []int) {
	values = make([]bool, len(g.latches))
	for i := range g.latches {
		if v := w[g.latches[i].variable]; v != open {
			values[i], some = v == yes, append(some, i)
		}
	}
	return values, some
}

// fewer leaves out latches as long as the others fail; a failure may return fewer latches.
func (m *Model) fewer(some []int, fails func(some []int) []int) []int {
	for size := (len(some) + 1) / 2; size > 0 && !m.space.full(); size /= 2 {
		for at := 0; at < len(some); {
			others := slices.Delete(slices.Clone(some), at, min(at+size, len(some)))
			if rest := fails(others); rest != nil {
				some = rest
			} else {
				at += size
			}
		}
	}
	return some
}

// symbol is what a formula depends on: a signal, a relation, a latch, or a fact itself.
type symbol struct {
	kind inputKind
	name string
}

// symbols visits what a formula depends on; nil depends on nothing.
func (m *Model) symbols(l *expr.Logic, visit func(symbol)) {
	if l == nil {
		return
	}
	switch l.Op {
	case expr.LogicThreshold:
		visit(symbol{inputBit, l.Signal})
	case expr.LogicRelation:
		visit(symbol{inputFree, l.Key})
	case expr.LogicProposition:
		task, _ := m.tree.Find(l.Text)
		if i, ok := m.leafOf[task]; ok && m.leaves[i].condition {
			c := &m.leaves[i]
			m.symbols(c.on, visit)
			m.symbols(c.off, visit)
			if c.latch >= 0 {
				visit(symbol{inputLatch, c.input})
			}
		}
	}
	for i := range l.Args {
		m.symbols(&l.Args[i], visit)
	}
}

// disjointSets are sets of symbols: each leads to another one of its set, the last to itself.
type disjointSets map[symbol]symbol

func (c disjointSets) find(t symbol) symbol {
	next, known := c[t]
	if !known || next == t {
		c[t] = t
		return t
	}
	c[t] = c.find(next)
	return c[t]
}

// unite returns a function that unites the sets of symbols with that of one.
func (c disjointSets) unite(t symbol) func(symbol) {
	return func(u symbol) { c[c.find(u)] = c.find(t) }
}

// latchGroups returns the latches, grouped by shared signals, inputs and facts.
func (m *Model) latchGroups() []*latchGroup {
	s, sets, known := m.space, disjointSets{}, map[int]bool{}
	var latches []*leaf
	for i := range m.leaves {
		if l := &m.leaves[i]; l.latch >= 0 && !known[l.latch] {
			known[l.latch] = true
			latches = append(latches, l)
			m.symbols(l.on, sets.unite(symbol{inputLatch, l.input}))
			m.symbols(l.off, sets.unite(symbol{inputLatch, l.input}))
		}
	}
	if latches == nil {
		return nil
	}
	fact := func(i int) symbol { return symbol{inputFact, strconv.Itoa(i)} }
	for i := range m.facts {
		m.symbols(&m.facts[i], sets.unite(fact(i)))
	}
	groups := map[symbol]*latchGroup{}
	var list []*latchGroup
	for _, l := range latches {
		g := groups[sets.find(symbol{inputLatch, l.input})]
		if g == nil {
			g = &latchGroup{facts: s.all()}
			groups[sets.find(symbol{inputLatch, l.input})] = g
			list = append(list, g)
		}
		rises := m.of(l.on)
		m.memories = append(m.memories, l.latch)
		g.latches = append(g.latches, latch{l.latch, rises, s.and(m.of(l.off), s.not(rises))})
	}
	for i := range m.facts {
		if g := groups[sets.find(fact(i))]; g != nil {
			g.facts = s.and(g.facts, m.of(&m.facts[i]))
			m.symbols(&m.facts[i], func(t symbol) { m.uncertain = m.uncertain || t.kind == inputLatch })
		}
	}
	for t := range sets {
		g := groups[sets.find(t)]
		switch {
		case g == nil:
		case t.kind == inputBit:
			sig := &m.vocab.signals[m.vocab.bySig[t.name]]
			for b := range sig.bits() {
				g.inputs = append(g.inputs, sig.at+b)
			}
		case t.kind == inputFree:
			g.inputs = append(g.inputs, m.vocab.byFree[t.name])
		}
	}
	return list
}
