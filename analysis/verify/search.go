package verify

import (
	"fmt"
	"slices"

	"canopy/bt"
)

// violation judges a state: it reports whether something is as it should not be.
type violation func(p *Player, world []bool) bool

// counterexample is what became of the search for one.
type counterexample struct {
	verdict Verdict
	script  string // "" although refuted: a script begins with all conditions false, and does not get there
	why     string // undecided: the reason
	how     string // proved in another way than by the abstraction
	world   []bool // refuted by a search: where
}

// show looks for a counterexample in a set that the abstraction does not exclude. The engine has the last word. Where
// procedures take time it has the first, too: what ends while another procedure is under way stays as it was, which the
// abstraction, made for a tree whose procedures take none, does not know.
func (m *Model) show(a set, violated violation) counterexample {
	settled := func(p *Player, w []bool) bool { return p.settled() && violated(p, w) }
	if m.slow() {
		c := m.search(settled)
		switch {
		case c.verdict != Undecided:
			return c
		case m.empty(a):
			return counterexample{verdict: Proved, how: "if procedures take no time; else it is not concluded: " + c.why}
		}
	}
	if m.empty(a) {
		return counterexample{verdict: Proved}
	}
	if m.Remembers() {
		world := concrete(m.space.witness(m.space.and(a, m.allowed)))
		if p, err := m.newPlayer(world); err == nil && p.lawful(world) && violated(p, world) { // without any past
			return counterexample{verdict: Refuted, script: m.retrace([]stage{{world: world}}, violated)}
		}
		return m.search(settled)
	}
	// Without memory the state is a function of the world and of what conditions with hysteresis remember.
	world, p := concrete(m.space.witness(m.space.and(a, m.allowed))), m.newTrace()
	for i := range m.leaves {
		if l := &m.leaves[i]; l.latch >= 0 {
			p.latched[i] = world[l.latch]
		}
	}
	switch err := p.Move(world); {
	case err != nil:
		return counterexample{verdict: Undecided, why: err.Error()}
	case !violated(p, world):
		return counterexample{verdict: Undecided, why: "the engine does not show what the abstraction allows"}
	}
	return counterexample{verdict: Refuted, script: p.script()}
}

// Bounds of the search with the engine.
const (
	maxWorlds = 1 << 12
	maxMoves  = 200_000
	maxVisits = 20_000_000 // moves times tasks
)

// exploration visits the states that a plan can reach with the real engine, the nearest first, when any world may
// follow any other. It goes as far as it is asked to.
type exploration struct {
	m       *Model
	worlds  [][]bool
	states  []*Player
	visits  []visit        // each state in each world in which it is reached
	known   map[string]int // state by key
	first   []int          // visit, by state
	seen    map[[2]int]bool
	from    int         // the visit whose successors come next; -1: the first worlds
	world   int         // that comes next
	endings [][]bt.Task // of the visit
	ending  int         // that comes next
	moves   int
	scratch *Player
	crowded bool   // too many procedures may be over together
	looped  error  // of a move after which the plan did not settle
	entered []bool // by task: was active at some time
}

// visit is a state reached in a world as procedures were over, by a move from another visit, -1: at the start.
type visit struct {
	state, world, from int
	over               []bt.Task
}

// stage is one move of a path: the world that comes, and the tasks whose procedures are over.
type stage struct {
	world []bool
	over  []bt.Task
}

func (m *Model) newExploration() *exploration {
	worlds, _ := m.worlds()
	x := &exploration{m: m, worlds: worlds, known: map[string]int{}, seen: map[[2]int]bool{}, from: -1,
		scratch: m.idleSlow(), entered: make([]bool, m.tree.Len())}
	x.ends(x.scratch)
	return x
}

// ends notes the procedures that may be over in the next move of a player.
func (x *exploration) ends(p *Player) {
	var ok bool
	if x.endings, ok = p.endings(); !ok {
		x.crowded = true
	}
}

// bounded reports whether the exploration ends for want of time, and why.
func (x *exploration) bounded() (why string, ok bool) {
	most := min(maxMoves, maxVisits/x.m.tree.Len())
	switch {
	case x.worlds == nil:
		return fmt.Sprintf("the conditions make more than %d worlds, too many to search", maxWorlds),
			true
	case x.moves >= most:
		return fmt.Sprintf("%d moves of the engine did not visit all that it can reach", most), true
	}
	return "", false
}

// step makes the next move; more is false when there is none.
func (x *exploration) step() (more bool) {
	if _, bounded := x.bounded(); bounded || x.from >= len(x.visits) {
		return false
	}
	world, over := x.worlds[x.world], x.endings[x.ending]
	p, err := x.scratch, error(nil)
	if x.from < 0 {
		p, err = x.m.idleSlow().begin(world, over...)
	} else {
		p.copyFrom(x.states[x.visits[x.from].state])
		err = p.Move(world, over...)
	}
	x.moves++
	if err != nil && x.looped == nil {
		x.looped = err
	}
	if err == nil && p.lawful(world) {
		for _, t := range p.entered {
			x.entered[t] = true
		}
		key := p.Key()
		state, known := x.known[key]
		if !known {
			state = len(x.states)
			x.known[key] = state
			c := x.m.idle()
			c.copyFrom(p)
			x.states = append(x.states, c)
			x.first = append(x.first, len(x.visits))
		}
		if at := [2]int{state, x.world}; !x.seen[at] {
			x.seen[at] = true
			x.visits = append(x.visits, visit{state, x.world, x.from, over})
		}
	}
	if x.ending++; x.ending < len(x.endings) {
		return true
	}
	x.ending = 0
	if x.world++; x.world == len(x.worlds) {
		x.world = 0
		for x.from++; x.from < len(x.visits) && x.first[x.visits[x.from].state] != x.from; x.from++ {
			// the state was met in another world, with the same successors
		}
		if x.from < len(x.visits) {
			x.ends(x.states[x.visits[x.from].state])
		}
	}
	return true
}

// path returns the moves that lead to a visit.
func (x *exploration) path(i int) []stage {
	var path []stage
	for ; i >= 0; i = x.visits[i].from {
		path = append(path, stage{x.worlds[x.visits[i].world], x.visits[i].over})
	}
	slices.Reverse(path)
	return path
}

// search looks for a counterexample of a plan with memory.
func (m *Model) search(violated violation) counterexample {
	if m.reachable == nil {
		m.reachable = m.newExploration()
	}
	x := m.reachable
	for i := 0; i < len(x.visits) || x.step(); {
		if i == len(x.visits) {
			continue
		}
		if v := x.visits[i]; violated(x.states[v.state], x.worlds[v.world]) {
			return counterexample{verdict: Refuted, script: m.retrace(x.path(i), violated), world: x.worlds[v.world]}
		}
		i++
	}
	why, undecided := x.bounded()
	if !undecided && x.crowded {
		why, undecided = crowd, true
	}
	if !undecided && x.looped != nil {
		why, undecided = x.looped.Error(), true
	}
	if undecided {
		return counterexample{verdict: Undecided, why: why}
	}
	return counterexample{how: m.visited(len(x.states))}
}

// visited says how something is proved by a search.
func (m *Model) visited(states int) string {
	how := fmt.Sprintf("by visiting all %d states that the engine can reach", states)
	if m.slow() {
		how += " however long procedures take"
	}
	return how
}

// retrace returns a script that makes the moves, "" if it does not show the violation.
func (m *Model) retrace(path []stage, violated violation) string {
	p := m.newSlowTrace()
	for _, s := range path {
		if p.Move(s.world, s.over...) != nil {
			return ""
		}
	}
	if !violated(p, path[len(path)-1].world) {
		return ""
	}
	return p.script()
}

// worlds returns an assignment for each combination of intervals and free inputs; ok is false if they are too many.
func (m *Model) worlds() (all [][]bool, ok bool) {
	all = [][]bool{make([]bool, len(m.vocab.inputs))}
	double := func(set func(w []bool)) {
		for _, w := range slices.Clone(all) {
			c := slices.Clone(w)
			set(c)
			all = append(all, c)
		}
	}
	for v := range m.vocab.inputs {
		if m.vocab.inputs[v].kind == inputFree {
			double(func(w []bool) { w[v] = true })
		}
		if len(all) > maxWorlds {
			return nil, false
		}
	}
	for i := range m.vocab.signals {
		s := &m.vocab.signals[i]
		before := all
		for k := range s.cuts {
			for _, w := range before {
				c := slices.Clone(w)
				for j := range k + 1 {
					c[s.at+j] = true
				}
				all = append(all, c)
			}
		}
		if len(all) > maxWorlds {
			return nil, false
		}
	}
	return all, true
}
