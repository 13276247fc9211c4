package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
)

// PlanReader reads the plan with the path that a script names.
type PlanReader func(path string) (*plan.Plan, diag.List)

// swapVerb begins a line that exchanges the plan.
const swapVerb = "swap"

// The bounds of the exchanges of a script. An exchange costs time for each task of its plan, and for each line of the
// script.
const (
	maxPlans = 100       // different paths
	maxText  = 16 << 20  // bytes of their documents together
	maxWork  = 1_000_000 // tasks and lines, over all exchanges
)

// stage is a script's part between two exchanges of its plan.
type stage struct {
	plan  *plan.Plan
	actor actor
	next  *swap // that is under way
}

// swap is an exchange of the plan that is under way.
type swap struct {
	plan     *plan.Plan
	exchange *bt.Exchange
	inputs   []bt.Input // for tasks that only the new plan has
	values   []value
}

// actor plays the leaves of a plan.
type actor interface {
	settle(in []bt.Input, values []value) (bt.Instant, error)
	Withhold(x *bt.Exchange)
	engine() *bt.Engine
	written() []Written // in the last settling
}

// stubs are leaves that only the script gives inputs.
type stubs struct{ *bt.Engine }

func (s stubs) settle(in []bt.Input, _ []value) (bt.Instant, error) { return s.Engine.Settle(in) }

func (s stubs) engine() *bt.Engine { return s.Engine }

func (stubs) written() []Written { return nil }

// replay settles a plan for the first time and then once for each line. resume returns the stage that goes on with what
// an exchange keeps. If the new plan does not settle, the old one goes on.
func replay(s *stage, src *diag.Source, lines []Line, pass Pass, resume func(*stage, *swap) *stage) (failed error) {
	for i, line := range append([]Line{{}}, lines...) {
		where := fmt.Sprintf("%s:%d", src.Name, line.Number)
		if i == 0 {
			where = src.Name + ": at the start"
		}
		if line.swap != nil {
			s.request(line.swap)
		}
		instant, err := s.settle(line)
		pass(i, s.plan.Tree, instant, s.actor.written())
		if err == nil && s.next != nil && s.actor.engine().Ready(s.next.exchange) {
			now := resume(s, s.next)
			if first, wrong := now.actor.settle(nil, nil); wrong == nil {
				s = now
				pass(i, s.plan.Tree, first, s.actor.written())
			} else {
				failed = errors.Join(failed, fmt.Errorf("%s: the old plan goes on: %w", where, wrong))
				s.next = nil
				s.actor.Withhold(nil)
				instant, err = s.actor.settle(nil, nil)
				pass(i, s.plan.Tree, instant, s.actor.written())
			}
		}
		if err != nil {
			return errors.Join(failed, fmt.Errorf("%s: %w", where, err))
		}
	}
	return failed
}

// request begins an exchange: actions that only the old plan has are withheld. It replaces one that is under way. For
// the same plan there is nothing to be exchanged.
func (s *stage) request(p *plan.Plan) {
	x := bt.NewExchange(s.plan.Tree, p.Tree, plan.Same(s.plan, p))
	if x.Whole() {
		s.next = nil
		s.actor.Withhold(nil)
		return
	}
	s.next = &swap{plan: p, exchange: x}
	s.actor.Withhold(x)
}

// settle gives the plan the inputs of a line. While an exchange is under way, these are inputs of the new plan's tasks,
// which may be tasks of the old plan, and of tasks that only the old plan has.
func (s *stage) settle(line Line) (bt.Instant, error) {
	if s.next == nil {
		return s.actor.settle(line.Inputs, line.values)
	}
	var in []bt.Input
	for _, x := range line.Inputs {
		if k := s.next.exchange.Kept(x.Task()); k >= 0 {
			in = append(in, x.For(k))
		} else {
			s.next.inputs = append(s.next.inputs, x)
		}
	}
	s.next.values = append(s.next.values, line.values...)
	return s.actor.settle(append(in, line.late...), line.values)
}

// exchange reads a line that exchanges the plan.
func (p *parser) exchange(line string, offset int) *plan.Plan {
	words := splitWords(line, offset)
	path := strings.TrimSpace(p.src.Text[words[0].end() : offset+len(line)])
	at := words[0].end()
	switch {
	case path == "":
		p.report(at, 0, "missing-word", fmt.Sprintf("%q needs the path of a plan", swapVerb), "")
		return nil
	case p.open == nil:
		p.report(words[0].offset, len(swapVerb), "no-swap", "the plan cannot be exchanged here", "")
		return nil
	case strings.Contains(path, ";"):
		p.report(words[1].offset, len(path), "unexpected-word", "an exchange of the plan is an instant of its own",
			"write the inputs on another line")
		return nil
	}
	next := p.other(path, words[1].offset)
	if next == nil {
		return nil
	}
	p.last, p.plan, p.tree, p.entries = p.plan, next, next.Tree, settable(next)
	return next
}

// other returns a plan by its path, which is read once; nil if it cannot take over, or the exchanges are too many.
func (p *parser) other(path string, offset int) *plan.Plan {
	refuse := func(code, text string, args ...any) {
		p.report(offset, len(path), code, fmt.Sprintf(text, args...), "")
	}
	next, known := p.plans[path]
	if p.full {
		return nil
	}
	if !known {
		if p.full = len(p.plans) == maxPlans; p.full {
			refuse("too-many-plans", "a script can name at most %d different plans", maxPlans)
			return nil
		}
		var list diag.List
		if next, list = p.open(path); next == nil && len(list) > 0 && list[0].Source == nil {
			refuse(swapVerb, "%s", list[0].Text)
		} else if next == nil {
			refuse(swapVerb, "%s is not a plan that can take over", path)
			p.list = append(p.list, list...)
		} else if p.text += len(next.Source.Text); p.text > maxText {
			p.full = true
			refuse("too-many-plans", "the plans of a script can have at most %d MiB together", maxText>>20)
		}
		p.plans[path] = next
	}
	if next == nil || p.full {
		return nil
	}
	if p.work += next.Tree.Len() + p.lineCount; p.work > maxWork {
		p.full = true
		refuse("too-many-swaps", "the exchanges of the plan are too many: their tasks and the script's lines, added up "+
			"over all exchanges, can be at most %d", maxWork)
		return nil
	}
	c := *next // each exchange has its own
	return &c
}

// either reads an input of tasks of the plan, or of some that only the plan before it has: these come late.
func (p *parser) either(words []word) (in []bt.Input, late bool) {
	found := len(p.list)
	if in = p.input(words); len(in) > 0 || p.last == nil {
		return in, false
	}
	mistakes, now := slices.Clone(p.list), p.plan
	p.list = p.list[:found]
	p.plan, p.tree = p.last, p.last.Tree
	in = p.input(words)
	if p.plan, p.tree = now, now.Tree; len(in) == 0 {
		p.list = mistakes
	}
	return in, len(in) > 0
}
