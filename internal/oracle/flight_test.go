package oracle

import (
	"errors"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/formalism/tick"
	"github.com/canopy-uav/canopy/snapshot"
)

var errUnset = errors.New("a script reads an entry that has no value")

// Flight is one execution of a mission, by full evaluation in each round of each instant:
//
//	repeat until nothing changes:
//		commit the sides of all comparisons together, from the present values
//		tell the tree every input of every leaf, and which clocks are over
//		complete the exit procedures that are over
//		let the tree settle, and carry out its commands in their order
//
// Leaves before an action that has written what they read are told nothing new, and loops that have run a child in this
// instant do not run it again, until nothing else changes. Then all begins again from the left, unless only loops are
// left that have changed nothing.
type Flight struct {
	T       float64
	Entered []bool              // by task: it was active in the last instant, at its end or in between
	Met     map[[2]bt.Task]bool // actions that were active together within the last instant, if only within a settling
	world   [2]float64
	sides   []bool
	leaves  []leafState
	held    []float64 // by slot
	root    bt.Status // in which the plan last ended since its activation; Accept: it has not
	timers  []float64 // by place in Tree.Timers: when it is over [s]; NaN: it does not run
	engine  *tick.Engine
	lost    bool   // a script read an entry that has no value
	passed  []bool // by leaf: what it reads was written by an action after it
	acted   bool   // an action was activated
	reran   bool   // a loop has run a child again in this instant
	*program
}

type leafState struct {
	truth     bool // of a condition
	spent     bool // of a condition that lasts: what made it true counts no longer
	phase     phase
	procedure phase     // active: the entry procedure runs, leaving: the exit procedure
	request   bt.Status // as last told
	outcome   bt.Status
	over      float64
	entry     []float64 // captured values
	exit      []float64
}

type phase uint8

const (
	resting phase = iota
	active
	leaving
)

// program is a mission with its tree.
type program struct {
	*Mission
	Tree        *bt.Tree
	nodes       []*node // the leaves
	leafOf      map[bt.Task]int
	place       []int                 // by leaf: in the order in which a tick reaches them
	lasting     map[bt.Task][]bt.Task // by condition
	comparisons []*expression
	inner       []bool                    // by comparison: it occurs in the value of a signal
	told        func(*Flight, []bt.Input) // called before each settling of the tree; nil: nothing
	round       func(*Flight)             // called after it; nil: nothing
}

// compile numbers signals and comparisons.
func (m *Mission) compile() *program {
	m.root.started()
	p := &program{Mission: m, nodes: m.root.leaves(nil), leafOf: map[bt.Task]int{}}
	tree, err := bt.Compile(m.root.node())
	if err != nil {
		panic(err)
	}
	p.lasting = map[bt.Task][]bt.Task{}
	for i, t := range tree.Leaves() {
		p.leafOf[t] = i
		if until, ok := tree.Find(p.nodes[i].until); ok {
			p.lasting[t] = []bt.Task{until}
		}
	}
	p.Tree = tree.Lasting(p.lasting)
	p.place = make([]int, len(p.leafOf))
	n := 0
	tree.InOrder(func(t bt.Task) {
		if i, ok := p.leafOf[t]; ok {
			p.place[i] = n
			n++
		}
	})
	places := map[string]int{"x": 0, "y": 1}
	for _, s := range m.slots {
		places[s.name] = len(places)
	}
	for _, c := range m.computed {
		places[c.name] = len(places)
	}
	number := func(e *expression) {
		if e.op == "signal" {
			e.place = places[e.name]
		} else if e.comparison() && !slices.Contains(p.comparisons, e) {
			e.place = len(p.comparisons)
			p.comparisons = append(p.comparisons, e)
		}
	}
	m.each(number)
	for _, e := range slices.Concat(m.Facts, m.Always, []*expression{m.Goal}) {
		e.each(func(e *expression) {
			if e.op == "signal" {
				e.place = places[e.name]
			}
		})
	}
	p.inner = make([]bool, len(p.comparisons))
	mark := func(e *expression) { p.inner[e.place] = p.inner[e.place] || e.comparison() }
	inside := func(e *expression) {
		e.each(func(e *expression) {
			if e.comparison() {
				mark(e)
			}
		})
	}
	for _, c := range m.computed {
		inside(c.value)
	}
	for _, n := range p.nodes {
		for _, a := range n.write {
			inside(a.value)
		}
	}
	return p
}

// result returns how the plan has ended: Finished, Aborted, Dropped, or Accept if it has not. A root that is judged
// without having been activated ends so; one that is skipped after it has ended, as RunOnce, keeps its result.
func (f *Flight) result() bt.Status {
	switch s := f.engine.Status(f.Tree.Root()); s {
	case bt.Skipped:
		if f.root == bt.Accept {
			return bt.Dropped
		}
	case bt.Success, bt.Finished:
		return bt.Finished
	case bt.Failure, bt.Aborted:
		return bt.Aborted
	case bt.Dropped:
		return bt.Dropped
	case bt.Activating, bt.Running:
		return bt.Accept
	}
	return f.root
}

// signal returns the present value of a signal.
func (f *Flight) signal(place int) float64 {
	if place < 2 {
		return f.world[place]
	}
	if place -= 2; place >= len(f.slots) {
		return f.computed[place-len(f.slots)].value.in(f, f.sides)
	}
	return f.slot(place)
}

// slot returns the value of the first active writer; a continuous value of a leaf precedes a captured one.
func (f *Flight) slot(slot int) float64 {
	for i, n := range f.nodes {
		l := &f.leaves[i]
		for _, a := range n.write {
			if l.phase == active && a.slot == slot {
				return a.value.in(f, f.sides)
			}
		}
		for k, a := range n.entry {
			if l.phase == active && a.slot == slot {
				return l.entry[k]
			}
		}
		for k, a := range n.exit {
			if l.phase == leaving && a.slot == slot {
				return l.exit[k]
			}
		}
	}
	return f.held[slot]
}

// commit updates the sides of all comparisons together and reports whether one changed.
func (f *Flight) commit() bool {
	next := make([]bool, len(f.sides))
	for i, e := range f.comparisons {
		next[i] = e.in(f, nil) > 0
	}
	changed := !slices.Equal(next, f.sides)
	f.sides = next
	return changed
}

// holds reports whether a task is active, or a condition true.
func (f *Flight) holds(name string) bool {
	t, ok := f.Tree.Find(name)
	if !ok {
		panic("oracle: a task that does not exist")
	}
	if i, leaf := f.leafOf[t]; leaf && !f.Tree.Kind(t).Acts() {
		return f.leaves[i].truth
	}
	return f.engine.Active(t)
}

// is reports whether a condition holds; one that reads an entry without a value does not.
func (f *Flight) is(e *expression) bool { return e != nil && !f.unwritten(e) && e.in(f, f.sides) > 0 }

// begin starts a flight.
func (p *program) begin(x, y float64) (*Flight, error) {
	f := &Flight{program: p, world: [2]float64{x, y}, sides: make([]bool, len(p.comparisons)),
		leaves: make([]leafState, len(p.nodes)), Entered: make([]bool, p.Tree.Len()), root: bt.Accept}
	for _, s := range p.slots {
		f.held = append(f.held, s.first)
	}
	f.timers = slices.Repeat([]float64{math.NaN()}, len(p.Tree.Timers()))
	for i, n := range p.nodes {
		l := &f.leaves[i]
		l.entry, l.exit = make([]float64, len(n.entry)), make([]float64, len(n.exit))
		l.request, l.outcome = bt.Accept, bt.Accept
	}
	for i, e := range p.comparisons {
		f.sides[i] = e.op == "gt" || e.op == "lt" // no indicator is above
	}
	f.commit()
	var in []bt.Input
	for i, n := range p.nodes {
		entry, exit := n.slow()
		if t := p.Tree.Leaves()[i]; p.Tree.Kind(t).Acts() {
			in = append(in, bt.Slow(t, entry, exit))
		}
	}
	first, _ := f.inputs(nil)
	f.engine = tick.NewEngine(p.Tree, append(in, first...), 0)
	return f, f.settle(false)
}

// slow reports which procedures take time.
func (n *node) slow() (entry, exit bool) {
	return n.entryTime >= 0 || n.entryUntil != nil, n.exitTime >= 0 || n.exitUntil != nil
}

// move goes to a time and values of the signals.
func (f *Flight) move(t, x, y float64) error {
	f.T, f.world = t, [2]float64{x, y}
	return f.settle(true)
}

// settle goes on in rounds until nothing changes.
func (f *Flight) settle(commit bool) error {
	clear(f.Entered)
	f.Met = map[[2]bt.Task]bool{}
	f.passed, f.acted, f.reran = make([]bool, len(f.nodes)), false, false
	last, first, begins := "", true, false
	for range 1000 { // more than any finite number of repetitions in these missions
		news := !commit || f.commit()
		commit = true
		in, more := f.inputs(f.engine)
		ordered := slices.ContainsFunc(f.slots, func(s slot) bool { return s.entry })
		f.engine.StepLoops(ordered && (slices.Contains(f.passed, true) || f.reran))
		if begins && !more && f.engine.LoopsWait() {
			now := f.key()
			if now == last {
				return nil
			}
			last = now
		}
		if begins || first && more {
			f.engine.RunAgain()
		}
		first, begins = false, false
		statuses := f.statuses()
		if f.told != nil {
			f.told(f, in)
		}
		instant, err := f.engine.Settle(in)
		f.meet(statuses, instant.Changes)
		f.reran = f.reran || len(f.engine.Reran()) > 0
		f.carryOut(instant)
		if err != nil {
			return err
		}
		for t := range f.Entered {
			f.Entered[t] = f.Entered[t] || f.engine.Active(bt.Task(t))
		}
		for _, c := range instant.Changes {
			f.Entered[c.Task] = f.Entered[c.Task] || c.To == bt.Activating
			for t, until := range f.lasting {
				if l := &f.leaves[f.leafOf[t]]; c.To.Ended() && until[0] == c.Task {
					l.truth, l.spent = false, true
				}
			}
			switch {
			case c.Task != f.Tree.Root():
			case c.To == bt.Activating:
				f.root = bt.Accept
			case c.To.Ended():
				f.root = c.To
			}
		}
		if f.lost {
			return errUnset
		}
		if f.round != nil {
			f.round(f)
		}
		if !news && !more && instant.Iterations == 0 && len(instant.Changes) == 0 {
			if !ordered || !f.acted && !f.engine.LoopsWait() {
				return nil
			}
			clear(f.passed)
			f.acted, begins = false, true
		}
	}
	return ErrUnsettled
}

func (f *Flight) statuses() []bt.Status {
	list := make([]bt.Status, len(f.nodes))
	for i, t := range f.Tree.Leaves() {
		list[i] = f.engine.Status(t)
	}
	return list
}

// meet notes which actions are active together after each change of a settling.
func (f *Flight) meet(leaves []bt.Status, changes []bt.Change) {
	acts := func(s bt.Status) bool { return s == bt.Activating || s == bt.Running || s.Ended() }
	for _, c := range changes {
		i, leaf := f.leafOf[c.Task]
		if !leaf {
			continue
		}
		leaves[i] = c.To
		for k, s := range leaves {
			if t := f.Tree.Leaves()[k]; k != i && acts(s) && acts(c.To) {
				f.Met[[2]bt.Task{min(t, c.Task), max(t, c.Task)}] = true
			}
		}
	}
}

// inputs returns all inputs of the tree, and whether a latch or a procedure has changed.
func (f *Flight) inputs(e *tick.Engine) (in []bt.Input, news bool) {
	for i, t := range f.Tree.Timers() {
		if f.T >= f.timers[i] {
			f.timers[i], news = math.NaN(), true
			in = append(in, bt.Elapsed(t))
		}
	}
	var exited []int
	for i, n := range f.nodes {
		t, l := f.Tree.Leaves()[i], &f.leaves[i]
		passed := e != nil && f.passed[i]
		if passed && !f.Tree.Kind(t).Acts() {
			continue
		}
		if !f.Tree.Kind(t).Acts() {
			on := f.is(n.on)
			value := !l.spent && (on || l.truth && (n.until != "" || n.off != nil && !f.is(n.off)))
			news = news || value != l.truth
			l.truth, l.spent = value, l.spent && on
			in = append(in, bt.Set(t, value))
			continue
		}
		if passed && e.Status(t).Transient() {
			continue
		}
		v := f.verdict(n.failureIf, n.successIf)
		in = append(in, bt.Request(t, v))
		if news, l.request = news || v != l.request, v; e == nil {
			continue
		}
		if s := e.Status(t); s == bt.Activating || s == bt.Running {
			if v := f.verdict(n.failed, n.done); v != bt.Accept {
				in = append(in, bt.End(t, v))
				news, l.outcome = news || v != l.outcome, v
			}
		}
		switch {
		case l.procedure == active && (f.T >= l.over || f.is(n.entryUntil)):
			in = append(in, bt.Entered(t))
			l.procedure, news = resting, true
		case l.procedure == leaving && (f.T >= l.over || f.is(n.exitUntil)):
			in = append(in, bt.Exited(t))
			exited = append(exited, i)
			l.procedure, news = resting, true
		}
	}
	for _, i := range exited {
		f.exited(i)
	}
	return in, news
}

// reads reports whether a leaf is judged by a slot.
func (f *Flight) reads(n *node, slot int) bool {
	found := false
	for _, e := range []*expression{n.on, n.off, n.failureIf, n.successIf, n.failed, n.done, n.entryUntil, n.exitUntil} {
		if e != nil {
			e.each(func(e *expression) {
				found = found || e.op == "signal" && e.place == slot+2
			})
		}
	}
	return found
}

func (f *Flight) verdict(failure, success *expression) bt.Status {
	switch {
	case f.is(failure):
		return bt.Failure
	case f.is(success):
		return bt.Success
	}
	return bt.Accept
}

// carryOut carries out the commands of the tree, and the scripts of tasks that are halted, in the order of the changes.
func (f *Flight) carryOut(instant bt.Instant) {
	commands := instant.Commands
	for _, c := range instant.Changes {
		for len(commands) > 0 && commands[0].Task == c.Task && commands[0].Exit == (c.To == bt.Deactivating) &&
			(c.To == bt.Activating || c.To == bt.Deactivating) {
			f.do(commands[0])
			commands = commands[1:]
		}
		if f.Tree.Kind(c.Task).Halts() && c.To == bt.Deactivating && (c.From == bt.Activating || c.From == bt.Running) {
			i := f.leafOf[f.Tree.Children(c.Task)[0]]
			f.assign(i, active, f.nodes[i].entry, f.leaves[i].entry)
			f.release(i)
			f.leaves[i].phase = resting
			clear(f.leaves[i].entry)
		}
	}
	for _, c := range commands {
		f.do(c)
	}
	for _, c := range instant.Timings {
		i := slices.Index(f.Tree.Timers(), c.Task)
		f.timers[i] = math.NaN()
		if c.Start {
			f.timers[i] = f.T + f.Tree.Timer(c.Task)
		}
	}
}

// do carries out a command.
func (f *Flight) do(c bt.Command) {
	i := f.leafOf[c.Task]
	n, l := f.nodes[i], &f.leaves[i]
	entry, exit := n.slow()
	l.outcome = bt.Accept
	if !c.Exit {
		f.pass(n.entry, f.place[i]-1)
		f.assign(i, active, n.entry, l.entry)
		l.start(active, entry, n.entryTime, f)
		return
	}
	f.pass(n.exit, f.place[i])
	f.release(i)
	f.assign(i, leaving, n.exit, l.exit)
	clear(l.entry)
	if !exit {
		f.exited(i)
	}
	l.start(leaving, exit, n.exitTime, f)
}

// pass notes that what an action assigns concerns leaves up to a place only when nothing else is left to do.
func (f *Flight) pass(list []assignment, last int) {
	f.acted = true
	for k, reader := range f.nodes {
		for _, a := range list {
			f.passed[k] = f.passed[k] || f.slots[a.slot].entry && f.place[k] <= last && f.reads(reader, a.slot)
		}
	}
}

// release lets the slots that a leaf writes keep their values.
func (f *Flight) release(i int) {
	var values []float64
	for s := range f.slots {
		values = append(values, f.signal(2+s))
	}
	for _, a := range slices.Concat(f.nodes[i].write, f.nodes[i].entry) {
		f.keep(a.slot, values[a.slot])
	}
}

// assign captures values one after the other, each with the effect of those before it. The slots of those behind it
// keep their values meanwhile.
func (f *Flight) assign(i int, p phase, list []assignment, captured []float64) {
	var before []float64
	for _, a := range list {
		before = append(before, f.signal(2+a.slot))
	}
	copy(captured, before)
	f.leaves[i].phase = p
	for _, a := range list {
		if f.lost = f.lost || a.value.op != "unset" && f.unwritten(a.value); f.lost {
			return
		}
		value := a.value.in(f, nil)
		for k, same := range list {
			if same.slot == a.slot {
				captured[k] = value
			}
		}
	}
}

// unwritten reports whether an expression reads an entry that has no value.
func (f *Flight) unwritten(e *expression) bool {
	found := false
	e.each(func(e *expression) { found = found || e.op == "signal" && math.IsNaN(f.signal(e.place)) })
	return found
}

func (l *leafState) start(p phase, slow bool, duration float64, f *Flight) {
	l.procedure = resting
	if slow {
		l.procedure, l.over = p, math.Inf(1)
		if duration >= 0 {
			l.over = f.T + duration
		}
	}
}

// exited completes an exit procedure.
func (f *Flight) exited(i int) {
	f.leaves[i].phase = resting
	for k, a := range f.nodes[i].exit {
		f.keep(a.slot, f.leaves[i].exit[k])
	}
	clear(f.leaves[i].exit)
}

func (f *Flight) keep(slot int, value float64) {
	if f.slots[slot].hold {
		f.held[slot] = value
	}
}

// clone returns a copy.
func (f *Flight) clone() *Flight {
	c := *f
	c.Entered, c.sides, c.leaves = slices.Clone(f.Entered), slices.Clone(f.sides), slices.Clone(f.leaves)
	c.held, c.timers, c.engine = slices.Clone(f.held), slices.Clone(f.timers), f.engine.Clone()
	for i := range c.leaves {
		l := &c.leaves[i]
		l.entry, l.exit = slices.Clone(l.entry), slices.Clone(l.exit)
	}
	return &c
}

// key returns the part of the state on which the next instant depends.
func (f *Flight) key() string { return string(snapshot.Save(nil, f.engine, f)) }

// State passes the state of the leaves and slots to the codec.
func (f *Flight) State(c *snapshot.Codec) {
	for i := range f.leaves {
		l := &f.leaves[i]
		snapshot.Bool(c, &l.truth)
		snapshot.Bool(c, &l.spent)
		snapshot.Int(c, &l.phase)
		snapshot.Int(c, &l.procedure)
		snapshot.Floats(c, l.entry, l.exit)
	}
	snapshot.Floats(c, f.held)
	for _, i := range f.clocks() {
		snapshot.Int(c, &i)
		snapshot.Float(c, f.clock(i))
	}
	for i, inner := range f.inner {
		if inner {
			snapshot.Bool(c, &f.sides[i])
		}
	}
}

// next returns when the next clock is over [s]; +Inf: none runs.
func (f *Flight) next() float64 {
	next := math.Inf(1)
	for _, c := range f.clocks() {
		next = min(next, *f.clock(c))
	}
	return next
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// scope gives the values of signals by their places, and reports whether a task is active or a condition true.
type scope interface {
	signal(place int) float64
	holds(name string) bool
}

// in evaluates an expression. Comparisons have their committed sides; without these they are evaluated themselves.
func (e *expression) in(s scope, sides []bool) float64 {
	if sides != nil && e.comparison() {
		return truth(sides[e.place])
	}
	switch e.op {
	case "number", "value":
		return e.value
	case "signal":
		return s.signal(e.place)
	case "task":
		return truth(s.holds(e.name))
	case "true":
		return 1
	case "false":
		return 0
	case "unset":
		return math.NaN()
	case "not":
		return 1 - e.args[0].in(s, sides)
	case "and":
		return min(e.args[0].in(s, sides), e.args[1].in(s, sides))
	case "or":
		return max(e.args[0].in(s, sides), e.args[1].in(s, sides))
	case "if":
		if e.args[0].in(s, sides) > 0 {
			return e.args[1].in(s, sides)
		}
		return e.args[2].in(s, sides)
	}
	a, b := e.args[0].in(s, sides), e.args[1].in(s, sides)
	switch e.op {
	case "ge":
		return truth(a >= b)
	case "gt":
		return truth(a > b)
	case "le":
		return truth(a <= b)
	case "lt", "less":
		return truth(a < b)
	case "more":
		return truth(a > b)
	case "eq":
		return truth(a == b)
	case "ne":
		return truth(a != b)
	case "add":
		return a + b
	case "subtract":
		return a - b
	}
	panic("oracle: an operator that does not exist")
}
