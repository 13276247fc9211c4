package bt

import "slices"

// hearing is the state of an engine that judges only what it hears (see [Engine.Listen]); without, resting is nil.
//
// A composite hears the children whose judgement can change anything: a chain those up to the first that it does not
// pass over, a count all, a script those at which its automaton looks; but none whose result is pinned. When an instant
// has settled, a task that its parent does not hear rests, with all below it, if it is transient and not held. It keeps
// its status, and is judged again, children first, before anything reads that status.
type hearing struct {
	resting []bool
	always  []bool  // tasks that never rest
	heard   []int32 // by composite, of a chain: places from here on were not heard when it was last examined
	ask     func(t Task, in []Input) []Input
	inputs  []Input // scratch
	moved   []Task  // what these hear, or whether they are heard, may have changed
	turned  []Task

	collects  bool // the inputs that are asked for
	collected []Input
}

// Listen makes the engine judge only tasks that are heard, and those for which always holds. A leaf that was not heard
// is judged when it is heard again: ask appends its new inputs to in. Until then its owner need not give any, as
// Instant.Turned reports. Listen must be called before the first Settle; a restored engine rests as the one that was
// saved.
func (e *Engine) Listen(always func(Task) bool, ask func(t Task, in []Input) []Input) {
	e.hearing = hearing{resting: make([]bool, len(e.tasks)), always: make([]bool, len(e.tasks)),
		heard: make([]int32, len(e.composites)), ask: ask}
	for t := range e.tasks {
		e.always[t] = e.always[t] || always(Task(t))
		if e.tree.nodes[t].revised() {
			e.keepHeard(Task(t))
		}
	}
	e.listenAnew()
}

// keepHeard makes a task and those below it be judged at all times: its held result ends when one of them changes.
func (e *Engine) keepHeard(t Task) {
	e.always[t] = true
	for _, child := range e.tree.Children(t) {
		e.keepHeard(child)
	}
}

// Hears reports whether a task's status is up to date.
func (e *Engine) Hears(t Task) bool { return e.resting == nil || !e.resting[t] }

// Counts reports whether a task is heard by its parent, that by its own, and so on: what Hears does not tell before the
// first Settle.
func (e *Engine) Counts(t Task) bool {
	for n := &e.tree.nodes[t]; n.up != nil; n = n.up {
		if !e.hears(n.up, n.slot-n.up.kids) {
			return false
		}
	}
	return true
}

// AlwaysHeard reports whether a task is heard whatever happens: it and all tasks above it are first children, or
// children of a parallel, without memory.
func (t *Tree) AlwaysHeard(task Task) bool {
	for p := t.Parent(task); p >= 0; task, p = p, t.Parent(p) {
		n := &t.nodes[p]
		if n.memory || n.family != Count && t.Children(p)[0] != task {
			return false
		}
	}
	return true
}

// listenAnew lets all tasks rest that are not heard, unless the first instant is still to come.
func (e *Engine) listenAnew() {
	if e.resting == nil {
		return
	}
	clear(e.resting)
	for t := range e.tasks {
		e.moved = append(e.moved, Task(t))
		if n := &e.tree.nodes[t]; n.family != Leaf {
			e.heard[n.composite] = n.n
		}
	}
	if e.up.empty() && e.down.empty() {
		e.rest()
	}
}

// moves notes a task whose status, activity or automaton has changed: what it hears, or whether it is heard, may have
// changed as well.
func (e *Engine) moves(t Task) {
	if e.resting != nil {
		e.moved = append(e.moved, t)
	}
}

// rest lets the tasks rest that are no longer heard.
func (e *Engine) rest() {
	for _, t := range e.moved {
		n := &e.tree.nodes[t]
		if n.family != Leaf && !e.resting[t] {
			e.restUnheard(n)
		}
		if p := n.up; p != nil && !e.hears(p, n.slot-p.kids) {
			e.restTask(t)
		}
	}
	e.moved = e.moved[:0]
}

// restUnheard lets those children of a composite rest that it has ceased to hear.
func (e *Engine) restUnheard(n *node) {
	from, to := int32(0), n.n
	if n.family == Chain {
		c := &e.composites[n.composite]
		from, to = min(c.first+1, n.n), e.heard[n.composite]
		e.heard[n.composite] = from
	}
	if n.family == Count { // they are pinned one by one
		from = e.seen(n)
	}
	for place := from; place < to; place++ {
		if n.family == Chain || !e.hears(n, place) {
			e.restTask(e.tree.kids[n.kids+place])
		}
	}
}

// hears reports whether a composite hears a child.
func (e *Engine) hears(n *node, place int32) bool {
	parent := e.tree.kids[n.slot]
	if e.resting[parent] || e.child(n, place).hold == pinned {
		return false
	}
	switch n.family {
	case Chain:
		return place <= e.composites[n.composite].first
	case Count:
		return place < e.seen(n)
	case Script:
		return e.looks(n, place)
	}
	panic(unknownFamily)
}

// Reconsider judges the children of chains anew that are transient and not held, each only if those before it are
// passed over, and appends the inputs that are new to in. It is for owners to whom an input is expensive: they call it
// between two instants, when the inputs of any leaf may have changed, and then Settle, also with these inputs.
func (e *Engine) Reconsider(in []Input) []Input {
	e.begin()
	e.begun = true
	e.rest() // before the first instant, nothing has yet
	chains := e.dozing()
	e.collected = in
	e.collects = true
	for _, t := range slices.Backward(chains) {
		n := &e.tree.nodes[t]
		s, c := &e.tasks[n.slot], &e.composites[n.composite]
		first := c.first
		c.first = c.pinned
		if s.judge(e.verdict(n, c)) {
			e.up.add(t)
		}
		if c.first != first {
			e.down.add(t)
		}
		e.moves(t)
	}
	e.collects = false
	return e.collected
}

// dozing lets those children rest, and returns their parents, the root first.
func (e *Engine) dozing() (chains []Task) {
	for t := e.tree.Root(); t >= 0; t-- {
		n := &e.tree.nodes[t]
		if n.family != Chain || e.resting[t] {
			continue
		}
		c, rests := &e.composites[n.composite], false
		for place := range min(c.first+1, n.n) {
			child := e.tree.kids[n.kids+place]
			rested := e.resting[child]
			e.restTask(child)
			rests = rests || !rested && e.resting[child]
		}
		if rests {
			chains = append(chains, t)
		}
	}
	return chains
}

// restTask lets a task rest that is not heard, and all below it, if that is possible.
func (e *Engine) restTask(t Task) {
	n := &e.tree.nodes[t]
	s := &e.tasks[n.slot]
	if e.resting[t] || e.always[t] || s.active || !s.status.Transient() || s.hold == held {
		return
	}
	e.resting[t] = true
	if n.family == Leaf {
		e.turned = append(e.turned, t)
		return
	}
	to := n.n
	if n.family == Chain {
		to = e.heard[n.composite]
		e.heard[n.composite] = 0
	}
	for place := range to {
		e.restTask(e.tree.kids[n.kids+place])
	}
}

// look judges a child that rests before its effective status is read.
func (e *Engine) look(n *node, place int32) {
	if e.resting != nil {
		if t := e.tree.kids[n.kids+place]; e.resting[t] && e.child(n, place).hold != pinned {
			e.wake(t)
		}
	}
}

// wake judges a task that rests: a leaf by its inputs, a composite by the children that it hears.
func (e *Engine) wake(t Task) {
	n := &e.tree.nodes[t]
	s := &e.tasks[n.slot]
	e.resting[t] = false
	if n.family == Leaf {
		e.turned = append(e.turned, t)
		e.inputs = e.ask(t, e.inputs[:0])
		for i := range e.inputs {
			s.Take(&e.inputs[i], e.tree.kinds[t], s.status)
		}
		if e.collects {
			e.collected = append(e.collected, e.inputs...)
		}
	} else {
		c := &e.composites[n.composite]
		c.first = 0
		if n.family == Count && !n.prompts {
			for place := range n.n {
				e.look(n, place)
			}
		}
		s.judge(e.verdict(n, c))
	}
	e.moves(t)
	from := s.status
	if s.Request == from {
		return
	}
	s.status = s.Request
	e.changed = true
	e.changes = append(e.changes, Change{Task: t, From: from, To: s.status, Iteration: max(e.iteration, 1)})
	if s.hold == free {
		s.effective = s.status
		if p := n.up; p.family == Count {
			e.composites[p.composite].results += inResults[s.status] - inResults[from]
		}
	}
}

// copyFrom copies what rests.
func (h *hearing) copyFrom(o *hearing) {
	if o.resting == nil {
		*h = hearing{}
		return
	}
	h.resting, h.always = append(h.resting[:0], o.resting...), o.always
	h.heard, h.ask = append(h.heard[:0], o.heard...), o.ask
	h.moved = append(h.moved[:0], o.moved...)
}
