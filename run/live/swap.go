package live

import (
	"errors"
	"fmt"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// ErrSwap is wrapped by the error of an exchange of the plan that does not take place.
var ErrSwap = errors.New("the plan is not exchanged")

// swap is an exchange of the plan that is under way.
type swap struct {
	plan   *plan.Plan
	change *bt.Exchange
	done   func(error)
}

// Swap requests that the execution goes on with another plan, given as the text of a plan document, for the same
// registered code (docs/semantics.md, section 9). It does not block. Tasks that both plans have, by name and
// definition, go on: their actions are neither stopped nor started. Actions that only the present plan has are stopped;
// when that is complete, the new plan takes over. A request replaces one that is under way.
//
// done, which may be nil, is called in the goroutine of Run: with nil when the new plan has taken over, with the
// mistakes of the plan, or with an error that wraps [ErrSwap], and then the present plan goes on. It is not called if
// the run ends before the request is read. A subscriber receives no change of a task for the exchange itself.
func (x *Execution) Swap(name, text string, done func(err error)) {
	if done == nil {
		done = func(error) {}
	}
	x.Do(func() { x.request(&diag.Source{Name: name, Text: text}, done) })
}

// request begins an exchange.
func (x *Execution) request(src *diag.Source, done func(error)) {
	if x.stopping {
		done(fmt.Errorf("%w: the run ends", ErrSwap))
		return
	}
	p, err := x.read(src)
	if err != nil {
		done(err)
		return
	}
	x.withdraw("another request replaces this one")
	change := bt.NewExchange(x.plan.Tree, p.Tree, plan.Same(x.plan, p))
	if change.Whole() {
		done(nil)
		return
	}
	x.swap = &swap{p, change, done}
	x.exec.Withhold(change)
}

// withdraw ends an exchange that is under way.
func (x *Execution) withdraw(why string) {
	if s := x.swap; s != nil {
		x.swap = nil
		x.exec.Withhold(nil)
		x.tell(s, fmt.Errorf("%w: %s", ErrSwap, why))
	}
}

// tell tells the program about an exchange.
func (x *Execution) tell(s *swap, err error) {
	x.safely("the function given to Swap", func() { s.done(err) })
}

// takesOver lets the plan of an exchange take over if it can, or the old one go on; false: neither.
func (x *Execution) takesOver() bool {
	if x.swap == nil || !x.exec.Ready(x.swap.change) {
		return false
	}
	x.takeOver(x.swap)
	return true
}

func (x *Execution) takeOver(s *swap) {
	x.swap = nil
	old := x.stage
	program := x.program(s.plan, s.change)
	next := x.stage
	x.goOn(&old, s.change, program)
	x.exec.Begin()
	if err := x.rest(func() {}); err != nil { // nobody is told: it may fail
		x.stage = old
		x.exec.Withhold(nil)
		x.tell(s, fmt.Errorf("%w: %w", ErrSwap, err))
		return
	}
	x.stage = next
	x.goOn(&old, s.change, program)
	x.changes = x.changes[:0]
	x.tell(s, nil)
}

// goOn creates the execution that goes on with what both plans have.
func (x *Execution) goOn(old *stage, change *bt.Exchange, program *executive.Program) {
	was := old.world.p
	u := executive.Carry(was, old.world.u, change, program, func(from, to int, v float64) (is float64, ok bool) {
		return x.carried(old, to, v)
	})
	for i := range was.Slots {
		if s := &x.signals[i]; !s.output && !s.entry {
			u[program.Held(i)] = old.world.u[was.Held(i)]
		}
	}
	x.world = newWorld(x, program, u)
	x.world.t = old.world.t
	x.world.Signals()
	x.world.iterate()
	x.exec = executive.Continue(old.exec, change, program, x.world, x.decider(func(in []bt.Input) *bt.Engine {
		return old.engine.Exchange(change, in)
	}))
}

// carried returns the value that an entry keeps; ok is false if it has another type now.
func (x *Execution) carried(old *stage, signal int, v float64) (is float64, ok bool) {
	s := &x.signals[signal]
	switch texts := old.code.Texts(); {
	case !s.entry:
	case s.Type != old.types[signal]:
		return 0, false
	case s.Type == expr.Text && int(v) < len(texts):
		return float64(x.code.Text(texts[int(v)])), true
	}
	return v, true
}
