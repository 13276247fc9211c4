// Package executive carries out a plan: it passes the leaves' inputs to a decider, starts and completes the procedures
// of actions, and writes signals.
//
// A [Program] is the plan compiled for its signals; it never changes. An [Executive] is one execution of it: the state
// of the leaves, the running procedures, and a [Decider], which chooses the active actions: the plan's tree, the tree
// ticked at a period, a state graph, or recorded inputs. It depends on no integrator, file or clock, only on a [World].
// The owner of both connects them, instant by instant:
//
//	x.Begin()
//	repeat:
//		x.Changed(the indicators whose sides have changed)
//		again := x.Settle()       // x.Log has the changes
//	until not again               // or x.Endless
//	x.Rest()                      // sets what the world watches, returns the next alarm
//
// Only affected leaves are visited. A formula's truth depends on sides of indicators and on discrete signals, so a leaf
// has a new input only if a side that one of its formulas depends on has changed, a discrete slot may have been
// written, one of its procedures has begun, or the time of one is over.
package executive

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/snapshot"
)

// ErrDuration reports a procedure whose duration is negative or NaN.
var ErrDuration = errors.New("impossible duration")

// Entry is an entry of the log: the change of a status or, if Kind is given, an event.
type Entry struct {
	Micro      int // event iterations of the decider in the current instant
	Change     bt.Change
	Kind, Text string
}

// Executive holds all mutable state of one execution. It is not safe for concurrent use.
type Executive struct {
	Log []Entry // the entries of the last call of Settle, Rest or Halt

	p       *Program
	world   World
	sampler Sampler // the world, if it is one; else nil
	watcher Watcher // the world, if it is one; else nil
	starter Starter // the world, if it is one; else nil
	u       []float64
	decider Decider
	tree    *tree // the decider, if it is a tree in continuous time; else nil
	ordered *tree // the decider, if writes act in the order of its tree; else nil
	leaves  []leafState
	timers  []float64  // by place in Tree.Timers: the time at which it elapses [s]; +Inf: it does not run
	running []int      // the places of those that run, ascending
	lost    error      // a leaf has read an entry that is not written
	open    []question // of this instant
	root    bt.Status  // in which the plan last ended, since its activation; Accept if it has not
	over    bool       // that end was followed by the plan's deactivation
	settled bool       // for the first time: the world watches the right indicators
	halted  bool
	micro   int
	rounds  rounds
	pass    pass

	due       set // leaves that may have a new input
	stale     set // leaves whose watched indicators may change
	contested set // slots with other active writers
	timed     []int32
	left      []int    // whose exit procedure is over
	watching  []mask   // by leaf
	fresh     bool     // discrete signals are as of this call of Settle
	watchers  []int32  // by indicator: number of formulas that watch it
	waiting   bool     // a loop waits, as far as watching goes
	released  bool     // the indicators of what the run is judged by are not watched any more
	writing   []int32  // by slot: its active writers
	conflicts []string // by slot: the active writers last reported
	waits     []string // by shared resource: the guards that wait, as last reported
	text      []byte   // scratch

	leaf  int // that holds evaluates
	holds func(Criterion) bool
}

// leafState is the state of a leaf.
type leafState struct {
	Known
	deadline float64 // time at which a timed procedure ends [s]; +Inf for one that waits for its condition
}

// mask is a set of formulas, and the leaf's written values, whose indicators are watched.
type mask uint16

const (
	always mask = 1<<SuccessIf | 1<<FailureIf
	writes mask = 1 << Criteria
	rests  mask = 2 << Criteria // nothing: the tree does not hear the leaf
)

// set is a set of small numbers that is emptied often.
type set struct {
	list, taken []int32
	has         []bool
}

func newSet(n int) set { return set{has: make([]bool, n)} }

func (s *set) add(i int) {
	if !s.has[i] {
		s.has[i] = true
		s.list = append(s.list, int32(i))
	}
}

func (s *set) addAll() {
	for i := range s.has {
		s.add(i)
	}
}

func (s *set) copyFrom(o *set) {
	s.list = append(s.list[:0], o.list...)
	s.has = append(s.has[:0], o.has...)
}

// take empties the set and returns its elements in ascending order, valid until the next call of take.
func (s *set) take() []int32 {
	slices.Sort(s.list)
	for _, i := range s.list {
		s.has[i] = false
	}
	s.list, s.taken = s.taken[:0], s.list
	return s.taken
}

// New returns an execution of a program in a world, whose inputs are those of Program.Initial.
func New(p *Program, w World, d Decider) *Executive {
	x := create(p, w, d)
	x.renew()
	d.begin(x)
	return x
}

// create returns an execution that has not begun.
func create(p *Program, w World, d Decider) *Executive {
	x := &Executive{p: p, world: w, decider: d, leaves: make([]leafState, len(p.Leaves)), root: bt.Accept,
		due: newSet(len(p.Leaves)), stale: newSet(len(p.Leaves)), contested: newSet(len(p.Slots)),
		watching: make([]mask, len(p.Leaves)), watchers: make([]int32, len(p.Indicators)),
		writing: make([]int32, len(p.Slots)), conflicts: make([]string, len(p.Slots)),
		waits: make([]string, len(p.Tree.Shared()))}
	x.sampler, _ = w.(Sampler)
	x.watcher, _ = w.(Watcher)
	x.starter, _ = w.(Starter)
	x.u, _ = w.Discrete()
	x.timers = slices.Repeat([]float64{math.Inf(1)}, len(p.Tree.Timers()))
	x.pass.passed = make([]bool, len(p.Leaves))
	for i := range x.leaves {
		x.leaves[i].Known = Unknown
	}
	x.holds = func(f Criterion) bool { return x.judge(x.leaf, f) }
	return x
}

// renew recomputes all derived data: every leaf may have a new input.
func (x *Executive) renew() {
	x.due.addAll()
	x.timed, x.open, x.lost = x.timed[:0], x.open[:0], nil
	for i := range x.leaves {
		if x.leaves[i].Procedure != None {
			x.timed = append(x.timed, int32(i))
		}
	}
	x.running = x.running[:0]
	for i, end := range x.timers {
		if !math.IsInf(end, 1) {
			x.running = append(x.running, i)
		}
	}
	clear(x.watching)
	clear(x.watchers)
	x.recount()
	x.seeAll(x.p.Standing, true)
	if x.released {
		x.seeAll(x.p.Judged, false)
	}
	if x.settled { // as the world has it
		x.fresh = false
		x.refresh()
		x.settled = false
		x.rewatch()
	}
}

// recount recomputes the data derived from the phases of the leaves.
func (x *Executive) recount() {
	x.stale.addAll()
	x.contested.addAll()
	for s := range x.p.Slots {
		x.writing[s] = 0
		for _, w := range x.p.Slots[s].Writers {
			if x.u[w.Leaf] == w.Phase {
				x.writing[s]++
			}
		}
	}
}

// Begin begins an instant. Discrete signals of the world may have changed.
func (x *Executive) Begin() {
	x.pass.first, x.pass.rests = true, false
	x.Anew()
}

// Anew counts the settlings of an instant anew. Discrete signals of the world may have changed.
func (x *Executive) Anew() {
	x.micro, x.rounds.n = 0, 0
	for _, i := range x.p.open {
		x.due.add(int(i))
	}
}

// Micro returns the number of event iterations of the decider in the current instant.
func (x *Executive) Micro() int { return x.micro }

// Changed records indicators whose sides have changed.
func (x *Executive) Changed(indicators []int) {
	for _, k := range indicators {
		for _, i := range x.p.readers[k] {
			if x.watching[i] != rests {
				x.pass.outside = x.pass.outside || x.pass.first && x.heeds(int(i), k)
				x.due.add(int(i))
			}
		}
	}
}

// Writer returns the leaf whose value a slot has, -1 if none writes it.
func (x *Executive) Writer(slot int) int {
	n := int(x.u[x.p.counts(slot)])
	if n == 0 {
		return -1
	}
	return x.p.Slots[slot].Writers[n-1].Leaf
}

// SetSlot sets from outside what a slot has while no leaf writes it.
func (x *Executive) SetSlot(slot int, value float64) {
	at := x.p.Held(slot)
	x.world.Set(at, value)
	x.mark(at, false)
	x.SlotChanged(slot)
}

// SlotChanged records that the value of a slot has changed: leaves that read it may have a new input.
func (x *Executive) SlotChanged(slot int) {
	x.pass.outside = true
	x.written(slot)
}

// written makes the leaves due that read a slot.
func (x *Executive) written(slot int) {
	for _, reader := range x.p.written[slot] {
		x.due.add(int(reader))
	}
}

// Settle makes the decider react once to the current instant, and reports whether it did anything. If so, signals may
// have changed, and Settle must be called again. The error is ErrDuration, ErrUnset or one of the decider.
func (x *Executive) Settle() (again bool, err error) {
	x.Log = x.Log[:0]
	kept := x.keepUnknown()
	again, err = x.decider.settle(x)
	again = again || kept
	if x.idle() == Idle { // a side that is not kept must be known before it can change
		x.rewatch()
	}
	if !again {
		x.answer(nil, true)
		x.pass.over()
		x.pass.rests, x.pass.reran, x.pass.varied, x.pass.last = true, false, Shown, x.pass.last[:0]
	}
	if x.lost != nil {
		err = errors.Join(x.lost, err)
		x.lost = nil
	}
	return again, err
}

// Rest ends an instant: it sets what the world watches, logs slots that several tasks write, and returns the time [s]
// of the executive's next instant, if no event comes before.
func (x *Executive) Rest() (alarm float64) {
	x.Log = x.Log[:0]
	x.rewatch()
	x.contention()
	x.queue()
	return x.decider.next(x)
}

// Alarm returns the text of the alarm for the log; "" if it is not logged.
func (x *Executive) Alarm() string { return x.decider.alarm(x) }

// Halt ends every action permanently: the exit procedures are started. Those that take time end in later instants.
func (x *Executive) Halt() error {
	x.Log = x.Log[:0]
	x.halted = true
	return x.decider.halt(x)
}

// Status returns the current status of a task.
func (x *Executive) Status(t bt.Task) bt.Status { return x.decider.status(x, t) }

// Rests reports whether a task is a condition that may go unjudged while the tree does not hear it.
func (x *Executive) Rests(t bt.Task) bool { return x.decider.rests(x, t) }

// Ended returns the status in which the plan has ended, Finished, Aborted or Dropped, once it is deactivated; else
// Accept.
func (x *Executive) Ended() bt.Status {
	if x.over {
		return x.root
	}
	return bt.Accept
}

// Judgement returns the judgement of the plan's root: Success, Failure or Skipped, or Accept while it runs or waits. A
// root that is skipped after it has ended keeps its result, as that of RunOnce.
func (x *Executive) Judgement() bt.Status {
	status := x.Status(x.p.Tree.Root())
	if status == bt.Accept || status == bt.Deactivating || status == bt.Skipped && x.root != bt.Accept {
		status = x.root
	}
	switch status {
	case bt.Success, bt.Finished:
		return bt.Success
	case bt.Failure, bt.Aborted:
		return bt.Failure
	case bt.Skipped, bt.Dropped:
		return bt.Skipped
	case bt.Accept, bt.Activating, bt.Running, bt.Deactivating:
		return bt.Accept
	}
	panic("executive: a status that does not exist")
}

// Exits reports whether exit procedures must still run before everything stops: an active action has one, one is
// running, or an active task makes assignments when it is halted.
func (x *Executive) Exits() bool {
	for t := range x.p.halted {
		if s := x.Status(t); s == bt.Activating || s == bt.Running {
			return true
		}
	}
	for i := range x.p.Leaves {
		l := &x.p.Leaves[i]
		if _, slow := l.Slow(); x.u[i] == Active && (slow || len(l.Exit) > 0) {
			return true
		}
	}
	return len(x.Leaving()) > 0
}

// Leaving returns the tasks whose exit procedure is running.
func (x *Executive) Leaving() []bt.Task {
	var tasks []bt.Task
	for _, i := range x.timed {
		if x.leaves[i].Procedure == Exiting {
			tasks = append(tasks, x.p.Leaves[i].Task)
		}
	}
	slices.Sort(tasks)
	return tasks
}

// State passes all mutable state of the execution, except that of the world, to the codec.
func (x *Executive) State(c *snapshot.Codec) {
	snapshot.Each(c, x.leaves, func(c *snapshot.Codec, l *leafState) {
		snapshot.Bool(c, &l.Value)
		snapshot.Bool(c, &l.Spent)
		snapshot.Int(c, &l.Request)
		snapshot.Int(c, &l.Outcome)
		snapshot.Int(c, &l.Procedure)
		if l.Procedure != None {
			snapshot.Float(c, &l.deadline)
		} else {
			l.deadline = 0
		}
	})
	for i := range x.timers {
		snapshot.Float(c, &x.timers[i])
		if c.Loading() && !(x.timers[i] >= 0) {
			c.Fail(snapshot.ErrMismatch)
		}
	}
	snapshot.Int(c, &x.root)
	snapshot.Bool(c, &x.over)
	snapshot.Bool(c, &x.settled)
	snapshot.Bool(c, &x.halted)
	snapshot.Bool(c, &x.released)
	x.pass.state(c)
	snapshot.Each(c, x.conflicts, snapshot.Text)
	for i := range x.waits {
		snapshot.Text(c, &x.waits[i])
	}
	x.decider.State(c)
	if c.Loading() && !c.Failed() {
		x.renew()
	}
}

// CopyFrom makes the execution equal to another one of the same program, also one that is between two settlings of an
// instant, except for the log, the decider and the world.
func (x *Executive) CopyFrom(o *Executive) {
	x.leaves = append(x.leaves[:0], o.leaves...)
	x.timers = append(x.timers[:0], o.timers...)
	x.open = append(x.open[:0], o.open...)
	x.running = append(x.running[:0], o.running...)
	x.root, x.over, x.settled, x.halted, x.micro = o.root, o.over, o.settled, o.halted, o.micro
	x.pass.copyFrom(&o.pass)
	x.due.copyFrom(&o.due)
	x.stale.copyFrom(&o.stale)
	x.contested.copyFrom(&o.contested)
	x.timed = append(x.timed[:0], o.timed...)
	x.left = append(x.left[:0], o.left...)
	x.waiting = o.waiting
	x.watching = append(x.watching[:0], o.watching...)
	x.watchers = append(x.watchers[:0], o.watchers...)
	x.writing = append(x.writing[:0], o.writing...)
	x.conflicts = append(x.conflicts[:0], o.conflicts...)
	x.waits = append(x.waits[:0], o.waits...)
}

// Memory passes the part of the state on which later instants depend, apart from the decider's and the world's, to the
// codec, which saves it: how leaves without memory were judged is left out.
func (x *Executive) Memory(c *snapshot.Codec) {
	for i := range x.leaves {
		s := &x.leaves[i]
		if x.p.Leaves[i].Remembers() {
			snapshot.Bool(c, &s.Value)
			snapshot.Bool(c, &s.Spent)
		}
		if !x.p.Leaves[i].Condition {
			snapshot.Int(c, &s.Outcome)
			snapshot.Int(c, &s.Procedure)
			snapshot.Float(c, &s.deadline)
		}
	}
	for i := range x.timers {
		snapshot.Float(c, &x.timers[i])
	}
	snapshot.Int(c, &x.root)
	snapshot.Bool(c, &x.over)
}

// idle returns what the world does about indicators that nothing watches.
func (x *Executive) idle() Attention {
	if x.watcher == nil {
		return Kept
	}
	return x.decider.idle()
}

// judge reports whether a formula of a leaf holds.
func (x *Executive) judge(i int, f Criterion) bool {
	l, s := &x.p.Leaves[i], &x.leaves[i]
	switch f {
	case Off:
		if l.Formulas[Off] == nil {
			return len(l.Until) == 0
		}
	case Entered, Exited:
		if x.world.Over(i, s.deadline) {
			return true
		}
	}
	code := l.Formulas[f]
	return code != nil && !x.unwritten(i, f) && x.world.Truth(code)
}

// visit returns the leaves that may have a new input, in their order.
func (x *Executive) visit() []int32 {
	for _, i := range x.timed {
		if x.world.Over(int(i), x.leaves[i].deadline) {
			x.due.add(int(i))
		}
	}
	x.fresh = false
	if slices.ContainsFunc(x.due.list, func(i int32) bool { return x.p.typed[i] }) {
		x.refresh()
	}
	return x.due.take()
}

// refresh evaluates the discrete signals: they may have been written.
func (x *Executive) refresh() {
	if !x.fresh {
		if x.fresh = true; x.sampler != nil {
			x.sampler.Refresh()
		}
	}
}

// appendInputs appends the new inputs of a leaf with the given status in the engine.
func (x *Executive) appendInputs(in []bt.Input, i int, status bt.Status) []bt.Input {
	l, s := &x.p.Leaves[i], &x.leaves[i]
	before := s.Procedure
	x.leaf = i
	in = s.AppendInputs(in, l.Task, l.Condition, status, x.holds)
	x.stale.add(i)
	if before != None && s.Procedure == None {
		x.untime(i)
		if before == Exiting {
			x.left = append(x.left, i)
		}
	}
	return in
}

// leave completes the exit procedures that are over, once the inputs of all leaves are known: these follow discrete
// signals as they were before.
func (x *Executive) leave() {
	for _, i := range x.left {
		x.exited(i)
	}
	x.left = x.left[:0]
}

// judgeCondition updates a condition's truth and reports whether it changed.
func (x *Executive) judgeCondition(i int) bool {
	x.leaf = i
	changed := x.leaves[i].Judge(x.holds)
	x.stale.add(i)
	return changed
}

// do carries out a command: it starts an action's entry procedure and makes the action active, or starts its exit
// procedure.
func (x *Executive) do(i int, exit bool) error {
	x.due.add(i)
	if exit {
		return x.exit(i)
	}
	return x.enter(i)
}

func (x *Executive) enter(i int) error {
	l := &x.p.Leaves[i]
	if x.starter != nil {
		x.starter.Starts(i)
	}
	if x.ordered != nil {
		x.ordered.reach(x, i, l.Entry, false)
	}
	x.keepFirst(i)
	if err := x.assign(i, Active, l.Entry); err != nil {
		return err
	}
	slow, _ := l.Slow()
	return x.start(i, false, slow, l.EntryTime)
}

// exit starts the exit procedure of an action, and completes it unless it takes time. Slots with Hold keep the last
// value that the action wrote, the others return to their default.
func (x *Executive) exit(i int) error {
	l := &x.p.Leaves[i]
	if x.ordered != nil {
		x.ordered.reach(x, i, l.Exit, true)
	}
	x.keep(i)
	if err := x.assign(i, Leaving, l.Exit); err != nil {
		return err
	}
	_, slow := l.Slow()
	if !slow {
		x.exited(i)
	}
	return x.start(i, true, slow, l.ExitTime)
}

// turn sets the phase of a leaf and updates the writers that count.
func (x *Executive) turn(i int, p Phase) {
	before := x.u[i]
	x.world.Set(i, p)
	if x.stale.add(i); p == Active && x.idle() == Idle {
		x.watcher.Look(x.p.Leaves[i].Writes) // they count from now on
		x.watch(i, x.watching[i])
	}
	for _, r := range x.p.roles[i] {
		if r.Phase == before {
			x.writing[r.Slot]--
		}
		if r.Phase == p {
			x.writing[r.Slot]++
		}
		x.contested.add(r.Slot)
		x.written(r.Slot)
		at := x.p.counts(r.Slot)
		switch n, counts := float64(r.Writer+1), x.u[at]; {
		case x.writing[r.Slot] == 0:
			x.world.Set(at, 0)
		case r.Phase == p && (counts == 0 || n < counts):
			x.world.Set(at, n)
		case r.Phase != p && n == counts:
			x.world.Set(at, x.first(r.Slot, r.Writer+1))
		}
	}
}

// first returns the number of the first active writer of a slot from the given place on, 0 if there is none.
func (x *Executive) first(slot, from int) float64 {
	for k, w := range x.p.Slots[slot].Writers[from:] {
		if x.u[w.Leaf] == w.Phase {
			return float64(from + k + 1)
		}
	}
	return 0
}

// exited completes the exit procedure of an action.
func (x *Executive) exited(i int) {
	l := &x.p.Leaves[i]
	x.turn(i, Resting)
	for _, a := range l.Exit {
		if x.p.Slots[a.Slot].Hold {
			to, from := x.p.Held(a.Slot), x.p.Capture(a.Captured)
			x.world.Copy(to, from)
			x.mark(to, x.p.Marked(from, x.u))
		}
	}
}

// start records that a procedure has just begun, with its deadline if it takes time.
func (x *Executive) start(i int, exit, slow bool, duration *expr.Code) error {
	s := &x.leaves[i]
	if s.Procedure != None {
		x.untime(i)
	}
	s.Start(exit, slow)
	if !slow {
		return nil
	}
	x.timed = append(x.timed, int32(i))
	s.deadline = math.Inf(1)
	if duration == nil {
		return nil
	}
	due, ok := x.world.Start(i, duration, 0)
	if s.deadline = due; !ok {
		s.deadline = x.world.T() // it is over at once
		return fmt.Errorf("%w: the procedure of %s would take %g s at t = %.3f s", ErrDuration,
			x.p.Tree.Name(x.p.Leaves[i].Task), due, x.world.T())
	}
	return nil
}

// untime removes the deadline of a procedure.
func (x *Executive) untime(i int) {
	x.world.Stop(i)
	x.leaves[i].deadline = 0
	k := slices.Index(x.timed, int32(i))
	last := len(x.timed) - 1
	x.timed[k] = x.timed[last]
	x.timed = x.timed[:last]
}

// elapsed appends the inputs of the timers that have elapsed.
func (x *Executive) elapsed(in []bt.Input) []bt.Input {
	x.running = slices.DeleteFunc(x.running, func(i int) bool {
		over := x.world.Over(x.p.clock(i), x.timers[i])
		if over {
			x.world.Stop(x.p.clock(i))
			x.timers[i] = math.Inf(1)
			in = append(in, bt.Elapsed(x.p.Tree.Timers()[i]))
		}
		return over
	})
	return in
}

// time starts or stops the timer of a task.
func (x *Executive) time(c bt.Timing) {
	i, _ := slices.BinarySearch(x.p.Tree.Timers(), c.Task)
	at, runs := slices.BinarySearch(x.running, i)
	switch {
	case c.Start:
		x.timers[i], _ = x.world.Start(x.p.clock(i), nil, x.p.Tree.Timer(c.Task))
		if !runs {
			x.running = slices.Insert(x.running, at, i)
		}
	case runs:
		x.world.Stop(x.p.clock(i))
		x.timers[i] = math.Inf(1)
		x.running = slices.Delete(x.running, at, at+1)
	}
}

// timer returns the time at which the next timer elapses.
func (x *Executive) timer() float64 {
	next := math.Inf(1)
	for _, i := range x.running {
		next = min(next, x.timers[i])
	}
	return next
}

// deadline returns the next end of a timed procedure or of a timer.
func (x *Executive) deadline() float64 {
	next := math.Inf(1)
	x.Clocks(func(_ int, due float64) { next = min(next, due) })
	return next
}

// Clocks calls visit for each clock that runs, with what the world answered when it started; +Inf for procedures that
// wait for a condition.
func (x *Executive) Clocks(visit func(clock int, due float64)) {
	for _, i := range x.timed {
		visit(int(i), x.leaves[i].deadline)
	}
	for _, i := range x.running {
		visit(x.p.clock(i), x.timers[i])
	}
}

// condition returns the formulas whose change can change a condition: those for becoming true while it is false, those
// for becoming false while it is true. This also covers hysteresis.
func (x *Executive) condition(i int) mask {
	latched := x.leaves[i].Value && x.p.Leaves[i].Remembers()
	var m mask
	if latched {
		m |= 1 << Off
	}
	if !latched || x.judge(i, Off) { // a condition that only On keeps true ends with it
		m |= 1 << On
	}
	return m
}

func (x *Executive) event(kind, text string) {
	x.Log = append(x.Log, Entry{Micro: x.micro, Kind: kind, Text: text})
}

// changed logs a status change in an event iteration of the current instant, and records how the plan ends.
func (x *Executive) changed(micro int, c bt.Change) {
	x.Log = append(x.Log, Entry{Micro: micro, Change: c})
	if c.To.Ended() {
		for _, i := range x.p.lasting[c.Task] {
			x.leaves[i].Spend()
			x.due.add(i)
		}
	}
	if c.Task != x.p.Tree.Root() || x.halted {
		return
	}
	switch {
	case c.To == bt.Activating:
		x.root, x.over = bt.Accept, false
	case c.To.Ended():
		x.root = c.To
	case c.From == bt.Deactivating && x.root != bt.Accept: // its exit procedures are complete
		x.over = true
	}
}
