// Package tick runs behaviour trees by ticking the whole tree: the formulation of the 2013 paper, which is equivalent
// to the tree engine of package bt, and the conventional tick, which chatters.
package tick

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/snapshot"
)

// Engine is the second engine of a tree, the tick formulation of A. Klöckner, Behavior Trees for UAV Mission
// Management, 2013, section 5, with the held results of docs/semantics.md, section 4. The root is ticked, and each task
// ticks its children, until a tick changes nothing. After every instant, tasks have the same statuses as a
// [bt.Engine]'s, and within it the same procedures are started in the same order. It is not safe for concurrent use.
//
//	tick(task):
//	    a composite acts on its children's last answers: it deactivates the child that it no longer wants,
//	        and, once no child is active, activates the child that asks
//	    it ticks its children from left to right and judges by their answers
//	    the task advances in its status cycle and answers
//
// So activity goes down and answers come up in one recursion. A composite acts on answers not at once but when it is
// ticked next: by then the whole tree has answered. Otherwise it might hand over to a task that asks although a change
// further to the right has just made a parallel above fail.
//
// A tick visits every task, also those behind the one that decides; so all statuses are up to date after each instant.
// A task is idle or running; while its procedures take time it is entering or leaving. Activity and answer together
// give the statuses:
//
//	activity  Success   Failure   Skipped  Activating  Running     Deactivating
//	idle      Success   Failure   Skipped  Accept
//	entering                                           Activating
//	running   Finished  Aborted   Dropped              Running
//	leaving                                                        Deactivating
type Engine struct {
	tree     *bt.Tree
	nodes    []node
	tasks    []task
	changes  []bt.Change
	commands []bt.Command
	timings  []bt.Timing
	ticks    int32
	limit    int
	changed  bool             // in this tick
	order    []bt.Task        // scratch
	barred   map[bt.Task]bool // guards of shared resources: it has not got it in this tick
	halted   bool
	stepping bool      // see StepLoops
	reran    []bt.Task // see Reran
}

// node describes a task for the engine.
type node struct {
	kind     bt.Kind
	rule     *bt.Rule // of a composite that has no automaton
	children []bt.Task
	script   *bt.Automaton // nil: it has none
	limit    int32         // the maximum number of runs of a child; -1: no limit
	leaf     bool
	together bool // several children can be active
	memory   bool
}

// hold is the kind of hold on a child's last answer after its activity was taken.
type hold uint8

const (
	free   hold = iota
	held        // until it answers Success, Failure or Skipped while it is idle
	pinned      // until its parent is deactivated
)

// describe returns the nodes of a tree's tasks.
func describe(tree *bt.Tree) []node {
	nodes := make([]node, tree.Len())
	for i := range nodes {
		t, k := bt.Task(i), tree.Kind(bt.Task(i))
		n := node{kind: k, children: tree.Children(t), leaf: k.Family() == bt.Leaf, together: k.Family() == bt.Count,
			memory: k.Memory()}
		if k.Family() == bt.Script {
			n.script, n.limit = tree.Automaton(t)
		} else if !n.leaf {
			rule := tree.Rule(t, nil)
			n.rule = &rule
		}
		nodes[i] = n
	}
	return nodes
}

// task is the state of a task.
type task struct {
	bt.Told  // of a composite: Request and Outcome are its verdict; it is Busy while a child is entering or leaving
	activity Activity
	answer   bt.Status // the result of its last tick
	heard    bt.Status // the parent's view: the held result if there is one, else the answer
	hold     hold
	active   bool  // as its parent has ordered
	decider  int32 // the place of the last child at which it looks, if it is one that decides
	at       bt.At // scripts
	elapsed  bool  // scripts: its timer has elapsed in this instant, before the first tick
}

// Activity is the phase of a task between two ticks: idle or running, or in a procedure that takes time.
type Activity uint8

// The activities.
const (
	Idle Activity = iota
	Entering
	Running
	Leaving
)

func (p Activity) String() string { return [...]string{"idle", "entering", "running", "leaving"}[p] }

// statusOf maps activities and answers to the statuses.
var statusOf = [...][bt.Dropped + 1]bt.Status{
	Idle:     {bt.Success: bt.Success, bt.Failure: bt.Failure, bt.Skipped: bt.Skipped, bt.Activating: bt.Accept},
	Entering: {bt.Running: bt.Activating},
	Running:  {bt.Running: bt.Running, bt.Success: bt.Finished, bt.Failure: bt.Aborted, bt.Skipped: bt.Dropped},
	Leaving:  {bt.Deactivating: bt.Deactivating},
}

// asks reports whether an answer is that of a task that is to be activated or to stay active.
func asks(answer bt.Status) bool { return answer == bt.Activating || answer == bt.Running }

func (s *task) status() bt.Status { return statusOf[s.activity][s.answer] }

// NewEngine returns a tick engine for a tree whose leaves start with the given inputs, as [bt.NewEngine] does: all
// tasks have been judged once, silently. The limit bounds the ticks of an instant, 0 means 1,000.
func NewEngine(tree *bt.Tree, initial []bt.Input, limit int) *Engine {
	if limit < 0 {
		panic("tick: the limit of ticks is negative")
	}
	if limit == 0 {
		limit = bt.DefaultLimit
	}
	e := &Engine{tree: tree, nodes: describe(tree), tasks: make([]task, tree.Len()), limit: limit}
	for t := range e.tasks {
		e.tasks[t].Told = bt.NewTold(tree.Kind(bt.Task(t)))
	}
	e.take(initial)
	e.tick(tree.Root())
	return e
}

// Status returns a task's status, by the table of Engine.
func (e *Engine) Status(t bt.Task) bt.Status { return e.tasks[t].status() }

// Activity returns a task's activity.
func (e *Engine) Activity(t bt.Task) Activity { return e.tasks[t].activity }

// Answer returns a task's answer at its last tick.
func (e *Engine) Answer(t bt.Task) bt.Status { return e.tasks[t].answer }

// Active reports whether a task has been given activity: after an instant, whether it is Activating or Running.
func (e *Engine) Active(t bt.Task) bool { return e.tasks[t].active }

// Held returns a task's held result, Success, Failure or Skipped, if it has one.
func (e *Engine) Held(t bt.Task) (result bt.Status, ok bool) {
	return e.tasks[t].heard, e.tasks[t].hold != free
}

// Pinned reports whether a task has a held result that only its parent's deactivation releases.
func (e *Engine) Pinned(t bt.Task) bool { return e.tasks[t].hold == pinned }

// CopyFrom makes the engine equal to another one of the same tree, except for the log of the last instant.
func (e *Engine) CopyFrom(o *Engine) {
	if e.tree != o.tree {
		panic("tick: an engine was copied from one of another tree")
	}
	copy(e.tasks, o.tasks)
	e.limit, e.halted = o.limit, o.halted
}

// Clone returns a copy that shares only the tree.
func (e *Engine) Clone() *Engine {
	c := &Engine{tree: e.tree, nodes: e.nodes, tasks: make([]task, len(e.tasks))}
	c.CopyFrom(e)
	return c
}

// State passes the engine's state to the codec, except for the log of the last instant.
func (e *Engine) State(c *snapshot.Codec) {
	place := 0 // of the task
	snapshot.Each(c, e.tasks, func(c *snapshot.Codec, s *task) {
		n := &e.nodes[place]
		last := int32(max(0, len(n.children)-1))
		place++
		s.Told.State(c)
		snapshot.Within(c, &s.activity, Idle, Leaving)
		s.answer.State(c)
		s.heard.State(c)
		snapshot.Within(c, &s.hold, free, pinned)
		snapshot.Bool(c, &s.active)
		snapshot.Within(c, &s.decider, 0, last)
		s.at.Pass(c, n.script)
	})
	snapshot.Int(c, &e.limit)
	snapshot.Bool(c, &e.halted)
}

// Settle applies the inputs, which change at the same instant, in their order, and ticks the root until nothing
// changes. The instant's Iterations are the ticks that changed something, and a Change's Iteration is its tick. If
// there are as many as the limit, the error wraps [bt.ErrLoop] and names the tasks that keep changing; the instant then
// holds the log so far, and Halt still starts all exit procedures.
func (e *Engine) Settle(inputs []bt.Input) (bt.Instant, error) {
	e.take(inputs)
	if !e.settle(e.limit) {
		return e.instant(), bt.LoopError(e.tree, e.changes, e.limit, "ticks")
	}
	return e.instant(), nil
}

// Tick applies the inputs as Settle does and ticks the root once; the instant's Iterations are 0 if that changed
// nothing.
func (e *Engine) Tick(inputs []bt.Input) bt.Instant {
	e.take(inputs)
	e.settle(1)
	return e.instant()
}

// Halt withdraws activity from the root permanently and ticks it until nothing changes: every exit procedure is
// started. Actions whose exit procedure takes time stay Deactivating until a later Settle receives its completion.
func (e *Engine) Halt() bt.Instant {
	e.halted = true
	e.settle(math.MaxInt) // as for bt.Engine.Halt, no loop is possible
	return e.instant()
}

// StepLoops sets whether a task that would run a child again waits until RunAgain.
func (e *Engine) StepLoops(step bool) { e.stepping = step }

// Reran returns the tasks that have run a child again, or have begun to wait with that, since the last Settle began. It
// is valid until the next one.
func (e *Engine) Reran() []bt.Task { return e.reran }

// LoopsWait reports whether a task waits before it runs its child again.
func (e *Engine) LoopsWait() bool {
	return slices.ContainsFunc(e.tasks, func(s task) bool { return s.at.Waits })
}

// RunAgain lets the tasks that wait run their children again.
func (e *Engine) RunAgain() {
	for t := range e.tasks {
		e.tasks[t].at.Waits = false
	}
}

func (e *Engine) take(inputs []bt.Input) {
	for i := range inputs {
		in := &inputs[i]
		s := &e.tasks[in.Task()]
		if in.Elapses() {
			s.elapsed = s.at.Timed
			continue
		}
		s.Take(in, e.tree.Kind(in.Task()), s.status())
	}
}

// settle ticks the root until a tick changes nothing, and counts those that change something. It reports whether that
// happened within the limit.
func (e *Engine) settle(limit int) bool {
	e.changes, e.commands, e.timings, e.ticks, e.reran = e.changes[:0], e.commands[:0], e.timings[:0], 0, e.reran[:0]
	for {
		e.ticks++
		e.changed = false
		e.grant()
		e.tickRoot()
		for _, t := range e.tree.Spent(nil, e.changes, e.ticks) {
			in := bt.Set(t, false)
			e.tasks[t].Take(&in, e.tree.Kind(t), e.tasks[t].status())
		}
		if !e.changed {
			return true
		}
		if int(e.ticks) == limit {
			return false
		}
	}
}

func (e *Engine) instant() bt.Instant {
	iterations := int(e.ticks)
	if !e.changed {
		iterations--
	}
	return bt.Instant{Changes: e.changes, Commands: e.commands, Timings: e.timings, Iterations: iterations,
		Visits: int(e.ticks) * len(e.tasks)}
}

// grant grants the shared resources for a tick.
func (e *Engine) grant() {
	for _, guards := range e.tree.Shared() {
		child := func(guard bt.Task) *task { return &e.tasks[e.nodes[guard].children[0]] }
		granted, _ := bt.Grant(guards,
			func(guard bt.Task) bool { c := child(guard); return c.active || c.activity != Idle },
			func(guard bt.Task) bool {
				s := &e.tasks[guard]
				return s.active && asks(s.answer) && s.Request == bt.Accept && asks(child(guard).heard)
			})
		for _, guard := range guards {
			if e.barred == nil {
				e.barred = map[bt.Task]bool{}
			}
			e.barred[guard] = guard != granted
		}
	}
}

// tickRoot treats the root as the only child of a task that always passes activity on, until the tree is halted. Its
// result is held, also that it is skipped.
func (e *Engine) tickRoot() {
	s := &e.tasks[e.tree.Root()]
	if want := !e.halted && asks(s.heard); want != s.active {
		e.setActive(s, want)
		if s.status() == bt.Dropped {
			s.hold = held
		}
	}
	e.tick(e.tree.Root())
}

// tick ticks a task and the tasks below it. It reports whether a procedure of the task is running, and whether its
// parent hears something other than before: a composite is judged again only then.
func (e *Engine) tick(t bt.Task) (busy, other bool) {
	n, s := &e.nodes[t], &e.tasks[t]
	if !n.leaf {
		e.act(t, n, s)
		below, heard := false, e.ticks == 0 || n.script != nil // what an automaton says also depends on what is held
		for _, child := range n.children {
			busyChild, otherChild := e.tick(child)
			below, heard = below || busyChild, heard || otherChild
		}
		s.Busy = below
		if s.elapsed { // an answer like those of children: the task acts on it when it is ticked next
			s.at, _ = n.script.Elapse(s.at)
			s.elapsed, e.changed = false, true
		}
		if heard {
			e.judge(n, s)
		}
	}
	if s.activity == Idle && s.answer == s.Request && (s.hold != free || s.heard == s.answer) { // mostly
		return false, false
	}
	before, idle := s.answer, s.activity == Idle
	if e.advance(t, n, s); n.leaf && idle && s.activity == Idle && s.answer != before {
		e.revise(t)
	}
	if s.hold == held && s.activity == Idle && s.answer != bt.Activating {
		s.hold = free
	}
	if s.hold == free {
		other, s.heard = s.heard != s.answer, s.answer
	}
	return s.activity == Entering || s.activity == Leaving, other
}

// revise drops the held results of the prompt tasks around a leaf whose judgement has changed: they are run again.
func (e *Engine) revise(t bt.Task) {
	for t = e.tree.Parent(t); t >= 0; t = e.tree.Parent(t) {
		if s := &e.tasks[t]; s.hold == held && e.tree.Revised(t) {
			s.hold = free
		}
	}
}

// advance applies the status cycle to a task until it is stable. An idle task answers its verdict or asks to be
// activated, which only its parent can do; a running one answers its verdict once it has one; a deactivated one becomes
// idle again.
func (e *Engine) advance(t bt.Task, n *node, s *task) {
	if s.activity == Idle {
		e.step(t, s, Idle, s.idleAnswer())
		if !s.active || s.answer != bt.Activating {
			return
		}
		e.enter(t, n, s)
	}
	if !s.active {
		if s.activity != Leaving {
			e.leave(t, n, s)
		}
		if !s.Busy {
			e.step(t, s, Idle, s.idleAnswer())
		}
		return
	}
	if s.activity == Entering && !s.Busy {
		e.step(t, s, Running, bt.Running)
	}
	if s.activity == Running && s.answer == bt.Running && s.Outcome != bt.Accept {
		e.step(t, s, Running, s.Outcome)
	}
}

// idleAnswer returns the answer of an idle task: its verdict, or Accept if it asks to be activated.
func (s *task) idleAnswer() bt.Status {
	if s.Request == bt.Accept {
		return bt.Activating
	}
	return s.Request
}

// step takes a step of the status cycle, if there is one.
func (e *Engine) step(t bt.Task, s *task, to Activity, answer bt.Status) {
	if s.activity == to && s.answer == answer {
		return
	}
	from := s.status()
	s.activity, s.answer = to, answer
	e.changes = append(e.changes, bt.Change{Task: t, From: from, To: s.status(), Iteration: e.ticks})
	e.changed = true
}

// enter starts a task's entry procedure.
func (e *Engine) enter(t bt.Task, n *node, s *task) {
	e.step(t, s, Entering, bt.Running)
	if n.leaf {
		s.Outcome = bt.Accept
		s.Busy = s.Slow(false)
		e.commands = append(e.commands, bt.Command{Task: t})
	}
}

// leave starts a task's exit procedure. A composite forgets all held results and is judged again.
func (e *Engine) leave(t bt.Task, n *node, s *task) {
	e.step(t, s, Leaving, bt.Deactivating)
	if n.leaf {
		s.Busy = s.Slow(true)
		e.commands = append(e.commands, bt.Command{Task: t, Exit: true})
		return
	}
	for _, child := range n.children {
		c := &e.tasks[child]
		c.hold, c.heard = free, c.answer
	}
	if n.script != nil {
		s.at = n.script.Deactivated(s.at)
	}
	e.judge(n, s)
}

// setActive activates a child or deactivates it; the child follows when it is ticked. The result of a child that has
// ended is held: its parent keeps the last answer.
func (e *Engine) setActive(s *task, active bool) {
	s.active = active
	e.changed = true
	if !active && s.ended() {
		s.hold = held
	}
}

// pin keeps a child's last answer until the parent is deactivated.
func (e *Engine) pin(s *task) {
	if s.hold != pinned {
		s.hold = pinned
		e.changed = true
	}
}

// act gives and takes the activity of a composite's children by their last answers. It gives activity only while it is
// active itself, has not ended and is undecided. In a task that is no parallel, it is given to the child that decides,
// if that asks, once the others are idle; those behind a prompt child that is undecided stay active.
func (e *Engine) act(t bt.Task, n *node, s *task) {
	passing := s.active && asks(s.answer) && s.Request == bt.Accept
	if n.together {
		e.actTogether(n, passing)
		return
	}
	decider, reached := s.decider, bt.At{}
	if n.script != nil {
		_, decider, reached = e.decide(n, s)
	}
	wants := passing && decider >= 0 && asks(e.tasks[n.children[decider]].heard)
	if n.script != nil {
		wants = e.store(t, n, s, reached, passing, wants)
	} else if wants && n.memory {
		for _, child := range n.children[:decider] {
			e.pin(&e.tasks[child])
		}
	}
	stay := int32(len(n.children))
	if passing && decider >= 0 && e.waitsFor(n.children[decider]) && (n.script == nil || n.script.GoesOn(reached)) {
		stay = decider + 1
	}
	idle := true // all others but those that stay active
	for i, child := range n.children {
		place, c := int32(i), &e.tasks[child]
		if wants && place == decider {
			continue
		}
		if c.active && !(place >= stay && asks(c.heard)) {
			e.leaveChild(n, s, place, reached, passing)
		}
		idle = idle && (c.active || c.activity == Idle)
	}
	if wants && idle && !e.tasks[n.children[decider]].active {
		e.setActive(&e.tasks[n.children[decider]], true)
	}
	if n.script != nil && !n.memory {
		e.forget(n, s, stay)
	}
}

// forget drops the held results at which an automaton without memory does not look, up to the place stay.
func (e *Engine) forget(n *node, s *task, stay int32) {
	looked := make([]bool, len(n.children))
	n.script.Decide(s.at, len(n.children), n.limit, func(child int) (bt.Status, bool) {
		looked[child] = true
		c := &e.tasks[n.children[child]]
		return c.heard.Judgement(), c.ended()
	})
	for place, child := range n.children[:stay] {
		if c := &e.tasks[child]; c.hold != free && !looked[place] {
			c.hold, c.heard = free, c.answer
			e.changed = true
		}
	}
}

// store stores the state that the automaton of a task has reached. It returns whether the task still wants its child.
func (e *Engine) store(t bt.Task, n *node, s *task, reached bt.At, passing, wants bool) bool {
	wants = wants && !e.barred[t] && !s.at.Waits
	if next := n.script.Store(s.at, reached, s.active, passing, wants, n.memory); next != s.at {
		e.timings = s.at.Time(t, next, e.timings)
		s.at = next
		e.changed = true
	}
	return wants
}

// decide lets the automaton of a task decide.
func (e *Engine) decide(n *node, s *task) (says bt.Status, child int32, reached bt.At) {
	return n.script.Decide(s.at, len(n.children), n.limit, func(child int) (bt.Status, bool) {
		c := &e.tasks[n.children[child]]
		return c.heard.Judgement(), c.ended()
	})
}

// ended reports whether a task has ended with a result while it ran, and the result is not held.
func (s *task) ended() bool {
	return s.activity == Running && (s.answer == bt.Success || s.answer == bt.Failure) && s.hold == free
}

// leaveChild deactivates the active child at a place.
func (e *Engine) leaveChild(n *node, s *task, place int32, reached bt.At, passing bool) {
	child := &e.tasks[n.children[place]]
	if n.script != nil && child.ended() {
		again := false
		s.at, again = n.script.Leave(s.at, reached, n.limit, int(place), child.heard.Judgement(), passing)
		if again { // its result is not held
			s.at.Waits = e.stepping
			e.reran = append(e.reran, e.tree.Parent(n.children[place]))
			child.active = false
			e.changed = true
			return
		}
	}
	e.setActive(child, false)
}

// waitsFor reports whether a child is prompt and undecided: meanwhile, no child behind it is activated.
func (e *Engine) waitsFor(child bt.Task) bool {
	return e.tree.Prompt(child) && e.tasks[child].heard.Judgement() == bt.Accept
}

// actTogether activates every child that asks and deactivates the others; none waits, but those after a prompt one.
func (e *Engine) actTogether(n *node, passing bool) {
	seen := true
	for _, child := range n.children {
		s := &e.tasks[child]
		if passing && seen && n.memory && (s.heard == bt.Success || s.heard == bt.Failure) {
			e.pin(s)
		}
		if want := passing && (seen || s.active) && asks(s.heard); want != s.active {
			e.setActive(s, want)
		}
		seen = seen && !e.waitsFor(child)
	}
}

// judge sets the verdict of a composite from its children's answers: Success, Failure, Skipped, or Accept if it is
// undecided.
func (e *Engine) judge(n *node, s *task) {
	if n.script != nil {
		s.Request, _, _ = e.decide(n, s)
	} else {
		rule, place := n.rule, int32(0)
		if n.together && n.memory { // pinned ones are counted first
			e.order = e.order[:0]
			for _, first := range [...]bool{true, false} {
				for _, child := range n.children {
					if (e.tasks[child].hold == pinned) == first {
						e.order = append(e.order, child)
					}
				}
			}
			ordered := *rule
			ordered.Children = e.order
			rule = &ordered
		}
		s.Request = bt.Verdict(bt.Decide(bt.Truth{}, rule, func(child bt.Task, in bool) bt.Judgement[bool] {
			if in {
				s.decider = place
			}
			place++
			return bt.JudgedAs(e.tasks[child].heard.Judgement())
		}))
	}
	s.Outcome = s.Request
}
