// Package live runs a plan whose leaves are Go code, in a Go program.
//
// An [Execution] is one run of one plan. The program registers what the plan names: conditions and numbers, which any
// goroutine sets, actions and conditions with ports, which are callbacks, and outputs, which the plan writes.
// [Execution.Run] then runs the plan in the goroutine that calls it. It sleeps until an input changes or a timer
// elapses; it polls nothing and starts no goroutine. All callbacks are called in that goroutine, one at a time, in the
// order of the plan's log. They must return soon: longer work belongs to goroutines of the program, which report when
// there is something to say.
//
// docs/semantics.md defines what a plan does, docs/go.md how a program uses this package.
package live

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// ErrFailed reports a plan that has failed. The error that wraps it names the leaf whose change made the plan fail, and
// wraps the error with which that leaf failed, if there is one.
var ErrFailed = errors.New("the plan has failed")

// ErrUnsettled reports inputs and outputs that keep changing each other at one instant.
var ErrUnsettled = executive.ErrUnsettled

// PanicError reports a callback that has panicked.
type PanicError struct {
	Callback string // the name of the task, or what was called
	Value    any
	Stack    []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("%s: panic: %v", e.Callback, e.Value) }

// Unwrap returns the value, if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Action is the Go code of the actions with one ID.
//
// When a task becomes active, Start is called: its entry procedure. When it is to end, for whatever reason, Stop is
// called: its exit procedure. Every call of Start is followed by exactly one of Stop, whatever happens in between,
// panics and the end of the run included; no other task takes its turn before. Both may be nil.
type Action struct {
	Start func(Activation)
	Stop  func(Activation)

	StartTakesTime bool // the entry procedure ends with Activation.Started, not with the return of Start
	StopTakesTime  bool // the exit procedure ends with Activation.Stopped, not with the return of Stop

	Ports Ports // nil: any; then Check cannot tell whether they fit
}

// Execution is one run of a plan. Register everything before Run is called; after that, only the methods of
// [Input], [Request], [Activation] and [Asked], Do and Swap may be called, from any goroutine.
type Execution struct {
	source      diag.Source
	signals     []signal
	places      map[string]int // in signals, by name
	actions     map[string]*action
	queries     map[string]*query
	outputs     []outlet
	subscribers []func(Change)
	clock       Clock
	open        plan.Open // nil: no file is read
	mistakes    diag.List
	started     bool
	forever     bool // the run does not end with the plan

	wake chan struct{} // capacity one: something is pending
	mu   sync.Mutex    // guards what follows
	pending
	inbox pending // taken from pending, without lock
	board

	stage
	swap     *swap // an exchange of the plan that is under way
	stopping bool
	changes  []bt.Change // of this instant
	failed   error       // of callbacks
	verdict  error       // of the plan: why it failed
	origin   time.Duration
	instant  instant
}

// pending is what other goroutines, or callbacks, have given and the loop has not taken.
type pending struct {
	values []float64 // by signal
	has    []bool
	list   []int32
	calls  []func()
}

// signal is a value that the plan reads or writes.
type signal struct {
	name string
	variable
	initial float64
	output  bool
	hold    bool // an output that keeps its value while nothing writes it
	hidden  bool // not part of the language of the plan
	entry   bool // of the plan's blackboard
}

// outlet is the program's end of a signal that the plan writes.
type outlet struct {
	signal int
	f      func(float64)
	last   float64
}

// action is a registered [Action].
type action struct {
	Action
	request int // the signal with its request
}

// New returns an execution of a plan, given as the text of a plan document. The name of the document is for messages.
func New(name, text string) *Execution {
	return &Execution{source: diag.Source{Name: name, Text: text}, places: map[string]int{}, actions: map[string]*action{},
		queries: map[string]*query{},
		board:   board{kept: map[float64]any{}},
		wake:    make(chan struct{}, 1)}
}

// Include sets the function that returns the content of a file that the plan includes, by its path with slashes, such
// as the method ReadFile of an embed.FS. Without, a plan can include none.
func (x *Execution) Include(open func(path string) ([]byte, error)) { x.open = open }

// Use sets the clock; without, it is that of the computer.
func (x *Execution) Use(c Clock) { x.clock = c }

// Subscribe adds a function that is called for each change of a task's status, in their order.
func (x *Execution) Subscribe(f func(Change)) { x.subscribers = append(x.subscribers, f) }

// Action registers the code of the actions with an ID, or with a name if they have no ID. The result sets what they
// request while they are not active.
func (x *Execution) Action(id string, a Action) Request {
	if x.actions[id] != nil || x.queries[id] != nil {
		panic("live: an action was registered twice")
	}
	x.checkUnits(id, a.Ports)
	r := Request{x, x.register(signal{name: fmt.Sprintf("live.request%d", len(x.actions)), variable: whole, hidden: true})}
	x.actions[id] = &action{Action: a, request: r.signal}
	return r
}

// unit returns the unit of a number.
func (x *Execution) unit(name, text string) expr.Unit {
	if text == "" {
		return expr.AnyUnit
	}
	u, err := expr.ParseUnit(text)
	if err != nil {
		x.mistake("unknown-unit", fmt.Sprintf("the unit of %q: %v", name, err))
		return expr.AnyUnit
	}
	return u
}

// register registers a signal.
func (x *Execution) register(s signal) int {
	if x.started {
		panic("live: something was registered while the plan runs")
	}
	return x.add(s)
}

// add adds a signal.
func (x *Execution) add(s signal) int {
	if _, ok := x.places[s.name]; ok {
		panic("live: a name was registered twice")
	}
	if !expr.IsName(s.name) {
		x.mistake("bad-name", fmt.Sprintf("%q is not a name that expressions can have", s.name))
	}
	x.places[s.name] = len(x.signals)
	x.signals = append(x.signals, s)
	x.values, x.has = append(x.values, 0), append(x.has, false)
	x.shown, x.objects, x.told = append(x.shown, nil), append(x.objects, nil), append(x.told, math.NaN())
	return len(x.signals) - 1
}

// mistake reports a mistake of the program.
func (x *Execution) mistake(code, text string) {
	x.mistakes = append(x.mistakes, diag.Diagnostic{Source: &x.source, Code: code, Text: text})
}

// Request is what the actions with one ID request while they are not active.
type Request struct {
	x      *Execution
	signal int
}

// Set sets the request: Accept (the default) asks to be activated, Success means that the goal already holds, Failure
// that the actions cannot run now. It does not block.
func (r Request) Set(request bt.Status) {
	value, ok := reports[request]
	if !ok {
		panic("live: a request is Accept, Success or Failure")
	}
	r.x.set(r.signal, value)
}

// The values of requests and outcomes, and of procedures.
const (
	succeeded = 1
	failed    = 2
	complete  = 1
)

var reports = map[bt.Status]float64{bt.Accept: 0, bt.Success: succeeded, bt.Failure: failed}

// set gives a signal a value.
func (x *Execution) set(signal int, value float64) {
	x.mu.Lock()
	x.put(signal, value)
	x.mu.Unlock()
	x.rouse()
}

// put makes a value pending. The last one counts. The caller holds the lock.
func (x *Execution) put(signal int, value float64) {
	x.values[signal] = value
	if !x.has[signal] {
		x.has[signal] = true
		x.list = append(x.list, int32(signal))
	}
}

// rouse wakes the loop. If a token is in the channel, the loop has yet to take what is pending.
func (x *Execution) rouse() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Do calls a function in the goroutine of Run, before the next instant: the inputs that it sets act together. Do does
// not block.
func (x *Execution) Do(f func()) {
	x.mu.Lock()
	x.calls = append(x.calls, f)
	x.mu.Unlock()
	x.rouse()
}

// Activation is one activation of an action, from its entry to its exit procedure. Its reports may come from any
// goroutine, at any time: what a later activation should not hear is ignored.
type Activation struct {
	Leaf
	number uint64
}

// Succeed reports that the action has reached its goal. Only the first of Succeed and Fail counts.
func (a Activation) Succeed() { a.report(outcome, succeeded, nil) }

// Fail reports that the action has failed; the error, which may be nil, says why.
func (a Activation) Fail(err error) { a.report(outcome, failed, err) }

// Started reports that the entry procedure is complete, if it takes time.
func (a Activation) Started() { a.report(procedure, complete, nil) }

// Stopped reports that the exit procedure is complete, if it takes time.
func (a Activation) Stopped() { a.report(exit, complete, nil) }

// The reports of an activation.
type kind uint8

const (
	outcome kind = iota
	procedure
	exit
)

func (a Activation) report(k kind, value float64, err error) {
	x := a.x
	x.mu.Lock()
	l := a.leaf
	if l.activation == a.number && !l.reported[k] {
		l.reported[k] = true
		switch k {
		case outcome:
			l.err = err
		case exit:
			l.over = true
		}
		x.put(l.signals[k], value)
	}
	x.mu.Unlock()
	x.rouse()
}
