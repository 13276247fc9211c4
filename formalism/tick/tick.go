// Package tick runs behaviour trees by ticking the whole tree: the formulation of the 2013 paper, which comes to the
// same as the tree engine of package bt, and the conventional tick, which chatters.
package tick

import (
	"math"

	"canopy/bt"
	"canopy/snapshot"
)

// Engine is the second engine of a tree, the tick formulation of A. Klöckner, Behavior Trees for UAV Mission
// Management, 2013, section 5, with the held results of docs/semantics.md, section 4. The root is ticked, and each task
// ticks its children, until a tick changes nothing. After every instant, tasks have the same statuses as a
// [bt.Engine]'s, and within it the same procedures are started in the same order. It is not safe for concurrent use.
//
//	tick(task):
//	    a composite acts on what its children answered last: it deactivates the child that it no longer wants,
//	        and, once no child is left active, activates the child that asks for it
//	    it ticks its children from left to right and judges by their answers
//	    the task goes on in its status cycle and answers
//
// So activity goes down and answers come up in one recursion. A composite acts on answers not at once but when it is
// ticked next: by then the whole tree has answered. Otherwise it might hand over to a task that asks although, further
// to the right, something has just made a parallel above fail.
//
// A tick visits every task, also those behind the one that decides; so all statuses are up to date after each instant.
// A task is idle or running, and in between while its procedures take time. With what it answers that makes the eight
// statuses:
//
//	activity  Success   Failure   Activating  Running     Deactivating
//	idle      Success   Failure   Accept
//	entering                                  Activating
//	running   Finished  Aborted               Running
//	leaving                                               Deactivating
type Engine struct {
	tree     *bt.Tree
	nodes    []node
	tasks    []task
	changes  []bt.Change
	commands []bt.Command
	ticks    int32
	limit    int
	changed  bool // in this tick
	halted   bool
}

// node is what the engine must know of a task.
type node struct {
	kind            bt.Kind
	family          bt.Family
	memory          bool
	over            bt.Status // chains: the judgement that is passed over; Accept: none is
	enough, tooMany int       // counts
	children        []bt.Task
	script          *bt.Automaton // scripts
	limit           int32         // scripts: how often a child is run; -1: without limit
}

// hold tells what keeps a child's last answer after its activity was taken.
type hold uint8

const (
	free   hold = iota
	held        // until it answers Success or Failure while it is idle
	pinned      // until its parent is deactivated
)

// describe returns what the engine must know of a tree's tasks.
func describe(tree *bt.Tree) []node {
	nodes := make([]node, tree.Len())
	for i := range nodes {
		t, k := bt.Task(i), tree.Kind(bt.Task(i))
		n := node{kind: k, family: k.Family(), memory: k.Memory(), over: bt.Accept, children: tree.Children(t)}
		switch n.family {
		case bt.Leaf:
		case bt.Chain:
			n.over = k.Over()
		case bt.Count:
			n.enough, n.tooMany = tree.Counts(t)
		case bt.Script:
			n.script, n.limit = tree.Automaton(t)
		default:
			panic(unknownFamily)
		}
		nodes[i] = n
	}
	return nodes
}

const unknownFamily = "tick: a composite of an unknown family"

// task is what changes of a task.
type task struct {
	bt.Told  // of a composite: Request and Outcome are its verdict; it is Busy while a child is entering or leaving
	activity Activity
	answer   bt.Status // what it returned when it was ticked
	heard    bt.Status // what its parent goes by: the held result if there is one, else the answer
	hold     hold
	active   bool  // as its parent has ordered
	decider  int32 // chains: the place of the first child that is not passed over
	current  int32 // chains, scripts: the place of the active child, -1: none
	at       bt.At // scripts
}

// Activity tells where a task is between two ticks: idle or running, or in a procedure that takes time.
type Activity uint8

// The activities.
const (
	Idle Activity = iota
	Entering
	Running
	Leaving
)

func (p Activity) String() string { return [...]string{"idle", "entering", "running", "leaving"}[p] }

// statusOf names activities and answers by the eight statuses.
var statusOf = [...][8]bt.Status{
	Idle:     {bt.Success: bt.Success, bt.Failure: bt.Failure, bt.Activating: bt.Accept},
	Entering: {bt.Running: bt.Activating},
	Running:  {bt.Running: bt.Running, bt.Success: bt.Finished, bt.Failure: bt.Aborted},
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
		e.tasks[t].current = -1
	}
	e.take(initial)
	e.tick(tree.Root())
	return e
}

// Tree returns the engine's tree.
func (e *Engine) Tree() *bt.Tree { return e.tree }

// Status returns a task's status; Engine tells how its activity and its answer are named.
func (e *Engine) Status(t bt.Task) bt.Status { return e.tasks[t].status() }

// Activity returns where a task is.
func (e *Engine) Activity(t bt.Task) Activity { return e.tasks[t].activity }

// Answer returns what a task answered when it was ticked last.
func (e *Engine) Answer(t bt.Task) bt.Status { return e.tasks[t].answer }

// Active reports whether a task has been given activity: after an instant, whether it is Activating or Running.
func (e *Engine) Active(t bt.Task) bool { return e.tasks[t].active }

// Held returns a task's held result, Success or Failure, if it has one.
func (e *Engine) Held(t bt.Task) (result bt.Status, ok bool) {
	return e.tasks[t].heard, e.tasks[t].hold != free
}

// Pinned reports whether a task has a held result that only its parent's deactivation releases.
func (e *Engine) Pinned(t bt.Task) bool { return e.tasks[t].hold == pinned }

// CopyFrom makes the engine the same as another one of the same tree, but for the log of the last instant.
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

// State passes all that changes of the engine, but for the log of the last instant.
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
		snapshot.Within(c, &s.current, -1, last)
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

// Halt withdraws activity from the root for ever and ticks it until nothing changes: every exit procedure is started.
// Actions whose exit procedure takes time stay Deactivating until a later Settle is told that it is complete.
func (e *Engine) Halt() bt.Instant {
	e.halted = true
	e.settle(math.MaxInt) // as for bt.Engine.Halt, no loop is possible
	return e.instant()
}

func (e *Engine) take(inputs []bt.Input) {
	for i := range inputs {
		in := &inputs[i]
		s := &e.tasks[in.Task()]
		s.Take(in, e.tree.Kind(in.Task()), s.status())
	}
}

// settle ticks the root until a tick changes nothing, and counts those that change something. It reports whether that
// happened within the limit.
func (e *Engine) settle(limit int) bool {
	e.changes, e.commands, e.ticks = e.changes[:0], e.commands[:0], 0
	for {
		e.ticks++
		e.changed = false
		e.tickRoot()
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
	return bt.Instant{Changes: e.changes, Commands: e.commands, Iterations: iterations,
		Visits: int(e.ticks) * len(e.tasks)}
}

// tickRoot treats the root as the only child of somebody who always passes activity on, until the tree is halted.
func (e *Engine) tickRoot() {
	s := &e.tasks[e.tree.Root()]
	if want := !e.halted && asks(s.heard); want != s.active {
		e.setActive(s, want)
	}
	e.tick(e.tree.Root())
}

// tick ticks a task and the tasks below it. It reports whether a procedure of the task is running.
func (e *Engine) tick(t bt.Task) bool {
	n, s := &e.nodes[t], &e.tasks[t]
	if n.family != bt.Leaf {
		e.act(n, s)
		s.Busy = false
		for _, child := range n.children {
			if e.tick(child) {
				s.Busy = true
			}
		}
		e.judge(n, s)
	}
	if s.activity == Idle && s.answer == s.Request { // most leaves at most times: nothing is new
		return false
	}
	e.advance(t, n, s)
	if s.hold == held && s.activity == Idle && s.answer != bt.Activating {
		s.hold = free
	}
	if s.hold == free {
		s.heard = s.answer
	}
	return s.activity == Entering || s.activity == Leaving
}

// advance takes a task through its status cycle as far as it goes. Idle, it says its verdict or asks to be activated,
// which only its parent can do; running, it says its verdict once it has one; deactivated, it becomes idle again.
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

// idleAnswer is what an idle task answers: its verdict, without having been activated, or that it asks to be.
func (s *task) idleAnswer() bt.Status {
	if s.Request == bt.Accept {
		return bt.Activating
	}
	return s.Request
}

// step takes a step of the status cycle, if it is one.
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
	if n.family == bt.Leaf {
		s.Outcome = bt.Accept
		s.Busy = s.Slow(false)
		e.commands = append(e.commands, bt.Command{Task: t})
	}
}

// leave starts a task's exit procedure. A composite forgets all held results and judges anew.
func (e *Engine) leave(t bt.Task, n *node, s *task) {
	e.step(t, s, Leaving, bt.Deactivating)
	if n.family == bt.Leaf {
		s.Busy = s.Slow(true)
		e.commands = append(e.commands, bt.Command{Task: t, Exit: true})
		return
	}
	for _, child := range n.children {
		c := &e.tasks[child]
		c.hold, c.heard = free, c.answer
	}
	if n.family == bt.Script {
		s.at = n.script.Deactivated(s.at)
	}
	e.judge(n, s)
}

// setActive activates a child or deactivates it; the child follows when it is ticked. The result of a child that has
// ended is held: its parent goes on hearing the last answer.
func (e *Engine) setActive(s *task, active bool) {
	s.active = active
	e.changed = true
	if !active && s.ended() {
		s.hold = held
	}
}

// pin makes the parent hear a child's last answer until the parent is deactivated.
func (e *Engine) pin(s *task) {
	if s.hold != pinned {
		s.hold = pinned
		e.changed = true
	}
}

// act gives and takes the activity of a composite's children by what they answered last. It has any to give only while
// it is active itself, has not ended and is still undecided.
func (e *Engine) act(n *node, s *task) {
	passing := s.active && asks(s.answer) && s.Request == bt.Accept
	switch n.family {
	case bt.Chain:
		e.actChain(n, s, passing)
	case bt.Count:
		e.actCount(n, passing)
	case bt.Script:
		e.actScript(n, s, passing)
	default:
		panic(unknownFamily)
	}
}

// actChain activates the child that decides, if it asks, once the others are idle.
func (e *Engine) actChain(n *node, s *task, passing bool) {
	want := int32(-1)
	if passing && asks(e.tasks[n.children[s.decider]].heard) {
		want = s.decider
		if n.memory {
			for _, child := range n.children[:want] {
				e.pin(&e.tasks[child])
			}
		}
	}
	if s.current >= 0 && s.current != want {
		e.setActive(&e.tasks[n.children[s.current]], false)
		s.current = -1
	}
	e.handOver(n, s, want)
}

// decide lets the automaton of a task decide.
func (e *Engine) decide(n *node, s *task) (says bt.Status, child int32, reached bt.At) {
	return n.script.Decide(s.at, len(n.children), n.limit, func(child int) (bt.Status, bool) {
		c := &e.tasks[n.children[child]]
		return c.heard.Judgement(), c.ended()
	})
}

// ended reports whether a task has ended while it ran, and its result is not held.
func (s *task) ended() bool { return s.activity == Running && s.answer != bt.Running && s.hold == free }

// actScript activates the child that the automaton looks at, if it asks, once the others are idle.
func (e *Engine) actScript(n *node, s *task, passing bool) {
	want := int32(-1)
	if _, child, reached := e.decide(n, s); passing && child >= 0 && asks(e.tasks[n.children[child]].heard) {
		want = child
		e.changed = e.changed || s.at != reached
		s.at = reached
	}
	if s.current >= 0 && s.current != want {
		e.leaveChild(n, s, &e.tasks[n.children[s.current]], passing)
		s.current = -1
	}
	e.handOver(n, s, want)
}

// leaveChild deactivates a child of a task with an automaton.
func (e *Engine) leaveChild(n *node, s, child *task, passing bool) {
	if child.ended() {
		again := false
		s.at, again = n.script.Leave(s.at, n.limit, int(s.current), child.heard.Judgement(), passing)
		if again { // its result is not held
			child.active = false
			e.changed = true
			return
		}
	}
	e.setActive(child, false)
}

// handOver activates the wanted child, if any, once the others are idle.
func (e *Engine) handOver(n *node, s *task, want int32) {
	if want >= 0 && s.current < 0 && e.othersIdle(n.children, want) {
		e.setActive(&e.tasks[n.children[want]], true)
		s.current = want
	}
}

// othersIdle reports whether all children but the one at a place are idle, so that activity can be handed over to it.
func (e *Engine) othersIdle(kids []bt.Task, place int32) bool {
	for i, child := range kids {
		if e.tasks[child].activity != Idle && int32(i) != place {
			return false
		}
	}
	return true
}

// actCount activates every child that asks and deactivates the others; none has to wait.
func (e *Engine) actCount(n *node, passing bool) {
	for _, child := range n.children {
		s := &e.tasks[child]
		if passing && n.memory && s.heard.Judgement() != bt.Accept {
			e.pin(s)
		}
		if want := passing && asks(s.heard); want != s.active {
			e.setActive(s, want)
		}
	}
}

// judge takes together what a composite's children answered: Success, Failure, or Accept, nothing yet.
func (e *Engine) judge(n *node, s *task) {
	switch n.family {
	case bt.Chain:
		s.Request = e.judgeChain(n, s)
	case bt.Count:
		s.Request = e.judgeCount(n)
	case bt.Script:
		s.Request, _, _ = e.decide(n, s)
	default:
		panic(unknownFamily)
	}
	s.Outcome = s.Request
}

// judgeChain goes by the first child that is not passed over, or by the last one.
func (e *Engine) judgeChain(n *node, s *task) bt.Status {
	var says bt.Status
	for place, child := range n.children {
		says = e.tasks[child].heard.Judgement()
		if says != n.over || says == bt.Accept {
			s.decider = int32(place)
			break
		}
	}
	return n.kind.Verdict(says)
}

// judgeCount counts the children one by one, pinned ones first: the first threshold reached decides.
func (e *Engine) judgeCount(n *node) bt.Status {
	enough, tooMany := n.enough, n.tooMany
	for _, first := range [...]bool{true, false} {
		for _, child := range n.children {
			s := &e.tasks[child]
			if (s.hold == pinned) != first {
				continue
			}
			switch s.heard {
			case bt.Success:
				enough--
			case bt.Failure:
				tooMany--
			}
			if enough == 0 {
				return bt.Success
			}
			if tooMany == 0 {
				return bt.Failure
			}
		}
	}
	return bt.Accept
}
