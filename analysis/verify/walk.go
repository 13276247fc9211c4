package verify

import (
	"fmt"

	"canopy/bt"
)

// walker moves the engine from world to world and stores the states that it reaches.
type walker struct {
	m       *Model
	worlds  [][]bool
	cells   [][]int // by world: the interval of each signal
	states  []*Player
	known   map[string]int
	classes map[string]int       // of states with the same successors
	class   []int                // by state
	moved   map[[3]int]int       // from class, world and procedures that are over to state; -1: there is none
	begun   map[[3]int][]bt.Task // by such a move of a plan whose procedures take time: the tasks that it activates
	moves   int
	crowded bool  // too many procedures may be over together
	looped  error // of a move after which the plan did not settle
	scratch *Player
}

func (m *Model) newWalker() (x *walker, why string) {
	x = &walker{m: m, known: map[string]int{}, classes: map[string]int{}, moved: map[[3]int]int{},
		begun: map[[3]int][]bt.Task{}, scratch: m.idleSlow()}
	var ok bool
	if x.worlds, ok = m.worlds(); !ok {
		return nil, fmt.Sprintf("the conditions have more than %d worlds, too many to search", maxWorlds)
	}
	for _, w := range x.worlds {
		var cell []int
		for i := range m.vocab.signals {
			cell = append(cell, m.vocab.signals[i].interval(w))
		}
		x.cells = append(x.cells, cell)
	}
	return x, ""
}

// most returns the maximum number of moves of the engine.
func (m *Model) most() int { return min(maxMoves, maxVisits/m.tree.Len()) }

// tired reports whether the engine has used up its moves.
func (x *walker) tired() bool { return x.moves > x.m.most() }

// short returns the reason why a search ends before all states are visited.
func (x *walker) short() string {
	return fmt.Sprintf("%d moves of the engine in %d worlds did not visit all states", x.moves, len(x.worlds))
}

// blind returns the reason why the walks do not cover all of a plan; "" if they do.
func (x *walker) blind() string {
	switch {
	case x.crowded:
		return crowd
	case x.looped != nil:
		return x.looped.Error()
	}
	return ""
}

// endings returns the sets of tasks whose procedures may be over in the next move from a state, -1: in the first world.
func (x *walker) endings(state int) [][]bt.Task {
	p := x.m.idleSlow()
	if state >= 0 {
		p = x.states[state]
	}
	sets, ok := p.endings()
	if !ok {
		x.crowded = true
	}
	return sets
}

// move returns the state that follows a class of states in a world, -1 for the first world, if the procedures of the
// set of endings with this number are over; ok is false if there is none.
func (x *walker) move(state, world, number int, over []bt.Task) (next int, ok bool) {
	class := -1
	if state >= 0 {
		class = x.class[state]
	}
	at := [3]int{class, world, number}
	if next, ok = x.moved[at]; !ok {
		next = x.step(state, world, over)
		x.moved[at] = next
		if next >= 0 && x.m.slow() {
			for _, c := range x.scratch.changes {
				if c.To == bt.Activating {
					x.begun[at] = append(x.begun[at], c.Task)
				}
			}
		}
	}
	return next, next >= 0
}

// step moves the engine and returns the state that it reaches; -1 if there is none.
func (x *walker) step(state, world int, over []bt.Task) int {
	x.moves++
	p, err := x.scratch, error(nil)
	if state < 0 {
		p, err = x.m.idleSlow().begin(x.worlds[world], over...)
	} else {
		p.copyFrom(x.states[state])
		err = p.Move(x.worlds[world], over...)
	}
	if err != nil && x.looped == nil {
		x.looped = err
	}
	if err != nil || !p.lawful(x.worlds[world]) {
		return -1
	}
	key := p.Key()
	if next, ok := x.known[key]; ok {
		return next
	}
	next := len(x.states)
	x.known[key] = next
	c := x.m.idle()
	c.copyFrom(p)
	x.states = append(x.states, c)
	if !x.m.Remembers() && !x.m.slow() { // the successors depend on conditions with hysteresis alone
		key = ""
		for i := range x.m.leaves {
			if x.m.leaves[i].off != nil {
				key += string(packed(p.latched[i : i+1]))
			}
		}
	}
	class, ok := x.classes[key]
	if !ok {
		class = len(x.classes)
		x.classes[key] = class
	}
	x.class = append(x.class, class)
	return next
}

// worldText describes a world by all its signals and free inputs.
func (m *Model) worldText(world []bool) string {
	r := &region{first: map[int]int{}, last: map[int]int{}, truth: map[int]bool{}}
	for v := range m.vocab.inputs {
		switch in := &m.vocab.inputs[v]; in.kind {
		case inputBit:
			k := m.vocab.signals[in.signal].interval(world)
			r.first[in.signal], r.last[in.signal] = k, k
		case inputFree:
			r.truth[v] = world[v]
		}
	}
	return m.text(r)
}
