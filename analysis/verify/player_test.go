package verify

import (
	"slices"

	"canopy/bt"
	"canopy/executive"
	"canopy/expr"
	"canopy/snapshot"
)

// player plays a plan of conditions and actions without procedures with the real engine: in each world it evaluates the
// leaves and gives their changes to the engine until there are none. It shares no code with the steps of package flown.
type player struct {
	m       *Model
	engine  *bt.Engine
	latched []bool            // by leaf: the last value of a condition
	known   []executive.Known // by leaf: the inputs that the engine has received
}

// newTrace returns a player whose engine begins as that of script.Print: before the first world conditions are false
// and actions ask to be activated.
func (m *Model) newTrace() *player {
	p := &player{m: m, engine: bt.NewEngine(m.tree, nil, 0), latched: make([]bool, len(m.leaves)),
		known: slices.Repeat([]executive.Known{executive.Unknown}, len(m.leaves))}
	_, _ = p.engine.Settle(nil)
	return p
}

// move goes to a world; ok is false if the plan does not settle.
func (p *player) move(world []bool) (ok bool) {
	for range 100 {
		var inputs []bt.Input
		for i := range p.m.leaves {
			l := &p.m.leaves[i]
			judge := func(f executive.Criterion) bool { return p.judge(l, f, world) }
			if l.condition {
				p.latched[i] = executive.Latch(p.latched[i], judge)
				judge = func(f executive.Criterion) bool { return p.latched[i] || f == executive.Off }
			}
			inputs = p.known[i].Tell(inputs, l.task, l.condition, p.engine.Status(l.task), judge)
		}
		if len(inputs) == 0 {
			return true
		}
		instant, err := p.engine.Settle(inputs)
		if err != nil {
			return false
		}
		for _, c := range instant.Commands {
			p.known[p.m.leafOf[c.Task]].Start(c.Exit, false)
		}
	}
	return false
}

// key returns a text that is the same for two players with the same future behaviour.
func (p *player) key() string { return string(snapshot.Save(packed(p.latched), p.engine)) }

// judge reports whether a formula of a leaf holds in a world.
func (p *player) judge(l *leaf, f executive.Criterion, world []bool) bool {
	return p.holds(map[executive.Criterion]*expr.Logic{executive.On: l.on, executive.Off: l.off,
		executive.SuccessIf: l.successIf, executive.FailureIf: l.failureIf, executive.Done: l.done,
		executive.Failed: l.failed}[f], world) || f == executive.Off && l.off == nil
}

// holds reports whether a formula of limits holds in a world; nil does not.
func (p *player) holds(l *expr.Logic, world []bool) bool {
	if l == nil {
		return false
	}
	switch l.Op {
	case expr.LogicTruth:
		return l.Value
	case expr.LogicThreshold:
		s, k := p.m.vocab.above(l)
		return s.interval(world) > k
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
	case expr.LogicRelation, expr.LogicProposition:
	}
	panic("verify: a formula without limits")
}
