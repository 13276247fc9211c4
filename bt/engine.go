package bt

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/snapshot"
)

// ErrLoop reports an instant that does not settle: the tree has an instantaneous loop.
var ErrLoop = errors.New("instantaneous loop")

// DefaultLimit is the default maximum number of event iterations of an instant.
const DefaultLimit = 1000

// Change is one step of a task's status cycle.
type Change struct {
	Task      Task
	From, To  Status
	Iteration int32 // event iteration or tick within the instant, from 1
}

// Instant is the log of one instant. The slices are valid until the engine's next call.
type Instant struct {
	Changes    []Change  // in order of occurrence
	Commands   []Command // in the order in which the procedures start
	Timings    []Timing  // timers started and stopped; those of one task in order of occurrence
	Turned     []Task    // leaves that have ceased to rest or begun to (see Engine.Listen), perhaps repeatedly
	Iterations int       // event iterations, or ticks, that changed something
	Visits     int       // visits of a task, up or down: the measure of the work
}

// Engine holds all mutable state of a tree. Between instants it is settled. The work of an instant depends on the paths
// that change and the width of the composites on them. It is not safe for concurrent use.
//
// An instant settles as with the full sweeps of docs/semantics.md, but tasks to which nothing happened are skipped. The
// post-order numbers make this easy:
//
//	until nothing changes:
//	    up:   take the first task of a worklist: apply the status cycle until it is stable, update the parent
//	    down: take the last task of another worklist: pin, withdraw and grant activity among its children
//
// A composite keeps its verdict, which each child's change updates by counts. It scans its children only if a Count
// reaches both thresholds at once. docs/semantics.md, section 6, explains why this gives the same log as the sweeps.
//
// When settled, the worklists are empty, and the invariants stated at task and composite hold; [Engine.Check] tests
// them.
type Engine struct {
	tree       *Tree
	tasks      []task
	composites []composite
	at         []At // of the tasks of the family Script
	up, down   worklist
	changes    []Change
	commands   []Command
	timings    []Timing
	iteration  int32
	visits     int32
	granted    []Task // by shared resource, in this iteration: the guard that has it
	spent      []Task // scratch
	limit      int
	changed    bool // in this iteration
	halted     bool
	begun      bool   // Reconsider has begun the log of the next instant
	stepping   bool   // see StepLoops
	waits      []Task // loops that wait instead of running a child again in this instant
	reran      []Task // see Reran
	hearing
	exchanging *exchanging // nil: no exchange is under way
}

// task is the mutable state of any task. When settled, it is active exactly if it is Activating or Running, and:
//
//	free     effective is the status
//	held     effective is Success or Failure, of the root also Skipped; the task is not active, and its status is no
//	         judgement
//	pinned   effective is a judgement, whatever the status; its parent has memory
type task struct {
	Told      // of a composite: Request and Outcome are its verdict; it is Busy while a child is switching
	status    Status
	effective Status // the held result if there is one, else the status
	hold      hold
	active    bool
}

// hold is the reason why a task's result is kept after activity was taken from it.
type hold uint8

const (
	free   hold = iota
	held        // until the status is Success, Failure or Skipped
	pinned      // until the parent enters Deactivating
)

// composite is the further mutable state of a composite: counts over its children, and where activity is. When settled,
// every field equals a fresh count; no child is active unless the composite is active and Accept, Activating or
// Running, and several only in a Count or behind a prompt child that is undecided; in a Chain with memory exactly the
// children before pinned are pinned.
type composite struct {
	statuses statuses
	results  results // Count
	held     int32   // children with a held result
	first    int32   // Chain: the first child that is not passed over; n: none
	pinned   int32   // Chain with memory: the children before this one are pinned
	active   int32   // children
	passing  bool    // Count: activity was passed on in the last down visit
}

// statuses counts the children that are engaged (not transient) and, among them, those that are switching (Activating
// or Deactivating). One addition changes both counts.
type statuses uint64

const engagedChild, switchingChild statuses = 1 << 32, 1

// engaged returns the number of children that are not transient.
func (s statuses) engaged() int32 { return int32(s / engagedChild) }

// switching reports whether a child is Activating or Deactivating.
func (s statuses) switching() bool { return s%engagedChild != 0 }

// results counts the children whose effective status is good, skipped and bad; each count has 21 bits.
type results uint64

const goodChild, skippedChild, badChild results = 1 << 42, 1 << 21, 1

func (r results) good() int32    { return int32(r / goodChild) }
func (r results) skipped() int32 { return int32(r % goodChild / skippedChild) }
func (r results) bad() int32     { return int32(r % skippedChild) }

// inStatuses and inResults are the contributions of one child to composite.statuses and composite.results.
var (
	inStatuses = [room]statuses{
		Activating: engagedChild + switchingChild, Deactivating: engagedChild + switchingChild,
		Running: engagedChild, Finished: engagedChild, Aborted: engagedChild, Dropped: engagedChild}
	inResults = [room]results{Success: goodChild, Finished: goodChild, Failure: badChild, Aborted: badChild,
		Skipped: skippedChild, Dropped: skippedChild}
)

// NewEngine returns an engine for a tree whose leaves start with the given inputs. Without inputs, conditions are
// false, actions ask to be activated, and procedures take no time. The tasks have been judged once, without a log; the
// first call of Settle settles the tree for the first time. The limit is the maximum number of event iterations of an
// instant; 0 means 1,000.
func NewEngine(tree *Tree, initial []Input, limit int) *Engine {
	if limit < 0 {
		panic("bt: the limit of event iterations is negative")
	}
	if limit == 0 {
		limit = DefaultLimit
	}
	e := newEngine(tree, limit)
	e.take(initial)
	e.up.clear()
	e.judgeAll()
	e.down.add(tree.Root())
	return e
}

// newEngine returns an engine whose tasks have not been judged.
func newEngine(tree *Tree, limit int) *Engine {
	e := &Engine{
		tree:       tree,
		tasks:      make([]task, tree.Len()),
		composites: make([]composite, tree.composites),
		at:         make([]At, len(tree.scripts)),
		granted:    make([]Task, len(tree.shared)),
		up:         newWorklist(tree.Len()),
		down:       newWorklist(tree.Len()),
		limit:      limit,
	}
	for t := range e.tasks {
		e.tasks[t].Told = NewTold(tree.kinds[tree.kids[t]])
	}
	return e
}

// judgeAll sets every task's transient status, children first.
func (e *Engine) judgeAll() {
	for t := range e.tasks {
		n := &e.tree.nodes[t]
		s := &e.tasks[n.slot]
		if n.family == Count {
			for place := range n.n {
				e.composites[n.composite].results += inResults[e.child(n, place).effective]
			}
		}
		if n.family != Leaf {
			s.judge(e.verdict(n, &e.composites[n.composite]))
		}
		s.status, s.effective = s.Request, s.Request
	}
}

// Tree returns the engine's tree.
func (e *Engine) Tree() *Tree { return e.tree }

// Status returns a task's status.
func (e *Engine) Status(t Task) Status { return e.task(t).status }

// Active reports whether a task has activity.
func (e *Engine) Active(t Task) bool { return e.task(t).active }

// Held returns a task's held result, Success, Failure or Skipped, if it has one.
func (e *Engine) Held(t Task) (result Status, ok bool) {
	return e.task(t).effective, e.task(t).hold != free
}

// At returns the state of a task's automaton. It panics if the task's family is not Script.
func (e *Engine) At(t Task) At {
	if e.tree.nodes[t].family != Script {
		panic("bt: only a Script has an automaton")
	}
	return e.at[e.tree.nodes[t].script]
}

// Pinned reports whether a task has a held result that only its parent's deactivation releases.
func (e *Engine) Pinned(t Task) bool { return e.task(t).hold == pinned }

// CopyFrom makes the engine equal to another one of the same tree, except for the log of the last instant.
func (e *Engine) CopyFrom(o *Engine) {
	if e.tree != o.tree {
		panic("bt: an engine was copied from one of another tree")
	}
	copy(e.tasks, o.tasks)
	copy(e.composites, o.composites)
	copy(e.at, o.at)
	e.up.copyFrom(&o.up)
	e.down.copyFrom(&o.down)
	e.limit, e.halted = o.limit, o.halted
	if e.exchanging = nil; o.exchanging != nil {
		x := *o.exchanging
		x.withheld, x.awaited = slices.Clone(x.withheld), slices.Clone(x.awaited)
		e.exchanging = &x
	}
	e.hearing.copyFrom(&o.hearing)
}

// Clone returns a copy that shares only the tree.
func (e *Engine) Clone() *Engine {
	c := &Engine{
		tree:       e.tree,
		tasks:      make([]task, len(e.tasks)),
		composites: make([]composite, len(e.composites)),
		at:         make([]At, len(e.at)),
		granted:    make([]Task, len(e.granted)),
		up:         newWorklist(len(e.tasks)),
		down:       newWorklist(len(e.tasks)),
	}
	c.CopyFrom(e)
	return c
}

// State passes all mutable state of the engine, except the log of the last instant, to the codec. Two engines of one
// tree with equal saved states behave the same from there on.
func (e *Engine) State(c *snapshot.Codec) {
	snapshot.Each(c, e.tasks, func(c *snapshot.Codec, s *task) {
		s.status.State(c)
		if snapshot.Within(c, &s.hold, free, pinned); s.hold != free {
			s.effective.State(c)
		} else {
			s.effective = s.status
		}
		snapshot.Bool(c, &s.active)
		s.Told.State(c)
	})
	snapshot.Each(c, e.composites, func(c *snapshot.Codec, s *composite) {
		snapshot.Int(c, &s.statuses)
		snapshot.Int(c, &s.results)
		snapshot.Int(c, &s.held)
		snapshot.Int(c, &s.first)
		snapshot.Int(c, &s.pinned)
		snapshot.Int(c, &s.active)
		snapshot.Bool(c, &s.passing)
	})
	for i := range e.at {
		e.at[i].Pass(c, e.tree.scripts[i].Automaton)
	}
	e.up.state(c, len(e.tasks))
	e.down.state(c, len(e.tasks))
	snapshot.Int(c, &e.limit)
	snapshot.Bool(c, &e.halted)
	e.passExchange(c)
	if !c.Loading() || c.Failed() {
		return
	}
	if !e.fits() {
		c.Fail(snapshot.ErrMismatch)
		return
	}
	e.listenAnew()
}

// fits reports whether the composites' indices are valid indices of their children, and as many of these are active.
func (e *Engine) fits() bool {
	for i := range e.tree.nodes {
		n := &e.tree.nodes[i]
		if n.family == Leaf {
			continue
		}
		c, active := &e.composites[n.composite], int32(0)
		for place := range n.n {
			if e.child(n, place).active {
				active++
			}
		}
		if min(c.first, c.pinned) < 0 || max(c.first, c.pinned) > n.n || c.active != active {
			return false
		}
	}
	return true
}

// Settle applies the inputs of one instant in their order and settles the tree. If the tree does not settle within the
// limit, the error wraps ErrLoop and names the tasks that keep changing; the instant then holds the log so far, and
// Halt still starts all exit procedures.
func (e *Engine) Settle(inputs []Input) (instant Instant, err error) {
	if !e.begun {
		e.begin()
	}
	e.begun = false
	e.take(inputs)
	if !e.settle(e.limit) {
		err = LoopError(e.tree, e.changes, e.limit, "event iterations")
	}
	// Field by field: copying the whole struct right after its parts were stored stalls the processor.
	instant.Changes = e.changes
	instant.Commands = e.commands
	instant.Timings = e.timings
	instant.Turned = e.turned
	instant.Iterations = int(e.iteration)
	instant.Visits = int(e.visits)
	return instant, err
}

// take applies inputs and schedules their leaves for a visit.
func (e *Engine) take(inputs []Input) {
	e.waits = e.waits[:0]
	for i := range inputs {
		in := &inputs[i]
		switch in.kind {
		case inputElapsed:
			e.elapse(in.task)
			continue
		case inputWait:
			e.waits = append(e.waits, in.task)
			continue
		case inputAgain:
			e.again(in.task)
			continue
		}
		s := e.task(in.task)
		if s.Take(in, e.tree.kinds[in.task], s.status) {
			e.up.add(in.task)
		}
	}
}

// Halt withdraws activity from the root permanently and settles the tree: every exit procedure is started. An action
// whose exit procedure takes time stays Deactivating until a later Settle receives Exited.
func (e *Engine) Halt() Instant {
	e.begin()
	e.halted = true
	e.down.add(e.tree.Root())
	e.settle(math.MaxInt) // without activity every task goes straight to its transient status: no loop is possible
	return Instant{Changes: e.changes, Commands: e.commands, Timings: e.timings, Turned: e.turned,
		Iterations: int(e.iteration), Visits: int(e.visits)}
}

// begin forgets the log of the last instant.
func (e *Engine) begin() {
	e.changes, e.commands, e.timings, e.turned = e.changes[:0], e.commands[:0], e.timings[:0], e.turned[:0]
	e.iteration, e.visits, e.reran = 0, 0, e.reran[:0]
}

// settle runs event iterations until one changes nothing, and counts those that change something. It reports whether
// the tree settled within the limit.
func (e *Engine) settle(limit int) bool {
	for !e.up.empty() || !e.down.empty() {
		e.iteration++
		e.changed = false
		for t := e.up.popMin(); t >= 0; t = e.up.popMin() {
			n := &e.tree.nodes[t]
			for s := &e.tasks[n.slot]; s != nil; {
				t, n, s = e.visit(t, n, s)
			}
		}
		if t := e.tree; t.lasting != nil || t.shared != nil {
			e.spend()
			e.grant()
		}
		if e.exchanging != nil {
			e.awaits()
		}
		for t := e.down.popMax(); t >= 0; t = e.down.popMax() {
			e.pass(t)
		}
		if !e.changed {
			e.iteration--
		} else if int(e.iteration) == limit {
			return false
		}
	}
	if e.resting != nil {
		e.rest()
	}
	return true
}

// LoopError returns the error of an instant that did not settle within a limit of event iterations or ticks. It wraps
// ErrLoop and names the tasks that changed in the later half of the instant.
func LoopError(tree *Tree, changes []Change, limit int, unit string) error {
	var tasks []Task
	for _, c := range changes {
		if int(c.Iteration) > limit/2 {
			tasks = append(tasks, c.Task)
		}
	}
	slices.Sort(tasks)
	return fmt.Errorf("%w: the tree does not settle within %d %s; still changing: %s",
		ErrLoop, limit, unit, strings.Join(tree.Names(slices.Compact(tasks)), ", "))
}

// visit applies the status cycle to a task until it is stable, and updates its parent. It returns the parent if the
// parent is to be visited next, else nil.
func (e *Engine) visit(t Task, n *node, s *task) (Task, *node, *task) {
	e.visits++
	before := s.status
	for {
		verdict := s.Outcome
		if s.status <= Accept || s.status == Deactivating {
			verdict = s.Request
		}
		to := cycle(s.status, verdict, s.active, s.Busy)
		if to == s.status {
			break
		}
		e.changes = append(e.changes, Change{Task: t, From: s.status, To: to, Iteration: e.iteration})
		s.status = to
		if to <= Failure {
			break
		}
		if to.in(switching) {
			e.start(t, n, s)
		}
	}
	if s.status == before {
		return none, nil, nil
	}
	e.changed = true
	if n.family == Leaf && n.quick && before.in(transient) && s.status.in(transient) {
		e.revise(n)
	}
	return e.tell(t, n, s, before)
}

// start starts the procedure of a task that has become Activating or Deactivating. A composite that enters Deactivating
// drops all holds.
func (e *Engine) start(t Task, n *node, s *task) {
	exit := s.status == Deactivating
	switch {
	case n.family == Leaf:
		s.Outcome = Accept // not used before the action is active
		s.Busy = s.Slow(exit)
		e.commands = append(e.commands, Command{Task: t, Exit: exit})
	case exit:
		e.release(n, s)
	}
}

// tell updates a task's effective status and its parent's counts after its status has changed, and notes the parent for
// the visits that this may affect. It returns the parent if it is to be visited next, else nil. A composite's own new
// status is no reason for a down visit: the activity it passes on depends on its own activity, its verdict and its
// children. Nor is a child that has been activated: it goes on asking for activity, and enables no hand-over.
func (e *Engine) tell(t Task, n *node, s *task, before Status) (Task, *node, *task) {
	from, released := s.effective, s.hold == held && s.status.in(judged)
	if released {
		s.hold = free
	}
	if s.hold == free {
		s.effective = s.status
	}
	e.moves(t)
	p := n.up
	if p == nil {
		if e.rootWants(s) != s.active {
			e.down.add(t)
		}
		return none, nil, nil
	}
	parent, c := &e.tasks[p.slot], &e.composites[p.composite]
	if released {
		c.held--
	}
	if parent.active && !(s.effective.in(1<<Activating|1<<Running) && from.in(wanted)) {
		e.down.add(n.parent)
		if c.passing {
			e.down.add(t)
		}
	}
	if c.held > 0 && p.family == Script && !parent.active { // after an exchange: its automaton may look elsewhere
		e.down.add(n.parent)
	}
	affected := false
	if change := inStatuses[s.status%room] - inStatuses[before%room]; change != 0 {
		c.statuses += change
		affected = parent.Busy != c.statuses.switching()
		parent.Busy = c.statuses.switching()
	}
	e.moves(n.parent)
	if s.effective != from && parent.judge(e.recount(p, c, n.slot-p.kids, from, s.effective, parent.Request)) {
		affected = true
	}
	switch {
	case !affected:
		return none, nil, nil
	case e.up.empty():
		return n.parent, p, parent
	}
	e.up.add(n.parent)
	return none, nil, nil
}
