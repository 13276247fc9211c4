package verify

import (
	"fmt"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/executive"
	"canopy/expr"
	"canopy/snapshot"
)

// Player plays a plan with the real engine as a mission does. It receives one world after the other, an assignment of
// the model's inputs, evaluates the leaves in it and gives their changes to the engine until there are none.
type Player struct {
	m       *Model
	engine  *bt.Engine
	latched []bool            // by leaf: the last value of a condition, its memory if it has hysteresis
	known   []executive.Known // by leaf: the inputs that the engine has received
	slow    bool              // procedures take the time that the plan declares, else none
	over    []bt.Task         // whose procedures are over in this instant, or whose timers elapse
	lines   []string          // of a script that does the same
	changes []bt.Change       // of the last move
	world   []bool            // that it is in
}

// maxRounds bounds the instants that follow each other in one world.
const maxRounds = 100

// newPlayer returns a player in its first world, in which the engine begins. No procedure takes time. The error wraps
// bt.ErrLoop.
func (m *Model) newPlayer(world []bool) (*Player, error) { return m.idle().begin(world) }

// begin goes to the first world, in which the engine begins.
func (p *Player) begin(world []bool, over ...bt.Task) (*Player, error) {
	slow, _ := p.slowness()
	inputs, line := p.inputs(world)
	p.over, p.lines = over, append(p.lines, line)
	p.engine = bt.NewEngine(p.m.tree, append(slow, inputs...), 0)
	if err := p.settle(nil); err != nil {
		return nil, err
	}
	return p, p.move(world)
}

// newTrace returns a player whose engine begins as that of script.Print: before the first world conditions are false
// and actions ask to be activated.
func (m *Model) newTrace() *Player {
	p := m.idle()
	_, _ = p.engine.Settle(nil) // as the script will
	return p
}

// newSlowTrace returns a player whose script first sets which procedures take time.
func (m *Model) newSlowTrace() *Player {
	p := m.newTrace()
	p.slow = true
	if slow, line := p.slowness(); line != "" {
		p.lines = append(p.lines, line)
		_, _ = p.engine.Settle(slow)
	}
	return p
}

func (m *Model) idle() *Player {
	return &Player{m: m, engine: bt.NewEngine(m.tree, nil, 0), latched: make([]bool, len(m.leaves)),
		known: slices.Repeat([]executive.Known{executive.Unknown}, len(m.leaves))}
}

// idleSlow returns a player whose procedures take the time that the plan declares.
func (m *Model) idleSlow() *Player {
	p := m.idle()
	p.slow = true
	return p
}

// copyFrom copies another player of the same model, except the script.
func (p *Player) copyFrom(o *Player) {
	p.engine.CopyFrom(o.engine)
	copy(p.latched, o.latched)
	copy(p.known, o.known)
	p.slow = o.slow
	p.lines = p.lines[:0]
}

// Move goes to a world. The procedures of some tasks are over, and the timers of some elapse. The error wraps
// bt.ErrLoop.
func (p *Player) Move(world []bool, over ...bt.Task) error {
	p.changes = p.changes[:0]
	p.over = over
	return p.move(world)
}

func (p *Player) settle(inputs []bt.Input) error {
	instant, err := p.engine.Settle(inputs)
	p.changes = append(p.changes, instant.Changes...)
	for _, c := range instant.Commands {
		l := &p.m.leaves[p.m.leafOf[c.Task]]
		takes := l.exit.slow
		if !c.Exit {
			takes = l.entry.slow
		}
		p.known[p.m.leafOf[c.Task]].Start(c.Exit, p.slow && takes)
	}
	p.over = slices.DeleteFunc(slices.Clone(p.over), func(t bt.Task) bool {
		i, ok := p.m.leafOf[t]
		return !ok || !p.m.leaves[i].brief()
	})
	return err
}

func (p *Player) move(world []bool) error {
	p.world = world
	for range maxRounds {
		inputs, line := p.inputs(world)
		if len(inputs) == 0 {
			return nil
		}
		p.lines = append(p.lines, line)
		if err := p.settle(inputs); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: actions end and begin again in one world", bt.ErrLoop)
}

// Key returns a text that is the same for two players with the same future behaviour.
func (p *Player) Key() string { return string(snapshot.Save(packed(p.latched), p.engine)) }

// inputs returns the inputs of timers and leaves that the engine has not received yet, also as a line of a script.
func (p *Player) inputs(world []bool) (inputs []bt.Input, line string) {
	var words []string
	for _, t := range p.over {
		if p.m.tree.Kind(t).Timer() && p.engine.At(t).Timed {
			in := bt.Elapsed(t)
			inputs, words = append(inputs, in), append(words, in.Text(p.m.tree.Name(t)))
		}
	}
	for i := range p.m.leaves {
		l := &p.m.leaves[i]
		judge := func(f executive.Criterion) bool { return p.judge(l, f, world) }
		if l.condition {
			p.latched[i] = executive.Latch(p.latched[i], judge)
			judge = func(f executive.Criterion) bool { return p.latched[i] || f == executive.Off }
		}
		from := len(inputs)
		inputs = p.known[i].Tell(inputs, l.task, l.condition, p.engine.Status(l.task), judge)
		for _, in := range inputs[from:] {
			words = append(words, in.Text(l.name))
		}
	}
	return inputs, strings.Join(words, "; ")
}

// judge reports whether a formula of a leaf holds in a world.
func (p *Player) judge(l *leaf, f executive.Criterion, world []bool) bool {
	switch f {
	case executive.On:
		return p.holds(l.on, world)
	case executive.Off:
		return l.off == nil || p.holds(l.off, world)
	case executive.SuccessIf:
		return p.holds(l.successIf, world)
	case executive.FailureIf:
		return p.holds(l.failureIf, world)
	case executive.Done:
		return p.holds(l.done, world)
	case executive.Failed:
		return p.holds(l.failed, world)
	case executive.Entered:
		return p.isOver(l.task, &l.entry, world)
	case executive.Exited:
		return p.isOver(l.task, &l.exit, world)
	case executive.Criteria:
	}
	panic("verify: a formula that does not exist")
}

// isOver reports whether a procedure that is under way is over.
func (p *Player) isOver(t bt.Task, x *procedure, world []bool) bool {
	if x.until != nil {
		return p.holds(x.until, world)
	}
	return slices.Contains(p.over, t)
}

// brief reports whether one of its procedures may begin and end at one time.
func (l *leaf) brief() bool { return l.entry.brief || l.exit.brief }

// slowness returns the inputs that set which procedures take time, also as a line of a script.
func (p *Player) slowness() (inputs []bt.Input, line string) {
	var words []string
	for _, l := range p.m.leaves {
		if !p.slow || !l.entry.slow && !l.exit.slow {
			continue
		}
		in := bt.Slow(l.task, l.entry.slow, l.exit.slow)
		inputs, words = append(inputs, in), append(words, in.Text(l.name))
	}
	return inputs, strings.Join(words, "; ")
}

// maxEndings is the maximum number of procedures that may be over together.
const maxEndings = 8

const crowd = "more procedures may be over together than are tried"

// mayEnd returns the tasks whose procedures may be over in the next move: those under way that have no condition for
// their end, and those that may begin and end at one time. Behind them are the tasks whose timers run.
func (p *Player) mayEnd() []bt.Task {
	var tasks []bt.Task
	for i := range p.m.leaves {
		l := &p.m.leaves[i]
		status := p.engine.Status(l.task)
		if p.slow && (l.brief() || status == bt.Activating && l.entry.until == nil ||
			status == bt.Deactivating && l.exit.until == nil) {
			tasks = append(tasks, l.task)
		}
	}
	for _, t := range p.m.tree.Timers() {
		if p.engine.At(t).Timed {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// endings returns the sets of tasks whose procedures may be over in the next move, beginning with none; ok is false if
// they are too many.
func (p *Player) endings() (sets [][]bt.Task, ok bool) { return choices(p.mayEnd()) }

// choices returns all subsets of the first elements of a list, beginning with the empty one; ok is false if there are
// more elements than are tried.
func choices[T any](list []T) (sets [][]T, ok bool) {
	sets = [][]T{nil}
	for _, x := range list[:min(len(list), maxEndings)] {
		for _, s := range slices.Clone(sets) {
			sets = append(sets, append(slices.Clone(s), x))
		}
	}
	return sets, len(list) <= maxEndings
}

// settled reports whether no procedure is under way.
func (p *Player) settled() bool {
	return !slices.ContainsFunc(p.m.leaves, func(l leaf) bool {
		s := p.engine.Status(l.task)
		return s == bt.Activating || s == bt.Deactivating
	})
}

// holds reports whether a formula holds in a world; nil does not.
func (p *Player) holds(l *expr.Logic, world []bool) bool {
	if l == nil {
		return false
	}
	switch l.Op {
	case expr.LogicTruth:
		return l.Value
	case expr.LogicThreshold:
		s, k := p.m.vocab.above(l)
		return s.interval(world) > k
	case expr.LogicRelation:
		return world[p.m.vocab.byFree[l.Key]]
	case expr.LogicProposition:
		task, _ := p.m.tree.Find(l.Text)
		if i, ok := p.m.leafOf[task]; ok && p.m.leaves[i].condition {
			return p.latched[i]
		}
		return p.active(task)
	case expr.LogicNot:
		return !p.holds(&l.Args[0], world)
	case expr.LogicAnd, expr.LogicOr:
		all := l.Op == expr.LogicAnd
		for i := range l.Args {
			if p.holds(&l.Args[i], world) != all {
				return !all
			}
		}
		return all
	}
	panic(unknownLogic)
}

const unknownLogic = "verify: a formula with an unknown operation"

// Holds reports whether a formula holds in the world that the player is in.
func (p *Player) Holds(l *expr.Logic) bool { return p.holds(l, p.world) }

// Active reports whether a task is active.
func (p *Player) Active(t bt.Task) bool { return p.active(t) }

// Good reports whether a task has succeeded.
func (p *Player) Good(t bt.Task) bool { return p.good(t) }

// Status returns the status of a task.
func (p *Player) Status(t bt.Task) bt.Status { return p.engine.Status(t) }

// Quiet reports whether no procedure is under way.
func (p *Player) Quiet() bool { return p.settled() }

// lawful reports whether the declared facts hold in the world that the player is in.
func (p *Player) lawful(world []bool) bool {
	return !slices.ContainsFunc(p.m.facts, func(f expr.Logic) bool { return !p.holds(&f, world) })
}

// good reports whether a task has succeeded: by its status, or by a held result.
func (p *Player) good(t bt.Task) bool {
	if held, ok := p.engine.Held(t); ok {
		return held == bt.Success
	}
	s := p.engine.Status(t)
	return s == bt.Success || s == bt.Finished
}

// active reports whether a task is active.
func (p *Player) active(t bt.Task) bool { return p.engine.Active(t) }

// spells reports whether a script can spell the names of all leaves.
func (m *Model) spells() bool {
	spells := func(name string) bool { return !strings.ContainsAny(name, ";#") }
	return !slices.ContainsFunc(m.leaves, func(l leaf) bool { return !spells(l.name) }) &&
		!slices.ContainsFunc(m.tree.Timers(), func(t bt.Task) bool { return !spells(m.tree.Name(t)) })
}

// script returns the moves as a script for script.Print, "" if a script cannot spell the name of a leaf.
func (p *Player) script() string {
	if !p.m.spells() {
		return ""
	}
	var b strings.Builder
	for _, l := range p.lines {
		if l != "" {
			b.WriteString(l + "\n")
		}
	}
	if b.Len() == 0 {
		return "# the plan begins in it\n"
	}
	return b.String()
}
