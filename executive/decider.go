package executive

import (
	"errors"
	"math"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/snapshot"
)

// Decider decides at instants which actions are active. It belongs to one execution. Tree, Ticked, Machinery and
// Playback create the four kinds, the rows of the 2014 paper's Table 1.
type Decider interface {
	// begin reads the leaves' inputs at the start.
	begin(x *Executive)
	// settle updates the actions for the current instant, once, and reports whether it did anything.
	settle(x *Executive) (bool, error)
	// watches returns the formulas of a leaf whose changes require a settling.
	watches(x *Executive, leaf int) mask
	// idle returns what the world does about indicators that nothing watches.
	idle() Attention
	// rests reports whether a task is a condition that may go unjudged.
	rests(x *Executive, t bt.Task) bool
	// next returns the time [s] of the next required settling, if no event comes before.
	next(x *Executive) float64
	// status returns the current status of a task.
	status(x *Executive, t bt.Task) bt.Status
	// halt ends every action.
	halt(x *Executive) error
	// alarm returns the text of the current alarm for the log; "" if it is not logged.
	alarm(x *Executive) string
	snapshot.Stateful
}

// Engine is a tree engine: the event-driven one, or one that is ticked.
type Engine interface {
	Settle(inputs []bt.Input) (bt.Instant, error)
	Halt() bt.Instant
	Status(t bt.Task) bt.Status
	snapshot.Stateful
}

// Listener is an engine that judges only what it hears: bt.Engine.
type Listener interface {
	Engine
	Listen(always func(t bt.Task) bool, ask func(t bt.Task, in []bt.Input) []bt.Input)
	Hears(t bt.Task) bool
	Counts(t bt.Task) bool
	Held(t bt.Task) (result bt.Status, ok bool)
	Reconsider(in []bt.Input) []bt.Input
}

// Exchanger is an engine that can go on with another tree: bt.Engine.
type Exchanger interface {
	Ready(x *bt.Exchange) bool
	Withhold(x *bt.Exchange)
	Await(x *bt.Exchange)
	Exchange(x *bt.Exchange, initial []bt.Input) *bt.Engine
}

// loops is an engine whose loops can wait between two runs: bt.Engine and tick.Engine.
type loops interface {
	StepLoops(step bool)
	Reran() []bt.Task
	LoopsWait() bool
	RunAgain()
}

// tree is the decider with a tree engine.
type tree struct {
	start    func(initial []bt.Input) (Engine, Listener)
	always   []bool // by task: it is judged, heard or not; nil: all are
	sparing  bool   // of what is heard, only what counts is judged at the beginning of an instant
	lazy     bool   // of the first one as well
	engine   Engine
	listener Listener // the engine, once it listens, so that it tells what counts; else nil
	loops    loops    // the engine, if its loops can wait and the plan has a blackboard; else nil
	begun    bool
	pending  []bt.Input // scratch
}

// Tree returns the plan's tree in continuous time: it settles at every event. start creates the engine with the leaves'
// inputs at the start; it must be safe to call it twice.
func Tree(start func(initial []bt.Input) Engine) Decider { return whole(start) }

func whole(start func(initial []bt.Input) Engine) *tree {
	return &tree{start: func(initial []bt.Input) (Engine, Listener) { return start(initial), nil }}
}

// Judging is how much of a listening tree is judged.
type Judging uint8

// The ways of judging.
const (
	// Heard judges what is heard: a condition that could change nothing is neither evaluated nor watched until it
	// could.
	Heard Judging = iota
	// Sparing is Heard, but where a condition counts only if those before it do not decide, each instant judges it
	// after them, if at all: for worlds in which an answer is expensive, and all sides are kept.
	Sparing
	// Lazy is Sparing in the first instant, too: the engine is created without inputs of leaves. A plan with a
	// blackboard is judged as by Sparing.
	Lazy
)

// Listening returns the plan's tree in continuous time, judged only where it is heard. Excepted are the given tasks,
// and conditions with hysteresis, which remember.
func Listening(start func(initial []bt.Input) Listener, always []bool, how Judging) Decider {
	return &tree{always: always, sparing: how != Heard, lazy: how == Lazy,
		start: func(initial []bt.Input) (Engine, Listener) {
			e := start(initial)
			return e, e
		}}
}

func (d *tree) begin(x *Executive) {
	x.tree = d
	d.engine, _ = d.start(nil) // nothing is active; the first inputs depend on nothing else
	var in []bt.Input
	for i := range x.p.Leaves {
		l := &x.p.Leaves[i]
		if entry, exit := l.Slow(); entry || exit {
			in = append(in, bt.Slow(l.Task, entry, exit))
		}
	}
	d.lazy = d.lazy && x.p.entries == nil // whether it is an error to read one is known once all inputs are
	if !d.lazy {
		in = append(in, d.inputs(x)...)
	}
	var listener Listener
	d.engine, listener = d.start(in)
	d.start = nil // it may hold the engine before an exchange
	if d.loops = nil; x.p.entries != nil {
		d.loops, _ = d.engine.(loops)
	}
	if d.loops != nil {
		x.ordered = d
	}
	if listener == nil {
		return
	}
	listener.Listen(func(t bt.Task) bool { return d.keeps(x, t) }, func(t bt.Task, in []bt.Input) []bt.Input {
		i := x.p.leafOf[t]
		if x.p.typed[i] {
			x.refresh()
		}
		if d.passed(x, i) {
			x.due.add(i)
		} else if all := x.appendInputs(in, i, d.engine.Status(t)); len(all) > len(in) {
			return all
		}
		if last, is := x.known(i); is != d.engine.Status(t) { // it was judged, but not heard
			in = append(in, last)
		}
		return in
	})
	d.listener = listener
	for i := range x.p.Leaves {
		if x.p.entries == nil || !listener.Counts(x.p.Leaves[i].Task) {
			continue
		}
		for _, f := range []Criterion{On, SuccessIf, FailureIf} {
			x.unwritten(i, f)
		}
	}
}

// hears reports whether the engine hears a leaf.
func (d *tree) hears(x *Executive, i int) bool {
	return d.listener == nil || d.listener.Hears(x.p.Leaves[i].Task)
}

func (d *tree) settle(x *Executive) (bool, error) {
	inputs := d.inputs
	if d.loops != nil {
		inputs = d.inPasses
	}
	in := inputs(x)
	x.pass.first, x.pass.outside = false, false
	if d.begun && len(in) == 0 && !x.pass.again {
		return false, nil
	}
	d.begun = true
	return true, d.react(x, in)
}

// inputs returns the inputs that are new to the tree: those of leaves, and timers that have elapsed.
func (d *tree) inputs(x *Executive) []bt.Input {
	in := x.elapsed(d.pending[:0])
	if d.sparing && (d.begun || d.lazy) && x.pass.first {
		in = d.listener.Reconsider(in)
	}
	for _, i := range x.visit() {
		if (d.begun || d.lazy) && !d.hears(x, int(i)) {
			continue
		}
		if d.passed(x, int(i)) {
			x.due.add(int(i))
			continue
		}
		x.pass.some = x.pass.some || x.u[i] == Active && x.p.renews(int(i))
		in = x.appendInputs(in, int(i), d.engine.Status(x.p.Leaves[i].Task))
	}
	d.pending = in
	return in
}

// react settles the tree with its inputs, and carries out its commands.
func (d *tree) react(x *Executive, in []bt.Input) error {
	instant, err := d.engine.Settle(in)
	x.pass.reran = x.pass.reran || d.loops != nil && len(d.loops.Reran()) > 0
	x.answer(instant.Changes, false)
	x.leave()
	return errors.Join(d.apply(x, instant), err)
}

// apply logs the status changes of a settling and carries out the leaves' commands.
func (d *tree) apply(x *Executive, instant bt.Instant) error {
	for _, c := range instant.Changes {
		x.changed(x.micro+int(c.Iteration), c)
	}
	var failed error
	commands := instant.Commands
	if len(x.p.halted) > 0 {
		commands, failed = x.interrupted(instant)
	}
	for _, c := range commands {
		failed = errors.Join(failed, x.do(x.p.leafOf[c.Task], c.Exit))
	}
	for _, c := range instant.Timings {
		x.time(c)
	}
	for _, t := range instant.Turned {
		x.stale.add(x.p.leafOf[t])
	}
	x.micro += instant.Iterations
	return failed
}

// interrupted makes the assignments of the tasks that are deactivated without having ended, in the order of the status
// changes: commands that come before such a change are carried out before. It returns the commands that are left. Slots
// with Hold keep their values.
func (x *Executive) interrupted(instant bt.Instant) (left []bt.Command, failed error) {
	left = instant.Commands
	for _, c := range instant.Changes {
		if len(left) > 0 && left[0].Task == c.Task && (c.To == bt.Deactivating) == left[0].Exit &&
			(c.To == bt.Deactivating || c.To == bt.Activating) {
			failed = errors.Join(failed, x.do(x.p.leafOf[c.Task], left[0].Exit))
			left = left[1:]
		}
		if i, ok := x.p.halted[c.Task]; ok && c.To == bt.Deactivating && !c.From.Ended() {
			failed = errors.Join(failed, x.assign(i, Active, x.p.Leaves[i].Entry))
			x.keep(i)
			x.turn(i, Resting)
		}
	}
	return left, failed
}

// watches returns all formulas that may give the leaf an input.
func (d *tree) watches(x *Executive, i int) mask {
	if !d.hears(x, i) {
		return rests
	}
	if x.p.Leaves[i].Condition {
		return x.condition(i)
	}
	m := always
	if x.u[i] == Active || x.waiting { // an action that would end at once may do so no more
		m |= 1<<Done | 1<<Failed
	}
	switch x.leaves[i].Procedure {
	case Entering:
		m |= 1 << Entered
	case Exiting:
		m |= 1 << Exited
	}
	return m
}

func (d *tree) rests(x *Executive, t bt.Task) bool {
	i := x.p.leafOf[t]
	return d.always != nil && i >= 0 && x.p.Leaves[i].Condition && !d.keeps(x, t) && !x.p.Tree.AlwaysHeard(t)
}

// keeps reports whether a task is judged at all times.
func (d *tree) keeps(x *Executive, t bt.Task) bool {
	i := x.p.leafOf[t]
	return i >= 0 && x.p.Leaves[i].Remembers() || d.always[t]
}

func (d *tree) idle() Attention {
	if d.always == nil || d.sparing {
		return Kept
	}
	return Idle
}

func (d *tree) next(x *Executive) float64 { return x.deadline() }

func (d *tree) status(_ *Executive, t bt.Task) bt.Status { return d.engine.Status(t) }

func (d *tree) halt(x *Executive) error { return d.apply(x, d.engine.Halt()) }

func (d *tree) alarm(x *Executive) string {
	if x.world.T() >= x.timer() {
		return "a timer has elapsed"
	}
	return "the time of a procedure is over"
}

func (d *tree) State(c *snapshot.Codec) {
	snapshot.Bool(c, &d.begun)
	d.engine.State(c)
}

// Ticking configures a ticked tree.
type Ticking struct {
	Period  float64 // [s]
	Restart bool    // the world's integrator restarts at each tick
	Once    bool    // a tick is one call of the engine, with or without inputs; else calls repeat until nothing is new
}

// ticked is a tree that is ticked at multiples of a period.
type ticked struct {
	*tree
	Ticking
	ticks int // done so far
}

// Ticked returns the plan's tree in discrete time: it reacts only at ticks.
func Ticked(start func(initial []bt.Input) Engine, how Ticking) Decider {
	return &ticked{tree: whole(start), Ticking: how}
}

func (d *ticked) begin(x *Executive) {
	d.tree.begin(x)
	x.tree = nil
}

// tick returns the time of the next tick, without accumulated rounding errors.
func (d *ticked) tick() float64 { return float64(d.ticks) * d.Period }

func (d *ticked) settle(x *Executive) (bool, error) {
	if x.world.T() < d.tick() {
		return false, nil
	}
	var again bool
	var err error
	if d.Once {
		again, err = true, d.react(x, d.inputs(x))
	} else {
		again, err = d.tree.settle(x)
	}
	if (d.Once || !again) && err == nil { // this tick is over
		d.ticks++
		if d.Restart && d.ticks > 1 && x.watcher != nil {
			x.watcher.Restart()
		}
	}
	return again, err
}

// watches returns no formulas: the tree settles only at ticks.
func (d *ticked) watches(*Executive, int) mask { return 0 }

func (d *ticked) next(*Executive) float64 { return d.tick() }

// alarm returns "": a tick without changes is not logged.
func (d *ticked) alarm(*Executive) string { return "" }

func (d *ticked) State(c *snapshot.Codec) {
	d.tree.State(c)
	snapshot.Int(c, &d.ticks)
}

// treeless is the deciders without a tree.
type treeless struct{}

func (treeless) rests(*Executive, bt.Task) bool { return false }

// status returns the status of a leaf. All composites stay at Accept.
func (treeless) status(x *Executive, t bt.Task) bt.Status {
	switch i := x.p.leafOf[t]; {
	case i < 0:
		return bt.Accept
	case x.p.Leaves[i].Condition:
		return truth(x.leaves[i].Value)
	case x.u[i] == Active:
		return bt.Running
	}
	return bt.Accept
}

func truth(value bool) bt.Status {
	if value {
		return bt.Success
	}
	return bt.Failure
}

// Machine is a running state graph: it decides by the truth of conditions which actions are active.
type Machine interface {
	// Settle settles the graph at a time [s]. It returns the names of the steps that became active, whether the graph
	// has changed, and the number of rounds.
	Settle(t float64, truth []bool) (entered []string, rounds int, moved bool, err error)
	// Actions appends the numbers of the active actions to dst.
	Actions(dst []int) []int
	// Alarm returns the time [s] at which a delayed transition can fire, +Inf if none is waiting.
	Alarm() float64
	snapshot.Stateful
}

// machinery is the decider with a state graph.
type machinery struct {
	treeless
	machine    Machine
	conditions []int // leaf of each of the graph's conditions
	actions    []int // leaf of each of the graph's actions
	seen       []bool
	truth      []bool
	wanted     []bool // by leaf
	begun      bool
	scratch    []int
}

// Machinery returns a state graph instead of the plan's tree. It reads the conditions and activates the actions, which
// are leaves of the plan in the graph's order, without procedures that take time.
func Machinery(m Machine, conditions, actions []int) Decider {
	return &machinery{machine: m, conditions: conditions, actions: actions, truth: make([]bool, len(conditions))}
}

func (d *machinery) begin(x *Executive) {
	d.wanted, d.seen = make([]bool, len(x.p.Leaves)), make([]bool, len(x.p.Leaves))
	for _, i := range d.conditions {
		d.seen[i] = true
		x.judgeCondition(i)
	}
}

// settle updates the conditions, settles the graph, and switches the actions: as in the tree, actions end before others
// start.
func (d *machinery) settle(x *Executive) (bool, error) {
	changed := !d.begun
	d.begun = true
	x.visit()
	for k, i := range d.conditions {
		if x.judgeCondition(i) {
			changed = true
			value := x.leaves[i].Value
			x.changed(x.micro, bt.Change{Task: x.p.Leaves[i].Task, From: truth(!value), To: truth(value)})
		}
		d.truth[k] = x.leaves[i].Value
	}
	entered, rounds, moved, err := d.machine.Settle(x.world.T(), d.truth)
	if err != nil {
		return false, err
	}
	x.micro += rounds
	for _, name := range entered {
		x.event("step", name+" becomes active")
	}
	clear(d.wanted)
	d.scratch = d.machine.Actions(d.scratch[:0])
	for _, a := range d.scratch {
		d.wanted[d.actions[a]] = true
	}
	return changed || moved, d.handOver(x)
}

// handOver starts and ends actions so that the wanted ones are active.
func (d *machinery) handOver(x *Executive) error {
	for _, start := range []bool{false, true} {
		for i, wanted := range d.wanted {
			if is := x.u[i] == Active; wanted != start || is == start {
				continue
			}
			path := []bt.Status{bt.Running, bt.Deactivating, bt.Accept}
			if start {
				path = []bt.Status{bt.Accept, bt.Activating, bt.Running}
			}
			for k := range path[1:] {
				x.changed(x.micro, bt.Change{Task: x.p.Leaves[i].Task, From: path[k], To: path[k+1]})
			}
			if err := x.do(i, !start); err != nil {
				return err
			}
		}
	}
	return nil
}

// watches returns the formulas by which a condition may change.
func (d *machinery) watches(x *Executive, i int) mask {
	if d.seen[i] {
		return x.condition(i)
	}
	return 0
}

func (d *machinery) idle() Attention { return Kept }

// next returns the time at which a delayed transition can fire.
func (d *machinery) next(*Executive) float64 { return d.machine.Alarm() }

func (d *machinery) alarm(*Executive) string { return "a delayed transition can fire" }

func (d *machinery) State(c *snapshot.Codec) {
	snapshot.Bool(c, &d.begun)
	d.machine.State(c)
}

func (d *machinery) halt(x *Executive) error {
	clear(d.wanted)
	return d.handOver(x)
}

// Inputs is the value of the discrete inputs from a given time on.
type Inputs struct {
	T float64 // [s]
	U []float64
}

// playback plays back inputs.
type playback struct {
	treeless
	inputs []Inputs
	played int
}

// Playback plays back the recorded inputs of another execution of the program, beginning with those at its start: there
// is no tree, only the world runs.
func Playback(inputs []Inputs) Decider { return &playback{inputs: inputs} }

func (d *playback) begin(*Executive) {}

func (d *playback) settle(x *Executive) (bool, error) {
	x.visit()
	if d.played == len(d.inputs) || d.inputs[d.played].T > x.world.T() {
		return false, nil
	}
	for i, v := range d.inputs[d.played].U {
		x.world.Set(i, v)
	}
	x.recount()
	d.played++
	x.micro++
	return true, nil
}

func (d *playback) watches(*Executive, int) mask { return 0 }

func (d *playback) idle() Attention { return Idle }

func (d *playback) next(*Executive) float64 {
	if d.played < len(d.inputs) {
		return d.inputs[d.played].T
	}
	return math.Inf(1)
}

func (d *playback) alarm(*Executive) string { return "recorded inputs change" }

func (d *playback) State(c *snapshot.Codec) { snapshot.Int(c, &d.played) }

func (d *playback) halt(*Executive) error {
	d.played = len(d.inputs)
	return nil
}
