package stategraph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/syntax/yamldoc"
)

// crosses reports a transition between steps of different levels.
func (b *builder) crosses(t Transition, from, to *yamldoc.Node) bool {
	g := b.g
	around, target := g.steps[t.From].parent, g.steps[t.To].parent
	if around == target {
		return false
	}
	if around != None && (t.To < around || t.To >= g.steps[around].end || t.To == around) {
		b.Add(to, "crosses-boundary",
			fmt.Sprintf("leave %[1]q itself: through its `exit` and a transition from %[1]q, or by one that suspends it",
				g.steps[around].name),
			"the transition from %q to %q leads out of parallel step %q", from.Value, to.Value, g.steps[around].name)
		return true
	}
	for g.steps[target].parent != around {
		target = g.steps[target].parent
	}
	b.Add(to, "crosses-boundary",
		fmt.Sprintf("lead to %q, whose `entry` names the steps that begin", g.steps[target].name),
		"the transition from %q to %q leads into parallel step %q", from.Value, to.Value, g.steps[target].name)
	return true
}

// checker checks the structure of a graph level by level: the outermost steps, or those inside one parallel step.
type checker struct {
	*builder
	inside   [][]Step // the steps of each level, by the step around + 1
	branch   []Step   // by step: the first step of its branch; None: no branch reaches it
	passable []bool   // by step: a parallel step that can be entered and left at one instant
}

// check reports what is wrong with the structure of the graph.
func (b *builder) check(steps *yamldoc.Node) {
	c := &checker{builder: b, inside: make([][]Step, len(b.g.steps)+1), passable: make([]bool, len(b.g.steps))}
	for s := range b.g.steps {
		around := b.g.steps[s].parent + 1
		c.inside[around] = append(c.inside[around], Step(s))
		c.branch = append(c.branch, None)
	}
	for s := Step(len(b.g.steps)) - 1; s >= None; s-- { // from the inside
		if s != None && !b.g.steps[s].parallel {
			continue
		}
		c.branches(s)
		c.reach(s, steps)
		c.loops(s)
		if s != None {
			c.exits(s)
		}
	}
}

// leaving visits the transitions from a step.
func (c *checker) leaving(s Step, visit func(k int)) {
	for _, list := range [...][]int{c.g.steps[s].out, c.g.steps[s].suspend} {
		for _, k := range list {
			visit(k)
		}
	}
}

// branches determines the steps of a level that each of its first steps leads to, and reports those that two lead to.
func (c *checker) branches(around Step) {
	var queue []Step
	for _, s := range c.inside[around+1] {
		if c.g.steps[s].first {
			c.branch[s] = s
			queue = append(queue, s)
		}
	}
	met := map[[2]Step]bool{}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		c.leaving(s, func(k int) {
			to := c.g.transitions[k].To
			switch mine, other := c.branch[s], c.branch[to]; {
			case other == None:
				c.branch[to] = mine
				queue = append(queue, to)
			case other != mine && !met[[2]Step{min(mine, other), max(mine, other)}]:
				met[[2]Step{min(mine, other), max(mine, other)}] = true
				c.meet(around, k, mine, other)
			}
		})
	}
}

// meet reports a transition that joins two branches.
func (c *checker) meet(around Step, k int, mine, other Step) {
	if around == None {
		first, second := min(mine, other), max(mine, other)
		c.Add(c.steps[second].key, "several-initial-steps", "one graph begins in one place: keep one `initial: true`",
			"%q and %q are both initial steps of one graph", c.g.steps[first].name, c.g.steps[second].name)
		return
	}
	c.Add(c.links[k], "between-branches", "branches of a parallel step meet only in its `exit`",
		"the transition %s leads from the branch of %q to that of %q", c.g.transitionName(k),
		c.g.steps[mine].name, c.g.steps[other].name)
}

// reach reports the steps of a level that can never become active.
func (c *checker) reach(around Step, steps *yamldoc.Node) {
	level := c.inside[around+1]
	known := make(map[Step]bool, len(level))
	var spread func(s Step)
	spread = func(s Step) {
		if !known[s] {
			known[s] = true
			c.leaving(s, func(k int) { spread(c.g.transitions[k].To) })
		}
	}
	entered := map[Step]bool{}
	begins := false
	for _, s := range level {
		c.leaving(s, func(k int) { entered[c.g.transitions[k].To] = true })
		if c.branch[s] != None {
			begins, known[s] = true, true
		}
	}
	switch {
	case begins:
	case around != None: // reported as a missing entry
		return
	case len(level) == 0:
		c.Add(steps, "missing-key", "", "the state graph has no steps")
		return
	default:
		c.Add(c.steps[level[0]].key, "no-initial-step", "add `initial: true` to the step in which the graph begins",
			"the state graph has no initial step")
		return
	}
	if c.broken {
		return
	}
	for _, s := range level {
		if !known[s] && !entered[s] {
			c.Add(c.steps[s].key, "no-input", "", "step %q is never active: no transition leads to it", c.g.steps[s].name)
			spread(s)
		}
	}
	for _, s := range level {
		if !known[s] {
			c.Add(c.steps[s].key, "unreachable-step", "", "step %q is never active: no path leads to it from the start",
				c.g.steps[s].name)
			spread(s)
		}
	}
}

// exits reports exits that do not belong to one branch each, and determines whether the parallel step can be entered
// and left at one instant: every branch that the exit waits for must be passable.
func (c *checker) exits(s Step) {
	of := map[Step]Step{}
	passable := len(c.g.steps[s].exits) > 0
	for i, exit := range c.g.steps[s].exits {
		branch := c.branch[exit]
		if branch == None {
			passable = false // reported as a step that is never active
			continue
		}
		if other, taken := of[branch]; taken {
			c.Add(c.steps[s].exits[i], "one-exit-per-branch", "name the last step of each branch to wait for",
				"the exit would wait for %q and %q of one branch, which are never active together",
				c.g.steps[other].name, c.g.steps[exit].name)
		}
		of[branch] = exit
		passable = passable && c.passes(branch, exit)
	}
	c.passable[s] = passable
}

// port is a place in a chain of transitions within one instant: a step, or the inside of a parallel step that has been
// entered but not left.
type port struct {
	step   Step
	inside bool
}

// at returns the port at which a chain to a step arrives.
func (c *checker) at(s Step) port { return port{s, c.g.steps[s].parallel} }

// chain visits the ports that follow another one at the same instant; k is the transition between them, -1 if there is
// none.
func (c *checker) chain(p port, visit func(k int, next port)) {
	list := c.g.steps[p.step].out
	if p.inside {
		list = c.g.steps[p.step].suspend
		if c.passable[p.step] {
			visit(-1, port{p.step, false})
		}
	}
	for _, k := range list {
		if t := &c.g.transitions[k]; t.After == 0 && t.LoopCheck {
			visit(k, c.at(t.To))
		}
	}
}

// passes reports whether a chain leads through a branch from its first step to the exit at one instant.
func (c *checker) passes(first, exit Step) bool {
	seen := map[port]bool{}
	var visit func(p port)
	visit = func(p port) {
		if !seen[p] {
			seen[p] = true
			c.chain(p, func(_ int, next port) { visit(next) })
		}
	}
	visit(c.at(first))
	return seen[port{exit, false}]
}

// loops reports the loops of a level in which no transition takes time.
func (c *checker) loops(around Step) {
	const open, done = 1, 2
	state := map[port]int{}
	var path []port
	var visit func(p port)
	visit = func(p port) {
		state[p] = open
		path = append(path, p)
		c.chain(p, func(k int, next port) {
			switch state[next] {
			case 0:
				visit(next)
			case open:
				c.loop(k, append(path[slices.Index(path, next):], next))
			}
		})
		path = path[:len(path)-1]
		state[p] = done
	}
	for _, s := range c.inside[around+1] {
		if p := c.at(s); state[p] == 0 {
			visit(p)
		}
	}
}

// loop reports a loop that is closed by a transition.
func (c *checker) loop(k int, path []port) {
	const most = 12
	var names []string
	for i, p := range path {
		if i > 0 && path[i-1].step == p.step && !p.inside && path[i-1].inside {
			continue // through a parallel step
		}
		names = append(names, c.g.steps[p.step].name)
	}
	if len(names) > most {
		names = slices.Concat(names[:most/2], []string{"..."}, names[len(names)-most/2:])
	}
	c.Add(c.links[k], "loop-without-delay",
		"give one of its transitions a time, as in `after: 1`, or set `loop_check: false` if its conditions end it",
		"the loop %s could run for ever at one instant", strings.Join(names, " -> "))
}
