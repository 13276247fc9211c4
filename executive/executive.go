// Package executive carries out a plan: it tells what decides what the leaves see, starts and completes the procedures
// of actions, and writes signals.
//
// A [Program] is the plan compiled for its signals; it never changes. An [Executive] is one execution of it: what the
// leaves have told, the procedures under way, and a [Decider], which chooses the actions that are active: the plan's
// tree, the tree ticked at a period, a state graph, or inputs that were recorded. It knows no integrator, file or clock:
// a [World] answers it, and whoever owns both brings them together, instant by instant:
//
//	x.Begin()
//	repeat:
//		x.Changed(the indicators whose sides have changed)
//		again := x.Settle()       // x.Log has what happened
//	until not again
//	x.Rest()                      // tells the world what to watch, returns the next alarm
//
// Only leaves to which something happened are visited: a formula's truth depends on sides of indicators and on discrete
// signals, so a leaf has nothing new to tell unless a side that one of its formulas reads has changed, a procedure of its
// own has begun, or the time of one is over. Leaves whose formulas read discrete signals are visited each time.
package executive

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/expr"
	"canopy/snapshot"
)

// ErrDuration is the failure of a procedure that would take a negative time, or NaN.
var ErrDuration = errors.New("impossible duration")

// World is what an executive acts on.
type World interface {
	// T returns the time [s].
	T() float64
	// Signals evaluates the signal vector at the present instant, with the present inputs.
	Signals() []float64
	// Discrete returns the inputs, which the executive writes (Program.Initial at the start), and the committed sides of
	// the indicators. Both slices stay the same.
	Discrete() (u []float64, above []bool)
	// Watch says whether changes of an indicator's side are events.
	Watch(indicator int, events bool)
	// Restart is for worlds that integrate: the next stretch is to begin as after a discontinuity.
	Restart()
}

// Entry is something that happened, for the log: the change of a status, or if Kind is given an event.
type Entry struct {
	Micro      int // event iterations of what decides in the present instant
	Change     bt.Change
	Kind, Text string
}

// Executive is all that changes of one execution. It is not safe for concurrent use.
type Executive struct {
	Log []Entry // what happened in the last call of Settle, Rest or Halt

	p       *Program
	world   World
	u       []float64
	above   []bool
	signals []float64 // as evaluated last
	decider Decider
	leaves  []leafState
	root    bt.Status // in which the plan has ended last, since it was activated; Accept if it has not
	over    bool      // that end was followed by the plan's deactivation
	rested  bool      // the world has been told what to watch
	halted  bool
	micro   int

	due       set // leaves that may have something to tell
	stale     set // leaves of which other indicators may be watched
	contested set // slots with other active writers
	timed     []int32
	watching  []mask   // by leaf
	watchers  []int32  // by indicator: formulas that have it watched
	writing   []int32  // by slot: its active writers
	conflicts []string // by slot: the active writers that were reported last

	leaf  int // that holds judges
	holds func(Formula) bool
}

// leafState is what is remembered of a leaf.
type leafState struct {
	Known
	deadline float64 // time at which a timed procedure ends [s]; +Inf for one that waits for its condition
}

// mask is a set of formulas, and what a leaf writes, whose indicators are watched.
type mask uint16

const (
	always mask = 1<<SuccessIf | 1<<FailureIf
	writes mask = 1 << Formulas
)

// set is a set of small numbers that is emptied often.
type set struct {
	list []int32
	has  []bool
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

// take empties the set and returns its elements in ascending order, valid until the next call of add.
func (s *set) take() []int32 {
	slices.Sort(s.list)
	for _, i := range s.list {
		s.has[i] = false
	}
	list := s.list
	s.list = s.list[:0]
	return list
}

// New begins an execution of a program in a world, whose inputs are those of Program.Initial.
func New(p *Program, w World, d Decider) *Executive {
	x := &Executive{p: p, world: w, decider: d, leaves: make([]leafState, len(p.Leaves)), root: bt.Accept,
		due: newSet(len(p.Leaves)), stale: newSet(len(p.Leaves)), contested: newSet(len(p.Slots)),
		watching: make([]mask, len(p.Leaves)), watchers: make([]int32, len(p.Indicators)),
		writing: make([]int32, len(p.Slots)), conflicts: make([]string, len(p.Slots))}
	x.u, x.above = w.Discrete()
	x.signals = w.Signals()
	for i := range x.leaves {
		x.leaves[i].Known = Unknown
	}
	x.holds = func(f Formula) bool { return x.judge(x.leaf, f) }
	x.renew()
	d.begin(x)
	return x
}

// renew makes anew what follows from the state: every leaf may have something to tell.
func (x *Executive) renew() {
	x.due.addAll()
	x.timed = x.timed[:0]
	for i := range x.leaves {
		if x.leaves[i].Procedure != None {
			x.timed = append(x.timed, int32(i))
		}
	}
	clear(x.watching)
	clear(x.watchers)
	x.recount()
	if x.rested { // as the world has it
		x.seeAll(x.p.Standing, true)
		x.rewatch()
	}
}

// recount makes anew what follows from the phases of the leaves.
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

// Begin begins an instant.
func (x *Executive) Begin() { x.micro = 0 }

// Micro returns the number of event iterations of what decides in the present instant.
func (x *Executive) Micro() int { return x.micro }

// Changed takes note of indicators whose sides have changed.
func (x *Executive) Changed(indicators []int) {
	for _, k := range indicators {
		for _, i := range x.p.readers[k] {
			x.due.add(int(i))
		}
	}
}

// Settle lets what decides react once to the present instant, and reports whether it did anything: then signals may
// have changed, and it is to be asked again. The error is ErrDuration or one of the decider.
func (x *Executive) Settle() (again bool, err error) {
	x.Log = x.Log[:0]
	return x.decider.settle(x)
}

// Rest ends an instant: it tells the world what to watch now, logs slots that several tasks write, and returns when the
// executive wants to be asked next, if no event comes before [s].
func (x *Executive) Rest() (alarm float64) {
	x.Log = x.Log[:0]
	if !x.rested {
		x.rested = true
		x.seeAll(x.p.Standing, true)
	}
	x.rewatch()
	x.contention()
	return x.decider.next(x)
}

// Alarm says what it means that the alarm went off; "" if that is nothing to write down.
func (x *Executive) Alarm() string { return x.decider.alarm() }

// Halt ends every action, for ever: the exit procedures are started. Those that take time end in later instants.
func (x *Executive) Halt() error {
	x.Log = x.Log[:0]
	x.halted = true
	return x.decider.halt(x)
}

// Status returns the present status of a task.
func (x *Executive) Status(t bt.Task) bt.Status { return x.decider.status(x, t) }

// Ended returns the status in which the plan has ended, Finished or Aborted, once it is deactivated; else Accept.
func (x *Executive) Ended() bt.Status {
	if x.over {
		return x.root
	}
	return bt.Accept
}

// Judgement returns what the plan's root has come to: Success or Failure, or Accept while it goes on or waits.
func (x *Executive) Judgement() bt.Status {
	status := x.Status(x.p.Tree.Root())
	if status == bt.Accept || status == bt.Deactivating {
		status = x.root
	}
	switch status {
	case bt.Success, bt.Finished:
		return bt.Success
	case bt.Failure, bt.Aborted:
		return bt.Failure
	case bt.Accept, bt.Activating, bt.Running, bt.Deactivating:
		return bt.Accept
	}
	panic("executive: a status that does not exist")
}

// Exits reports whether exit procedures are to run before everything stands still: an active action has one, or one is
// under way.
func (x *Executive) Exits() bool {
	for i := range x.p.Leaves {
		l := &x.p.Leaves[i]
		if _, slow := l.Slow(); x.u[i] == Active && (slow || len(l.Exit) > 0) {
			return true
		}
	}
	return len(x.Leaving()) > 0
}

// Leaving returns the tasks whose exit procedure is under way.
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

// State passes all that changes of the execution, but for what the world keeps.
func (x *Executive) State(c *snapshot.Codec) {
	snapshot.Each(c, x.leaves, func(c *snapshot.Codec, l *leafState) {
		snapshot.Bool(c, &l.Value)
		snapshot.Int(c, &l.Request)
		snapshot.Int(c, &l.Outcome)
		snapshot.Int(c, &l.Procedure)
		snapshot.Float(c, &l.deadline)
	})
	snapshot.Int(c, &x.root)
	snapshot.Bool(c, &x.over)
	snapshot.Bool(c, &x.rested)
	snapshot.Bool(c, &x.halted)
	snapshot.Int(c, &x.micro)
	snapshot.Each(c, x.conflicts, snapshot.Text)
	x.decider.State(c)
	if c.Loading() && !c.Failed() {
		x.renew()
	}
}

// judge reports whether a formula of a leaf holds.
func (x *Executive) judge(i int, f Formula) bool {
	l, s := &x.p.Leaves[i], &x.leaves[i]
	switch f {
	case Off:
		if l.Formulas[Off] == nil {
			return true
		}
	case Entered, Exited:
		if x.world.T() >= s.deadline {
			return true
		}
	}
	code := l.Formulas[f]
	return code != nil && code.Bool(x.signals, x.above)
}

// visit returns the leaves that may have something to tell, in their order.
func (x *Executive) visit() []int32 {
	if len(x.p.typed) > 0 { // whatever has happened may have written what they read
		x.world.Signals()
		for _, i := range x.p.typed {
			x.due.add(int(i))
		}
	}
	for _, i := range x.timed {
		if x.world.T() >= x.leaves[i].deadline {
			x.due.add(int(i))
		}
	}
	return x.due.take()
}

// tell appends what a leaf has to tell an engine in which it has a status.
func (x *Executive) tell(in []bt.Input, i int, status bt.Status) []bt.Input {
	l, s := &x.p.Leaves[i], &x.leaves[i]
	before := s.Procedure
	x.leaf = i
	in = s.Tell(in, l.Task, l.Condition, status, x.holds)
	x.stale.add(i)
	if before != None && s.Procedure == None {
		x.untime(i)
		if before == Exiting {
			x.exited(i)
		}
	}
	return in
}

// judgeCondition brings a condition's truth up to date and reports whether it changed.
func (x *Executive) judgeCondition(i int) bool {
	x.leaf = i
	changed := x.leaves[i].Judge(x.holds)
	x.stale.add(i)
	return changed
}

// do carries out a command: an action's entry procedure starts, and it is active from now on, or its exit procedure.
func (x *Executive) do(i int, exit bool) error {
	x.due.add(i)
	if exit {
		return x.exit(i)
	}
	return x.enter(i)
}

func (x *Executive) enter(i int) error {
	l := &x.p.Leaves[i]
	x.assign(i, Active, l.Entry, l.Captured)
	slow, _ := l.Slow()
	return x.start(i, false, slow, l.EntryTime)
}

// exit starts the exit procedure of an action, and completes it unless it takes time. Slots that hold keep what the
// action wrote last, the others return to their default.
func (x *Executive) exit(i int) error {
	l := &x.p.Leaves[i]
	signals := x.world.Signals()
	for _, slot := range l.Slots {
		x.keep(slot, signals[x.p.Signal(slot)])
	}
	x.assign(i, Leaving, l.Exit, l.Left)
	_, slow := l.Slow()
	if !slow {
		x.exited(i)
	}
	return x.start(i, true, slow, l.ExitTime)
}

// assign brings a leaf into a phase in which it writes the values of assignments. They are captured one after the
// other, each seeing the values that the earlier ones gave; until its turn comes, an assignment's slot keeps its value.
func (x *Executive) assign(i int, p Phase, list []Assignment, captured int) {
	signals := x.world.Signals()
	for k, a := range list {
		x.u[x.p.capture(captured+k)] = signals[x.p.Signal(a.Slot)]
	}
	x.turn(i, p)
	for k, a := range list {
		x.u[x.p.capture(captured+k)] = x.evaluate(a.Value)
	}
}

// turn brings a leaf into a phase, and with it the writers that count.
func (x *Executive) turn(i int, p Phase) {
	before := x.u[i]
	x.u[i] = p
	x.stale.add(i)
	for _, r := range x.p.roles[i] {
		if r.phase == before {
			x.writing[r.slot]--
		}
		if r.phase == p {
			x.writing[r.slot]++
		}
		x.contested.add(r.slot)
		counts := &x.u[x.p.counts(r.slot)]
		switch n := float64(r.writer + 1); {
		case x.writing[r.slot] == 0:
			*counts = 0
		case r.phase == p && (*counts == 0 || n < *counts):
			*counts = n
		case r.phase != p && n == *counts:
			*counts = x.first(r.slot, r.writer+1)
		}
	}
}

// first returns the number of the first active writer of a slot from a place on, 0 if there is none.
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
	for k, a := range l.Exit {
		x.keep(a.Slot, x.u[x.p.capture(l.Left+k)])
	}
}

// keep gives a slot that holds a value that lasts.
func (x *Executive) keep(slot int, value float64) {
	if x.p.Slots[slot].Hold {
		x.u[x.p.Held(slot)] = value
	}
}

// start notes that a procedure has just begun, with its deadline if it takes time.
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
	d := x.evaluate(duration)
	if math.IsNaN(d) || d < 0 {
		s.deadline = x.world.T()
		return fmt.Errorf("%w: the procedure of %s would take %g s at t = %.3f s", ErrDuration,
			x.p.Tree.Name(x.p.Leaves[i].Task), d, x.world.T())
	}
	s.deadline = x.world.T() + d
	return nil
}

// untime forgets a procedure that was under way.
func (x *Executive) untime(i int) {
	k := slices.Index(x.timed, int32(i))
	last := len(x.timed) - 1
	x.timed[k] = x.timed[last]
	x.timed = x.timed[:last]
}

// deadline returns the next end of a procedure that takes a time.
func (x *Executive) deadline() float64 {
	next := math.Inf(1)
	for _, i := range x.timed {
		next = min(next, x.leaves[i].deadline)
	}
	return next
}

// evaluate gives the value of code at the present instant, every relation judged by the values themselves.
func (x *Executive) evaluate(c *expr.Code) float64 { return c.Value(x.world.Signals(), nil) }

// condition returns the formulas whose change can change a condition: those for becoming true while it is false, those
// for becoming false while it is true. Hysteresis needs nothing else.
func (x *Executive) condition(i int) mask {
	latched := x.leaves[i].Value && x.p.Leaves[i].Formulas[Off] != nil
	var m mask
	if latched {
		m |= 1 << Off
	}
	if !latched || x.judge(i, Off) { // a condition that only On keeps true ends with it
		m |= 1 << On
	}
	return m
}

// rewatch brings up to date what the world watches.
func (x *Executive) rewatch() {
	for _, i := range x.stale.take() {
		x.watch(int(i), x.decider.watches(x, int(i)))
	}
}

// watch has the world watch the indicators of these formulas of a leaf, and of what it writes if it is active.
func (x *Executive) watch(i int, m mask) {
	l := &x.p.Leaves[i]
	if x.u[i] == Active {
		m |= writes
	}
	before := x.watching[i]
	x.watching[i] = m
	for f := range Formulas {
		if (m^before)>>f&1 == 1 && l.Formulas[f] != nil {
			x.seeAll(l.Formulas[f].Indicators(), m>>f&1 == 1)
		}
	}
	if (m^before)&writes != 0 {
		x.seeAll(l.Writes, m&writes != 0)
	}
}

func (x *Executive) seeAll(indicators []int, events bool) {
	by := int32(-1)
	if events {
		by = 1
	}
	for _, k := range indicators {
		x.see(k, by)
	}
}

// see counts who has an indicator watched.
func (x *Executive) see(indicator int, by int32) {
	n := &x.watchers[indicator]
	was := *n > 0
	if *n += by; *n > 0 != was {
		x.world.Watch(indicator, *n > 0)
	}
}

// contention logs slots that several tasks write: the first in the tree counts.
func (x *Executive) contention() {
	for _, i := range x.contested.take() {
		text := ""
		if x.writing[i] > 1 {
			var names []string
			for _, w := range x.p.Slots[i].Writers {
				if x.u[w.Leaf] == w.Phase {
					names = append(names, x.p.Tree.Name(x.p.Leaves[w.Leaf].Task))
				}
			}
			text = fmt.Sprintf("%s write %s at once; %s counts", strings.Join(names, " and "), x.p.Slots[i].Name, names[0])
		}
		if text != "" && text != x.conflicts[i] {
			x.event("conflict", text)
		}
		x.conflicts[i] = text
	}
}

func (x *Executive) event(kind, text string) {
	x.Log = append(x.Log, Entry{Micro: x.micro, Kind: kind, Text: text})
}

// changed logs a status change in an event iteration of the present instant, and notes how the plan ends.
func (x *Executive) changed(micro int, c bt.Change) {
	x.Log = append(x.Log, Entry{Micro: micro, Change: c})
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
