package flown

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/snapshot"
)

// Key is all that matters of a run from one instant to the next; equal states have equal futures. The empty state is
// the one before the first instant.
type Key string

// Bytes returns the size of the state.
func (k Key) Bytes() int { return len(k) }

// Tape is the label of a transition: the answers that decide, of all transitions of one instant, which one it is.
type Tape []bool

// ErrUnsettled reports a transition in which the signals would have to jump again and again within one instant. A run
// that takes it ends with an error.
var ErrUnsettled = errors.New("the plan and the signals do not settle")

// Moment is a micro-step of a transition: a settling of the instant, until the next one.
type Moment struct {
	Over    bool         // the instant is over: the plan has settled
	Mark    int          // what the visitor remembers of the earlier moments of the instant; 0 at first
	Rounds  [][]bt.Input // the tree's inputs so far, by settling; first those with which it begins
	Changes []bt.Change  // of statuses in this instant
	Stop    bool         // set by the visitor: no more transitions
	Skip    bool         // set by the visitor: how this transition goes on does not matter
	Err     error        // the transition does not go on: bt.ErrLoop, ErrUnsettled, ErrNotFinite, or one of the executive

	s      *Stepper
	engine *bt.Engine
}

// recorder is the plan's tree, whose inputs are recorded. When loops go on is an input, too.
type recorder struct {
	*bt.Engine
	m        *Moment
	settling bool
	stepping bool
	again    []bt.Input // for the next settling
}

// StepLoops makes loops wait.
func (r *recorder) StepLoops(step bool) {
	r.stepping = step
	r.Engine.StepLoops(step)
}

// RunAgain lets loops that wait go on.
func (r *recorder) RunAgain() {
	for t := range bt.Task(r.m.s.Tree.Len()) {
		if r.m.s.Tree.Kind(t).Repeats() && r.At(t).Waits {
			r.again = append(r.again, bt.Again(t))
		}
	}
	r.Engine.RunAgain()
}

// Listen makes the engine judge only what it hears. Inputs for which it asks belong to the settling in which it does.
func (r *recorder) Listen(always func(bt.Task) bool, ask func(bt.Task, []bt.Input) []bt.Input) {
	r.Engine.Listen(always, func(t bt.Task, in []bt.Input) []bt.Input {
		n := len(in)
		if in = ask(t, in); r.settling {
			last := len(r.m.Rounds) - 1
			r.m.Rounds[last] = append(r.m.Rounds[last], in[n:]...)
		}
		return in
	})
}

func (r *recorder) Settle(inputs []bt.Input) (bt.Instant, error) {
	r.m.Rounds = append(r.m.Rounds, slices.Concat(r.again, inputs))
	r.settling, r.again = true, r.again[:0]
	instant, err := r.Engine.Settle(inputs)
	if r.settling = false; r.stepping {
		for _, t := range r.Reran() {
			last := len(r.m.Rounds) - 1
			r.m.Rounds[last] = append(r.m.Rounds[last], bt.Wait(t))
		}
	}
	r.m.Changes = append(r.m.Changes, instant.Changes...)
	return instant, err
}

// start begins an execution.
func (s *Stepper) start() {
	s.w.restart()
	engine := func(in []bt.Input) *recorder {
		s.moment.engine = bt.NewEngine(s.Tree, in, 0)
		s.moment.Rounds = append(s.moment.Rounds[:0], slices.Clone(in))
		return &recorder{Engine: s.moment.engine, m: &s.moment}
	}
	tree := executive.Tree(func(in []bt.Input) executive.Engine { return engine(in) })
	if s.always != nil && !s.all {
		tree = executive.Listening(func(in []bt.Input) executive.Listener { return engine(in) }, s.always, executive.Lazy)
	}
	s.x = executive.New(s.p, s.world, tree)
}

// Asked reports whether an answer was open in the present transition.
func (m *Moment) Asked() bool { return m.s.w.tape.at > 0 }

// Choices returns the answers of the transition that is followed.
func (m *Moment) Choices() Choices { return m.s.w.log }

// Judge makes the steps judge all conditions, or only those that the tree hears, as [Abstract] does.
func (s *Stepper) Judge(all bool) {
	if s.always != nil && s.all != all {
		s.all, s.x = all, nil
	}
}

// Recall visits the ends of those transitions of an instant that have the answers of another one to the same questions.
// What is simply true or false, and was not asked there, has the value that free returns, if it knows one; nil knows
// none.
func (s *Stepper) Recall(
	from Key, log Choices, free func(signal string) (is, known bool), visit func(m *Moment),
) {
	s.w.guide = func(q question) (is, known bool) {
		if is, known = log[asked{q, s.w.settled}]; known || free == nil {
			return is, known
		}
		return s.freely(q, free)
	}
	s.Steps(from, func(m *Moment) {
		if m.Err == nil && !s.w.agrees(log) {
			m.Mark = 1
		}
		if m.Over && m.Mark == 0 {
			visit(m)
		}
	})
	s.w.guide = nil
}

func (m *Moment) begin(s *Stepper, over bool) {
	m.s, m.Over, m.Mark, m.Err = s, over, 0, nil
	m.Rounds, m.Changes = m.Rounds[:0], m.Changes[:0]
}

// rounds settles from a round on, until the instant is over.
func (s *Stepper) rounds(side, n int, visit func(m *Moment)) {
	m := &s.moment
	if n == 0 {
		s.w.commit()
		s.x.Begin()
	}
	for ; ; n++ {
		again, err := s.x.Settle()
		if err != nil {
			m.Err = err
			visit(m)
			return
		}
		if !again && s.w.idle >= s.depth {
			break
		}
		if s.w.idle++; again {
			s.w.idle = 0
		}
		if visit(m); m.Skip {
			return
		}
		for _, k := range s.w.round() {
			if k < len(s.p.Indicators) {
				s.x.Changed([]int{k})
			}
		}
		if again && n > 0 && !s.between(n) {
			if m.Err != nil {
				visit(m)
			}
			return
		}
		s.stack.push(side, n+1)
	}
	s.w.split()
	m.Err = s.w.lost()
	m.Over = m.Err == nil
	visit(m)
}

// place is where a transition was: after a number of rounds, with these answers.
type place struct {
	round   int
	answers string
}

// maxRounds is the maximum number of rounds of an instant that are followed.
const maxRounds = 1000

// errLong reports an instant of too many rounds: whether a run goes on is not known.
var errLong = fmt.Errorf("an instant has more than %d rounds", maxRounds)

// between reports whether the transition goes on after a round: not if its state has occurred before in the same
// transition, which is an error, or in another one. Of a long transition whose answers are all true, which is the last
// that is tried, only some states are looked up: no other one comes to them later.
func (s *Stepper) between(round int) bool {
	if t := &s.w.tape; round > 8 && round%8 > 0 && !slices.Contains(t.answers[:t.at], false) {
		return true
	}
	s.buffer = snapshot.Save(s.buffer[:0], execution{s}, &s.moment, s.w, s.w.answers)
	s.buffer = append(s.buffer, s.beside...)
	if p := s.w.product; p != nil && p.Inexact {
		s.buffer = append(s.buffer, 1)
	}
	now := place{round, s.w.tape.text()}
	state := sha256.Sum256(s.buffer) // in its place: it is long, and there are many
	before, known := s.seen[state]
	switch {
	case round > maxRounds:
		s.moment.Err = errLong
		return false
	case !known:
		s.seen[state] = now
	case before == now: // with other answers to come
	case before.round < round && strings.HasPrefix(now.answers, before.answers):
		s.moment.Err = s.unsettled()
		return false
	default:
		return false
	}
	return true
}

// unsettled returns the error of an instant in which tasks and signals keep changing.
func (s *Stepper) unsettled() error {
	return fmt.Errorf("%w: these become active again and again: %s", ErrUnsettled,
		strings.Join(s.Tree.Names(s.moment.Entered()), ", "))
}

// text returns the answers so far.
func (t *tape) text() string {
	b := make([]byte, t.at)
	for i, a := range t.answers[:t.at] {
		if a {
			b[i] = 1
		}
	}
	return string(b)
}

// State passes what the visitor remembers.
func (m *Moment) State(c *snapshot.Codec) { snapshot.Int(c, &m.Mark) }

// State passes what is known of the signals in the present instant, and of the clocks.
func (a *answers) State(c *snapshot.Codec) {
	for _, f := range slices.Compact(slices.Sorted(slices.Values(a.asked))) {
		if b := a.bounds[f]; !b.infinite() {
			snapshot.Int(c, &f)
			b.state(c)
		}
	}
	a.zone.State(c)
}

// State passes what is known of the present instant beside that.
func (w *world) State(c *snapshot.Codec) {
	for k := range w.sides {
		snapshot.Int(c, &w.sides[k])
		snapshot.Int(c, &w.former[k])
		snapshot.Bool(c, &w.changed[k])
	}
	for i := range w.over {
		snapshot.Int(c, &w.over[i])
		snapshot.Int(c, &w.twin[i])
		snapshot.Int(c, &w.agreed[i])
	}
	snapshot.List(c, &w.begun, func(c *snapshot.Codec, b *begun) {
		snapshot.Int(c, &b.clock)
		b.length.state(c)
		snapshot.Int(c, &b.answer)
		snapshot.Bool(c, &b.over)
		snapshot.Bool(c, &b.paired)
	})
}

// lasting passes the sides on which those of other indicators will depend.
func (w *world) lasting(c *snapshot.Codec) {
	for _, k := range w.s.lagging {
		side := w.sides[k]
		if side == 0 {
			side = w.last[k]
		}
		snapshot.Int(c, &side)
		if c.Loading() {
			w.last[k] = side
		}
	}
}

// execution passes the state of the execution, and the inputs that it has written.
type execution struct{ s *Stepper }

func (r execution) State(c *snapshot.Codec) {
	s := r.s
	s.inputs(c)
	s.w.lasting(c)
	s.w.awaited(c)
	s.x.Anew()
	s.x.State(c)
}

// Situation implements executive.Situated.
func (w *world) Situation(c *snapshot.Codec) { w.s.inputs(c) }

// Renewed implements executive.Situated.
func (w *world) Renewed() bool { return w.choose(question{kind: renewed}) }

// inputs passes the inputs that matter.
func (s *Stepper) inputs(c *snapshot.Codec) {
	u := s.w.u
	if c.Loading() { // the executive recounts its writers
		s.w.restart()
	}
	for i := 0; ; i++ {
		if !c.Loading() {
			for i < len(u) && s.idle(i) {
				i++
			}
		}
		snapshot.Int(c, &i)
		if i >= len(u) || c.Failed() {
			break
		}
		if s.w.isValue(i) {
			s.w.values[i].state(c)
		} else {
			snapshot.Float(c, &u[i])
		}
	}
}

// idle reports whether an input is as at the start, or does not matter: a captured value that is not written, or a held
// one while a task writes the slot, which sets it at its end.
func (s *Stepper) idle(input int) bool {
	u := s.w.u
	if u[input] == s.initial[input] && s.w.values[input] == s.starts[input] {
		return true
	}
	slot := s.w.slotOf(input)
	if slot < 0 {
		return false
	}
	at, marks := s.p.MarkOf(input)
	if !marks {
		at = input
	}
	if k := at - s.p.Capture(0); k >= 0 && (u[s.writer[k]] != s.phase[k] || s.kept[k] && !s.p.Marked(at, u)) {
		return true
	}
	held := s.p.Slots[slot].Hold && at == s.p.Held(slot) && u[len(s.p.Leaves)+slot] > 0
	return held || !s.needed[slot]
}

// Entered returns the tasks that have become active in this instant, ascending.
func (m *Moment) Entered() []bt.Task {
	var tasks []bt.Task
	for _, c := range m.Changes {
		if c.To == bt.Activating {
			tasks = append(tasks, c.Task)
		}
	}
	slices.Sort(tasks)
	return slices.Compact(tasks)
}

// Status returns the status of a task. That of a leaf that the tree does not hear is that by its last input.
func (m *Moment) Status(t bt.Task) bt.Status { return m.engine.Status(t) }

// Active reports whether a task is active.
func (m *Moment) Active(t bt.Task) bool { return m.engine.Active(t) }

// Good reports whether a task has succeeded: by its status, or by a held result.
func (m *Moment) Good(t bt.Task) bool {
	if held, ok := m.engine.Held(t); ok {
		return held == bt.Success
	}
	s := m.engine.Status(t)
	return s == bt.Success || s == bt.Finished
}

// Quiet reports whether no procedure is under way.
func (m *Moment) Quiet() bool {
	return !slices.ContainsFunc(m.s.Tree.Leaves(), func(t bt.Task) bool {
		s := m.engine.Status(t)
		return s == bt.Activating || s == bt.Deactivating
	})
}

// Ended reports whether the plan has ended, and every run with it.
func (m *Moment) Ended() bool { return m.s.subject.Ends && m.s.x.Ended() != bt.Accept }

// Engine returns the plan's tree, to be read.
func (m *Moment) Engine() *bt.Engine { return m.engine }

// After returns the state in which the instant ends.
func (m *Moment) After() Key {
	m.s.stack.widen()
	kept := rename(m.s.stack.of)
	for _, s := range m.s.stack.of {
		s.x.ForgetUnheard()
	}
	m.s.buffer = snapshot.Save(m.s.buffer[:0], m.s.stack.states(kept)...)
	return Key(m.s.buffer)
}

// Zone returns the readings of the clocks: those of the plan, and of the visitor behind them, which it may start,
// stop and restrict.
func (m *Moment) Zone() *zone.Zone { return &m.s.w.zone }

// Waits reports whether a procedure or a timer of a known length is under way, or a time since an activation awaited.
func (m *Moment) Waits() bool {
	waits := slices.ContainsFunc(m.s.timed, func(k int) bool { return m.s.w.awaits(m.s.since[k]) })
	m.s.x.Clocks(func(c int, _ float64) { waits = waits || m.s.w.zone.Runs(m.s.w.clocks+c) })
	return waits
}

// Choose returns an answer that is open, where both are possible.
func (m *Moment) Choose() bool { return m.s.w.tape.choose() }

// Class returns a text that two states have in common only if the same can follow them, apart from the log: what is
// remembered of tasks that are not active is what they hold, the states of automata, and the truth of conditions with
// hysteresis. How other leaves were judged does not matter, because all are judged again in every instant.
func (m *Moment) Class() string {
	m.s.stack.widen()
	kept := rename(m.s.stack.of)
	b := make([]byte, 0, 2*m.s.Tree.Len())
	for _, s := range m.s.stack.of {
		b = s.moment.class(b)
	}
	return string(snapshot.Save(b, kept, &m.s.w.zone))
}

// class appends the part of one plan, with what the states of several have in common left out.
func (m *Moment) class(b []byte) []byte {
	s, e := m.s, m.engine
	for t := range bt.Task(s.Tree.Len()) {
		status, held := e.Status(t), bt.Accept
		if status.Transient() {
			status = bt.Accept
		}
		if result, ok := e.Held(t); ok {
			held = result
		}
		flags := byte(0)
		if e.Active(t) {
			flags |= 1
		}
		if e.Pinned(t) {
			flags |= 2
		}
		b = append(b, byte(status), byte(held)<<2|flags)
		if s.Tree.Kind(t).Family() == bt.Script {
			at := e.At(t)
			b = binary.AppendVarint(append(b, at.State), int64(at.Count))
		}
	}
	return snapshot.Save(b, memory{s})
}

// memory passes what a class keeps of a plan beside the tree.
type memory struct{ s *Stepper }

func (r memory) State(c *snapshot.Codec) {
	r.s.x.Memory(c)
	r.s.inputs(c)
	r.s.w.lasting(c)
	r.s.w.awaited(c)
}

// Tape returns the answers so far.
func (m *Moment) Tape() Tape { return slices.Clone(m.s.w.tape.answers) }

// Possible reports whether the declared facts hold, those of both plans. It must be the visitor's last question.
func (m *Moment) Possible() bool {
	return !slices.ContainsFunc(m.s.stack.of, func(s *Stepper) bool { return !s.moment.possible() })
}

func (m *Moment) possible() bool {
	t := &m.s.w.tape
	before := t.at
	for i := range m.s.facts {
		if !m.Holds(&m.s.facts[i]) {
			return false
		}
	}
	if !slices.ContainsFunc(t.forms[before:t.at], m.s.keepsForm) { // else the answers last
		t.at = before // one way to satisfy them is enough
	}
	return true
}

// Elapsed returns the tasks whose procedures or timers were over in this instant, ascending.
func (m *Moment) Elapsed() []bt.Task {
	var tasks []bt.Task
	for _, c := range m.s.w.elapsed {
		if leaves := m.s.p.Leaves; int(c) < len(leaves) {
			tasks = append(tasks, leaves[c].Task)
		} else {
			tasks = append(tasks, m.s.Tree.Timers()[int(c)-len(leaves)])
		}
	}
	slices.Sort(tasks)
	return slices.Compact(tasks)
}

// Known reports whether a formula holds, if that follows from the answers so far.
func (m *Moment) Known(l *expr.Logic) (holds, known bool) {
	w := m.s.w
	k := &m.s.known
	k.bounds, k.sides, k.former = append(k.bounds[:0], w.bounds...), append(k.sides[:0], w.sides...),
		append(k.former[:0], w.former...)
	asked, decided := len(w.asked), len(w.decided)
	guide, known := w.guide, true
	w.guide = func(question) (answer, definite bool) { known = false; return false, true }
	holds = m.Holds(l)
	w.guide = guide
	for _, f := range w.asked[asked:] {
		w.bounds[f] = infinite
	}
	copy(w.bounds, k.bounds)
	copy(w.sides, k.sides)
	copy(w.former, k.former)
	clear(w.sides[len(k.sides):])
	clear(w.former[len(k.former):])
	w.asked, w.decided = w.asked[:asked], w.decided[:decided]
	return holds, known
}

// Holds reports whether a formula holds. The name of a task means that it is active, or true.
func (m *Moment) Holds(l *expr.Logic) bool {
	switch l.Op {
	case expr.LogicTruth:
		return l.Value
	case expr.LogicThreshold:
		return m.s.threshold(l)
	case expr.LogicRelation:
		return m.s.w.truth(m.s.relation(l), true)
	case expr.LogicProposition:
		t, _ := m.s.Tree.Find(l.Text)
		if m.s.Tree.Kind(t).Judged() {
			return m.isTrue(t)
		}
		return m.engine.Active(t)
	case expr.LogicNot:
		return !m.Holds(&l.Args[0])
	case expr.LogicAnd, expr.LogicOr:
		all := l.Op == expr.LogicAnd
		for i := range l.Args {
			if m.Holds(&l.Args[i]) != all {
				return !all
			}
		}
		return all
	}
	panic("flown: a formula with an unknown operation")
}

// Lacks reports whether a formula reads an entry of the blackboard that has no value: any answer about it is open.
func (m *Moment) Lacks(l *expr.Logic) bool {
	p := m.s.p
	return slices.ContainsFunc(l.Signals(), func(name string) bool {
		place, known := m.s.compiler.Slot(name)
		slot := place - p.Layout.Slots
		return known && slot >= 0 && slot < len(p.Slots) && m.s.x.Unset(slot)
	})
}

// isTrue reports whether a condition is true: one that the tree does not hear has not been judged, and has no memory.
func (m *Moment) isTrue(condition bt.Task) bool {
	if m.engine.Hears(condition) {
		return m.engine.Status(condition) == bt.Success
	}
	leaf, _ := slices.BinarySearch(m.s.Tree.Leaves(), condition)
	return m.s.w.truth(m.s.p.Leaves[leaf].Formulas[executive.On], true)
}

// threshold reports whether a signal is at least a limit, or beyond it.
func (s *Stepper) threshold(l *expr.Logic) bool {
	place, ok := s.compiler.Slot(l.Signal)
	if !ok || s.hidden[l.Signal] {
		panic("flown: a signal that does not exist, or that is left out")
	}
	return s.w.reaches(s.w.signal(place), l.Limit, l.Strict)
}
