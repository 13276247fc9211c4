package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/plan"
)

// MaxRounds is the maximum number of instants at one time.
const MaxRounds = 1000

// instant is where time stands.
type instant struct {
	alarm  float64 // the next time event [s]; +Inf: none
	rounds int     // instants at this time so far
}

// Run runs the plan until it has succeeded or failed, then ends what is still active. It returns nil if the plan has
// succeeded, or is skipped: there is nothing to be done. Errors: all mistakes found by Check, before anything runs; one
// that wraps [ErrFailed]; the cause of the context's end; [PanicError]; [bt.ErrLoop], [ErrUnsettled] or
// [executive.ErrDuration]. Whatever the reason, the exit procedures of all active tasks are run, and Run returns when
// they are complete. An execution runs once.
func (x *Execution) Run(ctx context.Context) error { return x.run(ctx) }

// Serve is like Run, but does not end with the plan: a plan that has ended reacts again to its inputs. Serve ends with
// the context or with an error.
func (x *Execution) Serve(ctx context.Context) error {
	x.forever = true
	return x.run(ctx)
}

func (x *Execution) run(ctx context.Context) error {
	if x.started {
		panic("live: an execution runs once")
	}
	p, err := x.read(&x.source)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err = x.begin(p)
	for err == nil && x.failed == nil {
		if !x.forever && x.exec.Judgement() != bt.Accept {
			break
		}
		if err = x.wait(ctx.Done()); err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = x.next()
		}
	}
	judgement := x.exec.Judgement()
	err = errors.Join(err, x.stop())
	if err = errors.Join(err, x.failed); err == nil && judgement == bt.Failure {
		return x.verdict
	}
	return err
}

// begin is the first instant.
func (x *Execution) begin(p *plan.Plan) error {
	x.started = true
	x.compile(p)
	if x.clock == nil {
		x.clock = newWall()
	}
	x.origin = x.clock.Now()
	x.instant.alarm = math.Inf(1)
	x.verdict = fmt.Errorf("%w: %s cannot succeed", ErrFailed, p.Tree.Name(p.Tree.Root()))
	return x.settle()
}

// stop ends all actions and waits for their exit procedures.
func (x *Execution) stop() error {
	x.instant.rounds, x.stopping = 0, true
	x.withdraw("the run ends")
	err := x.advance()
	x.changes = x.changes[:0]
	err = errors.Join(err, x.exec.Halt())
	x.publish()
	err = errors.Join(err, x.settle())
	for len(x.exec.Leaving()) > 0 {
		err = errors.Join(err, x.next()) // what came in with the end of the run is still to be taken
		if len(x.exec.Leaving()) > 0 {
			err = errors.Join(err, x.wait(nil))
		}
	}
	return err
}

// wait waits for an input, the alarm or the end.
func (x *Execution) wait(done <-chan struct{}) error {
	select {
	case <-x.wake:
		return nil
	default:
	}
	ring, err := x.ring()
	if err != nil {
		return err
	}
	select {
	case <-x.wake:
	case <-ring:
	case <-done:
	}
	return nil
}

// ring sets the clock's alarm. Functions that are scheduled on a clock may panic there.
func (x *Execution) ring() (c <-chan time.Time, err error) {
	defer x.catch("the clock", &err)
	due := Never
	if ns := math.Round(x.instant.alarm * 1e9); ns < float64(Never-x.origin) {
		due = x.origin + time.Duration(ns)
	}
	return x.clock.Alarm(due), nil
}

// next is an instant with what has come in.
func (x *Execution) next() error {
	x.mu.Lock()
	x.take()
	calls := x.calls
	x.calls = nil
	x.mu.Unlock()
	for _, f := range calls {
		x.safely("a function given to Do", f)
	}
	if calls != nil { // they have inputs of their own
		x.mu.Lock()
		x.take()
		x.mu.Unlock()
	}
	for _, i := range x.inbox.list {
		x.give(int(i), x.inbox.values[i])
		for _, w := range x.watchers[int(i)] {
			x.give(w[0], 1-x.world.signals.Values[x.world.p.Signal(w[1])])
		}
	}
	x.inbox.list = x.inbox.list[:0]
	if err := x.advance(); err != nil {
		return err
	}
	x.changes = x.changes[:0]
	return x.settle()
}

// advance sets the time of the next instant to the clock's.
func (x *Execution) advance() error {
	t := (x.clock.Now() - x.origin).Seconds()
	if a := x.instant.alarm; math.Abs(t-a) < 1e-9 { // the clock counts nanoseconds
		t = a
	}
	if x.instant.rounds++; t > x.world.t {
		x.world.t, x.instant.rounds = t, 0
	}
	if x.instant.rounds <= MaxRounds {
		return nil
	}
	var names []string
	for _, c := range x.changes {
		if name := x.world.p.Tree.Name(c.Task); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return fmt.Errorf("%w: there are more than %d instants at t = %g s; still changing: %s", bt.ErrLoop, MaxRounds,
		x.world.t, strings.Join(names, ", "))
}

// take moves the pending values into the inbox. The caller holds the lock.
func (x *Execution) take() {
	in := &x.inbox
	if len(in.values) < len(x.values) {
		in.values = make([]float64, len(x.values))
	}
	for _, i := range x.list {
		if x.objects[i] != nil {
			x.values[i] = x.encoded(int(i))
		}
		in.values[i], x.has[i] = x.values[i], false
	}
	in.list = append(in.list, x.list...)
	x.list = x.list[:0]
}

// give gives the plan the value of a signal.
func (x *Execution) give(signal int, value float64) {
	x.world.give(signal, value)
	x.exec.SlotChanged(signal)
}

// settle lets the plan settle at the present instant, with all callbacks.
func (x *Execution) settle() error {
	x.exec.Begin()
	for more := true; more; more = x.takesOver() {
		if err := x.rest(x.publish); err != nil {
			return err
		}
	}
	if u := x.world.u; len(x.kept) > 2*len(u) { // forget the objects for which no number stands any more
		maps.DeleteFunc(x.kept, func(n float64, _ any) bool { return !slices.Contains(u, n) })
	}
	x.instant.alarm = x.exec.Rest()
	for i := range x.outputs {
		x.outputs[i].report(x)
	}
	return nil
}

// rest settles the plan until nothing changes any more, and calls tell after each settling.
func (x *Execution) rest(tell func()) error {
	for {
		x.world.Signals()
		x.show()
		changed := x.world.iterate()
		x.exec.Changed(changed)
		again, err := x.exec.Settle()
		if len(x.named) > 0 {
			x.world.Signals()
			x.show()
		}
		tell()
		if err != nil || !again && len(changed) == 0 {
			return err
		}
		if err := x.exec.Endless(nil); err != nil {
			return err
		}
	}
}

// report calls the function of an output whose value has changed.
func (o *outlet) report(x *Execution) {
	v := x.world.signals.Values[x.world.p.Signal(o.signal)]
	if v == o.last {
		return
	}
	o.last = v
	x.safely(x.signals[o.signal].name, func() { o.f(v) })
}

// publish passes the changes of a settling to the subscribers, and calls the actions.
func (x *Execution) publish() {
	for i := range x.exec.Log {
		if e := &x.exec.Log[i]; e.Kind == "" {
			c := e.Change
			c.Iteration = int32(e.Micro) // of the instant, not of one settling
			x.changes = append(x.changes, c)
			x.follow(c)
		}
	}
}

// follow passes a change on.
func (x *Execution) follow(c bt.Change) {
	if len(x.subscribers) > 0 {
		c := x.change(len(x.changes) - 1)
		x.safely("a subscriber", func() {
			for _, f := range x.subscribers {
				f(c)
			}
		})
	}
	if !x.forever && c.Task == x.world.p.Tree.Root() && (c.To == bt.Aborted || c.To == bt.Failure && c.From.Transient()) {
		x.blame()
	}
	l := x.leafOf[c.Task]
	if l == nil || l.action == nil {
		return
	}
	switch {
	case c.To == bt.Activating:
		x.forget(l, outcome, procedure)
		x.call(l, l.action.Start)
		x.mu.Lock()
		l.starting = nil
		x.mu.Unlock()
	case c.To == bt.Deactivating:
		x.forget(l, exit)
		switch stopped := x.call(l, l.action.Stop); {
		case !stopped:
			Activation{Leaf{x, l}, l.activation}.Stopped()
		case !l.action.StopTakesTime:
			x.mu.Lock()
			l.over = true
			x.mu.Unlock()
		}
	}
}

// forget forgets reports of earlier activations, or those that came too early.
func (x *Execution) forget(l *leaf, kinds ...kind) {
	x.mu.Lock()
	for _, k := range kinds {
		if k == outcome {
			l.activation++
			l.err, l.over = nil, false
		}
		l.reported[k] = false
		x.values[l.signals[k]] = 0
	}
	x.mu.Unlock()
	for _, k := range kinds {
		x.give(l.signals[k], 0)
	}
}

// call calls the code of an action, and reports whether it returned.
func (x *Execution) call(l *leaf, f func(Activation)) (ok bool) {
	return f == nil || x.safely(l.name, func() { f(Activation{Leaf{x, l}, l.activation}) })
}

// safely calls code of the program, and reports whether it returned: a panic ends the run.
func (x *Execution) safely(callback string, f func()) (ok bool) {
	defer x.catch(callback, &x.failed)
	f()
	return true
}

// catch turns a panic into an error, which it joins to err.
func (x *Execution) catch(callback string, err *error) {
	if v := recover(); v != nil {
		*err = errors.Join(*err, &PanicError{Callback: callback, Value: v, Stack: debug.Stack()})
	}
}

// blame records why the plan has failed.
func (x *Execution) blame() {
	c := x.change(len(x.changes) - 1)
	for cause, ok := c.Cause(); ok; cause, ok = c.Cause() {
		c = cause
	}
	x.verdict = fmt.Errorf("%w: %s: %s", ErrFailed, c.Task, c.Input())
	if err := c.Err(); err != nil {
		x.verdict = fmt.Errorf("%w: %s: %w", ErrFailed, c.Task, err)
	}
}
